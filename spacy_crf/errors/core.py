"""Messages of the core: shapes, numbers, paths (1xx)."""


class CoreErrors:
    CRF101 = "Expected {name} of shape {expected}, got {actual}."
    CRF102 = (
        "The {name} hold NaN or +inf. Look for feature values that are not finite numbers, or for weights "
        "of a training run that diverged."
    )
    CRF103 = (
        "No label sequence is allowed for sequence(s) {sequences}: the transition mask, the forbidden pairs "
        "or the given labels exclude every path."
    )
    CRF104 = "Gold weights must be finite and not negative."
    CRF105 = "Unit {unit} has a row of gold weights without a positive one: no label would be right."
    CRF106 = "Spans need a labelling scheme: set `scheme` to 'BIO' or 'BILUO'."
    CRF107 = "Unit {unit} has the gold label {label}. Give an index from 0 to {last}, or -1 if it is unknown."
    CRF108 = "{name} must be a whole number of at least {least}, got {value!r}."
    CRF109 = (
        "The given labels are impossible for sequence(s) {sequences}: with them, the transition mask or the forbidden "
        "pairs exclude every path. Correct them, or give fewer."
    )
    CRF110 = "The temperature must be a positive number, got {value!r}."
    CRF111 = "There is nothing to fit a temperature to: no unit has a gold label."
    CRF120 = "The least probability of a candidate label must be at least 0 and below 1, got {value!r}."

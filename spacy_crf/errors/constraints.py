"""Messages of constraints over labellings and of decoding with them (9xx)."""


class ConstraintErrors:
    # The language
    CRF901 = (
        "Constraint {text!r} cannot be read: {problem}. Write it as `family(arguments) options`, such as {example}."
    )
    CRF902 = "Constraint {constraint!r} names the label {label!r}, which the model does not have. Nearest: {near}."
    CRF903 = "There is no constraint family {kind!r}. Nearest: {near}."
    CRF904 = "Constraint {constraint!r}: the setting {setting} is {value!r}; it must be {expected}."
    CRF905 = "Constraint {constraint!r} has {problem}. The family {kind!r} is written {usage}."
    CRF906 = (
        "Constraint {constraint!r} asks for the unit predicate {name!r}, which is not given. Given: {known}. Define "
        "it, or correct the name."
    )
    CRF907 = (
        "Constraint {constraint!r} needs {what} of the units, which are not given. Give {what} with the sequences, or "
        "leave the constraint out."
    )
    CRF908 = "The rule {constraint!r} has {found} clauses when multiplied out, more than {most}. Split or shorten it."
    CRF909 = (
        "The hard constraints {listing} contradict each other: no labelling satisfies them all. Soften or drop one."
    )
    CRF910 = "Constraint {text!r} makes no sense: {error}"

    # Inference
    CRF921 = "There is no decoding method {method!r}. Use one of: {known}."
    CRF922 = "The decoding setting {setting} is {value!r}; it must be {expected}."
    CRF923 = (
        "There is no solver for integer programmes: {problem}. Install one with `pip install highspy` (HiGHS) or `pip "
        "install 'pulp[cbc]'` (CBC), or choose another decoder: auto, lagrangian and automaton need none."
    )
    CRF924 = "The solver {name!r} is not available. Available here: {known}. Install it, or name one of these."
    CRF925 = "The solver {name!r} failed: {error}. Try another one, or the decoder auto."
    CRF926 = (
        "A sequence of {units} units with {found} arcs is too long for an integer programme of at most {most}. Use the "
        "decoder auto, lagrangian or automaton, or raise `max_arcs`."
    )
    CRF927 = "Facts about units must have one row for each of the {expected} units, but {name} has {actual}."

    # Mining
    CRF931 = "There is nothing to mine constraints from: no sequence has a label. Give labelled sequences."
    CRF932 = "The mining setting {setting} is {value!r}; it must be {expected}."

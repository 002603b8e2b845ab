"""Messages of the estimator."""

from ..core.errors import Messages


class EstimatorErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF701 = (
        "Sequence {sequence}, item {item}: {problem}. An item is a dict of strings, numbers, booleans or nested dicts "
        "and lists, a list of strings, or a list of (string, number) pairs."
    )
    CRF702 = "Sequence {sequence} has {found} labels for {expected} items. Give one label for each item."
    CRF703 = "Labels must be lists of strings, but sequence {sequence} has {label!r}."
    CRF704 = "X has {n_items} sequences and y has {n_labels}. Give one list of labels for each sequence."
    CRF705 = "There is nothing to learn from: X has no items."
    CRF706 = "X_dev and y_dev belong together: give both, or neither."
    CRF707 = "This CRF is not fitted yet. Call fit, or CRF.from_crfsuite for a model that CRFsuite has trained."
    CRF708 = "There is no algorithm {algorithm!r}. Use one of: {known}."
    CRF709 = "The parameter {name} has no meaning for algorithm={algorithm!r}; only {owners} read it. Leave it out."
    CRF710 = "The parameter {name} is {value!r}; it must be {expected}."
    CRF711 = "The parameter {name} = {value!r} cannot be honoured: {reason}."
    CRF712 = "CRF has no parameter {name!r}. Its parameters: {known}."
    CRF713 = "{name} is computed by scikit-learn, which is not installed. Install it: pip install scikit-learn."
    CRF714 = "y_true has {true} sequences and y_pred has {predicted}. Give the predictions of the same sequences."
    CRF715 = "{name} is {value}, which is no list of sequences. Give one {kind} for each sequence."
    CRF721 = "{path} is not a complete model of CRFsuite: {problem}. Get or write the file again."
    CRF722 = "{template!r} cannot be spelt as attribute strings. Give state templates one by one, without ranges."
    CRF723 = (
        "The spelling {form!r} of the template {template!r} has {found} gaps {{}}, but the template has {expected} "
        "values. Flags such as BOS or IS_TITLE are spelt without a gap."
    )
    CRF724 = (
        "{count} attributes are spelt by no template, for example {examples}. Give a template and its spelling for "
        "each kind of attribute, or use the model in spacy_crf.CRF. Values that a template never has count as not "
        "spelt: LOWER has no capitals, and SUFFIX3 no value of shorter words, where END3 is Python's word[-3:]."
    )
    CRF725 = "The target {target!r} cannot have the labels {labels}. Choose another `target` or `scheme`."
    CRF731 = "{path}, line {line}: this CRF++ template has no counterpart: {problem}. The line: {text!r}."


class EstimatorWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW701 = (
        "Training with algorithm={algorithm!r} had not converged when it reached max_iterations = {iterations}. "
        "Give more, or a greater delta, or take the weights as they are."
    )
    CRFW702 = (
        "algorithm={algorithm!r} learns scores that are no probabilities: these marginals are far too sure. Take "
        "algorithm='lbfgs' or 'l2sgd' for ones that can be believed."
    )

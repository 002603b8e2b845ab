"""Messages of the command line."""

from ..core.errors import Messages


class CommandErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF446 = "Component {name!r} of the pipeline {path} has no constraints. Components that do: {known}."
    CRF601 = "The name of the output file '{path}' must end in .spacy, or spaCy will not read it."
    CRF602 = "The pipeline has no {kind} called {name!r}. Its components: {known}."
    CRF606 = (
        "Component {name!r} sees what {annotating!r} writes, which is trained along with it: folds would differ in its "
        "input. Freeze it (training.frozen_components), or take it out of training.annotating_components."
    )
    CRF607 = "{name} takes whole numbers separated by commas, such as 4,8; got {value!r}."
    CRF639 = "{setting} goes with {owner} only. Give that too, or leave it out."
    CRF640 = "{path} is not UTF-8: byte {value:#04x} at position {position}. Convert it, e.g. with iconv -t UTF-8."
    CRF641 = "{path} has no reference: it is empty, or has headings only. Give a file with a bibliography."
    CRF645 = (
        "No field was found in reference {number} ({lines}), which was left out: {text!r}. Is it a reference, and was "
        "the model trained on such ones?"
    )
    CRF646 = (
        "No field was found in any of the {count} references. Is {model} a model for references? Its labels: {labels}."
    )
    CRF647 = "There are {exponents} exponents for {models} models. Give one for each, or none for equal shares."
    CRF988 = "The option {option} is not for a {kind}, which the component {name!r} is. Leave it out."
    CRF989 = "Thresholds are chosen for a precision or for the best F, not for both. Leave out one of {options}."

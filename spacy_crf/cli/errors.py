"""Messages of the command line."""

from ..core.errors import Messages


class CommandErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF601 = "The name of the output file '{path}' must end in .spacy, or spaCy will not read it."
    CRF602 = "The pipeline has no {kind} called {name!r}. Its components: {known}."
    CRF606 = (
        "Component {name!r} sees what {annotating!r} writes, which is trained along with it: folds would differ in its "
        "input. Freeze it (training.frozen_components), or take it out of training.annotating_components."
    )
    CRF607 = "{name} takes whole numbers separated by commas, such as 4,8; got {value!r}."
    CRF647 = "There are {exponents} exponents for {models} models. Give one for each, or none for equal shares."
    CRF988 = "The option {option} is not for a {kind}, which the component {name!r} is. Leave it out."

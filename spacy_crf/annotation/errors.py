"""Messages of annotation."""

from ..core.errors import Messages


class AnnotationErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF522 = (
        "The custom token attribute '{name}' is already in use and computes its value, so a column cannot "
        "be written to it. Choose another name behind 'ext:'."
    )
    CRF532 = "There are {found} sets of gold tags for {expected} tokens. Give one for each token, empty for no gold."

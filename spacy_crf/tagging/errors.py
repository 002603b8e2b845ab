"""Messages of `crf_tagger`."""

from ..core.errors import Messages


class TaggingErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF411 = (
        "Component {name!r}: document {document!r} has the gold tag {after!r} after {before!r}, which `scheme` "
        "({scheme!r}) or `forbidden` rules out. Correct the annotation, or allow the pair."
    )


class TaggingWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW402 = (
        "Component {name!r}: document {document!r} has gold spans that overlap. A chain holds one span per token, so "
        "their tokens count as unknown. Give the component a group of spans without overlaps."
    )

"""Messages of `set_valued_tagger`."""

from ..core.errors import Messages


class TagSetErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF434 = (
        "Component {name!r}: learn_from = 'augmented' shows each token of some documents several times, so that "
        "VALID_TAGS and `mask_training` would tell its gold from its other copies. Take another learn_from, or "
        "use = 'mask' without `mask_training`."
    )
    CRF448 = (
        "Component {name!r} keeps a promise that was made with the probabilities of {source!r} as they are; with "
        "others it would not hold. Calibrate the pipeline that the promise was made from, then make the promise: "
        "`python -m spacy crf guarantee MODEL FILE --output DIR`."
    )
    CRF475 = (
        "Component {name!r} gives no sets of tags. Take a set_valued_tagger, which gives those of another component "
        "where its setting `source` names it."
    )
    CRF553 = "{path}, line {line}: the tag tree cannot be read: {problem}. Write child<TAB>parent on each line."
    CRF554 = (
        "A tag tree needs a file or a separator, not both: set `path` to a TSV file child<TAB>parent, or `separator` "
        "to what stands between the parts of tags."
    )
    CRF555 = (
        "Component {name!r} cannot be measured, as doc._.{attribute} has the probabilities of another component, which "
        "writes it as well. Give one of them another name in the settings 'tag_set' and 'tag_probs'."
    )
    CRF638 = "No token of the documents has a gold tag, so that nothing can be measured. Give documents with gold."

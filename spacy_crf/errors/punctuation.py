"""Messages of the punctuation restorer and its corpora (97x to 99x)."""


class PunctuationErrors:
    CRF971 = "There is no mark {name!r}. Use one of: {known}."
    CRF972 = "No mark is to be restored: name at least one in `marks`."
    CRF973 = (
        "The mark {name!r} cannot be taken for {target!r}: one that collapses must not be among the marks, and its "
        "target must be. The marks are: {marks}."
    )
    CRF974 = (
        "{label!r} is no label of a word. Write the name of a mark or O and, behind '|', a case (lower, Title, UPPER, "
        "mixed) and what opens (QUOTE<) or closes (QUOTE>)."
    )

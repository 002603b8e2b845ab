"""Messages of `punctuation_restorer`."""

from ..core.errors import Messages


class PunctuationErrors(metaclass=Messages):
    """Messages of exceptions."""

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
    CRF975 = (
        "The reference {document!r} does not have the words of its text without punctuation. Give examples whose two "
        "sides differ in marks and case only."
    )
    CRF979 = "{kind!r} in `kinds` is none of the marks that end a sentence. These are: {ends}."
    CRF981 = (
        "No text to learn punctuation from was found under {path} (left out: {dropped}). Give punctuated text, or "
        "lower `least_marks`."
    )
    CRF982 = (
        "{path}: the format cannot be told from the suffix. Set `format` of the corpus, or rename the file; known are: "
        "{known}."
    )
    CRF983 = (
        "{path}, line {line}: there is no JSON object with a text under {key!r}. Correct the line, or set `text_key` "
        "of the corpus."
    )
    CRF984 = "{path}, line {line}: {label!r} is no mark. Write word<TAB>O or word<TAB>MARK, with a mark of: {known}."
    CRF494 = (
        "{path}, line {line}: {row!r} is no word with its mark. Write word<TAB>O or word<TAB>MARK, one word on "
        "each line."
    )
    CRF985 = "The setting {name} of the stream is {value!r}; it must be {least} or above."
    CRF989 = "Thresholds are chosen for a precision or for the best F, not for both. Leave out one of {options}."
    CRF990 = (
        "There is nothing to calibrate {name!r} by: fewer than two words have a mark or its absence as gold. Give "
        "punctuated text with the marks of the component."
    )
    CRF992 = (
        "Features of {name!r} read what other components write, and a stream makes its own Docs. Give it the pipeline, "
        "`stream(words, nlp=nlp)`, or a function `prepare` that annotates a Doc."
    )
    CRF993 = (
        "This is {format}, whose lines go on with each other: they are one text. Leave out --unit line, or say with "
        "--format text that it is running text."
    )
    CRF994 = (
        "{where} looks like a file in the format {format}, which is not read: marks and capitals would damage it. "
        "Convert it to SRT, WebVTT or plain text, or say that it is running text, as `format`."
    )
    CRF995 = (
        "{where} is JSON without the texts of a transcript: there is no list of objects with a `text` under one of "
        "{names}. Give such a file, or say that it is running text, as `format`."
    )
    CRF996 = (
        "{where}, line {line}: {text!r} is no line of CTM, which has a file, a channel, a beginning, a duration, a "
        "word and maybe a confidence. Correct it, or say that the file is running text, as `format`."
    )


class PunctuationWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW971 = "{path}: left out while reading punctuated text: {dropped}."
    CRFW972 = (
        "{words} words are few to calibrate the marks of {name!r} by. Below {few} the probabilities may become worse: "
        "compare the errors, and give more text."
    )
    CRFW973 = (
        "No word has a probability under which {marks} would be right {precision:.0%} of the time, so that the "
        "threshold is 1. Lower the precision."
    )
    CRFW974 = (
        "Component {name!r} is trained further, so that its calibration holds no more: it is dropped. Run "
        "`python -m spacy crf calibrate` again."
    )
    CRFW975 = (
        "The training texts of {name!r} have none of the marks {marks}, so that it learns to set none. Give punctuated "
        "texts, or Docs with the marks in `doc._.punctuation`."
    )
    CRFW976 = (
        "{long} of {words} words of the training texts of {name!r} have more than {most} letters: it seems that no "
        "white space parts them, as in Thai, Lao, Khmer and Burmese. Put spaces between the words, here and in use."
    )
    CRFW977 = (
        "The dev corpus has only {found} words with gold for {name!r}, too few to calibrate its marks by; that takes "
        "{few}. Its probabilities are those of the chain. Give a larger dev corpus, or set temperature = 1.0."
    )
    CRFW978 = (
        "The calibration of {name!r} was fitted at another temperature, so that it is left out. Set that temperature "
        "again, or run `python -m spacy crf calibrate` again."
    )
    CRFW979 = (
        "Component {name!r}: gold has {label!r}, which is not among its labels, so that at most the mark is learned "
        "there. Begin with data that shows all labels, or list them in [initialize.components.{name}.labels]: `spacy "
        "init labels` writes such a list."
    )
    CRFW980 = (
        "Component {name!r}: nothing is known of the language {language!r}, whose habits were asked for; known are: "
        "{known}. Set `language` of its marks to one of these, or to null."
    )

"""All messages of the library, each with a code that can be searched for.

Codes are grouped by layer: 1xx core, 2xx learning, 3xx features, 4xx components, 5xx corpora and files,
6xx command line. Use `raise ValueError(Errors.CRF101.format(...))` and `warnings.warn(Warnings.CRFW401)`.
"""


class _Coded(type):
    """Prefixes every message with its code."""

    def __getattribute__(cls, name: str) -> str:
        value: str = type.__getattribute__(cls, name)
        return value if name.startswith("_") else f"[{name}] {value}"


class Errors(metaclass=_Coded):
    # Core: shapes, numbers, paths
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

    # Learning
    CRF201 = (
        "Training diverged in iteration {iteration}: the objective is {value}. Look for feature values that are "
        "very large or not finite, or give a larger c2."
    )

    # Corpora and files
    CRF501 = (
        "The setting 'path' of the corpus is null. Give a file or a folder, e.g. with --paths.train and "
        "--paths.dev on the command line."
    )
    CRF502 = "No such file or folder: '{path}'. Correct the setting 'path' (often paths.train or paths.dev)."
    CRF503 = (
        "Nothing to read in the folder '{path}'. Its files need one of these suffixes, each optionally "
        "followed by .gz: {suffixes}."
    )
    CRF504 = "{path}, line {line}: not UTF-8 ({reason}). Convert the file to UTF-8."
    CRF505 = "{path}: the gzip data is damaged or cut off ({reason}). Get the file again."
    CRF506 = (
        "{path}, line {line}: nothing says what the {width} columns are (format '{format}' is {known}). "
        "Name them with the setting 'columns', e.g. [\"word\", \"tag\", \"chunk\"], or set 'format' to "
        "'conll2000' (word, tag, chunk), 'conll2002' (word, tag, ner) or 'conll2003' (word, tag, chunk, "
        "ner)."
    )
    CRF507 = (
        "{path}, line {line}: found {found} columns instead of {expected}. Correct the line; for column "
        "files also see the settings 'columns' and 'separator'."
    )
    CRF508 = "Unknown name '{name}' in the setting '{setting}'. Use: {known}."
    CRF509 = (
        "The setting 'columns' ({columns}) must name 'word' once and no other name twice. Call columns "
        "that are to be skipped '_'."
    )
    CRF510 = (
        "The setting '{setting}' ({value}) does not go with the format '{format}'. Leave one of the two out; "
        "a separator has at least one character."
    )
    CRF511 = "{path}, line {line}: the word is empty. Fill it in or delete the line."
    CRF512 = (
        "{path}, line {line}: '{value}' in the column '{column}' is not an IOB or BILUO tag such as B-PER,"
        " I-PER, O. If these are labels of single tokens, call the column 'tag' in the setting 'columns'."
    )
    CRF513 = (
        "{path}, line {line}: '{value}' is not a universal part of speech such as NOUN. If these are tags "
        "of another kind, call the column 'tag' in the setting 'columns'."
    )
    CRF514 = (
        "{path}, line {line}: '{value}' are not morphological features. Write them as "
        "Name=Value|Name=Value, or '_' for none."
    )
    CRF515 = (
        "{path}, line {line}: malformed or misplaced id '{id}', expected {expected}. Words are numbered "
        "from 1 in each sentence, and a blank line ends a sentence."
    )
    CRF516 = (
        "{path}, line {line}: malformed head '{head}'. Give a number from 0 to {last}, or '_' if it is "
        "unknown."
    )
    CRF517 = (
        "{path}: not a readable .spacy file ({reason}). It is damaged, cut off or in another format; write"
        " it again or set 'format'."
    )
    CRF518 = (
        "The setting 'group' is {group!r}. Use 'auto', 'document', 'sentence' or a number of sentences of "
        "at least 1."
    )
    CRF519 = "{path}: the setting 'input' names '{kind}', but the file only has: {has}."
    CRF520 = "'{path}' holds no tokens at all. Correct the setting 'path' or fill the file."
    CRF521 = (
        "{path}, document {number}: cannot be split by group = {group!r}, as it has no sentence starts. "
        "Set 'group' to 'document', or store documents with sentence starts."
    )
    CRF522 = (
        "The custom token attribute '{name}' is already in use and computes its value, so a column cannot "
        "be written to it. Choose another name behind 'ext:'."
    )
    CRF523 = "Unknown format '{format}'. Use one of: {known}; or null to have it picked for each file."

    # Command line
    CRF601 = "The name of the output file '{path}' must end in .spacy, or spaCy will not read it."


class Warnings(metaclass=_Coded):
    pass

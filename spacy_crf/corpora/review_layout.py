"""The layout of files that `python -m spacy crf review` writes, for the writer and the reader."""

FORMAT = "spacy_crf review 1"
MARK = f"# {FORMAT}"  # first line of the tabular layout; in JSON lines each object says it
COLUMNS = ("word", "gold", "best", "probability", "alternatives")
ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_BACK = {escape[1]: character for character, escape in ESCAPES.items()}
_TABLE = str.maketrans(ESCAPES)


def escape(text: str) -> str:
    """A text on one line and in one column.

    text (str): Any text.
    RETURNS (str): The same with backslashes, tabs and line ends spelt out.
    """
    return text.translate(_TABLE)


def unescape(text: str) -> str:
    """The text that was escaped; a backslash before any other character stays.

    text (str): What `escape` returned.
    RETURNS (str): The text.
    """
    first, *rest = text.split("\\\\")
    return "\\".join(_unescape(part) for part in (first, *rest)) if "\\" in text else text


def _unescape(part: str) -> str:
    for letter, character in _BACK.items():
        if letter != "\\":
            part = part.replace(f"\\{letter}", character)
    return part

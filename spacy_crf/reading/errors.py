"""Messages of what reads files, texts, numbers, JSON, TOML and XML."""

from ..core.errors import Messages


class ReadingErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF498 = "{path}: {reason}. Correct the name, or see that the file can be read or written."
    CRF499 = "{path}: {reason}. It was not written, or not to its end. Make room, or write to another place."
    CRF504 = "{path}, line {line}: not UTF-8 ({reason}). Convert the file to UTF-8."
    CRF505 = "{path}: the gzip data is damaged or cut off ({reason}). Get the file again."
    CRF533 = "{path}, line {line}: malformed XML ({reason}). Correct the file, or export it again."
    CRF534 = (
        "{path}, line {line}: the document type of the file does more than name a DTD, and entities could be "
        "expanded without end or read other files. Delete the DOCTYPE: none is needed."
    )
    CRF570 = (
        "{path}: the packed data unpacks to more than {most} times its size, as no text does. If you trust a "
        "gzip file, unpack it yourself (gunzip) and read that."
    )
    CRF571 = "{path}: the file has more than {most} MiB, and it has to be read as a whole. Split it."
    CRF572 = "{path}: a line has more than {most} MiB. Break it into shorter lines."
    CRF573 = (
        "{where}: the text has one half of a surrogate pair ({code}) without the other, which no file can hold. "
        "Delete it, or write the character that is meant."
    )
    CRF574 = "{where}: JSON that cannot be read ({reason}). Correct it, or write it again."
    CRF649 = "LaTeX is read by pylatexenc, which is not installed. Install it: pip install 'spacy_crf[latex]'."
    CRF575 = "{where}: TOML that cannot be read ({reason}). Correct it."
    CRF847 = "The block {block} of the config has no setting {name!r}. Nearest: {near}. Correct the name, or delete it."

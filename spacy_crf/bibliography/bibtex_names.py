"""Names as BibTeX writes them: "von Last, Jr, First", and braces around what it would take apart."""

from .entry import Name, Names
from .latex import encode

OTHERS = "others"


def write_names(names: Names, unicode: bool = False) -> str:
    """A list of names.

    names (Names): names in one part are put in braces, so that those of bodies stay whole.
    unicode (bool): as in `latex.encode`.
    RETURNS (str): joined by "and"; "and others" at the end if more are meant.
    """
    written = [_write_name(name, unicode) for name in names.names]
    return " and ".join([*written, *([OTHERS] if names.others else [])])


def _write_name(name: Name, unicode: bool) -> str:
    if name.is_whole:
        return f"{{{encode(name.family, unicode)}}}" if name.family != OTHERS else OTHERS
    family = _shielded(name.family, unicode, is_family=True)
    last = f"{_shielded(name.particle, unicode)} {family}".strip()
    return ", ".join(
        [last, *([_shielded(name.suffix, unicode)] if name.suffix else []), _shielded(name.given, unicode)]
    )


def _shielded(text: str, unicode: bool, is_family: bool = False) -> str:
    """A part of a name; in braces if BibTeX would find another part in it, or another name."""
    words = text.split()
    is_lower = is_family and any(not word[0].isupper() for word in words)
    latex = encode(text, unicode)
    return f"{{{latex}}}" if is_lower or "," in text or "and" in (word.lower() for word in words) else latex

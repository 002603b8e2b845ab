"""One name: family, given names, particle, suffix."""

import re

from .entry import Name

SUFFIX = re.compile(r"[JS]r\b\.?|II|III|IV", re.IGNORECASE)
INITIAL = r"[^\W\d_a-zß-ÿ]\.?"
INITIALS = re.compile(rf"(?:{INITIAL}[\s-]*|[A-Z][a-z]\.[\s-]*){{1,5}}")
# A family name in one word, with its particles if it has some.
ONE_WORD = re.compile(r"(?:(?:[^\W\d_A-ZÄÖÜ]|')[\w'’.]*\s+)*[\w'’‘\-]+")
TRAILING_INITIALS = re.compile(r"(?P<family>.*[^\W\d_A-Z.].*?|[A-Z]{2,}.*?)\s+(?P<given>(?:[A-ZÀ-Ý]\.?[\s-]*){1,4})")
BRACKETED = re.compile(r"(?P<family>[^()]+?)\s*\((?P<given>[^()\s]+)\)")
BODY = re.compile(
    r"\b(?:institut[eo]?|committee|council|universi\w+|project|office|society|group|authority|trust|collaboration|"
    r"department|ministry|association|consortium|board|cent(?:re|er)|foundation|commission|organi[sz]ation|bureau|"
    r"agency|"
    r"library|company|corp(?:oration)?|inc|ltd|league|federation|union|academy|museum|network|initiative|laborator\w+|"
    r"partnership|team|press|conference|gesellschaft|verein|ministerium|amt|bund|verband|kommission|société|comité)\b"
    r"|^the\s|\s(?:of|for|on|für|pour)\s",
    re.IGNORECASE,
)


def is_body(text: str) -> bool:
    """Whether a name is that of an institution, as far as its words tell."""
    return BODY.search(text) is not None


def is_initials(text: str) -> bool:
    """Whether given names are initials only, such as "J.-P." or "WL"."""
    return INITIALS.fullmatch(text) is not None


def put_spaces(text: str) -> str:
    """Initials apart, "R. J. Smith" for "R.J.Smith", and no spaces before punctuation or within "J.-P."."""
    text = re.sub(r"(?<=\.)\s*-\s*(?=[^\W\d_]\.)", "-", re.sub(r"\s+([.,])", r"\1", text))
    return re.sub(r"(?<=\b[^\W\d_])\.(?=[^\W\d_])", ". ", text)


def inverted_name(family: str, given: str, suffix: str = "") -> Name:
    """A name whose family name comes first.

    family (str): with its particle, if that comes first. given (str): its particle may come last, as in "Willem van
    der". suffix (str): such as "Jr.".
    RETURNS (Name): the name.
    """
    particle, family = _leading_particle(family.split())
    words = _end_of_given(given).split()
    last = len(words)
    while last > 1 and _is_particle(words[last - 1]):
        last -= 1
    particle = " ".join([*words[last:], particle]).strip()
    return Name(family, " ".join(words[:last]), particle, suffix)


def natural_name(text: str, suffix: str = "") -> Name:
    """A name in the order of speech, or one like "Family GH", "Family G." and "Family (Given)".

    text (str): without comma. suffix (str): such as "Jr.".
    RETURNS (Name): the name.
    """
    bracketed = BRACKETED.fullmatch(text)
    if bracketed:
        return inverted_name(bracketed["family"], bracketed["given"], suffix)
    trailing = TRAILING_INITIALS.fullmatch(text)
    if trailing and not is_initials(text.split()[0]):
        return inverted_name(trailing["family"], _spelt(trailing["given"].strip()), suffix)
    words = text.split()
    if not suffix and len(words) > 2 and SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
    place = next((at for at, word in enumerate(words[1:-1], 1) if _is_particle(word)), len(words) - 1)
    particle, family = _leading_particle(words[place:])
    return Name(family, " ".join(words[:place]), particle, suffix)


def _leading_particle(words: list[str]) -> tuple[str, str]:
    place = 0
    while place < len(words) - 1 and _is_particle(words[place]):
        place += 1
    return " ".join(words[:place]), " ".join(words[place:])


def _is_particle(word: str) -> bool:
    letters = [char for char in word if char.isalpha()]
    return bool(letters) and letters[0].islower()


def _spelt(initials: str) -> str:
    """Initials with full stops: "KL" becomes "K. L.", "J-M" becomes "J.-M."."""
    if "." in initials:
        return initials
    return re.sub(r"\.\s*(?=[^\W\d_-])", ". ", re.sub(r"([^\W\d_])", r"\1.", initials)).strip()


def _end_of_given(given: str) -> str:
    """Without the full stop that ends a field, but not that of an initial."""
    given = given.strip()
    return given if re.search(r"(?:^|[\s.\-])[^\W\d_][hlr]?\.$", given) else given.rstrip(".")

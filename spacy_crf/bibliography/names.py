"""Authors and editors: a list as it is printed to the parts of each name."""

import re
from collections.abc import Callable, Iterator, Sequence

from .entry import ALIAS, BODY, CHINESE, COMPANY, ENUMERATION, LEGAL_FORM, LIFE, UNNAMED, Name, Names


def _letters(test: Callable[[str], bool]) -> str:
    """Letters with a property, for a class of a regular expression; those beyond U+2FFF are taken to have no case."""
    return "".join(letter for letter in map(chr, range(0x3000)) if letter.isalpha() and test(letter))


LOWER = _letters(str.islower)
CAPITAL = f"[{_letters(lambda letter: letter.isupper() or letter.istitle())}]"
EAST = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"  # kana, Han and Hangul: family names first, no initials
EASTERN = re.compile(f"[{EAST}\u30fb]+")
SINGLE = rf"[^\W\d_{EAST}]"  # may be an initial
NO_CASE = rf"[^\W\d_{EAST}{LOWER}]"  # or a capital
# Commas and brackets of other scripts; Eastern commas divide names.
ALIKE = str.maketrans("\u060c\uff0c\u3001\uff1b\u061b\uff08\uff09", ",;;;;()")
DIGRAPH = r"(?:Ph|Chr?|Th|Yu|Ya|Yo|Zh|Sh|Ts|Kh|Gy|Sz|Zs|Cs|Дж)"  # initials of two letters
ET_AL = re.compile(
    r"[\s,;]*(?:(?i:\band\b)|&)?[\s,;]*\[?(?:(?i:\bet\.?\s*(?:al|alii|aliae|coll)\b\.?|& ?(?:(?-i:al)|others)\b\.?|"
    r"\b(?:and others|y otros|e outros|et autres|und andere|en anderen|e altri|and colleagues)\b|\b[ye] cols?\b\.?"
    r"|\bи (?:др\b\.?|другие\b|соавт\b\.?)|\b(?:та|і) ін\.|\bm\.\s?fl\.|\bi (?:in|dr|sur|wsp)\.|\ba kol\b\.?"
    r"|\bve ark\.|\bvd\.)|\b[uo]\.\s?a\.|\be\.\s?a\.(?=\W*$)|\bκ\.\s?[άα]\.|(?:等人?|ほか)(?=\W*$))\]?[\s,;]*"
)
OMITTED = re.compile(r"\s*(?:…|\.\s?\.\s?\.)\s*&?\s*")
KEY = re.compile(r"^\[[^\[\]]+\]\s*(?=\w)")
GUESSED = re.compile(r"^\[([^\[\]]+)\][\s.,:;]*$")  # by who made the list: the book does not name them
# Words that announce names, or say what the named did.
BEFORE = re.compile(
    r"^[(\[]?(?:(?:in|ln|dans)\b:?\s+(?!['’]t\s))?[(\[]?"
    r"(?:(?:edited|compiled|collected|selected|written|directed|produced)(?:\s+and\s+\w+ed)?\s+by\s+"
    r"|(?!(?-i:Ed\s)(?!by\b))ed(?:s|d|ited)?\.?:?\s+(?:(?:and|&)\s+trans\.?\s+)?(?:by\s+)?"
    r"|(?:hg|hrsg|hgg|herausgegeben)(?:\.?\s+(?:von|v\.)|\.:?|:)\s+|éd(?:s)?\.\s+|by\s+|a c(?:ura|\.) di\s+"
    r"|(?:(?:отв\.|под)\s+)?(?:(?:общ(?:\.|ей)|науч(?:\.|ной))\s+)?ред(?:\.|акцией)\s+|(?:сост|toim)\.\s+"
    r"|(?:sous la )?dir(?:\.|ection)\s+(?:de\s+|par\s+)?|coords?\.\s+(?:por\s+)?"
    r"|(?:édité|dirigé|coordinado|editado|dirigido|organizado)\s+p[ao]r\s+"
    r"|(?:bajo la direcci[oó]n|edici[oó]n|edizione|organização)\s+d[ei]\s+|(?-i:por|par)\s+"
    r"|onder redactie van\s+|red\.\s+av\s+|(?:pod\s+)?red\.\s+)?(?:\[(?=[A-Z]))?",
    re.IGNORECASE,
)
AFTER = re.compile(
    r"[\s,;:]*[(\[]?\s*\b(?:eds?|editors?|hrsg|hgg?|dirs?|éds?|comps?|compilers?|coords?|orgs?|red|ред|trans|curs?|szerk|toim|"
    r"translators?|note|comment)\b\.?(?:\s?(?:&|and|und|et|y|e)\s(?:trans|transl|translators?|eds?|editors?)\b\.?)?"
    r"\s*(?:[)\]]|$)[\s,;:.)]*"
    r"|,\s*(?:inventors?|assignees?|(?:md,\s|m\.\s?d\.,\s)?ph\.?\s?d|d\.?\s?phil|(?-i:[MB]\.?Sc|Dr|Prof|Esq))\b\.?(?=\s*(?:[;,]|$|and\b|&))"
    r"|\s*[(\[](?:(?:series|vol(?:ume)?|guest|executive|associate)\.?\s)?(?:eds?|editors?|directors?|producers?|writers?"
    r"|hosts?|chairs?|composers?|inventors?|authors?|speakers?|a cura di)\b\.?(?:\s(?:&|and)\s\w+\.?)?[)\]][\s,;:.)]*",
    re.IGNORECASE,
)
ED = re.compile(r"[\w'’-]+, Ed")  # a given name where no editor has one
EASTERN_AFTER = re.compile(rf"(?<=[\s(){EAST}])\(?(?:主?[編编]著?|著|[訳译譯]|지음|엮음|옮김)\s*\)?(?=\W*$|\s*[,;])")
CONTRIBUTION = re.compile(
    r"(?:^|\s*[;,]\s*|(?<!ed)(?<!ed\.)\s+and\s+(?=translated\s+by\s)|\s+(?=(?:unter|in|with|avec|con)\s))"
    r"((?:(?:^[Tt]|\bt)rans(?:l|lated)?|(?:^[Üü]|\bü)bers(?:etzt)?|^Trad(?=\.)|\btrad)\b\.?\s.*|"
    r"(?:unter\s+(?:der\s+)?Mitarbeit|in\s+(?:Verbindung|Zusammenarbeit|collaboration|cooperation)"
    r"|with\s+the\s+(?:assistance|collaboration)|(?:avec|con)\s+la\s+col+abora\w+)\s.*|"
    r"(?:with|mit|avec)\s+(?:an?|the|einem|einer|une?)\s.*\b(?:by|von|par|de)\s.*)$"
)
ROMAN_END = re.compile(r"(?<=\bI[IV])\.$|(?<=\bIII)\.$|(?<=\d[nrt][dh])\.$")
HARD = re.compile(r"\s*[;/]\s*|(?<=\.)\s+[-–—]\s+|\s*・\s*(?=[\u3400-\u9fff\uac00-\ud7a3])|\s*·\s*(?=[\uac00-\ud7a3])")
FOR_BODY = re.compile(rf"(?:[;,]\s*|(?<=\b{CAPITAL}\.)\s+)(?:for|on behalf of)\s+(?=the\b)")
# "ET" may be initials, as in "Smith ET,".
AND = r"\b(?:and|und|et|with|en|och|og|ja|és|ve|oraz|και|и|та|AND|UND|WITH)\b"
# These join family names as well, as in "Ortega y Gasset".
JOINING = ("y", "e", "i", "a")
SOFT = re.compile(
    rf"\s*,?\s*(?!und\s+zu\b)(?:&|{AND}|\bET\b(?=\s+{CAPITAL})|(?<=[.,])\s*\b(?:[yeia]\b|u\.)(?=\s)"
    rf"|(?<=\s)u\.(?=\s+{CAPITAL})|(?<=\s)[yeia](?=\s+{SINGLE}\.)"
    rf"|(?<=\s)[yeia](?=\s+[^\s,;.]+\s+(?!&|{AND}|{CAPITAL}{{1,3}}\b)[^\s,;]))\s*"
)
MOST_WORDS, MOST_CHARACTERS = 12, 200  # a text with more between its commas is no list of names, and stays whole
FAMILIES = re.compile(rf"(?:{CAPITAL}[{LOWER}]\w+(?:, |$))+")
PATRONYMIC = re.compile(r"(?:ич|овна|евна|ична)$")
JOINED = re.compile(rf"(\S.*)\s(?:{'|'.join(JOINING)})\s(.*\S)")
EDGES = " \t,;:/–—-"
SEPARATORS = re.compile(r"[\s,;]*[,;][\s,;]*")
SUFFIX = re.compile(r"[JS]r\b\.?|II|III|IV|2nd|3rd|4th", re.IGNORECASE)
# Two figures of Rome may be initials too, as in "Family IV".
PIECE_END = re.compile(rf",(?!\s*{LEGAL_FORM})|\s+(?=(?:[JS]r\b\.?|III|2nd|3rd|4th)\s*(?:,|\.?$))", re.IGNORECASE)
INITIAL = rf"(?:{CAPITAL}\b\.?|{NO_CASE}\.|Chr\.|{CAPITAL}[{LOWER}]\.)[\s-]*"
INITIALS = re.compile(rf"(?:{INITIAL}){{1,5}}")
RUN = rf"{CAPITAL}{{2,3}}"  # initials without full stops, as in "Family GH"
PARTICLE_AND_RUN = re.compile(rf"(?:^|\s)[{LOWER}'’]{{1,4}}\s{RUN}$")  # a family in capitals, as in "von BAR"
BEGINS_WITH_INITIAL = re.compile(rf"(?!Ó\s){CAPITAL}(?:\.|\s|$)|{NO_CASE}\.")
# A family name in one word, with its particles if it has some.
ONE_WORD = re.compile(rf"(?:['{LOWER}][\w'’.]*\s+)*[\w'’‘\-]+")
SHORT = rf"(?:{CAPITAL}\b\.?|{NO_CASE}\.|{DIGRAPH}\.)[\s-]*"
PARTICLES = rf"(?:\s*\b[{LOWER}][{LOWER}'’]*(?!\w))"  # "d'Urfé" is more than one
# Given names behind a family name of several words: one, or some with initials or particles behind them.
GIVEN = re.compile(
    rf"(?:[\w'’‘\-]+\.?|(?:[\w'’‘\-]+\s+){{1,2}}(?:{CAPITAL}\.[\s-]*){{1,3}}|(?:{INITIAL}){{1,5}}){PARTICLES}{{0,3}}"
    rf"|(?:[\w'’‘\-]+\s+){{1,2}}[\w'’‘\-]+{PARTICLES}{{1,3}}"
)
PERSON = re.compile(r"[^,]*,[^,]*|[^\s,]+(?:\s[^\s,]+){1,2}")  # between dashes: "Family, Given – Given Family"
# What no given name begins with
FAMILY_BEGINS = re.compile(r"(?:De|Dos|Las?|Ibn|V[ao]n (?:de[nr]?|’t|'t))\s")
TRAILING_INITIALS = re.compile(
    rf"(?P<family>.*?\w{{2,}}\S*)\s+(?P<given>(?:(?:{SHORT}){{1,4}}|{RUN}){PARTICLES}{{0,3}})"
)
FAMILY_IN_CAPITALS = re.compile(
    rf"(?P<family>{CAPITAL}(?:{CAPITAL}|['’\- ])*{CAPITAL}{{2}}) (?P<given>{CAPITAL}[{LOWER}].*)"
)
BRACKETED = re.compile(r"(?P<family>[^()]+?)\s*\((?P<given>[^()\s]+)\)")
# Each name of a list may tell its parts in one way
LISTED = re.compile(rf"\s+[-–—]\s+|\s*[,;/]\s*(?:(?:&|{AND})\s*)?|\s*&\s*|\s+{AND}\s+")
TOLD = (
    re.compile(rf"(?P<family>[^\s().]+(?:\s[^\s().]+){{0,2}}) \((?P<given>{CAPITAL}[^\s()]*(?:\s[^\s()]+){{0,3}})\)"),
    re.compile(rf"(?P<family>{CAPITAL}(?:{CAPITAL}|['’\- ])*{CAPITAL}) (?P<given>{CAPITAL}[{LOWER}].*)"),
)
# Small words that belong to a family name where they begin with a capital too.
CAPITAL_PARTICLE = re.compile(
    r"v[ao]n|de|del|della|di|da|dos|du|den|der|ter|ten|la|le|des|st\.?|ste\.?|saint|ó|ní|nic|uí|mac", re.IGNORECASE
)


def parse_names(text: str) -> tuple[Names, str]:
    """The persons and bodies of a list of names, and what was said besides, such as "with a preface by Clara Venn".

    Understood are "G. Family", "Family, G.", "Family GH" and "Family (Given)", with "Jr." or "III", mixed as in
    "Family, Given, and Given Family", with ";", "/", "&" and words for "and" of many languages between them, and with
    words that announce them. Initials are capitals, or letters of a script without case that have a full stop. A part
    of a name is a particle if it is written with a small letter before the family name, or behind an inverted given
    name. Names in Chinese, Japanese and Korean script begin with the family name; without a space they stay whole.
    Words such as University or Council make a body, which is one name whatever it contains.
    """
    text = GUESSED.sub(r"\1", KEY.sub("", " ".join(text.translate(ALIKE).split())))
    text = EASTERN_AFTER.sub("", text)
    # initials apart, and no spaces before punctuation or within "J.-P."
    text = re.sub(r"(?<=\.)\s*-\s*(?=[^\W\d_]\.)", "-", re.sub(r"\s+([.,])", r"\1", text))
    if not _is_one_body(text):
        text = re.sub(rf"\b([^\W\d_]|{DIGRAPH})\.(?=[^\W\d_])", r"\1. ", text)
    rest = LIFE.findall(text)
    text = LIFE.sub("", text)
    if besides := CONTRIBUTION.search(text):
        text = text[: besides.start()]
        rest.append(besides[1].strip(EDGES + "."))
    text = FOR_BODY.sub("; ", text)
    text = SEPARATORS.sub(lambda found: "; " if ";" in found[0] else ", ", text)
    text = BEFORE.sub("", text.strip(EDGES))
    text = text if ED.fullmatch(text) else AFTER.sub(", ", text).strip(EDGES)
    text = ROMAN_END.sub("", text)
    if all(PERSON.fullmatch(part) and ("," in part or not _is_body(part)) for part in re.split(r"\s[–—]\s", text)):
        text = re.sub(r"\s[–—]\s", "; ", text)
    text, n_and_others = ET_AL.subn(", ", text)
    text, n_omitted = OMITTED.subn(", ", text)
    rest += ["".join(found) for found in ALIAS.findall(text)]
    text = ALIAS.sub("", text)
    return Names(tuple(_names(text.strip(EDGES))), n_and_others + n_omitted > 0), ", ".join(rest)


def _names(text: str) -> Iterator[Name]:
    if not re.search(r"\w", text):
        return
    for told in ([way.fullmatch(name) for name in LISTED.split(text.rstrip("."))] for way in TOLD):
        if all(told) and not _is_body(text) and (")" in text or re.search(rf"\b{CAPITAL}{{4}}", text)):
            yield from (_inverted_name(name["family"], name["given"]) for name in told if name)
            return
    pieces = [text] if _is_one_body(text) else HARD.split(text)
    persons = [
        group for piece in pieces if not _is_one_body(piece) for group in _groups(piece) if re.search(r"\w", group)
    ]
    are_inverted = ";" in text and all(person.count(",") == 1 for person in persons)
    for piece in pieces:
        if _is_one_body(piece):
            yield Name(_end(piece))
        elif all(map(_is_body, PIECE_END.split(piece))):
            yield from (Name(_end(body)) for part in PIECE_END.split(piece) for body in _bodies(part.strip()))
        else:
            groups = list(_groups(piece))
            if len(groups) > 1 and FAMILIES.fullmatch(", ".join(groups)) and "," not in groups[-1]:
                groups = ", ".join(groups).split(", ")  # "Smith, Jones and Brown"
            for group in groups:
                yield from _group(group, are_inverted)


def _is_one_body(text: str) -> bool:
    is_list = re.search("[,;]", text) and (len(text) > MOST_CHARACTERS or not ENUMERATION.fullmatch(text.rstrip(".")))
    return COMPANY.fullmatch(text) is not None or (_is_body(text) and not is_list)


def _bodies(text: str) -> Sequence[str]:
    """Parts between the words for "and" if all are bodies; others are one, as "Centers for Control and Prevention"."""
    parts = [part for part in SOFT.split(text) if part]
    return parts if all(map(_is_body, parts)) else [text]


def _groups(text: str) -> Iterator[str]:
    """Parts between the words for "and"; those of a body stay together."""
    groups = SOFT.split(text)[::-1]
    while groups:
        group = groups.pop()
        if groups and _is_body(groups[-1]) and not re.search(r"[,.]", group) and group.lower().startswith("the "):
            group = f"{group} and {groups.pop()}"
        yield group


def _group(text: str, is_inverted: bool) -> Iterator[Name]:
    """Names between commas; of two pieces one, if it `is_inverted` and the first piece may be a family name."""
    text, _, bracketed = text.partition(" (") if re.search(r"\([^()]*\s[^()]*\)", text) else (text, "", "")
    pieces = [piece.strip(" :") for piece in PIECE_END.split(text) if re.search(r"\w", piece)]
    if any(len(piece) > MOST_CHARACTERS or len(piece.split()) > MOST_WORDS for piece in pieces):
        yield Name(_end(", ".join(pieces)))
        return
    if is_inverted and len(pieces) == 2 and _may_be_family(pieces[0]) and not SUFFIX.fullmatch(pieces[1]):
        yield _inverted_name(*pieces)
        return
    if _are_whole(pieces):
        yield from (Name(piece.rstrip(".")) for piece in pieces)
        return
    place = 0
    while place < len(pieces):
        end = place + _inverted_size(pieces, place)
        if end - place == 2 and (joined := JOINED.fullmatch(pieces[end - 1])) and end < len(pieces):
            pieces[end - 1 : end] = joined.groups()  # "Family, Given y Family, Given"
        own, suffix = pieces[place:end], ""
        if end < len(pieces) and SUFFIX.fullmatch(pieces[end]):
            suffix, end = pieces[end], end + 1
            if end < len(pieces) and len(own) == 1 and _lacks_given(own[0], pieces[end]):
                own, end = [*own, pieces[end]], end + 1
        yield _name(own, suffix)
        place = end
    if bracketed:
        yield Name(_end(bracketed.rstrip(") ")))


def _are_whole(pieces: Sequence[str]) -> bool:
    """Whether all names are in Eastern script without spaces, and more than family and given names in turn."""
    bare = [piece.rstrip(".") for piece in pieces]
    is_longer = len(bare) % 2 == 1 or any(len(piece) > 2 for piece in bare[::2]) or all(map(CHINESE.fullmatch, bare))
    return is_longer and all(map(EASTERN.fullmatch, bare))


def _inverted_size(pieces: Sequence[str], place: int) -> int:
    """How many pieces make the name that begins at a place: 2 if its given names come last."""
    if place + 1 == len(pieces):
        return 1
    first, second = pieces[place], pieces[place + 1]
    if _is_body(second):
        return 1
    if _is_body(first):
        return 2 if ONE_WORD.fullmatch(first) and INITIALS.fullmatch(second) else 1
    if re.fullmatch(CAPITAL, first) and "." in second and INITIALS.fullmatch(second):
        return 2  # "E, W."
    if SUFFIX.fullmatch(second) or BEGINS_WITH_INITIAL.match(first):
        return 1
    if INITIALS.fullmatch(second):
        return 2
    if _trailing_initials(first) or (PARTICLE_AND_RUN.search(first) and re.search(rf"\s{RUN}\.?$", second)):
        return 1
    is_told = FAMILY_BEGINS.match(first) or (first.isupper() and re.search(f"[{LOWER}]{{2}}", second))
    return 2 if is_told or GIVEN.fullmatch(second) or ONE_WORD.fullmatch(first) else 1


def _may_be_family(text: str) -> bool:
    """Whether no initial beside it, and no word of an institution, says that a text is more than a family name."""
    return not (_is_body(text) or BEGINS_WITH_INITIAL.match(text) or _trailing_initials(text))


def _lacks_given(family: str, given: str) -> bool:
    """Whether given names come behind the suffix, as in "Family, Jr., Given"."""
    return _may_be_family(family) and bool(INITIALS.fullmatch(given) or ONE_WORD.fullmatch(family))


def _trailing_initials(text: str) -> re.Match[str] | None:
    """The parts of "Family GH" or "Family G. H."; in capitals, three letters are a name."""
    found = TRAILING_INITIALS.fullmatch(text)
    if found is None or BEGINS_WITH_INITIAL.match(text) or PARTICLE_AND_RUN.search(text):
        return None
    return None if text.isupper() and re.fullmatch(r"\w{3}", found["given"]) else found


def _name(pieces: Sequence[str], suffix: str) -> Name:
    if len(pieces) == 2:
        return _inverted_name(pieces[0], pieces[1], suffix)
    return Name(_end(pieces[0])) if _is_body(pieces[0]) else _natural_name(_end(pieces[0]), suffix)


def _end(text: str) -> str:
    """Without the full stop of the field; those of initials and abbreviations stay."""
    is_short = re.search(rf"(?:^|[\s.\-])(?:{SINGLE}|{DIGRAPH}|[JS]r|Inc|Ltd|Co|Corp|Ders)\.$", text)
    return text if is_short else text.rstrip(". ")


def _is_body(text: str) -> bool:
    """Whether a name is that of an institution, as far as its words tell."""
    return BODY.search(text) is not None and not re.fullmatch(rf"[\w'’-]+ {CAPITAL}{{1,2}}", text)


def _inverted_name(family: str, given: str, suffix: str = "") -> Name:
    """A name whose family name comes first, with its particle, unless that is last, as in "Willem van der"."""
    particle, family = _leading_particle(family.split())
    given = given.strip()
    if not re.search(rf"(?:^|[\s.\-])(?:{SINGLE}[hlr]?|{DIGRAPH})\.$", given):  # the full stop of an initial stays
        given = given.rstrip(".")
    words = given.split()
    if not suffix and len(words) > 1 and SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
    last = len(words)
    while last > 1 and words[last - 1].islower() and not _is_particle(words[0]):
        last -= 1
    particle = " ".join([*words[last:], particle]).strip()
    return Name(family, " ".join(words[:last]), particle, suffix)


def _natural_name(text: str, suffix: str = "") -> Name:
    """A name without comma in the order of speech, or one like "Family GH", "Family G." and "Family (Given)"."""
    if bracketed := BRACKETED.fullmatch(text):
        return _inverted_name(bracketed["family"], bracketed["given"], suffix)
    words = text.split()
    if UNNAMED.fullmatch(text):
        return Name(text)
    if len(words) == 2 and all(map(EASTERN.fullmatch, words)):
        return Name(words[0], words[1])
    if len(words) == 3 and PATRONYMIC.search(words[2]) and not PATRONYMIC.search(words[1]):
        return Name(words[0], " ".join(words[1:]))
    if not suffix and len(words) > 2 and SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
        text = " ".join(words)
    if trailing := _trailing_initials(text):
        return _inverted_name(trailing["family"], _spelt(trailing["given"].strip()), suffix)
    if in_capitals := FAMILY_IN_CAPITALS.fullmatch(text):
        return _inverted_name(in_capitals["family"], in_capitals["given"], suffix)
    inner = list(enumerate(words[1:-1], 1))
    begins = (at - (word in JOINING) for at, word in inner if _is_particle(word) or CAPITAL_PARTICLE.fullmatch(word))
    place = next(begins, len(words) - 1)
    particle, family = _leading_particle(words[place:])
    return Name(family, " ".join(words[:place]), particle, suffix)


def _leading_particle(words: list[str]) -> tuple[str, str]:
    place = next((at for at, word in enumerate(words[:-1]) if not _is_particle(word)), len(words) - 1)
    return " ".join(words[:place]), " ".join(words[place:])


def _is_particle(word: str) -> bool:
    return next(filter(str.isalpha, word), "").islower()


def _spelt(initials: str) -> str:
    """Initials with full stops: "KL" becomes "K. L.", "J-M van" becomes "J.-M. van"."""
    initials, *particles = re.split(rf"(?=\s[{LOWER}])", initials, maxsplit=1)
    if "." not in initials or re.fullmatch(rf"(?:{CAPITAL}-?)+\.", initials):
        initials = re.sub(r"([^\W\d_])", r"\1.", initials.rstrip("."))
        initials = re.sub(r"\.\s*(?=[^\W\d_-])", ". ", initials).strip()
    return "".join([initials, *particles])

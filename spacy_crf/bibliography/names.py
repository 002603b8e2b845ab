"""Authors and editors: a list as it is printed to the parts of each name."""

import re
from collections.abc import Iterator, Sequence

from . import name_forms as forms
from .entry import Name, Names

USUAL_INITIALS, MOST_INITIALS = 3, 4  # capitals of one person
MOST_PARTS = 3  # of one person, between commas
MOST_WORDS, MOST_CHARACTERS = 12, 200  # a text with more between its commas is no list of names, and stays whole


def parse_names(text: str) -> tuple[Names, str]:
    """The persons and bodies of a list of names, and what was said besides, such as "with a preface by Clara Venn".

    Understood are "G. Family", "Family, G.", "Family GH" and "Family (Given)", with "Jr." or "III", mixed as in
    "Family, Given, and Given Family", with ";", "/", "&" and words for "and" of many languages between them, and with
    words that announce them. Initials are capitals, or letters of a script without case that have a full stop. A part
    of a name is a particle if it is written with a small letter before the family name, or behind an inverted given
    name. Names in Chinese, Japanese and Korean script begin with the family name; without a space they stay whole.
    Words such as University or Council make a body, which is one name whatever it contains.
    """
    text = forms.GUESSED.sub(r"\1", forms.KEY.sub("", " ".join(text.translate(forms.ALIKE).split())))
    for pattern in (forms.LIKE_WORDS, forms.APART_LIKE_WORDS):
        text = pattern.sub(lambda found: f"{found['family']} {_spelt(found['run'])}", text)
    text = forms.EASTERN_AFTER.sub("", forms.OPENED.sub("", forms.MARKS.sub("", text)))
    # initials apart, and no spaces before punctuation or within "J.-P."
    text = re.sub(r"(?<=\.)\s*-\s*(?=[^\W\d_]\.)", "-", re.sub(r"\s+([.,])", r"\1", text))
    if not _is_one_body(text):
        text = re.sub(rf"\b([^\W\d_]|{forms.DIGRAPH})\.(?=[^\W\d_ªº])", r"\1. ", text)
    rest = forms.LIFE.findall(text)
    text = forms.LIFE.sub("", text)
    if besides := forms.CONTRIBUTION.search(text):
        text = text[: besides.start()]
        rest.append(besides[1].strip(forms.EDGES + "."))
    text = forms.FOR_BODY.sub("; ", text)
    text = forms.SEPARATORS.sub(lambda found: "; " if ";" in found[0] else ", ", text)
    text = forms.BEFORE.sub("", re.sub(r",\s+in:?$", "", text).strip(forms.EDGES))  # "Lund, in: .."
    text, n_and_others = forms.ET_AL.subn(", ", text)
    text = re.sub(r"[\s,;]+(?=\))|\([\s,;]*\)", "", text)  # "(eds., et al.)"
    if text.count("(") < text.count(")"):  # "(ed. by G. Family)"
        text = re.sub(r"\)[.,;:\s]*$", "", text)
    text = text if forms.ED.fullmatch(text) else forms.AFTER.sub(", ", text).strip(forms.EDGES)
    text = forms.ROMAN_END.sub("", text)
    parts = forms.BETWEEN_PERSONS.split(text)
    if all(forms.PERSON.fullmatch(part) and ("," in part or not _is_body(part)) for part in parts):
        text = "; ".join(parts)
    text, n_omitted = forms.OMITTED.subn(", ", text)
    rest += ["".join(found) for found in forms.ALIAS.findall(text)]
    text = forms.ALIAS.sub("", text).replace("..", ".")
    return Names(tuple(_names(text.strip(forms.EDGES))), n_and_others + n_omitted > 0), ", ".join(rest)


def listed_by_commas(text: str) -> tuple[Name, ...]:
    """Names of BibTeX that only commas part, "others" among them; none where it is one, "von Last, Jr, First"."""
    if forms.IN_SPEECH.fullmatch(text):
        return parse_names(text)[0].listed
    pieces = [piece.strip() for piece in text.strip(" ,").split(",")]
    begin_with_initials = len(pieces) > 1 and all(map(forms.INITIALS_FIRST.match, pieces))
    are_three = len(pieces) == MOST_PARTS and " " in pieces[1]  # "Ada Lund, Bo Moss, Kim Roe", but "Lund, S. J., Ada"
    if not (begin_with_initials or are_three or len(pieces) > MOST_PARTS):
        return ()
    names = parse_names(text)[0].listed
    is_one = len(pieces) <= MOST_PARTS and (len(names) < len(pieces) or not all(name.given for name in names))
    return () if is_one else names


def _names(text: str) -> Iterator[Name]:
    if not re.search(r"\w", text):
        return
    if told := _told_names(text):
        yield from told
        return
    if (ruler := forms.RULERS.search(text)) and not _has_initials(f"{text[: ruler.start()]},{text[ruler.end() :]}"):
        yield from _names(re.sub(rf"\s*(?:&|{forms.AND}|\b[ye]\b)\s*$", "", text[: ruler.start()].strip(forms.EDGES)))
        yield Name(f"{ruler['ruler']}{ruler['titles'] or ''}")
        yield from _names(re.sub(rf"^(?:&|{forms.AND}|[ye]\b)\s*", "", text[ruler.end() :].strip(forms.EDGES)))
        return
    pieces = [text] if _is_one_body(text) else forms.HARD.split(text)
    persons = [
        group for piece in pieces if not _is_one_body(piece) for group in _groups(piece) if re.search(r"\w", group)
    ]
    are_inverted = ";" in text and all(person.count(",") == 1 for person in persons)
    for piece in pieces:
        if _is_one_body(piece):
            yield Name(_end(piece))
        elif all(map(_is_body, forms.PIECE_END.split(piece))):
            yield from (Name(_end(body)) for part in forms.PIECE_END.split(piece) for body in _bodies(part.strip()))
        else:
            groups = list(_groups(piece))
            if len(groups) > 1 and forms.FAMILIES.fullmatch(", ".join(groups)) and "," not in groups[-1]:
                groups = ", ".join(groups).split(", ")  # "Smith, Jones and Brown"
            for group in groups:
                yield from _group(group, are_inverted)


def _has_initials(text: str) -> bool:
    """Whether a name of a list is one like "Family GH", so that numbers of Rome behind others are initials, too."""
    pieces = [piece.strip(forms.EDGES) for piece in re.split(rf"[,;&]|{forms.AND}", text)]
    return any(_trailing_initials(piece) and not forms.RULERS.fullmatch(piece) for piece in pieces)


def _told_names(text: str) -> list[Name]:
    """The names of a list if each tells its parts in the same way, by brackets or capitals; else none."""
    listed = forms.LISTED.split(text.rstrip("."))
    are_told = ")" in text or re.search(rf"\b{forms.CAPITAL}{{4}}", text)
    if not are_told or _is_body(text) or any(map(forms.UNNAMED.fullmatch, listed)):
        return []
    for told in ([way.fullmatch(name) for name in listed] for way in forms.TOLD):
        if all(told):
            return [_inverted_name(name["family"], name["given"]) for name in told if name]
    parts = [(name["first"], name["capitals"]) for name in map(forms.CAPITALS_LAST.fullmatch, listed) if name]
    lengths = [len(capitals) for _, capitals in parts]
    if len(parts) < len(listed):
        return []
    are_families = 2 * sum(length > USUAL_INITIALS for length in lengths) >= len(parts)
    if are_families and (max(lengths) > MOST_INITIALS or min(lengths) >= USUAL_INITIALS):
        return [_inverted_name(family, given) for given, family in parts]
    if max(lengths) <= MOST_INITIALS:
        return [_inverted_name(family, _spelt(initials)) for family, initials in parts]
    return []


def _is_one_body(text: str) -> bool:
    is_list = re.search("[,;]", text) and (
        len(text) > MOST_CHARACTERS or not forms.ENUMERATION.fullmatch(text.rstrip("."))
    )
    return forms.COMPANY.fullmatch(text) is not None or (_is_body(text) and not is_list)


def _bodies(text: str) -> Sequence[str]:
    """Parts between the words for "and" if all are bodies; others are one, as "Centers for Control and Prevention"."""
    parts = [part for part in forms.SOFT.split(text) if part]
    return parts if all(map(_is_body, parts)) else [text]


def _groups(text: str) -> Iterator[str]:
    """Parts between the words for "and"; those of a body stay together."""
    groups = forms.SOFT.split(text)[::-1]
    while groups:
        group = groups.pop()
        if groups and _is_body(groups[-1]) and not re.search(r"[,.]", group) and group.lower().startswith("the "):
            group = f"{group} and {groups.pop()}"
        yield group


def _group(text: str, is_inverted: bool) -> Iterator[Name]:
    """Names between commas; of two pieces one, if it `is_inverted` and the first piece may be a family name."""
    text, _, bracketed = text.partition(" (") if re.search(r"\([^()]*\s[^()]*\)", text) else (text, "", "")
    pieces = [piece.strip(" :") for piece in forms.PIECE_END.split(text) if re.search(r"\w", piece)]
    if any(len(piece) > MOST_CHARACTERS or len(piece.split()) > MOST_WORDS for piece in pieces):
        yield Name(_end(", ".join(pieces)))
        return
    if is_inverted and len(pieces) == 2 and _may_be_family(pieces[0]) and not forms.SUFFIX.fullmatch(pieces[1]):
        yield _inverted_name(*pieces)
        return
    if _are_whole(pieces):
        yield from (Name(piece.rstrip(".")) for piece in pieces)
        return
    place = 0
    while place < len(pieces):
        end = place + _inverted_size(pieces, place)
        if end - place == 2 and (joined := forms.JOINED.fullmatch(pieces[end - 1])) and end < len(pieces):
            pieces[end - 1 : end] = joined.groups()  # "Family, Given y Family, Given"
        own, suffix = pieces[place:end], ""
        if end < len(pieces) and forms.SUFFIX.fullmatch(pieces[end]):
            suffix, end = pieces[end], end + 1
            if end < len(pieces) and len(own) == 1 and _lacks_given(own[0], pieces[end]):
                own, end = [*own, pieces[end]], end + 1
        yield _name(own, suffix)
        while end < len(pieces) and forms.DEGREE.fullmatch(pieces[end]):
            end += 1
        place = end
    if bracketed:
        yield Name(_end(bracketed.rstrip(") ")))


def _are_whole(pieces: Sequence[str]) -> bool:
    """Whether all names are in Eastern script without spaces, and more than family and given names in turn."""
    bare = [piece.rstrip(".") for piece in pieces]
    is_longer = (
        len(bare) % 2 == 1 or any(len(piece) > 2 for piece in bare[::2]) or all(map(forms.CHINESE.fullmatch, bare))
    )
    return is_longer and all(map(forms.EASTERN.fullmatch, bare))


def _inverted_size(pieces: Sequence[str], place: int) -> int:
    """How many pieces make the name that begins at a place: 2 if its given names come last."""
    if place + 1 == len(pieces):
        return 1
    first, second = pieces[place], pieces[place + 1]
    if _is_body(second):
        return 1
    if _is_body(first):
        return 2 if forms.ONE_WORD.fullmatch(first) and forms.INITIALS.fullmatch(second) else 1
    if (
        re.fullmatch(rf"{forms.CAPITAL}|[OD] {forms.CAPITAL}[{forms.LOWER}]+", first)
        and "." in second
        and forms.INITIALS.fullmatch(second)
    ):
        return 2  # "E, W."; "O Brien, A.", whose apostrophe is lost
    if forms.SUFFIX.fullmatch(second) or forms.BEGINS_WITH_INITIAL.match(first):
        return 1
    if forms.INITIALS.fullmatch(second):
        return 2
    if _trailing_initials(first) or (forms.PARTICLE_AND_RUN.search(first) and re.search(rf"\s{forms.RUN}\.?$", second)):
        return 1
    has_given = re.search(f"[{forms.LOWER}]{{2}}", second) and not re.search(rf"{forms.CAPITAL}{{2}}", second)
    is_told = forms.FAMILY_BEGINS.match(first) or (first.isupper() and has_given)  # but "JP DUPONT, Marie DURAND"
    return 2 if is_told or forms.GIVEN.fullmatch(second) or forms.ONE_WORD.fullmatch(first) else 1


def _may_be_family(text: str) -> bool:
    """Whether no initial beside it, and no word of an institution, says that a text is more than a family name."""
    return not (_is_body(text) or forms.BEGINS_WITH_INITIAL.match(text) or _trailing_initials(text))


def _lacks_given(family: str, given: str) -> bool:
    """Whether given names come behind the suffix, as in "Family, Jr., Given"."""
    return _may_be_family(family) and bool(forms.INITIALS.fullmatch(given) or forms.ONE_WORD.fullmatch(family))


def _trailing_initials(text: str) -> re.Match[str] | None:
    """The parts of "Family GH" or "Family G. H."; in capitals, three letters are a name."""
    found = forms.TRAILING_INITIALS.fullmatch(text)
    if found is None or forms.BEGINS_WITH_INITIAL.match(text) or forms.PARTICLE_AND_RUN.search(text):
        return None
    return None if text.isupper() and re.fullmatch(r"\w{3}", found["given"]) else found


def _name(pieces: Sequence[str], suffix: str) -> Name:
    if len(pieces) == 2:
        return _inverted_name(pieces[0], pieces[1], suffix)
    return Name(_end(pieces[0])) if _is_body(pieces[0]) else _natural_name(_end(pieces[0]), suffix)


def _end(text: str) -> str:
    """Without the full stop of the field; those of initials and abbreviations stay."""
    is_short = re.search(rf"(?:^|[\s.\-])(?:{forms.SINGLE}|{forms.DIGRAPH}|[JS]r|Inc|Ltd|Co|Corp|Ders)\.$", text)
    return text if is_short else text.rstrip(". ")


def _is_body(text: str) -> bool:
    """Whether a name is that of an institution, as far as its words tell."""
    return forms.BODY.search(text) is not None and not re.fullmatch(rf"[\w'’-]+ {forms.CAPITAL}{{1,2}}", text)


def _inverted_name(family: str, given: str, suffix: str = "") -> Name:
    """A name whose family name comes first, with its particle, unless that is last, as in "Willem van der"."""
    particle, family = _leading_particle(family.split())
    given = given.strip()
    if not re.search(
        rf"(?:^|[\s.\-])(?:{forms.SINGLE}[hlr]?|{forms.DIGRAPH})\.$", given
    ):  # the full stop of an initial stays
        given = given.rstrip(".")
    words = given.split()
    if not suffix and len(words) > 1 and forms.SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
    last = len(words)
    while last > 1 and words[last - 1].islower() and not _is_particle(words[0]):
        last -= 1
    particle = " ".join([*words[last:], particle]).strip()
    return Name(family, " ".join(words[:last]), particle, suffix)


def _natural_name(text: str, suffix: str = "") -> Name:
    """A name without comma in the order of speech, or one like "Family GH", "Family G." and "Family (Given)"."""
    if bracketed := forms.BRACKETED.fullmatch(text):
        return _inverted_name(bracketed["family"], bracketed["given"], suffix)
    words = text.split()
    if forms.UNNAMED.fullmatch(text):
        return Name(text)
    if len(words) == 2 and all(map(forms.EASTERN.fullmatch, words)):
        return Name(words[0], words[1])
    if len(words) == 3 and forms.PATRONYMIC.search(words[2]) and not forms.PATRONYMIC.search(words[1]):
        return Name(words[0], " ".join(words[1:]))
    if not suffix and len(words) > 2 and forms.SUFFIX.fullmatch(words[-1]):
        suffix = words.pop()
        text = " ".join(words)
    if trailing := _trailing_initials(text):
        return _inverted_name(trailing["family"], _spelt(trailing["given"].strip()), suffix)
    if in_capitals := forms.FAMILY_IN_CAPITALS.fullmatch(text):
        return _inverted_name(in_capitals["family"], in_capitals["given"], suffix)
    inner = list(enumerate(words[1:-1], 1))
    begins = (
        at - (word in forms.JOINING)
        for at, word in inner
        if _is_particle(word) or forms.CAPITAL_PARTICLE.fullmatch(word)
    )
    place = next(begins, len(words) - 1)
    particle, family = _leading_particle(words[place:])
    return Name(family, " ".join(words[:place]), particle, suffix)


def _leading_particle(words: list[str]) -> tuple[str, str]:
    place = next((at for at, word in enumerate(words[:-1]) if not _is_particle(word)), len(words) - 1)
    return " ".join(words[:place]), " ".join(words[place:])


def _is_particle(word: str) -> bool:
    return next(filter(str.isalpha, word), " ") in forms.LOWER


def _spelt(initials: str) -> str:
    """Initials with full stops: "KL" becomes "K. L.", "J-M van" becomes "J.-M. van"."""
    initials, *particles = re.split(rf"(?=\s[{forms.LOWER}])", initials, maxsplit=1)
    if "." not in initials or re.fullmatch(rf"(?:{forms.CAPITAL}-?)+\.", initials):
        initials = re.sub(r"([^\W\d_])", r"\1.", initials.rstrip("."))
        initials = re.sub(r"\.\s*(?=[^\W\d_-])", ". ", initials).strip()
    return "".join([initials, *particles])

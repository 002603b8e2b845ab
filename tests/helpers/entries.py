"""Hypothesis strategies for entries of a bibliography, and those of the project's corpus."""

import re
from functools import cache

from hypothesis import strategies as st

from helpers.references import all_references
from spacy_crf.bibliography.assemble import make_entries
from spacy_crf.bibliography.entry import THESES, Date, Day, Entry, EntryType, Name, Names, normalise
from spacy_crf.bibliography.identifiers import quote_braces

ODD = "\\{}~^&%$#_-–—'`,<>\"“”äÅßłıñç日本Ωй!?@=:;()[]|*+/.aZand 0"
CHARACTERS = st.sampled_from(ODD) | st.characters(exclude_categories=("Cc", "Cs"))
texts = st.text(CHARACTERS, max_size=25).map(normalise)
filled = texts.filter(bool)


def visible(text: str) -> str:
    return re.sub(r"\s", "", text)


particles = st.sampled_from(["", "von", "van der", "de la", "v. d.", "van't", "dell'"])
suffixes = st.sampled_from(["", "Jr.", "III"])
persons = st.builds(Name, filled, filled, particles, suffixes)
bodies = filled.filter(lambda text: text != "others").map(Name)
lists_of_names = st.builds(Names, st.lists(persons | bodies, max_size=4).map(tuple), st.booleans())
years = st.integers(1400, 2099)
days = st.one_of(
    st.builds(Day, years),
    st.builds(Day, years, st.integers(1, 12) | st.integers(21, 24)),
    st.builds(Day, years, st.integers(1, 12), st.integers(1, 28)),
)
ranges = st.tuples(days) | st.tuples(days, days).filter(lambda two: not two[0].is_after(two[1]))
dates = st.builds(Date.of, ranges, st.sampled_from(["", "a", "z"]))
pages = st.text(st.sampled_from("e123456789, -iv"), max_size=12).map(normalise)
pages = pages.filter(lambda text: not re.search(r"--|-$| -|- ", text))
addresses = st.text(CHARACTERS, max_size=25).map(visible).map(quote_braces).map(normalise)
genres = {
    EntryType.PHDTHESIS: st.sampled_from(["", "PhD thesis", "Diss. phil.", "thèse de doctorat"]),
    EntryType.MASTERSTHESIS: st.sampled_from(["", "Master's thesis", "Magisterarbeit"]),
}


@st.composite
def entries(draw) -> Entry:
    """An entry with anything in its fields that its description allows."""
    kind = draw(st.sampled_from(EntryType))
    plain = ["title", "container", "series", "volume", "number", "page_total", "chapter"]
    plain += ["publisher", "place", "edition", "note", "invalid"]
    return Entry(
        type=kind,
        key=f"key{draw(st.integers(0, 10**9))}",
        authors=draw(lists_of_names),
        editors=draw(lists_of_names),
        pages=draw(pages),
        date=draw(st.none() | dates),
        accessed=draw(st.none() | st.builds(Date, days)),
        genre=draw(genres[kind] if kind in THESES else texts),
        doi=draw(addresses),
        url=draw(addresses),
        arxiv=draw(st.sampled_from(["", "2013.04881", "hep-th/9901001v2"])),
        isbn=draw(st.sampled_from(["", "9783161484100"])),
        issn=draw(st.sampled_from(["", "0317-8471"])),
        **{name: draw(texts) for name in plain},
    )


lists_of_entries = st.lists(entries(), max_size=3, unique_by=lambda entry: entry.key)


@cache
def corpus_entries() -> list[Entry]:
    """Entries of the references of the corpus, from their gold fields."""
    return [entry for entry in make_entries(all_references()) if entry is not None]

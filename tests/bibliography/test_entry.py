"""Keys are distinct, plain, and tell what they are for."""

import re

from helpers.entries import entries
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.bibliography.entry import Date, Day, Entry, Name, Names, plain_key, unique_keys


def work(family: str, year: int | None, title: str, particle: str = "") -> Entry:
    names = Names((Name(family, "A.", particle),)) if family else Names()
    return Entry(authors=names, title=title, date=None if year is None else Date(Day(year)))


def test_family_year_and_first_word() -> None:
    cases = {
        "vanderkooij1993loading": work("Kooij", 1993, "Loading and unloading", "van der"),
        "bostrom1981two": work("Boström", 1981, "The Two-level systems"),
        "lukasz1999uber": work("Łukasz", 1999, "Über alles"),
        "novak": work("Novak", None, ""),
        "2001annals": work("", 2001, "Annals"),
        "1999": work("日本", 1999, "本"),
        "reference": Entry(),
    }
    assert {key: plain_key(entry) for key, entry in cases.items()} == {key: key for key in cases}


def test_editors_stand_in_for_authors_and_containers_for_titles() -> None:
    editors = Names((Name("Sterling", "D."),))
    assert plain_key(Entry(editors=editors, container="On wards")) == "sterlingwards"


def test_letters_tell_equal_keys_apart_and_are_taken_by_nobody_else() -> None:
    bell = work("Bell", 1990, "On bells")
    entries = [bell, work("Bell", 1990, "Bellsb"), bell, bell, work("Fox", 1990, "Bells")]
    assert unique_keys(entries) == [
        "bell1990bellsa",
        "bell1990bellsb",
        "bell1990bellsc",
        "bell1990bellsd",
        "fox1990bells",
    ]
    many = unique_keys([bell] * 800)
    assert many[25:28] == ["bell1990bellsz", "bell1990bellsaa", "bell1990bellsab"]
    assert len(set(many)) == 800


@settings(max_examples=25, deadline=None)
@given(st.lists(entries(), max_size=6))
def test_keys_of_anything(found: list[Entry]) -> None:
    keys = unique_keys(found * 2)
    assert len(set(keys)) == len(keys) == 2 * len(found)
    assert all(re.fullmatch("[a-z0-9]+", key) for key in keys)

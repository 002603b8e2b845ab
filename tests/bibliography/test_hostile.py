"""Long texts of any kind take time in proportion to their length, and only coded errors come out."""

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf import CRFError
from spacy_crf.bibliography.assemble import TAKERS, make_entries
from spacy_crf.bibliography.bibtex import read_bibtex, write_bibtex
from spacy_crf.bibliography.csl import read_csl, write_csl
from spacy_crf.bibliography.fields import AUFLAGE
from spacy_crf.bibliography.identifiers import find_accessed, find_identifiers
from spacy_crf.bibliography.names import parse_names
from spacy_crf.bibliography.split import split_references
from spacy_crf.reading.latex import decode

SECONDS = 15  # far more than the fraction of one that each text takes, far less than what is quadratic takes
LENGTH = 200_000
LINES = [
    *("1. ab.\n", "[1] x\n", "1.\n", "a-\n", "http://a/\n", "www.x.org/\n", "x\n", "x\n\n", "a\u00ad\n", "[Ab90] x\n"),
    *("> x\n", ">", ">>>\nx", "[1] x. [2] y. ", "1. x. ", "- X\n", "• x\n", "1 X\n", "X\n1. X\n"),
    *("  x\nx\n", "doi:10.1234/x-\n", "doi:", "A. Bell, one.\n", "."),
]
PIECES = [
    *(
        "a",
        "A",
        "1",
        ",",
        ";",
        "(",
        ")",
        "-",
        "–",
        "[",
        "A. ",
        "a and ",
        "& ",
        "et al. ",
        "Smith, J., ",
        "smith ",
        "1-",
    ),
    *("doi:", "10.1234/", "http://", "www.a", "a.com/", "ISBN ", "978", "accessed ", "May-", "1999-"),
    *(
        "Dec. 2003 - ",
        "; with a by ",
        "In ",
        "eds ",
        "van ",
        "II ",
        "u. a. ",
        "retrieved from ",
        ", accessed 3 May 2019",
        "x pp 1",
        "2. neu ",
        "a (b ",
        "'",
        "“",
        "M. thesis ",
    ),
]


def in_time(work: Callable[[], object]) -> bool:
    """Whether some work is done before the time is up, that of the processor, whatever else it does."""
    thread, start = threading.Thread(target=work, daemon=True), time.process_time()
    thread.start()
    while thread.is_alive() and time.process_time() < start + SECONDS:
        thread.join(0.1)
    return not thread.is_alive()


@pytest.mark.parametrize("line", LINES)
def test_splitting_is_linear(line: str) -> None:
    text = (line * LENGTH)[:LENGTH]
    assert in_time(lambda: split_references(text))


@pytest.mark.parametrize("piece", PIECES)
def test_names_and_fields_are_linear(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    read = (parse_names, find_identifiers, lambda own: list(find_accessed(own)), AUFLAGE.findall)
    assert in_time(lambda: [each(text) for each in read] + [make_entries([[(label, text)] for label in TAKERS])])


def test_a_name_of_one_word_is_linear() -> None:
    assert in_time(lambda: [parse_names(f"{start}A{'a' * LENGTH}") for start in ("", "Lund JR, ", "Lund, AB, ")])


def test_keys_are_linear() -> None:
    assert in_time(lambda: make_entries([[("NOTE", "x")]] * 20_000))


ODD = [
    *("{", "}", "\\", '"', "@", "#", ",", "=", "~", "$", "%", " and ", "\ud800", "[", "]", "null", "1e999", "-1", ":"),
    *("\n", "9" * 20, "\\u", "\\emph", "month = {", "date = {", "[[", "\x00", "é", " "),
]
BIBTEX = "@book{a, author = {Lund, K. and von Alten, W.}, title = {{Ö} \\'e}, month = may, year = 1999}"
CSL = (
    '[{"id": "a", "type": "book", "author": [{"family": "Lund", "given": "K."}, {"literal": "Fox"}], "volume": 3,'
    ' "issued": {"date-parts": [[1999, 5], [2000]]}, "title": "Ö"}]'
)
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(ODD)), max_size=6)


def edited(text: str, changes: list[tuple[float, int, str]]) -> str:
    for place, length, new in changes:
        at = int(place * len(text))
        text = text[:at] + new + text[at + length :]
    return text


@pytest.mark.filterwarnings("ignore:.*CRFW668")
@settings(max_examples=300, deadline=None)
@given(edits, st.sampled_from([(read_bibtex, BIBTEX), (read_csl, CSL)]))
def test_only_coded_errors_come_out(changes: list[tuple[float, int, str]], of: tuple[Callable, str]) -> None:
    read, text = of
    try:
        entries = read(edited(text, changes))
    except CRFError as error:
        assert len(str(error)) < 1000
        return
    for write in (write_bibtex, write_csl):
        write(entries).encode()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.sampled_from([*TAKERS, ""]))
def test_any_text_is_read_as_any_field(text: str, label: str) -> None:
    split_references(text)
    decode(text)
    for entry in make_entries([[(label, text)]]):
        if entry is not None:
            assert read_csl(write_csl([entry])) == read_bibtex(write_bibtex([entry])) == [entry]

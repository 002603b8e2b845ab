"""The table has what the entries have."""

import csv
import io

from helpers.entries import corpus_entries

from spacy_crf.bibliography.entry import Date, Day, Entry, Name, Names
from spacy_crf.bibliography.table import COLUMNS, write_table


def test_rows() -> None:
    names = Names((Name("Kooij", "E.", "van der", "Jr."), Name("Ferry Council")), others=True)
    entry = Entry(key="k", authors=names, title="On bells", date=Date(Day(2003, 5), letter="a"))
    header, row = (line.split("\t") for line in write_table([entry]).splitlines())
    cells = dict(zip(header, row, strict=True))
    assert {name: text for name, text in cells.items() if text} == {
        "type": "misc",
        "key": "k",
        "authors": "van der Kooij, Jr., E.; Ferry Council; et al.",
        "title": "On bells",
        "date": "2003-05a",
    }


def test_the_corpus_has_a_row_for_each_entry() -> None:
    rows = list(csv.reader(io.StringIO(write_table(corpus_entries())), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == len(corpus_entries()) + 1
    assert {len(row) for row in rows} == {len(COLUMNS)}

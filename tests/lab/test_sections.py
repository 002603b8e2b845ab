"""Measures of section parsers in experiments."""

from collections import Counter

import spacy
from spacy.training import Example

from spacy_crf.lab.measures import Scored, measure
from spacy_crf.sections.spans import Elements, write_elements


def test_confusions_are_counted_over_units() -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser")
    gold = nlp.make_doc("1. Scope\n\nAll")
    write_elements(gold, "elements", Elements.of([(0, 2, "NR"), (3, 8, "SECTION_TITLE"), (10, 13, "TEXT_BLOCK")]), {})
    found = gold.copy()
    write_elements(found, "elements", Elements.of([(0, 2, "NR"), (3, 8, "TEXT_BLOCK"), (10, 13, "TEXT_BLOCK")]), {})
    confusions = measure(pipe, Scored([Example(found, gold)], [], frozenset())).confusions
    assert confusions == Counter(
        {
            ("NR", "NR"): 1,
            ("SECTION_TITLE", "TEXT_BLOCK"): 1,
            ("TEXT_BLOCK", "TEXT_BLOCK"): 1,
            ("NEWLINE", "NEWLINE"): 1,
        }
    )

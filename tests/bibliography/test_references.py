"""A hundred references of many kinds, written for this project: their fields, and identifiers however they are cut."""

import random
import re
from pathlib import Path

import pytest
import spacy
from helpers.paths import ROOT
from helpers.references import parse_reference
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_crf import cite
from spacy_crf.bibliography.assemble import TAKERS, make_entry
from spacy_crf.bibliography.entry import Date, Entry, Name, Names
from spacy_crf.bibliography.identifiers import find_faults
from spacy_crf.corpora.references import read_references as read_tagged
from spacy_crf.pipe.probabilities import LabelsTokens

LINES = (Path(__file__).parent / "references.txt").read_text(encoding="utf8").splitlines()
EXPECTED = [dict(cell.split("=", 1) for cell in line.split(" | ")) for line in LINES[1::2]]
PROJECT = ROOT / "projects" / "references"
REFERENCES = list(zip(LINES[::2], EXPECTED))
IDENTIFIERS = ("doi", "arxiv", "isbn", "issn", "url")


def printed(value: object) -> str:
    """Names as "particle Family, suffix, Given; ..", dates as in ISO."""
    if isinstance(value, Names):
        return "; ".join([*map(printed, value.names), *(["et al."] if value.others else [])])
    if isinstance(value, Name):
        last = f"{value.particle} {value.family}".strip()
        return ", ".join(filter(None, (last, value.suffix, value.given)))
    return value.iso + value.letter if isinstance(value, Date) else str(value or "")


def differences(entry: Entry, expected: dict[str, str]) -> dict[str, str]:
    found = {name: printed(getattr(entry, name)) for name in expected}
    return {name: text for name, text in found.items() if text != expected[name]}


def test_there_are_a_hundred() -> None:
    assert len({line for line, _ in REFERENCES}) == 100


@pytest.mark.parametrize("line, expected", REFERENCES)
def test_fields(line: str, expected: dict[str, str]) -> None:
    assert differences(make_entry(parse_reference(line)), expected) == {}


class RandomLabels(LabelsTokens):
    """A model that knows nothing: it cuts anywhere."""

    target, cfg, labels = "ent", {"spans_key": "sc"}, tuple(TAKERS)

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, doc: Doc) -> Doc:
        doc.set_ents([Span(doc, at, at + 1, self.random.choice(self.labels)) for at in range(len(doc))])
        return doc


@pytest.mark.parametrize("seed", range(5))
def test_identifiers_are_whole_wherever_a_model_cuts(seed: int) -> None:
    Language.component("random_labels", func=RandomLabels(seed))
    nlp = spacy.blank("xx")
    nlp.add_pipe("random_labels")
    texts = [" ".join(text for _, text in parse_reference(line)) for line, _ in REFERENCES]
    entries = cite(nlp, "\n\n".join(texts))
    assert len(entries) == len(REFERENCES)
    for entry, (_, expected) in zip(entries, REFERENCES):
        assert entry is not None
        assert differences(entry, {name: text for name, text in expected.items() if name in IDENTIFIERS}) == {}
        assert "ECLI" not in expected.get("note", "") or expected["note"] in entry.note


@pytest.mark.parametrize("name", ["messy.xml", "messy-2.xml"])
def test_the_messy_references_of_the_project_are_sound(name: str) -> None:
    path = PROJECT / name
    found = list(read_tagged(path))
    assert len(found) == 10
    labels = {label for sentence in found for label in sentence.columns["tag"]}
    assert labels >= {"AUTHOR", "EDITOR", "TITLE", "GENRE", "ISBN", "DOI", "URL", "ACCESSED", "EDITION", "NOTE"}
    assert find_faults(re.sub("<[^<>]*>", "", path.read_text(encoding="utf8"))) == []

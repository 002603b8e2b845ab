from pathlib import Path

import numpy as np
import pytest

from benchmarks.section_scores import corpus_row, prefix_parser
from benchmarks.section_trees import Judged, headings_of, read_corpus
from benchmarks.sections import COMPARED, WORKS, draw, ours, peer, render
from spacy_crf.sections.grammar import read_grammar
from spacy_crf.sections.measures import Constituent


@pytest.mark.parametrize("seed", range(3))
def test_the_peer_finds_a_tree_of_the_same_score(seed: int) -> None:
    pytest.importorskip("nltk")
    grammar, labels = read_grammar("thesis_code"), draw(8, seed)
    assert peer(grammar, labels)["score"] == pytest.approx(ours(grammar, labels)["score"])


def test_the_table_has_a_row_for_each_length() -> None:
    rows = [{"units": 20, **dict.fromkeys(WORKS, 0.0123)}]
    pairs = [{"peer": 12.0, "ours": 0.012, "difference": 1e-13}]
    text = render({"rows": rows, "pairs": pairs}, "a line")
    assert "| 20 | 12 ms | 12 ms | 12 ms |" in text
    assert f"best tree of {COMPARED} units: nltk 12.0 s, ours 12 ms: 1,000 times as fast" in text


def test_trees_of_the_corpus_are_scored() -> None:
    documents = read_corpus(Path(__file__).parents[2] / "corpus" / "section_parser" / "dev")
    perfect = corpus_row(documents, lambda document, _: _all_sections(document), True)
    assert (perfect["f"], perfect["mean_f"], perfect["steds"], perfect["levels"]) == (1.0, 1.0, 1.0, 1.0)
    assert perfect["crossing"] == 0
    assert 0.3 < corpus_row(documents, prefix_parser, True)["f"] < 0.9


def _all_sections(document: Judged) -> list[Constituent]:
    inked = np.flatnonzero(~document.blank)
    return [(label, int(inked[start]), int(inked[end - 1]) + 1) for label, start, end in document.gold]


def test_headings_are_numbers_with_the_titles_behind_them() -> None:
    number, title, text, blank = range(4)
    labels = [number, text, number, blank, title, title, text, title, number]
    assert headings_of(np.array(labels)) == [(0,), (2, 4, 5), (7,), (8,)]

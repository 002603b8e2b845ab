import pytest

from benchmarks.sections import COMPARED, WORKS, draw, ours, peer, render
from spacy_crf.sections.grammar import read_grammar


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

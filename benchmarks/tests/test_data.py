import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.data import accuracy, read_chunks, read_conll2000, read_ewt, score_chunks

BIO = st.sampled_from(["O", "B-NP", "I-NP", "B-VP", "I-VP"])

CONLLU = """# sent_id = a
1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
1\tca\tcan\tAUX\tMD\t_\t0\troot\t_\t_
2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_
2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
"""


def chunks_by_scanning(labels: list[str]) -> set[tuple[int, int, str]]:
    """CoNLL's rules in words: B- starts, I- after anything but its own type starts, and only I- goes on."""
    starts = [
        position
        for position, label in enumerate(labels)
        if label[0] == "B" or (label[0] == "I" and (position == 0 or labels[position - 1][2:] != label[2:]))
    ]
    found = set()
    for start in starts:
        kind, end = labels[start][2:], start + 1
        while end < len(labels) and labels[end] == f"I-{kind}":
            end += 1
        found.add((start, end, kind))
    return found


@given(st.lists(BIO, max_size=8))
def test_chunks_follow_the_rules_of_conll(labels: list[str]) -> None:
    assert read_chunks(labels) == chunks_by_scanning(labels)


def test_chunk_score_counts_exact_chunks_only() -> None:
    gold = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    predicted = [["B-NP", "O", "O", "B-VP"], ["B-NP"]]
    assert score_chunks(gold, predicted) == pytest.approx((200 / 3, 200 / 3, 200 / 3))
    assert score_chunks(gold, [["O"] * 4, ["B-NP"]]) == pytest.approx((100.0, 100 / 3, 50.0))
    assert score_chunks([["O"]], [["O"]]) == (0.0, 0.0, 0.0)


def test_accuracy_counts_tokens_not_sentences() -> None:
    assert accuracy([["A", "B", "C"], ["D"]], [["A", "B", "X"], ["D"]]) == 75.0


def test_sentences_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError):
        accuracy([["A", "B"]], [["A"]])


def test_conll2000_is_read_sentence_by_sentence(tmp_path: Path) -> None:
    (tmp_path / "conll2000").mkdir()
    text = "\nCats NNS B-NP\nsleep VBP B-VP\n\n\nNow RB O"
    (tmp_path / "conll2000" / "train.txt").write_text(text, encoding="utf8")
    first, second = read_conll2000(tmp_path, "train")
    assert (first.words, first.xpos, first.chunks) == (["Cats", "sleep"], ["NNS", "VBP"], ["B-NP", "B-VP"])
    assert second.words == ["Now"]


@pytest.mark.parametrize("zipped", [False, True])
def test_ewt_keeps_syntactic_words_only(tmp_path: Path, zipped: bool) -> None:
    (tmp_path / "ud_english_ewt").mkdir()
    path = tmp_path / "ud_english_ewt" / "en_ewt-ud-dev.conllu"
    if zipped:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(CONLLU.encode()))
    else:
        path.write_text(CONLLU, encoding="utf8")
    first, second = read_ewt(tmp_path, "dev")
    assert (first.words, first.xpos, first.upos) == (["ca", "n't"], ["MD", "RB"], ["AUX", "PART"])
    assert second.words == ["Yes"]

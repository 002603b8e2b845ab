"""Sums of counts, and intervals beside those of documents that are drawn and scored again by other libraries."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers import tagged
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.lab.evaluation import evaluate
from spacy_crf.lab.fields import LabelledToken, score_fields, tally_fields
from spacy_crf.lab.statistics import Tally, bootstrap_figures, flatten, nest

LABELS = ("A", "B", "C")
tokens = st.builds(LabelledToken, st.sampled_from([*LABELS, None]), st.sampled_from(LABELS), st.booleans())
documents = st.lists(st.lists(tokens, max_size=5), min_size=1, max_size=5)


def share(counts: Counter[Any]) -> dict[str, float]:
    return {"share": counts["right"] / counts.total()} if counts else {}


@given(documents, st.randoms(use_true_random=False))
def test_fields_of_documents_add_up(known: list[list[LabelledToken]], random: Any) -> None:
    """Documents that come several times count as often."""
    times = [random.randint(0, 3) for _ in known]
    repeated = [document for document, n in zip(known, times) for _ in range(n)]
    tally = tally_fields(known, "x")
    found, expected = tally.scores(np.array(times) @ tally.counts), score_fields(repeated, "x")
    # a mean without NOTE, and means over labels, are those of the labels that occur in either
    assert flatten(found) == pytest.approx(flatten(expected))


def test_intervals_are_those_of_documents_that_are_scored_again() -> None:
    rng = np.random.default_rng(3)
    known = [
        [LabelledToken(*rng.choice(LABELS, 2), True) for _ in range(rng.integers(1, 9))]  # type: ignore[misc]
        for _ in range(12)
    ]
    owners = np.array([0, 0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 7])
    found = bootstrap_figures([tally_fields(known, "x")], owners, draws=60, seed=5)["x_macro_f",]
    scores = []
    for weights in np.random.default_rng(5).multinomial(8, np.full(8, 1 / 8), size=60):
        drawn = [token for document, owner in zip(known, owners) for token in document * weights[owner]]
        scores.append(f1_score([one.gold for one in drawn], [one.predicted for one in drawn], average="macro"))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(scores, [2.5, 97.5])))
    assert found.documents == 8 and found.low < found.mean < found.high


def test_the_interval_of_a_share_is_about_that_of_the_normal_distribution() -> None:
    rows = [Counter(right=1) if k % 4 else Counter(wrong=1) for k in range(400)]
    found = bootstrap_figures([Tally.of(rows, share)], np.arange(400))["share",]
    reach = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (found.mean, found.low, found.high) == pytest.approx((0.75, 0.75 - reach, 0.75 + reach), abs=0.006)


def test_one_document_has_no_interval_and_empty_ones_none_either() -> None:
    rows = [Counter(right=1), Counter(wrong=1)]
    assert bootstrap_figures([Tally.of(rows, share)], np.zeros(2, dtype=np.intp)) == {}
    assert bootstrap_figures([Tally.of([], share)], np.zeros(0, dtype=np.intp)) == {}
    assert bootstrap_figures([Tally.of([Counter(), Counter()], share)], np.arange(2)) == {}


def test_figures_keep_their_names() -> None:
    scores = {"f": 0.5, "by": {"A": {"p": 1.0, "n": None}, "a.b": {"p": 0.25}}, "none": None}
    flat = {("f",): 0.5, ("by", "A", "p"): 1.0, ("by", "a.b", "p"): 0.25}
    assert flatten(scores) == flat
    assert nest(flat) == {"f": 0.5, "by": {"A": {"p": 1.0}, "a.b": {"p": 0.25}}}


def split_words(example: Example) -> Example:
    """The same gold, and long words in two tokens."""
    words, spaces = list[str](), list[bool]()
    for token in example.reference:
        parts = [token.text[:2], token.text[2:]] if len(token) > 5 else [token.text]
        words, spaces = words + parts, [*spaces, *[False] * (len(parts) - 1), True]
    return Example(Doc(example.reference.vocab, words=words, spaces=spaces), example.reference)


@pytest.mark.parametrize("target", ["tag", "ent", "spans"])
def test_figures_have_intervals_where_tokens_differ(target: str) -> None:
    nlp = tagged.train(target=target)
    examples = [split_words(example) for example in tagged.make_examples(nlp)]
    assert any(len(example.predicted) != len(example.reference) for example in examples)
    found = evaluate(nlp, "crf_tagger", examples, with_intervals=True)
    assert {name for (name, *_) in found.intervals} >= found.found.scores.keys()


@pytest.mark.parametrize("target, labels", [("tag", {"NNP": "NN"}), ("ent", {"PER": "NAME", "LOC": "NAME"})])
def test_figures_of_constrained_labels_have_intervals(target: str, labels: dict[str, str]) -> None:
    nlp = tagged.train(target=target)
    settings = {"source": "crf_tagger", "target": target, "overwrite": True, "constraints": []}
    nlp.add_pipe("constraint_decoder", config=settings)
    found = evaluate(nlp, "constraint_decoder", tagged.make_examples(nlp), with_intervals=True, labels=labels)
    assert {name for (name, *_) in found.intervals} >= found.found.scores.keys() >= {"macro_f", "segments_f"}

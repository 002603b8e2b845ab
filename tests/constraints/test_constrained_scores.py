"""Scores of components that decode under constraints, against counts by hand."""

from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2
from sklearn import metrics
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.constraints.scorer import constrained_ner_score

SETTINGS: dict[str, Any] = {"spans_key": "sc", "info": "crf_test_info"}
LABELS = ["A", "B", "C"]


def example(gold: str, own: str, target: str = "ent", missing: int | None = None) -> Example:
    """Strings of one label a token; "-" is outside, and "|" before a token starts a new span."""
    vocab = spacy.blank("xx").vocab
    docs = []
    for side in (gold, own):
        labels = side.replace("|", "")
        doc = Doc(vocab, words=["w"] * len(labels))
        if target == "tag":
            for token, label in zip(doc, labels):
                token.tag_ = label
        else:
            spans = spans_of(doc, side)
            doc.spans["sc"] = spans
            doc.set_ents(spans, default="outside")
        docs.append(doc)
    if missing is not None:
        docs[0].set_ents(spans_of(docs[0], gold), missing=[docs[0][missing : missing + 1]], default="outside")
    return Example(docs[1], docs[0])


def spans_of(doc: Doc, side: str) -> list[Span]:
    found: list[list[Any]] = []
    place, opens = 0, True
    for mark in side:
        if mark == "|":
            opens = True
            continue
        if mark != "-":
            if opens or not found or found[-1][2] != mark or found[-1][1] != place:
                found.append([place, place, mark])
            found[-1][1] = place + 1
        place, opens = place + 1, False
    return [Span(doc, start, end, label=label) for start, end, label in found]


@pytest.mark.parametrize("target", ["ent", "spans", "tag"])
def test_measures_by_hand(target: str) -> None:
    examples = [example("AABBB", "AABBB", target), example("AAB", "ABB", target)]
    scores = constrained_ner_score(examples, target=target, labels=LABELS, **SETTINGS)
    assert scores["tok_acc"] == pytest.approx(7 / 8)
    assert scores["whole_doc_acc"] == 0.5
    # A: 3 of 4 found and no other; B: 4 found of 4, and one more; C never
    assert scores["macro_f"] == pytest.approx((2 * 3 / 7 + 2 * 4 / 9 + 0) / 3)
    assert scores["weighted_f"] == pytest.approx((4 * 2 * 3 / 7 + 4 * 2 * 4 / 9) / 8)
    assert (scores["segments_p"], scores["segments_r"], scores["segments_f"]) == (0.5, 0.5, 0.5)
    assert scores["segments_per_type"]["A"]["f"] == 0.5
    assert scores["certified"] is None and scores["violations"] is None


@pytest.mark.parametrize(("target", "own"), [("ent", "ents"), ("spans", "spans_sc"), ("tag", None)])
def test_names_of_spacy_are_those_of_what_is_scored(target: str, own: str | None) -> None:
    scores = constrained_ner_score([example("AAB", "ABB", target)], target=target, labels=LABELS, **SETTINGS)
    found = {name.rpartition("_")[0] for name in scores if name.endswith("_f")} - {"macro", "weighted"}
    assert found == {"segments", own} - {None}
    assert own is None or scores[f"{own}_f"] == scores["segments_f"] == 0


def test_scores_of_another_component_stay() -> None:
    nlp = spacy.blank("xx")
    ruler = nlp.add_pipe("entity_ruler")
    nlp.add_pipe("constrained_ner", config={"target": "spans"})
    one = example("A", "A", "spans")
    one.reference.set_ents([Span(one.reference, 0, 1, label="PER")])
    nlp.initialize(lambda: [one])
    ruler.add_patterns([{"label": "PER", "pattern": "w"}])
    nlp.update([one])
    assert nlp.config["training"]["score_weights"]["spans_sc_f"] is None
    scores = nlp.evaluate([Example(Doc(nlp.vocab, words=["w"]), one.reference)])
    assert scores["ents_per_type"].keys() == {"PER"} and scores["spans_sc_per_type"].keys() == {"A"}


def test_outside_counts_as_a_label_of_tokens_but_not_of_fields() -> None:
    scores = constrained_ner_score([example("A--B", "A-BB")], target="ent", labels=["O", "A", "B"], **SETTINGS)
    assert scores["tok_acc"] == 0.75
    assert scores["macro_f"] == pytest.approx((1 + 2 / 3) / 2)


def test_a_document_is_not_right_where_spans_that_touch_are_one() -> None:
    scores = constrained_ner_score([example("AA|AB", "AAAB")], target="ent", labels=LABELS, **SETTINGS)
    assert scores["tok_acc"] == 1 and scores["whole_doc_acc"] == 0


def test_tokens_without_gold_do_not_count() -> None:
    scores = constrained_ner_score([example("A--", "AAB", missing=1)], target="ent", labels=LABELS, **SETTINGS)
    assert scores["tok_acc"] == 0.5
    assert constrained_ner_score([], target="ent", labels=LABELS, **SETTINGS)["tok_acc"] is None


@pytest.mark.parametrize(
    ("gold", "own", "precision", "recall"),
    [
        ("AAB_", "AABO", 1.0, 1.0),  # B may go on
        ("AB_C", "AACC", 0.0, 0.0),
        ("AABB_A", "ABBBAA", 0.0, 0.0),
        ("A_A", "AAA", None, None),
        ("___", "AAA", None, None),
    ],
)
def test_runs_of_tokens_are_judged_where_gold_is_known(gold, own, precision, recall) -> None:
    """ "_" in gold is unknown."""
    found = example(gold, own, "tag")
    for token in found.reference:
        token.tag_ = token.tag_.replace("_", "")
    scores = constrained_ner_score([found], target="tag", labels=LABELS, **SETTINGS)
    assert (scores["segments_p"], scores["segments_r"]) == (precision, recall)


def test_labels_that_the_component_does_not_know_count_as_never_right() -> None:
    examples = [example("A-B-A---", "A--CC-B-")]
    of_all = constrained_ner_score(examples, target="ent", labels=LABELS, **SETTINGS)
    assert of_all["macro_f"] == pytest.approx(2 / 9)
    assert constrained_ner_score(examples, target="ent", labels=["A", "B"], **SETTINGS) == of_all
    swapped = [Example(one.reference, one.predicted) for one in examples]
    known, both = (constrained_ner_score(swapped, target="ent", labels=own, **SETTINGS) for own in ("AB", LABELS))
    assert [known[name] for name in ("macro_f", "weighted_f")] == [both[name] for name in ("macro_f", "weighted_f")]


def test_precision_recall_and_confusions_by_hand() -> None:
    scores = constrained_ner_score([example("AAB-B", "ABBB-")], target="ent", labels=LABELS, **SETTINGS)
    # A: 1 of 1 found, 1 of 2 gold; B: 1 of 3 found, 1 of 2 gold; C never
    expected = {"macro_p": (1 + 1 / 3) / 3, "macro_r": 1 / 3, "weighted_p": (1 + 1 / 3) / 2, "weighted_r": 1 / 2}
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert scores["confusions"] == {"A": {"A": 1, "B": 1}, "B": {"B": 1, "O": 1}, "O": {"B": 1}}


sides = st.lists(st.tuples(st.sampled_from("AB-"), st.sampled_from("ABC-")), min_size=1, max_size=8)


@given(st.lists(sides, min_size=1, max_size=4))
def test_fields_are_scored_as_others_score_them(pairs: list[list[tuple[str, str]]]) -> None:
    documents = [("".join(gold for gold, _ in own), "".join(found for _, found in own)) for own in pairs]
    scores = constrained_ner_score([example(*own) for own in documents], target="ent", labels=LABELS, **SETTINGS)
    gold, found = ("".join(own).replace("-", "O") for own in zip(*documents))
    for mean in ("macro", "weighted"):
        how = {"labels": LABELS, "average": mean, "zero_division": 0}
        precision, recall, f, _ = metrics.precision_recall_fscore_support(list(gold), list(found), **how)
        expected = (precision, recall, f)
        got = tuple(scores[f"{mean}_{name}"] for name in "prf")
        if mean == "macro" or set(gold) - {"O"}:
            assert got == pytest.approx(expected)
        else:
            assert got == (None, None, None)
    labels = [*LABELS, "O"]
    table = metrics.confusion_matrix(list(gold), list(found), labels=labels)
    expected = {a: {b: n for b, n in zip(labels, row.tolist()) if n} for a, row in zip(labels, table)}
    assert scores["confusions"] == {label: row for label, row in expected.items() if row}
    iob = [[_iob(side) for side in sides] for sides in zip(*documents)]
    for name, measure in (("p", precision_score), ("r", recall_score), ("f", f1_score)):
        if scores[f"segments_{name}"] is not None:
            assert scores[f"segments_{name}"] == pytest.approx(
                measure(*iob, mode="strict", scheme=IOB2, zero_division=0)
            )


def _iob(side: str) -> list[str]:
    """Maximal runs as IOB2."""
    return ["O" if a == "-" else f"{'I' if a == before else 'B'}-{a}" for before, a in zip(f"-{side}", side)]


def test_what_documents_tell_of_their_decoding() -> None:
    Doc.set_extension("crf_test_info", default=None, force=True)
    examples = [example("A", "A"), example("B", "B"), example("A", "A")]
    for eg, certified in zip(examples, (True, False)):
        broken = {"violated": {"x": 1}, "viterbi_violated": {"x": 2, "y": 3}, "relaxed": ["y"]}
        eg.predicted._.crf_test_info = {"certified": certified, **broken}
    scores = constrained_ner_score(examples, target="ent", labels=LABELS, **SETTINGS)
    assert (scores["certified"], scores["violations"], scores["violations_before"]) == (0.5, 2, 5)
    Doc.remove_extension("crf_test_info")

"""What is least certain comes first, by each measure, as enumeration of all labellings has it."""

import json
import math
import random
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.chains import chain_of, softened
from helpers.oracle import Chain
from helpers.tagged import EXTENSION, TARGETS, clean_docs, extension, fit, make_examples, read_target, train
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf import Corpus
from spacy_crf.annotation.documents import read_doc_name, write_doc_name
from spacy_crf.core.errors import CRFWarning
from spacy_crf.tagging.ranking import GROWS_WITH_CERTAINTY, measure, rank_by_gain
from spacy_crf.tagging.review import review, target_kind, write_json, write_rows

__all__ = ["extension"]
ORDERS = ["least-confidence", "margin", "entropy", "token-entropy", "utility"]


def best_utility(row: list[float]) -> float:
    """The greatest expected utility of a set of labels, g with alpha = beta = 1, of all sizes."""
    likely = sorted(row, reverse=True)
    return max(sum(likely[:size]) * (1 - (size - 1) / (len(row) - 1)) for size in range(1, len(row) + 1))


def expected(chain: Chain, order: str, n: int) -> float:
    """The measure by enumeration; n is 1 where lengths count."""
    first, second = (math.exp(score - chain.log_z()) ** (1 / n) for _, score in chain.ranked()[:2])
    tokens = -sum(p * math.log(p) for row in chain.node_marginals() for p in row if p > 0)
    values = {"least-confidence": first, "margin": first - second, "entropy": chain.entropy() / n}
    values["utility"] = sum(1 - best_utility(row) for row in chain.node_marginals()) / n
    return values.get(order, tokens / n)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("per_token", [False, True])
def test_measures_equal_enumeration_and_order(order: str, per_token: bool) -> None:
    nlp = softened(target="ent")
    texts = [["Bo", "sold"], ["She", "met", "Ada", "Stone"], ["Go"], ["Delft", "is", "new"]]
    docs = [Doc(nlp.vocab), *(Doc(nlp.vocab, words=words) for words in texts)]
    found = review(nlp.get_pipe("crf_tagger"), docs, order, per_token)
    assert sorted(item.place.number for item in found) == [2, 3, 4, 5]
    for item in found:
        words = [token.text for token in item.span]
        value = expected(chain_of(nlp, words), order, len(words) if per_token else 1)
        assert item.certainty == pytest.approx(value, rel=1e-4)
    values = [item.certainty for item in found]
    assert values == sorted(values, reverse=order not in GROWS_WITH_CERTAINTY)
    few = review(nlp.get_pipe("crf_tagger"), docs, order, per_token, limit=2)
    assert [item.place for item in few] == [item.place for item in found[:2]]


def test_utility_under_a_model_of_order_two() -> None:
    nlp = train(model={"@architectures": "spacy_crf.LinearChain.v1", "order": 2})
    pipe, docs = nlp.get_pipe("crf_tagger"), clean_docs(nlp)[:5]
    found = review(pipe, docs, "utility", per_token=True)
    lost = [np.mean([1 - best_utility(row.tolist()) for row in rows]) for rows in pipe.token_probabilities(docs)]
    assert [item.certainty for item in found] == pytest.approx(sorted(lost, reverse=True), abs=1e-5)


def test_documents_are_listed_whole_by_their_mean() -> None:
    nlp = softened(target="tag")
    texts = [("a", "Bo sold"), ("a", "She met Ada Stone"), ("b", "Go"), ("c", "Delft is new"), ("c", "Go")]
    docs = [write_doc_name(Doc(nlp.vocab, words=text.split()), name) for name, text in texts]
    pipe = nlp.get_pipe("crf_tagger")
    found = review(pipe, docs, "token-entropy", by="document")
    names = [read_doc_name(item.span.doc) for item in found]
    assert sorted(names) == ["a", "a", "b", "c", "c"] and len(list(groupby(names))) == 3
    sums, counts = Counter[str](), Counter[str]()
    for name, item in zip(names, found):
        sums[name] += item.certainty * len(item.span)
        counts[name] += len(item.span)
    means = [sums[name] / counts[name] for name, _ in groupby(names)]
    assert means == sorted(means, reverse=True)
    assert [item.span.text for item in review(pipe, docs, "token-entropy", by="document", limit=1)] == [
        item.span.text for item in found if read_doc_name(item.span.doc) == names[0]
    ]


def test_expected_gain_is_the_greedy_choice() -> None:
    """Against a search that looks at all groups anew at each step."""
    rng = random.Random(0)
    for _ in range(30):
        groups = [[(rng.choice("abcd"), rng.random()) for _ in range(rng.randint(1, 4))] for _ in range(6)]
        left, seen, expected = list(range(6)), Counter[str](), []
        while left:
            gains = {}
            for number in left:
                gain, more = 0.0, Counter(seen)
                for word, _ in groups[number]:
                    total = sum(entropy for group in groups for other, entropy in group if other == word)
                    gain += total * 0.5 ** more[word] * 0.5
                    more[word] += 1
                gains[number] = gain / len(groups[number])
            best = max(left, key=lambda number: (round(gains[number], 9), -number))
            expected.append((best, gains[best]))
            seen.update(word for word, _ in groups[best])
            left.remove(best)
        found = rank_by_gain(groups)
        assert [gain for _, gain in found] == pytest.approx([gain for _, gain in expected])
        assert [number for number, _ in found] == [number for number, _ in expected]
    assert rank_by_gain(groups, 2) == found[:2] and rank_by_gain([]) == []


def test_reviews_by_gain_name_uncertain_words_once() -> None:
    nlp = softened(target="tag")
    docs = [Doc(nlp.vocab, words=words) for words in (["Bo", "sold"], ["Bo", "sold"], ["Delft", "is"], ["Delft", "is"])]
    found = review(nlp.get_pipe("crf_tagger"), docs, "gain")
    assert [item.certainty for item in found] == sorted((item.certainty for item in found), reverse=True)
    assert {item.span[0].text for item in found[:2]} == {"Bo", "Delft"}


def test_a_single_labelling_is_certain() -> None:
    for order in ORDERS:
        value = measure(np.array([1.0]), 0.0, np.zeros(3), order, True)
        assert value == (1.0 if order in GROWS_WITH_CERTAINTY else 0.0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
def test_tags_and_probabilities_of_every_target(target: str, scheme: str, decode: str) -> None:
    is_span = target in ("ent", "spans")
    nlp = softened(target=target, decode=decode, **({"scheme": scheme} if is_span else {}))
    pipe = nlp.get_pipe("crf_tagger")
    docs = clean_docs(nlp)[:4]
    for item in review(pipe, docs, n_best=4):
        (prediction,) = pipe.predict([item.span.doc])
        names = [pipe.tags.tags[tag] for tag in prediction.tags.tolist()]
        assert len(item.tags) == len(item.probabilities) == len(item.alternatives) == len(item.span)
        if is_span:
            assert {tag[0] for tag in item.tags} <= set("BIO")
            names = [{"U": "B", "L": "I"}.get(name[0], name[0]) + name[1:] for name in names]
        assert item.tags == names
        assert decode == "posterior" or item.n_best[0][0] == item.tags
        assert len(item.n_best) == 4 and len({tuple(tags) for tags, _ in item.n_best}) == 4
        assert [p for _, p in item.n_best] == sorted((p for _, p in item.n_best), reverse=True)
        for tag, probability, others in zip(item.tags, item.probabilities, item.alternatives):
            assert tag not in dict(others) and len(others) <= 3
            assert probability + sum(dict(others).values()) <= 1 + 1e-5
    assert EXTENSION in TARGETS


def test_sequences_of_a_document_are_listed_one_by_one() -> None:
    nlp = softened(target="tag")
    doc = Doc(nlp.vocab, words=["Bo", "sold", "She", "walks", "."], sent_starts=[True, False, True, False, False])
    found = review(nlp.get_pipe("crf_tagger"), [doc])
    assert sorted((item.number, item.span.start, item.span.end) for item in found) == [(1, 0, 2), (2, 2, 5)]


@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "none"])
@pytest.mark.parametrize("target", ["ent", "spans"])
@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_prefilled_spans_are_read_back_as_those_of_the_pipeline(
    target: str, scheme: str, threshold: float, tmp_path: Path
) -> None:
    nlp = softened(target=target, scheme=scheme, threshold=threshold)
    pipe = nlp.get_pipe("crf_tagger")
    found = review(pipe, clean_docs(nlp))
    tags = [tag for item in found for tag in (*item.tags, *(tag for path, _ in item.n_best for tag in path))]
    assert {tag[:2] for tag in tags} == {"B-", "I-", "O"}
    for name, write in (("a.tsv", write_rows), ("a.jsonl", write_json)):
        path = tmp_path / name
        lines = list(write(found, target_kind(pipe), "margin", prefill=True))
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        with pytest.raises(ValueError, match="CRF527"):  # nobody has checked anything
            list(Corpus(path)(nlp))
        path.write_text("\n".join(map(check_all, lines)) + "\n", encoding="utf8")
        examples = list(Corpus(path)(nlp))
        assert len(examples) == len(found)
        for example in examples:
            assert read_target(example.reference, target) == read_target(nlp(example.predicted.copy()), target)
            gold = pipe.gold([example], np.array([len(example.predicted)])).dense()
            (prediction,) = pipe.predict([example.predicted])
            assert threshold or (gold[np.arange(len(gold)), prediction.tags] > 0).all()


def check_all(line: str) -> str:
    """A line of a list in which all tokens are checked."""
    if line.startswith("{"):
        return line.replace('"checked": false', '"checked": true')
    cells = line.split("\t")
    return "\t".join([*cells[:2], "yes", *cells[3:]]) if len(cells) > 3 else line


@pytest.mark.parametrize("layout", ["a.tsv", "a.jsonl"])
@pytest.mark.parametrize("prefill", [True, False])
def test_what_was_checked_is_gold_and_so_is_what_was_filled_in(prefill: bool, layout: str, tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("crf_tagger", config={"trainer": {"@misc": "spacy_crf.LBFGS.v1"}})
    fit(nlp, make_examples(nlp))
    doc = write_doc_name(Doc(nlp.vocab, words=["Ada", "met", "Bo"]), "letters 2")
    write = write_rows if layout == "a.tsv" else write_json
    lines = list(write(review(pipe, [doc]), "tag", "margin", prefill=prefill))
    if layout == "a.tsv":
        rows = [line.split("\t") for line in lines]
        for row in rows:
            row[1:2] = ["X"] if row[0] == "met" else row[1:2]
            row[2:3] = ["yes"] if row[0] == "Bo" else row[2:3]
        text = "\n".join(map("\t".join, rows))
    else:
        data = json.loads(lines[0])
        data["tokens"][1]["gold"], data["tokens"][2]["checked"] = "X", True
        text = json.dumps(data)
    (tmp_path / layout).write_text(text + "\n", encoding="utf8")
    (example,) = Corpus(tmp_path / layout)(nlp)
    assert [token.tag_ for token in example.reference] == ["", "X", "NNP"]
    assert example.reference._.doc_name == "letters 2"


def corrected(factory: str, layout: str, gold: str) -> tuple[Language, Any, str]:
    """A trained pipeline, its tagger, and a list of it in which somebody has written another gold tag."""
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe(factory, "crf_tagger", config={"trainer": {"@misc": "spacy_crf.LBFGS.v1"}})
    fit(nlp, make_examples(nlp))
    docs = [Doc(nlp.vocab, words=["Ada", "met", "Bo"])]
    write = write_rows if layout == "a.tsv" else write_json
    text = "\n".join(write(review(pipe, docs), target_kind(pipe), "margin", prefill=True))
    return nlp, pipe, text.replace("met\tVBD", f"met\t{gold}").replace('"gold": "VBD"', f'"gold": "{gold}"')


@pytest.mark.parametrize("layout", ["a.tsv", "a.jsonl"])
def test_a_corrector_leaves_several_tags_open_as_elsewhere(layout: str, tmp_path: Path) -> None:
    nlp, pipe, text = corrected("set_valued_tagger", layout, "VBD|NNP:1")
    (tmp_path / layout).write_text(text + "\n", encoding="utf8")
    with pytest.raises(ValueError, match="CRF530.*line [0-9]+.*VBD"):
        list(Corpus(tmp_path / layout)(nlp))
    lines = [check_all(line) for line in text.replace("NNP:1", "NNP").split("\n")]
    (tmp_path / layout).write_text("\n".join(lines) + "\n", encoding="utf8")
    (example,) = Corpus(tmp_path / layout)(nlp)
    assert [token._.gold_tags for token in example.reference] == [{"NNP": 1}, {"VBD": 0.5, "NNP": 0.5}, {"NNP": 1}]
    assert pipe.gold([example], np.array([3])).dense().shape == (3, len(pipe.labels))


@pytest.mark.parametrize(
    ("label", "kind"), [("Case=Nom|Number=Sing", "tag"), ("VER:pres", "tag"), (":", "ext:gold_tags")]
)
def test_tags_that_look_like_several_are_tags_in_lists_too(label: str, kind: str) -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("set_valued_tagger")
    pipe.add_label(label)
    assert target_kind(pipe) == kind


@pytest.mark.parametrize("layout", ["a.tsv", "a.jsonl"])
def test_several_tags_in_a_list_of_single_ones_are_told(layout: str, tmp_path: Path) -> None:
    nlp, _, text = corrected("crf_tagger", layout, "VBD|NNP")
    (tmp_path / layout).write_text(text + "\n", encoding="utf8")
    with pytest.warns(CRFWarning, match=r"CRFW499.*'VBD\|NNP'.* 1 rows"):
        list(Corpus(tmp_path / layout)(nlp))


def test_runs_of_a_label_begin_with_b() -> None:
    nlp = softened(target="ent", scheme="none")
    pipe = nlp.get_pipe("crf_tagger")
    (item,) = review(pipe, [Doc(nlp.vocab, words=["New", "Delft", "is", "old"])])
    assert item.tags == ["B-LOC", "I-LOC", "O", "O"]
    assert {name for name, _ in item.alternatives[1]} <= {"B-PER", "O"}  # behind LOC, LOC goes on
    assert {name for name, _ in item.alternatives[2]} <= {"B-PER", "I-LOC"}


def test_constraints_hold_for_what_is_reviewed() -> None:
    nlp = spacy.blank("xx")
    config = {"target": "ent", "constraints": ["at_most(PER, 1)", "at_most(LOC, 0)"]}
    config["trainer"] = {"@misc": "spacy_crf.LBFGS.v1"}
    nlp.add_pipe("constrained_ner", "crf_tagger", config=config)
    fit(nlp, make_examples(nlp))
    pipe, is_changed = nlp.get_pipe("crf_tagger"), False
    for item in review(pipe, clean_docs(nlp)):
        doc = nlp(item.span.doc.copy())
        assert item.tags == [token.ent_iob_ + (token.ent_type_ and f"-{token.ent_type_}") for token in doc]
        is_changed |= item.tags != item.n_best[0][0]
    assert is_changed

"""Sets of spans with a promise: what is missed, by simulation; how promises are made, kept, saved and told."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.commands import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from mapie.risk_control import MultiLabelClassificationController
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_crf.annotation.documents import register_doc_name
from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.core.sets.conformal import finite_quantile
from spacy_crf.core.sets.risk import LEAST_PROBABLE, control_span_risk
from spacy_crf.pipe.span_sets import GoldSpans, held_out_spans, likely_spans_of, read_span_set, report_span_sets

LABELS = ("LOC", "PER")
CONSTRAINED = {"constraints": ["at_most(PER, 1)"], "probabilities": "constrained"}
KINDS = {
    "entities": ("crf_tagger", {"target": "ent"}),
    "biluo": ("crf_tagger", {"target": "ent", "scheme": "BILUO"}),
    "runs": ("crf_tagger", {"target": "spans", "scheme": "none"}),
    "constrained": ("constrained_ner", CONSTRAINED),
}


def gold_doc(nlp: Language, rng: np.random.Generator, n_sentences: int = 1) -> Doc:
    """Names of one or two words among other words; each word of a name is now and then none, or of the other label."""
    words, starts, places = list[str](), list[bool](), []
    for _ in range(n_sentences):
        first = len(words)
        for _ in range(rng.integers(2, 6)):
            if rng.random() < 0.5:
                words.append(f"w{rng.integers(6)}")
                continue
            number, length = rng.integers(6), rng.integers(1, 3)
            if rng.random() < 0.8:
                label = LABELS[int(number % 2 if rng.random() < 0.75 else 1 - number % 2)]
                places.append((len(words), len(words) + length, label))
            words += [f"n{number}"] * length
            words.append("and")
        starts += [True] + [False] * (len(words) - first - 1)
    doc = Doc(nlp.vocab, words=words, sent_starts=starts)
    spans = [Span(doc, start, end, label=label) for start, end, label in places]
    doc.set_ents(spans)
    doc.spans["sc"] = spans
    return doc


def examples(nlp: Language, seed: int, n: int, n_sentences: int = 1) -> list[Example]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        gold = gold_doc(nlp, rng, n_sentences)
        starts = [token.is_sent_start for token in gold]
        found.append(Example(Doc(nlp.vocab, words=[token.text for token in gold], sent_starts=starts), gold))
    return found


def train(kind: str) -> Language:
    factory, config = KINDS[kind]
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]"]}
    nlp.add_pipe(factory, config={"features": features, **config})
    data = examples(nlp, 0, 150)
    nlp.initialize(lambda: data)
    for _ in range(4):
        nlp.update(data)
    return nlp


@pytest.fixture(scope="module", params=list(KINDS))
def trained(request) -> Language:
    return train(request.param)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model")
    train("entities").to_disk(path)
    return path


def write(path: Path, data: list[Example], with_names: bool = False) -> Path:
    register_doc_name()
    for number, example in enumerate(data):
        if with_names:
            example.reference._.doc_name = f"d{number}"
    DocBin(docs=[example.reference for example in data], store_user_data=True).to_disk(path)
    return path


@pytest.fixture(scope="module")
def held_out(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "held_out.spacy", examples(spacy.blank("en"), 1, 400))


def run(command: str, *arguments: object):
    return invoke(command, *arguments)


# -- what is promised is kept -----------------------------------------------------------------------------------


def test_expected_losses_of_new_documents_are_within_the_level(trained: Language) -> None:
    """Documents are drawn anew each time: 200 times 60 that the promise is made with, and others that it is for."""
    pipe = trained.get_pipe(trained.pipe_names[0])
    found = held_out_spans(pipe, examples(trained, 2, 700, 2), longest=2)
    rng, documents = np.random.default_rng(3), np.unique(found.documents)
    for loss in ("share", "any"):
        for level in (0.1, 0.3):
            losses = []
            for _ in range(200):
                chosen = np.isin(found.documents, rng.choice(documents, 60, replace=False))
                own = found.probabilities[chosen], found.documents[chosen]
                promise = control_span_risk(*own, level, "document", loss, 2)
                missed = found.probabilities[~chosen] < promise.threshold
                counts = np.bincount(found.documents[~chosen])
                shares = np.bincount(found.documents[~chosen], missed)[counts > 0] / counts[counts > 0]
                losses.append(np.mean(shares if loss == "share" else shares > 0))
            error = np.std(losses) / np.sqrt(len(losses))
            assert level - 0.06 < np.mean(losses) < level + 3 * error, (loss, level, np.mean(losses))


def test_sets_hold_what_is_promised(trained: Language) -> None:
    """The sets themselves miss what the probabilities of the gold spans say, and no span of theirs is less likely."""
    pipe = trained.get_pipe(trained.pipe_names[0])
    data = examples(trained, 4, 200, 2)
    found = held_out_spans(pipe, data, longest=2)
    promise = control_span_risk(found.probabilities, found.sentences, 0.2, "sentence", "share", 2)
    sets = likely_spans_of(pipe, [example.predicted for example in data], promise)
    gold = [GoldSpans.of(pipe.annotation, example, pipe.tags) for example in data]
    report = report_span_sets(zip(sets, gold), np.arange(len(data)))
    assert report.spans == len(found.probabilities) and report.documents == len(np.unique(found.documents))
    assert report.coverage == pytest.approx((found.probabilities >= promise.threshold - 1e-9).mean())
    assert all(span.probability >= promise.threshold - 1e-8 for own in sets for span in own)
    assert 0 < report.alone < 1 and report.alone_right > 0.5


def test_where_gold_is_unknown_no_span_is_wrong(trained: Language) -> None:
    pipe = trained.get_pipe(trained.pipe_names[0])
    data = examples(trained, 5, 60)
    unknown = [
        Example(one.predicted, Doc(trained.vocab, words=[token.text for token in one.predicted])) for one in data
    ]
    found = held_out_spans(pipe, data, longest=2)
    promise = control_span_risk(found.probabilities, found.documents, 0.2, "document", "share", 2)
    sets = likely_spans_of(pipe, [example.predicted for example in data], promise)
    gold, none = ([GoldSpans.of(pipe.annotation, one, pipe.tags) for one in side] for side in (data, unknown))
    numbers = np.arange(len(data))
    report, twice = report_span_sets(zip(sets, gold), numbers), np.append(numbers, numbers)
    assert report_span_sets(zip([*sets, *sets], [*gold, *none]), twice).alone_right == report.alone_right > 0
    assert report_span_sets(zip(sets, none), numbers).alone == report.alone
    nothing = report_span_sets(zip([[] for _ in sets], none), numbers)
    assert (nothing.coverage, nothing.alone, nothing.alone_right) == (None, None, None)


@given(st.integers(0, 10_000), st.sampled_from([0.0531, 0.1037, 0.2093, 0.3711]))
def test_one_span_a_document_is_split_conformal_prediction(seed: int, level: float) -> None:
    probabilities = np.random.default_rng(seed).uniform(0.01, 1, 50)
    promise = control_span_risk(probabilities, np.arange(50), level, "document", "share", 9)
    assert promise.threshold == pytest.approx(1 - finite_quantile(np.sort(1 - probabilities), level))


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_thresholds_are_those_of_mapie(seed: int) -> None:
    """Documents have gold spans of some of five kinds; MAPIE takes the greatest threshold of a grid that will do."""
    rng = np.random.default_rng(seed)
    gold = rng.random((80, 5)) < 0.4
    gold[np.arange(80), rng.integers(0, 5, 80)] = True
    probabilities = np.clip(rng.uniform(0, 0.7, (80, 5)) + 0.25 * gold, 0.01, 0.99)
    grid, level = np.arange(0, 1, 0.005), 0.2037  # no mean of losses is at the bound exactly
    control = MultiLabelClassificationController(lambda X: X, "recall", "crc", 1 - level, predict_params=grid)
    expected = control.calibrate(probabilities, gold.astype(int)).best_predict_param[0]
    documents, kinds = np.nonzero(gold)
    promise = control_span_risk(probabilities[documents, kinds], documents, level, "document", "share", 9)
    assert expected - 1e-9 <= promise.threshold <= expected + 0.005 + 1e-9


def test_spans_that_cannot_be_given_are_certain_misses(trained: Language) -> None:
    pipe, vocab = trained.get_pipe(trained.pipe_names[0]), trained.vocab
    words = ["n0", "n0", "and", "n1", "w1", "w2"]
    starts = [True, False, False, False, True, False]
    gold = Doc(vocab, words=words, sent_starts=starts)
    spans = [Span(gold, 0, 2, "LOC"), Span(gold, 3, 5, "PER"), Span(gold, 5, 6, "NEW")]
    gold.set_ents(spans)
    gold.spans["sc"] = spans
    given = Example(Doc(vocab, words=words, sent_starts=starts), gold)
    across, other = held_out_spans(pipe, [given], 9), Doc(vocab, words=["n0", "n0 and", "n1", "w1", "w2"])
    assert across.probabilities[0] > 0.01 and across.probabilities[1:].tolist() == [0, 0]
    assert across.sentences.tolist() == [0, 0, 1]
    assert held_out_spans(pipe, [given], longest=1).probabilities.tolist() == [0, 0, 0]
    within = held_out_spans(pipe, [Example(other, gold)], 9)
    assert within.probabilities[0] == 0 and within.documents.tolist() == [0, 0, 0]
    with pytest.raises(CRFError, match="CRF824"):
        control_span_risk(np.repeat([0.9, LEAST_PROBABLE / 2], 50), np.arange(100), 0.2, "document", "share", 9)


def test_gold_with_white_space_at_its_ends_is_missed_where_white_space_is_left_out(trained: Language) -> None:
    """Sets hold spans of words: what they promise is measured as scorers do."""
    pipe, vocab = trained.get_pipe(trained.pipe_names[0]), trained.vocab
    docs = [Doc(vocab, words=["n0", "\n", "n0", "\n", "and", "n1", "n1"]) for _ in range(2)]
    spans = [Span(docs[0], 0, 3, "LOC"), Span(docs[0], 3, 4, "LOC"), Span(docs[0], 5, 7, "PER")]
    wider = [Span(docs[1], 0, 4, "LOC"), Span(docs[1], 5, 7, "PER")]
    found = list[list[float]]()
    for doc, own in zip(docs, ([spans[0], spans[2]], wider)):
        doc.set_ents(own)
        doc.spans["sc"] = own
        found.append(held_out_spans(pipe, [Example(doc.copy(), doc)], 9).probabilities.tolist())
    assert found[0][0] > 0.01 and found[1] == [0, found[0][1]]


def test_without_gold_spans_nothing_is_promised() -> None:
    with pytest.raises(CRFError, match="CRF817"):
        control_span_risk(np.zeros(0), np.zeros(0, dtype=np.intp), 0.1, "document", "share", 9)


# -- commands ---------------------------------------------------------------------------------------------------


def test_a_promise_is_made_told_saved_and_kept(model: Path, held_out: Path, tmp_path: Path) -> None:
    result = run("guarantee", model, held_out, "--level", 0.1, "--output", tmp_path / "out")
    told = " ".join(result.output.split())
    assert result.exit_code == 0, result.output
    assert "expected share of a document's spans that are not in its set is at most 10 %" in told
    assert re.search(r"0\.05 95 % 0\.\d+ ", told) and "Spans in the sets have a probability of at least" in told
    nlp = spacy.load(tmp_path / "out")
    data = examples(nlp, 5, 400)
    docs = list(nlp.pipe([example.predicted for example in data], batch_size=7))
    shares = []
    for doc, example in zip(docs, data):
        chosen = {span[:3] for span in read_span_set(doc, "span_sets")}
        gold = {(ent.start, ent.end, ent.label_) for ent in example.reference.ents}
        shares += [len(gold - chosen) / len(gold)] if gold else []
    assert 0.03 < np.mean(shares) < 0.1 + 3 * np.std(shares) / np.sqrt(len(shares))
    again = Doc(nlp.vocab).from_bytes(docs[0].to_bytes())
    assert read_span_set(again, "span_sets") == read_span_set(docs[0], "span_sets")
    assert read_span_set(nlp(nlp.make_doc("")), "span_sets") == []
    scores = docs[0].spans["span_sets"].attrs["scores"]
    nlp.to_disk(tmp_path / "again")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        same = spacy.load(tmp_path / "again")
        text = Doc(same.vocab, words=[token.text for token in docs[0]])
        assert np.array(same(text).spans["span_sets"].attrs["scores"]) == pytest.approx(scores)


def test_tag_and_sets_show_the_sets(model: Path, held_out: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("guarantee", model, held_out, "--level", 0.1, "--output", out).exit_code == 0
    shown = run("tag", out, "n0 n0 and w1")
    assert shown.exit_code == 0 and re.search(r"spans in the set +label +prob", shown.output), shown.output
    assert "n0 n0" in shown.output.split("spans in the set")[1]
    told = json.loads(run("sets", out, held_out, "--json").output)
    assert told["coverage"] > 0.88 and told["size"] > told["spans"] / 400
    assert "without a rival" in run("sets", out, held_out).output
    refused = run("sets", model, held_out)
    assert refused.exit_code == 1 and "CRF415" in refused.output


def test_levels_that_cannot_be_had_are_told(model: Path, held_out: Path) -> None:
    result = run("guarantee", model, held_out, "--levels", "0.3,0.001", "--json")
    assert result.exit_code == 0, result.output
    levels = json.loads(result.stdout)["levels"]
    assert [one["level"] for one in levels] == [0.05, 0.3] and levels[0]["size"] > levels[1]["size"]
    assert levels[0]["threshold"] < levels[1]["threshold"]
    assert "CRF818" in run("guarantee", model, held_out, "--levels", "0.3,0.001").output


def test_sentences_and_documents_are_units(model: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    path = write(tmp_path / "data.spacy", examples(nlp, 6, 150, 3), with_names=True)
    by_document = json.loads(run("guarantee", model, path, "--json", "--loss", "any").stdout)
    by_sentence = json.loads(run("guarantee", model, path, "--json", "--unit", "sentence").stdout)
    assert by_document["n"] <= 150 < by_sentence["n"] and by_document["threshold"] < by_sentence["threshold"]


@pytest.mark.parametrize(
    "options, code",
    [
        (["--unit", "token"], "CRF591"),
        (["--loss", "ml-acc"], "CRF591"),
        (["--conformal"], "CRF639.*--conformal goes with components that give sets of tags"),
        (["--by-tag"], "CRF639"),
    ],
)
def test_options_about_tags_are_refused(model: Path, held_out: Path, options: list[str], code: str) -> None:
    result = run("guarantee", model, held_out, *options)
    assert result.exit_code == 1 and re.search(code, " ".join(result.output.split())), result.output


def test_a_tagger_of_tokens_is_told_what_to_do(tmp_path: Path, held_out: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger")
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a b"), {"tags": ["A", "B"]})])
    nlp.to_disk(tmp_path)
    result = run("guarantee", tmp_path, held_out)
    assert result.exit_code == 1 and re.search("CRF590.*set_valued_tagger", " ".join(result.output.split()))


# -- a promise belongs to a model -------------------------------------------------------------------------------


def test_a_promise_tells_when_the_model_is_another(model: Path, held_out: Path, tmp_path: Path) -> None:
    assert run("guarantee", model, held_out, "--level", 0.1, "--output", tmp_path / "out").exit_code == 0
    nlp = spacy.load(tmp_path / "out")
    nlp("n0 and")
    nlp.get_pipe("crf_tagger").cfg["temperature"] = 2.0
    with pytest.warns(CRFWarning, match="CRFW448.*crf_tagger"):
        nlp("n0 and")
    arguments = (tmp_path / "out", held_out, "--output", tmp_path / "sure")
    result = run("calibrate", *arguments)
    assert result.exit_code == 1 and "CRF448" in result.output
    nlp = spacy.load(tmp_path / "out")
    data = examples(nlp, 7, 30)
    nlp.update(data, sgd=nlp.resume_training())
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp("n0 and")


def test_other_constraints_are_another_model(held_out: Path, tmp_path: Path) -> None:
    train("constrained").to_disk(tmp_path / "model")
    assert run("guarantee", tmp_path / "model", held_out, "--level", 0.2, "--output", tmp_path / "out").exit_code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        nlp = spacy.load(tmp_path / "out")
        nlp("n0 and n1")
    nlp.get_pipe("constrained_ner").set_constraints(["at_most(PER, 2)"])
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp("n0 and n1")


@pytest.mark.parametrize("setting, value", [("probabilities", "chain"), ("predicates", {"name": ["n1"]})])
def test_other_settings_of_probabilities_are_another_model(
    held_out: Path, tmp_path: Path, setting: str, value: Any
) -> None:
    nlp = train("constrained")
    pipe = nlp.get_pipe("constrained_ner")
    pipe.cfg["predicates"] = {"name": ["n0"]}
    pipe.set_constraints(["boundary(name, PER) cost=1"])
    nlp.to_disk(tmp_path / "model")
    assert run("guarantee", tmp_path / "model", held_out, "--level", 0.2, "--output", tmp_path / "out").exit_code == 0
    nlp = spacy.load(tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        nlp("n0 and n1")
    nlp.get_pipe("constrained_ner").cfg[setting] = value
    with pytest.warns(CRFWarning, match="CRFW448"):
        nlp("n0 and n1")


def test_parts_of_documents_are_told_as_documents(model: Path, tmp_path: Path) -> None:
    data = examples(spacy.blank("en"), 1, 120)
    write(tmp_path / "whole.spacy", data)
    for number, example in enumerate(data):
        example.reference._.doc_name = f"d{number // 4}"
    DocBin(docs=[example.reference for example in data], store_user_data=True).to_disk(tmp_path / "parts.spacy")
    made = json.loads(
        run("guarantee", model, tmp_path / "parts.spacy", "--level", 0.2, "--json", "--output", tmp_path / "out").stdout
    )
    told = json.loads(run("sets", tmp_path / "out", tmp_path / "parts.spacy", "--json").stdout)
    alone = json.loads(run("sets", tmp_path / "out", tmp_path / "whole.spacy", "--json").stdout)
    assert made["n"] == told["documents"] == 30 < alone["documents"]
    assert [one["size"] for one in made["levels"] if one["level"] == 0.2] == pytest.approx([told["size"]])
    assert told["size"] == pytest.approx(4 * alone["size"])


@pytest.mark.parametrize(
    "data", [{"kind": "risk"}, {"kind": "spans"}, {"kind": "spans", "level": 0.1, "odd": 1}], ids=str
)
def test_what_is_no_promise_about_spans_is_refused(data: dict) -> None:
    nlp = spacy.blank("en")
    with pytest.raises(CRFError, match="CRF415"):
        nlp.add_pipe("crf_tagger", config={"target": "ent", "guarantee": data})


def test_a_promise_about_spans_is_refused_for_tags() -> None:
    with pytest.raises(CRFError, match="CRF408.*guarantee"):
        spacy.blank("en").add_pipe("crf_tagger", config={"guarantee": {"kind": "spans"}})

"""Exact probabilities of spans, and the threshold on them."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.tagged import build, clean_docs, make_examples, train
from helpers.weights import dense_weights, flat_weights, set_flat_weights
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_crf.core.chain.potentials import potentials
from spacy_crf.core.labels import TagSet
from spacy_crf.learning.model import get_layout
from spacy_crf.learning.scores import encode


def softened(target: str, scheme: str = "BIO", **config: object) -> Language:
    """A trained pipeline that is unsure of everything."""
    nlp = train(target=target, scheme=scheme, **config)
    pipe = nlp.get_pipe("crf_tagger")
    set_flat_weights(pipe.model, flat_weights(pipe.model) * 0.1)
    return nlp


def legal_paths(tags: TagSet, n: int) -> list[tuple[int, ...]]:
    allowed, starts, ends = tags.legal()
    paths = itertools.product(range(len(tags)), repeat=n)
    return [p for p in paths if starts[p[0]] and ends[p[-1]] and all(allowed[a, b] for a, b in itertools.pairwise(p))]


def path_probabilities(nlp: Language, doc: Doc) -> dict[tuple[int, ...], float]:
    """All label sequences of a Doc with their probabilities, summed up from the weights."""
    pipe = nlp.get_pipe("crf_tagger")
    columns = pipe.features.extractor.read([doc], nlp.vocab)
    chain = potentials(encode(columns, pipe.features), dense_weights(pipe.model), get_layout(pipe.model))
    scores = {}
    for path in legal_paths(pipe.tags, len(doc)):
        score = chain.start[path[0]] + chain.end[path[-1]] + sum(chain.emissions[t, y] for t, y in enumerate(path))
        scores[path] = float(score + sum(chain.transitions[a, b] for a, b in itertools.pairwise(path)))
    highest = max(scores.values())
    total = sum(np.exp(score - highest) for score in scores.values())
    return {path: float(np.exp(score - highest) / total) for path, score in scores.items()}


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_span_probabilities_equal_enumeration(scheme: str) -> None:
    nlp = softened("ent", scheme)
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=["Bo", "Stone", "sold", "Delft"])
    paths = path_probabilities(nlp, doc)
    spans = [Span(doc, i, j, label=label) for i, j in itertools.combinations(range(5), 2) for label in pipe.labels]
    scores = pipe.span_probabilities(doc, spans)
    for span, exact, boundaries, covered in zip(spans, scores.label, scores.boundaries, scores.covered):
        expected = np.zeros(3)
        for path, probability in paths.items():
            starts, ends, tags = pipe.tags.spans(np.array(path, dtype=np.int32), np.array([4]))
            found = {(s, e): pipe.tags.tags[t][2:] for s, e, t in zip(starts.tolist(), ends.tolist(), tags.tolist())}
            place = (span.start, span.end)
            inside = all(pipe.tags.tags[path[t]][1:] == f"-{span.label_}" for t in range(*place))
            expected += probability * np.array([found.get(place) == span.label_, place in found, inside])
        assert [exact, boundaries, covered] == pytest.approx(expected, abs=1e-5)


def test_impossible_spans_have_probability_zero_and_unknown_labels_are_an_error() -> None:
    nlp = train(target="ent")
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=["Ada", "left", "Bo", "left"], sent_starts=[1, 0, 1, 0])
    scores = pipe.span_probabilities(doc, [Span(doc, 0, 1, "PER"), Span(doc, 1, 3, "PER"), Span(doc, 2, 3, "PER")])
    assert scores.label[1] == scores.boundaries[1] == scores.covered[1] == 0
    assert scores.label[0] > 0.5 and scores.label[2] > 0.5
    assert pipe.span_probabilities(doc, []).label.shape == (0,)
    for label in ("EVENT", ""):
        with pytest.raises(ValueError, match=rf"CRF459.*'Ada'.*'{label}'.*one of these: .*PER"):
            pipe.span_probabilities(doc, [Span(doc, 0, 1, label=label)])


def test_the_scores_of_a_group_are_those_asked_for_and_survive_bytes() -> None:
    nlp = softened("spans")
    pipe = nlp.get_pipe("crf_tagger")
    docs = [doc for doc in nlp.pipe(clean_docs(nlp)) if len(doc.spans["sc"])]
    assert docs
    for doc in docs:
        group = Doc(nlp.vocab).from_bytes(doc.to_bytes()).spans["sc"]
        asked = pipe.span_probabilities(doc, list(doc.spans["sc"]))
        assert group.attrs["scores"] == pytest.approx(asked.label.tolist())
        assert group.attrs["scores_boundaries"] == pytest.approx(asked.boundaries.tolist())
        assert group.attrs["scores_covered"] == pytest.approx(asked.covered.tolist())
        assert len(group) == len(group.attrs["scores"])


def test_scores_of_entities_go_to_an_extension() -> None:
    nlp = softened("ent", scores="crf_test_scores")
    doc = next(doc for doc in nlp.pipe(clean_docs(nlp)) if doc.ents)
    asked = nlp.get_pipe("crf_tagger").span_probabilities(doc, doc.ents)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for ent, label, boundaries, covered in zip(again.ents, asked.label, asked.boundaries, asked.covered):
        expected = {"label": label, "boundaries": boundaries, "covered": covered}
        assert ent._.crf_test_scores == pytest.approx(expected)
        assert label <= boundaries and label <= covered
    Span.remove_extension("crf_test_scores")


@pytest.mark.parametrize("target", ["ent", "spans"])
def test_the_threshold_is_read_at_each_prediction(target: str) -> None:
    nlp = softened(target)
    pipe = nlp.get_pipe("crf_tagger")

    def found(threshold: float) -> list[tuple[str, float]]:
        pipe.cfg["threshold"] = threshold
        spans = [
            (doc.text, span)
            for doc in nlp.pipe(clean_docs(nlp))
            for span in (doc.ents if target == "ent" else doc.spans["sc"])
        ]
        return [(text, float(pipe.span_probabilities(span.doc, [span]).label[0])) for text, span in spans]

    every = found(0.0)
    middle = float(np.median([probability for _, probability in every]))
    some = found(middle)
    assert some == [(text, probability) for text, probability in every if probability >= middle]
    assert 0 < len(some) < len(every)
    assert found(1.0) == []


def test_run_time_settings_of_the_config_win_over_the_saved_ones(tmp_path: Path) -> None:
    nlp = train(target="ent")
    nlp.to_disk(tmp_path)
    changed = {"components.crf_tagger.threshold": 1.0, "components.crf_tagger.overwrite": True}
    loaded = spacy.load(tmp_path, config=changed)
    pipe = loaded.get_pipe("crf_tagger")
    assert pipe.cfg["threshold"] == 1.0 and pipe.cfg["overwrite"] is True
    assert pipe.labels == nlp.get_pipe("crf_tagger").labels
    assert not loaded(make_examples(loaded)[0].predicted).ents
    assert spacy.load(tmp_path)(make_examples(nlp)[0].predicted).ents


def test_probabilities_need_training() -> None:
    nlp = build(target="ent")
    with pytest.raises(ValueError, match="CRF401"):
        nlp.get_pipe("crf_tagger").span_probabilities(nlp.make_doc("Bo"), [Span(nlp.make_doc("Bo"), 0, 1, label="PER")])

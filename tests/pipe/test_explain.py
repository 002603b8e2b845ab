"""Contributions sum up to differences of scores that are computed in another way."""

import itertools

import numpy as np
import pytest
import spacy
from helpers import citations
from helpers.chains import softened
from helpers.networks import model
from helpers.tagged import build, clean_docs, train
from helpers.weights import dense_weights
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf import review
from spacy_crf.cli.models import format_explanation
from spacy_crf.core.chain.potentials import potentials
from spacy_crf.learning.model import get_layout
from spacy_crf.pipe.explain import explain
from spacy_crf.pipe.inspect import inspect

TEMPLATES = ["LOWER[-1..1]", "SUFFIX2", "IS_TITLE", "B:IS_TITLE[0]", "B:LOWER[-1]"]
SETTINGS = {"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES}


@pytest.fixture(params=["tag", "ent"])
def nlp(request, extension):
    return train(target=request.param, features=SETTINGS)


def score(pipe, doc, labels):
    """Score of a labelling, feature by feature in double precision."""
    learner, dense, layout = pipe.learner, dense_weights(pipe.model), get_layout(pipe.model)
    features = learner.features
    columns = features.extractor.read([doc], doc.vocab)
    state = features.state.encode(features.extractor.keys(columns, features.extractor.state_templates))
    edge = features.edge.encode(features.extractor.keys(columns, features.extractor.edge_templates))
    total, last, n = 0.0, 0, len(pipe.tags)
    ends = set(np.cumsum(columns.lengths).tolist())
    for t, label in enumerate(labels):
        total += float(dense.state[state.indices[state.indptr[t] : state.indptr[t + 1]], label].astype(float).sum())
        if t == 0 or t in ends:
            total += float(dense.start[label]) if layout.allowed_start[label] else -np.inf
        else:
            total += float(dense.transitions[last, label]) if layout.allowed[last, label] else -np.inf
            cells = dense.edges[edge.indices[edge.indptr[t] : edge.indptr[t + 1]], last * n + label]
            total += float(cells.astype(float).sum())
        if t + 1 in ends:
            total += float(dense.end[label])
        last = label
    return total


def test_contributions_sum_up(nlp):
    pipe = nlp.get_pipe("crf_tagger")
    for doc in clean_docs(nlp)[:8]:
        chosen = [pipe.tags.tags[tag] for tag in pipe.predict([doc])[0].tags]
        for explanation, label in zip(explain(pipe, doc), chosen, strict=True):
            assert (explanation.label, explanation.text) == (label, doc[explanation.token].text)
            parts = [part.difference for part in explanation.contributions]
            assert sum(parts) == pytest.approx(explanation.difference, abs=1e-9)
            assert [abs(part) for part in parts] == sorted(map(abs, parts), reverse=True)
            assert explanation.difference >= 0 and len(explanation.contributions) > 1


@pytest.mark.parametrize("text", ["New Delft", "New Delft old Delft"])
def test_the_difference_is_that_of_the_best_labellings(nlp, text):
    """By enumeration of all labellings of a short text."""
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=text.split())
    scores = {path: score(pipe, doc, path) for path in itertools.product(range(len(pipe.tags)), repeat=len(doc))}
    best = max(scores, key=scores.get)
    total = np.logaddexp.reduce(list(scores.values()))
    for explanation in explain(pipe, doc):
        t = explanation.token
        marginals = np.zeros(len(pipe.tags))
        for path, value in scores.items():
            marginals[path[t]] += np.exp(value - total)
        assert explanation.probability == pytest.approx(marginals[best[t]], abs=1e-6)
        marginals[best[t]] = 0
        other = int(marginals.argmax())
        assert explanation.runner_up == pipe.tags.tags[other]
        assert explanation.runner_up_probability == pytest.approx(marginals[other], abs=1e-6)
        rival = max(value for path, value in scores.items() if path[t] == other)
        assert explanation.difference == pytest.approx(scores[best] - rival, abs=1e-5)


def test_a_sequence_is_decoded_once(nlp, monkeypatch):
    """Not once more for each token: a page without sentence starts is one sequence."""
    pipe, counts = nlp.get_pipe("crf_tagger"), []
    monkeypatch.setattr("spacy_crf.pipe.explain.potentials", lambda *given: counts.append(1) or potentials(*given))
    docs = clean_docs(nlp)[:4]
    assert sum(len(explain(pipe, doc)) for doc in docs) > len(docs) == len(counts)


def test_parts_are_named(nlp):
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=["Ada", "met", "Bo", "."])
    parts = [part for explanation in explain(pipe, doc) for part in explanation.contributions]
    assert {part.kind for part in parts} == {"feature", "transition", "edge feature", "start", "end"}
    dense, names = dense_weights(pipe.model), pipe.features.state.names()
    for part in parts:
        if part.kind == "feature":
            row = dense.state[names.index(part.name)]
            assert part.weight == row[pipe.tags.number[part.labels]]
            assert part.other_weight == row[pipe.tags.number[part.other_labels]]
    assert {part.name for part in parts if part.token == 2 and part.kind == "feature"} <= {
        "LOWER[-1]=met",
        "LOWER[0]=bo",
        "LOWER[1]=.",
        "IS_TITLE[0]=1",
        "SUFFIX2[0]=Bo",
    }


def test_sequences_are_explained_apart(nlp):
    pipe = nlp.get_pipe("crf_tagger")
    words, starts = ["Bo", "met", "Ada", "Mia", "walks"], [True, False, False, True, False]
    together = explain(pipe, Doc(nlp.vocab, words=words, sent_starts=starts))
    alone = explain(pipe, Doc(nlp.vocab, words=words[3:]))
    for one, other in zip(together[3:], alone):
        assert (one.label, one.runner_up) == (other.label, other.runner_up)
        assert one.difference == pytest.approx(other.difference)
        assert [part.token - 3 for part in one.contributions] == [part.token for part in other.contributions]


def test_some_tokens(nlp):
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=["Bo", "met", "Ada"])
    assert explain(pipe, doc, [2]) == explain(pipe, doc)[2:] and explain(pipe, Doc(nlp.vocab)) == []
    for token in (3, -1):
        with pytest.raises(ValueError, match="CRF741"):
            explain(pipe, doc, [token])


def test_a_label_without_alternative():
    nlp = build(features=SETTINGS)
    doc = Doc(nlp.vocab, words=["a", "b"], tags=["X", "X"])
    examples = [Example(Doc(nlp.vocab, words=["a", "b"]), doc)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    for explanation in explain(nlp.get_pipe("crf_tagger"), examples[0].predicted):
        assert explanation.runner_up is None and explanation.probability == 1.0 and explanation.contributions == []


def test_an_untrained_component():
    nlp = build()
    with pytest.raises(ValueError, match="CRF401"):
        explain(nlp.get_pipe("crf_tagger"), Doc(nlp.vocab, words=["a"]))


def test_vectors_of_a_tok2vec_layer(extension):
    nlp = train("Minibatch", features=SETTINGS, model=model())
    pipe = nlp.get_pipe("crf_tagger")
    for doc in clean_docs(nlp)[:3]:
        for explanation in explain(pipe, doc):
            parts = explanation.contributions
            assert sum(part.difference for part in parts) == pytest.approx(explanation.difference, abs=1e-9)
            assert [part for part in parts if part.kind == "vector" and part.token == explanation.token]
    assert inspect(pipe).n_vector_weights == 8 * len(pipe.tags)


def test_settings_of_the_component_count(extension):
    """Given labels are kept, and probabilities are those at the component's temperature."""
    nlp = train(target="tag", features=SETTINGS)
    pipe = nlp.get_pipe("crf_tagger")
    words = ["The", "walk", "is", "old"]
    free = explain(pipe, Doc(nlp.vocab, words=words), [1])[0]
    pipe.cfg["temperature"] = 2.0
    warm = explain(pipe, Doc(nlp.vocab, words=words), [1])[0]
    assert warm.label == free.label and warm.probability < free.probability
    pipe.cfg["given"] = True
    bound = explain(pipe, Doc(nlp.vocab, words=words, tags=["", free.runner_up, "", ""]), [0, 1])
    assert bound[1].label == free.runner_up and bound[1].runner_up is None and bound[0].runner_up is not None


def test_what_is_set_under_constraints_is_told():
    nlp = citations.train()
    pipe = nlp.get_pipe("constrained_ner")
    doc = next(doc for doc in citations.new_docs(nlp) if "JOURNAL" in citations.tags_of(nlp(doc.copy())))
    assert all(one.written == one.label for one in explain(pipe, doc))
    pipe.set_constraints(["at_most(JOURNAL, 0)"])
    found, written = explain(pipe, doc), citations.tags_of(nlp(doc.copy()))
    assert [one.written for one in found] == written and "JOURNAL" not in written
    assert "JOURNAL" in [one.label for one in found]
    (changed,) = [one for one in found if one.written != one.label][:1]
    assert f"the chain alone, what is set is {changed.written}" in format_explanation(changed, 3)


def test_posterior_labels_are_told():
    nlp = train(target="tag", decode="posterior", features=SETTINGS)
    for doc in clean_docs(nlp):
        found = explain(nlp.get_pipe("crf_tagger"), doc)
        assert [one.written for one in found] == [token.tag_ for token in nlp(doc.copy())]


@pytest.mark.parametrize(
    "settings",
    [
        {"target": "ent", "threshold": 0.6},
        {"target": "ent", "threshold": 0.1, "decode": "spans"},
        {"target": "ent", "scheme": "BILUO", "given": True},
        {"target": "spans", "threshold": 0.4, "overwrite": True},
        {"target": "tag"},
    ],
)
def test_what_a_threshold_leaves_out_and_annotation_that_stays_are_told(settings):
    nlp = softened(features=SETTINGS, **settings)
    pipe, differences = nlp.get_pipe("crf_tagger"), 0
    for doc in clean_docs(nlp):
        doc[0].tag_, doc.ents = "JJ", [Span(doc, 1, 2, label="LOC")]
        found, done = explain(pipe, doc), pipe(doc.copy())
        written = pipe.annotation.gold(Example(done, done), pipe.tags).tolist()
        assert [one.written for one in found] == [pipe.tags.tags[label] for label in written]
        differences += sum(one.written != one.label for one in found)
    assert differences or settings.get("given")


@pytest.mark.parametrize("target", ["tag", "ent"])
def test_annotation_that_stays_is_told_if_its_label_is_unknown(target):
    nlp = train(target=target, features=SETTINGS)
    doc = Doc(nlp.vocab, words=["Ada", "met", "Bo"])
    doc[1].tag_, doc.ents = "NEW", [Span(doc, 0, 2, label="NEW")]
    found = explain(nlp.get_pipe("crf_tagger"), doc)
    expected = ["NNP", "NEW", "NNP"] if target == "tag" else ["B-NEW", "I-NEW", "B-PER"]
    assert [one.written for one in found] == expected


@pytest.mark.parametrize("factory", ["section_parser", "punctuation_restorer"])
def test_units_that_are_no_tokens_are_refused(factory):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(factory)
    for ask in (lambda doc: explain(pipe, doc, [0]), lambda doc: review(pipe, [doc])):
        with pytest.raises(ValueError, match=f"CRF742.*{factory}"):
            ask(nlp.make_doc("1. Scope"))

"""Confidence in fields: counted over all labellings of a small chain."""

import time
from collections.abc import Iterator
from itertools import groupby, product

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.bibliography.segments import find_confidences, label_runs

TEXTS = ["Lee On ropes 1999", "Crane Salt 2003", "Lund 1999 On knots"]
TAGS = [["A", "T", "T", "D"], ["A", "T", "D"], ["A", "D", "T", "T"]]


def runs(tags: list[str]) -> Iterator[tuple[str, int, int]]:
    """Each run of one tag: the tag, its first token, and the one behind its last."""
    for tag, places in groupby(range(len(tags)), key=tags.__getitem__):
        tokens = [*places]
        yield tag, tokens[0], tokens[-1] + 1


@pytest.fixture(scope="module", params=["tag", "ent"])
def nlp(request: pytest.FixtureRequest):
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "SHAPE"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 1.0, "iterations_per_step": 10}
    scheme = {"scheme": "none"} if request.param == "ent" else {}
    nlp.add_pipe("crf_tagger", config={"target": request.param, "features": features, "trainer": trainer, **scheme})
    examples = []
    for text, tags in zip(TEXTS, TAGS):
        doc = nlp.make_doc(text)
        if request.param == "ent":
            reference = doc.copy()
            reference.set_ents([Span(doc, start, end, label=tag) for tag, start, end in runs(tags)])
            examples.append(Example(doc, reference))
        else:
            examples.append(Example.from_dict(doc, {"tags": tags}))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def test_confidence_is_the_share_of_labellings(nlp) -> None:
    tagger = nlp.get_pipe("crf_tagger")
    docs = [*nlp.pipe([*TEXTS, "Ropes", ""])]
    for doc, found in zip(docs, find_confidences(tagger, docs)):
        if not len(doc):
            assert found.reference == 0 and found.fields == ()
            continue
        labels = tagger.annotation.gold(Example(doc, doc), tagger.tags)
        _, chain = tagger.distribution([doc], given=False)
        weights = {}
        for path in product(range(len(tagger.tags)), repeat=len(doc)):
            allowed = np.zeros((len(doc), len(tagger.tags)), dtype=bool)
            allowed[np.arange(len(doc)), path] = True
            weights[path] = float(np.exp(chain.log_probability(allowed)[0]))
        assert np.isclose(sum(weights.values()), 1)
        assert np.isclose(found.reference, weights[tuple(labels.tolist())])
        start = 0
        for label, share in found.fields:
            length = next((at for at in range(start, len(doc)) if labels[at] != labels[start]), len(doc)) - start
            places = range(start, start + length)
            assert label == tagger.tags.tags[labels[start]]
            assert np.isclose(
                share, sum(own for path, own in weights.items() if all(path[at] == labels[at] for at in places))
            )
            start += length
        assert start == len(doc)
        assert found.below(1.1) == list(found.fields)


@pytest.mark.parametrize("texts", [["Lee On", "ropes Lund 1999", "2003 2003"], ["2003", "1999 On ropes"]])
def test_confidence_in_several_sequences_is_the_product_of_theirs(nlp, texts: list[str]) -> None:
    tagger = nlp.get_pipe("crf_tagger")
    docs = list(nlp.pipe([*texts, " ".join(texts)]))
    joined = Doc.from_docs(docs[:-1])
    for token in joined:
        token.is_sent_start = token.i in np.cumsum([0, *map(len, docs[:-1])])
    (found,) = find_confidences(tagger, [joined])
    labels = tagger.annotation.gold(Example(joined, joined), tagger.tags)
    _, chain = tagger.distribution([joined], given=False)
    assert len(chain.log_probability(np.ones((len(joined), len(tagger.tags)), dtype=bool))) == len(texts)
    for (start, end), (_, share) in zip(label_runs(labels.tolist()), found.fields, strict=True):
        allowed = np.ones((len(joined), len(tagger.tags)), dtype=bool)
        allowed[start:end] = np.arange(len(tagger.tags)) == labels[start:end, None]
        assert np.isclose(share, np.exp(chain.log_probability(allowed).sum()))


def test_time_grows_with_the_fields_not_with_their_square(nlp) -> None:
    tagger, doc = nlp.get_pipe("crf_tagger"), nlp(" ".join(TEXTS * 600))
    used = time.process_time()
    (found,) = find_confidences(tagger, [doc])
    assert len(found.fields) > 3000 and time.process_time() - used < 5


def test_confidence_is_that_of_the_words_where_a_reference_has_white_space_between_them(nlp) -> None:
    plain, spaced, none = nlp("Lund 1999 On knots"), nlp("Lund 1999 \n\n On   knots"), nlp(" \n ")
    tagger = nlp.get_pipe("crf_tagger")
    own, found, empty = find_confidences(tagger, [plain, spaced, none])
    assert [label for label, _ in found.fields] == [label for label, _ in own.fields]
    assert np.allclose([share for _, share in found.fields], [share for _, share in own.fields])
    assert np.isclose(found.reference, own.reference) and empty.reference == 0

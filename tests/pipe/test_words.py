"""Words that are tagged without Docs: as the Docs of these words are."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.chains import softened
from helpers.tagged import build, train
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.core.errors import CRFError

WORDS = st.sampled_from(["Ada", "Delft", "mill", "sold", ".", "the", "zzyx", "ÄÖ", "New"])
TAGGERS = {
    "tags": {},
    "posterior": {"decode": "posterior"},
    "entities": {"target": "ent"},
    "entity templates": {"features": {"@misc": "spacy_crf.Features.v1", "templates": ["@entities"]}},
    "second order": {"model": {"@architectures": "spacy_crf.LinearChain.v1", "order": 2}},
    "dictionary": {"dictionary": {"@misc": "spacy_crf.TagDictionary.v1", "use": "mask"}},
}


@cache
def word_tagger(kind: str) -> Language:
    return softened(**TAGGERS[kind]) if kind != "second order" else train(**TAGGERS[kind])


@settings(deadline=None)
@given(st.sampled_from(list(TAGGERS)), st.lists(st.lists(WORDS, max_size=6), max_size=4))
def test_words_have_the_tags_of_docs_of_these_words(kind: str, texts: list[list[str]]) -> None:
    nlp = word_tagger(kind)
    pipe = nlp.get_pipe("crf_tagger")
    docs = [Doc(nlp.vocab, words=words) for words in texts]
    found = pipe.tag_words(texts)
    assert len(found) == len(texts)
    for own, decoded, probabilities in zip(found, pipe.predict(docs), pipe.token_probabilities(docs)):
        assert own.labels.tolist() == decoded.tags.tolist()
        np.testing.assert_allclose(own.probabilities, probabilities, atol=1e-6)


def test_words_alone_are_too_little_for_some_models() -> None:
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]", "POS[0]"]})
    nlp.get_pipe("crf_tagger").set_labels(["A"])
    with pytest.raises(CRFError, match="CRF592.*crf_tagger"):
        nlp.get_pipe("crf_tagger").tag_words([["a"]])


@pytest.mark.parametrize("texts", ["Ada sold", [["Ada"], "Ada sold"], [["Ada", 1]], [None], [["\ud800"]]])
def test_texts_have_to_be_split_into_words(texts: Any) -> None:
    with pytest.raises(CRFError, match="CRF474.*crf_tagger.*text [01]"):
        word_tagger("tags").get_pipe("crf_tagger").tag_words(texts)

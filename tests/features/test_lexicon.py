"""Frequencies of words as flags of templates."""

from collections import Counter

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.features import Features
from spacy_crf.features.lexemes import WordForms, lexical_strings
from spacy_crf.features.resources import NOTHING, Lexicon, kept_counts
from spacy_crf.features.templates import parse_attribute

words = st.lists(st.text("abc", min_size=1, max_size=2), max_size=30)


@given(words, words, st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_what_is_kept_tells_the_thresholds_apart(training: list[str], others: list[str], thresholds: list[int]) -> None:
    counts = Counter(training)
    kept = kept_counts(counts, thresholds)
    again = Lexicon.from_data({"lists": {}, **Lexicon(counts=kept).to_data()}).counts
    for form in [*training, *others]:
        for threshold in thresholds:
            assert (kept.get(form, 0) >= threshold) == (again.get(form, 0) >= threshold) == (counts[form] >= threshold)


def test_templates_of_rare_and_common_words(vocab: Vocab) -> None:
    docs = [Doc(vocab, words=["the", "mill", "the", "mill", "the", "miller"])]
    config = FeatureSettings(["LOWER|COMMON3", "SUFFIX2|RARE2[0]", "RARE3[-1]"])
    features = Features(config, "auto", config.make_resources(str.split, lambda: docs))
    columns = features.extractor.read(docs, vocab)
    keys = features.extractor.keys(columns, features.extractor.state_templates)
    features.state.grow(keys, columns, padding=True)
    assert set(features.state.names()) == {
        "LOWER[0]|COMMON3[0]=the|1",
        "SUFFIX2[0]|RARE2[0]=er|1",
        "RARE3[-1]=1",
        "RARE3[-1]=BOS-1",
    }


def test_before_training_nothing_is_known(vocab: Vocab) -> None:
    with pytest.raises(ValueError, match="CRF325"):
        lexical_strings(parse_attribute("RARE2"), WordForms([vocab["a"]], NOTHING))
    for text in ("RARE", "COMMON0"):
        with pytest.raises(ValueError, match="CRF302"):
            parse_attribute(text)


def test_a_component_keeps_them(tmp_path) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"features": {"templates": ["COMMON2", "RARE2"]}})
    doc = Doc(nlp.vocab, words=["a", "a", "b"], tags=["X", "X", "Y"])
    example = Example(Doc(nlp.vocab, words=["a", "a", "b"]), doc)
    nlp.initialize(lambda: [example])
    for _ in range(3):
        nlp.update([example])
    nlp.to_disk(tmp_path)
    for each in (nlp, spacy.load(tmp_path)):
        assert [token.tag_ for token in each.get_pipe("crf_tagger")(Doc(each.vocab, words=["a", "c"]))] == ["X", "Y"]

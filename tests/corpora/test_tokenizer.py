"""The tokens of references."""

import re

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from spacy_crf.corpora.block import TOKEN

CONFIG = {"nlp": {"tokenizer": {"@tokenizers": "spacy_crf.ReferenceTokenizer.v1"}}}
NLP = spacy.blank("xx", config=CONFIG)


def words(nlp: Language, text: str) -> list[str]:
    return [token.text for token in nlp.make_doc(text)]


def test_marks_are_tokens() -> None:
    assert words(NLP, "K. Ö.-Lee, 12(3):4_5 can't http://a.b") == [
        *("K", ".", "Ö", ".", "-", "Lee", ",", "12", "(", "3", ")", ":", "4", "_", "5"),
        *("can", "'", "t", "http", ":", "/", "/", "a", ".", "b"),
    ]


def test_vowels_and_accents_of_their_own_part_no_word() -> None:
    assert words(NLP, "हिन्दी, שָׁלוֹם; Cafe\u0301s (e\u0301t_e\u0301)") == [
        *("हिन्दी", ",", "שָׁלוֹם", ";", "Cafe\u0301s", "(", "e\u0301t", "_", "e\u0301", ")")
    ]


@pytest.mark.promise
@given(st.text(st.sampled_from("aÉ1_.,-'()é\u0303 "), max_size=20))
def test_tokens_are_those_of_the_reader(text: str) -> None:
    spaced = re.sub(" +", " ", text).strip()
    assert words(NLP, spaced) == TOKEN.findall(spaced)


def test_storage() -> None:
    stored = spacy.blank("xx").from_bytes(NLP.to_bytes())
    assert words(stored, "a.b(c)") == [*"a.b(c)"]

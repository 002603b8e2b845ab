"""Components that another pipeline has trained."""

import spacy
from helpers.tagged import train


def test_a_sourced_component_reads_words_that_its_own_vocabulary_lacks() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", source=train(target="tag"))
    tags = [token.tag_ for token in nlp("Zzyzx walks slowly to Qwert.")]
    assert tags == ["NNP", "VBZ", "RB", "TO", "NNP", "."]

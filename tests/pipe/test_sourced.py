"""Components that another pipeline has trained."""

import pytest
import spacy
from helpers.tagged import train


def test_a_sourced_component_reads_words_that_its_own_vocabulary_lacks() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", source=train(target="tag"))
    tags = [token.tag_ for token in nlp("Zzyzx walks slowly to Qwert.")]
    assert tags == ["NNP", "VBZ", "RB", "TO", "NNP", "."]


@pytest.mark.parametrize("factory", ["constraint_decoder", "set_valued_tagger"])
def test_a_component_that_asks_another_one_is_not_taken_from_another_pipeline(factory: str) -> None:
    first, second = train(target="tag"), train(target="tag")
    first.add_pipe(factory, config={"source": "crf_tagger", "target": "tag"})
    second.add_pipe(factory, source=first)
    with pytest.raises(ValueError, match="CRF454.*'crf_tagger'"):
        second("Anna walks.")
    own = second.get_pipe_config(factory)
    second.remove_pipe(factory)
    second.add_pipe(own.pop("factory"), config=own)
    assert second("Anna walks.")[1].tag_ == first("Anna walks.")[1].tag_

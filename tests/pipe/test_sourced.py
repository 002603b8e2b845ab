"""Components that another pipeline has made, and Docs of other pipelines."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers import citations, tagged
from helpers.tagged import train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

DICTIONARY = {"@misc": "spacy_crf.TagDictionary.v1", "use": "mask", "open_types": 2}
NEW = ["Zzyzx", "unmoors", "Qwert"]  # words that no pipeline of the tests knows


def taken_over(nlp: Language, factory: str = "crf_tagger") -> Language:
    other = spacy.blank("xx")
    other.add_pipe(factory, source=nlp)
    return other


def test_a_sourced_component_reads_words_that_its_own_vocabulary_lacks() -> None:
    tags = [token.tag_ for token in taken_over(train())("Zzyzx walks slowly to Qwert.")]
    assert tags == ["NNP", "VBZ", "RB", "TO", "NNP", "."]


@pytest.mark.parametrize("config", [{}, {"dictionary": DICTIONARY}], ids=["plain", "with a dictionary"])
def test_a_sourced_component_learns_and_tags_words_that_its_own_vocabulary_lacks(config: dict[str, Any]) -> None:
    nlp, first = taken_over(train(**config)), train(**config)
    own = [token.tag_ for token in first(Doc(first.vocab, words=NEW))]
    assert [token.tag_ for token in nlp(Doc(nlp.vocab, words=NEW))] == own
    gold = Doc(nlp.vocab, words=NEW, tags=["NNP", "VBZ", "NNP"])
    nlp.update([*tagged.make_examples(nlp), Example(Doc(nlp.vocab, words=NEW), gold)], sgd=nlp.resume_training())
    assert [token.tag_ for token in nlp(Doc(nlp.vocab, words=NEW))] == ["NNP", "VBZ", "NNP"]
    names = nlp.get_pipe("crf_tagger").features.state.names()  # type: ignore[attr-defined]
    assert "LOWER[0]=unmoors" in names


def test_a_sourced_component_is_initialised_with_words_that_its_own_vocabulary_lacks() -> None:
    nlp = taken_over(tagged.build(dictionary=DICTIONARY))
    examples = tagged.make_examples(nlp)
    tagged.fit(nlp, examples)
    assert nlp.evaluate(examples)["tag_acc"] == 1


def test_constraints_of_a_sourced_component_read_words_that_its_own_vocabulary_lacks() -> None:
    predicates = {"marked": ["Zzyzx"]}
    rules = [*citations.RULES, "state_change(marked, AUTHOR, AUTHOR) gap"]
    nlp = taken_over(citations.build(mine=citations.MINE, predicates=predicates, constraints=rules), "constrained_ner")
    examples = citations.make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert nlp(Doc(nlp.vocab, words=NEW)).ents


@pytest.mark.parametrize("config", [{}, {"target": "ent"}, {"dictionary": DICTIONARY}])
def test_docs_of_other_vocabularies_are_labelled_as_if_they_had_that_of_the_pipeline(config: dict[str, Any]) -> None:
    nlp, texts = train(**config), [["Ada", "sold", "flour", "."], ["Zzyzx", "sold", "Delft", "?"], ["Bo", "left"]]
    own = [doc.to_json() for doc in nlp.pipe(Doc(nlp.vocab, words=words) for words in texts)]
    vocabs = [nlp.vocab, spacy.blank("xx").vocab, spacy.blank("xx").vocab]
    found = nlp.pipe([Doc(vocab, words=words) for vocab, words in zip(vocabs, texts)])
    assert [doc.to_json() for doc in found] == own


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


def test_documents_of_another_pipeline_are_told_of_as_such() -> None:
    nlp = train(target="tag")
    nlp.add_pipe("set_valued_tagger", config={"source": "crf_tagger", "target": "tag"})
    doc = spacy.blank("xx").make_doc("Anna walks.")
    with pytest.raises(ValueError, match="CRF454.*another pipeline made the document.*from_bytes"):
        nlp(doc.copy())
    assert nlp(Doc(nlp.vocab).from_bytes(doc.to_bytes()))._.tag_set == nlp("Anna walks.")._.tag_set


def test_a_component_that_a_config_names_asks_the_one_that_is_trained(tmp_path: Path) -> None:
    first = train(target="tag")
    first.add_pipe("constraint_decoder", config={"source": "crf_tagger", "target": "tag"})
    first.to_disk(tmp_path)
    config = first.config.copy()
    config["components"]["constraint_decoder"] = {"source": str(tmp_path)}  # with the vocabulary of the new pipeline
    nlp = spacy.util.load_model_from_config(config)
    gold = [Example(Doc(nlp.vocab, words=NEW), Doc(nlp.vocab, words=NEW, tags=["X", "Y", "Z"]))]
    nlp.get_pipe("crf_tagger").initialize(lambda: gold, nlp=nlp)  # type: ignore[attr-defined]
    nlp.update(gold)
    assert [token.tag_ for token in nlp(Doc(nlp.vocab, words=NEW))] == ["X", "Y", "Z"]
    assert nlp.evaluate(gold)["tag_acc"] == 1

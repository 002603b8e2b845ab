"""Labels: from data, from a file, added; and what goes wrong with them."""

import warnings
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.tagged import TRAINERS, build, clean_docs, fit, make_examples, read_target, train
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam


def test_labels_come_sorted_from_the_data_and_from_a_list_as_they_are() -> None:
    nlp = build(target="ent")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("crf_tagger")
    assert pipe.labels == ("LOC", "PER") == tuple(pipe.label_data)
    other = build(target="ent").get_pipe("crf_tagger")
    other.initialize(unread, labels=["PER", "LOC", "PER"])
    assert other.labels == ("PER", "LOC")


def unread() -> Iterator[Example]:
    yield from islice(cycle(make_examples(build())), 100)  # which tell how texts are
    raise AssertionError("labels were given, so the corpus need not be read")


def test_the_corpus_is_read_once() -> None:
    nlp = build()
    examples, read = make_examples(nlp), []

    def get_examples() -> Iterator[Example]:
        for example in examples:
            read.append(example)
            yield example

    nlp.get_pipe("crf_tagger").initialize(get_examples)
    assert len(read) == len(examples) + 1 + min(len(examples), 100)  # the first ones tell how texts are


def test_initialize_again_starts_over_and_gives_the_same_bytes() -> None:
    nlp = build()
    examples = make_examples(nlp)
    fit(nlp, examples)
    first = nlp.get_pipe("crf_tagger").to_bytes()
    fit(nlp, examples)
    assert nlp.get_pipe("crf_tagger").to_bytes() == first


def test_labels_added_before_initialize_are_kept() -> None:
    nlp = build(target="ent")
    pipe = nlp.get_pipe("crf_tagger")
    assert pipe.add_label("ZOO") == 1 and pipe.add_label("ZOO") == 0
    nlp.initialize()
    assert pipe.labels == ("ZOO",)
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.labels == ("ZOO", "LOC", "PER")


@pytest.mark.parametrize("target", ["tag", "ent"])
@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_label_added_after_training_keeps_predictions_and_can_be_learned(trainer: str, target: str) -> None:
    nlp = train(trainer, target=target)
    pipe = nlp.get_pipe("crf_tagger")
    before = [read_target(doc, target) for doc in nlp.pipe(clean_docs(nlp))]
    scores = pipe.predict(clean_docs(nlp))
    pipe.add_label("NEW")
    assert [read_target(doc, target) for doc in nlp.pipe(clean_docs(nlp))] == before
    assert [p.tags.tolist() for p in pipe.predict(clean_docs(nlp))] == [p.tags.tolist() for p in scores]
    examples = [*make_examples(nlp), *novel_examples(nlp.vocab)]
    optimizer = Adam(0.1, L2=0.0)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer)
    doc = nlp("Brr zip")
    expected = [(1, 2, "NEW")] if target == "ent" else ["RB", "NEW"]
    assert read_target(doc, target) == expected


def novel_examples(vocab: Vocab) -> list[Example]:
    reference = Doc(vocab, words=["Brr", "zip"], tags=["RB", "NEW"], ents=["O", "B-NEW"])
    return [Example(Doc(vocab, words=["Brr", "zip"]), reference)]


@pytest.mark.parametrize("label", [7, None, ""])
def test_a_label_that_is_no_string_is_an_error(label: object) -> None:
    with pytest.raises(ValueError, match="CRF409"):
        build().get_pipe("crf_tagger").add_label(label)


@pytest.mark.parametrize("name", ["crf_tagger", "set_valued_tagger", "hmm_tagger"])
def test_tags_that_are_not_universal_are_not_loaded_as_such(name: str, tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(name)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.to_disk(tmp_path)
    with pytest.raises(ValueError, match=rf"CRF413.*'{name}'.*','"):
        spacy.load(tmp_path, config={"components": {name: {"target": "pos"}}})


def test_a_decoder_writes_no_other_tags_as_universal() -> None:
    nlp = train()
    nlp.add_pipe("constraint_decoder", config={"source": "crf_tagger", "target": "pos", "constraints": []})
    with pytest.raises(ValueError, match=r"CRF413.*'constraint_decoder'.*','"):
        nlp("Go !")


def test_a_universal_tag_must_be_one() -> None:
    nlp = build(target="pos")
    with pytest.raises(ValueError, match=r"CRF413.*'NNP'"):
        nlp.get_pipe("crf_tagger").add_label("NNP")
    with pytest.raises(ValueError, match=r"CRF413.*'NNP'"):
        nlp.get_pipe("crf_tagger").initialize(unread, labels=["NNP"])


def test_untrained_components_say_so() -> None:
    nlp = build()
    with pytest.raises(ValueError, match="CRF401"):
        nlp("Ada met Bo")
    nlp.get_pipe("crf_tagger").add_label("NN")
    with pytest.raises(ValueError, match="CRF401"):
        nlp("Ada met Bo")
    with pytest.raises(ValueError, match="CRF401"):
        nlp.update(make_examples(nlp))
    assert len(nlp("")) == 0


@pytest.mark.parametrize("target, named", [("tag", "token.tag"), ("spans", "doc.spans"), ("ent", "doc.ents")])
def test_data_without_the_annotation_is_an_error_that_names_it(target: str, named: str) -> None:
    nlp = build(target=target)
    doc = Doc(nlp.vocab, words=["a", "b"])
    with pytest.raises(ValueError, match=rf"CRF402.*{named}"):
        nlp.initialize(lambda: [Example(doc.copy(), doc)])


def test_a_label_that_initialize_has_not_seen_is_an_error() -> None:
    nlp = build()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples[1:2])
    with pytest.raises(ValueError, match=r"CRF403.*'NNP'.*Ada met Bo.*add_label.*start"):
        nlp.update(examples)


def test_a_component_of_another_pipeline_is_named_as_it_is_called_here() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", name="places", source=build(target="ent"))
    examples = make_examples(nlp)
    nlp.get_pipe("places").initialize(unread, labels=["LOC", "PER", "ORG"])
    other = spacy.blank("en")
    other.add_pipe("places", name="again", source=nlp)
    other.update(examples, sgd=False)
    with pytest.warns(UserWarning, match="CRFW401.*'again'"):
        other.get_pipe("again").finish_update(None)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_a_label_without_an_example_gives_one_warning(n_parts: int) -> None:
    nlp = build(target="ent")
    examples = make_examples(nlp)
    pipe = nlp.get_pipe("crf_tagger")
    pipe.initialize(unread, labels=["LOC", "PER", "ORG"])
    for part in np.array_split(np.arange(len(examples)), n_parts):
        nlp.update([examples[k] for k in part], sgd=False)
    with pytest.warns(UserWarning, match="CRFW401.*never predicted well: ORG") as caught:
        pipe.finish_update(None)
    assert len(caught) == 1


def test_tags_that_an_earlier_component_sets_are_told_as_they_stay() -> None:
    """What the later one finds would be seen by nobody, and its score be that of the earlier one."""

    def told(first: str, first_config: dict[str, str], **config: object) -> list[str]:
        nlp = build(**config)
        nlp.add_pipe(first, "first", config=first_config, first=True)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            nlp.initialize(lambda: make_examples(nlp))
        return [str(one.message) for one in found if "CRFW421" in str(one.message)]

    for first, first_config in (("tagger", {}), ("crf_tagger", {"target": "tag"})):
        (message,) = told(first, first_config, target="tag")
        assert "'first'" in message
        assert not told(first, first_config, target="tag", overwrite=True)
        assert not told(first, first_config, target="tag", given=True)
        assert not told(first, first_config, target="ent")
    assert not told("crf_tagger", {"target": "ent"}, target="tag")

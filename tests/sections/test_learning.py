"""Weights of the tree, learned from gold trees."""

import json
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_crf.annotation.extensions import read_value
from spacy_crf.core.arrays import Doubles
from spacy_crf.core.sections.features import weight_vector
from spacy_crf.sections.layout import units_of
from spacy_crf.sections.parsing import LabelRoles, StackParser, gold_sections, learn_tree
from spacy_crf.sections.reader import SectionCorpus
from spacy_crf.sections.spans import TREE, drop_sections

ROLES = LabelRoles.parse("test", {})


def learn(examples: list[Example]) -> Doubles | None:
    """With labels of which nothing is known."""

    def even(_: list[Example], own: list[Example]) -> list[Doubles]:
        return [np.full((len(units_of(example.predicted)), 4), 0.25) for example in own]

    parser = StackParser(24)
    learn_tree(parser, examples, even, ROLES, ("elements", "sections"), 0.05)
    return parser.weights


def test_gold_sections_have_the_units_of_the_document(folder: Path) -> None:
    example = next(iter(SectionCorpus(folder)(spacy.blank("en"))))
    sections = gold_sections(example.reference._.section_tree, units_of(example.predicted))
    assert [section.level for section in sections] == [1, 2, 2, 1]
    texts = [example.predicted.text[unit.start : unit.end] for unit in units_of(example.predicted)]
    assert [[texts[unit] for unit in section.heading] for section in sections][:2] == [["1.", "Delivery"], ["1.1"]]


def test_weights_move_from_those_set_by_hand(trained: Language) -> None:
    weights = trained.get_pipe("section_parser").tree_parser.weights
    assert weights is not None and not np.allclose(weights, weight_vector())


def test_labels_of_the_tree_come_from_chains_that_did_not_see_the_document(folder: Path) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser")
    examples = list(SectionCorpus(folder)(nlp))
    nlp.initialize(lambda: examples)
    (alone,) = pipe._hold_out(examples[1:], examples[:1])
    nlp.update(examples, sgd=nlp.create_optimizer())
    own = pipe.role_probabilities(examples[0].predicted)
    assert alone.shape == own.shape and np.allclose(alone.sum(axis=1), 1, atol=1e-5)
    assert own.max(axis=1).mean() > alone.max(axis=1).mean()  # surer of what it was trained on


def test_without_trees_nothing_is_learned(folder: Path) -> None:
    assert learn(list(SectionCorpus(folder, trees=False)(spacy.blank("en")))) is None


def test_a_tree_that_no_parse_can_have_is_left_out_with_a_warning(folder: Path) -> None:
    examples = list(SectionCorpus(folder)(spacy.blank("en")))
    reference = examples[0].reference
    tree = read_value(reference, TREE)
    for section in tree["sections"]:
        section["level"] += 2  # leaves two levels out
    with pytest.warns(UserWarning, match="CRFW965"):
        left = learn(examples)
    right = learn(examples[1:])
    assert left is not None and right is not None and np.allclose(left, right)


def test_weights_are_readable_data() -> None:
    weights = weight_vector() * 1.1
    parser = StackParser(24)
    parser.from_data(StackParser(24, weights).to_data())
    assert np.array_equal(parser.weights, weights)
    parser.from_data(StackParser(24).to_data())
    assert parser.weights is None


def test_weights_that_cannot_be_read_are_named(trained: Language, tmp_path: Path) -> None:
    pipe = trained.get_pipe("section_parser")
    pipe.to_disk(tmp_path / "pipe")
    (tmp_path / "pipe" / "tree").write_text('{"a": 1}')
    with pytest.raises(ValueError, match="CRF426.*tree"):
        spacy.blank("en").add_pipe("section_parser").from_disk(tmp_path / "pipe")
    sums = tmp_path / "pipe" / "checksums.json"
    sums.write_text(json.dumps({**json.loads(sums.read_text()), "tree": None}))
    with pytest.raises(ValueError, match="CRF404.*tree"):
        spacy.blank("en").add_pipe("section_parser").from_disk(tmp_path / "pipe")


def test_trees_of_other_tools_are_learned_from(folder: Path) -> None:
    examples = list(SectionCorpus(folder)(spacy.blank("en")))
    expected = learn(examples)
    for example in examples:
        spans = [(span.start, span.end) for span in example.reference.spans["sections"]]
        drop_sections(example.reference, "sections")
        example.reference.spans["sections"] = [example.reference[start:end] for start, end in spans]
    assert np.allclose(learn(examples), expected)

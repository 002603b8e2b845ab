"""Weights of the tree, learned from gold trees."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span

from spacy_crf.components.sections.learning import (
    gold_sections,
    learn_tree_weights,
    read_weights,
    write_weights,
)
from spacy_crf.components.sections.roles import Roles
from spacy_crf.core.grammar.sections.scoring import weight_vector
from spacy_crf.corpora.sections import SectionCorpus
from spacy_crf.units.layout import units_of

ROLES = Roles.parse("test", {})


def test_gold_sections_have_the_units_of_the_document(folder: Path) -> None:
    example = next(iter(SectionCorpus(folder)(spacy.blank("en"))))
    sections = gold_sections(example.reference._.section_tree, units_of(example.predicted))
    assert [section.level for section in sections] == [1, 2, 2, 1]
    texts = [example.predicted.text[unit.start : unit.end] for unit in units_of(example.predicted)]
    assert [[texts[unit] for unit in section.heading] for section in sections][:2] == [["1.", "Delivery"], ["1.1"]]


def test_weights_move_from_those_set_by_hand(trained: Language) -> None:
    weights = trained.get_pipe("section_parser")._tree_weights
    assert weights is not None and not np.allclose(weights, weight_vector())


def test_without_trees_nothing_is_learned(folder: Path) -> None:
    examples = list(SectionCorpus(folder, trees=False)(spacy.blank("en")))
    assert learn_tree_weights(examples, ROLES, "elements", 0.05) is None


def test_a_tree_that_no_parse_can_have_is_left_out_with_a_warning(folder: Path) -> None:
    examples = list(SectionCorpus(folder)(spacy.blank("en")))
    spans = examples[0].reference.spans["elements"]
    examples[0].reference.spans["elements"] = [
        Span(examples[0].reference, span.start, span.end, "TEXT_BLOCK") for span in spans
    ]
    with pytest.warns(UserWarning, match="CRFW965"):
        left = learn_tree_weights(examples, ROLES, "elements", 0.05)
    assert left is not None
    assert np.allclose(left, learn_tree_weights(examples[1:], ROLES, "elements", 0.05))


def test_weights_are_readable_data() -> None:
    weights = weight_vector() * 1.1
    assert np.array_equal(read_weights("test", write_weights(weights), "path"), weights)
    assert read_weights("test", write_weights(None), "path") is None
    with pytest.raises(ValueError, match="CRF404"):
        read_weights("test", b'{"a": 1}', "path")

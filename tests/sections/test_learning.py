"""Weights of the tree, learned from gold trees."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_crf.annotation.extensions import read_value
from spacy_crf.core.arrays import Doubles
from spacy_crf.core.sections.features import DEFAULT_WEIGHTS
from spacy_crf.sections.layout import units_of
from spacy_crf.sections.parsing import LabelRoles, StackParser, gold_sections, learn_tree
from spacy_crf.sections.reader import SectionCorpus
from spacy_crf.sections.spans import TREE, drop_sections

ROLES = LabelRoles.parse("test", {})


def learn(examples: list[Example]) -> dict[str, float] | None:
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
    assert weights is not None and any(abs(weights[name] - own) > 0.01 for name, own in DEFAULT_WEIGHTS.items())


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
    assert left is not None and right is not None and left == pytest.approx(right)


BOOKS = ("Leek soup", "Onion tart"), ("Rye bread", "Plum cake", "Oat pudding"), ("Pear pie",), ("Beet broth", "Trout")


def cookbook(dishes: Iterable[str]) -> list[tuple[str, int, str]]:
    """Blocks of a document in which each dish has two parts that are headed the same way."""
    blocks: list[tuple[str, int, str]] = []
    for dish in dishes:
        for level, title in ((1, dish), (2, "Ingredients"), (2, "Method")):
            blocks += [
                ("heading", level, title),
                ("text", 0, f"Of {dish.lower()} take two, and boil them for an hour."),
            ]
    return blocks


def test_levels_that_only_the_words_of_titles_tell_are_learned(tmp_path: Path) -> None:
    entries = [{"id": dishes[0], "lang": "en", "blocks": cookbook(dishes)} for dishes in BOOKS]
    (tmp_path / "books.jsonl").write_text("\n".join(map(json.dumps, entries)), encoding="utf8")
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    examples = list(SectionCorpus(tmp_path, rendering="plain")(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    loaded = spacy.blank("en")
    loaded.add_pipe("section_parser")
    loaded.from_bytes(nlp.to_bytes())
    text = "\n\n".join(text for _, _, text in cookbook(["Herring salad", "Quince jam"]))
    found = [[(node.level, node.title) for node in pipeline(text)._.section_tree.walk()] for pipeline in (nlp, loaded)]
    outline = [(level, title) for kind, level, title in cookbook(["Herring salad", "Quince jam"]) if kind == "heading"]
    assert found == [outline, outline]


def test_weights_are_readable_data() -> None:
    weights = {**{name: own * 1.1 for name, own in DEFAULT_WEIGHTS.items()}, "“method” after “ingredients”": 0.5}
    parser = StackParser(24)
    parser.from_data(StackParser(24, weights).to_data())
    assert parser.weights == weights
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
    assert learn(examples) == pytest.approx(expected)

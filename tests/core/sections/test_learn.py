"""Learning weights of the section parser from trees."""

import time
from dataclasses import replace

import numpy as np
import pytest
from helpers.sections import FEATURES, document, outline, random_weights, trees

from spacy_crf.core.sections.features import DEFAULT_WEIGHTS, LEARNED_FROM
from spacy_crf.core.sections.learn import (
    LEARNING,
    GoldHeading,
    GoldSection,
    LearnSettings,
    TreeExample,
    TreeLoss,
    gold_headings,
    gold_lattices,
    learn_weights,
)
from spacy_crf.core.sections.parse import ParserSettings, parse

LINES = ("N:1.", "X", "N:i.", "X", "N:ii.", "", "X", "N:3.1", "X")
GOLD = (GoldSection(1, (0,)), GoldSection(2, (2,)), GoldSection(2, (4,)), GoldSection(1, ()), GoldSection(2, (7,)))
OTHER = ("T:Facts", "X", "N:1.", "T:One", "X", "N:2.", "X")
OTHER_GOLD = (GoldSection(1, (0,)), GoldSection(1, (2, 3)), GoldSection(1, (5,)))


def examples() -> list[TreeExample]:
    return [TreeExample(document(LINES), GOLD), TreeExample(document(OTHER), OTHER_GOLD)]


def objective(weights: dict[str, float], c2: float = 0.1) -> TreeLoss:
    parser = ParserSettings(max_states=None)
    pairs = [gold_lattices(one, gold_headings(one), weights, parser) for one in examples()]
    return TreeLoss(pairs, np.array([DEFAULT_WEIGHTS.get(name, 0.0) for name in FEATURES]), c2)


def vector(weights: dict[str, float]) -> np.ndarray:
    return np.array(list(weights.values()))


def test_headings_of_a_gold_tree() -> None:
    expected = [(0, 1, 0, 0), (2, 3, 1, 0), (4, 5, 1, 0), (7, 8, 0, 1)]
    assert gold_headings(TreeExample(document(LINES), GOLD)) == [GoldHeading(*heading) for heading in expected]


def test_the_objective_is_the_log_probability_of_gold_trees() -> None:
    weights = random_weights(0)
    expected = 0.0
    for example in examples():
        gold = [(h.start, h.end, h.around, h.implied) for h in gold_headings(example)]
        every = list(trees(example.document, weights))
        right = [
            tree.score
            for tree in every
            if [(o.heading.start, o.heading.end, o.around, o.implied) for o in tree.opened] == gold
        ]
        assert right
        expected += float(np.logaddexp.reduce([tree.score for tree in every]) - np.logaddexp.reduce(right))
    assert objective(weights, c2=0.0)(vector(weights))[0] == pytest.approx(expected)


def test_the_gradient_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(1)
    function = objective(random_weights(1))
    weights = vector(random_weights(1))
    _, gradient = function(weights)
    for _ in range(5):
        direction = rng.normal(size=len(FEATURES))
        numeric = (function(weights + 1e-5 * direction)[0] - function(weights - 1e-5 * direction)[0]) / 2e-5
        assert gradient @ direction == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_what_is_learned_is_parsed() -> None:
    # a house style that the weights set by hand know nothing of: titles without numbers hang below numbers
    lines = ("N:1.", "X", "T:Facts", "X", "N:2.", "X", "T:View", "X", "N:3.", "X")
    levels = (1, 2, 1, 2, 1)
    gold = tuple(GoldSection(level, (2 * place,)) for place, level in enumerate(levels))
    assert [section.level for section in parse(document(lines)).sections] != list(levels)
    weights = learn_weights([TreeExample(document(lines), gold)], settings=LearnSettings(c2=0.01))
    found = parse(document(lines), weights)
    assert [section.level for section in found.sections] == list(levels)
    assert outline(found, lines)[1] == "  Facts"


def recipes(*names: str) -> tuple[str, ...]:
    return tuple(line for name in names for line in (f"T:{name}", "X", "T:Ingredients", "X", "T:Method", "X"))


def test_levels_that_only_words_tell_are_learned() -> None:
    books = [("Leek soup", "Onion tart"), ("Rye bread",), ("Pears in wine",)]
    gold = [tuple(GoldSection(1 + (k % 3 > 0), (2 * k,)) for k in range(3 * len(names))) for names in books]
    weights = learn_weights([TreeExample(document(recipes(*names)), own) for names, own in zip(books, gold)])
    lines = ("T:Soups", "X", *recipes("Barley broth", "Plum cake"))
    expected = ["Soups", "Barley broth", "  Ingredients", "  Method", "Plum cake", "  Ingredients", "  Method"]
    assert outline(parse(document(lines), weights), lines) == expected
    assert outline(parse(document(lines)), lines) == [title.strip() for title in expected]  # without training


def test_titles_that_recur_are_learned_whatever_their_words_are() -> None:
    def report(*titles: str) -> tuple[str, ...]:
        return tuple(line for title in titles for line in (f"T:{title}", "X"))

    inner = [("Costs", "Staff"), ("Boats", "Gear"), ("Rain", "Wind"), ("Soil", "Seeds")]
    outer = [("North", "South"), ("Spring", "Autumn"), ("Coast", "Hills"), ("Oats", "Rye")]
    found = [report(one, *pair, other, *pair) for pair, (one, other) in zip(inner, outer)]
    gold = tuple(GoldSection(1 + (k % 3 > 0), (2 * k,)) for k in range(6))
    weights = learn_weights([TreeExample(document(lines), gold) for lines in found])
    lines = report("Farm", "Cows", "Hens", "Mill", "Cows", "Hens", "End")
    expected = ["Farm", "  Cows", "  Hens", "Mill", "  Cows", "  Hens", "End"]
    assert outline(parse(document(lines), weights), lines) == expected


def test_the_gold_tree_is_never_dropped() -> None:
    weights = learn_weights(examples(), settings=LearnSettings(rounds=2), parser=ParserSettings(max_states=1, beam=0.1))
    assert np.isfinite(vector(weights)).all()


def test_a_loose_heading_stands_anywhere_below() -> None:
    lines = ("N:1.", "X", "N:a.", "X", "N:i.", "X", "N:2.", "X")
    gold = (GoldSection(1, (0,)), GoldSection(2, (2,), True), GoldSection(2, (4,), True), GoldSection(1, (6,)))
    example = TreeExample(document(lines), gold)
    assert [heading.loose for heading in gold_headings(example)] == [False, True, True, False]
    _, right = gold_lattices(example, gold_headings(example), DEFAULT_WEIGHTS, ParserSettings(None))
    depths = [{len(stack) for stack in layer} for layer in right.stacks]
    assert depths == [{0}, {1}, {2}, {2, 3}, {1}]


def test_gold_trees_of_thousands_of_stacks_are_searched_in_time() -> None:
    depth, numbers = 11, [f"N:{'ivcdxlm'[k % 7]}." for k in range(21)]  # a letter and a roman number each
    lines = tuple(line for number in numbers for line in (number, "X"))
    gold = tuple(GoldSection(min(k + 1, depth), (2 * k,)) for k in range(len(numbers)))
    example = TreeExample(document(lines), gold)
    begun = time.process_time()
    every, right = gold_lattices(example, gold_headings(example), DEFAULT_WEIGHTS, LEARNING)
    assert time.process_time() - begun < 10
    assert max(map(len, right.stacks)) > 40 * (LEARNING.max_states or 0)
    assert len(every.kept) >= len(right.kept)


def test_without_examples_weights_stay() -> None:
    assert learn_weights([]) == LEARNED_FROM


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ((GoldSection(1, (0,)), GoldSection(3, (2,))), "level 3"),
        ((GoldSection(1, ()),), "implied"),
        ((GoldSection(1, (0, 1)),), "no heading of the units 0 to 1"),
        ((GoldSection(1, (0,)),), "no section for a unit"),
    ],
)
def test_gold_trees_that_cannot_be_made(sections: tuple[GoldSection, ...], problem: str) -> None:
    example = TreeExample(replace(document(("N:1.", "X", "N:2.", "X")), name="some.xml"), sections)
    with pytest.raises(ValueError, match=f"CRF964.*some.xml.*{problem}"):
        learn_weights([example])


def test_kinds_of_which_trees_tell_nothing_are_forgotten() -> None:
    gold = [GoldSection(1, (0,)), GoldSection(2, (2,)), GoldSection(2, (4,))]
    weights = learn_weights([TreeExample(document(recipes(name)), tuple(gold)) for name in ("Soup", "Tart", "Bread")])
    assert "“method” after “ingredients”" in weights
    assert not any("recurring title" in name for name in weights)  # as when they are read again

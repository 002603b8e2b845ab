"""The section parser against all trees of small documents, written down by brute force."""

import math
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.sections import FEATURES, document, documents, outline, random_weights, spans, trees
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.sections.build import PAIR, build
from spacy_crf.core.sections.features import DEFAULT_WEIGHTS
from spacy_crf.core.sections.headings import ParserInput, find_headings
from spacy_crf.core.sections.lattice import StackLattice
from spacy_crf.core.sections.parse import ParserSettings, SectionParse, gains_ahead, parse
from spacy_crf.core.sections.scores import Scorer
from spacy_crf.core.sections.titles import kinds_in

EXACT = ParserSettings(max_states=None, margin=math.inf)


@settings(max_examples=40, deadline=None)
@given(documents(max_headings=4, max_units=7))
def test_the_best_tree_is_the_best_of_all(elements: ParserInput) -> None:
    weights = random_weights(len(elements))
    every = list(trees(elements, weights))
    best = max(every, key=lambda tree: tree.score)
    found = parse(elements, weights, EXACT)
    assert found.exact and found.dropped == 0
    assert found.score == pytest.approx(best.score)
    shown = [(section.heading[0], section.level) for section in found.sections if not section.virtual]
    ties = [tree for tree in every if tree.score > best.score - 1e-9]
    assert shown in [[(opened.heading.start, opened.level) for opened in tree.opened] for tree in ties]


@settings(max_examples=40, deadline=None)
@given(documents(max_headings=4, max_units=7))
def test_sums_and_probabilities_are_those_of_all_trees(elements: ParserInput) -> None:
    weights = random_weights(len(elements))
    every = list(trees(elements, weights))
    log_z = float(np.logaddexp.reduce([tree.score for tree in every]))
    found = parse(elements, weights, EXACT, probabilities=True)
    assert found.log_z == pytest.approx(log_z)
    for section in found.sections:
        shown = (section.start, section.end, section.reading if section.virtual else None, section.virtual)
        holding = [tree.score for tree in every if shown in spans(tree, len(elements))]
        assert section.probability == pytest.approx(np.exp(np.logaddexp.reduce(holding) - log_z), abs=1e-6)


def show(*lines: str) -> list[str]:
    return outline(parse(document(lines)), lines)


def test_sections_whose_number_implies_another_one_are_put_below_it() -> None:
    # the two cases of Trompper (2016): 3.1 and 3.2 after 2.
    assert show("N:1.", "X", "N:2.", "X", "N:3.1", "X", "N:3.2", "X") == ["1.", "2.", "[3]", "  3.1", "  3.2"]
    lines = ("N:1.", "X", "N:2.", "X", "N:3.1", "X", "N:3.2", "X", "N:4.", "X")
    assert show(*lines)[2:] == ["[3]", "  3.1", "  3.2", "4."]
    assert show("N:1.1.", "X", "N:1.2.", "X", "N:2.", "X") == ["[1.]", "  1.1.", "  1.2.", "2."]


def test_families_nest_in_each_other() -> None:
    lines = (
        *("N:PART I", "T:One", "N:1.", "T:Two", "N:1.1", "X", "N:(a)", "X", "N:(i)", "X", "N:(ii)", "X", "N:(b)", "X"),
        *("N:1.2", "X", "N:2.", "T:Six", "N:PART II", "T:End"),
    )
    assert show(*lines) == [
        *("PART I One", "  1. Two", "    1.1", "      (a)", "        (i)", "        (ii)", "      (b)", "    1.2"),
        *("  2. Six", "PART II End"),
    ]


def test_roman_stands_above_arabic_and_arabic_goes_on() -> None:
    lines = ("N:I.", "T:One", "N:1.", "X", "N:2.", "X", "N:II.", "T:Two", "N:3.", "X", "N:4.", "X")
    assert show(*lines) == ["I. One", "  1.", "  2.", "II. Two", "  3.", "  4."]


def test_an_ambiguous_letter_is_read_by_its_neighbours() -> None:
    letters = [line for letter in "abcdefghij" for line in (f"N:{letter}.", "X")]
    found = parse(document(letters))
    assert [section.level for section in found.sections] == [1] * 10
    assert [section.reading.values for section in found.sections if section.reading] == [(n,) for n in range(1, 11)]
    romans = parse(document(("N:1.", "X", "N:i.", "X", "N:ii.", "X", "N:2.", "X")))
    assert [section.level for section in romans.sections] == [1, 2, 2, 1]
    assert romans.sections[1].reading is not None and romans.sections[1].reading.family == "i"


def test_gaps_and_restarts() -> None:
    assert show("N:1.", "X", "N:2.", "X", "N:4.", "X") == ["1.", "2.", "4."]
    lines = ("T:FACTS", "N:1.", "X", "N:2.", "X", "T:VIEW", "N:1.", "X", "N:2.", "X")
    assert show(*lines) == ["FACTS", "  1.", "  2.", "VIEW", "  1.", "  2."]


def test_paragraphs_are_counted_through_titles() -> None:
    lines = ("T:PROCEDURE", "N:1.", "X", "N:2.", "X", "T:ASSESSMENT", "N:3.", "X", "N:4.", "X", "T:DECISION", "X")
    assert show(*lines) == ["PROCEDURE", "  1.", "  2.", "ASSESSMENT", "  3.", "  4.", "DECISION"]


def test_articles_are_counted_through_chapters() -> None:
    lines = (
        *("N:Chapter I", "T:A", "N:Article 1", "X", "N:Article 2", "X", "N:Chapter II", "T:B", "N:Article 3", "X"),
        *("N:Article 3a", "X", "N:Article 4", "X"),
    )
    assert [line.count("  ") for line in show(*lines)] == [0, 1, 1, 0, 1, 1, 1]


def test_ten_levels() -> None:
    numbers = [".".join("1" * n) for n in range(1, 11)]
    lines = [line for number in numbers for line in (f"N:{number}", "X")]
    assert [section.level for section in parse(document(lines)).sections] == list(range(1, 11))


def test_a_number_and_a_title_are_one_heading_over_blank_lines() -> None:
    found = parse(document(("N:1.", "", "T:Facts", "X", "N:2.", "T:View", "X")))
    assert [section.heading for section in found.sections] == [(0, 2), (4, 5)]
    assert [(section.start, section.end) for section in found.sections] == [(0, 4), (4, 7)]
    assert found.labels.tolist() == [0, 3, 1, 2, 0, 1, 2]


def test_documents_without_sections_or_with_nothing_else() -> None:
    empty = parse(document(()), probabilities=True)
    assert (empty.sections, empty.score, empty.log_z, len(empty.labels)) == ([], 0.0, 0.0, 0)
    assert parse(document(("X",))).sections == [] and parse(document(("",))).sections == []
    assert show("T:One") == ["One"] and show("N:1") == ["1"]
    assert show("N:1.", "N:2.", "N:3.") == ["1.", "2.", "3."]


def test_labels_are_decided_with_the_tree() -> None:
    # a year at the beginning of a line, and a number that stage 1 is not sure of
    lines = ("N:1.", "X", "N:2.", "X", "N:2016", "X", "N:3.", "X")
    scores = np.log(np.full((8, 4), 0.01))
    scores[::2, 0], scores[1::2, 2] = 0.0, 0.0
    scores[4, :] = np.log([0.6, 0.01, 0.4, 0.01])
    scores[6, :] = np.log([0.4, 0.01, 0.6, 0.01])
    assert parse(document(lines, scores)).labels.tolist() == [0, 2, 0, 2, 2, 2, 0, 2]


@settings(deadline=None)
@given(documents(max_headings=8, max_units=20))
def test_sections_hold_each_other_and_their_headings(elements: ParserInput) -> None:
    found = parse(elements)
    _check_shape(found, len(elements))


def _check_shape(found: SectionParse, n_units: int) -> None:
    used: set[int] = set()
    for place, section in enumerate(found.sections):
        assert 0 <= section.start < section.end <= n_units
        assert section.virtual == (not section.heading)
        assert not used.intersection(section.heading)
        used.update(section.heading)
        if section.parent >= 0:
            around = found.sections[section.parent]
            assert section.parent < place and section.level == around.level + 1
            assert around.start <= section.start and section.end <= around.end
        else:
            assert section.level == 1
    assert used == {unit for unit, label in enumerate(found.labels.tolist()) if label < 2}


def test_a_cap_says_what_it_dropped() -> None:
    lines = [line for n in range(1, 9) for line in (f"N:{n}.", "X", "N:(a)", "X", "N:(b)", "X")]
    capped, whole = (parse(document(lines), settings=ParserSettings(max_states=cap)) for cap in (4, 100_000))
    assert capped.dropped > 0 and capped.score <= whole.score
    narrow = parse(document(lines), settings=ParserSettings(max_states=2), probabilities=True)
    assert all(section.probability is not None and 0 < section.probability <= 1 for section in narrow.sections)
    assert narrow.log_z is not None and narrow.score <= narrow.log_z


@settings(max_examples=150, deadline=None)
@given(documents(max_headings=5, max_units=7), st.integers(1, 6), st.sampled_from((0.5, 2.0, 8.0)), st.integers(0, 999))
def test_a_capped_tree_that_is_exact_is_the_best_of_all(
    elements: ParserInput, cap: int, beam: float, seed: int
) -> None:
    weights = random_weights(seed) if seed % 4 else DEFAULT_WEIGHTS
    found = parse(elements, weights, ParserSettings(cap, beam, margin=math.inf))
    best = max(tree.score for tree in trees(elements, weights))
    assert found.score <= best + 1e-6
    assert isinstance(found.exact, bool)  # as JSON has it, not as numpy does
    if found.exact:
        assert found.score == pytest.approx(best, abs=1e-5)


def test_trees_that_a_cap_cost_nothing_are_known_to_be_the_best() -> None:
    # as trees of documents are: of 58 judgments 54 are certain at the usual cap, 2 were before there was a bound
    lines = ["T:FACTS", "X", "T:VIEW", "X"]
    for n in range(1, 13):
        lines += [f"N:{n}.", "X", f"N:{n}.1", "X", f"N:{n}.2", "X", "N:(a)", "X", "N:(b)", "X"]
    found = parse(document(lines), settings=ParserSettings(max_states=24))
    wide = parse(document(lines), settings=ParserSettings(max_states=1000, beam=20.0))
    assert found.dropped > 1000 and found.exact
    assert found.score == wide.score


def ambiguous(count: int) -> ParserInput:
    """Numbers that are likely to be text, each of twelve ways to open sections, none of which goes on with another."""
    lines = [f"N:{n}.i.v" for n in range(count)]
    return document(lines, np.log(np.tile([0.3, 1e-9, 0.7, 1e-9], (count, 1))))


def lattice_of(elements: ParserInput, work: float | None = None) -> StackLattice:
    """The lattice at the usual cap, with the work that a heading may take, the usual one if it is not given."""
    headings = find_headings(elements, 7.0)
    scorer = Scorer(DEFAULT_WEIGHTS, headings)
    search = replace(ParserSettings(max_states=24).search(with_arcs=True), ahead=gains_ahead(headings, scorer))
    scorer.compared = 0
    return build(headings, scorer, search if work is None else replace(search, work=work))


def work_of(lattice: StackLattice) -> int:
    assert lattice.arcs is not None
    return len(lattice.arcs.source) + PAIR * lattice.scorer.compared


def test_work_on_headings_of_many_readings_is_bounded() -> None:
    work = ParserSettings(max_states=24).search().work
    found, more, whole = lattice_of(ambiguous(600)), lattice_of(ambiguous(1200)), lattice_of(ambiguous(600), math.inf)
    assert work_of(found) < 0.4 * work_of(whole)
    assert work_of(more) - work_of(found) < 600 * 1.2 * work  # what is saved up is spent by then
    assert found.bound >= whole.best_score >= found.best_score


def test_outlines_take_a_part_of_the_work_that_they_may() -> None:
    lines = ["T:FACTS", "X", "T:VIEW", "X"]
    for n in range(1, 200):
        lines += [f"N:{n}.", "T:Title", f"N:{n}.1", "X", f"N:{n}.2", "X", "N:(a)", "X", "N:(b)", "X"]
    found, whole = (lattice_of(document(lines), limit) for limit in (None, math.inf))
    assert work_of(found) == work_of(whole) and found.dropped == whole.dropped
    assert work_of(found) < len(found.scorer.headings.units) * ParserSettings(max_states=24).search().work / 2


@settings(max_examples=150, deadline=None)
@given(documents(max_headings=5, max_units=7), st.integers(1, 6), st.integers(1, 40), st.integers(0, 999))
def test_a_tree_of_little_work_that_is_exact_is_the_best_of_all(
    elements: ParserInput, cap: int, work: int, seed: int
) -> None:
    weights = random_weights(seed) if seed % 4 else DEFAULT_WEIGHTS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spacy_crf.core.sections.build.SAVED", 1)
        patch.setattr("spacy_crf.core.sections.parse.WORK", 0)
        patch.setattr("spacy_crf.core.sections.parse.LEAST_WORK", work)
        found = parse(elements, weights, ParserSettings(cap, margin=math.inf))
    best = max(tree.score for tree in trees(elements, weights))
    assert found.score <= best + 1e-6
    if found.exact:
        assert found.score == pytest.approx(best, abs=1e-5)


def test_a_search_without_a_cap_has_a_bound_and_says_so() -> None:
    # ten headings in which every number may be text: all stacks of them would take a minute and a gigabyte
    with pytest.warns(CRFWarning, match=r"CRFW961.*The document.*1,000,000 moves.*best 100 stacks"):
        found = parse(ambiguous(40), settings=ParserSettings(max_states=None, margin=math.inf), probabilities=True)
    assert not found.exact and found.dropped > 0 and found.log_z is not None
    usual = parse(ambiguous(40), settings=ParserSettings(max_states=24, margin=math.inf))
    assert found.score >= usual.score - 1e-9


@settings(max_examples=60, deadline=None)
@given(documents(max_headings=5, max_units=7), st.integers(1, 200), st.integers(0, 999))
def test_a_tree_behind_that_bound_that_is_exact_is_the_best_of_all(elements: ParserInput, most: int, seed: int) -> None:
    weights = random_weights(seed) if seed % 4 else DEFAULT_WEIGHTS
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.setattr("spacy_crf.core.sections.build.MOST_MOVES", most)
        patch.setattr("spacy_crf.core.sections.build.INSTEAD", 2)
        found = parse(elements, weights, EXACT)
    best = max(tree.score for tree in trees(elements, weights))
    assert found.score <= best + 1e-6
    if found.exact:
        assert found.score == pytest.approx(best, abs=1e-5)


def test_no_pair_of_sections_scores_higher_than_the_bound() -> None:
    # more than three features may speak for one pair
    weights = dict.fromkeys(FEATURES, 1.0)
    lines = ("N:1.", "T:Facts", "N:2.1", "T:Facts", "N:(a)", "N:(b)", "N:(b)", "T:Costs")
    headings = find_headings(document(lines), math.inf, kinds_in(weights))
    scorer = Scorer(weights, headings)
    openings = range(len(scorer.levels.openings))
    levels = [scorer.levels.level(opening) for opening in openings]
    pairs = [bag(level, opening) for bag in (scorer.child, scorer.sibling) for level in levels for opening in openings]
    assert 3.0 < max(scorer.scores[bag] for bag in pairs) <= scorer.highest


def test_headings_that_are_found_again_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for n in range(1, 30) for line in (f"N:{n}.", "T:One", "X", f"N:{n}.1", "X", "N:(a)", "X")]
    before = parse(document(lines), probabilities=True)
    monkeypatch.setattr("spacy_crf.core.sections.headings.KEPT", 3)
    monkeypatch.setattr("spacy_crf.core.sections.scores.KEPT", 3)
    assert parse(document(lines), probabilities=True).sections == before.sections


def test_a_tree_that_is_deeper_than_allowed_is_not_passed_over_in_silence() -> None:
    numbers = [".".join("1" * n) for n in range(1, 8)]
    found = parse(document([f"N:{number}" for number in numbers]), settings=ParserSettings(max_depth=3))
    assert not found.exact and found.dropped > 0


def test_arrays_that_do_not_fit_are_refused() -> None:
    good = document(("N:1.", "X"))
    with pytest.raises(ValueError, match="CRF961"):
        ParserInput(good.label_scores[:1], good.readings, good.typography, good.top_titles, good.newlines)
    with pytest.raises(ValueError, match="CRF962"):
        ParserInput(good.label_scores[:, :1], good.readings, good.typography, good.top_titles, good.newlines)
    with pytest.raises(ValueError, match="CRF963"):
        ParserInput(np.full((2, 4), -np.inf), good.readings, good.typography, good.top_titles, good.newlines)


def test_a_weight_that_is_missing_is_0() -> None:
    lines = ("N:1.", "T:Facts", "N:2.", "T:Costs", "N:(a)", "N:(b)")
    found = parse(document(lines), {"successor": 2.0}, EXACT)
    assert found.score == parse(document(lines), {**dict.fromkeys(FEATURES, 0.0), "successor": 2.0}, EXACT).score > 0


def test_stacks_that_are_forgotten_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for n in range(1, 30) for line in (f"N:{n}.", "X", f"N:{n}.1", "X", "N:(a)", "X", "N:(b)", "X")]
    before = parse(document(lines))
    monkeypatch.setattr("spacy_crf.core.sections.build.FORGET", 5)
    after = parse(document(lines))
    assert (after.sections, after.score) == (before.sections, before.score)


def test_kinds_of_titles_are_found_in_linear_time() -> None:
    start = time.process_time()
    assert parse(document(("T:Facts", "X")), {**DEFAULT_WEIGHTS, "“" * 100_000: 0.0}).sections
    assert time.process_time() - start < 5

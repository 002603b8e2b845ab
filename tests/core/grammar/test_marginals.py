"""Sums over trees and expectations under them: against enumeration, fixed points and finite differences."""

import math

import numpy as np
import pytest
from helpers.grammars import Enumeration, problems, random_ring
from hypothesis import given

from spacy_crf.core.grammar.chart import Chart, DivergedLoopError, NoParseError, ParseScores, fill
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.marginals import ForestMarginals, LogSum


def log_z(grammar: Grammar, scores: ParseScores) -> float:
    return inside(grammar, scores).root(grammar.binary)


def inside(grammar: Grammar, scores: ParseScores) -> Chart:
    return fill(grammar.binary, scores, LogSum(grammar.binary))


def solved(problem) -> tuple[Enumeration, ForestMarginals] | None:
    listing = Enumeration(*problem)
    if not listing.ranked:
        with pytest.raises(NoParseError, match=r"CRF947.*document 7"):
            problem[0].marginals(problem[1])
        return None
    return listing, problem[0].marginals(problem[1])


@given(problems())
def test_expectations_are_those_of_the_enumeration(problem) -> None:
    if found := solved(problem):
        check(*found, tolerance=1e-9)


@given(problems(circles=True, max_units=3))
def test_expectations_with_unary_rules_in_a_circle(problem) -> None:
    if found := solved(problem):
        check(*found, tolerance=1e-3)  # the enumeration follows nine rules only


def check(listing: Enumeration, found: ForestMarginals, tolerance: float) -> None:
    assert found.log_z == pytest.approx(listing.log_z(), abs=tolerance)
    n = listing.scores.n_units
    symbols = found.grammar.symbols
    for label in (*listing.grammar.nonterminals, *listing.grammar.terminals):
        probable = found.spans(label)
        for first in range(n):
            for last in range(n):
                node = (label, first, last + 1)
                expected = listing.probability(lambda tree: node in tree.nodes())  # noqa: B023
                assert probable[first, last] == pytest.approx(expected, abs=tolerance)
                count = listing.expected(lambda tree: tree.nodes().count(node))  # noqa: B023
                assert found.nodes[symbols.index(label), first, last] == pytest.approx(count, abs=tolerance)
    for number, rule in enumerate(listing.grammar.rules):
        count = listing.expected(lambda tree: tree.rules().count((rule.parent, *rule.children)))  # noqa: B023
        assert found.rules[number] == pytest.approx(count, abs=tolerance)
    assert found.terminals().sum(axis=1) == pytest.approx(np.ones(n))


@given(problems(circles=True, max_units=5, min_units=1))
def test_expectations_are_the_slopes_of_log_z(problem) -> None:
    if inside_or_none(*problem):
        check_slopes(*problem)


@pytest.mark.parametrize("seed", range(6))
def test_slopes_where_unary_rules_lead_everywhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(-0.5, 0.3, (2, 2))
    check_slopes(random_ring(rng), ParseScores(rng.normal(0, 1, (2, 2)), {"A": table} if seed % 2 else {}))


def inside_or_none(grammar: Grammar, scores: ParseScores) -> Chart | None:
    try:
        return inside(grammar, scores)
    except NoParseError:
        return None


@pytest.mark.parametrize("seed", range(6))
def test_sums_over_circles_are_a_fixed_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grammar, terminals = random_ring(rng), rng.normal(0, 1, (1, 2))
    table = {"B": rng.normal(-0.5, 0.3, (1, 1))} if seed % 2 else {}
    values = dict.fromkeys("SABC", 0.0) | dict(zip("ab", np.exp(terminals[0]).tolist()))
    for _ in range(300):
        sums = dict.fromkeys("SABC", 0.0)
        for rule in grammar.rules:
            if len(rule.children) == 1:
                own = math.exp(table[rule.parent][0, 0]) if rule.parent in table else 1.0
                sums[rule.parent] += own * math.exp(rule.log_weight) * values[rule.children[0]]
        values |= sums
    chart, made = inside(grammar, ParseScores(terminals, table)), grammar.binary
    found = {label: math.exp(chart.by_start[made.symbols.index(label), 0, 1]) for label in values}
    assert found == pytest.approx(values)


def check_slopes(grammar: Grammar, scores: ParseScores) -> None:
    found = grammar.marginals(scores)
    step = 1e-5
    for number in range(len(grammar.rules)):
        change = step * (np.arange(len(grammar.rules)) == number)
        high, low = (log_z(grammar.with_log_weights(grammar.log_weights + sign * change), scores) for sign in (1, -1))
        assert (high - low) / (2 * step) == pytest.approx(found.rules[number], abs=1e-5)
    for label in scores.spans:
        first, last = 0, scores.n_units - 1
        values = []
        for sign in (1, -1):
            table = scores.spans[label].copy()
            table[first, last] += sign * step
            values.append(log_z(grammar, ParseScores(scores.terminals, {**scores.spans, label: table})))
        nodes = found.nodes[found.grammar.symbols.index(label)]
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(nodes[first, last], abs=1e-5)


def test_a_loop_adds_up_to_a_geometric_series() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> A [0.75] | a [0.5]")
    found = grammar.marginals(grammar.scores_of(["a"]))
    assert found.log_z == pytest.approx(math.log(0.5 / 0.25))
    assert found.rules == pytest.approx([3.0, 1.0])
    assert found.spans("A")[0, 0] == pytest.approx(1.0)
    assert found.nodes[1, 0, 0] == pytest.approx(4.0)


def test_a_score_of_a_span_counts_at_every_turn_of_a_loop() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> A [0.75] | a [0.5]")
    half = np.full((1, 1), math.log(0.5))
    assert log_z(grammar, grammar.scores_of(["a"], {"A": half})) == pytest.approx(math.log(0.25 / (1 - 0.375)))


@pytest.mark.parametrize("text", ["A -> A [1] | a", "A -> B [0.5] | C [0.6] | a\nB -> A\nC -> A", "A -> A [3] | a"])
def test_loops_without_a_finite_sum_are_an_error(text: str) -> None:
    grammar = Grammar.from_text(f"%start A\n%terminals a\n{text}")
    with pytest.raises(DivergedLoopError, match=r"CRF948.*A.*spectral radius"):
        log_z(grammar, grammar.scores_of(["a"]))


def test_a_loop_diverges_where_the_score_of_a_span_makes_it() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> A [0.5] | A A | a")
    table = np.zeros((2, 2))
    table[0, 1] = 0.7
    with pytest.raises(DivergedLoopError):
        log_z(grammar, grammar.scores_of(["a", "a"], {"A": table}))


def test_a_probability_is_asked_for_by_symbol() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a b\nA -> a b a")
    found = grammar.marginals(grammar.scores_of(["a", "b", "a"]))
    assert found.spans("a").tolist() == np.diag([1.0, 0.0, 1.0]).tolist()
    with pytest.raises(ValueError, match=r"CRF950.*'\.\.b a'"):
        found.spans("..b a")


def test_great_scores_and_long_documents_stay_finite() -> None:
    grammar = Grammar.from_text("%start T\n%terminals a b\nT -> T T [0.001] | a [1000] | b")
    rng = np.random.default_rng(5)
    found = grammar.marginals(ParseScores(rng.uniform(-1e4, 1e4, (60, 2))))
    assert np.isfinite(found.log_z)
    assert found.spans("T")[0, -1] == pytest.approx(1.0)
    assert found.rules == pytest.approx([59, *(found.terminals().sum(axis=0))])

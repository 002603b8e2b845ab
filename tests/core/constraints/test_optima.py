"""Every combination of objective, method, tau, hard and soft constraints and forbidden edges, against enumeration."""

import itertools
import math
import time
import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.constrained_chains import by_sequence, problems, random_chain, relax
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.constraints.block import DecodingSettings
from spacy_crf.core.constraints import ilp
from spacy_crf.core.constraints.automaton import best_labelling
from spacy_crf.core.constraints.decision import Decision, MethodSettings
from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.problem import Problem, Trellis, least_difference, penalty, violations
from spacy_crf.core.constraints.reasons import explain
from spacy_crf.core.constraints.strategy import decode
from spacy_crf.core.labels import TagSet

needs_solver = pytest.mark.skipif(not ilp.has_solver(), reason="PuLP has no solver here")
TAGS = TagSet(("A", "B", "C"), "none")
NEAR = 1e-5  # of scores, what solvers round


class Enumerated:
    """All labellings of a sequence, and the values that decide between them."""

    def __init__(self, chain, constraints, fields, predicates):
        self.constraints = constraints
        self.rows = {}
        for path, score in chain.paths():
            if score > -math.inf:
                broken = violations(constraints, Labelling(list(path), fields, predicates))
                hard = [index for index in broken if constraints[index].hard]
                soft = {index: times for index, times in broken.items() if index not in hard}
                relaxed = math.fsum(constraints[index].priority for index in hard)
                self.rows[path] = (relaxed, penalty(constraints, soft), score)
        self.best_score = max(score for *_, score in self.rows.values())

    def least_relaxed(self, tau=0.0):
        """The least sum of priorities, where the score is near the best."""
        return min(relaxed for relaxed, _, score in self.rows.values() if self.is_near(score, tau))

    def is_near(self, score, tau):
        return not tau or score >= self.best_score + math.log(tau)

    def best(self, objective, tau):
        """The value of the best labelling: sum of priorities, and what is great for the objective."""
        if objective == "score":
            return max((-relaxed, score - cost) for relaxed, cost, score in self.rows.values())
        rows = (row for row in self.rows.values() if self.is_near(row[2], tau))
        return max((-relaxed, -cost, score) for relaxed, cost, score in rows)

    def is_close(self, tau):
        """Whether a score is so near to the bound that solvers may round it to either side."""
        return any(abs(score - self.best_score - math.log(tau)) < NEAR for *_, score in self.rows.values())


@st.composite
def prioritised(draw, **given_settings):
    """Problems whose constraints have priorities near each other, or far."""
    potentials, chains, constraints, tags, predicates = draw(problems(**given_settings))
    prices = st.sampled_from([1.0, 1.05, 1.001, 3.0, 0.7])
    constraints = [replace(one, priority=draw(prices)) for one in constraints]
    return potentials, chains, constraints, tags, predicates


def check(decision: Decision, known: Enumerated, objective: str, tau: float, told: list[str], chosen: str) -> None:
    """Whether a decision says what is true."""
    relaxed, cost, score = known.rows[tuple(decision.labels.tolist())]
    assert decision.score == pytest.approx(score)
    hard = {index for index in (*decision.relaxed, *decision.violated) if known.constraints[index].hard}
    if chosen == "viterbi":
        assert not decision.relaxed and decision.method == "viterbi" and not told
        if not decision.certified:
            return
    assert set(decision.relaxed) == hard
    assert relaxed == pytest.approx(math.fsum(known.constraints[index].priority for index in hard))
    by_score = objective == "score"
    assert decision.objective == pytest.approx(score - cost if by_score else -cost)
    slack = 2e-6 * max(1.0, abs(score))
    expected = known.best(objective, tau)
    found = (-relaxed, score - cost) if by_score else (-relaxed, -cost, score)
    if decision.certified:
        assert found == pytest.approx(expected, abs=max(slack, NEAR)) and not decision.limits
    if not decision.relaxed:
        bounded = [row for row in known.rows.values() if row[0] == 0 and (by_score or known.is_near(row[2], tau))]
        best = max((score - cost if by_score else -cost) for _, cost, score in bounded)
        assert decision.bound >= best - max(slack, NEAR)
    if not by_score:
        assert score >= known.best_score + math.log(tau) - NEAR
    impossible = known.least_relaxed() > 0
    assert any("CRFW901" in one for one in told) <= impossible
    assert any("CRFW905" in one for one in told) <= (not by_score and not impossible and known.least_relaxed(tau) > 0)
    assert any("CRFW902" in one for one in told) == (not decision.certified and chosen != "viterbi")
    if decision.relaxed:
        assert any(code in one for one in told for code in ("CRFW901", "CRFW904", "CRFW905"))


def decided(case, **chosen):
    """(decision, what is known by enumeration, warnings) of each sequence."""
    potentials, chains, constraints, tags, predicates = case
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        decisions = decode(potentials, constraints, tags, predicates, MethodSettings(**chosen))
    for number, (one, chain, own) in enumerate(zip(decisions, chains, by_sequence(potentials, predicates))):
        if chain.length:
            told = [str(warning.message) for warning in caught if f"sequence {number}" in str(warning.message)]
            yield one, Enumerated(chain, constraints, Fields(tags), own), told


@settings(max_examples=60)
@given(
    prioritised(max_length=4),
    st.sampled_from(["auto", "viterbi", "lagrangian", "automaton"]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([3, 60, 400_000]),
)
def test_what_is_said_of_the_greatest_score_is_true(case, method, max_iterations, max_states):
    chosen = {"method": method, "max_iterations": max_iterations, "max_states": max_states}
    for decision, known, told in decided(case, **chosen):
        check(decision, known, "score", 1.0, told, method)
        if method in ("auto", "automaton") and max_states > 60:
            assert decision.certified


@needs_solver
@settings(max_examples=25)
@given(prioritised(max_length=3, min_length=1))
def test_what_the_solver_says_of_the_greatest_score_is_true(case):
    for decision, known, told in decided(case, method="ilp"):
        check(decision, known, "score", 1.0, told, "ilp")
        assert decision.certified


@needs_solver
@settings(max_examples=40)
@given(
    prioritised(max_length=3, min_length=1), st.sampled_from([1.0, 0.5, 0.1, 1e-4]), st.sampled_from(["ilp", "auto"])
)
def test_what_is_said_of_the_least_cost_is_true(case, tau, method):
    for decision, known, told in decided(case, method=method, objective="violations", tau=tau):
        if not known.is_close(tau):
            check(decision, known, "violations", tau, told, "ilp")
            assert decision.certified


RULES = ["at_most(A) cost=1", "requires(B, C) cost=2", "presence_precedence(C, A) cost=1.5", "at_least(B, 2) cost=0.7"]
RULES += ["adjacency(A, B) each cost=0.5", "excludes(A, C) cost=3", "starts_with(B) cost=1", "at_least(C, 1)"]


@needs_solver
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.1, 0.01]))
def test_problem_3_is_solved_where_the_best_labelling_has_the_greatest_score_minus_costs(seed, tau):
    """Such labellings were taken for the answer to problem (3)."""
    rng = np.random.default_rng(seed)
    potentials = random_chain(rng, [int(rng.integers(2, 5))], 3, span=1.0)
    constraints = parse_all(rng.choice(RULES, 3, replace=False).tolist())
    (chosen,) = decode(potentials, constraints, TAGS, settings=MethodSettings("ilp", objective="violations", tau=tau))
    scores = {}
    fields, rows = Fields(TAGS), potentials.batch.rows
    for path in itertools.product(range(3), repeat=len(rows)):
        own = np.array(path)
        score = potentials.emissions[rows, own].sum() + potentials.start[own[0]] + potentials.end[own[-1]]
        score += potentials.transitions[own[:-1], own[1:]].sum()
        seen = Labelling(list(path), fields, None)
        scores[path] = score, penalty(constraints, violations(constraints, seen))
    near = max(score for score, _ in scores.values()) + math.log(tau)
    costs = [cost for score, cost in scores.values() if score >= near + NEAR]
    allowed = [cost for cost in costs if cost < math.inf]
    if allowed:
        assert chosen.certified and not chosen.relaxed
        assert -chosen.objective <= min(allowed) + NEAR


@pytest.mark.parametrize("method", ["auto", "automaton", "lagrangian", "ilp"])
def test_of_priorities_near_each_other_the_lesser_is_relaxed(method):
    if method == "ilp" and not ilp.has_solver():
        pytest.skip("PuLP has no solver here")
    rng, proved = np.random.default_rng(0), 0
    for _ in range(25):
        potentials = random_chain(rng, [4], 3, span=8.0)
        order = rng.permutation(2)
        texts = np.array(["starts_with(A) priority=1.05", "starts_with(B)"])[order]
        with pytest.warns(UserWarning, match="CRFW901"):
            (found,) = decode(potentials, parse_all(texts.tolist()), TAGS, settings=MethodSettings(method))
        proved += found.certified
        if found.certified:
            assert [texts[index] for index in found.relaxed] == ["starts_with(B)"]
    assert proved == 25 or method == "lagrangian"


@given(st.lists(st.sampled_from([1.0, 1.05, 0.7, 3.0, 1.001, 1 / 3, 2.0]), min_size=1, max_size=4))
def test_different_sums_differ_by_at_least_what_is_said(numbers):
    sums = {math.fsum(chosen) for n in range(len(numbers) + 1) for chosen in itertools.combinations(numbers, n)}
    gaps = [later - before for before, later in itertools.pairwise(sorted(sums)) if later - before > 1e-9]
    assert min(gaps) >= least_difference(numbers) * (1 - 1e-6)


@pytest.mark.parametrize("method", ["viterbi", "lagrangian", "automaton"])
def test_the_objective_violations_is_refused_where_nothing_asks_for_it(method):
    with pytest.raises(ValueError, match=f"CRF922.*objective.*{method}"):
        MethodSettings(method, objective="violations")


@needs_solver
def test_tau_alone_is_not_called_a_contradiction():
    potentials = random_chain(np.random.default_rng(1), [4], 3, span=8.0)
    rules = parse_all(["at_most(A, 0)", "at_most(B, 0)"])
    with pytest.warns(UserWarning, match=r"CRFW905.*tau = 0.9"):
        (found,) = decode(potentials, rules, TAGS, settings=MethodSettings("ilp", objective="violations", tau=0.9))
    assert found.certified and found.relaxed
    rules = parse_all(["starts_with(A)", "starts_with(B)"])
    with pytest.warns(UserWarning, match="CRFW901"):
        decode(potentials, rules, TAGS, settings=MethodSettings("ilp", objective="violations", tau=1e-30))


@needs_solver
def test_explanations_are_about_the_objective_that_was_asked_for():
    potentials = random_chain(np.random.default_rng(3), [6], 3, span=0.7)
    rules = parse_all(["at_most(A, 3) unit cost=0.1", "starts_with(B|C) cost=0.1"])
    chosen = MethodSettings("ilp", objective="violations", tau=1e-6)
    (found,) = decode(potentials, rules, TAGS, settings=chosen)
    (by_score,) = decode(potentials, rules, TAGS)
    assert found.labels.tolist() != by_score.labels.tolist()
    changes = explain(potentials, 0, found, rules, TAGS, settings=chosen)
    assert changes
    for change in changes:
        for because in change.because:
            fewer = [rule for index, rule in enumerate(rules) if index not in because]
            (without,) = decode(potentials, fewer, TAGS, settings=chosen)
            assert without.labels[change.unit] == change.before


LONG = random_chain(np.random.default_rng(0), [60], 6, span=2.0)
SIX = TagSet(tuple("ABCDEF"), "none")
MANY = [f"at_most({a}, 1) each cost={0.3 + 0.1 * n}" for n, a in enumerate("ABCDEF")]
MANY += [f"excludes({a}, {b}) each cost=0.4" for a, b in itertools.combinations("ABCDEF", 2)]


def test_the_bound_of_the_relaxation_leaves_out_edges_but_no_better_labelling():
    chain = random_chain(np.random.default_rng(0), [40], 4, span=8.0)
    rules = parse_all([text for text in MANY if not set("EF") & set(text.split(")")[0])])
    tags = TagSet(tuple("ABCD"), "none")
    problem = Problem(Trellis.of(chain, chain.batch.rows), rules, Fields(tags), UnitPredicates(40))
    (run,) = relax([problem], 100)
    narrowed, exact = run.within(run.objective), best_labelling(problem)
    assert exact.finished and narrowed.trellis.n_edges < problem.trellis.n_edges / 2
    again = best_labelling(narrowed, [run.path])
    assert again.finished and again.objective == pytest.approx(exact.objective) and again.n_states < exact.n_states


def test_a_budget_of_seconds_keeps_the_best_so_far_and_says_so():
    (alone,) = decode(LONG, parse_all(MANY), SIX, settings=MethodSettings("lagrangian", 10, quiet=True))
    with pytest.warns(UserWarning, match="CRFW902.*Raise budget"):
        (found,) = decode(LONG, parse_all(MANY), SIX, settings=MethodSettings(budget=1e-9))
    assert "budget" in found.limits and not found.certified
    assert found.objective >= alone.objective and found.bound <= alone.bound + 1e-9


@pytest.mark.filterwarnings("ignore:.*CRFW90")
@pytest.mark.parametrize("method", ["auto", "ilp"])
def test_limits_are_settings_that_a_component_has(method):
    hasty = MethodSettings(method, max_iterations=1, max_states=1, max_arcs=1)
    (found,) = decode(LONG, parse_all(MANY), SIX, settings=hasty)
    has = {one.name for one in fields(DecodingSettings)}
    assert not found.certified and found.limits and set(found.limits) <= has


@pytest.mark.filterwarnings("ignore:.*CRFW902")
def test_all_reasons_of_a_sequence_have_one_budget():
    rules, hasty = parse_all(MANY), MethodSettings(budget=0.25)
    (found,) = decode(LONG, rules, SIX, settings=hasty)
    began = time.process_time()
    changes = explain(LONG, 0, found, rules, SIX, settings=hasty)
    assert time.process_time() - began < 0.5 * 0.25 * len(rules)
    assert all(change.because for change in changes) and changes


@needs_solver
def test_a_solver_that_fails_leaves_the_best_labelling_uncertified(monkeypatch):
    def die(*given):
        raise ValueError("it died")

    monkeypatch.setattr(ilp, "run_solver", die)
    potentials = random_chain(np.random.default_rng(1), [4], 3, span=1.0)
    rules = parse_all(["at_most(A, 0)", "at_most(B, 0) cost=2", "at_most(C, 0) cost=1"])
    with pytest.warns(UserWarning, match="CRFW902"), pytest.warns(UserWarning, match="CRFW903.*stands: it died"):
        (found,) = decode(potentials, rules, TAGS, settings=MethodSettings("auto", objective="violations"))
    assert not found.certified and found.method == "viterbi" and found.gap > 0

"""All methods against enumeration, and what their bounds promise."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.constrained_chains import (
    best_objective,
    by_sequence,
    objectives,
    problems,
    random_chain,
    random_predicates,
    relax,
    single_problems,
    softened,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.chain.potentials import NoPathError
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.constraints import ilp
from spacy_crf.core.constraints.automaton import best_in_product, best_labelling, product_of
from spacy_crf.core.constraints.decision import MethodSettings
from spacy_crf.core.constraints.labelling import Fields, UnitPredicates
from spacy_crf.core.constraints.lagrangian import Steps, project
from spacy_crf.core.constraints.language import parse, parse_all
from spacy_crf.core.constraints.problem import Problem, Trellis
from spacy_crf.core.constraints.strategy import decode
from spacy_crf.core.labels import TagSet

quiet = pytest.mark.filterwarnings("ignore:.*CRFW90")


@given(problems(max_length=4))
def test_charged_arcs_and_values_equal_enumeration(case):
    for problem, chain, predicates in single_problems(case):
        expected = objectives(chain, problem.constraints, problem.fields, predicates)
        local = [one for one in problem.constraints if one.is_local]
        without = objectives(chain, local, problem.fields, predicates)
        for path, objective in expected.items():
            tags = np.array(path, dtype=np.int32)
            assert problem.value(tags).objective == pytest.approx(objective)
            assert problem.charged.score(tags) == pytest.approx(without[path])
            assert objective == -np.inf or objective >= problem.floor - 1e-9
            assert chain.score(path) == -np.inf or chain.score(path) >= problem.trellis.floor - 1e-9
        assert problem.trellis.bound == pytest.approx(chain.best_score())


@given(problems(max_length=4), st.booleans())
def test_the_product_is_exact(case, whole):
    for problem, chain, predicates in single_problems(case):
        values = objectives(chain, problem.constraints, problem.fields, predicates)
        best = max(values.values())
        if whole:
            product = product_of([problem.constraints[index] for index in problem.left], problem.fields, predicates)
            found = best_in_product(problem.charged, product)
        else:
            found = best_labelling(problem)
        assert found.finished and found.objective == pytest.approx(best) and found.bound == pytest.approx(best)
        assert (found.path is None) == (best == -np.inf)
        if found.path is not None:
            assert values[tuple(found.path.tolist())] == pytest.approx(best)
            assert best_labelling(problem, [found.path]).objective == pytest.approx(best)


@given(problems(max_length=4), st.integers(1, 12))
def test_a_product_that_is_too_large_still_bounds(case, max_states):
    for problem, chain, predicates in single_problems(case):
        best = best_objective(chain, problem.constraints, problem.fields, predicates)
        found = best_labelling(problem, max_states=max_states)
        assert found.finished or found.bound >= best - 1e-9
        assert found.objective <= best + 1e-9


@pytest.mark.parametrize("rule", ["polyak", "harmonic"])
@settings(max_examples=40)
@given(problems(max_length=4))
def test_dual_optimum_and_primal_are_in_order_at_each_iteration(rule, case):
    for problem, chain, predicates in single_problems(case):
        values = objectives(chain, problem.constraints, problem.fields, predicates)
        best = max(values.values())
        if problem.charged.bound == -np.inf:
            assert best == -np.inf
            with pytest.raises(NoPathError):
                relax([problem], 5, rule)
            continue
        (found,) = relax([problem], 40, rule)
        slack = 1e-8 * max(1.0, abs(best)) if best > -np.inf else 0.0
        assert all(dual >= best - slack and objective <= best + slack for dual, objective in found.history)
        assert len(found.history) <= 40
        assert found.bound >= best - slack
        if found.path is not None:
            assert values[tuple(found.path.tolist())] == pytest.approx(found.objective)
        if found.certified:
            assert found.objective == pytest.approx(best, abs=2e-6 * max(1.0, abs(found.score)))


def test_relaxation_answers_each_problem_as_if_it_were_alone():
    rng = np.random.default_rng(5)
    potentials = random_chain(rng, [6, 1, 4, 6], 3)
    tags, constraints = TagSet(("A", "B", "C"), "none"), parse_all("at_most(A) cost=1\nrequires(B, C)\nat_least(A, 2)")
    fields = Fields(tags)
    bounds = np.concatenate([[0], np.cumsum(potentials.batch.lengths)])
    own = [
        Problem(
            Trellis.of(potentials, potentials.batch.rows[low:high]),
            constraints,
            fields,
            UnitPredicates(int(high - low)),
        )
        for low, high in itertools.pairwise(bounds)
    ]
    together = relax(own, 30)
    for problem, found in zip(own, together):
        (alone,) = relax([problem], 30)
        np.testing.assert_allclose(alone.history, found.history)


@quiet
@settings(max_examples=40)
@given(problems(max_length=4))
def test_one_call_equals_enumeration_and_relaxes_as_little_as_it_can(case):
    potentials, chains, constraints, tags, predicates = case
    fields = Fields(tags)
    for method in ("auto", "automaton"):
        decisions = decode(potentials, constraints, tags, predicates, MethodSettings(method=method))
        assert len(decisions) == len(chains)
        for decision, chain, own in zip(decisions, chains, by_sequence(potentials, predicates)):
            assert decision.certified and decision.gap <= 2e-6 * max(1.0, abs(decision.score))
            values = objectives(chain, constraints, fields, own)
            best = max(values.values())
            assert bool(decision.relaxed) == (best == -np.inf)
            kept = [one for index, one in enumerate(constraints) if index not in decision.relaxed]
            under_kept = objectives(chain, kept, fields, own)
            path = tuple(decision.labels.tolist())
            assert under_kept[path] == pytest.approx(decision.objective)
            assert decision.objective == pytest.approx(max(under_kept.values()), abs=2e-6 * max(1, abs(decision.score)))
            assert decision.score == pytest.approx(chain.score(path))
            assert decision.viterbi_score == pytest.approx(chain.best_score())
            if decision.relaxed:
                assert len(decision.relaxed) == fewest_to_relax(chain, constraints, fields, own)


def fewest_to_relax(chain, constraints, fields, predicates) -> int:
    hard = [index for index, one in enumerate(constraints) if one.hard]
    for number in range(len(hard) + 1):
        for left_out in itertools.combinations(hard, number):
            kept = [one for index, one in enumerate(constraints) if index not in left_out]
            if best_objective(chain, kept, fields, predicates) > -np.inf:
                return number
    raise AssertionError


@quiet
@given(problems(max_length=4), st.sampled_from(["auto", "lagrangian", "automaton"]))
def test_cost_0_is_viterbi_and_a_great_cost_is_hard(case, method):
    potentials, _, constraints, tags, predicates = case
    free = decode(potentials, softened(constraints, 0.0), tags, predicates, MethodSettings(method=method))
    paths = viterbi(potentials).labels[potentials.batch.rows]
    assert np.concatenate([one.labels for one in free]).tolist() == paths.tolist()
    assert all(one.method == "viterbi" and one.certified for one in free)
    hard = decode(potentials, softened(constraints, np.inf), tags, predicates, MethodSettings(method="automaton"))
    dear = decode(potentials, softened(constraints, 1e7), tags, predicates, MethodSettings(method="automaton"))
    for one, other in zip(hard, dear):
        if not one.relaxed:
            assert other.objective == pytest.approx(one.objective) and not other.violated


@quiet
@given(problems(max_length=4, costs=False))
def test_more_constraints_never_score_more(case):
    potentials, _, constraints, tags, predicates = case
    some = decode(potentials, constraints[:-1], tags, predicates)
    all_of_them = decode(potentials, constraints, tags, predicates)
    for fewer, more in zip(some, all_of_them):
        if not more.relaxed and not fewer.relaxed:
            assert more.score <= fewer.score + 1e-9


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.floats(0.0, 10))
def test_projection_is_the_nearest_point(values, cap):
    values = np.array(values)
    found = project(values, cap)
    assert np.all(found >= 0) and found.sum() <= cap + 1e-9
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = rng.dirichlet(np.ones(len(values) + 1))[:-1] * cap
        assert np.sum((found - values) ** 2) <= np.sum((other - values) ** 2) + 1e-9


def test_projection_survives_rounding():
    assert project(np.array([1e17, 1e17]), 0.5).sum() <= 0.5
    assert project(np.array([3.0, 4.0]), np.inf).tolist() == [3.0, 4.0]


def test_harmonic_steps_are_those_of_the_paper():
    steps, values = Steps("harmonic"), np.array([3.0, -4.0])
    for k in range(3):
        np.testing.assert_allclose(steps.move(values, 1.0, 1.0, 0.0), values / 5 / (k + 1))
    assert Steps().move(np.zeros(2), 1.0, 1.0, 0.0).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(Steps().move(values, 3.0, 3.0, 1.0), values * 2 / 25)


LONG = parse_all(
    """
    at_most(A, 3) cost=3
    presence_precedence(A, B) cost=2
    adjacency(C, D) each cost=0.5
    at_least(D, 2)
    requires(A, D)
    starts_with(A|B)
    """
)


@quiet
@pytest.mark.parametrize("method", ["auto", "viterbi", "lagrangian", "automaton"])
def test_sequences_of_one_unit_of_five_thousand_and_of_none(method):
    potentials = random_chain(np.random.default_rng(2), [1, 5000, 0], 4, span=8.0)
    chosen = MethodSettings(method, max_iterations=3, max_states=30_000)
    found = decode(potentials, LONG, TagSet(("A", "B", "C", "D"), "none"), settings=chosen)
    assert [len(one.labels) for one in found] == [1, 5000, 0]
    assert found[2].certified and found[2].objective == 0.0
    assert all(one.bound >= one.objective for one in found)
    if method in ("auto", "automaton"):
        assert found[0].certified and found[0].relaxed == (3,)


def test_relaxing_looks_at_priorities_and_names_the_sequence():
    potentials = random_chain(np.random.default_rng(0), [3, 3], 2)
    tags = TagSet(("A", "B"), "none")
    constraints = parse_all("starts_with(A) priority=3\nstarts_with(B)\nat_most(A, 0) priority=1.5\nends_with(A)")
    with pytest.warns(UserWarning, match="CRFW901") as caught:
        found = decode(potentials, constraints, tags, names=["first", "second"])
    assert [one.relaxed for one in found] == [(1, 2), (1, 2)]
    for name, one in zip(["'first'", "'second'"], caught, strict=True):
        assert name in str(one.message) and "starts_with(B), at_most(A, 0)" in str(one.message)
    for one in found:
        assert one.certified and one.labels[0] == one.labels[-1] == 0 and not one.violated


@quiet
def test_what_cannot_be_certified_is_said_to_be_so():
    potentials = random_chain(np.random.default_rng(1), [30], 4, span=0.5)
    constraints = parse_all("at_least(A, 4)\nat_most(B, 1)\npresence_precedence(A, C)\nrequires(D, C)\nexactly(D, 3)")
    tags = TagSet(("A", "B", "C", "D"), "none")
    (short,) = decode(potentials, constraints, tags, settings=MethodSettings("automaton", max_states=20))
    (whole,) = decode(potentials, constraints, tags, settings=MethodSettings("automaton"))
    assert whole.certified and not whole.relaxed and not whole.violated
    assert not short.certified and short.gap > 0
    with pytest.warns(UserWarning, match="CRFW902.*sequence 0.*gap"):
        decode(potentials, constraints, tags, settings=MethodSettings("automaton", max_states=20))


@quiet
def test_hard_constraints_that_could_not_be_kept_in_time_are_not_called_contradictory(monkeypatch):
    monkeypatch.setattr(ilp, "available_solvers", lambda: ())
    potentials = random_chain(np.random.default_rng(1), [400], 3, span=5.0)
    tags, constraints = TagSet(("A", "B", "C"), "none"), [parse("excludes(A, B)")]
    with pytest.warns(UserWarning, match=r"CRFW904.*sequence 0.*excludes\(A, B\)"):
        (short,) = decode(potentials, constraints, tags, settings=MethodSettings(max_iterations=1, max_states=50))
    assert short.relaxed == (0,) and not short.certified
    (whole,) = decode(potentials, constraints, tags, settings=MethodSettings(max_iterations=1))
    assert whole.certified and not whole.relaxed and whole.method == "automaton"


def test_predicates_differ_from_sequence_to_sequence():
    rng = np.random.default_rng(3)
    potentials = random_chain(rng, [5, 5], 3)
    tags = TagSet(("A", "B", "C"), "none")
    predicates = random_predicates(rng, 10, 3)
    fixed = np.full(10, -1, dtype=np.int32)
    fixed[potentials.batch.rows[[1, 8]]] = [2, 0]
    found = decode(potentials, [parse("fixed()")], tags, replace(predicates, fixed=fixed))
    assert found[0].labels[1] == 2 and found[1].labels[3] == 0
    surfaces = np.empty(10, dtype=np.intp)
    surfaces[potentials.batch.rows] = [1, 2, 1, 3, 1, 5, 5, 5, 5, 5]
    found = decode(potentials, [parse("same_surface()")], tags, replace(predicates, surfaces=surfaces))
    assert len(set(found[1].labels.tolist())) == 1 and len(set(found[0].labels[[0, 2, 4]].tolist())) == 1


@pytest.mark.parametrize(
    ("settings_given", "message"),
    [
        ({"method": "magic"}, "CRF921.*'magic'.*automaton"),
        ({"step_rule": "long"}, "CRF922.*step_rule"),
        ({"max_iterations": 0}, "CRF922.*max_iterations"),
        ({"max_states": 0}, "CRF922.*max_states"),
        ({"time_limit": 0.0}, "CRF922.*time_limit"),
    ],
)
def test_settings_are_checked(settings_given, message):
    with pytest.raises(ValueError, match=message):
        MethodSettings(**settings_given)


def test_constraints_are_checked_before_anything_is_decoded():
    potentials = random_chain(np.random.default_rng(0), [2], 2)
    with pytest.raises(ValueError, match="CRF902.*'C'"):
        decode(potentials, [parse("at_most(C)")], TagSet(("A", "B"), "none"))
    with pytest.raises(ValueError, match="CRF906.*'comma'"):
        decode(potentials, [parse("boundary(comma)")], TagSet(("A", "B"), "none"))

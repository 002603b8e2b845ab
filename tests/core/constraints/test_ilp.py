"""Integer programmes against enumeration; solvers that are missing, stop early or die."""

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
from helpers.constrained_chains import objectives, problems, random_chain, single_problems
from hypothesis import given, settings

from spacy_crf.core.constraints import ilp
from spacy_crf.core.constraints.decision import MethodSettings
from spacy_crf.core.constraints.labelling import Fields, UnitPredicates
from spacy_crf.core.constraints.lagrangian import Steps
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.problem import Problem, Trellis
from spacy_crf.core.constraints.strategy import decode
from spacy_crf.core.labels import TagSet

CONSTRAINTS = parse_all("at_most(A)\nrequires(B, C)\npresence_precedence(C, A) cost=2\nat_least(B, 2) cost=1")
TAGS = TagSet(("A", "B", "C"), "none")
needs_solver = pytest.mark.skipif(not ilp.has_solver(), reason="PuLP has no solver here")


def some_chain(length=12):
    return random_chain(np.random.default_rng(4), [length], 3, span=0.7)


def plain_problem():
    return Problem(Trellis.of(some_chain(5), np.arange(5)), CONSTRAINTS, Fields(TAGS), UnitPredicates(5))


@needs_solver
@settings(max_examples=12)
@given(problems(max_length=3, min_length=1))
def test_the_greatest_score_equals_enumeration(case):
    for problem, chain, predicates in single_problems(case):
        values = objectives(chain, problem.constraints, problem.fields, predicates)
        best = max(values.values())
        found = ilp.solve(problem)
        assert found.infeasible == (best == -np.inf)
        if found.path is not None:
            assert found.optimal
            assert values[tuple(found.path.tolist())] == pytest.approx(best, abs=1e-6 * max(1, abs(best)))


@needs_solver
@settings(max_examples=12)
@given(problems(max_length=3, min_length=1, span=1.0))
def test_the_least_cost_near_the_best_score_equals_enumeration(case):
    tau = 0.3
    for problem, chain, predicates in single_problems(case):
        values = objectives(chain, problem.constraints, problem.fields, predicates)
        near = chain.best_score() + math.log(tau)
        costs = {
            path: (chain.score(path) - value, -chain.score(path))
            for path, value in values.items()
            if value > -np.inf and chain.score(path) >= near
        }
        found = ilp.solve(problem, "violations", tau)
        assert (found.path is None) == (not costs)
        if found.path is not None:
            path = tuple(found.path.tolist())
            assert chain.score(path) >= near - 1e-5
            assert costs[path] == pytest.approx(min(costs.values()), abs=1e-5)


@needs_solver
def test_the_method_ilp_agrees_with_the_others_and_says_so():
    (exact,) = decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings("automaton"))
    for solver in ilp.available_solvers():
        (found,) = decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings("ilp", solver=solver))
        assert found.method == "ilp" and found.certified
        assert found.objective == pytest.approx(exact.objective)
    (cheap,) = decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings("ilp", objective="violations", tau=1e-9))
    assert cheap.objective >= exact.objective - exact.score and cheap.certified and not cheap.relaxed


@needs_solver
def test_solvers_have_names_and_aliases():
    known = ilp.available_solvers()
    assert ilp.require_solver(None) == known[0]
    assert ilp.require_solver(known[-1]) == known[-1]
    for alias, names in ilp.ALIASES.items():
        if set(names) & set(known):
            assert ilp.require_solver(alias.upper()) in names
    with pytest.raises(ValueError, match="CRF924.*'Abacus'"):
        ilp.require_solver("Abacus")


@pytest.fixture
def no_solver(monkeypatch):
    monkeypatch.setattr(ilp, "available_solvers", lambda: ())


def test_without_a_solver_everything_else_works(no_solver):
    with pytest.raises(ValueError, match="CRF923.*pip install highspy"):
        decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings("ilp"))
    for method in ("auto", "automaton"):
        assert decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings(method))[0].certified


def test_without_pulp_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pulp", None)
    ilp.available_solvers.cache_clear()
    try:
        assert not ilp.has_solver()
        with pytest.raises(ValueError, match="CRF923.*pip install pulp"):
            ilp.require_solver(None)
    finally:
        ilp.available_solvers.cache_clear()


@needs_solver
def test_a_solver_that_dies_leaves_the_answer_to_other_methods(monkeypatch):
    def die(*given):
        raise ValueError("[CRF925] it died")

    monkeypatch.setattr(ilp, "run_solver", die)
    with pytest.warns(UserWarning, match="CRFW903.*'ref'.*it died"):
        (found,) = decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings("ilp"), names=["ref"])
    assert found.certified and found.method in ("lagrangian", "automaton")


@needs_solver
@pytest.mark.parametrize("solver", ilp.available_solvers() if ilp.has_solver() else ())
def test_solving_leaves_warnings_as_they_are(monkeypatch, solver):
    """Filters of warnings belong to the process: changed here, they would change for other threads."""
    import pulp

    before, solve = list(warnings.filters), pulp.LpProblem.solve

    def check(model, chosen):
        assert warnings.filters == before
        return solve(model, chosen)

    monkeypatch.setattr(pulp.LpProblem, "solve", check)
    assert ilp.solve(plain_problem(), solver=solver).optimal


@needs_solver
def test_errors_of_a_solver_are_coded(monkeypatch):
    import pulp

    def fail(model, solver):
        raise pulp.PulpError("no licence")

    monkeypatch.setattr(pulp.LpProblem, "solve", fail)
    problem = plain_problem()
    with pytest.raises(ValueError, match="CRF925.*no licence"):
        ilp.solve(problem)


@needs_solver
@pytest.mark.parametrize("found", [True, False])
def test_a_time_limit_gives_the_best_so_far(monkeypatch, found):
    solve = ilp.run_solver

    def stop(name, time_limit, model):
        assert 0 < time_limit <= 100.0
        solve(name, time_limit, model)
        return ilp.Outcome(found, False, False)

    monkeypatch.setattr(ilp, "run_solver", stop)
    problem = plain_problem()
    answer = ilp.solve(problem, time_limit=100.0)
    assert not answer.optimal and not answer.infeasible and (answer.path is not None) == found
    assert ilp.solve(problem, time_limit=1e-9) == (None, False, False)


@needs_solver
def test_long_sequences_and_wrong_settings_are_refused():
    problem = plain_problem()
    with pytest.raises(ValueError, match="CRF926.*39 arcs.*at most 10"):
        ilp.solve(problem, max_arcs=10)
    with pytest.raises(ValueError, match="CRF922.*tau"):
        MethodSettings("ilp", objective="violations", tau=0.0)
    with pytest.raises(ValueError, match="CRF922.*objective"):
        MethodSettings("ilp", objective="beauty")  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="CRFW903.*too long"):
        (found,) = decode(some_chain(), CONSTRAINTS, TAGS, settings=MethodSettings("ilp", max_arcs=10))
    assert found.certified


def test_names_that_are_none_are_refused():
    with pytest.raises(ValueError, match="CRF922.*objective.*'violation'.*score, violations"):
        ilp.solve(plain_problem(), "violation")
    with pytest.raises(ValueError, match="CRF922.*step_rule.*'polyack'.*polyak, harmonic"):
        Steps("polyack")


ALONE = """
import numpy as np
from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.constraints.decision import MethodSettings
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.strategy import decode
from spacy_crf.core.labels import TagSet

chain = ChainPotentials(pack(np.array([3])), np.eye(3), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
(found,) = decode(chain, parse_all("at_most(A, 0)"), TagSet(("A", "B", "C"), "none"), None, MethodSettings("ilp"))
print(found.method)
"""


@needs_solver
def test_solvers_write_nothing_to_standard_output():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert done.stdout == "ilp\n"

"""Online learners: their steps against written-out versions, lazy averages, latent gold, growth, what they refuse."""

import copy
import gc
import itertools
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.oracle import Chain

from spacy_crf.core.chain.objective import loss_and_gradient
from spacy_crf.core.chain.potentials import NonFiniteError, NoPathError, observe, potentials
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn import stochastic
from spacy_crf.core.learn.batches import cut_batches
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.mistakes import AROW, PassiveAggressive, Perceptron
from spacy_crf.core.learn.online import OnlineLearner, run_epochs
from spacy_crf.core.learn.single import SingleDecoder, single_gradient
from spacy_crf.core.learn.stochastic import AdaGrad, StochasticGradient
from spacy_crf.core.weights import ChainWeights, DenseWeights, Layout, gather, scatter

LENGTHS = (3, 1, 0, 4, 2, 3, 4, 1)
RULES = [Perceptron, PassiveAggressive, AROW]
LEARNERS = [*RULES, AdaGrad, StochasticGradient]
SETTINGS: dict[type[OnlineLearner], dict[str, Any]] = {
    Perceptron: {"averaging": True},
    PassiveAggressive: {"kind": "PA-I", "c": 1.0, "error_sensitive": True, "averaging": True},
    AROW: {"variance": 1.0, "gamma": 1.0},
    AdaGrad: {"learn_rate": 0.6, "damping": 3.0, "averaging": True, "units_per_batch": 2000},
    StochasticGradient: {"learn_rate": 0.01, "averaging": True},
}
SHAPES = [{}, {"edges": True, "masks": True}, {"boundary": False, "values": True}]


def build(make: type[OnlineLearner], **settings: Any) -> OnlineLearner:
    """A learner with some settings that differ from the usual ones."""
    return make(**{**SETTINGS[make], **settings})


def best_allowed(chain: Chain, gold: np.ndarray) -> tuple[int, ...]:
    """The best path whose labels all have gold weight, found by enumeration."""
    with np.errstate(divide="ignore"):
        log_gold = np.log(gold)
    scored = [(score + log_gold[range(len(path)), path].sum(), path) for path, score in chain.paths()]
    return max(scored, key=lambda pair: pair[0])[1]


def path_features(problem, low: int, path) -> np.ndarray:
    """The feature vector of a path through the units from `low` on, in the order of the layout."""
    counts = DenseWeights.zeros(problem.layout, np.float64)
    n = problem.layout.n_labels
    for offset, label in enumerate(path):
        counts.state[:, label] += problem.table[low + offset]
    for offset, (before, after) in enumerate(itertools.pairwise(path), 1):
        counts.transitions[before, after] += 1
        counts.edges[:, before * n + after] += problem.edge_table[low + offset][: len(counts.edges)]
    counts.start[path[0]] += 1
    counts.end[path[-1]] += 1
    flat = np.zeros(problem.layout.size)
    gather(problem.layout, counts, flat)
    return flat


class Written:
    """The algorithms as in the papers, with all features of all paths; averages by keeping every weight vector."""

    def __init__(self, learner: OnlineLearner, problem):
        self.learner, self.problem = learner, problem
        self.w = problem.flat.copy()
        self.variances = np.full(len(self.w), getattr(learner, "variance", 1.0))
        self.history = [self.w.copy()]

    def learn(self, order) -> None:
        bounds = np.concatenate([[0], np.cumsum(self.problem.corpus.lengths)])
        for number in order:
            if not self.problem.corpus.lengths[number]:
                continue
            self.problem.flat = self.w
            chain, gold = self.problem.chains()[number]
            predicted = best_allowed(chain, np.ones_like(gold))
            if (gold[range(len(predicted)), predicted] == 0).any():
                target = best_allowed(chain, gold)
                wrong = sum(a != b for a, b in zip(target, predicted))
                gold_features = path_features(self.problem, bounds[number], target)
                self.move(gold_features - path_features(self.problem, bounds[number], predicted), wrong)
            self.history.append(self.w.copy())

    def move(self, delta: np.ndarray, wrong: int) -> None:
        learner, behind = self.learner, max(0.0, -float(delta @ self.w))
        if isinstance(learner, Perceptron):
            self.w = self.w + delta
        elif isinstance(learner, PassiveAggressive):
            loss, norm = behind + (np.sqrt(wrong) if learner.error_sensitive else 1), delta @ delta
            rates = {"PA": loss / norm, "PA-I": min(learner.c, loss / norm), "PA-II": loss / (norm + 0.5 / learner.c)}
            self.w = self.w + rates[learner.kind] * delta
        elif isinstance(learner, AROW):
            rate = (behind + wrong) / (learner.gamma + delta**2 @ self.variances)
            self.w = self.w + rate * self.variances * delta
            self.variances = 1 / (1 / self.variances + delta**2 / learner.gamma)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "learner",
    [
        build(Perceptron, dtype=np.float64),
        *(build(PassiveAggressive, kind=kind, c=0.1, dtype=np.float64) for kind in ("PA", "PA-I", "PA-II")),
        build(PassiveAggressive, error_sensitive=False, averaging=False, dtype=np.float64),
        build(AROW, variance=0.5, gamma=2.0, dtype=np.float64),
    ],
)
def test_each_step_is_that_of_the_paper(make_problem, learner: OnlineLearner, shape: dict) -> None:
    moved = 0
    for seed in range(2):
        problem = make_problem(seed, kinds=("known", "set", "unknown"), lengths=LENGTHS, **shape)
        learner.start(problem.layout, problem.flat.copy())
        written, rng = Written(learner, problem), np.random.default_rng(seed)
        for _ in range(3):
            order = rng.permutation(len(LENGTHS))
            learner.learn(problem.corpus, order)
            written.learn(order)
        np.testing.assert_allclose(learner.weights.raw, written.w, atol=1e-9)
        expected = np.mean(written.history, axis=0) if learner.averaging else written.w
        np.testing.assert_allclose(learner.result, expected, atol=1e-12 if isinstance(learner, Perceptron) else 1e-9)
        moved += not np.allclose(written.w, written.history[0])
    assert moved == 2


@pytest.mark.parametrize("shape", SHAPES)
def test_the_single_decoder_finds_the_best_path(make_problem, shape: dict) -> None:
    for seed in range(5):
        problem = make_problem(seed, lengths=LENGTHS, **shape)
        weights = DenseWeights.zeros(problem.layout, np.float64)
        scatter(problem.layout, problem.flat, weights)
        decode = SingleDecoder(weights, problem.layout)
        bounds = np.concatenate([[0], np.cumsum(LENGTHS)])
        for (chain, gold), (low, high) in zip(problem.chains(), itertools.pairwise(bounds)):
            if low < high:
                part = problem.corpus.slice(low, high)
                labels = decode(part.features, part.edges)
                assert tuple(labels.tolist()) == best_allowed(chain, np.ones_like(gold))
                labels = decode(part.features, part.edges, part.gold.log_weights())
                assert tuple(labels.tolist()) == best_allowed(chain, gold)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_single_decoder_breaks_ties_as_viterbi_does(make_problem, shape: dict) -> None:
    """Weights of a perceptron are whole numbers: paths of the same score are common."""
    n_ties = 0
    for seed in range(40):
        problem = make_problem(seed, lengths=(9,), **shape)
        flat = np.random.default_rng(seed).integers(-1, 2, problem.layout.size).astype(np.float32)
        weights, corpus = ChainWeights(problem.layout, flat), problem.corpus
        observations = observe(corpus.lengths, corpus.features, corpus.edges, corpus.scores)
        chains = potentials(observations, weights.dense, weights.layout)
        labels = SingleDecoder(weights.dense, weights.layout)(corpus.features, corpus.edges, corpus.scores)
        assert labels.tolist() == viterbi(chains).labels[observations.batch.rows].tolist()
        reversed_ties = viterbi(replace(chains, emissions=chains.emissions + 1e-3 * np.arange(chains.n_labels)))
        n_ties += labels.tolist() != reversed_ties.labels[observations.batch.rows].tolist()
    assert n_ties


def small_steps(make: type[OnlineLearner], batch_size: int) -> OnlineLearner:
    if make is StochasticGradient:
        return build(make, learn_rate=0.1 * batch_size)
    return build(make, **{"units_per_batch": 3 * batch_size} if make is AdaGrad else {"batch_size": batch_size})


@pytest.mark.parametrize("make", LEARNERS)
def test_batches_learn_and_the_same_seed_gives_the_same_bytes(make_problem, make) -> None:
    problem = make_problem(3, kinds=("known", "set"), lengths=LENGTHS * 4, edges=True, n_features=60)
    results = []
    for seed, batch_size in ((1, 1), (1, 4), (1, 4), (2, 4)):
        learner = small_steps(make, batch_size)
        learner.start(problem.layout, np.zeros(problem.layout.size))
        losses = list(run_epochs(learner, problem.corpus, 6, seed))
        assert min(losses[1:]) < losses[0]
        results.append(learner.result.tobytes())
    assert results[1] == results[2] and len(set(results)) == 3


@pytest.mark.parametrize("make", LEARNERS)
def test_weights_that_come_later_make_no_difference(make_problem, make) -> None:
    problem = make_problem(5, kinds=("known",), lengths=LENGTHS, edges=True, n_features=40)
    layout, corpus, half = problem.layout, problem.corpus, len(LENGTHS) // 2
    first, later = np.arange(half), np.arange(half, len(LENGTHS))
    at_once, growing = build(make, dtype=np.float64), build(make, dtype=np.float64)
    # what the second half needs, the first half must not have touched
    seen = np.zeros(layout.n_features, dtype=bool)
    seen[corpus.take(first).features.indices] = True
    early = seen[layout.state_cells // layout.n_labels]
    order = np.concatenate([np.flatnonzero(early), np.flatnonzero(~early)])
    whole = _with_state(layout, layout.n_features, layout.state_cells[order])
    small = _with_state(layout, int(np.flatnonzero(seen).max()) + 1, layout.state_cells[order[: early.sum()]])
    start = np.zeros(whole.size)
    at_once.start(whole, start)
    growing.start(small, np.zeros(small.size))
    part = corpus.take(first)
    part = EncodedCorpus(part.lengths, _narrow(part.features, small.n_features), part.gold, part.edges)
    at_once.learn(corpus, first)
    growing.learn(part, np.arange(half))
    growing.grow(whole)
    for learner in (at_once, growing):
        learner.learn(corpus, later)
    np.testing.assert_allclose(growing.weights.raw, at_once.weights.raw, atol=1e-12)
    np.testing.assert_allclose(growing.result, at_once.result, atol=1e-12)
    assert at_once.weights.raw.any()


def _with_state(layout: Layout, n_features: int, cells: np.ndarray) -> Layout:
    return replace(layout, n_features=n_features, state_cells=cells)


def _narrow(features, n_columns: int):
    return type(features)(features.indptr, features.indices, features.values, n_columns)


def test_many_new_features_move_into_larger_buffers(make_problem) -> None:
    problem = make_problem(1, kinds=("known",), lengths=(3, 4))
    layout = problem.layout
    learner = build(PassiveAggressive, dtype=np.float64)
    learner.start(layout, problem.flat)
    learner.learn(problem.corpus, np.arange(2))
    raw, mean = learner.weights.raw, learner.result
    n = layout.n_labels
    new = np.arange(layout.n_features * n, layout.n_features * 9 * n)
    learner.grow(_with_state(layout, layout.n_features * 9, np.concatenate([layout.state_cells, new])))
    n_state = len(layout.state_cells)
    for before, after in ((raw, learner.weights.raw), (mean, learner.result)):
        np.testing.assert_array_equal(after[:n_state], before[:n_state])
        np.testing.assert_array_equal(after[n_state + len(new) :], before[n_state:])
        assert not after[n_state : n_state + len(new)].any()


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("make", [*RULES, StochasticGradient])
def test_errors_name_the_sequence(make_problem, make, batch_size: int) -> None:
    problem = make_problem(0, kinds=("known",), lengths=(2, 3, 3), values=True, masks=True)
    learner = small_steps(make, batch_size)
    problem.corpus.features.values[problem.corpus.features.indptr[2]] = np.inf
    learner.start(problem.layout, np.ones(problem.layout.size))
    with pytest.raises(NonFiniteError) as caught:
        learner.learn(problem.corpus, np.arange(3))
    assert caught.value.sequences == [1]
    problem = make_problem(0, kinds=("unknown",), lengths=(2, 2, 2))
    closed = replace(problem.layout, allowed=np.zeros((3, 3), dtype=bool))
    learner.start(closed, np.zeros(closed.size))
    with pytest.raises(NoPathError) as caught:
        learner.learn(problem.corpus, np.array([2]))
    assert caught.value.sequences == [2]


def test_paths_that_no_weight_tells_apart_change_nothing(make_problem) -> None:
    problem = make_problem(0, kinds=("known",), density=0.0, boundary=False, masks=False)
    for learner in (build(PassiveAggressive, kind="PA"), build(AROW), build(Perceptron)):
        learner.start(problem.layout, np.zeros(0))
        learner.learn(problem.corpus, np.arange(len(problem.corpus.lengths)))
        assert learner.result.size == 0


def test_batches_go_with_the_learner_or_with_the_corpus(make_problem, monkeypatch) -> None:
    """As of a worker, whose learners are new in each epoch, and of windows that are read from a file."""
    kept: list[weakref.ref] = []

    def cut(*given: Any) -> Any:
        batches = cut_batches(*given)
        kept.extend(map(weakref.ref, batches))
        return batches

    monkeypatch.setattr(stochastic, "cut_batches", cut)
    problem, order = make_problem(7, lengths=LENGTHS), np.arange(len(LENGTHS))
    corpora = [replace(problem.corpus), replace(problem.corpus)]
    learners = [build(AdaGrad), build(AdaGrad)]
    for learner, corpus in zip(learners, corpora):
        learner.start(problem.layout, problem.flat.copy())
        learner.learn(corpus, order)
    del learner, corpus
    assert kept and all(batch() is not None for batch in kept)
    del learners[0], corpora[1]
    gc.collect()
    assert not any(batch() is not None for batch in kept)
    learners[0].learn(corpora[0], order)
    assert copy.deepcopy(learners[0]).learn(corpora[0], order) == learners[0].learn(corpora[0], order)


@pytest.mark.parametrize("kinds", [("known", "distribution"), ("unknown",)])
def test_adagrad_with_one_batch_takes_the_step_of_the_gradient(make_problem, kinds) -> None:
    problem = make_problem(7, kinds=kinds, lengths=LENGTHS, edges=True)
    size = problem.layout.size
    learner = build(AdaGrad, learn_rate=0.3, damping=2.0, averaging=False, dtype=np.float64)
    learner.start(problem.layout, problem.flat.copy())
    start, gradient = problem.flat.copy(), np.zeros(size)
    for k in range(size):
        sides = []
        for sign in (1, -1):
            problem.flat = start + sign * 1e-6 * np.eye(size)[k]
            sides.append(problem.loss())
        gradient[k] = (sides[0] - sides[1]) / 2e-6
    problem.flat = start
    assert learner.learn(problem.corpus, np.arange(len(LENGTHS))) == pytest.approx(problem.loss(), rel=1e-6)
    np.testing.assert_allclose(learner.result, start - 0.3 * gradient / np.sqrt(2 + gradient**2), atol=1e-5)


@pytest.mark.parametrize(
    "make, settings",
    [
        (Perceptron, {"batch_size": 0}),
        (PassiveAggressive, {"c": 0.0}),
        (AROW, {"variance": 0.0}),
        (AROW, {"gamma": -1.0}),
        (AdaGrad, {"learn_rate": 0.0}),
        (AdaGrad, {"damping": 0.0}),
        (StochasticGradient, {"learn_rate": 0.0}),
    ],
)
def test_settings_that_make_no_sense_are_named(make, settings: dict) -> None:
    with pytest.raises(ValueError, match=f"CRF204.*{next(iter(settings))}"):
        build(make, **settings)


def test_gold_slices_hold_their_own_sets() -> None:
    weights = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 1, 1]], dtype=np.float32)
    gold = Gold.weighted(weights)
    for low in range(4):
        for high in range(low, 5):
            np.testing.assert_array_equal(gold.slice(low, high).dense(), weights[low:high])


def test_adagrad_averages_later_steps_more(make_problem) -> None:
    """The t-th weights count t^2 times, the start once."""
    problem = make_problem(4, kinds=("known",), lengths=LENGTHS)
    everything = np.arange(len(LENGTHS))
    raw, mean = build(AdaGrad, averaging=False, dtype=np.float64), build(AdaGrad, dtype=np.float64)
    for learner in (raw, mean):
        learner.start(problem.layout, problem.flat)
    total, weight = problem.flat.copy(), 1
    for step in range(1, 5):
        for learner in (raw, mean):
            learner.learn(problem.corpus, everything)
        total, weight = total + step**2 * raw.result, weight + step**2
        np.testing.assert_allclose(mean.result, total / weight, rtol=1e-10)


def test_adagrad_learns_from_some_sequences_and_names_them(make_problem) -> None:
    problem = make_problem(4, kinds=("known",), lengths=LENGTHS)
    some = np.array([3, 6])
    learners = build(AdaGrad, dtype=np.float64), build(AdaGrad, dtype=np.float64)
    for learner, (corpus, order) in zip(learners, ((problem.corpus, some), (problem.corpus.take(some), np.arange(2)))):
        learner.start(problem.layout, problem.flat)
        learner.learn(corpus, order)
    np.testing.assert_array_equal(learners[0].result, learners[1].result)
    closed = replace(problem.layout, allowed=np.zeros((3, 3), dtype=bool))
    learners[0].start(closed, problem.flat)
    with pytest.raises(NoPathError) as caught:
        learners[0].learn(problem.corpus, some)
    assert caught.value.sequences == some.tolist()


@pytest.mark.parametrize("order", [np.arange(8), np.array([6, 0, 4])], ids=["all", "some"])
def test_adagrad_gives_the_gradient_by_the_emissions(make_problem, order) -> None:
    problem = make_problem(5, kinds=("known",), lengths=LENGTHS, edges=True)
    part = problem.corpus.take(order)
    scores = np.random.default_rng(0).normal(size=(len(problem.corpus.gold.labels), 3)).astype(np.float64)
    learner = build(AdaGrad, learn_rate=1e-12, units_per_batch=4, averaging=False, dtype=np.float64)
    learner.start(problem.layout, problem.flat)
    found = np.full_like(scores, 7.0)
    learner.learn(replace(problem.corpus, scores=scores), order, found)
    weights = DenseWeights.zeros(problem.layout, np.float64)
    scatter(problem.layout, problem.flat, weights)
    units = problem.corpus.segments.units(order)
    observations = observe(part.lengths, part.features, part.edges, scores[units])
    expected = np.empty((len(units), 3))
    gold, out = part.gold.take(observations.batch.units), DenseWeights.zeros(problem.layout, np.float64)
    loss_and_gradient(observations, gold, weights, problem.layout, out, expected)
    np.testing.assert_allclose(found[units], expected[observations.batch.rows], atol=1e-6)
    untouched = np.setdiff1d(np.arange(len(scores)), units)
    assert (found[untouched] == 7.0).all()


def test_adagrad_cuts_a_corpus_anew_when_there_are_more_weights(make_problem) -> None:
    problem = make_problem(5, kinds=("known",), lengths=LENGTHS)
    layout, everything = problem.layout, np.arange(len(LENGTHS))
    half = _with_state(layout, layout.n_features, layout.state_cells[: len(layout.state_cells) // 2])
    behind = np.concatenate([half.state_cells, layout.state_cells[len(half.state_cells) :]])
    whole = _with_state(layout, layout.n_features, behind)
    learner, fresh = build(AdaGrad, dtype=np.float64), build(AdaGrad, dtype=np.float64)
    learner.start(half, np.zeros(half.size))
    learner.learn(problem.corpus, everything)
    learner.grow(whole)
    fresh.start(whole, learner.weights.raw)
    assert learner.learn(problem.corpus, everything) == pytest.approx(fresh.learn(problem.corpus, everything))
    new = slice(len(half.state_cells), len(whole.state_cells))
    assert learner.weights.raw[new].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_stochastic_gradient_steps_along_the_gradient_of_each_sequence(make_problem, shape: dict) -> None:
    for seed in range(3):
        problem = make_problem(seed, lengths=LENGTHS, **shape)
        learner = build(StochasticGradient, learn_rate=0.3, dtype=np.float64)
        learner.start(problem.layout, problem.flat)
        written, history = problem.flat.copy(), [problem.flat.copy()]
        for number in (4, 0, 6, 2, 1, 3, 5):
            part = problem.corpus.take(np.array([number]))
            loss, gradient = _loss_and_gradient(part, problem.layout, written)
            assert learner.learn(problem.corpus, np.array([number])) == pytest.approx(loss, rel=1e-9)
            written = written - 0.3 * gradient
            if part.lengths[0]:
                history.append(written)
            np.testing.assert_allclose(learner.weights.raw, written, atol=1e-10)
        np.testing.assert_allclose(learner.result, np.mean(history, axis=0), atol=1e-10)


def _loss_and_gradient(corpus: EncodedCorpus, layout: Layout, flat: np.ndarray) -> tuple[float, np.ndarray]:
    """By the recursion for batches."""
    weights, out = DenseWeights.zeros(layout, np.float64), DenseWeights.zeros(layout, np.float64)
    scatter(layout, flat, weights)
    observations = observe(corpus.lengths, corpus.features, corpus.edges)
    gold = corpus.gold.take(observations.batch.units)
    loss, gradient = loss_and_gradient(observations, gold, weights, layout, out), np.empty(layout.size)
    gather(layout, out, gradient)
    return loss, gradient


@pytest.mark.parametrize("scale, is_single", [(1.0, True), (20.0, True), (1e4, False)])
def test_far_apart_scores_take_the_general_recursion(make_problem, scale: float, is_single: bool) -> None:
    problem = make_problem(2, kinds=("known",), lengths=(4,), edges=True)
    flat = problem.flat * scale
    learner = build(StochasticGradient, learn_rate=1.0, averaging=False, dtype=np.float64)
    learner.start(problem.layout, flat)
    assert (single_gradient(problem.corpus, learner.weights) is not None) == is_single
    loss, gradient = _loss_and_gradient(problem.corpus, problem.layout, flat)
    assert learner.learn(problem.corpus, np.arange(1)) == pytest.approx(loss, rel=1e-9)
    np.testing.assert_allclose(learner.result, flat - gradient, atol=1e-9)

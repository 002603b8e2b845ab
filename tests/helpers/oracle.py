"""Brute force over all label sequences: slow, plain, and independent of the code under test."""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np


class Chain:
    """One chain with explicit matrices: `matrices[t]` is the transition into unit t (entry 0 is unused)."""

    def __init__(self, emissions, matrices, start, end):
        self.emissions, self.matrices, self.start, self.end = emissions, matrices, start, end
        self.length, self.n_labels = emissions.shape

    def score(self, path: tuple[int, ...]) -> float:
        if not path:
            return 0.0
        total = float(self.start[path[0]]) + float(self.end[path[-1]])
        for t, label in enumerate(path):
            total += float(self.emissions[t, label])
            if t:
                total += float(self.matrices[t][path[t - 1], label])
        return total

    def paths(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for path in itertools.product(range(self.n_labels), repeat=self.length):
            yield path, self.score(path)

    def log_z(self, allowed: Callable[[tuple[int, ...]], bool] = lambda path: True) -> float:
        return log_sum_exp([score for path, score in self.paths() if allowed(path)])

    def probability(self, event: Callable[[tuple[int, ...]], bool]) -> float:
        return math.exp(self.log_z(event) - self.log_z())

    def node_marginals(self) -> np.ndarray:
        out = np.zeros((self.length, self.n_labels))
        log_z = self.log_z()
        for path, score in self.paths():
            for t, label in enumerate(path):
                out[t, label] += math.exp(score - log_z)
        return out

    def edge_marginals(self) -> np.ndarray:
        out = np.zeros((self.length, self.n_labels, self.n_labels))
        log_z = self.log_z()
        for path, score in self.paths():
            for t in range(1, self.length):
                out[t, path[t - 1], path[t]] += math.exp(score - log_z)
        return out

    def best_score(self) -> float:
        return max(score for _, score in self.paths())

    def ranked(self) -> list[tuple[tuple[int, ...], float]]:
        """Allowed paths, best first; among equals the smaller label first, counted from the end."""
        allowed = [(path, score) for path, score in self.paths() if score > -math.inf]
        return sorted(allowed, key=lambda found: (-found[1], found[0][::-1]))

    def entropy(self) -> float:
        log_z = self.log_z()
        return -math.fsum(math.exp(score - log_z) * (score - log_z) for _, score in self.ranked())

    def clamped(self, allowed: np.ndarray) -> "Chain":
        emissions = np.where(allowed, self.emissions, -np.inf)
        return Chain(emissions, self.matrices, self.start, self.end)


class TrigramChain(Chain):
    """A chain with a weight for some trigrams of labels, by (first, second, third); -1 is the edge of the sequence."""

    def __init__(self, chain: Chain, trigrams: dict[tuple[int, int, int], float]):
        super().__init__(chain.emissions, chain.matrices, chain.start, chain.end)
        self.trigrams = trigrams

    def score(self, path: tuple[int, ...]) -> float:
        return super().score(path) + sum(self.trigrams.get(found, 0.0) for found in trigrams_of(path))

    def clamped(self, allowed: np.ndarray) -> "TrigramChain":
        return TrigramChain(super().clamped(allowed), self.trigrams)

    def expected_trigrams(self) -> dict[tuple[int, int, int], float]:
        expected, log_z = dict.fromkeys(self.trigrams, 0.0), self.log_z()
        for path, score in self.paths():
            for found in trigrams_of(path):
                if found in expected:
                    expected[found] += math.exp(score - log_z)
        return expected


def trigrams_of(path: tuple[int, ...]) -> list[tuple[int, int, int]]:
    padded = (-1, -1, *path, -1) if path else ()
    return list(zip(padded, padded[1:], padded[2:]))


def log_sum_exp(values: list[float]) -> float:
    greatest = max(values, default=-math.inf)
    if greatest == -math.inf:
        return -math.inf
    return greatest + math.log(math.fsum(math.exp(v - greatest) for v in values))


def log_space_reference(chain: Chain) -> tuple[float, np.ndarray, float]:
    """log Z, node marginals and the best score of a chain of any length, by plain float64 log-space recursions."""
    length, n_labels = chain.emissions.shape
    alpha = np.zeros((length, n_labels))
    beta = np.zeros((length, n_labels))
    best = np.zeros((length, n_labels))
    alpha[0] = best[0] = chain.start + chain.emissions[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        for t in range(1, length):
            alpha[t] = _lse(alpha[t - 1][:, None] + chain.matrices[t]) + chain.emissions[t]
            best[t] = (best[t - 1][:, None] + chain.matrices[t]).max(axis=0) + chain.emissions[t]
        beta[-1] = chain.end
        for t in range(length - 1, 0, -1):
            beta[t - 1] = _lse((chain.matrices[t] + chain.emissions[t] + beta[t]).T)
        log_z = float(_lse((alpha[-1] + chain.end)[:, None])[0])
    marginals = np.exp(alpha + beta - log_z)
    marginals /= marginals.sum(axis=1, keepdims=True)  # sums of 1e8 leave an error of 1e-6 in log_z
    return log_z, marginals, float((best[-1] + chain.end).max())


def _lse(values: np.ndarray) -> np.ndarray:
    greatest = values.max(axis=0)
    greatest = np.where(np.isfinite(greatest), greatest, 0)
    return np.log(np.exp(values - greatest).sum(axis=0)) + greatest

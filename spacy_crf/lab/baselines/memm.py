"""Maximum-entropy Markov model (McCallum, Freitag and Pereira 2000): p(y | x) = prod p(y_t | y_{t-1}, x_t).

Each factor is a logistic regression on the features of a unit and the label before it, so that training needs no
inference. The price is label bias (Lafferty, McCallum and Pereira 2001): whatever a label has received it passes on
in full, so that what is seen later never makes an earlier label more or less probable. A CRF over the same features
is normalised once, over whole sequences, and has no such bias.

The model is nonetheless a chain with constant transitions. The normaliser of a unit depends on the label before it
and can be taken off that label's score: emission_t(i) = s_t(i) - log sum_j exp(T(i, j) + s_{t+1}(j)). Label bias in
one line: how well the next unit fits is divided out. All of `core.chain` works on it, and log_z is 0.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Doubles, Floats, Indices, Ints, cached_property, pack
from ...core.chain.forward import SMALLEST, exp_shifted, forward_backward
from ...core.chain.marginals import node_marginals
from ...core.chain.potentials import ChainPotentials
from ...core.chain.viterbi import viterbi
from ...core.errors import CRFError, require_count
from ...core.labels import Gold
from ...core.learn.blocks import EncodedCorpus
from ...core.learn.lbfgs import LBFGS
from ...core.sparse import SparseRows
from ...core.stored import stored_floats, stored_integers, stored_size
from ...features.block import FeatureSettings, SequenceMode
from ...features.columns import Columns
from ...features.features import Features
from ...features.resources import splitter
from ...features.templates import FITTED
from ...learning.encoder import Sample
from ...learning.encoder import join as join_corpora
from ...pipe.dictionary.counts import Data, check_amount
from ...pipe.storage import check_templates
from ..errors import LabErrors
from .component import Estimator
from .regression import LocalProblem, SoftmaxObjective, check_rows, local_problem


@dataclass(frozen=True)
class MEMM:
    """Weights of a maximum-entropy Markov model.

    n_features (int): F.
    cells ((P,)): `feature * L + label` of each state weight, ascending; the others are 0.
    state ((P,)): weights of features. transitions ((L, L)): [from, to]. start ((L,)): of first units.
    """

    n_features: int
    cells: Indices
    state: Floats
    transitions: Floats
    start: Floats

    @property
    def n_labels(self) -> int:
        return len(self.start)

    @classmethod
    def of_weights(cls, problem: LocalProblem, flat: Floats) -> Self:
        """Return the model that a solution stands for. flat ((P + (L + 1) L,)): in the order of `problem.cells`."""
        n_labels = problem.n_labels
        state, label_weights = np.split(flat, [-(n_labels + 1) * n_labels])
        transitions = label_weights.reshape(n_labels + 1, n_labels)
        return cls(problem.n_features, problem.cells[: len(state)], state, transitions[:-1], transitions[-1])

    def weights_of(self, problem: LocalProblem) -> Doubles:
        """Return these weights in the order of `problem.cells`, which has the same features or more: those get 0."""
        flat = np.zeros(len(problem.cells))
        n_known = int(np.searchsorted(problem.cells, self.n_features * self.n_labels))
        flat[:n_known] = self._dense.reshape(-1)[problem.cells[:n_known]]
        flat[-(self.n_labels + 1) * self.n_labels :] = np.vstack([self.transitions, self.start]).reshape(-1)
        return flat

    @cached_property
    def _dense(self) -> Floats:
        """((F, L)): all weights of features."""
        dense = np.zeros((self.n_features, self.n_labels), self.state.dtype)
        dense.reshape(-1)[self.cells] = self.state
        return dense

    def potentials(self, lengths: Indices, features: SparseRows) -> ChainPotentials:
        """Return chains whose path scores are log p(labels | x). O(nnz L + N L^2)."""
        check_rows(lengths, features.n_rows, "features")
        if features.n_columns != self.n_features:
            raise CRFError(LabErrors.CRF835.format(found=features.n_columns, expected=self.n_features))
        batch = pack(lengths)
        scores = np.zeros((features.n_rows, self.n_labels), self.state.dtype)
        features.times(self._dense, scores)
        emissions = scores[batch.units].astype(np.float64)
        transitions, start = self.transitions.astype(np.float64), self.start.astype(np.float64)
        normalizers = log_normalizers(emissions, np.vstack([transitions, start]))
        inner = np.arange(len(batch.first_rows), batch.n_units)
        emissions[batch.first_rows] -= normalizers[batch.first_rows, -1:]
        emissions[batch.before[inner]] -= normalizers[inner, :-1]
        return ChainPotentials(batch, emissions, transitions, start, np.zeros(self.n_labels))

    def marginals(self, lengths: Indices, features: SparseRows) -> Floats:
        """Return p(y_t | x) ((N, L)), which depends on nothing behind the unit."""
        potentials = self.potentials(lengths, features)
        return node_marginals(forward_backward(potentials))[potentials.batch.rows]

    def decode(self, lengths: Indices, features: SparseRows) -> Ints:
        """Return labels ((N,)) of the most probable sequences."""
        potentials = self.potentials(lengths, features)
        return viterbi(potentials).labels[potentials.batch.rows]

    def to_data(self) -> Data:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """Restore from `to_data`."""
        n_features, start = (
            stored_size("n_features", data["n_features"]),
            stored_floats("start", data["start"], (None,)),
        )
        cells = stored_integers("cells", data["cells"], (None,), n_features * len(start)).astype(np.intp, copy=False)
        if (np.diff(cells) <= 0).any():
            raise ValueError("cells are not ascending")
        transitions = stored_floats("transitions", data["transitions"], (len(start), len(start)))
        return cls(n_features, cells, stored_floats("state", data["state"], cells.shape), transitions, start)


def fit_memm(
    lengths: Indices,
    features: SparseRows,
    gold: Gold,
    *,
    c2: float = 1.0,
    max_iterations: int = 100,
    start: MEMM | None = None,
    dtype: type[np.floating] = np.float32,
) -> MEMM:
    """Maximise the conditional log-likelihood minus c2 |w|^2 by L-BFGS.

    start (MEMM | None): weights to begin with, over the same labels and the first of the features. Where the optimum is
        reached it is forgotten, for there is only one.
    dtype (type): precision of scores in training, and of the weights.
    """
    check_training(c2, max_iterations)
    problem = local_problem(lengths, features, gold)
    objective = SoftmaxObjective(problem.rows, problem.targets, problem.cells, c2, dtype)
    optimizer = LBFGS(objective, np.zeros(len(problem.cells)) if start is None else start.weights_of(problem))
    optimizer.run(max_iterations)
    return MEMM.of_weights(problem, optimizer.x.astype(dtype))


def check_training(c2: float, max_iterations: int) -> None:
    """Raise a coded error for a setting that is out of its range."""
    check_amount("c2", c2)
    require_count(max_iterations=max_iterations)


def log_normalizers(scores: Doubles, transitions: Doubles) -> Doubles:
    """Return log sum_j exp(transitions[i, j] + scores[n, j]) ((N, K)), as one matrix product. O(N K L).

    Exact where the product underflows as well. scores ((N, L)): of units. transitions ((K, L)): from K contexts.
    """
    unit_factors, unit_shifts = exp_shifted(scores, axis=1)
    context_factors, context_shifts = exp_shifted(transitions, axis=1)
    sums = unit_factors @ context_factors.T
    lost = np.flatnonzero((sums < SMALLEST).any(axis=1))
    sums[lost] = 1.0
    out = np.log(sums) + unit_shifts[:, None] + context_shifts
    for row in lost:
        factors, shifts = exp_shifted(scores[row] + transitions, axis=1)
        out[row] = np.log(factors.sum(axis=1)) + shifts
    return np.asarray(out, dtype=np.float64)


# -- estimator ---------------------------------------------------------------------------------------------------


class MEMMEstimator(Estimator):
    """Collects encoded tokens and fits weights to all of them, again whenever more have come.

    A fit begins with the weights there are. They are but a start: the optimum is that of the examples collected since
    the component was initialised or loaded, so that a model which learns on forgets, as a CRF under L-BFGS does, what
    these do not show. See `block.MEMMSettings`.
    """

    def __init__(self, config: FeatureSettings, sequence: SequenceMode, c2: float, max_iterations: int):
        check_training(c2, max_iterations)
        for template in config.parsed:
            if template.is_edge:
                raise CRFError(LabErrors.CRF422.format(template=template))
            if any(atom.attribute.name in FITTED for atom in template.atoms):
                raise CRFError(LabErrors.CRF424.format(template=template))
        self.config, self.sequence, self.c2, self.max_iterations = config, sequence, c2, max_iterations
        self.scored_by = {"sequence": sequence}
        self._start_over(Features(config, sequence))

    def __getstate__(self) -> dict[str, Any]:
        """With the weights of all that was collected, which itself stays in the process that trains."""
        if self.has_learned:
            _ = self.model
        return {**self.__dict__, "_samples": []}

    def _start_over(self, features: Features, weights: MEMM | None = None) -> None:
        super().__init__(features.extractor)
        self._features, self._model, self._weights = features, weights, weights
        self._samples: list[Sample] = []

    @property
    def has_learned(self) -> bool:
        return bool(self._samples) or self._weights is not None

    @property
    def fitted(self) -> list[str]:
        return self.config.fitted

    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        resources = self.config.make_resources(splitter(nlp), references)
        self._start_over(Features(self.config, self.sequence, resources))

    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        sample = Sample(columns, gold, self.extractor)
        self._features.state.grow(sample.state, columns, self.config.padding)
        self._samples.append(sample)
        self._model = None

    def fit(self) -> MEMM:
        encode = self._features.state.encode
        all = join_corpora([EncodedCorpus(one.columns.lengths, encode(one.state), one.gold) for one in self._samples])
        settings: Any = {"c2": self.c2, "max_iterations": self.max_iterations, "start": self._weights}
        self._weights = fit_memm(all.lengths, all.features, all.gold, **settings)
        return self._weights

    def inputs(self, columns: Columns, vocab: Vocab) -> tuple[Indices, SparseRows]:
        keys = self.extractor.keys(columns, self.extractor.state_templates)
        return columns.lengths, self._features.state.encode(keys)

    def to_data(self) -> Data:
        return {"features": self._features.to_data(), "weights": self.model.to_data()} if self.has_learned else {}

    def check(self, data: Data, name: str) -> None:
        check_templates(name, self.config, data.get("features", {}))

    def from_data(self, data: Data) -> int | None:
        if not data:
            self._start_over(Features(self.config, self.sequence))
            return None
        weights = MEMM.from_data(data["weights"])
        features = Features.from_data(data["features"], self.config, self.sequence)
        if len(features.state) != weights.n_features:
            raise ValueError("the features and the model do not belong together")
        self._start_over(features, weights)
        return weights.n_labels

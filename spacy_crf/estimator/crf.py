"""`CRF`: the interface of sklearn_crfsuite.CRF over the chain of this library."""

import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Doubles
from ..core.errors import CRFError, CRFWarning
from ..core.weights import ChainWeights
from .crfsuite import CRFsuiteModel, read_crfsuite
from .errors import EstimatorErrors, EstimatorWarnings
from .preparation import FittedChain, prepare, read_dev
from .training import ALIASES, TrainingLog, read_settings, train


class NotFittedError(CRFError, AttributeError):
    """Raised when a CRF is asked for what only a fitted one has; where scikit-learn is loaded, it is a NotFittedError
    of scikit-learn as well.

    >>> from spacy_crf import CRF, NotFittedError
    >>> try:
    ...     CRF().predict([[["w=the"]]])
    ... except NotFittedError as error:
    ...     print(error.code)
    CRF707
    """

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return not_fitted, self.args


def not_fitted(message: str) -> NotFittedError:
    """Make the error, which is scikit-learn's as well if anybody can be about to catch that one."""
    if "sklearn.exceptions" not in sys.modules:
        return NotFittedError(message)
    from sklearn.exceptions import NotFittedError as Theirs

    return type("NotFittedError", (NotFittedError, Theirs), {"__module__": __name__})(message)


class Predictions(list[Any]):
    """Predictions of sequences: a list that numpy takes for a vector of objects, whatever the lengths.

    scikit-learn joins the predictions of several folds through numpy.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        return np.fromiter(self, dtype=object, count=len(self))


@dataclass(eq=False, repr=False)
class CRF:
    """A linear-chain CRF over attribute strings, with the interface of sklearn_crfsuite.CRF.

    It follows the protocols of scikit-learn's estimators without importing it: `get_params`, `set_params`, `clone`,
    pipelines, cross-validation and parameter searches work, and so does pickle.

    algorithm (str | None): "lbfgs" (the default), "l2sgd", "ap", "pa" or "arow".
    min_freq .. gamma: CRFsuite's parameters (`DEFAULTS` in `training.py`); None stands for its default.
    verbose (bool): show the iterations on standard output.
    model_filename, keep_tempfiles, trainer_cls: refused by `fit` unless they are left as they are.
    random_state (int | None): seed of the algorithms that shuffle; None is 0, so that all results can be repeated.
    n_threads (int | None): None takes all CPUs that the process may use. Results do not depend on it.

    >>> from spacy_crf import CRF
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}]]
    >>> crf = CRF(c2=0.1).fit(X, [["DET", "NOUN"], ["DET", "NOUN"]])
    >>> crf.predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """

    algorithm: str | None = None
    min_freq: float | None = None
    all_possible_states: bool | None = None
    all_possible_transitions: bool | None = None
    c1: float | None = None
    c2: float | None = None
    max_iterations: int | None = None
    num_memories: int | None = None
    epsilon: float | None = None
    period: int | None = None
    delta: float | None = None
    linesearch: str | None = None
    max_linesearch: int | None = None
    calibration_eta: float | None = None
    calibration_rate: float | None = None
    calibration_samples: int | None = None
    calibration_candidates: int | None = None
    calibration_max_trials: int | None = None
    pa_type: int | None = None
    c: float | None = None
    error_sensitive: bool | None = None
    averaging: bool | None = None
    variance: float | None = None
    gamma: float | None = None
    verbose: bool = False
    model_filename: str | None = None
    keep_tempfiles: bool = False
    trainer_cls: type | None = None
    random_state: int | None = None
    n_threads: int | None = None

    @classmethod
    def from_crfsuite(cls, path: str | Path, **params: Any) -> Self:
        """A fitted estimator from a model file of CRFsuite, python-crfsuite or sklearn-crfsuite.

        path (str | Path): the file. params: of the estimator.
        RAISES (ValueError): for a file that is damaged, cut off, or something else.
        """
        model = read_crfsuite(path)
        estimator = cls(**params)
        estimator._chain = FittedChain.without_zeros(model.labels, model.attributes, model.weights)
        return estimator

    # -- training --------------------------------------------------------------------------------------------

    def fit(self, X: Iterable[Any], y: Iterable[Any], X_dev: Any = None, y_dev: Any = None) -> Self:
        """Learn from sequences.

        X (Iterable): sequences of items; an item is a dict, a list of strings, or a list of (string, number) pairs.
        y (Iterable): for each sequence its labels.
        X_dev, y_dev: held-out data on which every iteration is scored; see `training_log_`.
        RETURNS (CRF): itself.
        RAISES (ValueError): for malformed data, or parameters that do not fit the algorithm.
        """
        settings = read_settings(self.get_params())
        if (X_dev is None) != (y_dev is None):
            raise CRFError(EstimatorErrors.CRF706)
        data = prepare(X, y, settings)
        dev = None if X_dev is None else read_dev(X_dev, y_dev, data, settings["n_threads"])
        log = TrainingLog(data.layout.size, dev, verbose=self.verbose)
        weights = ChainWeights(data.layout, train(data.corpus, data.layout, settings, log))
        log.evaluate = None
        self._chain = FittedChain.without_zeros(data.labels, data.attributes, weights)
        self.training_log_, self.objective_ = log, log.objective
        return self

    # -- prediction ------------------------------------------------------------------------------------------

    def predict(self, X: Iterable[Any]) -> list[list[str]]:
        """The best labels of each sequence."""
        return Predictions(self._fitted().decode(X, self.n_threads or 0))

    def predict_single(self, xseq: Any) -> list[str]:
        """The best labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Iterable[Any]) -> list[list[dict[str, float]]]:
        """For each item of each sequence, the probability of each label; "ap", "pa" and "arow" learn none, and warn."""
        if ALIASES.get(self.algorithm or "", self.algorithm) in ("ap", "pa", "arow"):
            message = EstimatorWarnings.CRFW702.format(algorithm=self.algorithm)
            warnings.warn(message, CRFWarning, stacklevel=2)
        return Predictions(self._fitted().marginals(X, self.n_threads or 0))

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """For each item of one sequence, the probability of each label."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Iterable[Any], y: Iterable[Any]) -> float:
        """Share of the items whose label is predicted."""
        return self._fitted().accuracy(X, y, self.n_threads or 0)

    # -- what was learned ------------------------------------------------------------------------------------

    @property
    def model_(self) -> CRFsuiteModel:
        """Labels, attributes and weights, as `read_crfsuite` returns those of a file."""
        chain = self._fitted()
        return CRFsuiteModel(list(chain.labels), list(chain.attributes), chain.weights)

    @property
    def classes_(self) -> list[str]:
        """Labels, in the order in which training met them."""
        return list(self._fitted().labels)

    @property
    def attributes_(self) -> list[str]:
        """Attributes that have a weight."""
        return list(self._fitted().attributes)

    @property
    def num_attributes_(self) -> int:
        """How many attributes have a weight."""
        return len(self._fitted().attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights of (attribute, label) pairs, those of 0 left out."""
        names, labels, weights = self.attributes_, self.classes_, self._fitted().weights
        cells, (state, *_) = weights.layout.state_cells, weights.layout.split(weights.flat)
        pairs = zip(*(numbers.tolist() for numbers in np.divmod(cells, len(labels))))
        return {(names[a], labels[b]): w for (a, b), w in zip(pairs, state.tolist())}

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights of (label, next label) pairs, those of 0 left out."""
        labels, table = self.classes_, self.transitions_
        before, after = np.nonzero(table)
        pairs = zip(before.tolist(), after.tolist(), table[before, after].tolist())
        return {(labels[a], labels[b]): w for a, b, w in pairs}

    @property
    def transitions_(self) -> Doubles:
        """((L, L)): weights of transitions [from, to] in the order of `classes_`."""
        return np.array(self._fitted().weights.dense.transitions, dtype=np.float64)

    def _fitted(self) -> FittedChain:
        chain: FittedChain | None = self.__dict__.get("_chain")
        if chain is None:
            raise not_fitted(EstimatorErrors.CRF707)
        return chain

    # -- protocols of scikit-learn ---------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name. There are no nested ones, so that `deep` makes no difference."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; they count from the next `fit` on."""
        for name, value in params.items():
            if name not in _PARAMETERS:
                raise CRFError(EstimatorErrors.CRF712.format(name=name, known=", ".join(_PARAMETERS)))
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.get_params().items() if value != _PARAMETERS[name])
        return f"{type(self).__name__}({', '.join(given)})"

    def _repr_html_(self) -> str:
        """The diagram that scikit-learn draws in notebooks; without scikit-learn, the text."""
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return f"<pre>{escape(repr(self))}</pre>"
        return str(estimator_html_repr(self))

    def __sklearn_is_fitted__(self) -> bool:
        return "_chain" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """Only scikit-learn itself asks for them."""
        from sklearn.utils import InputTags, Tags, TargetTags

        items = InputTags(two_d_array=False, string=True, dict=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=items)


_PARAMETERS = {one.name: one.default for one in fields(CRF)}

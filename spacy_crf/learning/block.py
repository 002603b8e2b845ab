"""The blocks of a component's model and trainers, and the batcher for trainers that want the whole corpus."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from thinc.api import Model
from thinc.types import Floats2d

if TYPE_CHECKING:
    from ..core.learn.online import OnlineLearner
    from .encoder import Trainer

Tok2Vec = Model[list[Doc], list[Floats2d]]
FULL_BATCH = "spacy_crf.full_batch.v1"


@registry.architectures("spacy_crf.LinearChain.v1")
def LinearChain(
    boundary: bool = True,
    all_states: bool = False,
    all_transitions: bool = False,
    all_edges: bool = False,
    transitions: bool = True,
    tok2vec: Tok2Vec | None = None,
    precision: Literal["float32", "float16"] = "float32",
    order: Literal[1, 2] = 1,
    candidates: float = 0.001,
    max_candidates: int = 8,
) -> Model[Any, Any]:
    """A linear-chain CRF over sparse features and, on request, over vectors of the tokens.

    boundary (bool): learn how likely each label is to start and to end a sequence.
    all_states (bool): weights for every pair of feature and label instead of those seen in training; lets a feature
        speak against labels it never came with, at the cost of L weights for each feature.
    all_transitions (bool): weights for every allowed pair of labels instead of those seen in training.
    all_edges (bool): weights for every edge feature with every allowed pair of labels instead of those seen in
        training: L^2 weights for each feature of a template `B:..`.
    transitions (bool): weights for pairs of labels whatever the unit, as in CRFsuite; false leaves transitions to edge
        templates, as CRF++ does without a line `B`.
    tok2vec (Model | None): gives vectors x to the tokens, own or a listener; emissions are then sparse features times
        weights plus x times V, learned end to end by spacy_crf.AdaGrad.v1 or spacy_crf.Minibatch.v1.
    precision (str): of the weights in files: "float16" halves them and keeps three digits. In memory they are float32;
        a tok2vec layer is stored as it is.
    order (int): 2 adds a weight for each trigram of labels seen in training, the edges of a sequence being labels too;
        spacy_crf.LBFGS.v1 learns these weights after all others. Probabilities of spans, lists of the best sequences
        and explanations are for order 1 only.
    candidates (float), max_candidates (int): labels of a token that a chain of order 2 looks at: those whose
        probability under the first-order weights is at least so much, and at most so many; the others keep that
        probability. With k candidates each, a token takes k^3 operations.
    RAISES (ValueError): for order 2 with a tok2vec layer, all transitions and none, or candidates out of their range.
    """
    from .model import new_model

    kept: dict[str, Any] = {"all_states": all_states, "all_transitions": all_transitions, "precision": precision}
    kept |= {"order": order, "candidates": candidates, "max_candidates": max_candidates}
    # only where they are set, so that models without them are the same files as ever
    kept |= {"all_edges": True} if all_edges else {}
    kept |= {} if transitions else {"transitions": False}
    return new_model(boundary, tok2vec, kept)


@registry.batchers(FULL_BATCH)
def make_full_batch(cached: bool = False) -> Callable[[Iterable[Example]], Iterator[list[Example]]]:
    """Return a batcher of the whole corpus: one step of the training loop sees every example.

    cached (bool): give the first example alone, for trainers with a `cache`, which read the corpus themselves.
    """

    def one_batch(examples: Iterable[Example]) -> Iterator[list[Example]]:
        if batch := list(islice(examples, 1 if cached else None)):
            yield batch

    return one_batch


class TrainerSettings(ABC):
    """Settings of a trainer: how a component turns examples into weights.

    gives_probabilities (bool): whether it maximises a likelihood; else scores are right in their order alone.
    resumable (bool): whether what it needs to go on is saved with the component.
    cache (str | None): folder of the encoded corpus, if there is to be one.
    """

    gives_probabilities: ClassVar[bool] = True
    resumable: bool = False
    cache: str | None = None

    @abstractmethod
    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> "Trainer":
        """Make the trainer of a model. nlp (Language | None): the pipeline that is going to be trained, if known."""


@registry.misc("spacy_crf.LBFGS.v1")
@dataclass(frozen=True)
class LBFGSSettings(TrainerSettings):
    """Full-batch L-BFGS on the negative log-likelihood + c1 |w|_1 + c2 |w|^2, CRFsuite's objective.

    It wants every reference in every step: use the batcher spacy_crf.full_batch.v1.

    c2 (float | str): L2 penalty. "auto": 3, 1, 0.3, 0.1 or 0.03, that by which documents predict others best. To find
        it takes about as long as training; the saved config has it.
    iterations_per_step (int): quasi-Newton iterations for each step of the training loop, hence for each evaluation.
    memory (int): past steps that shape the curvature.
    period (int), delta (float): stop when the objective improved by less than `delta` over `period` iterations.
    epsilon (float): stop when |gradient| < epsilon max(1, |w|).
    n_threads (int): 0 takes all CPUs that the process may use. The result does not depend on it.
    unseen (float): after the first step, give weights to pairs of feature and label as well that gold never shows but
        that the model expects more often than this in the whole corpus; 0: never. Features that occur once have none.
    c1 (float): L1 penalty: most weights become 0 (OWL-QN) and are left out when the pipe is saved.
    warmup (int): epochs of stochastic gradient descent before the first iteration, where there are no weights yet.
    seed (int): of the order of the sequences in the warm-up.
    first_order_steps (int): for a model of order 2, steps for all other weights before those for the weights of
        trigrams alone, which take less time; fewer where the former have converged. Both need steps: see that
        `max_steps` and `patience` of the training block leave some for the trigrams.
    resumable (bool): save what training needs to go on, 60 bytes for each weight: `[initialize.components.NAME] start`
        with its folder, the same settings and examples gives the same weights as training without a break.
    cache (str | None): a folder for the encoded corpus, which is then read from disk again and again, so that training
        takes the memory of the weights alone, and encoded once for the same data. With `max_epochs = -1` and
        `cached = true` in the batcher, spaCy keeps no documents either.
    """

    c2: float | Literal["auto"] = 1.0
    iterations_per_step: int = 10
    memory: int = 6
    period: int = 10
    delta: float = 1e-5
    epsilon: float = 1e-5
    n_threads: int = 0
    unseen: float = 0.0
    c1: float = 0.0
    warmup: int = 0
    seed: int = 0
    first_order_steps: int = 10
    resumable: bool = False
    cache: str | None = None

    def __post_init__(self) -> None:
        from ..core.errors import CoreErrors, require, require_least
        from .errors import require_no_cache

        ones = ("iterations_per_step", "memory", "first_order_steps")
        numbers = {name: value for name, value in vars(self).items() if name != "cache" and value != "auto"}
        require_least(**{name: (value, int(name in ones)) for name, value in numbers.items()})
        known = not self.resumable or "c2" in numbers
        require(CoreErrors.CRF204, "c2", self.c2, known, "a number, to be resumable")
        require_no_cache(self.cache, resumable=self.resumable, warmup=self.warmup, c2=self.c2 == "auto" and self.c2)

    @property
    def search(self) -> dict[str, Any]:
        """What the optimiser is told."""
        return {name: getattr(self, name) for name in ("memory", "period", "delta", "epsilon")}

    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> "Trainer":
        from .lbfgs import LBFGSTrainer

        return LBFGSTrainer(self, nlp)


@registry.misc("spacy_crf.Minibatch.v1")
@dataclass(frozen=True)
class MinibatchSettings(TrainerSettings):
    """Mini-batch training with the optimizer of the training block (Adam, SGD, ..), on mean gradients per sequence.

    With `use_averages` of the optimizer, evaluation and saving see averaged weights. thinc's optimizers are dense: a
    step costs as much as there are weights, however few the batch shows. spacy_crf.AdaGrad.v1 touches only those.

    resumable (bool): as in spacy_crf.Perceptron.v1, with what the optimizer remembers of each weight, but not its
        schedules; not for models with a tok2vec layer.
    """

    resumable: bool = False

    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> "Trainer":
        from .online import MinibatchTrainer

        return MinibatchTrainer(self)


@dataclass(frozen=True, kw_only=True)
class OnlineSettings(TrainerSettings):
    """Settings of a trainer that learns from one sequence, or small batch, after the other.

    Batches may be of any size, features grow as they are met, every epoch of the training loop is an epoch of the
    algorithm, and nothing is kept of the examples, so that corpora may be streamed.
    """

    seed: int = 0
    resumable: bool = False
    cache: str | None = None

    def __post_init__(self) -> None:
        from ..core.errors import require_least
        from .errors import require_no_cache

        self.learner()  # refuses settings that make no sense
        require_least(seed=(self.seed, 0))
        require_no_cache(self.cache, resumable=self.resumable)

    def learner(self) -> "OnlineLearner":
        """Make what learns from the sequences, with the settings that are its own."""
        from ..core.learn.mistakes import AROW, PassiveAggressive, Perceptron
        from ..core.learn.stochastic import AdaGrad, StochasticGradient

        learners: dict[type[OnlineSettings], type[OnlineLearner]] = {
            PerceptronSettings: Perceptron,
            PassiveAggressiveSettings: PassiveAggressive,
            AROWSettings: AROW,
            AdaGradSettings: AdaGrad,
            StochasticGradientSettings: StochasticGradient,
        }
        apart = ("seed", "resumable", "cache")
        return learners[type(self)](**{name: value for name, value in vars(self).items() if name not in apart})

    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> "Trainer":
        from .online import OnlineTrainer

        return OnlineTrainer(self)


@registry.misc("spacy_crf.Perceptron.v1")
@dataclass(frozen=True)
class PerceptronSettings(OnlineSettings):
    """Structured perceptron (Collins 2002).

    batch_size (int): sequences that are decoded with the same weights: more make fewer and larger steps.
    averaging (bool): predict with the mean of the weights over time.
    seed (int): of the order of sequences within a batch; that of batches is the training loop's.
    resumable (bool): save what training needs to go on, as in spacy_crf.LBFGS.v1, if it is shown the batches that would
        have come next. `spacy train` shuffles anew and begins with the first.
    cache (str | None): as in spacy_crf.LBFGS.v1; a step is then an epoch, over parts of the corpus in a new order.
    """

    gives_probabilities: ClassVar[bool] = False
    batch_size: int = 1
    averaging: bool = True


@registry.misc("spacy_crf.PassiveAggressive.v1")
@dataclass(frozen=True)
class PassiveAggressiveSettings(OnlineSettings):
    """Passive-aggressive (Crammer et al. 2006): steps as long as it takes to put the gold path ahead.

    kind (str): "PA" goes all the way, "PA-I" at most c, "PA-II" is held back smoothly.
    c (float): aggressiveness.
    error_sensitive (bool): ask for a greater lead where more labels were wrong.
    averaging (bool): predict with the mean of the weights over time.
    batch_size (int), seed (int), resumable (bool), cache (str | None): as in spacy_crf.Perceptron.v1.
    """

    gives_probabilities: ClassVar[bool] = False
    kind: Literal["PA", "PA-I", "PA-II"] = "PA-I"
    c: float = 1.0
    error_sensitive: bool = True
    averaging: bool = True
    batch_size: int = 1


@registry.misc("spacy_crf.AROW.v1")
@dataclass(frozen=True)
class AROWSettings(OnlineSettings):
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009): weights often moved are moved less.

    variance (float): of each weight at the start.
    gamma (float): trade-off between correcting mistakes and staying where one is.
    batch_size (int), seed (int), resumable (bool), cache (str | None): as in spacy_crf.Perceptron.v1.
    """

    gives_probabilities: ClassVar[bool] = False
    variance: float = 1.0
    gamma: float = 1.0
    batch_size: int = 1


@registry.misc("spacy_crf.AdaGrad.v1")
@dataclass(frozen=True)
class AdaGradSettings(OnlineSettings):
    """Mini-batch AdaGrad on the log-likelihood: near the best F1 after two or three epochs, and real probabilities.

    learn_rate (float): of a weight that has not moved much.
    damping (float): where the sums of squared gradients begin; 0.000001 is AdaGrad as published, which lets rare
        features jump and needs more epochs.
    averaging (bool): predict with a mean of the weights over time in which later ones count more.
    units_per_batch (int): about so many tokens make a step, within each batch of the training loop.
    seed (int): as in spacy_crf.Perceptron.v1.
    resumable (bool), cache (str | None): as there; not for models with a tok2vec layer.
    """

    learn_rate: float = 0.6
    damping: float = 3.0
    averaging: bool = True
    units_per_batch: int = 2000


@registry.misc("spacy_crf.StochasticGradient.v1")
@dataclass(frozen=True)
class StochasticGradientSettings(OnlineSettings):
    """Plain gradient steps on the log-likelihood after each sequence, all at one rate (Agrawal & Shah 2014).

    It does what spacy_crf.Minibatch.v1 with SGD.v1 and batches of one example does, at a fraction of the cost.

    learn_rate (float): how far.
    averaging (bool): predict with the mean of the weights over time.
    seed (int), resumable (bool), cache (str | None): as in spacy_crf.Perceptron.v1.
    """

    learn_rate: float = 0.01
    averaging: bool = True


@registry.misc("spacy_crf.Distributed.v1")
@dataclass(frozen=True)
class DistributedSettings(TrainerSettings):
    """Training on several processes or machines, which Dask tells what to do; needs the extra dask.

    It wants every reference in every step: use the batcher spacy_crf.full_batch.v1. The optimum is that of one machine.

    trainer (TrainerSettings): spacy_crf.LBFGS.v1 without `unseen` and `warmup`, or spacy_crf.AdaGrad.v1: an epoch over
        each part of the corpus in each step, whose weights are averaged. Not resumable.
    workers (int): processes of this machine, where there is no scheduler.
    scheduler (str | None): address of a Dask scheduler, whose workers are taken.
    folder (str | None): for parts of the corpus, which all workers can read; null for temporary files of this machine.
    """

    trainer: TrainerSettings
    workers: int = 2
    scheduler: str | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        from ..core.errors import CoreErrors, require, require_least

        own, known = self.trainer, isinstance(self.trainer, LBFGSSettings | AdaGradSettings)
        require_least(workers=(self.workers, 1))
        kinds = "spacy_crf.LBFGS.v1 or spacy_crf.AdaGrad.v1"
        require(CoreErrors.CRF204, "trainer", type(own).__name__, known, kinds)
        for name, value in vars(own).items():
            is_for_all = name not in ("resumable", "unseen", "warmup", "cache")
            require(CoreErrors.CRF204, name, value, is_for_all or not value, "left out")

    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> Any:
        from .distributed import DistributedTrainer

        return DistributedTrainer(self, nlp)

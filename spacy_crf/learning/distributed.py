"""Training on several processes or machines: each keeps its part of the corpus encoded, Dask tells them what to do.

The driver has the weights. A worker gets those of the features in its shard, and answers with numbers that follow from
them and the shard alone. So whatever a lost worker leaves undone is done once more by another, which reads the shard
from its file; the driver adds up one answer for each shard, always in the same order.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from spacy.language import Language

from ..core.arrays import Doubles, Floats, Indices
from ..core.chain.potentials import EdgeObservations
from ..core.errors import CRFError, required
from ..core.learn.batches import FlatFinder
from ..core.learn.blocks import EncodedCorpus, WindowedCorpus
from ..core.learn.full_batch import FullBatchObjective
from ..core.learn.lbfgs import minimiser
from ..core.weights import ChainWeights, Layout
from .block import AdaGradSettings, DistributedSettings, LBFGSSettings
from .cache import from_arrays, to_arrays
from .encoder import ChainLearner
from .errors import LearningErrors
from .lbfgs import LBFGSTrainer
from .model import get_weights

KEPT_SHARDS = 4  # in the memory of a worker, which may have to do the work of others
# Dask has workers give all memory back to the system at once, so that each large array is made of new pages: a third of
# the time of an evaluation, or more
KEEP_MEMORY = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
ATTEMPTS = 5
PATIENCE, STARTING = 5.0, 60.0  # seconds


@contextmanager
def connect(scheduler: Any, workers: int = 0) -> Iterator[Any]:
    """Give a client of a Dask scheduler by its address (str); for None, one of so many processes of this machine.

    RAISES (ValueError): for an address without a scheduler.
    """
    with required(LearningErrors.CRF688):
        from dask import config
        from distributed import Client, LocalCluster
    with ExitStack() as stack:
        if scheduler is None:
            with config.set(KEEP_MEMORY):
                scheduler = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
            stack.callback(_close, scheduler)
        try:
            client = Client(scheduler)
        except (OSError, ValueError, ImportError) as error:  # the last of an address that needs another package
            raise CRFError(LearningErrors.CRF885.format(scheduler=scheduler, problem=error)) from error
        yield stack.enter_context(client)


def _close(cluster: Any) -> None:
    """End the workers of this machine; one that is being started in the place of a lost one is not waited for."""
    with suppress(TimeoutError):
        cluster.close(timeout=PATIENCE)


# -- shards ------------------------------------------------------------------------------------------------------


def cut_shards(corpus: EncodedCorpus, n_shards: int) -> list[EncodedCorpus]:
    """Runs of sequences with about as many units each; none is empty."""
    ends = corpus.segments.ends
    shares = np.minimum(ends - 1, ends[-1] - 1) * n_shards // max(1, int(ends[-1]))
    firsts = np.flatnonzero(np.diff(shares, prepend=-1))
    return [corpus.take(own) for own in np.split(np.arange(len(ends)), firsts[1:])]


def narrow(corpus: EncodedCorpus, layout: Layout) -> tuple[EncodedCorpus, Layout, Indices]:
    """Number the features of a part of a corpus anew: that part, its layout, and the places of its weights ((n,))."""
    finder = FlatFinder(layout)
    features, used = corpus.features.compacted()
    edges, used_edges = corpus.edges, np.zeros(0, dtype=np.intp)
    if edges is not None:
        edge_features, used_edges = edges.features.compacted()
        edges = EdgeObservations(edge_features, edges.groups)
    (state_cells, state), (edge_cells, edge) = finder.state(used), finder.edges(used_edges)
    transitions, boundary = finder.shared()
    own = replace(layout, n_features=len(used), state_cells=state_cells)
    own = replace(own, n_edge_features=len(used_edges), edge_cells=edge_cells)
    slots = None if corpus.slots is None else corpus.slots[used]
    places = np.concatenate([state, transitions, edge, boundary])
    return replace(corpus, features=features, edges=edges, slots=slots), own, places


def write_shard(path: Path, corpus: EncodedCorpus, layout: Layout) -> None:
    """Write a part of a corpus as arrays."""
    arrays: dict[str, Any] = {f"layout.{one.name}": getattr(layout, one.name) for one in fields(layout)}
    arrays |= {} if corpus.slots is None else {"slots": corpus.slots}
    arrays |= to_arrays(corpus)
    np.savez(path, **arrays)


def read_shard(path: str) -> tuple[EncodedCorpus, Layout]:
    """Read what `write_shard` wrote."""
    with np.load(path) as file:
        data = {name: array if array.ndim else array.item() for name, array in file.items()}
    layout = Layout(**{one.name: data[f"layout.{one.name}"] for one in fields(Layout)})
    return from_arrays(data, (layout.n_features, layout.n_edge_features), data.get("slots")), layout


kept_shard = lru_cache(maxsize=KEPT_SHARDS)(read_shard)  # in the memory of this worker


@lru_cache(maxsize=KEPT_SHARDS)
def kept_objective(path: str) -> FullBatchObjective:
    """The likelihood of a shard, ready to be evaluated, in the memory of this worker."""
    return FullBatchObjective(*read_shard(path), c2=0.0, n_threads=1)


def evaluate_shard(path: str, weights: Doubles) -> tuple[float, Doubles]:
    """-log p(gold | x) of a shard and its gradient at weights ((n,)) of its layout.

    Features that the objective merges, as they come once in the shard, may have other weights here: what counts is
    their sum, and each gets the gradient by it.
    """
    objective = kept_objective(path)
    value, gradient = objective(objective.basis.start(weights))
    return value, objective.basis.finish(gradient)


def learn_shard(
    path: str, settings: AdaGradSettings, state: dict[str, Any], epoch: int
) -> tuple[float, dict[str, Any]]:
    """An epoch of AdaGrad over a shard: its loss, and the state of the learner behind it."""
    corpus, layout = kept_shard(path)
    learner = settings.learner()
    learner.go_on(layout, state)
    order = np.random.default_rng((settings.seed, epoch)).permutation(len(corpus.lengths))
    return learner.learn(corpus, order), learner.state()


class Shards:
    """The shards of a corpus at their workers.

    settings (DistributedSettings): those of `spacy_crf.Distributed.v1`.
    places (list): of each shard, where its weights are among those of the layout.
    """

    def __init__(self, corpus: EncodedCorpus, layout: Layout, settings: DistributedSettings):
        self._settings, self._connection = settings, ExitStack()
        self._connect()
        self._folder = TemporaryDirectory(prefix="spacy_crf-", dir=settings.folder)
        self.client.wait_for_workers(1 if settings.scheduler else settings.workers)
        self.layout, self.places = layout, list[Indices]()
        self._paths: list[str] = []
        self._owners: dict[str, str] = {}  # addresses of workers
        for number, shard in enumerate(cut_shards(corpus, max(1, len(self.client.nthreads())))):
            own, narrowed, places = narrow(shard, layout)
            path = Path(self._folder.name, f"{number}.npz").absolute()  # workers may run elsewhere
            write_shard(path, own, narrowed)
            self._paths.append(str(path))
            self.places.append(places)

    def close(self) -> None:
        """Let the workers go, and remove the files."""
        self._connection.close()
        self._folder.cleanup()

    def _connect(self) -> None:
        self._connection.close()
        self.client = self._connection.enter_context(connect(self._settings.scheduler, self._settings.workers))

    def ask(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Call a function of the path of a shard, and of its arguments, for each shard, where it is kept.

        RAISES (ValueError): where workers are lost again and again.
        """
        from dask import config

        for _ in range(ATTEMPTS):
            try:
                self.client.wait_for_workers(1, timeout=STARTING)
            except TimeoutError:  # processes that were lost while they started are not started anew
                self._connect()
                continue
            owners = self._assigned()
            with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                futures = [
                    self.client.submit(function, *own, workers=owner, allow_other_workers=True, pure=False)
                    for owner, *own in zip(owners, self._paths, *arguments)
                ]
            answers = list(map(self._answer, futures, owners))
            if all(answer is not None for answer in answers):
                return answers
            self.client.cancel(futures)
        raise CRFError(LearningErrors.CRF689.format(attempts=ATTEMPTS))

    def _answer(self, future: Any, owner: str) -> Any:
        """What a worker says; None where it is lost and nobody took its place, which Dask may wait for without end."""
        from distributed import CancelledError, KilledWorker

        while True:
            try:
                return future.result(timeout=PATIENCE)
            except (KilledWorker, CancelledError):
                return None
            except TimeoutError:
                if owner not in self.client.nthreads():
                    return None

    def _assigned(self) -> list[str]:
        """A worker for each shard: the one that it had, unless that is gone."""
        present = dict.fromkeys(self.client.nthreads(), 0)
        for path in self._paths:
            if self._owners.get(path) in present:
                present[self._owners[path]] += 1
        for path in self._paths:
            if self._owners.get(path) not in present and present:
                self._owners[path] = min(present, key=present.__getitem__)
                present[self._owners[path]] += 1
        return [self._owners[path] for path in self._paths]


# -- learning ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistributedObjective:
    """The objective of `FullBatchObjective`, of the weights as the layout has them ((layout.size,))."""

    shards: Shards
    c2: float

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at x."""
        answers = self.shards.ask(evaluate_shard, [x[places] for places in self.shards.places])
        value, gradient = self.c2 * float(x @ x), 2 * self.c2 * x
        for places, (loss, own) in zip(self.shards.places, answers):
            value += loss
            gradient[places] += own
        return value, gradient

    def weights(self, x: Floats) -> ChainWeights:
        """Return the weights at x."""
        return ChainWeights(self.shards.layout, x)


class MixedEpochs:
    """AdaGrad by epochs over shards, all from the same weights; the results are averaged (McDonald, Hall & Mann 2010).

    A weight is averaged over the shards that have its feature. It is used as a minimiser is: `value` is the loss of the
    last epoch, each sequence at the weights that it met, and x the mean of the weights over time.
    """

    reason = None

    def __init__(self, shards: Shards, settings: AdaGradSettings, flat: Floats):
        self.shards, self._settings = shards, settings
        self._time, self._n_steps = 1, 0
        self._state = {"raw": np.asarray(flat, dtype=np.float64), "sums": np.zeros(len(flat))}
        self._state["squares"] = np.full(len(flat), settings.damping)
        self._shares = np.zeros(len(flat))
        for places in shards.places:
            self._shares[places] += 1
        self.iterations, self.evaluations, self.value, self.gradient_norm = 0, 0, np.inf, np.nan

    @property
    def x(self) -> Doubles:
        """((n,)): the weights to predict with."""
        raw = self._state["raw"]
        return raw - self._state["sums"] / self._time if self._settings.averaging else raw

    def run(self, epochs: int) -> int:
        """Run epochs, and return how many."""
        for _ in range(epochs):
            self._epoch()
        return epochs

    def _epoch(self) -> None:
        clocks = {"time": self._time, "n_steps": self._n_steps}
        states = [{name: own[places] for name, own in self._state.items()} | clocks for places in self.shards.places]
        answers = self.shards.ask(learn_shard, *zip(*((self._settings, own, self.iterations) for own in states)))
        for name, values in self._state.items():
            moved = np.zeros(len(values))
            for places, (_, state) in zip(self.shards.places, answers):
                moved[places] += state[name] - values[places]
            values += moved / np.maximum(self._shares, 1)
        self._time = round(np.mean([state["time"] for _, state in answers]))
        self._n_steps = round(np.mean([state["n_steps"] for _, state in answers]))
        self.value = sum(loss for loss, _ in answers)
        self.iterations += 1
        self.evaluations += 1


class DistributedTrainer(LBFGSTrainer):
    """Full-batch training whose corpus is encoded here, once, and kept by workers."""

    learns_trigrams = learns_constrained = False

    def __init__(self, settings: DistributedSettings, nlp: Language | None = None):
        self._asked, inner = settings, settings.trainer
        self.shards: Shards | None = None
        epoch_by_epoch = LBFGSSettings(c2=0.0, iterations_per_step=1)
        super().__init__(inner if isinstance(inner, LBFGSSettings) else epoch_by_epoch, nlp)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._asked,)

    def reset(self) -> None:
        self._release()
        super().reset()

    def _release(self) -> None:
        if self.shards is not None:
            self.shards.close()
        self.shards = None

    def _optimize(self, learner: ChainLearner, corpus: WindowedCorpus) -> Any:
        assert isinstance(corpus, EncodedCorpus)
        self._objective = self.optimizer = None
        self._release()
        weights, own = get_weights(learner.model), self._asked.trainer
        shards = self.shards = Shards(corpus, weights.layout, self._asked)
        objective: Any = DistributedObjective(shards, self.c2)
        flat = np.asarray(weights.flat, dtype=np.float64)
        optimizer: Any
        if isinstance(own, LBFGSSettings):
            optimizer = minimiser(objective, flat, np.full(len(flat), own.c1), **own.search)
        else:
            assert isinstance(own, AdaGradSettings)
            optimizer = MixedEpochs(shards, own, flat)
        self._objective, self.optimizer = objective, optimizer
        return optimizer

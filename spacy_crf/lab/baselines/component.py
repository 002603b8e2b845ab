"""The component behind the taggers that the CRF is compared with, and the `Estimator` that says how one learns.

What they learn are counts, or the optimum of a convex objective: nothing that an optimiser of thinc could step towards,
average or decay. So the thinc Model of the component has no parameters. It stands for a trainable component in spaCy's
training loop, `use_params` and `resume_training`, which all call it; what was learned is the estimator's,
and is stored beside the labels as data.

Each reference Doc counts once in a run, however often the loop shows it. With any batcher the model is that of all
examples so far; it is made when it is needed, for an evaluation say, so that one batch of the whole corpus
(spacy_crf.full_batch.v1) and one step cost least.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, noop

from ...annotation.extensions import register_marginals
from ...annotation.target import DecodedDoc
from ...core.arrays import Floats, Ints, Segments
from ...core.errors import CRFError, excerpt
from ...core.labels import UNKNOWN, Gold, TagSet
from ...core.threads import ForkSafeLock
from ...features.columns import Columns
from ...features.extract import FeatureExtractor
from ...learning.packed import dumps, loads
from ...pipe.decoding import Decoder, IsolatesFailures, MarginalsOutput, Prediction
from ...pipe.dictionary.counts import Data
from ...pipe.errors import PipeErrors
from ...pipe.labels import OF_PREPARATION, PREPARATION, HasLabels, KeepsPreparation, tell_stream
from ...pipe.live_settings import HasSettings, LiveSettings
from ...pipe.scorer import report_scores, target_scores
from ...pipe.setting_types import learned_values
from ...pipe.storage import Parts, readable
from ...tagsets.gold import WeightedTags, weighted_gold
from ..block import ComparisonSettings
from ..errors import LabErrors

_FITTING = ForkSafeLock()  # threads may share a pipeline that has yet to be fitted


class Estimator(ABC):
    """Learns labels of tokens. What comes is collected; the model is made from it when it is first asked for.

    The model has `marginals` and `decode`. extractor (FeatureExtractor): reads Docs.
    scored_by (dict): what probabilities follow from beside what is stored.
    """

    scored_by: dict[str, Any]

    def __init__(self, extractor: FeatureExtractor):
        self.extractor = extractor
        self._model: Any = None

    @property
    @abstractmethod
    def has_learned(self) -> bool:
        """Whether there is something to make a model of."""

    @abstractmethod
    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        """Begin anew. references (Callable): gives the gold Docs that the pipeline is initialised with."""

    @property
    def fitted(self) -> list[str]:
        """What `reset` fits to Docs, by the names of settings."""
        return []

    @abstractmethod
    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        """Collect a batch of N units, of which at least one has gold. vocab (Vocab): has their strings."""

    @abstractmethod
    def fit(self) -> Any:
        """Return the model of all that was collected."""

    @abstractmethod
    def inputs(self, columns: Columns, vocab: Vocab) -> tuple[Any, ...]:
        """Return what the model looks at."""

    @abstractmethod
    def to_data(self) -> Data:
        """Return arrays, lists and numbers that can be stored; empty where nothing was learned."""

    def check(self, data: Data, name: str) -> None:  # noqa: B027
        """Raise a coded error where data, not empty, does not fit the settings of the component; counts always do."""

    @abstractmethod
    def from_data(self, data: Data) -> int | None:
        """Take over what `to_data` gave, and return the number of labels; None where nothing was learned."""

    @property
    def model(self) -> Any:
        """The model, made anew where something has come since it was made."""
        with _FITTING:
            if self._model is None:
                self._model = self.fit()
            return self._model

    def read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """Read columns of at least one Doc. extra (int | None): an attribute of spaCy's to read along."""
        return self.extractor.read(docs, docs[0].vocab, extra)

    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        """Return exact probabilities ((N, L)) of the labels of N units."""
        return np.asarray(self.model.marginals(*self.inputs(columns, vocab)))

    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        """Return labels ((N,)) of the most probable sequences."""
        return np.asarray(self.model.decode(*self.inputs(columns, vocab)))


class _Taken(WeakKeyDictionary[Doc, int]):
    """References of a run, with checksums of their gold. They stay in the process that trains: copies begin without."""

    def __reduce__(self) -> Any:
        return type(self), ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return type(self)()


class ComparisonTagger(HasSettings, IsolatesFailures, HasLabels, KeepsPreparation, TrainablePipe):
    """Labels tokens by what an estimator has learned. See `lab.block` for the settings."""

    parts = ("cfg", "model")

    def __init__(self, vocab: Vocab, name: str, settings: ComparisonSettings, estimator: Estimator):
        self.vocab, self.name, self.settings, self.estimator = vocab, name, settings, estimator
        self.target, self.scorer = settings.target, settings.scorer
        self.model: Model[Any, Any] = noop()
        self.live_settings = LiveSettings(name, settings, {PREPARATION: None, "labels": []})
        self._taken = _Taken()
        self.apply_preparation(estimator.extractor)
        register_marginals(self.cfg["marginals"])

    # -- labels ----------------------------------------------------------------------------------------------

    @property
    def annotation(self) -> WeightedTags:
        """What is learned from and written."""
        return WeightedTags(self.target, self.cfg["overwrite"], self.cfg["gold_tags"])

    def describe_gold(self) -> str:
        return self.annotation.description

    def add_label(self, label: str) -> int:
        """Add a label behind the present ones, before anything was learned; 1 if it is new, else 0."""
        self.check_label(label)
        if label in self.labels:
            return 0
        if self.estimator.has_learned:
            raise CRFError(LabErrors.CRF421.format(name=self.name, label=label))
        self.set_labels([*self.labels, label])
        return 1

    # -- training --------------------------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Set labels, read word lists and forget what was learned; learning comes with the updates.

        get_examples (Callable): the training examples; read for the labels, unless they are given, and for how they
            were prepared.
        nlp (Language | None): the pipeline, whose tokenizer splits the phrases of word lists.
        labels (list[str] | None): all labels, as `spacy init labels` writes them; behind those added before.
        """
        found = self.annotation.labels(self.references(get_examples)) if labels is None else labels
        self.set_labels([*self.labels, *found])
        self.learn_preparation(self.references(get_examples))
        self.estimator.reset(nlp, lambda: self.references(get_examples))
        self.apply_preparation(self.estimator.extractor)
        tell_stream(self.name, nlp, ["labels"] * (labels is None) + self.estimator.fitted)
        report_scores(nlp, self.name, target_scores(self.target))
        self._taken = _Taken()

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take in a batch; examples whose reference has come before in this run add nothing. If its gold has changed
        since, it is an error.

        losses (dict | None): gets log L for each token that comes for the first time, the loss of knowing nothing.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        checksums = self._checksums(examples)
        for example, checksum in zip(examples, checksums):
            if self._taken.get(example.reference, checksum) != checksum:
                raise CRFError(LabErrors.CRF659.format(name=self.name, document=excerpt(example.reference.text)))
        # copies of one reference in a batch are one example too
        fresh = list({id(eg.reference): eg for eg in examples if eg.reference not in self._taken}.values())
        if fresh:
            self._learn(fresh)
            losses[self.name] += sum(len(eg.predicted) for eg in fresh) * float(np.log(len(self.labels)))
            self._taken.update(zip((eg.reference for eg in examples), checksums))
        return losses

    def _gold(self, examples: Sequence[Example]) -> Gold:
        if not self.labels:
            raise CRFError(PipeErrors.CRF401.format(name=self.name))
        return weighted_gold(self.name, examples, self.target, self.cfg["gold_tags"], TagSet(self.labels, "none"))

    def _checksums(self, examples: Sequence[Example]) -> list[int]:
        """Numbers that change with the gold of examples."""
        gold = self._gold(examples) if examples else Gold.known(np.zeros(0, dtype=np.int32), 0)
        parts = (gold.slice(own.start, own.stop) for own in Segments.of(eg.predicted for eg in examples).slices())
        return [crc32(part.labels.tobytes() + part.weights.tobytes()) for part in parts]

    def _learn(self, examples: Sequence[Example]) -> None:
        gold = self._gold(examples)
        if len(gold.seen_pairs()[0]):
            docs = [eg.predicted for eg in examples]
            columns = self.estimator.read(docs)
            self.compare_preparation(examples, columns, gold)
            self.estimator.take(columns, gold, docs[0].vocab)

    # -- prediction ------------------------------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[Prediction]:
        """Label Docs without changing them."""
        # without sequences to decode, the most probable label of each token is all there is
        posterior = self.cfg.get("decode", "posterior") == "posterior"
        return self._infer(list(docs), posterior, posterior or self.cfg["marginals"] is not None)

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Exact probabilities ((n, L)) of all labels for each Doc, in single precision."""
        return [np.asarray(prediction.told[0]) for prediction in self._infer(docs, True, True)]

    def _infer(self, docs: Sequence[Doc], posterior: bool, marginals: bool) -> list[Prediction]:
        if not any(len(doc) for doc in docs):
            none = np.zeros((0, len(self.labels)))
            return [Prediction(DecodedDoc(np.zeros(0, dtype=np.int32)), (none,)) for _ in docs]
        if not self.estimator.has_learned:
            raise CRFError(LabErrors.CRF420.format(name=self.name))
        vocab = docs[0].vocab
        columns = self.estimator.read(docs, self.annotation.reads)
        found = self.estimator.marginals(columns, vocab).astype(np.float32) if marginals else None
        tags = found.argmax(axis=1) if posterior and found is not None else self.estimator.decode(columns, vocab)
        unlabelled, present = self.unlabelled(docs, columns), columns.extra
        if unlabelled is not None:
            tags = np.where(unlabelled, UNKNOWN, tags)
        return [
            Prediction(
                DecodedDoc(tags[own], present=None if present is None else present[own]),
                (None if found is None else found[own],),
            )
            for own in Segments(columns.doc_lengths).slices()
        ]

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Prediction]) -> None:
        """Write predictions to Docs. Annotation that is there stays, unless `overwrite` is set."""
        name = self.cfg["marginals"]
        outputs = () if name is None else (MarginalsOutput(name, self.labels),)
        Decoder(self.annotation, outputs).write(docs, predictions, TagSet(self.labels, "none"))

    # -- what a promise holds for ---------------------------------------------------------------------------------

    @property
    def scores(self) -> Any:
        """What probabilities are made with at the moment: another one when something has been learned."""
        return self.estimator.model if self.estimator.has_learned else None

    @property
    def scored_by(self) -> dict[str, Any]:
        """What probabilities follow from beside what is stored."""
        return {**self.estimator.scored_by, PREPARATION: self.cfg[PREPARATION]}

    # -- state -----------------------------------------------------------------------------------------------

    def stored_files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        return Parts(self.cfg, dumps(self.estimator.to_data())).files(exclude)

    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        parts = Parts.parse(files, self.name, path)
        data = None
        with readable(self.name, path):
            if parts.cfg is not None:
                self.cfg.learn(labels=[str(label) for label in parts.cfg["labels"]])
                self.cfg.learn(**{PREPARATION: None, **learned_values(parts.cfg, OF_PREPARATION)})
                self.cfg.take(parts.cfg, alone)
            if parts.model is not None:
                data = loads(parts.model, len(files["model"]))
        if data:
            self.estimator.check(data, self.name)
        with readable(self.name, path):
            n_labels = None if data is None else self.estimator.from_data(data)
            self.apply_preparation(self.estimator.extractor)
        self._taken = _Taken()
        for label in self.labels:
            self.check_label(label)  # the target may be another one than in training
        if n_labels is None:
            return
        if n_labels != len(self.labels):
            expected = len(self.labels)
            raise CRFError(LabErrors.CRF423.format(name=self.name, path=path, actual=n_labels, expected=expected))
        _ = self.estimator.model  # now, not at the first Doc

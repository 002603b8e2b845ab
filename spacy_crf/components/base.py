"""What all components over a linear chain share: features, weights, training, inference, serialisation."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import srsly
from spacy import util
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ..core.chain.potentials import NonFiniteError, NoPathError
from ..core.gold import Gold
from ..core.labels import Scheme, TagSet
from ..core.params import DenseWeights
from ..core.types import Bools
from ..errors import Errors, Warnings
from ..features.columns import SequenceMode, describe
from ..features.config import FeatureConfig, Features
from ..learner import ChainLearner, Sample, count_labels
from ..model import PARAMS, ChainModel, dense_weights, get_layout, resize_labels, set_masks, start_layout
from ..trainers import Trainer
from .inference import Inference, Prediction, infer

FORMAT = 1  # of the component's folder


class ChainPipe(TrainablePipe):
    """Base of the components. A subclass says what its tags are, where gold comes from, and what it writes.

    vocab (Vocab): of the pipeline. model (Model): holds the weights. name (str): of the pipe.
    features (FeatureConfig): templates. trainer (Trainer): how it learns.
    sequence (str): "auto", "doc" or "sents". scheme (str): "BIO", "BILUO" or "none".
    forbidden (list[list[str]]): pairs of tags that may not follow each other, beyond what the scheme forbids.
    settings (dict): run-time settings, read on each prediction from `cfg`.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str,
        *,
        features: FeatureConfig,
        trainer: Trainer,
        sequence: SequenceMode,
        scheme: Scheme,
        forbidden: list[list[str]],
        scorer: Callable[..., dict[str, Any]] | None,
        settings: dict[str, Any],
    ):
        self.vocab, self.model, self.name, self.scorer, self.trainer = vocab, model, name, scorer, trainer
        self.feature_config, self.sequence, self.scheme, self.forbidden = features, sequence, scheme, forbidden
        self.cfg: dict[str, Any] = {**settings, "labels": []}
        self._features = Features(features, sequence)
        self._dense: tuple[list[Any], DenseWeights] | None = None
        self._begin()

    # -- what a subclass defines -----------------------------------------------------------------------------

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        """The tags of the chain for the component's labels."""
        raise NotImplementedError

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        """Labels that occur in gold Docs, sorted."""
        raise NotImplementedError

    def gold(self, examples: Sequence[Example]) -> Gold:
        """Gold of the tokens of the predicted Docs, one Doc after the other."""
        raise NotImplementedError

    def inference(self) -> Inference:
        """What to compute for each Doc under the present settings."""
        raise NotImplementedError

    def describe_gold(self) -> str:
        """How messages name the annotation that the component learns from."""
        raise NotImplementedError

    # -- labels ----------------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the component."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """Labels as `initialize` takes them back."""
        return list(self.cfg["labels"])

    @property
    def tags(self) -> TagSet:
        """Tags of the chain, in the order of its label indices."""
        return self._learner.tags

    def add_label(self, label: str) -> int:
        """Add a label behind the present ones; trained weights stay.

        RETURNS (int): 1 if the label is new, else 0.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.CRF409.format(name=self.name, label=label))
        if label in self.labels:
            return 0
        self.cfg["labels"] = [*self.cfg["labels"], label]
        self.vocab.strings.add(label)
        if get_layout(self.model).n_labels:
            resize_labels(self.model, len(self.make_tags(self.labels)))
        self.trainer.reset()
        self._begin()
        return 1

    # -- training --------------------------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Set labels and read word lists. Features and weights come with the first update.

        get_examples (Callable): the training examples; read once, for the labels, unless they are given.
        nlp (Language | None): the pipeline, whose tokenizer splits the phrases of word lists.
        labels (list[str] | None): all labels, as `spacy init labels` writes them.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        found = list(labels) if labels is not None else self.find_labels(eg.reference for eg in get_examples())
        if not found:
            where = {"annotation": self.describe_gold(), "target": self.cfg.get("target")}
            raise ValueError(Errors.CRF402.format(name=self.name, **where))
        for label in found:
            self.vocab.strings.add(label)
        self.cfg["labels"] = found
        self._features = Features(self.feature_config, self.sequence, self.feature_config.read_lists(nlp))
        self.trainer.reset()
        tags = self.make_tags(self.labels)
        start_layout(self.model, tags, self._allowed(tags))
        self._begin()

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take in a batch; the weights change in `finish_update`. Dropout has no meaning here."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if examples:
            self._require_labels()
            losses[self.name] += self.trainer.accumulate(self._learner, examples, self._sample)
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Let the trainer take its step."""
        self.trainer.apply(self._learner, sgd or None)
        self._dense = None

    def _sample(self, examples: Sequence[Example]) -> Sample:
        gold = self.gold(examples)
        sample = self._learner.sample([eg.predicted for eg in examples], gold)
        if not len(self._features.state):
            self._warn_of_empty_labels(gold)
        return sample

    def _warn_of_empty_labels(self, gold: Gold) -> None:
        """Only trainers that see the whole corpus at once can tell."""
        counts = count_labels(gold, len(self.tags))
        missing = [label for label in self.labels if not counts[self.tags.tags_of(label)].any()]
        if missing and self.trainer.sees_everything:
            warnings.warn(Warnings.CRFW401.format(name=self.name, labels=", ".join(missing)), stacklevel=2)

    # -- prediction ------------------------------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[Prediction]:
        """Decode Docs without changing them.

        RETURNS (list[Prediction]): one for each Doc.
        """
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            return [Prediction.empty(len(self.tags)) for _ in docs]
        self._require_labels()
        columns = self._features.extractor.read(docs, self.vocab)
        return infer(columns, self._features, self._weights(), get_layout(self.model), self.tags, self.inference())

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process a stream; a Doc that fails goes to the error handler alone, and the rest of its batch goes on."""
        handle = self.get_error_handler()
        for docs in util.minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
                yield from docs
            except Exception:
                for doc in docs:
                    try:
                        self.set_annotations([doc], self.predict([doc]))
                        yield doc
                    except Exception as error:
                        handle(self.name, self, [doc], self._explained(error, doc))

    def _explained(self, error: Exception, doc: Doc) -> Exception:
        """The error with the name of the document, which the core does not know."""
        if isinstance(error, NonFiniteError | NoPathError):
            message = Errors.CRF407.format(name=self.name, document=describe(doc), error=error)
            return ValueError(message).with_traceback(error.__traceback__)
        return error

    def _weights(self) -> DenseWeights:
        """Dense weights, made anew when a parameter was replaced (training, `use_params`, loading)."""
        params = [self.model.get_param(name) for name in PARAMS]
        if self._dense is None or any(old is not new for old, new in zip(self._dense[0], params)):
            self._dense = (params, dense_weights(self.model))
        return self._dense[1]

    def _require_labels(self) -> None:
        if not self.labels:
            raise ValueError(Errors.CRF401.format(name=self.name))

    # -- state -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Tie features, model and tags together after one of them was replaced."""
        tags = self.make_tags(self.labels)
        if get_layout(self.model).n_labels == len(tags):
            set_masks(self.model, self._allowed(tags))
        self._learner = ChainLearner(self._features, self.model, self.vocab, tags)
        self._dense = None

    def _allowed(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        transitions, starts, ends = tags.legal()
        for pair in self.forbidden:
            for tag in pair:
                if tag not in tags.number:
                    raise ValueError(Errors.CRF410.format(name=self.name, tag=tag, tags=", ".join(tags.tags)))
            transitions[tags.number[pair[0]], tags.number[pair[1]]] = False
        return transitions, starts, ends

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Everything that training made, as bytes; the same ones for the same state."""
        writers = {"cfg": lambda: srsly.json_dumps(self._state()), "model": self.model.to_bytes}
        writers["features"] = lambda: srsly.msgpack_dumps(self._features.to_data())
        serialized: bytes = util.to_bytes(writers, list(exclude))
        return serialized

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "ChainPipe":
        """Restore from `to_bytes`."""
        self._load(lambda readers: util.from_bytes(bytes_data, readers, list(exclude)), "bytes", lambda data: data)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write cfg (JSON), features and model (msgpack) to a folder."""
        writers = {
            "cfg": lambda p: srsly.write_json(p, self._state()),
            "features": lambda p: srsly.write_msgpack(p, self._features.to_data()),
            "model": lambda p: self.model.to_disk(p),
        }
        util.to_disk(path, writers, list(exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ChainPipe":
        """Read a folder that `to_disk` wrote; no code from the files is run.

        RAISES (ValueError): for a folder that is incomplete, damaged, or of another format.
        """
        read = Path.read_bytes
        self._load(lambda readers: util.from_disk(Path(path), readers, list(exclude)), str(path), read)
        return self

    def _state(self) -> dict[str, Any]:
        return {"format": FORMAT, **self.cfg}

    def _load(self, run: Callable[[dict[str, Any]], Any], path: str, read: Callable[[Any], bytes]) -> None:
        """Run the readers of the parts; run-time settings stay those of the config, only labels are taken."""
        state: dict[str, Any] = {}
        readers = {
            "cfg": lambda source: state.update(cfg=srsly.json_loads(read(source))),
            "features": lambda source: state.update(features=srsly.msgpack_loads(read(source))),
            "model": lambda source: state.update(model=read(source)),
        }
        try:
            run(readers)
            if "cfg" in state:
                self._load_cfg(state["cfg"], path)
            if "features" in state:
                self._load_features(state["features"], path)
            if "model" in state:
                self.model.from_bytes(state["model"])
        except Exception as error:
            if "[CRF4" in str(error):
                raise
            raise ValueError(Errors.CRF404.format(name=self.name, path=path, error=repr(error))) from error
        self.trainer.reset()
        self._begin()

    def _load_cfg(self, cfg: dict[str, Any], path: str) -> None:
        if cfg["format"] != FORMAT:
            raise ValueError(Errors.CRF405.format(name=self.name, path=path, found=cfg["format"], expected=FORMAT))
        self.cfg["labels"] = cfg["labels"]

    def _load_features(self, data: dict[str, Any], path: str) -> None:
        ours = [str(template) for template in self.feature_config.templates]
        if data["templates"] != ours:
            raise ValueError(Errors.CRF406.format(name=self.name, theirs=data["templates"], ours=ours))
        self._features = Features.from_data(data, self.feature_config, self.sequence)

"""The spaCy component over a linear chain: settings, features, weights, a trainer, a target and a decoder."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NoReturn

import numpy as np
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer, set_dropout_rate

from ..annotation.gold import Violation, find_violation, forget_crossing
from ..annotation.span_targets import GroupTarget, SpanTarget
from ..annotation.target import Target
from ..core.arrays import Bools, Floats, Indices, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.objective import loss_and_gradient
from ..core.chain.observations import Observations
from ..core.chain.temperature import HeldOut
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.gold import Gold
from ..core.labels import OUTSIDE, Scheme, TagSet
from ..core.threads import available_threads, run_parallel
from ..core.weights import DenseWeights
from ..features.columns import Columns
from ..features.features import Features
from ..features.resources import word_counter, word_lists
from ..learning.encoder import Sample
from ..learning.model import get_layout, get_tok2vec, resize_labels, start_vectors, start_weights, take_weights
from ..learning.scores import encode
from ..learning.vectors import begin_update, predict_vectors
from .block import ChainSettings, LiveSettings
from .chain_storage import StoresChain
from .decoding import Batch, Decoder, Prediction
from .dictionary.valid_tags import ValidTags
from .errors import PipeErrors, PipeWarnings
from .isolation import IsolatesFailures
from .strata import Tokens

SAMPLE = 10  # examples that show a tok2vec layer its shapes
UNITS_PER_THREAD = 4096  # fewer do not repay a thread


class ChainPipe(IsolatesFailures, StoresChain, TrainablePipe):
    """Base of the components: a subclass names its target and its decoder.

    vocab (Vocab): of the pipeline. settings (ChainSettings): its block. name (str): in the pipeline.
    scheme (str): how spans become tags: "BIO", "BILUO" or "none".
    learned (Any): what comes from data and is kept in `cfg` beside labels, at its first value.
    """

    prepares: bool = False  # whether `before_training` has something to do

    def __init__(self, vocab: Vocab, settings: ChainSettings, name: str, scheme: Scheme = "none", **learned: Any):
        settings.check(name)
        self.vocab, self.settings, self.name, self.scheme = vocab, settings, name, scheme
        self.model, self.trainer, self.scorer = settings.model, settings.trainer, settings.scorer
        self._cfg = LiveSettings(name, settings, {**learned, "labels": []})
        self._features = Features(self.feature_config, self.sequence)
        self._valid_tags = ValidTags(name, getattr(settings, "dictionary", None), self.feature_config)
        self._first_step: Callable[[], None] | None = None
        self._begin()
        self.decoder().register()

    # -- what a subclass defines -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def annotation(self) -> Target:
        """What is learned and written, under the present settings."""
        raise NotImplementedError

    @abstractmethod
    def decoder(self) -> Decoder:
        """What chooses labels, and what is told beside, under the present settings."""
        raise NotImplementedError

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        """Labels that each unit may have under the present settings, one Doc after the other; None for all.

        lengths ((B,)): of the sequences that the Docs consist of.
        """
        return None

    def before_training(self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None) -> None:
        """Learn what models of parts of the examples show, before the first step; for classes that set `prepares`."""

    def describe_gold(self) -> str:
        return self.annotation.description

    # -- labels and settings ---------------------------------------------------------------------------------

    @property
    def cfg(self) -> LiveSettings:
        """Run-time settings, and what is learned beside the weights; values without meaning are refused."""
        return self._cfg

    @cfg.setter
    def cfg(self, values: Any) -> None:
        self._cfg.update(values)  # `spacy find-threshold` assigns all of them

    @property
    def target(self) -> str:
        """Name of what is learned and written."""
        target: str = self.settings.target  # type: ignore[attr-defined]
        return target

    @property
    def features(self) -> Features:
        """The extractor and the indices of the features."""
        return self._features

    @property
    def has_dictionary(self) -> bool:
        """Whether a tag dictionary rules tags out."""
        return self._valid_tags.config is not None

    @property
    def tags(self) -> TagSet:
        """Tags of the chain, in the order of its label indices."""
        return self._learner.tags

    @property
    def has_plain_spans(self) -> bool:
        """Whether the tags of spans are their labels; then O is a label where the training data have it."""
        return self.annotation.is_spans and self.scheme == "none"

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        """The tags of the chain for the component's labels."""
        if self.annotation.is_spans and self.scheme != "none" and labels:
            return TagSet.of_spans(labels, self.scheme)
        return TagSet(labels, self.scheme)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        """Labels that occur in gold Docs, sorted."""
        found, target = list(references), self.annotation
        labels = target.labels(found)
        if labels and isinstance(target, SpanTarget) and self.has_plain_spans:
            return [OUTSIDE, *labels] if any(target.has_outside(doc) for doc in found) else labels
        return labels

    def add_label(self, label: str) -> int:
        """Add a label behind the present ones; trained weights stay.

        RETURNS (int): 1 if the label is new, else 0.
        """
        self.check_label(label)
        if label in self.labels:
            return 0
        self.cfg["labels"] = [*self.cfg["labels"], label]
        self.vocab.strings.add(label)
        if get_layout(self.model).n_labels:
            resize_labels(self.model, len(self.make_tags(self.labels)))
        self.trainer.reset()
        self._begin()
        return 1

    def _require_labels(self) -> None:
        if not get_layout(self.model).n_labels:
            raise CRFError(PipeErrors.CRF401.format(name=self.name))

    # -- training --------------------------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        start: str | None = None,
    ) -> None:
        """Set labels, and read or fit word lists and the like. Features and weights come with the first update.

        get_examples (Callable): the training examples; read for the labels, unless they are given, and once more for
            what is fitted to them: normal forms of words, a tag dictionary.
        nlp (Language | None): the pipeline, whose tokenizer splits the phrases of word lists.
        labels (list[str] | None): all labels, as `spacy init labels` writes them; behind those added before.
        start (str | None): folder of a saved component with the same templates, to begin with its labels, features and
            weights of features: that of a model without vectors, for one that has some.
        RAISES (ValueError): where there are no labels, or the folder cannot be used.
        """
        begun = None if start is None else self._read_start(start)
        kept = list(get_examples()) if self._valid_tags.needs_gold else []
        read = kept.copy if kept else get_examples
        found = self.find_labels(self.references(read)) if labels is None else labels
        self.set_labels([*(begun.labels if begun else ()), *self.labels, *found])
        fitted_to = partial(self.references, read)
        resources = self.feature_config.make_resources(nlp, word_counter(fitted_to), word_lists(fitted_to))
        self._features = Features(self.feature_config, self.sequence, resources)
        self.trainer.reset()
        tags = self.make_tags(self.labels)
        start_weights(self.model, len(tags), self._allowed(tags))
        if begun is not None:
            self._features.take_indices(begun.features)
            take_weights(self.model, begun.model, len(tags))
        if get_tok2vec(self.model) is not None:
            self._require_gradients()
            docs = [example.predicted for example in islice(read(), SAMPLE)]
            start_vectors(self.model, docs, silent=begun is not None)
        self._begin()
        self._make_dictionary(kept)
        self._first_step = partial(self.before_training, get_examples, nlp) if self.prepares else None

    def _make_dictionary(self, examples: Sequence[Example]) -> None:
        """Make the tag dictionary, if the config has one, from a table or from training data."""
        self._valid_tags.read(self.tags, self._features.resources.lexicon.speller)
        if self._valid_tags.needs_gold:
            columns = self._features.extractor.read([example.predicted for example in examples], self.vocab)
            self._valid_tags.fit(columns, self.gold(examples, columns.lengths), self.vocab.strings, self.tags)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take in a batch; the weights change in `finish_update`.

        drop (float): dropout of the tok2vec layer, if there is one; the CRF itself has none.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if examples:
            self._require_labels()
            set_dropout_rate(self.model, drop)
            losses[self.name] += self.trainer.accumulate(self._learner, examples, self._sample)
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Optimizer | None) -> None:
        """Let the trainer take its step."""
        if self._first_step is not None:
            prepare, self._first_step = self._first_step, None
            prepare()
        self.trainer.apply(self._learner, sgd or None)
        self._forget_scores()

    def __getstate__(self) -> dict[str, Any]:
        """Without the training examples, which stay in the process that trains."""
        return {**self.__dict__, "_first_step": None}

    def _sample(self, examples: Sequence[Example]) -> Sample:
        docs = [eg.predicted for eg in examples]
        columns, backprop = self._read(docs), None
        tok2vec = get_tok2vec(self.model)
        if tok2vec is not None:
            self._require_gradients()
            vectors, backprop = begin_update(tok2vec, docs)
            columns = replace(columns, vectors=vectors)
        gold, strings = self.gold(examples, columns.lengths), self.vocab.strings
        mask = self._valid_tags.training_mask(columns, gold, strings)
        columns = self._valid_tags.fill_training(columns, gold, strings)
        return Sample(columns, gold, self._features.extractor, backprop, mask)

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        """Gold of the units of the predicted Docs, one Doc after the other.

        lengths ((B,)): of the sequences that the Docs consist of.
        RAISES (ValueError): for labels that the component does not know, and pairs of tags that are ruled out.
        """
        labels = np.concatenate([np.zeros(0, dtype=np.int32), *map(self._gold_tags, examples)])
        if self.annotation.is_spans:
            forget_crossing(labels, lengths, self.tags)
        violation = find_violation(labels, lengths, get_layout(self.model))
        if violation is not None:
            owners = Segments.of(example.predicted for example in examples).owners
            self._refuse(violation, examples[int(owners[violation.unit])])
        return self.annotation.narrow(Gold.known(labels, len(self.tags)), examples, self.tags)

    def _gold_tags(self, example: Example) -> Ints:
        target, document = self.annotation, {"name": self.name, "document": excerpt(example.reference.text)}
        if isinstance(target, GroupTarget) and target.has_overlaps(example.reference):
            warnings.warn(PipeWarnings.CRFW402.format(**document), CRFWarning, stacklevel=2)
        try:
            return target.gold(example, self.tags)
        except KeyError as error:
            raise CRFError(PipeErrors.CRF403.format(label=error.args[0], **document)) from error

    def _refuse(self, violation: Violation, example: Example) -> NoReturn:
        names = [*self.tags.tags, "the edge of a sequence"]
        before, after = (names[-1 if tag is None else tag] for tag in (violation.before, violation.after))
        where = {"name": self.name, "document": excerpt(example.reference.text), "scheme": self.scheme}
        raise CRFError(PipeErrors.CRF411.format(before=before, after=after, **where))

    def get_loss(self, examples: Iterable[Example], scores: Sequence[Any]) -> float:
        """Negative log-likelihood of gold under the present weights, which made the predictions.

        scores (list): what `predict` returned for the examples.
        """
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.get_loss")
        if not any(len(example.predicted) for example in examples):
            return 0.0
        columns, weights = self.read([eg.predicted for eg in examples]), self.scores.weights
        gold = self.gold(examples, columns.lengths)
        mask = self._valid_tags.training_mask(columns, gold, self.vocab.strings)
        observations = self.observe(columns).add_scores(mask)
        gold, layout = gold.take(observations.batch.units), weights.layout
        return loss_and_gradient(observations, gold, weights.dense, layout, DenseWeights.zeros(layout))

    def _require_gradients(self) -> None:
        if not self.trainer.learns_vectors:
            raise CRFError(PipeErrors.CRF206.format(name=self.name, trainer=type(self.trainer).__name__))

    # -- prediction ------------------------------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Decode Docs without changing them.

        RETURNS (list[Prediction]): one for each Doc.
        """
        return self.decode(list(docs), self.decoder())

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Any]) -> None:
        """Write predictions to Docs. Annotation that is there stays, unless `overwrite` is set."""
        self.decoder().write(docs, predictions, self.vocab.strings, self.tags)

    def decode(self, docs: Sequence[Doc], decoder: Decoder, given: bool = True) -> list[Prediction]:
        """Decode Docs on the threads of this process, whatever the settings are; only evidence depends on these.

        given (bool): whether there may be evidence.
        RETURNS (list[Prediction]): one for each Doc.
        """
        if not any(len(doc) for doc in docs):
            return [decoder.empty(self.tags) for _ in docs]
        parts, n_threads = self._parts_of(docs, decoder.reads, given)

        def decode_part(part: tuple[Sequence[Doc], Columns, Any, Bools | None]) -> list[Prediction]:
            docs, columns, looked_up, allowed = part
            distribution = self.scores.distribution(columns, looked_up).given(allowed)
            return decoder(Batch(docs, columns, distribution.at(self.settings.temperature), self.tags))

        return [found for part in run_parallel(decode_part, parts, n_threads) for found in part]

    def _parts_of(
        self, docs: Sequence[Doc], extra: int | None, given: bool
    ) -> tuple[list[tuple[Sequence[Doc], Columns, Any, Bools | None]], int]:
        """Parts of a batch for the threads: Docs, columns, looked-up scores, and labels that are possible."""
        self._require_labels()
        columns = self.read(docs, extra)
        allowed = self.possible_tags(docs, columns, given)
        n_threads = min(available_threads(), 1 + len(columns.orths) // UNITS_PER_THREAD)
        parts, first_doc, first = [], 0, 0
        for part in columns.split(n_threads):
            behind, end = first_doc + len(part.doc_lengths), first + len(part.orths)
            own = None if allowed is None else allowed[first:end]
            parts.append((docs[first_doc:behind], part, self.scores.look_up(part), own))
            first_doc, first = behind, end
        return parts, n_threads

    def distribution(self, docs: Sequence[Doc], given: bool = True) -> tuple[Columns, ChainDistribution]:
        """What the chain says of Docs, at the temperature of the settings.

        given (bool): whether there may be evidence.
        RETURNS (tuple): columns of the Docs, and the distribution over the labellings of their sequences.
        """
        self._require_labels()
        columns = self.read(docs)
        found = self.scores.distribution(columns, self.scores.look_up(columns))
        return columns, found.given(self.possible_tags(docs, columns, given)).at(self.settings.temperature)

    def held_out(self, examples: Sequence[Example]) -> HeldOut:
        """What the chain says of examples, with their gold; labels that the component does not know are unknown.

        RETURNS (HeldOut): for `fit_temperature`.
        RAISES (ValueError): for a model of order 2.
        """
        self.scores.weights.require_first_order(self.name, "fitting a temperature")
        columns, found = self.distribution([example.predicted for example in examples], given=False)
        gold = (self.annotation.gold(example, self.tags, strict=False) for example in examples)
        labels = np.concatenate([np.zeros(0, dtype=np.int32), *gold])
        if self.annotation.is_spans:
            forget_crossing(labels, columns.lengths, self.tags)
        return HeldOut(found, labels)

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Exact probabilities of all tags, at the temperature of the settings.

        Annotation that is there is no evidence, whatever `given` says: where another component asks, it is this one's.

        RETURNS (list of (n, L)): for each Doc, in single precision.
        """
        if not any(len(doc) for doc in docs):
            return [np.zeros((0, len(self.tags)), dtype=np.float32) for _ in docs]
        columns, found = self.distribution(docs, given=False)
        return list(Segments(columns.doc_lengths).split(found.marginals.astype(np.float32)))

    def read_tokens(self, docs: Sequence[Doc]) -> Tokens:
        """What promises may know of the tokens of Docs, in the component's sequences."""
        columns = self._read(docs)
        return Tokens(columns.orths, columns.lengths, columns.doc_lengths)

    def possible_tags(self, docs: Sequence[Doc], columns: Columns, given: bool = True) -> Bools | None:
        """Tags that each token may have: what `evidence` leaves, less what the tag dictionary rules out.

        given (bool): whether there may be evidence.
        RETURNS ((N, L) | None): for the columns of the Docs; None for all.
        """
        evidence = self.evidence(docs, columns.lengths) if given else None
        return self._valid_tags.narrow(evidence, docs, columns, self.vocab.strings, get_layout(self.model))

    def read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """Columns of Docs, with the vectors of the tokens if the model has them.

        extra (int | None): attribute to read along: a call into a Doc costs more than the attributes that it returns.
        """
        columns, tok2vec = self._read(docs, extra), get_tok2vec(self.model)
        return columns if tok2vec is None else replace(columns, vectors=predict_vectors(tok2vec, docs))

    def _read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        vocab = docs[0].vocab if docs else self.vocab  # another one, where the component was sourced
        columns = self._features.extractor.read(docs, vocab, extra)
        return self._valid_tags.fill(columns, vocab.strings)

    def observe(self, columns: Columns) -> Observations:
        """Packed observations of a batch of Docs."""
        return encode(columns, self._features, self.scores.weights.vectors)

"""The spaCy component over a linear chain: settings, features, weights, a trainer, a target and a decoder."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer, set_dropout_rate

from ..annotation.documents import document_numbers
from ..annotation.white_space import Places
from ..core.arrays import Bools, Floats, Indices, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.evidence import Known
from ..core.chain.objective import loss_and_gradient
from ..core.chain.potentials import Observations
from ..core.errors import CRFError
from ..core.labels import Gold, Scheme, TagSet
from ..core.threads import available_threads, run_parallel
from ..core.weights import DenseWeights
from ..features.columns import Columns
from ..features.features import Features
from ..features.resources import splitter
from ..learning.encoder import Sample
from ..learning.model import (
    begin_update,
    get_layout,
    get_tok2vec,
    get_weights,
    predict_vectors,
    start_vectors,
    start_weights,
    weight_arrays,
)
from ..learning.scores import Emissions, Rows, encode
from .block import ChainSettings
from .calibration import Calibrates
from .decoding import Batch, Decoder, IsolatesFailures, Prediction, WarnsOfScores
from .dictionary.valid_tags import ValidTags
from .errors import PipeErrors
from .labels import read_gold, tell_missing, tell_stream
from .live_settings import HasSettings, LiveSettings, join_all
from .scorer import report_scores
from .seen import make_trainer, seen_in_training, whole_corpus

SAMPLE = 10  # examples that show a tok2vec layer its shapes
UNITS_PER_THREAD, CELLS = 4096, 1 << 20  # fewer units repay no thread; more units times labels are decoded in turns


class ChainPipe(HasSettings, IsolatesFailures, Calibrates, WarnsOfScores, TrainablePipe):
    """Base of the components: a subclass names its target and its decoder.

    scheme (str): how spans become tags: "BIO", "BILUO" or "none".
    learned (Any): what comes from data and is kept in `cfg` beside labels, at its first value.
    """

    labels_tokens: bool = True  # whether the units of the chain are the tokens of a Doc
    prepares: str = ""  # what `before_training` learns, "" for nothing
    _known: tuple[list[Any], Emissions] | None = None  # weights, and the scores under them

    def __init__(self, vocab: Vocab, settings: ChainSettings, name: str, scheme: Scheme = "none", **learned: Any):
        settings.check(name)
        self.vocab, self.settings, self.name, self.scheme = vocab, settings, name, scheme
        self.model, self.trainer, self.scorer = settings.model, settings.trainer.make(settings.model), settings.scorer
        self.live_settings = LiveSettings(name, settings, {**learned, "labels": []})
        self.features = Features(self.feature_config, self.sequence)
        self.valid_tags = ValidTags(name, getattr(settings, "dictionary", None), self.feature_config)
        self._first_step: Callable[[], None] | None = None
        self.rebuild()
        self.decoder().register()

    # -- what a subclass defines -----------------------------------------------------------------------------

    @abstractmethod
    def decoder(self) -> Decoder:
        """What chooses labels, and what is told beside, under the present settings."""
        raise NotImplementedError

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        """Labels (N, L) that each unit may have; None for all. lengths ((B,)): of the sequences of the Docs."""
        return None

    def before_training(self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None) -> None:
        """Learn what models of parts of the examples show, before the first step; for classes that set `prepares`."""

    def shown(self, examples: list[Example]) -> list[Example]:
        """Return what is learned from a batch."""
        return examples

    @property
    def measured(self) -> Sequence[str]:
        """Names of the scores that the settings lead to, beside those that the factory gives a weight."""
        return ()

    def describe_gold(self) -> str:
        return self.annotation.description

    def splitter(self, nlp: Language | None) -> Callable[[str], list[str]]:
        """Return what splits the phrases of word lists into units: the pipeline's tokenizer, or at spaces without."""
        return splitter(nlp)

    # -- labels and settings ---------------------------------------------------------------------------------

    @property
    def has_dictionary(self) -> bool:
        """Whether there is a tag dictionary."""
        return self.valid_tags.config is not None

    @property
    def tags(self) -> TagSet:
        """Tags of the chain, in the order of its label indices."""
        return self.learner.tags

    def require_labels(self) -> None:
        """Raise a coded error where the chain has no labels yet."""
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
        start (str | None): folder of a saved component with the same templates, to begin with its labels, features,
            weights, and what was fitted, such as classes, or a tag dictionary, into which new texts are counted; mined
            constraints and weights of trees stay unless new ones are learned; vectors are left out. Where the trainers
            are `resumable`, training goes on as if not interrupted. A coded error where it cannot be used.
        """
        begun = None if start is None else self.read_start(start)
        get_examples = whole_corpus(self, nlp, get_examples)
        kept = list(get_examples()) if self.valid_tags.needs_gold else []
        read = kept.copy if kept else get_examples
        self.learn_texts(read)
        found = self.find_labels(self.references(read)) if labels is None else labels
        self.set_labels([*(begun.labels if begun else ()), *self.labels, *found])
        resources = self.feature_config.make_resources(
            self.splitter(nlp), partial(self.references, read), begun and begun.lexicon
        )
        self.features = Features(self.feature_config, self.sequence, resources)
        self.trainer = make_trainer(self, nlp, get_examples)
        tags = self.make_tags(self.labels)
        start_weights(self.model, len(tags), self.allowed_pairs(tags))
        if begun is not None:
            self.begin_with(begun)
        if get_tok2vec(self.model) is not None:
            self._require_gradients()
            start_vectors(self.model, [one.predicted for one in islice(read(), SAMPLE)], silent=begun is not None)
        self.rebuild()
        self.valid_tags.begin(self.tags, resources.lexicon.speller, begun and begun.features)
        if self.valid_tags.needs_gold:
            kept = list(self.word_examples(kept))
            columns = self.read_columns([example.predicted for example in kept])
            gold, documents = self.gold(kept, columns.lengths), document_numbers(kept)
            self.valid_tags.fit(columns, gold, self.tags, documents)
        seen = partial(seen_in_training, nlp, self.name, get_examples)
        self._first_step = partial(self.before_training, seen, nlp) if self.prepares else None
        tell_stream(self.name, nlp, [] if self.trainer.read else self.fitted(labels, begun))
        report_scores(nlp, self.name, self.measured)
        join_all(nlp)
        self.begin_calibration(nlp)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take in a batch; the weights change in `finish_update`. drop (float): dropout of the tok2vec layer alone."""
        losses, examples = {} if losses is None else losses, list(examples)
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if examples:
            self.require_labels()
            self.learner.name = self.name  # spaCy renames what a pipeline takes from another one
            set_dropout_rate(self.model, drop)
            losses[self.name] += self.trainer.accumulate(self.learner, self.shown(examples), self.make_sample)
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Optimizer | None) -> None:
        """Let the trainer take its step. Settings that were fitted to the weights before it are asked for anew."""
        self.forget_fits()
        self.forget_scores()  # the trainer needs the memory
        if (prepare := self._first_step) is not None:
            self._first_step = None
            prepare()
        self.trainer.apply(self.learner, sgd or None)
        self.forget_scores()

    def __getstate__(self) -> dict[str, Any]:
        """Without the training examples, which stay in the process that trains."""
        return {**self.__dict__, "_first_step": None}

    def make_sample(self, examples: Sequence[Example]) -> Sample:
        whole, examples = [eg.predicted for eg in examples], self.word_examples(examples)
        docs = [eg.predicted for eg in examples]
        if missing := self.features.extractor.missing_annotation(docs, "training"):
            tell_missing(self.name, missing, "training")
        columns, backprop = self.read_columns(docs), None
        if (tok2vec := get_tok2vec(self.model)) is not None:
            self._require_gradients()
            vectors, backprop = begin_update(tok2vec, docs, whole)
            columns = replace(columns, vectors=vectors)
        gold, mask = self.gold(examples, columns.lengths), None
        self.compare_preparation(examples, columns, gold)
        if self.has_dictionary:
            mask = self.valid_tags.training_mask(columns, gold)
            columns = self.valid_tags.fill_training(columns, gold)
        return Sample(columns, gold, self.features.extractor, backprop, mask)

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        """Gold of the units of the predicted Docs, in sequences of these lengths; a coded error if it cannot be."""
        return read_gold(self.name, self.annotation, examples, lengths, self.tags, get_layout(self.model))

    def get_loss(self, examples: Iterable[Example], scores: Sequence[Any]) -> float:
        """Negative log-likelihood of what is learned, under the present weights. scores (list): from `predict`."""
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.get_loss")
        examples = self.word_examples(self.shown(examples))
        if not any(len(example.predicted) for example in examples):
            return 0.0
        columns, weights = self.read([eg.predicted for eg in examples]), self.scores.weights
        gold = self.gold(examples, columns.lengths)
        mask = self.valid_tags.training_mask(columns, gold)
        observations = self.observe(columns).add_scores(mask)
        gold, layout = gold.take(observations.batch.units), weights.layout
        return loss_and_gradient(observations, gold, weights.dense, layout, DenseWeights.zeros(layout))

    def _require_gradients(self) -> None:
        if not self.trainer.learns_vectors:
            raise CRFError(PipeErrors.CRF206.format(name=self.name, trainer=type(self.trainer).__name__))
        if self.settings.trainer.resumable:
            raise CRFError(PipeErrors.CRF209.format(name=self.name))

    # -- prediction ------------------------------------------------------------------------------------------

    @property
    def scores(self) -> Emissions:
        """Scores under the present weights, made anew when one was replaced (training, `use_params`, loading)."""
        arrays = weight_arrays(self.model)
        if self._known is None or any(old is not new for old, new in zip(self._known[0], arrays, strict=True)):
            self._known = arrays, Emissions(self.features, get_weights(self.model), self.name, self.trainer.is_running)
        return self._known[1]

    def forget_scores(self) -> None:
        self._known = None

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Decode Docs without changing them: a Prediction for each."""
        return self.decode(list(docs), self.decoder())

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Any]) -> None:
        """Write predictions to Docs. Annotation that is there stays, unless `overwrite` is set."""
        self.decoder().write(docs, predictions, self.tags)

    def decode(self, docs: Sequence[Doc], decoder: Decoder, given: bool = True) -> list[Prediction]:
        """Decode Docs on the threads of this process, whatever the settings are, with or without evidence (`given`)."""
        if not any(len(doc) for doc in docs):
            return [decoder.empty(self.tags) for _ in docs]
        self.require_labels()
        if not self.has_probabilities:
            self.warn_of(self.settings.probabilistic())
        columns = self.read(docs, decoder.reads)
        if columns.has_white_space and self.skips_white_space:
            found = self.decode(self.words(docs), decoder, given)
            return [decoder.spread(one, doc, Places.of(doc)) for one, doc in zip(found, docs)]
        known = self.known_tags(docs, columns, given)
        n_units, most = len(columns.orths), max(UNITS_PER_THREAD, CELLS // get_layout(self.model).n_labels)
        n_threads = 1 if n_units < UNITS_PER_THREAD else min(available_threads(), 1 + n_units // UNITS_PER_THREAD)
        parts, first_doc, first = list[tuple[Sequence[Doc], Columns, list[Rows], Known | None]](), 0, 0
        for part in columns.split(n_threads * (1 + n_units // (n_threads * most))):
            behind, end = first_doc + len(part.doc_lengths), first + len(part.orths)
            own = None if known is None else known[first:end]
            parts.append((docs[first_doc:behind], part, self.scores.look_up(part), own))
            first_doc, first = behind, end

        def decode_part(part: tuple[Sequence[Doc], Columns, list[Rows], Known | None]) -> list[Prediction]:
            docs, columns, looked_up, known = part
            distribution = self.scores.distribution(columns, looked_up).given(known).at(self.temperature)
            unlabelled = None if self.preparation is None else self.unlabelled(docs, columns)
            return decoder(Batch(docs, columns, distribution, self.tags, unlabelled))

        return [found for part in run_parallel(decode_part, parts, n_threads) for found in part]

    def distribution(self, docs: Sequence[Doc], given: bool = True) -> tuple[Columns, ChainDistribution]:
        """Columns of Docs, and what the chain says of them at the temperature of the settings, and of evidence."""
        self.warn_of(["what is asked of it"])
        return self.read_distribution(docs, given)

    def read_distribution(self, docs: Sequence[Doc], given: bool) -> tuple[Columns, ChainDistribution]:
        """What `distribution` gives, without a warning where scores are no probabilities."""
        self.require_labels()
        columns = self.read(docs)
        found = self.scores.distribution(columns, self.scores.look_up(columns))
        return columns, found.given(self.known_tags(docs, columns, given)).at(self.temperature)

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Exact probabilities of all tags at the temperature of the settings: (n, L) for each Doc, in single precision.

        Annotation that is there is no evidence, whatever `given` says: where another component asks, it is this one's.
        """
        words, none = self.words(docs), np.zeros((0, len(self.tags)), dtype=np.float32)
        rows = [none] * len(words)
        if any(map(len, words)):
            columns, found = self.distribution(words, given=False)
            rows = Segments(columns.doc_lengths).split(found.marginals.astype(np.float32))
        return [Places.of(doc).spread(own, 0) if len(own) < len(doc) else own for doc, own in zip(docs, rows)]

    def known_tags(self, docs: Sequence[Doc], columns: Columns, given: bool = True) -> Known | None:
        """What is known (N, L) of the tag of each token: by `evidence`, if there is any, and the tag dictionary."""
        evidence = self.evidence(docs, columns.lengths) if given else None
        return self.valid_tags.narrow(evidence, columns, get_layout(self.model)) if self.has_dictionary else evidence

    def read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """Columns of Docs, with vectors if the model has them. extra (int | None): attribute to read along."""
        if missing := self.features.extractor.missing_annotation(docs, "use"):
            tell_missing(self.name, missing, "use")
        columns, tok2vec = self.read_columns(docs, extra), get_tok2vec(self.model)
        return columns if tok2vec is None else replace(columns, vectors=predict_vectors(tok2vec, docs, self.name))

    def read_columns(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        vocab = docs[0].vocab if docs else self.vocab  # another one, where the component was sourced
        columns = self.features.extractor.read(docs, vocab, extra)
        return self.valid_tags.fill(columns) if self.has_dictionary else columns

    def observe(self, columns: Columns) -> Observations:
        return encode(columns, self.features, self.scores.weights.vectors)

"""What all components over a linear chain share: training and prediction."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import cast

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.api import Optimizer, set_dropout_rate

from ..core.arrays import Bools, Floats, Indices
from ..core.chain.distribution import ChainDistribution
from ..core.chain.objective import loss_and_gradient
from ..core.errors import CRFError
from ..core.gold import Gold
from ..core.weights import DenseWeights
from ..features.columns import Columns
from ..features.features import Features
from ..features.resources import word_counter, word_lists
from ..learning.encoder import Sample
from ..learning.model import get_layout, get_tok2vec, start_vectors, start_weights, take_weights
from ..learning.vectors import begin_update, predict_vectors
from .constrained import SequenceFacts
from .errors import PipeErrors
from .inference import Inference, Prediction, encode, infer
from .isolation import IsolatesFailures
from .state import ChainState
from .strata import Tokens

SAMPLE = 10  # examples that show a tok2vec layer its shapes


class ChainPipe(IsolatesFailures, ChainState):
    """Base of the components. A subclass says what its tags are, where gold comes from, and what it writes.

    vocab (Vocab): of the pipeline. model (Model): holds the weights. name (str): of the pipe.
    features (FeatureSettings): templates. trainer (Trainer): how it learns.
    sequence (str): "auto", "doc" or "sents". scheme (str): "BIO", "BILUO" or "none".
    forbidden (list[list[str]]): pairs of tags that may not follow each other, beyond what the scheme forbids.
    settings (dict): run-time settings, read on each prediction from `cfg`.
    """

    # -- what a subclass defines -----------------------------------------------------------------------------

    @abstractmethod
    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        """Labels that occur in gold Docs, sorted."""
        raise NotImplementedError

    @abstractmethod
    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        """Gold of the tokens of the predicted Docs, one Doc after the other.

        lengths ((B,)): of the sequences that the Docs consist of.
        """
        raise NotImplementedError

    @abstractmethod
    def inference(self) -> Inference:
        """What to compute for each Doc under the present settings."""
        raise NotImplementedError

    @abstractmethod
    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        """Labels that each token may have under the present settings, one Doc after the other; None for all.

        lengths ((B,)): of the sequences that the Docs consist of.
        """
        raise NotImplementedError

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
        self.trainer.apply(self._learner, sgd or None)
        self._scores = None

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

    def get_loss(self, examples: Iterable[Example], scores: Sequence[Prediction]) -> float:
        """Negative log-likelihood of gold under the present weights, which made the predictions.

        scores (list[Prediction]): what `predict` returned for the examples.
        """
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.get_loss")
        if not any(len(prediction.tags) for prediction in scores):
            return 0.0
        columns, layout = self._read_all([eg.predicted for eg in examples]), get_layout(self.model)
        weights = self._emissions().weights
        observations = encode(columns, self._features, weights.vectors)
        gold = self.gold(examples, columns.lengths)
        mask = self._valid_tags.training_mask(columns, gold, self.vocab.strings)
        observations = observations.add_scores(mask)
        gold = gold.take(observations.batch.units)
        return loss_and_gradient(observations, gold, weights.dense, layout, DenseWeights.zeros(layout))

    # -- prediction ------------------------------------------------------------------------------------------

    def predict(self, docs: Iterable[Doc]) -> list[Prediction]:
        """Decode Docs without changing them.

        RETURNS (list[Prediction]): one for each Doc.
        """
        return self.infer(list(docs), self.inference())

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Exact probabilities of all tags, at the temperature of the settings.

        Annotation that is there is no evidence, whatever `given` says: where another component asks, it is this one's.

        RETURNS (list of (n, L)): for each Doc.
        """
        wanted = Inference(marginals=True, temperature=self.inference().temperature)
        return [cast(Floats, prediction.marginals) for prediction in self.infer(docs, wanted, given=False)]

    def read_tokens(self, docs: Sequence[Doc]) -> Tokens:
        """What promises may know of the tokens of Docs, in the component's sequences."""
        columns = self._read(docs)
        return Tokens(columns.orths, columns.lengths, columns.doc_lengths)

    def infer(self, docs: Sequence[Doc], inference: Inference, given: bool = True) -> list[Prediction]:
        """Compute what is asked for, whatever the settings are; only evidence depends on these.

        given (bool): whether there may be evidence.
        RETURNS (list[Prediction]): one for each Doc.
        """
        if not any(len(doc) for doc in docs):
            return [Prediction.empty(len(self.tags)) for _ in docs]
        self._require_labels()
        columns = self._read_all(docs, inference.extra)
        possible, facts = self.possible_tags(docs, columns, given), self.facts(docs, columns)
        return infer(columns, self._emissions(), self.tags, inference, possible, facts)

    def facts(self, docs: Sequence[Doc], columns: Columns) -> SequenceFacts | None:
        """What constraints may ask about the tokens; None for components without any."""
        return None

    def possible_tags(self, docs: Sequence[Doc], columns: Columns, given: bool = True) -> Bools | None:
        """Tags that each token may have: what `evidence` leaves, less what the tag dictionary rules out.

        given (bool): whether there may be evidence.
        RETURNS ((N, L) | None): for the columns of the Docs; None for all.
        """
        evidence = self.evidence(docs, columns.lengths) if given else None
        return self._valid_tags.narrow(evidence, docs, columns, self.vocab.strings, get_layout(self.model))

    def _read_all(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """Columns with the vectors of the tokens, if the model has them."""
        columns, tok2vec = self._read(docs, extra), get_tok2vec(self.model)
        return columns if tok2vec is None else replace(columns, vectors=predict_vectors(tok2vec, docs))

    def _read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        vocab = docs[0].vocab if docs else self.vocab  # another one, where the component was sourced
        columns = self._features.extractor.read(docs, vocab, extra)
        return self._valid_tags.fill(columns, vocab.strings)

    def _require_gradients(self) -> None:
        if not self.trainer.learns_vectors:
            raise CRFError(PipeErrors.CRF206.format(name=self.name, trainer=type(self.trainer).__name__))

    def _distribution(self, columns: Columns) -> ChainDistribution:
        """What the chains of a batch say under the present weights, at temperature 1."""
        emissions = self._emissions()
        return emissions.distribution(columns, emissions.look_up(columns))

    def _require_labels(self) -> None:
        if not get_layout(self.model).n_labels:
            raise CRFError(PipeErrors.CRF401.format(name=self.name))

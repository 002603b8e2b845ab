"""`memm_tagger`: a maximum-entropy Markov model over the features of a crf_tagger."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Floats, Ints
from ...core.errors import CRFError
from ...core.gold import Gold
from ...core.learn.blocks import Corpus
from ...core.sparse import SparseRows
from ...features.attributes import FITTED
from ...features.block import FeatureSettings, SequenceMode
from ...features.columns import Columns
from ...features.features import Features
from ...features.resources import word_counter, word_lists
from ...learning.encoder import Sample, join
from ...pipe.dictionary.counts import Data
from ...pipe.settings import Decode
from ...pipe.storage import check_templates
from ..errors import LabErrors
from .component import ComparisonTagger, Target
from .estimator import Estimator
from .memm import MEMM, check_training, fit_memm
from .settings import ASSIGNS, DEFAULT_CONFIG, SCORE_WEIGHTS, SEQUENCE_CONFIG


class MEMMEstimator(Estimator[MEMM]):
    """Collects encoded tokens and fits weights to all of them, again whenever more have come.

    A fit begins with the weights there are. They are but a start: the optimum is that of the examples collected since
    the component was initialised or loaded, so that a model which learns on forgets, as a CRF under L-BFGS does, what
    these do not show.

    config (FeatureSettings): templates. sequence (str): "auto", "doc" or "sents".
    c2 (float): L2 penalty. max_iterations (int): of L-BFGS.
    """

    def __init__(self, config: FeatureSettings, sequence: SequenceMode, c2: float, max_iterations: int):
        check_training(c2, max_iterations)
        for template in config.parsed:
            if template.is_edge:
                raise CRFError(LabErrors.CRF422.format(template=template))
            if any(atom.attribute.name in FITTED for atom in template.atoms):
                raise CRFError(LabErrors.CRF424.format(template=template))
        self.config, self.sequence, self.c2, self.max_iterations = config, sequence, c2, max_iterations
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

    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        resources = self.config.make_resources(nlp, word_counter(references), word_lists(references))
        self._start_over(Features(self.config, self.sequence, resources))

    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        sample = Sample(columns, gold, self.extractor)
        self._features.state.grow(sample.state, columns, vocab, self.config.padding)
        self._samples.append(sample)
        self._model = None

    def fit(self) -> MEMM:
        parts = [Corpus(s.columns.lengths, self._features.state.encode(s.state), s.gold) for s in self._samples]
        corpus = join(parts)
        self._weights = fit_memm(
            corpus.lengths,
            corpus.features,
            corpus.gold,
            c2=self.c2,
            max_iterations=self.max_iterations,
            start=self._weights,
        )
        return self._weights

    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        return self.model.marginals(columns.lengths, self._encode(columns))

    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        return self.model.decode(columns.lengths, self._encode(columns))

    def _encode(self, columns: Columns) -> SparseRows:
        return self._features.state.encode(self.extractor.keys(columns, self.extractor.state_templates))

    def to_data(self) -> Data:
        if not self.has_learned:
            return {}
        return {"features": self._features.to_data(), "weights": self.model.to_data()}

    def check(self, data: Data, name: str) -> None:
        check_templates(name, self.config, data.get("features", {}))

    def from_data(self, data: Data) -> int | None:
        if not data:
            self._start_over(Features(self.config, self.sequence))
            return None
        weights = MEMM.from_data(data["weights"])
        self._start_over(Features.from_data(data["features"], self.config, self.sequence), weights)
        return weights.n_labels


@Language.factory(
    "memm_tagger",
    assigns=ASSIGNS,
    default_config={
        **DEFAULT_CONFIG,
        **SEQUENCE_CONFIG,
        "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"]},
        "c2": 1.0,
        "max_iterations": 100,
    },
    default_score_weights=SCORE_WEIGHTS,
)
def make_memm_tagger(
    nlp: Language,
    name: str,
    features: FeatureSettings,
    target: Target,
    sequence: SequenceMode,
    overwrite: bool,
    decode: Decode,
    marginals: str | None,
    gold_tags: str,
    c2: float,
    max_iterations: int,
    scorer: Callable[..., dict[str, Any]] | None,
) -> ComparisonTagger:
    """Construct a tagger with a maximum-entropy Markov model.

    features (FeatureSettings): as for crf_tagger, without edge templates.
    target, overwrite, marginals, gold_tags, scorer: as for frequency_tagger. sequence, decode: as for hmm_tagger.
    c2 (float): L2 penalty. max_iterations (int): of L-BFGS, which stops earlier where it improves no more.
    RETURNS (ComparisonTagger): the component.
    """
    estimator = MEMMEstimator(features, sequence, c2, max_iterations)
    settings = {"overwrite": overwrite, "decode": decode, "marginals": marginals, "gold_tags": gold_tags}
    return ComparisonTagger(nlp.vocab, name, estimator, target=target, settings=settings, scorer=scorer)

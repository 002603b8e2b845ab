"""`punctuation_restorer` as spaCy knows it: the factory, its default config and scores."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from ..features.block import FeatureSettings
from ..learning.block import Trainer
from ..learning.model import ChainModel
from .block import Existing, LabelScheme
from .component import PunctuationRestorer

DEFAULT_CONFIG = {
    "model": {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False},
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@punctuation"], "min_count": 2},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1"},
    "marks": {"@misc": "spacy_crf.Marks.v1", "marks": ["COMMA", "PERIOD", "QUESTION"]},
    "existing": "override",
    "capitalise": True,
    "sentences": True,
    "probabilities": True,
    "threshold": 0.0,
    "thresholds": {},
    "temperature": 1.0,
    "n_best": 0,
    "scorer": {"@scorers": "spacy_crf.punctuation_scorer.v1"},
}
SCORE_WEIGHTS: dict[str, float | None] = {
    "punct_f": 1.0,
    **dict.fromkeys(("punct_p", "punct_r", "punct_f_per_type", "punct_ser", "word_acc", "word_acc_none")),
    **dict.fromkeys(("case_acc", "sent_boundary_f", "punct_f_inner")),
}


@Language.factory(
    "punctuation_restorer",
    assigns=["token._.punct_after", "token._.case", "doc._.restored", "doc._.restoration", "token.is_sent_start"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_punctuation_restorer(
    nlp: Language,
    name: str,
    model: ChainModel,
    features: FeatureSettings,
    trainer: Trainer,
    marks: LabelScheme,
    existing: Existing,
    capitalise: bool,
    sentences: bool,
    probabilities: bool,
    threshold: float,
    thresholds: dict[str, float],
    temperature: float,
    n_best: int,
    scorer: Callable[..., dict[str, Any]] | None,
) -> PunctuationRestorer:
    """Construct a punctuation restorer: a CRF over the words of a text, whose labels are the marks that follow them.

    It writes `token._.punct_after` and, where it restores case, `token._.case`; `doc._.restored`, the text with its
    marks, and `doc._.restoration`, the edits that make it of the Doc's text, each [start, end, replacement] in
    characters. The Doc's own words and text stay as they are.

    model (Model): spacy_crf.LinearChain.v1 without boundary weights: START and STOP are the features BOS and EOS, which
        only true starts and ends of a text have, not the sides where a window was cut out.
    features (FeatureSettings): templates. They see words in lower case without marks.
    trainer (Trainer): spacy_crf.LBFGS.v1, spacy_crf.AdaGrad.v1 or another one.
    marks (LabelScheme): spacy_crf.Marks.v1, what is restored.
    existing (str): marks that are in the text already: "override" sets those of the model, which does not look at them;
        "keep" leaves them, whatever the thresholds, and restores the others given them.
    capitalise (bool): where case is not restored, title the first word of each sentence.
    sentences (bool): set sentence starts.
    probabilities (bool): give tokens `token._.punct_probs`, the probabilities of the marks: exact ones of the chain or,
        after `python -m spacy crf calibrate`, calibrated ones, which thresholds look at too.
    threshold (float): set the most probable mark where the probability that there is one is at least so much; 0: the
        best labelling of the whole text.
    thresholds (dict[str, float]): by mark, how probable it must be itself to be set, instead of `threshold`; where only
        some marks have one and `threshold` is 0, the others are not set.
    temperature (float): scores are divided by it before they become probabilities.
    n_best (int): how many of the best texts to list in `doc._.restorations`, with their probabilities.
    scorer (Callable | None): how it is evaluated.
    RETURNS (PunctuationRestorer): the component.
    """
    settings = {
        "existing": existing,
        "capitalise": capitalise,
        "sentences": sentences,
        "probabilities": probabilities,
        "threshold": threshold,
        "thresholds": thresholds,
        "temperature": temperature,
        "n_best": n_best,
    }
    return PunctuationRestorer(
        nlp.vocab,
        model,
        name,
        features=features,
        trainer=trainer,
        marks=marks,
        settings=settings,
        scorer=scorer,
    )

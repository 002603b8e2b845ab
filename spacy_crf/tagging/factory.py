"""`crf_tagger` as spaCy knows it: the factory, its default config and scores."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language

from ..features.block import FeatureSettings, SequenceMode
from ..learning.block import Trainer
from ..learning.model import ChainModel
from ..pipe.dictionary.block import DictionarySettings
from ..pipe.settings import Decode
from .component import CRFTagger

DEFAULT_CONFIG = {
    "model": {"@architectures": "spacy_crf.LinearChain.v1"},
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1"},
    "target": "tag",
    "scheme": "auto",
    "sequence": "auto",
    "spans_key": "sc",
    "overwrite": False,
    "threshold": 0.0,
    "scores": None,
    "marginals": None,
    "decode": "viterbi",
    "temperature": 1.0,
    "given": False,
    "n_best": 0,
    "n_best_key": "n_best",
    "entropy": None,
    "forbidden": [],
    "dictionary": None,
    "scorer": {"@scorers": "spacy_crf.tagger_scorer.v1"},
}
SCORES = ("tag_acc", "pos_acc", "ents_f", "ents_p", "ents_r", "spans_sc_f", "spans_sc_p", "spans_sc_r")
SCORE_WEIGHTS: dict[str, float | None] = {"crf_score": 1.0, **dict.fromkeys(SCORES)}


@Language.factory(
    "crf_tagger",
    assigns=["token.tag", "token.pos", "doc.ents", "token.ent_iob", "token.ent_type", "doc.spans"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_crf_tagger(
    nlp: Language,
    name: str,
    model: ChainModel,
    features: FeatureSettings,
    trainer: Trainer,
    target: str,
    scheme: Literal["auto", "BIO", "BILUO", "none"],
    sequence: SequenceMode,
    spans_key: str,
    overwrite: bool,
    threshold: float,
    scores: str | None,
    marginals: str | None,
    decode: Decode,
    temperature: float,
    given: bool,
    n_best: int,
    n_best_key: str,
    entropy: str | None,
    forbidden: list[list[str]],
    dictionary: DictionarySettings | None,
    scorer: Callable[..., dict[str, Any]] | None,
) -> CRFTagger:
    """Construct a CRF tagger.

    model (Model): spacy_crf.LinearChain.v1.
    features (FeatureSettings): templates, cut-offs and word lists.
    trainer (Trainer): spacy_crf.LBFGS.v1 (with the batcher spacy_crf.full_batch.v1) or spacy_crf.Minibatch.v1.
    target (str): what is learned and written: "tag", "pos", "ent" (doc.ents), "spans" (doc.spans[spans_key]) or the
        name of a custom token extension.
    scheme (str): how spans become tags, "BIO", "BILUO", or "none": each token has the label of its span, and spans are
        maximal runs of a label, for text in which spans of one label never touch. For token targets, whether tags such
        as B-NP are kept legal. "auto": BIO for spans, none for tokens.
    sequence (str): "auto" (sentences where the Doc has sentence starts, else the Doc), "doc" or "sents".
    spans_key (str): key of doc.spans for target "spans".
    overwrite (bool): whether to replace annotation that is there already.
    threshold (float): spans with a lower exact probability are not written; 0 writes all.
    scores (str | None): name of a Span extension that takes the exact probabilities of entities. The spans of target
        "spans" have them in their SpanGroup's attrs in any case.
    marginals (str | None): name of a Doc and Token extension that takes the probabilities of all tags.
    decode (str): "viterbi" for the most probable sequence, "posterior" for the allowed one with the greatest expected
        number of right tags.
    temperature (float): scores are divided by it before they become probabilities. `python -m spacy crf calibrate`
        finds it.
    given (bool): whether annotation of the target that is there is evidence: tags and probabilities of the others are
        conditioned on it. Entities and blocked tokens are evidence, tokens outside of entities are not.
    n_best (int): how many of the best sequences to list, with their probabilities; 0: none.
    n_best_key (str): name of the Doc extension that takes them.
    entropy (str | None): name of a Doc extension that takes the entropies of sequences and of tokens.
    forbidden (list[list[str]]): pairs [from, to] of tags that may not follow each other.
    dictionary (DictionarySettings | None): spacy_crf.TagDictionary.v1, which tags a word may have; null: any.
    scorer (Callable | None): how it is evaluated.
    RETURNS (CRFTagger): the component.
    """
    return CRFTagger(
        nlp.vocab,
        model,
        name,
        features=features,
        trainer=trainer,
        target=target,
        scheme=scheme,
        sequence=sequence,
        spans_key=spans_key,
        overwrite=overwrite,
        threshold=threshold,
        scores=scores,
        marginals=marginals,
        decode=decode,
        temperature=temperature,
        given=given,
        n_best=n_best,
        n_best_key=n_best_key,
        entropy=entropy,
        forbidden=forbidden,
        dictionary=dictionary,
        scorer=scorer,
    )

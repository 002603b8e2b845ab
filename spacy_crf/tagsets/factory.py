"""`set_valued_tagger` as spaCy knows it: the factory, its default config and scores."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language

from ..features.block import FeatureSettings, SequenceMode
from ..learning.block import Trainer
from ..learning.model import ChainModel
from ..pipe.dictionary.block import DictionarySettings
from ..pipe.settings import Decode
from .component import SetValuedTagger
from .rules import LearnFrom, Method
from .source import SourcedSetTagger
from .tag_tree import TreeSettings, source_tree

DEFAULT_CONFIG = {
    "model": {"@architectures": "spacy_crf.LinearChain.v1"},
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1"},
    "source": None,
    "target": "tag",
    "sequence": "auto",
    "overwrite": False,
    "method": "utility",
    "utility": "g",
    "alpha": 1.0,
    "beta": 1.0,
    "coverage": 0.95,
    "size": 2,
    "guarantee": None,
    "hierarchy": None,
    "learn_from": "soft",
    "sequences": 0,
    "sequence_mass": 0.9,
    "decode": "viterbi",
    "temperature": 1.0,
    "forbidden": [],
    "dictionary": None,
    "tag_set": "tag_set",
    "tag_probs": "tag_probs",
    "tag_sequences": "tag_sequences",
    "tag_nodes": "tag_nodes",
    "gold_tags": "gold_tags",
    "scorer": {"@scorers": "spacy_crf.set_tagger_scorer.v1"},
}
SCORE_WEIGHTS: dict[str, float | None] = {
    "ml_util": 0.5,
    "ml_acc": 0.5,
    "tag_acc": None,
    "set_coverage": None,
    "set_size": None,
    "set_singletons": None,
}


@Language.factory(
    "set_valued_tagger",
    assigns=["token.tag", "token.pos", "token._.tag_set", "token._.tag_probs"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_set_valued_tagger(
    nlp: Language,
    name: str,
    model: ChainModel,
    features: FeatureSettings,
    trainer: Trainer,
    source: str | None,
    target: Literal["tag", "pos"],
    sequence: SequenceMode,
    overwrite: bool,
    method: Method,
    utility: str,
    alpha: float,
    beta: float,
    coverage: float,
    size: int,
    guarantee: dict[str, Any] | None,
    hierarchy: TreeSettings | None,
    learn_from: LearnFrom,
    sequences: int,
    sequence_mass: float,
    decode: Decode,
    temperature: float,
    forbidden: list[list[str]],
    dictionary: DictionarySettings | None,
    tag_set: str,
    tag_probs: str,
    tag_sequences: str,
    tag_nodes: str,
    gold_tags: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> SetValuedTagger | SourcedSetTagger:
    """Construct a set-valued tagger: a CRF tagger that gives each token the set of tags that suits its probabilities.

    model, features, trainer, sequence, overwrite, decode, temperature, forbidden, dictionary: as for crf_tagger.
    source (str | None): name of an earlier component whose probabilities are taken: spaCy's tagger, a crf_tagger,
        frequency_tagger, hmm_tagger or memm_tagger. Then nothing is learned here, and none of the settings above is
        read, nor are `learn_from` and `sequences`.
    target (str): "tag" (token.tag) or "pos" (token.pos): the single best tag, and what is learned where there is no
        weighted gold.
    method (str): how sets are chosen. "utility": of greatest expected utility. "mass": the smallest ones with a
        probability of at least `coverage`, if the probabilities are right. "size": the `size` most probable tags.
        "hierarchy": the tags below one node of a tag tree, the node of greatest expected utility.
        "guarantee": so that a promise holds that `python -m spacy crf guarantee` has made on held-out data.
    utility (str): "g", "precision", "recall", "f", "u65", "u80" or "reject" (see `core.sets.predict`).
    alpha (float), beta (float): of the utility. Larger beta makes larger sets; smaller alpha does too.
    coverage (float): for "mass". size (int): for "size". guarantee (dict | None): for "guarantee".
    hierarchy (TreeSettings | None): for "hierarchy": a block spacy_crf.TagTree.v1, with a file of tags and their
        parents, or with the separator in the names of tags; where `source` is set, with a separator.
    learn_from (str): what weighted gold teaches. "soft": its weights. "marginal": that one of its tags is right.
        "best": its best tag. "augmented": each of its tags in a copy of the document.
    sequences (int): the most whole tag sequences that `doc._.tag_sequences` may list for a sentence; 0: none are.
    sequence_mass (float): probability that the listed sequences of a sentence have together, if there are enough.
    tag_set, tag_probs, tag_sequences, tag_nodes (str): names of the custom attributes that are written; the last one
        is the name of the node of each token's set, for "hierarchy".
    gold_tags (str): name of the custom token attribute with weighted gold, a dict from tag to weight.
    scorer (Callable | None): how it is evaluated.
    RETURNS (SetValuedTagger | SourcedSetTagger): the component.
    """
    sets: dict[str, Any] = {
        "method": method,
        "utility": utility,
        "alpha": alpha,
        "beta": beta,
        "coverage": coverage,
        "size": size,
        "guarantee": guarantee,
        "hierarchy": hierarchy,
        "learn_from": learn_from,
        "sequences": sequences,
        "sequence_mass": sequence_mass,
        "tag_set": tag_set,
        "tag_probs": tag_probs,
        "tag_nodes": tag_nodes,
        "gold_tags": gold_tags,
    }
    if source is not None:
        settings = {**sets, "target": target, "hierarchy": source_tree(name, hierarchy), "sequences": 0}
        return SourcedSetTagger(nlp, name, source=source, settings=settings, scorer=scorer)
    return SetValuedTagger(
        nlp.vocab,
        model,
        name,
        features=features,
        trainer=trainer,
        target=target,
        sequence=sequence,
        overwrite=overwrite,
        decode=decode,
        temperature=temperature,
        forbidden=forbidden,
        dictionary=dictionary,
        tag_sequences=tag_sequences,
        scorer=scorer,
        **sets,
    )

"""`constrained_ner` as spaCy knows it: the factory, its default config and scores."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language

from ..core.constraints.ilp import Objective
from ..core.constraints.lagrangian import StepRule
from ..features.block import FeatureSettings, SequenceMode
from ..learning.block import Trainer
from ..learning.model import ChainModel
from ..pipe.dictionary.block import DictionarySettings
from .block import MiningSettings
from .component import ConstrainedNER
from .settings import DECODING, Decoder, Predicates, decoding_settings
from .table import Given

DEFAULT_CONFIG: dict[str, Any] = {
    "model": {"@architectures": "spacy_crf.LinearChain.v1"},
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@ner"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1"},
    **DECODING,
    "mine": None,
    "target": "ent",
    "scheme": "auto",
    "sequence": "auto",
    "spans_key": "sc",
    "overwrite": False,
    "threshold": 0.0,
    "scores": None,
    "marginals": None,
    "temperature": 1.0,
    "forbidden": [],
    "dictionary": None,
    "scorer": {"@scorers": "spacy_crf.constrained_ner_scorer.v1"},
}
# a weight of 0 shows a score in the table of `spacy train`
SHOWN = ("tok_acc", "whole_doc_acc", "macro_f", "weighted_f", "certified", "violations", "violations_before")
SCORE_WEIGHTS: dict[str, float | None] = {
    "ents_f": 1.0,
    "ents_p": None,
    "ents_r": None,
    "ents_per_type": None,
    **dict.fromkeys(SHOWN, 0.0),
}


@Language.factory(
    "constrained_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "token.tag", "token.pos", "doc._.decode_info"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_constrained_ner(
    nlp: Language,
    name: str,
    model: ChainModel,
    features: FeatureSettings,
    trainer: Trainer,
    decoder: Decoder,
    constraints: Given,
    predicates: Predicates,
    solver: str | None,
    time_limit: float | None,
    max_iterations: int | None,
    step_rule: StepRule,
    objective: Objective,
    tau: float,
    max_states: int,
    info: str,
    changes: str | None,
    mine: MiningSettings | None,
    target: str,
    scheme: Literal["auto", "BIO", "BILUO", "none"],
    sequence: SequenceMode,
    spans_key: str,
    overwrite: bool,
    threshold: float,
    scores: str | None,
    marginals: str | None,
    temperature: float,
    forbidden: list[list[str]],
    dictionary: DictionarySettings | None,
    scorer: Callable[..., dict[str, Any]] | None,
) -> ConstrainedNER:
    """Construct a CRF tagger whose labellings keep constraints, each of them hard or at a price.

    model, features, trainer, target, scheme, sequence, spans_key, overwrite, threshold, scores, marginals, temperature,
    forbidden, dictionary: as for crf_tagger, but that `target` is "ent" unless set. Probabilities are those of the
    CRF, without constraints.
    decoder (str): "auto": Viterbi where it breaks nothing, then Lagrangian relaxation, automata, and an integer
        programme if there is a solver, until the answer is proved to be the best. "viterbi" looks at no constraint but
        tells what is broken. "lagrangian", "automaton", "ilp": that method alone.
    constraints (str | list | None): texts or JSON objects (see `core.constraints.language`), or the path of a file with
        one a line or a JSON list, which is read in `initialize`. With the model they are stored, mined ones too, in
        `constraints.json`; what that file says when a pipeline is loaded holds.
    predicates (dict): more predicates of tokens that constraints may name, beside the built-in ones (see
        `features.facts`): a list of words, or "_.NAME" for a custom token attribute.
    solver (str | None), time_limit (float | None): of integer programmes: PuLP's name, and seconds for a sequence.
    max_iterations (int | None), step_rule (str): of Lagrangian relaxation: "polyak", or "harmonic", the paper's
        1 / (k + 1).
    objective (str), tau (float): of the decoder "ilp": what it makes the best of; see `core.constraints.ilp.solve`.
    max_states (int): of products of automata, for a sequence.
    info (str): name of the Doc extension that tells how a Doc was decoded; see `decode_info.decode_info`.
    changes (str | None): name of a Doc extension that takes what constraints changed and why, such as
        "constraint_changes"; null: nobody asks, which saves a decoding for each constraint that matters.
    mine (MiningSettings | None): a block spacy_crf.Mining.v1; null: no constraints are mined.
    scorer (Callable | None): how it is evaluated.
    RETURNS (ConstrainedNER): the component.
    """
    asked = (solver, time_limit, max_iterations, step_rule, objective, tau, max_states, info, changes, predicates)
    return ConstrainedNER(
        nlp.vocab,
        model,
        name,
        features=features,
        trainer=trainer,
        decoding=decoding_settings(name, decoder, *asked),
        constraints=constraints,
        mine=mine,
        target=target,
        scheme=scheme,
        sequence=sequence,
        spans_key=spans_key,
        overwrite=overwrite,
        threshold=threshold,
        scores=scores,
        marginals=marginals,
        temperature=temperature,
        forbidden=forbidden,
        dictionary=dictionary,
        scorer=scorer,
    )

"""`constraint_decoder` as spaCy knows it: the factory, its default config and scores."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language

from ..core.constraints.ilp import Objective
from ..core.constraints.lagrangian import StepRule
from ..features.block import SequenceMode
from .decoder import ConstraintDecoder
from .settings import DECODING, Decoder, Predicates, decoding_settings
from .table import Given

DEFAULT_CONFIG: dict[str, Any] = {
    **DECODING,
    "source": None,
    "marginals": None,
    "target": "ent",
    "scheme": "auto",
    "sequence": "auto",
    "spans_key": "sc",
    "overwrite": True,
    "scorer": {"@scorers": "spacy_crf.constrained_ner_scorer.v1"},
}
SCORE_WEIGHTS: dict[str, float | None] = dict.fromkeys(
    ("ents_f", "tok_acc", "whole_doc_acc", "macro_f", "weighted_f", "certified")
)


@Language.factory(
    "constraint_decoder",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "token.tag", "token.pos", "doc._.decode_info"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_constraint_decoder(
    nlp: Language,
    name: str,
    source: str | None,
    marginals: str | None,
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
    target: str,
    scheme: Literal["auto", "BIO", "BILUO", "none"],
    sequence: SequenceMode,
    spans_key: str,
    overwrite: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> ConstraintDecoder:
    """Construct a decoder of probabilities under constraints.

    The score of a labelling is the sum of the log probabilities of its labels, each token for itself, as far as the
    scheme allows it.

    source (str | None): name of an earlier component, whose model is asked again: a crf_tagger, or any whose model
        gives scores of its labels for each token, as spaCy's tagger does.
    marginals (str | None): instead, the custom attribute of Docs in which a component has left them: {"tags": [..],
        "values": array (n, L)}, as crf_tagger's `marginals` and set_valued_tagger's `tag_probs`.
    decoder, constraints, predicates, solver, time_limit, max_iterations, step_rule, objective, tau, max_states, info,
        changes: as for constrained_ner.
    target (str), spans_key (str), overwrite (bool): what is written, as for crf_tagger.
    scheme (str): of the tags that the probabilities are about; "auto": BIO or BILUO if they look like it, else none.
    sequence (str): "auto", "doc" or "sents": what constraints are about.
    scorer (Callable | None): how it is evaluated.
    RETURNS (ConstraintDecoder): the component.
    """
    asked = (solver, time_limit, max_iterations, step_rule, objective, tau, max_states, info, changes, predicates)
    settings = {
        **decoding_settings(name, decoder, *asked),
        "source": source,
        "marginals": marginals,
        "target": target,
        "scheme": scheme,
        "sequence": sequence,
        "spans_key": spans_key,
        "overwrite": overwrite,
    }
    return ConstraintDecoder(nlp, name, constraints=constraints, settings=settings, scorer=scorer)

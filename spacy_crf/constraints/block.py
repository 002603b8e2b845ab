"""The blocks of `constrained_ner` and `constraint_decoder`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from spacy.language import Language
from spacy.pipeline import Pipe

from ..pipe.block import LabelSettings, SequenceMode, Settings, component, empty, fixed, nested
from .mining import MiningConfig

Decoder = Literal["auto", "viterbi", "lagrangian", "automaton", "ilp"]
StepRule = Literal["polyak", "harmonic"]
Objective = Literal["score", "violations"]
Predicates: TypeAlias = dict[str, str | list[str]]
Given: TypeAlias = str | list[str | dict[str, Any]] | None

ASSIGNED = ["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "token.tag", "token.pos", "doc._.decode_info"]
# a weight of 0 shows a score in the table of `spacy train`
SHOWN = ("tok_acc", "whole_doc_acc", "macro_f", "weighted_f", "certified", "violations", "violations_before")


@dataclass(kw_only=True)
class DecodingSettings(Settings):
    """Settings of decoding under constraints.

    decoder (str): "auto": Viterbi where it breaks nothing, then Lagrangian relaxation, automata, and an integer
        programme if there is a solver, until the answer is proved to be the best. "viterbi" looks at no constraint but
        tells what is broken. "lagrangian", "automaton", "ilp": that method alone.
    constraints (str | list | None): texts or JSON objects (see `core.constraints.language`), or the path of a file with
        one a line or a JSON list, which is read in `initialize`. With the model they are stored, mined ones too, in
        `constraints.json`; what that file says when a pipeline is loaded holds.
    predicates (dict): more predicates of tokens that constraints may name, beside the built-in ones: a list of words,
        or "_.NAME" for a custom token attribute.
    solver (str | None): of integer programmes: PuLP's name.
    time_limit (float | None): of integer programmes, in seconds for a sequence.
    max_iterations (int | None): of Lagrangian relaxation.
    step_rule (str): of Lagrangian relaxation: "polyak", or "harmonic", the paper's 1 / (k + 1).
    objective (str): what the decoder "ilp" makes the best of: "score", or "violations", their cost within `tau`.
    tau (float): of the objective "violations"; see `core.constraints.ilp.solve`.
    max_states (int): of products of automata, for a sequence.
    info (str): name of the Doc extension that tells how a Doc was decoded.
    changes (str | None): name of a Doc extension that takes what constraints changed and why, such as
        "constraint_changes"; null: nobody asks, which saves a decoding for each constraint that matters.
    """

    decoder: Decoder = "auto"
    constraints: Given = fixed(None)
    predicates: Predicates = empty(dict)
    solver: str | None = None
    time_limit: float | None = 60.0
    max_iterations: int | None = None
    step_rule: StepRule = "polyak"
    objective: Objective = "score"
    tau: float = 0.5
    max_states: int = 400_000
    info: str = "decode_info"
    changes: str | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if not self.info:
            yield "info", "a name of its own"
        elif self.changes in ("", self.info):
            yield "changes", "a name of its own"

    def check(self, name: str) -> None:
        from ..core.constraints.ilp import require_solver
        from .decoding import core_settings
        from .token_predicates import FactReader

        super().check(name)
        core_settings(self)
        if self.decoder == "ilp":
            require_solver(self.solver)
        FactReader(self.predicates, name)


@dataclass(kw_only=True)
class NERSettings(DecodingSettings, LabelSettings):
    """Settings of `constrained_ner`: a CRF tagger whose labellings keep constraints, each hard or at a price.

    Probabilities are those of the CRF, without constraints.

    mine (MiningConfig | None): a block spacy_crf.Mining.v1; null: no constraints are mined.
    """

    features: Any = nested("misc", "spacy_crf.Features.v1", templates=["@ner"])
    target: str = fixed("ent", shown=True)
    mine: MiningConfig | None = fixed(None)
    scorer: Any = nested("scorers", "spacy_crf.constrained_ner_scorer.v1")


@component(
    "constrained_ner",
    NERSettings,
    assigns=ASSIGNED,
    scores={
        "ents_f": 1.0,
        **dict.fromkeys(("ents_p", "ents_r", "ents_per_type")),
        **dict.fromkeys(SHOWN, 0.0),
    },
)
def make_constrained_ner(nlp: Language, name: str, settings: NERSettings) -> Pipe:
    """Construct a CRF tagger that keeps constraints."""
    from .component import ConstrainedNER

    return ConstrainedNER(nlp.vocab, settings, name)


@dataclass(kw_only=True)
class DecoderSettings(DecodingSettings):
    """Settings of `constraint_decoder`: it decodes the probabilities of another component under constraints.

    The score of a labelling is the sum of the log probabilities of its labels, each token for itself, as far as the
    scheme allows it.

    source (str | None): name of an earlier component, whose model is asked again: a crf_tagger, or any whose model
        gives scores of its labels for each token, as spaCy's tagger does.
    marginals (str | None): instead, the custom attribute of Docs in which a component has left them: {"tags": [..],
        "values": array (n, L)}, as crf_tagger's `marginals` and set_valued_tagger's `tag_probs`.
    target (str): what is written, as for crf_tagger.
    scheme (str): of the tags that the probabilities are about; "auto": BIO or BILUO if they look like it, else none.
    sequence (str): "auto", "doc" or "sents": what constraints are about.
    spans_key (str): key of doc.spans for target "spans".
    overwrite (bool): whether to replace annotation that is there already.
    scorer (Callable | None): how it is evaluated.
    """

    source: str | None = fixed(None, shown=True)
    marginals: str | None = fixed(None, shown=True)
    target: str = fixed("ent", shown=True)
    scheme: Literal["auto", "BIO", "BILUO", "none"] = fixed("auto", shown=True)
    sequence: SequenceMode = fixed("auto", shown=True)
    spans_key: str = "sc"
    overwrite: bool = True
    scorer: Any = nested("scorers", "spacy_crf.constrained_ner_scorer.v1")

    def check(self, name: str) -> None:
        from ..core.errors import CRFError
        from .errors import ConstraintErrors

        super().check(name)
        if (self.source is None) == (self.marginals is None):
            raise CRFError(ConstraintErrors.CRF443.format(name=name, source=self.source, marginals=self.marginals))


@component(
    "constraint_decoder",
    DecoderSettings,
    assigns=ASSIGNED,
    scores=dict.fromkeys(("ents_f", "tok_acc", "whole_doc_acc", "macro_f", "weighted_f", "certified")),
)
def make_constraint_decoder(nlp: Language, name: str, settings: DecoderSettings) -> Pipe:
    """Construct a decoder of probabilities under constraints."""
    from .component import ConstraintDecoder

    return ConstraintDecoder(nlp, settings, name)

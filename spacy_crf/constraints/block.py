"""The blocks of `constrained_ner` and `constraint_decoder`."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.util import registry

from ..features.block import FeatureSettings, SequenceMode
from ..pipe.block import LabelSettings, Scorer, Settings, component, empty, fixed, nested, own_names

Decoder = Literal["auto", "viterbi", "lagrangian", "automaton", "ilp"]
StepRule = Literal["polyak", "harmonic"]
Objective = Literal["score", "violations"]
Probabilities = Literal["chain", "constrained"]
Predicates: TypeAlias = dict[str, str | list[str]]
Given: TypeAlias = str | list[str | dict[str, Any]] | None

Costs: TypeAlias = Literal["likelihood", "perceptron", "rate"]
MARKS = ("comma", "period", "colon", "semicolon", "dash", "opening", "closing")  # what fields end or begin at
GAPS = ("unmarked",)

ASSIGNED = ["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "token.tag", "token.pos", "doc._.decode_info"]
# a weight of 0 shows a score in the table of `spacy train`
HIDDEN = (
    "segments_p",
    "segments_r",
    "segments_per_type",
    "macro_p",
    "macro_r",
    "weighted_p",
    "weighted_r",
    "confusions",
)
SHOWN = ("tok_acc", "whole_doc_acc", "macro_f", "weighted_f", "certified", "violations", "violations_before")


@registry.misc("spacy_crf.Mining.v1")
@dataclass(frozen=True)
class MiningSettings:
    """Mining of constraints from the training data, in the first step of training.

    Texts have by then what the components of [training] annotating_components before this one set.

    kinds (list[str] | None): families of constraints; null: all that can be mined.
    marks (list[str] | None): unit predicates at which labels may change, for state_change; null: the punctuation ones.
    gaps (list[str] | None): predicates about the gap before a unit, at which labels may not change; null: `unmarked`,
        where neither side of the gap is punctuation.
    max_terms (int): labels in a set, and disjuncts of a rule, at most.
    min_support (int): sequences in which the antecedent holds, at least.
    max_rate (float): of violations among these, at most; smoothed.
    held_out (float): share of the sequences that candidates do not come from.
    min_precision (float): share of the held-out sequences with the antecedent that keep the constraint, at least.
    count (str): whether a cost is paid "once" in a sequence or for "each" violation.
    costs (str): "likelihood": those that make gold most likely on held-out folds. "perceptron": those under which
        decoding of held-out folds breaks each constraint as often as gold. Either way what is not worth a cost is
        dropped. "rate": -log of how often a constraint is broken, times `scale`.
    scale (float | None): for "rate"; null: the one of several that has most tokens right on held-out folds.
    folds (int): of the training documents; the model of each is trained on the others, with L-BFGS and the settings of
        the component's trainer if that is spacy_crf.LBFGS.v1, but without a tok2vec layer.
    iterations (int): of these models.
    strength (float): for "likelihood": of the Gaussian prior of costs.
    paths (int): for "likelihood": labellings of each sequence that are compared, the best of the chain.
    epochs (int): for "perceptron": passes over the sequences.
    step (float): for "perceptron": how much a cost moves for a violation too many or too few.
    seed (int): of the folds and of everything that is drawn.
    RAISES (ValueError): for settings that make no sense.
    """

    kinds: list[str] | None = None
    marks: list[str] | None = None
    gaps: list[str] | None = None
    max_terms: int = 3
    min_support: int = 10
    max_rate: float = 0.1
    held_out: float = 0.25
    min_precision: float = 0.85
    count: Literal["once", "each"] = "each"
    costs: Costs = "likelihood"
    scale: float | None = None
    folds: int = 5
    iterations: int = 60
    strength: float = 0.3
    paths: int = 20
    epochs: int = 5
    step: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        from ..core.constraints.family import minable_kinds
        from ..core.errors import CoreErrors, require, require_numbers

        require_numbers(self)
        kinds, infinity = minable_kinds(), math.inf
        for setting, holds, expected in (
            ("kinds", set(self.kinds or ()) <= set(kinds), f"some of {', '.join(kinds)}"),
            ("max_terms", self.max_terms >= 1, "at least 1"),
            ("min_support", self.min_support >= 1, "at least 1"),
            ("max_rate", 0 < self.max_rate <= 1, "above 0 and at most 1"),
            ("held_out", 0 <= self.held_out < 1, "at least 0 and less than 1"),
            ("min_precision", 0 <= self.min_precision <= 1, "from 0 to 1"),
            ("scale", self.scale is None or self.scale >= 0, "at least 0"),
            ("count", self.count in ("once", "each"), "'once' or 'each'"),
            ("costs", self.costs in get_args(Costs), f"one of {', '.join(get_args(Costs))}"),
            ("folds", self.folds >= 2, "at least 2"),
            ("iterations", self.iterations >= 1, "at least 1"),
            ("strength", 0 < self.strength < infinity, "a number above 0"),
            ("paths", self.paths >= 2, "at least 2"),
            ("epochs", self.epochs >= 1, "at least 1"),
            ("step", 0 < self.step < infinity, "a number above 0"),
            ("seed", self.seed >= 0, "at least 0"),
        ):
            require(CoreErrors.CRF932, setting, getattr(self, setting), holds, expected)

    @property
    def predicates(self) -> tuple[str, ...]:
        """Predicates of units at which, and of gaps in which, labels may change."""
        return (*(MARKS if self.marks is None else self.marks), *self.gap_predicates)

    @property
    def gap_predicates(self) -> tuple[str, ...]:
        """Predicates of the gap before a unit."""
        return GAPS if self.gaps is None else tuple(self.gaps)


@dataclass(kw_only=True)
class DecodingSettings(Settings):
    """Settings of decoding under constraints.

    Without `overwrite`, the labels are the best given the annotation that is there, and constraints count it.

    decoder (str): "auto": Viterbi where it breaks nothing, then Lagrangian relaxation, automata, and an integer
        programme if there is a solver, until the answer is proved to be the best. "viterbi" looks at no constraint but
        tells what is broken. "lagrangian", "automaton", "ilp": that method alone.
    budget (float | None): of the decoder "auto", in seconds for each sequence that ten iterations of Lagrangian
        relaxation leave open. Then the best labelling so far is kept, and `limits` in `info` names the budget; null: no
        end. The reasons of all `changes` of a sequence have as much together;
        then they are sets of constraints that need not be the smallest.
    constraints (str | list | None): texts or JSON objects (see `core.constraints.language`), or the path of a file with
        one a line or a JSON list, which is read in `initialize`. With the model they are stored, mined ones too, in
        `constraints.json`; what that file says when a pipeline is loaded holds, unless the pipeline's config gives
        others than when it was saved: then these do, beside the mined ones. [] is for none, null leaves the stored
        ones in force.
    predicates (dict): more predicates of tokens that constraints may name, beside the built-in ones: a list of words,
        or "_.NAME" for a custom token attribute. Built in are comma, period, colon, semicolon, dash, quote, opening,
        closing, punctuation, word, number, year and capitalised; and unmarked, where neither side of the gap before a
        token is punctuation.
    solver (str | None): of integer programmes: PuLP's name, or "highs" or "cbc"; null: the first there is.
    time_limit (float | None): of integer programmes, in seconds for a sequence.
    max_iterations (int | None): of Lagrangian relaxation, for a sequence; null: 200.
    step_rule (str): of Lagrangian relaxation: "polyak", or "harmonic", the paper's 1 / (k + 1).
    objective (str): "score": the greatest score minus the costs of what is violated, whatever the temperature.
        "violations": the least cost, among labellings that are at least `tau` times as probable as the best; for the
        decoders "ilp" and "auto", which is then an integer programme too.
    tau (float): of the objective "violations", above 0 and at most 1.
    max_states (int): of products of automata, for a sequence.
    info (str): name of the Doc extension that tells how a Doc was decoded: whether the written labels are proved to be
        the best (`certified`), which constraints they break (`violated`), and more.
    changes (str | None): name of a Doc extension that takes what constraints changed and why, such as
        "constraint_changes"; null: nobody asks, which saves a decoding for each constraint that matters.
    """

    decoder: Decoder = "auto"
    constraints: Given = fixed(None, shown=True)
    predicates: Predicates = empty(dict)
    budget: float | None = 10.0
    solver: str | None = None
    time_limit: float | None = 60.0
    max_iterations: int | None = None
    step_rule: StepRule = "polyak"
    objective: Objective = "score"
    tau: float = 0.5
    max_states: int = 400_000
    info: str = "decode_info"
    changes: str | None = None

    def idle(self) -> Iterator[tuple[str, str]]:
        yield from super().idle()
        if self.objective != "violations":
            yield "tau", "objective = 'violations'"
        if self.decoder not in ("auto", "lagrangian"):
            yield from ((one, "decoder = 'auto' or 'lagrangian'") for one in ("max_iterations", "step_rule"))

    def told(self) -> Iterator[tuple[str, str]]:
        yield from super().told()
        yield self.info, "info"
        if self.changes is not None:
            yield self.changes, "changes"

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if not self.info:
            yield "info", "a name of its own"
        elif self.changes in ("", self.info):
            yield "changes", "a name of its own"

    def check(self, name: str) -> None:
        from ..core.constraints.ilp import check_solver, require_solver
        from .decoding import method_settings
        from .token_predicates import TokenPredicates

        super().check(name)
        check_solver(self.solver)  # also where it is needed for hard sequences only
        if method_settings(self).needs_solver:
            require_solver(self.solver)
        TokenPredicates(self.predicates, name)


@dataclass(kw_only=True)
class NERSettings(DecodingSettings, LabelSettings):
    """Settings of `constrained_ner`: a CRF tagger whose labellings keep constraints, each hard or at a price.

    probabilities (str): what labellings are compared with in `marginals`, `scores`, `threshold` and probabilities of
        spans. "chain": all, by the CRF without constraints. "constrained": those that keep the hard constraints, each
        at exp(score - costs), up to 1 / 10,000. The more states the automata of the constraints have together, the
        longer it takes; beyond `max_states` a warning tells what is missing. A sequence that cannot keep its hard
        constraints has those of the chain. A temperature is fitted to the chain.
    train_constrained (bool): learn weights that make gold likely among the labellings that keep the hard constraints,
        each at exp(score - costs), from the second step on; needs the trainer spacy_crf.LBFGS.v1 and the probabilities
        "constrained". A sequence whose gold breaks a hard constraint, or is known in part, is learned without them.
    mine (MiningSettings | None): a block spacy_crf.Mining.v1; null: no constraints are mined.
    """

    features: FeatureSettings = nested("misc", "spacy_crf.Features.v1", templates=["@entities"])
    target: str = fixed("ent", shown=True)
    probabilities: Probabilities = "chain"
    train_constrained: bool = fixed(False)
    mine: MiningSettings | None = fixed(None)
    scorer: Scorer = nested("scorers", "spacy_crf.constrained_ner_scorer.v1")

    def first_order(self) -> Iterator[str]:
        yield "decoding under constraints"

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if self.train_constrained and self.probabilities != "constrained":
            yield "probabilities", "'constrained' where the model is trained so"


@component(
    "constrained_ner",
    NERSettings,
    assigns=ASSIGNED,
    scores={"segments_f": 1.0, **dict.fromkeys(HIDDEN), **dict.fromkeys(SHOWN, 0.0)},
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
        gives scores of its labels for each token, as spaCy's tagger does. It is looked up in the pipeline that this
        component was made in: do not take this component over from another pipeline, but make a new one.
    marginals (str | None): instead, the custom attribute of Docs in which a component has left them: {"tags": [..],
        "values": n lists of L numbers with the sum 1}, as crf_tagger's `marginals` and set_valued_tagger's `tag_probs`.
    target (str): what is written, as for crf_tagger.
    scheme (str): of the tags that the probabilities are about; "auto": BIO or BILUO if they look like it, else none.
        Tags that look like those of another scheme, such as IOB1, are refused where spans are written.
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
    scorer: Scorer = nested("scorers", "spacy_crf.constrained_ner_scorer.v1")

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        yield from own_names({"target": self.target, "marginals": self.marginals})
        yield from own_names({"source": self.source})
        yield from own_names({"spans_key": self.spans_key})

    def idle(self) -> Iterator[tuple[str, str]]:
        yield from super().idle()
        if self.target != "spans":
            yield "spans_key", "target = 'spans'"

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
    scores=dict.fromkeys(("segments_f", "tok_acc", "whole_doc_acc", "macro_f", "weighted_f", "certified")),
)
def make_constraint_decoder(nlp: Language, name: str, settings: DecoderSettings) -> Pipe:
    """Construct a decoder of probabilities under constraints."""
    from .component import ConstraintDecoder

    return ConstraintDecoder(nlp, settings, name)

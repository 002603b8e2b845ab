"""The block of a component: one dataclass holds its settings with their defaults, their check and their documentation.

Everybody who has the library installed loads this module with spaCy, so it imports nothing heavy.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache, partial, wraps
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any, ClassVar, Final, Literal, TypeVar, get_args, get_type_hints

from spacy.language import Language
from spacy.util import registry
from thinc.api import Model

from ..features.block import FeatureSettings, SequenceMode
from ..learning.block import FULL_BATCH, AdaGradSettings, LBFGSSettings, TrainerSettings
from .dictionary.block import DictionarySettings

S = TypeVar("S", bound="Settings")
Construct = Callable[..., Any]
Scorer = Callable[..., dict[str, Any]] | None
CALIBRATE = "spacy_crf.calibrate.v1"
AUTO: Final = "auto"


def nested(kind: str, function: str, **arguments: Any) -> Any:
    """Return the field of a setting that is a block of its own: a registered function and its settings, the default."""
    block = {f"@{kind}": function, **arguments}
    return field(default_factory=partial(_resolve, block), metadata={"block": block, "fixed": True})


def fixed(default: Any, shown: bool = False) -> Any:
    """Return the field of a setting that holds as long as the component; if shown, scorers get it by `pipe.cfg`."""
    return field(default=default, metadata={"fixed": True, "shown": shown})


def empty(kind: type, **metadata: bool) -> Any:
    """Return the field of a setting whose default is an empty list or dict; metadata as in `fixed`."""
    return field(default_factory=kind, metadata=metadata)


def _resolve(block: dict[str, Any]) -> Any:
    return registry.resolve({"block": block})["block"]


@dataclass(kw_only=True)
class Settings:
    """Settings of a component; a subclass names them.

    The docstring of the subclass has a paragraph `name (type): text` for each: documentation is made from it.
    """

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each setting whose value has no meaning, with what it must be."""
        yield from ()

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield each setting that has no effect beside the others, with what it goes with."""
        yield from ()

    def told(self) -> Iterator[tuple[str, str]]:
        """Yield attributes of Docs that one component of a pipeline can write, and the setting that names each."""
        yield from ()

    def check(self, name: str) -> None:
        """Raise a coded error for the first value without meaning. name (str): of the component."""
        from .setting_types import describe_type, fits

        for setting, hint in _hints(type(self)).items():  # type: ignore[arg-type]
            if not fits(getattr(self, setting), hint):
                raise refused(name, setting, getattr(self, setting), describe_type(hint))
        for setting, expected in self.problems():
            raise refused(name, setting, attrgetter(setting)(self), expected)


def is_positive(value: float) -> bool:
    """Whether a number is finite and above 0."""
    return 0 < value < math.inf


def component(
    name: str, settings: type[Settings], *, assigns: Iterable[str], scores: Mapping[str, float | None]
) -> Callable[[Construct], Construct]:
    """Register a constructor, which takes the pipeline, a name and settings as one value, as a factory.

    spaCy sees a factory with an argument for each setting, so that it checks configs by their types; that of a block is
    left to `Settings.check`, which says what to write.
    """

    def register(construct: Construct) -> Construct:
        known = _hints(settings)  # type: ignore[arg-type]
        hints = {key: Any if block_class(hint) else hint for key, hint in known.items()}

        @wraps(construct)
        def factory(nlp: Language, name: str, **values: Any) -> Any:
            from ..reading.records import single_dollars
            from .live_settings import warn_of_idle, warn_of_shared

            made = settings(**single_dollars(values))
            pipe = construct(nlp, name, made)  # which checks them
            pipe.cfg.tell(nlp)
            warn_of_shared(nlp, name, made)
            warn_of_idle(name, made)
            return pipe

        own = list(signature(construct).parameters.values())[:2]
        asked = [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, annotation=hint) for key, hint in hints.items()]
        del factory.__wrapped__
        factory.__signature__ = signature(construct).replace(parameters=[*own, *asked])  # type: ignore[attr-defined]
        factory.__annotations__ = {"nlp": Language, "name": str, **hints}
        told: dict[str, Any] = {"default_config": default_config(settings), "default_score_weights": dict(scores)}
        registered: Construct = Language.factory(name, assigns=list(assigns), func=factory, **told)
        registered.settings = settings  # type: ignore[attr-defined]
        return registered

    return register


def default_config(settings: type[Settings]) -> dict[str, Any]:
    """Return the block of a config with all settings at their defaults."""
    return {one.name: _default(one) for one in fields(settings)}


def _default(one: "Field[Any]") -> Any:
    if "block" in one.metadata:
        return one.metadata["block"]
    return one.default if one.default_factory is MISSING else one.default_factory()


@cache
def _hints(settings: type[Settings]) -> dict[str, Any]:
    """Types of the settings, in their order."""
    hints = get_type_hints(settings)
    return {one.name: hints[one.name] for one in fields(settings)}


def block_class(hint: Any) -> type | None:
    """The class of the settings that a block becomes, if a setting is one."""
    found = [one for one in (hint, *get_args(hint)) if isinstance(one, type)]
    return next((one for one in found if one.__module__.startswith("spacy_crf.") or one is Model), None)


def refused(name: str, setting: str, value: Any, expected: str) -> Exception:
    """Make the error for a setting whose value has no meaning. name (str): of the component."""
    from ..core.errors import CRFError
    from .errors import PipeErrors

    return CRFError(PipeErrors.CRF408.format(name=name, setting=setting, value=value, expected=expected))


@registry.callbacks(CALIBRATE)
def make_calibrate() -> Callable[[Language], Language]:
    """For [training.before_to_disk]: fit the temperatures that components ask for by "auto" to the dev corpus.

    RETURNS (Callable): the callback.
    """
    from .calibration import calibrate_pipeline

    return calibrate_pipeline


Decode = Literal["viterbi", "posterior"]
SPAN_TARGETS = ("ent", "spans")
MOST_LISTED = 10_000  # sequences of a document: each is as long as it
UNFITTED_THRESHOLD = 0.2  # half of an F of 40, which is soon reached


@dataclass(frozen=True)
class AutoSettings(TrainerSettings):
    """The trainer that goes with the training loop, for `trainer = "auto"`.

    It is L-BFGS where the batcher of the training block shows the whole corpus in every step, or the model is of order
    2. It is AdaGrad with any other batcher, where none is known, and for a model with a tok2vec layer.

    full_batch (LBFGSSettings): settings of L-BFGS.
    """

    full_batch: LBFGSSettings

    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> Any:
        from ..learning.model import get_tok2vec

        batcher = {} if nlp is None else nlp.config.interpolate()["training"].get("batcher") or {}
        sees_all = batcher.get("@batchers") == FULL_BATCH and get_tok2vec(model) is None
        chosen = self.full_batch if sees_all or model.attrs["order"] == 2 else AdaGradSettings()
        return chosen.make(model)


@dataclass(kw_only=True)
class ChainSettings(Settings):
    """Settings of every component over a chain.

    model (Model): spacy_crf.LinearChain.v1.
    features (FeatureSettings): spacy_crf.Features.v1: templates, cut-offs and word lists.
    trainer (TrainerSettings): "auto", or a block such as spacy_crf.LBFGS.v1. "auto" is L-BFGS with the batcher
        spacy_crf.full_batch.v1, else spacy_crf.AdaGrad.v1, which learns from batches of any size. A component that was
        loaded has AdaGrad where it is trained on, unless it is of order 2.
    temperature (float | str): scores are divided by it before they become probabilities. `python -m spacy crf
        calibrate` finds it; "auto": so does `spacy train` whenever it saves the pipeline, on `dev_corpus`, by its
        callback `before_to_disk`. Scores in the log are those of temperature 1. At least 0.000001: with less,
        scores become too large for exact probabilities.
    scorer (Callable | None): how it is evaluated.
    """

    full_batch: ClassVar[LBFGSSettings] = LBFGSSettings()  # the L-BFGS of "auto"
    model: Model = nested("architectures", "spacy_crf.LinearChain.v1")
    features: FeatureSettings = nested("misc", "spacy_crf.Features.v1", templates=["@tagging"])
    trainer: TrainerSettings = fixed("auto")
    temperature: float | Literal["auto"] = 1.0
    scorer: Scorer = nested("scorers", "spacy_crf.tagger_scorer.v1")

    def __post_init__(self) -> None:
        if self.trainer == "auto":
            self.trainer = AutoSettings(self.full_batch)

    def problems(self) -> Iterator[tuple[str, str]]:
        if "layout" not in self.model.attrs:
            yield "model", 'a block with @architectures = "spacy_crf.LinearChain.v1"'
        if self.temperature != AUTO and not 1e-6 <= self.temperature < math.inf:
            yield "temperature", "'auto', or a number from 0.000001"

    def first_order(self) -> Iterator[str]:
        """Yield what the settings ask for that only a chain of order 1 can tell."""
        yield from ()

    def probabilistic(self) -> Iterator[str]:
        """Yield what the settings ask for that is made of probabilities."""
        yield from ()

    def check(self, name: str) -> None:
        super().check(name)
        if self.model.attrs.get("order") == 2:
            from ..core.errors import CRFError
            from ..core.trigrams import refuse_second_order
            from .errors import PipeErrors

            trainer = self.trainer.make(self.model)
            if not trainer.learns_trigrams:
                raise CRFError(PipeErrors.CRF435.format(name=name, trainer=type(trainer).__name__))
            for what in self.first_order():
                refuse_second_order(name, what)


@dataclass(kw_only=True)
class TagSettings(ChainSettings):
    """Settings of components that write labels to tokens.

    target (str): what is learned and written: "tag" (token.tag) or "pos" (token.pos).
    sequence (str): "auto" (sentences where the Doc has sentence starts, else the Doc), "doc" or "sents".
    overwrite (bool): whether to replace annotation that is there already.
    forbidden (list[list[str]]): pairs [from, to] of tags that may not follow each other; "" is the edge of a sequence.
    dictionary (DictionarySettings | None): spacy_crf.TagDictionary.v1, which tags a word may have; null: any.
    """

    target: str = fixed("tag", shown=True)
    sequence: SequenceMode = fixed("auto")
    overwrite: bool = False
    forbidden: list[list[str]] = empty(list, fixed=True)
    dictionary: DictionarySettings | None = fixed(None)


@dataclass(kw_only=True)
class LabelSettings(TagSettings):
    """Settings of components that write labels to tokens or to spans.

    target (str): what is learned and written: "tag", "pos", "ent" (doc.ents), "spans" (doc.spans[spans_key]) or the
        name of a custom token extension.
    scheme (str): how spans become tags, "BIO", "BILUO", or "none": each token has the label of its span, and spans are
        maximal runs of a label, for text in which spans of one label never touch. For token targets, whether tags such
        as B-NP are kept legal. "auto": BIO for spans, none for tokens. What a scheme forbids has probability 0, in
        training as in use.
    spans_key (str): key of doc.spans for target "spans".
    threshold (float | str): spans with a lower exact probability are not written; 0 writes all. `spacy find-threshold`
        finds one. Where `decode` of a tagger is "spans", it is at least 0.01, and that command cannot be used, as it
        tries 0 first; "auto" takes the mean of all whose F on the dev corpus is within 2 % of the best, found by `spacy
        train` whenever it saves the pipeline; 0.2 in its log, so that F may differ from it.
    scores (str | None): name of a Span extension that takes the exact probabilities of entities. The spans of target
        "spans" have them in their SpanGroup's attrs in any case.
    marginals (str | None): name of a Doc and Token extension that takes the probabilities of all tags.
    guarantee (dict | None): a promise about spans, which `python -m spacy crf guarantee` has made on held-out data.
    sets_key (str): key of doc.spans for the sets that keep it: all spans that are likely enough, with their exact
        probabilities as `scores` in the attrs.
    """

    scheme: Literal["auto", "BIO", "BILUO", "none"] = fixed("auto")
    spans_key: str = "sc"
    threshold: float | Literal["auto"] = 0.0
    scores: str | None = None
    marginals: str | None = None
    guarantee: dict[str, Any] | None = None
    sets_key: str = "span_sets"

    @property
    def least_probability(self) -> float:
        """The threshold in force."""
        return UNFITTED_THRESHOLD if self.threshold == AUTO else self.threshold

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if not 0 <= self.least_probability <= 1:
            yield "threshold", "from 0 to 1"
        if self.threshold == AUTO and getattr(self, "decode", "") != "spans":
            yield "threshold", "a number, unless decode = 'spans'"
        if self.target not in SPAN_TARGETS:
            for setting in ("threshold", "scores", "guarantee"):
                if getattr(self, setting):
                    yield setting, "left out for targets that are not spans"
        for names in ({"target": self.target, "marginals": self.marginals}, {"scores": self.scores}):
            yield from own_names(names)
        yield from own_names({"spans_key": self.spans_key, "sets_key": self.sets_key})

    def idle(self) -> Iterator[tuple[str, str]]:
        yield from super().idle()
        if self.target != "spans":
            yield "spans_key", "target = 'spans'"

    def told(self) -> Iterator[tuple[str, str]]:
        if self.marginals is not None:
            yield self.marginals, "marginals"

    def first_order(self) -> Iterator[str]:
        yield from super().first_order()
        yield from (
            f"the setting `{setting}`" for setting in ("threshold", "scores", "guarantee") if getattr(self, setting)
        )
        if self.target == "spans":
            yield "target 'spans', which takes probabilities of spans,"

    def probabilistic(self) -> Iterator[str]:
        yield from super().probabilistic()
        yield from (
            f"the setting `{one}`" for one in ("threshold", "scores", "marginals", "guarantee") if getattr(self, one)
        )
        if self.target == "spans":
            yield "target 'spans'"


def own_names(names: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield the settings that name a custom attribute and are empty, or say what one before them says."""
    taken: set[str] = set()
    for setting, value in names.items():
        if value is not None:
            if not value or value in taken:
                yield setting, "a name of its own, or null"
            taken.add(value)

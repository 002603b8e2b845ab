"""`python -m spacy crf guarantee`: promises about sets of tags or spans, and pipelines that keep them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer
from spacy.training import Example

from ..annotation.documents import document_numbers
from ..core.errors import CRFError
from ..core.sets.conformal import Condition, Kind, Score
from ..core.sets.risk import Loss, SpanRisk, Unit, control_span_risk
from ..lab.errors import LabErrors
from ..pipe.block import SPAN_TARGETS
from ..pipe.probabilities import GivesSets
from ..pipe.promises import promise_data
from ..pipe.seen import annotated
from ..pipe.span_sets import (
    ROUNDING,
    SPANS,
    GoldSpans,
    LikelySpan,
    PromisesSpans,
    held_out_spans,
    likely_spans_of,
    report_span_sets,
)
from ..tagsets.cli import word_counts
from ..tagsets.guarantee import (
    ConformalPromise,
    Guarantee,
    SequenceLength,
    Strata,
    UnknownWords,
    conformal_sets,
    guarantee_data,
    held_out_tokens,
    risk_control,
)
from ..tagsets.report import percent
from ..tagsets.rules import guarantee_rule
from .data import Data, DataOptions
from .models import save_pipeline, warn_of_training_data
from .options import (
    Loaded,
    OptionGroup,
    Pipe,
    command,
    echo_data,
    parse_numbers,
    refuse_idle,
    table,
    tell_written,
)
from .surface import tell_next, tell_warning

By = Literal["unknown", "length"]
LEVELS = "0.2,0.1,0.05,0.02,0.01"
FILE = DataOptions("FILE", "Data that neither training nor its settings have seen")
KEYWORD = Parameter.KEYWORD_ONLY


@dataclass(frozen=True)
class Asked:
    """What split conformal sets of tokens are asked for, by the options of these names."""

    conformal: Annotated[bool, typer.Option("--conformal", help="Split conformal sets of tokens, not risk")] = False
    score: Annotated[Kind, typer.Option(help="How tags are compared, with --conformal")] = "lac"
    penalty: Annotated[float, typer.Option(help="Of the score raps")] = 0.0
    k_reg: Annotated[int, typer.Option(help="Of the score raps")] = 0
    by_tag: Annotated[bool, typer.Option("--by-tag", help="With --conformal: a promise for each gold tag")] = False
    by: Annotated[
        By | None, typer.Option(help="With --conformal: a promise for known and unknown words, or by sequence length")
    ] = None
    train: Annotated[Path | None, typer.Option(help="Training data, whose words are known, with --by unknown")] = None
    min_count: Annotated[int, typer.Option(help="How often a known word occurs in it, at least", min=1)] = 1
    edges: Annotated[str | None, typer.Option(help="Greatest lengths but the last, e.g. 10,20, with --by length")] = (
        None
    )
    randomised: Annotated[
        bool, typer.Option("--randomised", help="With --score aps or raps: smaller sets; same text, same sets")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="Of --randomised, kept with the promise")] = 0
    full: Annotated[bool, typer.Option("--full", help="Rare tags or groups get all tags, with --by-tag or --by")] = (
        False
    )

    def refuse_idle(self, given: Collection[str]) -> None:
        """Raise a coded error for options that say nothing beside the others."""
        conformal, by = self.conformal, self.by
        is_raps = conformal and self.score == "raps"
        refuse_idle(
            given,
            ("unit", not conformal, "promises without --conformal, which is about tokens,"),
            ("loss", not conformal, "promises without --conformal, which is about tokens,"),
            *((name, conformal, "--conformal") for name in ("score", "by", "by_tag", "randomised")),
            *((name, is_raps, "--conformal --score raps") for name in ("penalty", "k_reg")),
            ("by", not self.by_tag, "promises for all tags together, without --by-tag,"),
            ("by", by != "unknown" or self.train is not None, "--train"),
            ("by", by != "length" or self.edges is not None, "--edges"),
            *((name, by == "unknown", "--by unknown") for name in ("train", "min_count")),
            ("edges", by == "length", "--by length"),
            ("seed", self.randomised, "--randomised"),
            ("full", self.by_tag or by is not None, "--by-tag or --by"),
        )

    def groups(self, data: Data, loaded: Loaded) -> Strata | None:
        """The groups of tokens that have promises of their own."""
        if self.train is not None:
            counts = word_counts(data.at(self.train), loaded.nlp)
            return UnknownWords.of_words(word for word, n in counts.items() if n >= self.min_count)
        return None if self.edges is None else SequenceLength(tuple(parse_numbers("edges", self.edges, int)))


class ConformalOptions(OptionGroup):
    """Annotates a parameter of type `Asked`: makes the options that go with --conformal."""

    def parameters(self, name: str) -> list[Parameter]:
        return [Parameter(own.name, KEYWORD, annotation=own.type, default=own.default) for own in fields(Asked)]

    def make(self, name: str, values: dict[str, Any]) -> Asked:
        return Asked(**{own.name: values.pop(own.name) for own in fields(Asked)})


@command("guarantee", "Nothing was promised", "training/model-best held_out.tsv --level 0.05 --output promised")
def guarantee(
    loaded: Annotated[Loaded, Pipe("set_valued_tagger", (GivesSets, PromisesSpans))],
    data: Annotated[Data, FILE],
    asked: Annotated[Asked, ConformalOptions()],
    output: Annotated[Path | None, typer.Option(help="Folder for the pipeline with the promise in its config")] = None,
    level: Annotated[float, typer.Option(help="Share that may miss the gold tag, or of the gold spans")] = 0.05,
    levels: Annotated[
        str, typer.Option(help="Levels to tell the size of the sets for; of the default, those that FILE is enough for")
    ] = LEVELS,
    unit: Annotated[
        Unit, typer.Option(help="What is exchangeable: documents, sentences, or tokens one by one")
    ] = "document",
    loss: Annotated[
        Loss, typer.Option(help="What is bounded for a document or sentence: the share of its misses, or any miss")
    ] = "share",
    longest: Annotated[int, typer.Option(min=1, help="Of spans: the most tokens of one in a set")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON")] = False,
    given: Collection[str] = (),
) -> None:
    """Make the smallest sets that keep a promise, and say what is promised, and what other levels would take.

    By default the expected share of a document's tokens whose gold tag is not in their set is bounded; for components
    that label spans, the expected share of its gold spans. Tokens of one document are alike, so that a promise about
    tokens holds only for tokens of the same documents. There is no --by document: a document that the promise has not
    seen would have no quantile.
    """
    warn_of_training_data(loaded.nlp, data.path)
    promises = make_promises(loaded, data, asked, (unit, loss, longest), given)
    promise = promises.make(level)
    rows, refusals = promises.table(sorted({*parse_numbers("levels", levels), level}))
    if output is not None:
        loaded.component.cfg.update(**promises.settings(promise))
        loaded.nlp.meta.pop("performance", None)  # with the sets of before
        save_pipeline(loaded.nlp, output)
    for refusal in refusals if "levels" in given else ():
        tell_warning(refusal)
    if as_json:
        promises.warn(promise)
        told = [dict(zip(("level", *promises.columns), row)) for row in rows]
        echo_data({"promise": promise.promise, **promise.to_data(), "levels": told})
        return
    typer.echo(promise.promise)
    typer.echo(promises.shown(rows))
    promises.tell(promise)
    promises.warn(promise)
    tell_written(output, then="python -m spacy crf sets {} DATA")
    if output is None:
        tell_next("choose a level, and save a pipeline that keeps the promise: --level LEVEL --output DIR")


def make_promises(
    loaded: Loaded, data: Data, asked: Asked, bounded: tuple[Unit, Loss, int], given: Collection[str]
) -> "Promises":
    """What can be promised of the component. bounded (tuple): unit and loss, and the most tokens of a span."""
    unit, loss, longest = bounded
    is_spans = not isinstance(loaded.component, GivesSets)
    asked.refuse_idle(given)
    refuse_idle(
        given,
        ("longest", is_spans, "components that label spans"),
        ("conformal", not is_spans, "components that give sets of tags"),
    )
    examples = annotated(loaded.nlp, loaded.name, data.examples(loaded.nlp))
    if is_spans:
        return SpanPromises(loaded.component, list(examples), unit, loss, longest)
    return TagPromises(loaded.component, examples, unit, loss, asked, asked.groups(data, loaded))


class Promises(ABC):
    """Promises at several levels about the sets of one component.

    columns (dict): figures that are told of each level, and their heads in the table.
    """

    columns: ClassVar[dict[str, str]]

    @abstractmethod
    def make(self, level: float) -> Any:
        """The promise at a level; a coded error where there can be none."""

    @abstractmethod
    def figures(self, promise: Any) -> tuple[float | None, ...]:
        """The figures of a promise; None for the share of nothing."""

    @abstractmethod
    def settings(self, promise: Any) -> dict[str, Any]:
        """Settings of the component that keep a promise."""

    @abstractmethod
    def tell(self, promise: Any) -> None:
        """Tell what a promise takes."""

    @abstractmethod
    def warn(self, promise: Any) -> None:
        """Tell what a promise does not cover."""

    def table(self, levels: Sequence[float]) -> tuple[list[tuple[Any, ...]], list[str]]:
        """A row for each level, ascending, that can be promised, and why others cannot."""
        rows, refusals = [], []
        for level in levels:
            try:
                rows.append((level, *self.figures(self.make(level))))
            except CRFError as error:
                refusals.append(str(error))
        return rows, refusals

    def shown(self, rows: Sequence[tuple[Any, ...]]) -> str:
        """The table of some rows; figures whose names begin with "share" are shares."""
        lines = []
        for level, *figures in rows:
            cells = [percent(x) if name.startswith("share") else f"{x:.3g}" for name, x in zip(self.columns, figures)]
            lines.append((f"{level:g}", f"{100 * (1 - level):.6g} %", *cells))
        return table(lines, ("level", "promised", *self.columns.values()), "r")


class TagPromises(Promises):
    """Promises about the sets of tags of tokens."""

    columns: ClassVar = {"size": "tags in a set", "share_single": "one tag", "share_single_right": "right of these"}

    def __init__(self, pipe: Any, examples: Any, unit: Unit, loss: Loss, asked: Asked, groups: Strata | None):
        self.pipe, self.unit, self.loss, self.asked, self.groups = pipe, unit, loss, asked, groups
        self.held_out = held_out_tokens(pipe, examples)

    def make(self, level: float) -> Guarantee:
        asked = self.asked
        if not asked.conformal:
            return risk_control(self.held_out, level, self.unit, self.loss)
        condition: Condition = "group" if self.groups else "label" if asked.by_tag else "marginal"
        score = Score(asked.score, randomised=asked.randomised, penalty=asked.penalty, k_reg=asked.k_reg)
        fallback: Literal["full", "pooled"] = "full" if asked.full else "pooled"
        return conformal_sets(self.held_out, level, score, condition, fallback, self.groups, asked.seed)

    def figures(self, promise: Guarantee) -> tuple[float | None, ...]:
        held_out = self.held_out
        known = held_out.weights.any(axis=1)
        sets = guarantee_rule(promise)(held_out.marginals, held_out.tokens)[known]
        single, gold = sets.sum(axis=1) == 1, held_out.weights[known]
        best = gold[:, : sets.shape[1]] == gold.max(axis=1, keepdims=True)
        right = (sets & best).any(axis=1)
        return (
            float(sets.sum(axis=1).mean()),
            float(single.mean()),
            float(right[single].mean()) if single.any() else None,
        )

    def settings(self, promise: Guarantee) -> dict[str, Any]:
        return {"method": "guarantee", "guarantee": guarantee_data(promise, self.pipe)}

    def tell(self, promise: Guarantee) -> None:
        labels = self.pipe.labels
        typer.echo(f"Mean size of the sets of FILE: {self.figures(promise)[0]:.2f} of {len(labels)} tags")

    def warn(self, promise: Guarantee) -> None:
        labels = self.pipe.labels
        if n_lost := self.held_out.unknown:
            tell_warning(f"{n_lost} tokens are missed whatever their sets: the tagger gives none of their gold tags")
        if isinstance(promise, ConformalPromise) and promise.sets.small:
            small, is_pooled = promise.sets.small, promise.sets.fallback == "pooled"
            rare = ", ".join(f"{promise.describe(stratum, labels)} ({n})" for stratum, n in small.items())
            fate = "share the quantile of all tokens, without a promise" if is_pooled else "get all tags"
            kind = "tags" if promise.by is None else "groups"
            tell_warning(f"Too few tokens for a promise of their own; these {kind} {fate}: {rare}")


class SpanPromises(Promises):
    """Promises about the sets of spans of documents."""

    columns: ClassVar = {
        "threshold": "least prob.",
        "size": "spans in a document",
        "share_alone": "without a rival",
        "share_alone_right": "right of these",
    }

    def __init__(self, pipe: Any, examples: Sequence[Example], unit: Unit, loss: Loss, longest: int):
        if pipe.settings.target not in SPAN_TARGETS:
            raise CRFError(LabErrors.CRF590.format(name=pipe.name, target=pipe.settings.target))
        if unit == "token" or loss == "ml-acc":
            raise CRFError(LabErrors.CRF591.format(name=pipe.name, unit=unit, loss=loss))
        self.pipe, self.examples, self.unit, self.loss, self.longest = pipe, examples, unit, loss, longest
        self.held_out = held_out_spans(pipe, examples, longest)
        self._gold = [GoldSpans.of(pipe.annotation, example, pipe.tags) for example in examples]
        self._least, self._sets = 1.0, list[list[LikelySpan]]()

    def make(self, level: float) -> SpanRisk:
        found = self.held_out
        units = found.documents if self.unit == "document" else found.sentences
        return control_span_risk(found.probabilities, units, level, self.unit, self.loss, self.longest)

    def figures(self, promise: SpanRisk) -> tuple[float | None, ...]:
        if not self._sets or promise.threshold < self._least:
            docs = [example.predicted for example in self.examples]
            self._least, self._sets = promise.threshold, likely_spans_of(self.pipe, docs, promise)
        least = promise.threshold - ROUNDING
        sets = ([span for span in own if span.probability >= least] for own in self._sets)
        found = report_span_sets(zip(sets, self._gold), document_numbers(self.examples))
        return promise.threshold, found.size, found.alone, found.alone_right

    def settings(self, promise: SpanRisk) -> dict[str, Any]:
        return {"guarantee": promise_data(SPANS, promise, self.pipe)}

    def tell(self, promise: SpanRisk) -> None:
        typer.echo(f"Spans in the sets have a probability of at least {promise.threshold:.3g}")

    def warn(self, promise: SpanRisk) -> None:
        n_lost = int((self.held_out.probabilities == 0).sum())
        if n_lost:
            tell_warning(f"{n_lost} spans are missed whatever the sets: the component cannot give them")

"""All figures of a pipeline on gold documents, with what they were made of."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from heapq import nsmallest
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..annotation.documents import document_numbers
from ..annotation.target import token_target
from ..core.arrays import Indices
from ..core.errors import CRFError
from ..core.labels import UNKNOWN, TagSet
from ..pipe.block import SPAN_TARGETS
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesProbabilities, labels_of
from ..pipe.seen import as_seen
from ..punctuation.block import NONE
from ..punctuation.component import PunctuationRestorer
from ..punctuation.docs import WordView, gold_labels
from ..reading.files import read_lines, says_nothing, spell_path
from ..tagsets.gold import gold_weights
from .documents import Labels, replace_labels
from .errors import LabErrors
from .intervals import make_tallies
from .measures import Findings, Scored, assess, read_tag
from .report import round_numbers
from .results import POOLED, label_data, tag_rows
from .statistics import Interval, Names, Tally, bootstrap_figures, flatten, nest

HEADLINE = "crf_score"  # another name for the score of a target
TOLERANCE = 1e-9
COUNTS = ("set_size", "violations")  # figures that are no shares, with their variants


@dataclass(frozen=True)
class Figures:
    """What a pipeline is worth on gold documents.

    found (Findings): all measures. intervals (dict): of those that are functions of counts, by their path.
    drawn (str): what intervals are over: "documents", or "docs" where all of these are parts of one document.
    counts (dict[str, int]): documents, Docs and tokens that were annotated, labels that are known to the component, and
        tokens that it was trained on, if that is told. unknown_words (float | None): see `unknown_share`.
    seconds (float): that annotation took, the first time after loading.
    examples (Sequence[Example]): the gold documents as they were annotated.
    seen (Callable): gives them as the component saw them: what has been annotated since may be what it looks at.
    """

    found: Findings
    intervals: Mapping[Names, Interval]
    drawn: str
    counts: Mapping[str, int]
    unknown_words: float | None
    seconds: float
    examples: Sequence[Example] = ()
    seen: Callable[[], Sequence[Example]] = list

    def to_data(self) -> dict[str, Any]:
        """Return data that JSON can hold, rounded to six digits, so that two files can be compared line by line."""
        data = {
            "counts": dict(self.counts),
            "unknown_words": self.unknown_words,
            "scores": {**self.found.scores, **self.found.by_label},
            "intervals": nest({path: [found.low, found.high] for path, found in self.intervals.items()}),
            "intervals_over": self.drawn if self.intervals else None,
            "labels": label_data(self.found.confusions),
            "curves": {name: {f"{x:g}": y for x, y in own.items()} for name, own in self.found.curves.items()},
            "confusions": nest(dict(sorted(self.found.confusions.items()))),
        }
        return dict(round_numbers(data))

    def score_rows(self) -> list[tuple[str, str, str]]:
        """Return the name of each score, its value and its interval as text; "" where it has none."""
        rows = []
        for (name,), value in flatten(self.found.scores).items():
            own = self.intervals.get((name,))
            rows.append((name, show_figure(name, value), show_figure(name, own.low, own.high) if own else ""))
        if self.unknown_words is not None:
            rows.append(("unknown_words", show_figure("", self.unknown_words), ""))
        return rows

    def tables_by_label(self) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        """Yield the name, the header and the rows of each table of labels; names of labels are to the left."""
        for name, by_label in self.found.by_label.items():
            kinds = list(next(iter(by_label.values())))
            rows = [(label, *(show_figure(kind, own[kind]) for kind in kinds)) for label, own in by_label.items()]
            yield name, ("", *kinds), rows

    def label_rows(self) -> list[tuple[str, ...]]:
        """Return labels of tokens, how many are gold, and their `POOLED` measures, the most frequent first; none where
        `tables_by_label` tells of them."""
        rows = tag_rows(self.found.confusions)
        if not set().union(*self.found.by_label.values()).isdisjoint(row.tag for row in rows):
            return []
        return [(row.tag, f"{row.gold:,}", *(show_figure("", getattr(row, name)) for name in POOLED)) for row in rows]


def evaluate(
    nlp: Language,
    name: str,
    examples: Sequence[Example],
    trained: Sequence[Doc] | None = None,
    whole: Iterable[Doc] | None = None,
    with_intervals: bool = False,
    labels: Labels | None = None,
    watch: Callable[[Sequence[Example]], Iterable[Example]] = iter,
) -> Figures:
    """Annotate and score gold documents.

    name (str): of the component that is measured beyond what the scorers of all components tell.
    trained (Sequence[Doc] | None): gold that it was trained on: tells known words from unknown ones.
    whole (Iterable[Doc] | None): the documents with gold of punctuation too, where this is context.
    with_intervals (bool): draw documents anew for the intervals of figures.
    labels (Mapping[str, str] | None): other labels that labels count as, gold and predicted ones.
    watch (Callable): gives the examples again, one by one as they are annotated, such as to show how far that is.
    """
    pipe: Any = nlp.get_pipe(name)
    plain = [example.predicted.copy() for example in examples]
    started = time.perf_counter()
    done = list(nlp.pipe(example.predicted for example in watch(examples)))
    seconds = time.perf_counter() - started
    examples = [Example(doc, example.reference) for doc, example in zip(done, examples)]
    seen = cache(partial(as_seen, nlp, name, plain, examples))
    whole = None if whole is None else list(whole)
    if labels:
        sides = (doc for example in examples for doc in (example.predicted, example.reference))
        replace_all([*sides, *(trained or ()), *(whole or ())], labels, pipe)
    with nlp.select_pipes(disable=name):
        scores = Scorer(nlp).score(examples)
    # its own ones last: another component may have some of the same names. Means over labels are over those that its
    # own count as.
    counted = tuple(dict.fromkeys(labels.get(own, own) for own in pipe.labels)) if labels else ()
    scores |= pipe.score(examples, **({"labels": counted} if labels else {}))
    words = None if trained is None else frozenset(token.text for doc in trained for token in doc)
    tested = Scored(examples, trained or (), words, counted, seen)
    n_tokens = sum(len(example.predicted) for example in examples)
    found = assess(pipe, tested, {key: value for key, value in scores.items() if is_shown(key)})
    if whole is not None:
        told = pipe.score([Example(example.predicted, doc) for example, doc in zip(examples, whole)])
        with_marks = {f"{key}_with_punctuation": value for key, value in told.items() if key.endswith("_acc")}
        found = replace(found, scores=found.scores | with_marks)
    numbers = document_numbers(examples)
    counts = {
        "documents": int(numbers.max(initial=-1)) + 1,
        "docs": len(examples),
        "tokens": n_tokens,
        "labels": len(getattr(pipe, "labels", ())),
    }
    if trained is not None:
        counts["tokens_trained_on"] = sum(map(len, trained))
    drawn = "documents" if counts["documents"] > 1 else "docs"
    rows = numbers if counts["documents"] > 1 else np.arange(len(examples))
    intervals = find_intervals(make_tallies(pipe, tested), rows, found) if with_intervals else {}
    return Figures(found, intervals, drawn, counts, unknown_share(pipe, tested), seconds, examples, seen)


def unknown_share(pipe: Any, tested: Scored) -> float | None:
    """Return the share of the tested tokens whose form training has not seen; None if that cannot be told.

    Tokens without gold, such as punctuation that is context, are not tested where labels are those of tokens.
    """
    words = tested.words
    if words is None:
        return None
    judged = [token.text not in words for example in tested.examples for token in judged_tokens(pipe, example)]
    return sum(judged) / len(judged) if judged else None


def judged_tokens(pipe: Any, example: Example) -> list[Token]:
    """Return the tokens with gold, where labels are those of tokens; all tokens else."""
    target, tokens = getattr(pipe, "cfg", {}).get("target"), example.predicted
    if target is None or target in SPAN_TARGETS:
        return list(tokens)
    has_gold: Sequence[Any] = token_target(target).names(example)
    if "gold_tags" in pipe.cfg:
        has_gold = gold_weights(example, target, pipe.cfg["gold_tags"])
    return [token for token in compress(tokens, has_gold) if not token.is_space or read_tag(token, target)]


def find_intervals(tallies: Sequence[Tally], rows: Indices, found: Findings) -> dict[Names, Interval]:
    """Return the intervals of the figures that tallies give as they were found, in the order of the figures."""
    known = flatten({**found.scores, **found.by_label})
    drawn = bootstrap_figures(tallies, rows)
    return {
        path: drawn[path]
        for path, value in known.items()
        if path in drawn and abs(drawn[path].mean - value) < TOLERANCE
    }


def is_shown(name: str) -> bool:
    """Tell whether a score says something; those of tokens do not where tokens are given."""
    return name != HEADLINE and not name.startswith("token_")


def show_figure(name: str, *values: float) -> str:
    """Return a figure as text, or its bounds, by its name: a share as a percentage."""
    return " to ".join(f"{value:.2f}" if name.startswith(COUNTS) else f"{100 * value:.2f}" for value in values)


def describe_model(nlp: Language, name: str) -> dict[str, Any]:
    """Tell what a model is: its name and version, its components, the one that is measured, its bytes on the disk."""
    folder = nlp.path
    size = {} if folder is None else {"bytes": sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())}
    told = {key: nlp.meta.get(key, "") for key in ("lang", "name", "version")}
    return {**told, "components": list(nlp.pipe_names), "component": name, **size}


def describe_data(path: Path) -> str:
    """Name a file or folder, without where it is."""
    return spell_path(path.name or path.resolve().name)


# -- errors --------------------------------------------------------------------------------------------------------


class Surprise(NamedTuple):
    """An error.

    probability (float): of the gold label. number (int): of the example. token (int): of the document. gold (str),
    label (str): gold and predicted label.
    """

    probability: float
    number: int
    token: int
    gold: str
    label: str


def find_surprises(pipe: Any, examples: Sequence[Example], most: int, seen: Sequence[Example] = ()) -> list[Surprise]:
    """Return the errors at which the gold label was least probable, the most surprising first.

    seen (Sequence[Example]): the examples as the component saw them, if they were others.
    """
    found: Iterator[Surprise] = iter(())
    if isinstance(pipe, PunctuationRestorer):
        found = _wrong_marks(pipe, examples)
    elif isinstance(pipe, GivesProbabilities) and (not isinstance(pipe, ChainPipe) or pipe.labels_tokens):
        found = _wrong_labels(pipe, examples, seen or examples)
    return nsmallest(most, found)


def _wrong_labels(pipe: Any, examples: Sequence[Example], seen: Sequence[Example]) -> Iterator[Surprise]:
    tags = pipe.tags if isinstance(pipe, ChainPipe) else TagSet(tuple(pipe.labels), "none")
    rows = pipe.token_probabilities([example.predicted for example in seen])
    for number, (example, values) in enumerate(zip(examples, rows)):
        own = labels_of(Example(example.predicted, example.predicted), pipe, tags)
        for token, (gold, label) in enumerate(zip(labels_of(example, pipe, tags), own)):
            is_left_out = label == UNKNOWN and example.predicted[token].is_space
            if gold not in (UNKNOWN, label) and not is_left_out:
                name = "" if label == UNKNOWN else tags.tags[label]
                yield Surprise(float(values[token, gold]), number, token, tags.tags[gold], name)


def _wrong_marks(pipe: PunctuationRestorer, examples: Sequence[Example]) -> Iterator[Surprise]:
    for number, example in enumerate(examples):
        labels = gold_labels(example, pipe.label_scheme)
        last = WordView.of(example.predicted, pipe.label_scheme).last_tokens.tolist()
        for label, token in zip(labels, last):
            own = example.predicted[token]._
            gold = None if label is None else "" if label.mark == NONE else label.mark
            if gold is not None and gold != own.punct_after and own.punct_probs:
                yield Surprise(own.punct_probs.get(gold, 0.0), number, token, gold, own.punct_after)


# -- labels that count as others ---------------------------------------------------------------------------------


def read_labels(path: Path) -> Labels:
    """Return what labels count as: lines `label<TAB>other label`; empty lines and others with a "#" say nothing."""
    labels = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if says_nothing(line):
            continue
        if len(cells) != 2 or not all(cells):
            raise CRFError(LabErrors.CRF669.format(path=path, line=number, text=line.strip()))
        labels[cells[0]] = cells[1]
    return labels


def replace_all(docs: Iterable[Doc], labels: Labels, pipe: Any) -> None:
    """Replace the labels of what a component labels in Docs, each once; sets of tags, with their weights, have none."""
    settings = getattr(pipe, "cfg", {})
    target = settings.get("target")
    if target is None or "gold_tags" in settings:
        raise CRFError(LabErrors.CRF668.format(target=f"sets of {target}s" if target else pipe.name))
    for doc in {id(doc): doc for doc in docs}.values():
        replace_labels(doc, labels, target, settings.get("spans_key", ""))

"""What is measured beside the scores of a component's own scorer: each kind of component may add to it.

Another component adds measures with `@measure.register(ComponentClass)`; neither the runner nor the tables know of
components.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..annotation.target import AttributeTarget, token_target
from ..constraints.component import ConstrainedNER, ConstraintDecoder
from ..constraints.scorer import field_labels
from ..core.arrays import Bools, Doubles, Indices, Segments
from ..core.labels import UNKNOWN
from ..core.scores import LabelCounts, Labels, Scores, count_labels
from ..core.sets.measures import best_label_error, coverage_by_label, has_gold, ml_acc, ml_util
from ..core.sets.predict import make_utility, utility_optimal_sets
from ..pipe.block import SPAN_TARGETS
from ..pipe.decoding import Decoder
from ..sections.component import SectionParser
from ..sections.scorer import confuse
from ..tagging.component import CRFTagger
from ..tagsets.component import SetValuedTagger, SourcedSetTagger
from ..tagsets.gold import SetTable, set_table
from ..tagsets.rules import utility_values

BETAS = (0.2, 0.5, 1.0, 2.0, 5.0)  # Heid, Table 6.6
LEAST = 20  # tokens of a tag whose coverage is more than chance
NOTE = "NOTE"  # the field that annotators disagree about most, which papers leave out of some means
Cell = TypeVar("Cell", np.float64, np.bool_)
WORDS = "_words"  # behind the names of measures of all tokens but punctuation marks


@dataclass(frozen=True)
class Scored:
    """What a component has annotated.

    examples (Sequence[Example]): annotation in `predicted`, gold in `reference`.
    trained (Sequence[Doc]): gold Docs that it was trained on. words (frozenset[str]): their forms.
    """

    examples: Sequence[Example]
    trained: Sequence[Doc]
    words: frozenset[str]


@dataclass(frozen=True)
class Findings:
    """Measures of one test part.

    scores (dict[str, float]): by name; means over test parts are shown.
    curves (dict[str, dict[float, float]]): y by x for each name; likewise.
    confusions (Counter): tokens by gold tag and predicted tag; sums are shown.
    frequencies (Counter): tokens by tag in the training part.
    """

    scores: dict[str, float] = field(default_factory=dict)
    curves: dict[str, dict[float, float]] = field(default_factory=dict)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    frequencies: Counter[str] = field(default_factory=Counter)


@singledispatch
def measure(pipe: Pipe, tested: Scored) -> Findings:
    """Return measures that a kind of component adds; none unless it has registered some."""
    return Findings()


@measure.register
def measure_sections(pipe: SectionParser, tested: Scored) -> Findings:
    """Count elements by gold and predicted label."""
    key, newline = pipe.cfg["elements_key"], pipe.cfg["newline_label"]
    return Findings(confusions=Counter(pair for example in tested.examples for pair in confuse(example, key, newline)))


# -- tags --------------------------------------------------------------------------------------------------------


@measure.register
def measure_tags(pipe: CRFTagger, tested: Scored) -> Findings:
    """Measure known and unknown words, confusions, frequencies of tags in training, and fields; nothing of spans."""
    if pipe.target in SPAN_TARGETS:
        return Findings()
    documents = [
        [
            LabelledToken(gold, read_tag(token, pipe.target), any(map(str.isalnum, token.text)))
            for gold, token in zip(token_target(pipe.target).names(example), example.predicted)
        ]
        for example in tested.examples
    ]
    found = count_tags(tested, pipe.target)
    return replace(found, scores=found.scores | score_fields(documents, pipe.target))


@measure.register(ConstrainedNER)
@measure.register(ConstraintDecoder)
def measure_fields(pipe: ConstrainedNER | ConstraintDecoder, tested: Scored) -> Findings:
    """Measure fields, which may be spans, and count tokens by gold and predicted one."""
    target, spans_key = pipe.cfg["target"], pipe.cfg["spans_key"]
    names, pairs = field_labels(tested.examples, target, spans_key)
    named = dict(enumerate(names))
    documents = [
        [
            LabelledToken(named.get(right), named.get(own, ""), any(map(str.isalnum, token.text)))
            for right, own, token in zip(*(side.tolist() for side in both), example.predicted)
        ]
        for both, example in zip(pairs, tested.examples)
    ]
    confusions = Counter((token.gold, token.predicted) for own in documents for token in own if token.gold is not None)
    found = Findings(confusions=confusions) if target in SPAN_TARGETS else count_tags(tested, target)
    return replace(found, scores=found.scores | score_fields(documents, "field" if target in SPAN_TARGETS else target))


def count_tags(tested: Scored, target: str) -> Findings:
    """Measure known and unknown words, confusions and frequencies for any component that writes a tag of tokens.

    target (str): "tag", "pos", or a custom attribute. Tokens without gold count for nothing; of gold with several
        tags, the best one counts.
    """
    confusions: Counter[tuple[str, str]] = Counter()
    judged, right = Counter[bool](), Counter[bool]()
    for example in tested.examples:
        for gold, token in zip(token_target(target).names(example), example.predicted):
            if gold is not None:
                found, is_known = read_tag(token, target), token.text in tested.words
                confusions[gold, found] += 1
                judged[is_known] += 1
                right[is_known] += gold == found
    names = {True: f"{target}_acc_known", False: f"{target}_acc_unknown"}
    scores = {name: right[is_known] / judged[is_known] for is_known, name in names.items() if judged[is_known]}
    trained = (name for doc in tested.trained for name in token_target(target).names(Example(doc, doc)))
    return Findings(scores, confusions=confusions, frequencies=Counter(name for name in trained if name is not None))


def read_tag(token: Token, target: str) -> str:
    """Return the tag of a token; "" if it has none."""
    return str(getattr(token, f"{target}_") if target in AttributeTarget.attributes else token._.get(target) or "")


# -- sets of tags ------------------------------------------------------------------------------------------------


@measure.register
def measure_sets(pipe: SetValuedTagger, tested: Scored) -> Findings:
    """Measure sets, and how often the tag of the best sequence is in the set (Heid, 5.5.4)."""
    found = measure_sourced_sets(pipe, tested)
    docs = [example.predicted for example in tested.examples if len(example.predicted)]
    names, inside, total = pipe.tags.tags, 0, 0
    for doc, prediction in zip(docs, pipe.decode(docs, Decoder(pipe.annotation))):
        sets = doc._.get(pipe.cfg["tag_set"])
        hits = [names[tag] in chosen for tag, chosen in zip(prediction.tags.tolist(), sets) if tag != UNKNOWN]
        inside, total = inside + sum(hits), total + len(hits)
    return replace(found, scores={**found.scores, "viterbi_in_set": inside / max(1, total)})


@measure.register(SourcedSetTagger)
def measure_sourced_sets(pipe: SourcedSetTagger | SetValuedTagger, tested: Scored) -> Findings:
    """Measure sets, which may come from the probabilities of another component."""
    target, probs = pipe.cfg["target"], pipe.cfg["tag_probs"]
    stored = [example.predicted._.get(probs) for example in tested.examples]
    labels = list(next(one["tags"] for one in stored))
    table = set_table(tested.examples, labels, target, pipe.cfg["tag_set"], pipe.cfg["gold_tags"])
    marginals = np.concatenate([np.asarray(one["values"]) for one in stored])
    known = np.array([token.text in tested.words for eg in tested.examples for token in eg.predicted], dtype=bool)
    scores = _by_words(table, known, _padded(utility_values(pipe.cfg, len(labels)), table))
    scores["tag_ece"] = best_label_error(_padded(marginals, table), table.weights)
    coverage = coverage_by_label(table.weights, table.members).at_least(LEAST)
    if len(coverage.strata):
        overall = float(np.average(coverage.coverages, weights=coverage.counts))
        scores["set_coverage_gap"] = coverage.gap(1 - overall)
    found = count_tags(tested, target)
    return replace(found, scores=found.scores | scores, curves=_by_beta(marginals, table))


def _padded(values: npt.NDArray[Cell], table: SetTable) -> npt.NDArray[Cell]:
    """Return values ((..., L')) with 0 for tags that only the gold has."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, table.weights.shape[1] - values.shape[-1])])


def _by_words(table: SetTable, known: Bools, g: Doubles) -> dict[str, float]:
    """Measure known and unknown words (Heid, Table 6.7)."""
    with_gold = has_gold(table.weights)
    weights, members, best = table.weights[with_gold], table.members[with_gold], table.best[with_gold]
    columns = {
        "ml_acc": ml_acc(weights, best),
        "ml_util": ml_util(weights, members, g),
        "set_size": members.sum(axis=1).astype(np.float64),
    }
    groups = {"known": known[with_gold], "unknown": ~known[with_gold]}
    return {
        f"{name}_{group}": float(values[chosen].mean())
        for name, values in columns.items()
        for group, chosen in groups.items()
        if chosen.any()
    }


def _by_beta(marginals: Doubles, table: SetTable) -> dict[str, dict[float, float]]:
    """Choose sets anew by g with alpha = 1 and each beta, from the probabilities at hand (Heid, Table 6.6)."""
    with_gold = has_gold(table.weights)
    utilities: dict[float, float] = {}
    sizes: dict[float, float] = {}
    for beta in BETAS:
        g = make_utility("g", 1.0, beta).values(marginals.shape[1])
        sets = utility_optimal_sets(marginals[with_gold], g)
        members = _padded(sets.members, table)
        utilities[beta] = float(ml_util(table.weights[with_gold], members, _padded(g, table)).mean())
        sizes[beta] = float(sets.sizes.mean())
    return {"ml_util by beta": utilities, "set_size by beta": sizes}


# -- fields of references ----------------------------------------------------------------------------------------


class LabelledToken(NamedTuple):
    """A token with its gold label, None where there is none, its predicted label, and whether it is no mere mark."""

    gold: str | None
    predicted: str
    is_word: bool


def score_fields(documents: Iterable[Sequence[LabelledToken]], prefix: str) -> dict[str, float]:
    """Measure all tokens, and those that are not punctuation marks; tokens without gold count for nothing.

    The figures of Cecchini & Fersini, section 4.1, each under a name that says what it is: see `core.scores`.

    prefix (str): of the names.
    RETURNS (dict[str, float]): `{prefix}_micro_f` (of tokens: accuracy), `_macro_p`, `_macro_r` and `_macro_f` over the
        labels that occur, `_macro_f_without_NOTE` if this is one of them, `_weighted_p`, `_weighted_r` and
        `_weighted_f` by support, `_segment_f` (micro, segments are runs of one label) and `_whole` (share of documents
        with every token right), and the same with "_words". Empty where no token has gold.
    """
    known = [[token for token in document if token.gold is not None] for document in documents]
    tokens = [token for document in known for token in document]
    if not tokens:
        return {}
    labels = sorted({label for token in tokens for label in (str(token.gold), token.predicted)})
    number = {label: index for index, label in enumerate(labels)}
    gold = np.array([number[str(token.gold)] for token in tokens], dtype=np.intp)
    predicted = np.array([number[token.predicted] for token in tokens], dtype=np.intp)
    sequences = LabelSequences(gold, predicted, Segments.of(known).lengths)
    words = np.array([token.is_word for token in tokens], dtype=np.bool_)
    scores = _score(sequences, labels)
    if words.any():
        scores |= {f"{name}{WORDS}": value for name, value in _score(sequences.keep_units(words), labels).items()}
    return {f"{prefix}_{name}": value for name, value in scores.items()}


def _score(sequences: "LabelSequences", labels: Sequence[str]) -> dict[str, float]:
    tokens, (right, total) = sequences.tokens(len(labels)), sequences.whole()
    scores = {"micro_f": tokens.micro_f, **_named("macro", tokens.macro()), **_named("weighted", tokens.weighted)}
    if NOTE in labels:
        scores[f"macro_f_without_{NOTE}"] = tokens.macro_f(np.array(labels) != NOTE)
    segments = sequences.segments(len(labels))
    return {**scores, "segment_f": segments.micro_f, "whole": right / total}


def _named(mean: str, scores: Scores) -> dict[str, float]:
    return {f"{mean}_p": scores.precision, f"{mean}_r": scores.recall, f"{mean}_f": scores.f}


@dataclass(frozen=True)
class LabelSequences:
    """Gold and predicted labels of N units in B sequences; a segment is a maximal run of one label within one of these.

    gold ((N,)), predicted ((N,)): labels. lengths ((B,)): units of each sequence; 0 is allowed.
    """

    gold: Labels
    predicted: Labels
    lengths: Indices

    def keep_units(self, chosen: Bools) -> "LabelSequences":
        """Leave out some of the units ((N,)), such as punctuation; two segments of one label may so become one."""
        lengths = np.bincount(Segments(self.lengths).owners[chosen], minlength=len(self.lengths))
        return LabelSequences(self.gold[chosen], self.predicted[chosen], lengths)

    def tokens(self, n_labels: int) -> LabelCounts:
        """Count tokens by label. O(N + L)."""
        right = self.gold[self.gold == self.predicted]
        return count_labels(right, self.predicted, self.gold, n_labels)

    def segments(self, n_labels: int) -> LabelCounts:
        """Count segments by label; one is right where both have a segment with its borders and label. O(N + L)."""
        gold_starts, predicted_starts = self._starts(self.gold), self._starts(self.predicted)
        shared = np.flatnonzero(gold_starts & predicted_starts & (self.gold == self.predicted))
        ends = [_ends(starts)[shared] for starts in (gold_starts, predicted_starts)]
        right = self.gold[shared[ends[0] == ends[1]]]
        return count_labels(right, self.predicted[predicted_starts], self.gold[gold_starts], n_labels)

    def whole(self) -> tuple[int, int]:
        """Count sequences that have every unit right, and those that have a unit at all. O(N)."""
        wrong = Segments(self.lengths).owners[self.gold != self.predicted]
        n_present = int(np.count_nonzero(self.lengths))
        return n_present - len(np.unique(wrong)), n_present

    def _starts(self, labels: Labels) -> Bools:
        """Tell ((N,)) which units begin a segment."""
        starts = np.append(True, labels[1:] != labels[:-1])[: len(labels)]
        starts[Segments(self.lengths).openings] = True
        return starts


def _ends(starts: Bools) -> Indices:
    """Return ((N,)) the unit behind the segment of each unit."""
    borders = np.flatnonzero(np.append(starts, True))
    return np.repeat(borders[1:], np.diff(borders))

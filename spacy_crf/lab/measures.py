"""What is measured beside the scores of a component's own scorer: each kind of component may add to it.

Another component adds measures with `@measure.register(ComponentClass)`; neither the runner nor the tables know of
components.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import numpy as np
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..annotation.target import AttributeTarget, token_target
from ..constraints.component import ConstrainedNER, ConstraintDecoder
from ..constraints.scorer import field_labels
from ..core.arrays import Bools, Doubles
from ..core.labels import UNKNOWN, TagSet
from ..core.sets.measures import (
    best_label_error,
    classwise_error,
    coverage_by_label,
    covered,
    has_gold,
    ml_acc,
    ml_util,
)
from ..core.sets.predict import make_utility, utility_optimal_sets
from ..pipe.block import SPAN_TARGETS
from ..pipe.decoding import Decoder
from ..punctuation.block import NONE
from ..punctuation.component import PunctuationRestorer
from ..punctuation.docs import WordView, gold_labels
from ..punctuation.scorer import WordCount, count_words
from ..sections.component import SectionParser
from ..sections.scorer import confuse
from ..tagging.component import CRFTagger
from ..tagsets.component import SetValuedTagger, SourcedSetTagger
from ..tagsets.gold import SetTable, known_tokens
from ..tagsets.report import report_sets, stored_probabilities
from ..tagsets.rules import utility_values
from .baselines.component import ComparisonTagger
from .fields import LabelledToken, count_pairs, score_fields
from .statistics import single_figures

BETAS = (0.2, 0.5, 1.0, 2.0, 5.0)  # Heid, Table 6.6
BY_WORDS = ("ml_acc", "ml_util", "set_size")
LEAST = 20  # tokens of a tag whose coverage is more than chance
NO_TAGS = TagSet((), "none")  # labels of tokens are told without those of a component


@dataclass(frozen=True)
class Scored:
    """What a component has annotated.

    examples (Sequence[Example]): annotation in `predicted`, gold in `reference`.
    trained (Sequence[Doc]): gold Docs that it was trained on. words (frozenset[str] | None): their forms, which are
        known words; None if that is not to be told. labels (tuple[str, ...]): what labels of the component count as;
        none for these themselves. seen (Callable | None): gives the examples as the component saw them, if
        they were others.
    """

    examples: Sequence[Example]
    trained: Sequence[Doc] = ()
    words: frozenset[str] | None = None
    labels: tuple[str, ...] = ()
    seen: Callable[[], Sequence[Example]] | None = None


@dataclass(frozen=True)
class Findings:
    """Measures of one test part.

    scores (dict[str, float]): by name; means over test parts are shown.
    by_label (dict[str, dict[str, dict[str, float]]]): by name, label, and "p", "r" or "f"; likewise.
    curves (dict[str, dict[float, float]]): y by x for each name; likewise.
    confusions (Counter): tokens by gold tag and predicted tag; sums are shown.
    frequencies (Counter): tokens by tag in the training part.
    """

    scores: dict[str, float] = field(default_factory=dict)
    curves: dict[str, dict[float, float]] = field(default_factory=dict)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    frequencies: Counter[str] = field(default_factory=Counter)
    by_label: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)


def assess(pipe: Any, tested: Scored, scores: Mapping[str, Any]) -> Findings:
    """Return the measures of a component together with the scores of its scorer, those of each label apart."""
    found = measure(pipe, tested)
    # of other components, what is told of a label may be a single number, or nothing
    tables = {
        name: {label: told for label, told in own.items() if isinstance(told, Mapping)}
        for name, own in scores.items()
        if name.endswith("_per_type") and own
    }
    by_label = {name: dict(sorted(own.items())) for name, own in tables.items() if own}
    return replace(found, scores=single_figures(scores) | found.scores, by_label=by_label | found.by_label)


@singledispatch
def measure(pipe: Pipe, tested: Scored) -> Findings:
    """Return measures that a kind of component adds; none unless it has registered some."""
    return Findings()


@measure.register
def measure_sections(pipe: SectionParser, tested: Scored) -> Findings:
    """Count elements by gold and predicted label."""
    key, newline = pipe.cfg["elements_key"], pipe.cfg["newline_label"]
    return Findings(confusions=Counter(pair for example in tested.examples for pair in confuse(example, key, newline)))


@measure.register
def measure_marks(pipe: PunctuationRestorer, tested: Scored) -> Findings:
    """Count words by gold and restored mark."""
    keep = pipe.settings.existing == "keep"
    words = (count_words(example, pipe.label_scheme, keep) for example in tested.examples)
    counts = sum(words, Counter[WordCount]())
    confusions: Counter[tuple[str, str]] = Counter()
    for word, count in counts.items():
        if word.kind == "mark":
            confusions[word.gold, word.own] += count
    return Findings(calibration_of_marks(pipe, tested.examples), confusions=confusions)


def calibration_of_marks(pipe: PunctuationRestorer, examples: Iterable[Example]) -> dict[str, float]:
    """Measure the calibration errors of the probabilities of marks that were not kept; nothing where Docs do not have
    these."""
    marks, rows, gold, keep = pipe.label_table.marks, [], [], pipe.settings.existing == "keep"
    for example in examples:
        labels, view = gold_labels(example, pipe.label_scheme), WordView.of(example.predicted, pipe.label_scheme)
        for label, word, token in zip(labels, view.words, view.last_tokens.tolist()):
            probabilities = example.predicted[token]._.punct_probs
            if label is not None and probabilities and not (keep and word.mark):
                rows.append([probabilities.get("" if mark == NONE else mark, 0.0) for mark in marks])
                gold.append([mark == label.mark for mark in marks])
    if not rows:
        return {}
    marginals, weights = np.array(rows), np.array(gold, dtype=np.float64)
    return {
        "mark_ece": best_label_error(marginals, weights),
        "mark_classwise_ece": classwise_error(marginals, weights),
    }


# -- tags --------------------------------------------------------------------------------------------------------


@measure.register(CRFTagger)
@measure.register(ComparisonTagger)
def measure_tags(pipe: CRFTagger | ComparisonTagger, tested: Scored) -> Findings:
    """Measure known and unknown words, confusions, frequencies of tags in training, and fields; nothing of spans."""
    if pipe.target in SPAN_TARGETS:
        return Findings()
    found = count_tags(tested, pipe.target)
    return replace(
        found, scores=found.scores | score_fields(tagged_documents(tested.examples, pipe.target), pipe.target)
    )


def tagged_documents(examples: Iterable[Example], target: str) -> list[list[LabelledToken]]:
    """Return the tokens of each example with gold and predicted tag."""
    return [
        [
            LabelledToken(gold, read_tag(token, target), is_word(token))
            for gold, token in zip(token_target(target).judged(example, NO_TAGS), example.predicted)
        ]
        for example in examples
    ]


def is_word(token: Token) -> bool:
    """Tell whether a token is more than punctuation."""
    return any(map(str.isalnum, token.text))


@measure.register(ConstrainedNER)
@measure.register(ConstraintDecoder)
def measure_fields(pipe: ConstrainedNER | ConstraintDecoder, tested: Scored) -> Findings:
    """Measure fields, which may be spans, and count tokens by gold and predicted one."""
    target = pipe.cfg["target"]
    documents = field_documents(tested.examples, target, pipe.cfg["spans_key"])
    confusions = sum(map(count_pairs, documents), Counter[tuple[str, str]]())
    found = Findings(confusions=confusions) if target in SPAN_TARGETS else count_tags(tested, target)
    return replace(found, scores=found.scores | score_fields(documents, "field" if target in SPAN_TARGETS else target))


def field_documents(examples: Sequence[Example], target: str, spans_key: str) -> list[list[LabelledToken]]:
    """Return the tokens of each example with gold and predicted label, which may be those of spans."""
    names, pairs = field_labels(examples, target, spans_key)
    named = dict(enumerate(names))
    return [
        [
            LabelledToken(named.get(right), named.get(own, ""), is_word(token))
            for right, own, token in zip(*(side.tolist() for side in both), example.predicted)
        ]
        for both, example in zip(pairs, examples)
    ]


def count_tags(tested: Scored, target: str) -> Findings:
    """Measure known and unknown words, confusions and frequencies for any component that writes a tag of tokens.

    Beside these stands the accuracy of the most frequent tag of each word.

    target (str): "tag", "pos", or a custom attribute. Tokens without gold count for nothing; of gold with several
        tags, the best one counts.
    """
    judged = [
        (token.text, gold, read_tag(token, target))
        for example in tested.examples
        for gold, token in zip(token_target(target).judged(example, NO_TAGS), example.predicted)
        if gold is not None
    ]
    trained = [
        (token.text, name)
        for doc in tested.trained
        for name, token in zip(token_target(target).names(Example(doc, doc)), doc)
        if name is not None
    ]
    scores = {}
    groups, words = (("known", True), ("unknown", False)), tested.words or frozenset()
    for name, is_known in () if tested.words is None else groups:
        own = [gold == found for word, gold, found in judged if (word in words) == is_known]
        if own:
            scores[f"{target}_acc_{name}"] = sum(own) / len(own)
    if trained and judged:
        guesses = most_frequent(trained)
        right = sum(guesses(word) == gold for word, gold, _ in judged)
        scores[f"{target}_acc_most_frequent"] = right / len(judged)
    confusions = Counter((gold, found) for _, gold, found in judged)
    return Findings(scores, confusions=confusions, frequencies=Counter(name for _, name in trained))


def most_frequent(trained: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    """Return what guesses the tag of a word: its most frequent one; of unknown words that of words seen once."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in trained:
        counts[word][tag] += 1
    once = Counter(next(iter(tags)) for tags in counts.values() if tags.total() == 1)
    fallback = once.most_common(1)[0][0] if once else ""
    best = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    return lambda word: best.get(word, fallback)


def read_tag(token: Token, target: str) -> str:
    """Return the tag of a token; "" if it has none."""
    return str(getattr(token, f"{target}_") if target in AttributeTarget.attributes else token._.get(target) or "")


# -- sets of tags ------------------------------------------------------------------------------------------------


@measure.register
def measure_sets(pipe: SetValuedTagger, tested: Scored) -> Findings:
    """Measure sets, and how often the tag of the best sequence is in the set (Heid, 5.5.4); nothing without gold."""
    found = measure_sourced_sets(pipe, tested)
    if not found.curves:
        return found
    seen = [example.predicted for example in (tested.seen() if tested.seen else tested.examples)]
    names, inside, total = pipe.tags.tags, 0, 0
    for example, prediction in zip(tested.examples, pipe.decode(seen, Decoder(pipe.annotation))):
        sets = example.predicted._.get(pipe.cfg["tag_set"]) or []
        hits = [names[tag] in chosen for tag, chosen in zip(prediction.tags.tolist(), sets) if tag != UNKNOWN]
        inside, total = inside + sum(hits), total + len(hits)
    return replace(found, scores={**found.scores, "viterbi_in_set": inside / total}) if total else found


@measure.register(SourcedSetTagger)
def measure_sourced_sets(pipe: Any, tested: Scored) -> Findings:
    """Measure sets, which may come from the probabilities of another component."""
    target, examples, labels = pipe.cfg["target"], tested.examples, list(pipe.labels)
    found = count_tags(tested, target)
    table = SetTable.of(pipe, examples)
    if not has_gold(table.weights).any():
        return found
    scores: dict[str, float] = {}
    if tested.words is not None:
        scores = _by_words(table, known_tokens(examples, tested.words), utility_values(pipe.cfg, len(labels)))
    report = report_sets(pipe, examples)
    if report.singletons_right is not None:
        scores["set_singletons_acc"] = report.singletons_right
    scores |= {
        "set_coverage_gap_documents": report.gap_documents,
        "tag_ece": report.ece,
        "tag_classwise_ece": report.classwise_ece,
    }
    coverage = coverage_by_label(table.weights, table.members).at_least(LEAST)
    if len(coverage.strata):
        scores["set_coverage_gap"] = coverage.gap(1 - report.target)
    marginals = stored_probabilities(pipe, examples, len(labels))
    return replace(found, scores=found.scores | scores, curves=_by_beta(marginals, table))


def _by_words(table: SetTable, known: Bools, g: Doubles) -> dict[str, float]:
    """Measure known and unknown words (Heid, Table 6.7)."""
    columns, known = set_columns(table, g), known[has_gold(table.weights)]
    return {
        f"{name}_{group}": float(columns[name][chosen].mean())
        for name in BY_WORDS
        for group, chosen in (("known", known), ("unknown", ~known))
        if chosen.any()
    }


def set_columns(table: SetTable, g: Doubles) -> dict[str, Doubles]:
    """Return measures ((N',)) of the tokens with gold, whose means are scores. g ((L,)): utilities."""
    with_gold = has_gold(table.weights)
    weights, members, best = table.weights[with_gold], table.members[with_gold], table.best[with_gold]
    sizes = members.sum(axis=1)
    return {
        "ml_acc": ml_acc(weights, best),
        "ml_util": ml_util(weights, members, g),
        "set_size": sizes.astype(np.float64),
        "set_coverage": covered(weights, members).astype(np.float64),
        "set_singletons": (sizes == 1).astype(np.float64),
    }


def _by_beta(marginals: Doubles, table: SetTable) -> dict[str, dict[float, float]]:
    """Choose sets anew by g with alpha = 1 and each beta, from the probabilities at hand (Heid, Table 6.6)."""
    with_gold = has_gold(table.weights)
    utilities: dict[float, float] = {}
    sizes: dict[float, float] = {}
    for beta in BETAS:
        g = make_utility("g", 1.0, beta).values(marginals.shape[1])
        sets = utility_optimal_sets(marginals[with_gold], g)
        utilities[beta] = float(ml_util(table.weights[with_gold], sets.members, g).mean())
        sizes[beta] = float(sets.sizes.mean())
    return {"ml_util by beta": utilities, "set_size by beta": sizes}

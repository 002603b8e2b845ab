"""The counts of documents that the figures of each kind of component are functions of: what their intervals need.

Another component adds its own with `@make_tallies.register(ComponentClass)`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial, singledispatch
from typing import Any

import numpy as np
from spacy.pipeline import Pipe
from spacy.scorer import PRFScore
from spacy.training import Example

from ..annotation.gold import partial_gold
from ..annotation.span_targets import SpanTarget, target_of
from ..constraints.component import ConstrainedNER, ConstraintDecoder
from ..constraints.scorer import token_scores
from ..core.sets.measures import has_gold
from ..pipe.block import SPAN_TARGETS
from ..punctuation.component import PunctuationRestorer
from ..punctuation.scorer import count_words, word_scores
from ..sections.component import SectionParser
from ..sections.scorer import confuse, judge_tree, score_elements, tree_scores
from ..tagging.component import CRFTagger
from ..tagsets.component import SetValuedTagger, SourcedSetTagger
from ..tagsets.gold import set_table
from .baselines.component import ComparisonTagger
from .fields import LabelledToken, tally_fields
from .measures import Scored, field_documents, set_columns, tagged_documents, utility_of_sets
from .statistics import Scores, Tally

KINDS = ("tp", "fp", "fn")


@singledispatch
def make_tallies(pipe: Pipe, tested: Scored) -> list[Tally]:
    """Return tallies with a row for each example, whose figures have the names of scores and measures."""
    return []


@make_tallies.register(CRFTagger)
@make_tallies.register(ComparisonTagger)
def tally_tagger(pipe: Any, tested: Scored) -> list[Tally]:
    """Count tags, or spans."""
    if pipe.target in SPAN_TARGETS:
        return [tally_spans(tested.examples, pipe.target, pipe.cfg.get("spans_key", "sc"))]
    return tally_tags(tested, pipe.target)


@make_tallies.register(ConstrainedNER)
@make_tallies.register(ConstraintDecoder)
def tally_constrained(pipe: ConstrainedNER | ConstraintDecoder, tested: Scored) -> list[Tally]:
    """Count fields, and take means over Docs of what was proved of them."""
    target, spans_key = pipe.cfg["target"], pipe.cfg["spans_key"]
    documents = field_documents(tested.examples, target, spans_key)
    names = ("whole_doc_acc", "certified", "violations", "violations_before")
    means = [pipe.score([example]) for example in tested.examples]
    found = [
        Tally.of(map(count_pairs, documents), partial(token_scores, labels=tuple(pipe.labels))),
        Tally.of([weigh(own, names, 1) for own in means], weighted_means),
    ]
    if target in SPAN_TARGETS:
        spans = [tally_spans(tested.examples, target, spans_key, prefix) for prefix in ("segments", "")]
        return [*found, *spans, tally_fields(documents, "field")]
    return [*found, *tally_tags(tested, target)]


@make_tallies.register(SetValuedTagger)
@make_tallies.register(SourcedSetTagger)
def tally_sets(pipe: SetValuedTagger | SourcedSetTagger, tested: Scored) -> list[Tally]:
    """Take means over tokens with gold, and over known and unknown words."""
    examples, target = tested.examples, pipe.cfg["target"]
    table = set_table(examples, list(pipe.labels), target, pipe.cfg["tag_set"], pipe.cfg["gold_tags"])
    chosen = has_gold(table.weights)
    owners = np.repeat(np.arange(len(examples)), [len(example.predicted) for example in examples])[chosen]
    groups = {"": np.ones(len(owners), dtype=np.bool_)}
    if tested.words is not None:
        known = np.array([token.text in tested.words for example in examples for token in example.predicted])[chosen]
        groups |= {"_known": known, "_unknown": ~known}
    rows: list[dict[tuple[str, str], float]] = [{} for _ in examples]
    for name, values in set_columns(table, utility_of_sets(pipe, table)).items():
        for group, taken in groups.items():
            sums = np.bincount(owners[taken], values[taken], len(examples))
            counts = np.bincount(owners[taken], minlength=len(examples))
            for row, total, weight in zip(rows, sums.tolist(), counts.tolist()):
                row[f"{name}{group}", "sum"], row[f"{name}{group}", "weight"] = total, weight
    return [Tally.of(rows, weighted_means), *tally_tags(tested, target)]


@make_tallies.register
def tally_marks(pipe: PunctuationRestorer, tested: Scored) -> list[Tally]:
    """Count words by gold and restored mark, and case."""
    scheme = pipe.label_scheme
    counts = [count_words(example, scheme, pipe.settings.existing == "keep") for example in tested.examples]
    return [Tally.of(counts, partial(word_scores, scheme=scheme))]


@make_tallies.register
def tally_sections(pipe: SectionParser, tested: Scored) -> list[Tally]:
    """Count elements by gold and predicted label, and the sections of trees."""
    key, newline = pipe.cfg["elements_key"], pipe.cfg["newline_label"]
    elements = [Counter(confuse(example, key, newline)) for example in tested.examples]
    trees = [judge_tree(example, pipe.cfg["sections_key"]) for example in tested.examples]
    counts = [{} if tree is None else tree.counts for tree in trees]
    return [Tally.of(elements, partial(score_elements, newline=newline)), Tally.of(counts, tree_scores)]


# -- counts and the figures that they make -----------------------------------------------------------------------


def tally_tags(tested: Scored, target: str) -> list[Tally]:
    """Count tokens by whether they are right and known, and by tag."""
    documents, rows = tagged_documents(tested.examples, target), []
    for document, example in zip(documents, tested.examples):
        words = [tested.words is None or token.text in tested.words for token in example.predicted]
        pairs = [(token, is_known) for token, is_known in zip(document, words) if token.gold is not None]
        rows.append(Counter((token.gold == token.predicted, is_known) for token, is_known in pairs))
    told = tested.words is not None
    return [Tally.of(rows, partial(tag_scores, target=target, told=told)), tally_fields(documents, target)]


def tag_scores(counts: Counter[tuple[bool, bool]], target: str, told: bool) -> Scores:
    """Make the accuracy of all, known and unknown words. told (bool): whether known words are told from others."""
    scores = {}
    for name, groups in (("", (True, False)), ("_known", (True,)), ("_unknown", (False,))):
        total = sum(counts[is_right, group] for is_right in (True, False) for group in groups)
        if total and (told or not name):
            scores[f"{target}_acc{name}"] = sum(counts[True, group] for group in groups) / total
    return scores


def count_pairs(document: Sequence[LabelledToken]) -> Counter[tuple[str, str]]:
    """Count the tokens with gold by gold and predicted label."""
    return Counter((token.gold, token.predicted) for token in document if token.gold is not None)


def weigh(scores: Mapping[str, Any], names: Sequence[str], weight: float) -> dict[tuple[str, str], float]:
    """Return the sum and the weight of each score of a document, to be added to those of others."""
    found = {}
    for name in names:
        value = scores.get(name)
        if value is not None:
            found[name, "sum"], found[name, "weight"] = value * weight, weight
    return found


def weighted_means(sums: Counter[tuple[str, str]]) -> Scores:
    """Make means of sums of `weigh`."""
    return {name: sums[name, "sum"] / sums[name, "weight"] for name, kind in sums if kind == "weight"}


def tally_spans(examples: Sequence[Example], target: str, spans_key: str, prefix: str = "") -> Tally:
    """Count the spans of each label that are right, only predicted and only gold. prefix (str): of other names."""
    prefix = prefix or ("ents" if target == "ent" else f"spans_{spans_key}")
    return Tally.of([count_spans(one, target, spans_key) for one in examples], partial(span_scores, prefix=prefix))


def count_spans(example: Example, target: str, spans_key: str) -> Counter[tuple[str, str]]:
    """Count spans by label and "tp", "fp" or "fn"; those on tokens whose gold is unknown are not judged."""
    reference, where = example.reference, target_of(target, spans_key)
    assert isinstance(where, SpanTarget)
    behind = 0  # tokens behind a span that have to be known
    if target == "ent":
        unknown = {token.i for token in reference if not token.ent_iob}
    elif spans_key in reference.spans:
        partial_tags, behind = partial_gold(example, target, spans_key) or (), 1
        unknown = {token for token, tag in enumerate(partial_tags) if not tag}
    else:
        return Counter()
    gold, own = (
        {
            (span.start, span.end, span.label_)
            for span in where.spans(doc)
            if unknown.isdisjoint(range(span.start, span.end + behind))
        }
        for doc in (reference, example.predicted)
    )
    kinds = {"tp": gold & own, "fp": own - gold, "fn": gold - own}
    return Counter((label, kind) for kind, spans in kinds.items() for _, _, label in spans)


def span_scores(counts: Counter[tuple[str, str]], prefix: str) -> Scores:
    """Make precision, recall and F of all spans and of those of each label."""
    by_label = {label: PRFScore(**{kind: counts[label, kind] for kind in KINDS}) for label, _ in counts}
    total = sum(by_label.values(), start=PRFScore())
    scores: dict[str, Any] = {f"{prefix}_{name}": value for name, value in _prf(total).items()}
    return {**scores, f"{prefix}_per_type": {label: _prf(score) for label, score in by_label.items()}}


def _prf(score: PRFScore) -> dict[str, float]:
    return {"p": score.precision, "r": score.recall, "f": score.fscore}

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

from ..constraints.component import ConstrainedNER, ConstraintDecoder
from ..constraints.scorer import count_segments, field_labels, token_scores
from ..core.labels import TagSet
from ..core.sets.measures import has_gold
from ..pipe.block import SPAN_TARGETS
from ..pipe.scorer import KINDS, count_spans, count_tokens, span_scores
from ..punctuation.component import PunctuationRestorer
from ..punctuation.scorer import count_words, word_scores
from ..sections.component import SectionParser
from ..sections.scorer import confuse, judge_tree, score_elements, tree_scores
from ..tagging.component import CRFTagger
from ..tagsets.component import SetValuedTagger, SourcedSetTagger
from ..tagsets.gold import SetTable, known_tokens
from ..tagsets.rules import utility_values
from .baselines.component import ComparisonTagger
from .fields import count_pairs, tally_fields
from .measures import Scored, field_documents, set_columns, tagged_documents
from .statistics import Scores, Tally


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
        Tally.of(map(count_pairs, documents), partial(token_scores, labels=tested.labels or tuple(pipe.labels))),
        Tally.of([weigh(own, names, 1) for own in means], weighted_means),
    ]
    if target in SPAN_TARGETS:
        spans = [tally_spans(tested.examples, target, spans_key, prefix) for prefix in ("segments", "")]
        return [*found, *spans, tally_fields(documents, "field")]
    return [*found, tally_segments(tested.examples, target, spans_key), *tally_tags(tested, target)]


@make_tallies.register(SetValuedTagger)
@make_tallies.register(SourcedSetTagger)
def tally_sets(pipe: Any, tested: Scored) -> list[Tally]:
    """Take means over tokens with gold, and over known and unknown words."""
    examples, target = tested.examples, pipe.cfg["target"]
    table = SetTable.of(pipe, examples)
    chosen = has_gold(table.weights)
    owners = np.repeat(np.arange(len(examples)), [len(example.predicted) for example in examples])[chosen]
    groups = {"": np.ones(len(owners), dtype=np.bool_)}
    if tested.words is not None:
        known = known_tokens(examples, tested.words)[chosen]
        groups |= {"_known": known, "_unknown": ~known}
    rows: list[dict[tuple[str, str], float]] = [{} for _ in examples]
    for name, values in set_columns(table, utility_values(pipe.cfg, len(pipe.labels))).items():
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
    """Count tokens by whether they are right, those of known and of unknown words, and by tag."""
    documents, rows, words = tagged_documents(tested.examples, target), [], tested.words
    for document, example in zip(documents, tested.examples):
        row = Counter({("", kind): getattr(count_tokens(example, target), kind) for kind in KINDS})
        for label, token in zip(document, example.predicted):
            if words is not None and label.gold is not None:
                row["_known" if token.text in words else "_unknown", str(label.gold == label.predicted)] += 1
        rows.append(row)
    return [Tally.of(rows, partial(tag_scores, target=target)), tally_fields(documents, target)]


def tag_scores(counts: Counter[tuple[str, str]], target: str) -> Scores:
    """Make the accuracy of all, known and unknown words."""
    every = PRFScore(**{kind: counts["", kind] for kind in KINDS})
    scores = {f"{target}_acc": every.fscore} if any(counts["", kind] for kind in KINDS) else {}
    for group in ("_known", "_unknown"):
        right, wrong = counts[group, "True"], counts[group, "False"]
        if right or wrong:
            scores[f"{target}_acc{group}"] = right / (right + wrong)
    return scores


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


def tally_segments(examples: Sequence[Example], target: str, spans_key: str) -> Tally:
    """Count runs of one label likewise."""
    names, pairs = field_labels(examples, target, spans_key)
    tags = TagSet(names, "none")
    return Tally.of([count_segments(*pair, tags) for pair in pairs], partial(span_scores, prefix="segments"))

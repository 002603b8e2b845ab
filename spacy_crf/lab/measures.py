"""What is measured beside the scores of a component's own scorer: each kind of component may add to it.

Another component adds measures with `@measure.register(ComponentClass)`; neither the runner nor the tables know of
components.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch

import numpy as np
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Token
from spacy.training import Example

from ..annotation.target import AttributeTarget, token_target
from ..constraints.component import ConstrainedNER
from ..core.arrays import Bools, Doubles
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
from .fields import LabelledToken, score_fields

BETAS = (0.2, 0.5, 1.0, 2.0, 5.0)  # Heid, Table 6.6
LEAST = 20  # tokens of a tag whose coverage is more than chance


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

    def joined(self, other: "Findings") -> "Findings":
        """Join measures that have different names."""
        return Findings(
            self.scores | other.scores,
            self.curves | other.curves,
            self.confusions + other.confusions,
            self.frequencies + other.frequencies,
        )


@singledispatch
def measure(pipe: Pipe, tested: Scored) -> Findings:
    """Return measures that a kind of component adds; none unless it has registered some."""
    return Findings()


# -- tags and section elements ------------------------------------------------------------------------------------


@measure.register(CRFTagger)
@measure.register(ConstrainedNER)
def measure_tags(pipe: CRFTagger | ConstrainedNER, tested: Scored) -> Findings:
    """Measure known and unknown words, confusions, frequencies of tags in training, and fields; nothing of spans."""
    if pipe.target in SPAN_TARGETS:
        return Findings()
    documents = [_label(example, pipe.target) for example in tested.examples]
    return count_tags(tested, pipe.target).joined(Findings(score_fields(documents, pipe.target)))


def _label(example: Example, target: str) -> list[LabelledToken]:
    return [
        LabelledToken(gold, read_tag(token, target), any(map(str.isalnum, token.text)))
        for gold, token in zip(token_target(target).names(example), example.predicted)
    ]


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
    return Findings(scores, confusions=confusions, frequencies=_count(tested.trained, target))


def read_tag(token: Token, target: str) -> str:
    """Return the tag of a token; "" if it has none."""
    return str(getattr(token, f"{target}_") if target in AttributeTarget.attributes else token._.get(target) or "")


def _count(docs: Sequence[Doc], target: str) -> Counter[str]:
    counts = Counter(name for doc in docs for name in token_target(target).names(Example(doc, doc)))
    return Counter({name: count for name, count in counts.items() if name is not None})


@measure.register
def measure_sections(pipe: SectionParser, tested: Scored) -> Findings:
    """Count elements by gold and predicted label."""
    key, newline = pipe.cfg["elements_key"], pipe.cfg["newline_label"]
    confusions: Counter[tuple[str, str]] = Counter()
    for example in tested.examples:
        confusions.update(confuse(example, key, newline))
    return Findings(confusions=confusions)


# -- sets of tags ------------------------------------------------------------------------------------------------


@measure.register(SetValuedTagger)
def measure_sets(pipe: SetValuedTagger, tested: Scored) -> Findings:
    """Measure sets, and how often the tag of the best sequence is in the set (Heid, 5.5.4)."""
    found = _measure(pipe, tested)
    docs = [example.predicted for example in tested.examples if len(example.predicted)]
    single_best = pipe.decode(docs, Decoder(pipe.annotation))
    names, inside, total = pipe.tags.tags, 0, 0
    for doc, prediction in zip(docs, single_best):
        sets = doc._.get(pipe.cfg["tag_set"])
        inside += sum(names[tag] in chosen for tag, chosen in zip(prediction.tags.tolist(), sets))
        total += len(doc)
    return replace(found, scores={**found.scores, "viterbi_in_set": inside / total})


@measure.register(SourcedSetTagger)
def measure_sourced_sets(pipe: SourcedSetTagger, tested: Scored) -> Findings:
    """Measure sets that come from the probabilities of another component."""
    return _measure(pipe, tested)


def _measure(pipe: SetValuedTagger | SourcedSetTagger, tested: Scored) -> Findings:
    target, probs = pipe.cfg["target"], pipe.cfg["tag_probs"]
    labels = _stored_labels(tested.examples, probs)
    table = set_table(tested.examples, labels, target, pipe.cfg["tag_set"], pipe.cfg["gold_tags"])
    marginals = np.concatenate([np.asarray(eg.predicted._.get(probs)["values"]) for eg in tested.examples])
    known = np.array([token.text in tested.words for eg in tested.examples for token in eg.predicted], dtype=bool)
    g = utility_values(pipe.cfg, len(labels))
    scores = _by_words(table, known, _padded(g, table))
    scores["tag_ece"] = best_label_error(_padded(marginals, table), table.weights)
    coverage = coverage_by_label(table.weights, table.members).at_least(LEAST)
    if len(coverage.strata):
        overall = float(np.average(coverage.coverages, weights=coverage.counts))
        scores["set_coverage_gap"] = coverage.gap(1 - overall)
    return count_tags(tested, target).joined(Findings(scores, _by_beta(marginals, table)))


def _stored_labels(examples: Sequence[Example], name: str) -> list[str]:
    return list(next(eg.predicted._.get(name)["tags"] for eg in examples))


def _padded(values: Doubles, table: SetTable) -> Doubles:
    """Return values ((..., L')) with 0 for tags that only the gold has."""
    width = table.weights.shape[1] - values.shape[-1]
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, width)])


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
        members = np.pad(sets.members, [(0, 0), (0, table.weights.shape[1] - marginals.shape[1])])
        utilities[beta] = float(ml_util(table.weights[with_gold], members, _padded(g, table)).mean())
        sizes[beta] = float(sets.sizes.mean())
    return {"ml_util by beta": utilities, "set_size by beta": sizes}

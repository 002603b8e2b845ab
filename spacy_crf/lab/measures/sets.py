"""Measures of components that give each token a set of tags: utility and size by beta, known and unknown words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from spacy.training import Example

from ...core.arrays import Bools, Doubles
from ...core.sets.measures import best_label_error, coverage_by_label, has_gold, ml_acc, ml_util
from ...core.sets.predict import make_utility, utility_optimal_sets
from ...pipe.decoding import Decoder
from ...tagsets.component import SetValuedTagger, SourcedSetTagger
from ...tagsets.gold import SetTable, set_table
from ...tagsets.rules import utility_values
from .base import Findings, Scored, measure
from .tokens import count_tags

BETAS = (0.2, 0.5, 1.0, 2.0, 5.0)  # Heid, Table 6.6
LEAST = 20  # tokens of a tag whose coverage is more than chance


@measure.register(SetValuedTagger)
def measure_sets(pipe: SetValuedTagger, tested: Scored) -> Findings:
    """All measures of sets, and how often the tag of the best sequence is in the set (Heid, 5.5.4)."""
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
    """Measures of sets that come from the probabilities of another component."""
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
    """((..., L')): 0 for tags that only the gold has."""
    width = table.weights.shape[1] - values.shape[-1]
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, width)])


def _by_words(table: SetTable, known: Bools, g: Doubles) -> dict[str, float]:
    """Measures of known and of unknown words (Heid, Table 6.7)."""
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
    """Sets chosen anew by g with alpha = 1 and each beta, from the probabilities at hand (Heid, Table 6.6)."""
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

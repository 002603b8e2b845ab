"""Constraints that labelled sequences suggest: every family with the labels of the data.

Sets of labels, and the disjuncts of rules, are chosen by greedy set cover: the one that explains most of what is not
yet explained, until all is. (Cecchini & Fersini learn their formulas with a minimum-satisfiability solver, which this
does not need.)
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from ..arrays import Bools
from .check import Labelling
from .families import (
    Adjacency,
    AtLeast,
    AtMost,
    BeginEnd,
    Constraint,
    EndsWith,
    Excludes,
    Labels,
    Precedence,
    Predicate,
    PresencePrecedence,
    Requires,
    Rule,
    StartsWith,
    StateChange,
)


def candidates(
    seen: Sequence[Labelling], kinds: Iterable[str], max_terms: int, min_support: int, gaps: Collection[str] = ()
) -> Iterator[Constraint]:
    """Hard constraints that may hold in some sequences.

    seen (sequence of Labelling): of sequences that are not empty. kinds (iterable of str): families.
    max_terms (int): labels in a set, and disjuncts of a rule, at most.
    min_support (int): what occurs in fewer sequences suggests nothing.
    gaps (collection of str): predicates that are about the gap before a unit; all others are about the unit.
    """
    runs = [_names(labelling) for labelling in seen]
    numbers = Counter(label for run in runs for label in set(run))
    labels = [label for label, number in numbers.items() if number >= min_support]
    together = Counter(pair for run in runs for pair in permutations(sorted(set(run)), 2))
    pairs = list(permutations(labels, 2))
    for kind in kinds:
        match kind:
            case "at_most":
                yield from (AtMost((label,), 1) for label in labels)
            case "at_least":
                yield from (AtLeast((label,), 1) for label in labels)
            case "starts_with":
                yield from map(StartsWith, _sets(Counter(run[0] for run in runs), max_terms))
            case "ends_with":
                yield from map(EndsWith, _sets(Counter(run[-1] for run in runs), max_terms))
            case "precedence":
                yield from (Precedence((a,), (b,)) for a, b in pairs)
            case "requires":
                yield from (Requires((a,), (b,)) for a, b in pairs)
            case "presence_precedence":
                known = ((a, b) for a, b in pairs if together[a, b] >= min_support)
                yield from (PresencePrecedence((a,), (b,)) for a, b in known)
            case "excludes":
                expected = {pair: numbers[pair[0]] * numbers[pair[1]] / len(runs) for pair in combinations(labels, 2)}
                yield from (Excludes((a,), (b,)) for (a, b), n in expected.items() if n >= min_support)
            case _:
                yield from _covers(kind, seen, runs, labels, max_terms, min_support, gaps)


def _covers(
    kind: str,
    seen: Sequence[Labelling],
    runs: list[list[str]],
    labels: list[str],
    max_terms: int,
    min_support: int,
    gaps: Collection[str],
) -> Iterator[Constraint]:
    """Candidates with a set of labels, or a disjunction, for each label."""
    match kind:
        case "adjacency":
            for label in labels:
                followers = Counter(after for run in runs for a, after in zip(run, run[1:]) if a == label)
                yield from (Adjacency((label,), own) for own in _sets(followers, max_terms))
        case "begin_end":
            for label in labels:
                ends = Counter(run[-1] for run in runs if run[0] == label)
                yield from (BeginEnd((label,), own) for own in _sets(ends, max_terms))
        case "state_change":
            yield from _state_changes(seen, labels, max_terms, gaps)
        case "rule":
            has = {label: np.array([label in run for run in runs]) for label in labels}
            for label in labels:
                yield from _rules(label, has, max_terms, min_support)


def _names(labelling: Labelling) -> list[str]:
    """Labels of the segments of a sequence."""
    return [labelling.fields.names[segment.label] for segment in labelling.segments("segment")]


def _sets(numbers: Counter[str], max_terms: int) -> Iterator[Labels]:
    """For each size the set of labels that explains most observations."""
    best = tuple(label for label, _ in numbers.most_common(max_terms))
    yield from (best[:size] for size in range(1, len(best) + 1))


def _state_changes(
    seen: Sequence[Labelling], labels: list[str], max_terms: int, gaps: Collection[str]
) -> Iterator[Constraint]:
    for name in seen[0].facts.predicates if seen else ():
        gap = name in gaps
        around = [
            (labelling.labels[mark - 1], labelling.labels[mark + (not gap)])
            for labelling in seen
            for mark in labelling.facts.marks(name, gap).tolist()
        ]
        names = seen[0].fields.names
        for label in labels:
            after = Counter(names[b] for a, b in around if names[a] == label)
            for own in _sets(after, max_terms):
                yield StateChange(name, (label,), own, gap=gap, implied=True)


def _rules(label: str, has: dict[str, Bools], max_terms: int, min_support: int) -> Iterator[Constraint]:
    """Rules "if there is the label, then .. or .." that tell sequences with it from those without.

    has (dict): for each label the sequences with it, (B,).
    """
    condition = has[label]
    others: dict[tuple[str, ...], Bools] = {(other,): found for other, found in has.items() if other != label}
    others |= {(a, b): has[a] & has[b] for a, b in combinations([name for name in has if name != label], 2)}
    covered = np.zeros_like(condition)
    chosen: list[tuple[str, ...]] = []
    while len(chosen) < max_terms:
        gains = {
            names: np.count_nonzero(found & condition & ~covered) - np.count_nonzero(found & ~condition & ~covered)
            for names, found in others.items()
        }
        best = max(gains, key=lambda names: gains[names], default=None)
        if best is None or gains[best] < min_support:
            break
        chosen.append(best)
        covered |= others[best]
        then = tuple(tuple(Predicate("has", name) for name in names) for names in chosen)
        yield Rule((Predicate("has", label),), then)

"""Random constraints and constrained chains, and the best labelling under constraints by enumeration."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from hypothesis import strategies as st

from helpers.strategies import chain_batches
from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.constraints.costs import ScoredGold
from spacy_crf.core.constraints.family import FAMILIES, Predicate
from spacy_crf.core.constraints.labelling import Fields, Labelling, Labels, UnitPredicates
from spacy_crf.core.constraints.lagrangian import Relaxation, StepRule, Steps, proceed
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.problem import Problem, Trellis, penalty, violations
from spacy_crf.core.constraints.units import StartsWith
from spacy_crf.core.labels import TagSet

LETTERS = "ABCD"
TAGS = TagSet(tuple(LETTERS[:3]), "none")
CONSTRAINTS = parse_all(["at_most(A, 1)", "starts_with(C)", "at_most(B, 1) each", "excludes(B, C)"])


def relax(problems: Sequence[Problem], max_iterations: int, rule: StepRule = "polyak") -> list[Relaxation]:
    """Solve the relaxations of some sequences by at most some iterations."""
    runs = [Relaxation(problem, Steps(rule)) for problem in problems]
    proceed(runs, max_iterations)
    return runs


@st.composite
def tag_sets(draw, max_labels=4):
    """Plain tags, or BIO tags of one span label, in any order of the tags."""
    if draw(st.booleans()):
        return TagSet(tuple(LETTERS[: draw(st.integers(1, max_labels))]), "none")
    return TagSet(tuple(draw(st.permutations(("O", "B-A", "I-A")))), "BIO")


def _labels(draw, names, least=1):
    return tuple(draw(st.lists(st.sampled_from(names), min_size=least, max_size=2, unique=True)))


def _predicates(draw, names, least):
    one = st.builds(Predicate, st.sampled_from(["has", "first", "last"]), st.sampled_from(names), st.booleans())
    return tuple(draw(st.lists(one, min_size=least, max_size=2)))


def _apart(draw, names):
    """Sets of labels without a common one, or None if there are too few labels."""
    order = draw(st.permutations(names))
    return None if len(order) < 2 else tuple((name,) for name in order)


@st.composite
def constraints(draw, names, kinds=tuple(FAMILIES), costs=True):
    """A constraint of any family over some labels, hard or soft, once or each, on segments or units."""
    kind = draw(st.sampled_from(kinds))
    family = FAMILIES[kind]
    cost = draw(st.sampled_from([math.inf, 0.0, 0.5, 2.0, 7.5])) if costs else math.inf
    settings = {"cost": cost, "count": draw(st.sampled_from(["once", "each"]))}
    settings["level"] = draw(st.sampled_from(["segment", "unit"]))
    match kind:
        case "at_most" | "exactly" | "at_least":
            settings |= {"a": _labels(draw, names), "k": draw(st.integers(int(kind == "at_least"), 3))}
        case "boundary":
            settings |= {"at": "mark", "a": _labels(draw, names, 0), "opening": draw(st.booleans())}
        case "order" | "excludes":
            sets = _apart(draw, names)
            if sets is None:
                return StartsWith(a=(names[0],), **settings)
            settings |= {"sets": sets} if kind == "order" else {"a": sets[0], "b": sets[1]}
        case "rule":
            then = tuple(_predicates(draw, names, 1) for _ in range(draw(st.integers(1, 2))))
            settings |= {"condition": _predicates(draw, names, 0), "then": then}
        case "state_change":
            settings |= {"at": "mark", "gap": draw(st.booleans()), "implied": draw(st.booleans())}
            settings |= {"a": _labels(draw, names), "b": _labels(draw, names)}
        case _:  # whatever sets of labels the class has
            settings |= {field.name: _labels(draw, names) for field in fields(family) if field.type == Labels}
    return family(**settings)


def random_predicates(rng, n_units, n_tags):
    """Predicates of units, in any order."""
    fixed = np.where(rng.random(n_units) < 0.4, rng.integers(0, n_tags, n_units), -1)
    predicates = {"mark": rng.random(n_units) < 0.5}
    return UnitPredicates(n_units, predicates, rng.integers(-1, 3, n_units), fixed.astype(np.int32))


@st.composite
def labellings(draw, max_length=7):
    """(constraint, labelling): of one sequence that is not empty."""
    tags = draw(tag_sets())
    fields = Fields(tags)
    path = draw(st.lists(st.integers(0, len(tags) - 1), min_size=1, max_size=max_length))
    predicates = random_predicates(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), len(path), len(tags))
    return draw(constraints(fields.names)), Labelling(path, fields, predicates)


@st.composite
def problems(draw, max_constraints=4, kinds=tuple(FAMILIES), costs=True, **settings):
    """(potentials, chains, constraints, tags, predicates in packed order) with up to 4 sequences of up to 5 units."""
    potentials, chains = draw(chain_batches(**settings))
    n_labels = potentials.n_labels
    bio = n_labels == 3 and draw(st.booleans())
    tags = TagSet(("O", "B-A", "I-A"), "BIO") if bio else TagSet(tuple(LETTERS[:n_labels]), "none")
    one = constraints(Fields(tags).names, kinds, costs)
    drawn = draw(st.lists(one, min_size=1, max_size=max_constraints))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return potentials, chains, drawn, tags, random_predicates(rng, potentials.batch.n_units, n_labels)


def by_sequence(potentials, predicates):
    """Predicates of each sequence, from those of the batch."""
    bounds = np.concatenate([[0], np.cumsum(potentials.batch.lengths)])
    return [predicates.at(potentials.batch.rows[low:high]) for low, high in itertools.pairwise(bounds)]


def best_objective(chain, constraints, fields, predicates):
    """The greatest score minus costs over all labellings; -inf if the hard constraints exclude all."""
    return max(objectives(chain, constraints, fields, predicates).values(), default=0.0)


def objectives(chain, constraints, fields, predicates):
    """Score minus costs of each labelling of a sequence."""
    values = {}
    for path, score in chain.paths():
        found = violations(constraints, Labelling(list(path), fields, predicates))
        values[path] = score - penalty(constraints, found)
    return values


def softened(constraints, cost):
    """The same constraints with another cost."""
    return [replace(constraint, cost=cost) for constraint in constraints]


def single_problems(case):
    """(problem, oracle chain, predicates) of each sequence that is not empty."""
    potentials, chains, constraints, tags, predicates = case
    fields = Fields(tags)
    bounds = np.concatenate([[0], np.cumsum(potentials.batch.lengths)])
    for (low, high), chain, own in zip(itertools.pairwise(bounds), chains, by_sequence(potentials, predicates)):
        if chain.length:
            arcs = Trellis.of(potentials, potentials.batch.rows[low:high])
            yield Problem(arcs, constraints, fields, own), chain, own


def random_chain(rng, lengths, n_labels, span=3.0):
    """Potentials of sequences that are too long for enumeration."""
    n = sum(lengths)
    transitions = rng.normal(0, 1, (n_labels, n_labels))
    return ChainPotentials(
        pack(np.array(lengths)), rng.normal(0, span, (n, n_labels)), transitions, *rng.normal(0, 1, (2, n_labels))
    )


def part(seed, n_sequences=20, flips=0.3):
    """Sequences A..AB..BC..C whose emissions are misled at some units."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 8, n_sequences)
    batch = pack(lengths)
    gold = np.concatenate([np.sort(rng.integers(0, 3, length)) for length in lengths]).astype(np.int32)
    emissions = 2.0 * np.eye(3)[gold] + rng.normal(0, 1, (len(gold), 3))
    wrong = rng.random(len(gold)) < flips
    emissions[wrong] += 2.2 * np.eye(3)[rng.integers(0, 3, wrong.sum())]
    chain = ChainPotentials(batch, emissions[batch.units], np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    return ScoredGold(chain, gold[batch.units], UnitPredicates(len(gold)))

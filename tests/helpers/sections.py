"""Documents for the section parser, written as short lines, and all trees of small ones."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from spacy_crf.core.arrays import Doubles
from spacy_crf.core.grammar.numbering import Reading, is_prefix, readings
from spacy_crf.core.sections.features import DEFAULT_WEIGHTS, child_features, heading_features, sibling_features
from spacy_crf.core.sections.headings import Heading, Headings, Level, Opening, ParserInput, find_headings
from spacy_crf.core.sections.parse import SectionParse
from spacy_crf.core.sections.titles import RECURRING, kinds_in, names_of
from spacy_crf.sections.parsing import FIRST_LEVEL, title_words

# as learned: "Facts" is a kind of title, and so are others that recur
FEATURES = (*DEFAULT_WEIGHTS, *names_of([RECURRING, "“facts”"]))
LABELS = {"N": 0, "T": 1, "X": 2, "": 3}


def document(lines: Sequence[str], scores: Doubles | None = None, styles: dict[str, int] | None = None) -> ParserInput:
    """A document of units: `N:1.` a number, `T:Facts` a title, `X` text, `` a blank line; labels given unless scored.

    styles: typography of titles, by their text; 16 for the others.
    """
    kinds, texts = zip(*(line.partition(":")[::2] for line in lines)) if lines else ((), ())
    labels = [LABELS[kind] for kind in kinds]
    if scores is None:
        scores = np.full((len(lines), 4), -np.inf)
        scores[np.arange(len(lines)), labels] = 0.0
    return ParserInput(
        scores,
        [readings(text) if kind == "N" else () for kind, text in zip(kinds, texts)],
        np.array([(styles or {}).get(text, 16) * (kind == "T") for kind, text in zip(kinds, texts)], dtype=np.intp),
        np.array(
            [kind == "T" and title_words(text) in FIRST_LEVEL for kind, text in zip(kinds, texts)], dtype=np.bool_
        ),
        np.array([kind == "" for kind in kinds], dtype=np.bool_),
        words=[title_words(text) if kind == "T" else "" for kind, text in zip(kinds, texts)],
    )


def random_weights(seed: int) -> dict[str, float]:
    """Weights of all features."""
    return dict(zip(FEATURES, np.random.default_rng(seed).normal(size=len(FEATURES)).tolist()))


def outline(parse: SectionParse, lines: Sequence[str]) -> list[str]:
    """The sections of a parse: a line each, two spaces a level; implied ones in brackets."""
    return [
        "  " * (section.level - 1)
        + (
            f"[{section.reading}]"
            if section.virtual
            else " ".join(lines[unit].partition(":")[2] for unit in section.heading)
        )
        for section in parse.sections
    ]


NUMBERS = ("1.", "2.", "3.", "1.1", "1.2", "2.1", "(a)", "(b)", "i.", "ii.", "A", "I")


@st.composite
def documents(draw: st.DrawFn, max_headings: int, max_units: int) -> ParserInput:
    """Random documents with scored labels: few units that may be headings, many that may not."""
    n_headings = draw(st.integers(0, max_headings))
    n_others = draw(st.integers(0, max_units - n_headings))
    heading = st.sampled_from(NUMBERS).map("N:{}".format) | st.sampled_from(("T:Facts", "T:View", "T:Costs"))
    headings = draw(st.lists(heading, min_size=n_headings, max_size=n_headings))
    lines = draw(st.permutations([*headings, *draw(st.lists(st.sampled_from(("X", "")), max_size=n_others))]))
    scores = random_label_scores(lines, draw(st.integers(0, 2**32 - 1)))
    return document(lines, scores, {"Facts": 16, "View": 16, "Costs": 2})


def random_label_scores(lines: Sequence[str], seed: int, other: float = 0.3) -> Doubles:
    """Log probabilities: `X` and blank lines are certain, the others may be text.

    other: share of numbers that may be titles, and of titles that may be numbers.
    """
    rng = np.random.default_rng(seed)
    scores = np.full((len(lines), 4), -np.inf)
    for row, line in zip(scores, lines):
        if line in ("", "X"):
            row[LABELS[line]] = 0.0
        else:
            row[:3] = np.log(rng.dirichlet(np.ones(3)))
            if rng.random() >= other:
                row[0 if line[0] == "T" else 1] = -np.inf
            if rng.random() < 0.2:
                row[2] = -np.inf
    return scores


@dataclass
class Node:
    """A section of an enumerated tree; features: of the heading that opens it, and of what the heading implies."""

    opening: Opening
    features: list[str]
    children: "list[Node]" = field(default_factory=list)


@dataclass(frozen=True)
class Opened:
    """A heading that is opened: how many open sections are left around it, and how many it implies."""

    heading: Heading
    around: int
    implied: int
    second: bool

    @property
    def level(self) -> int:
        return self.around + self.implied + 1


@dataclass(frozen=True)
class Tree:
    """One way to read a document. score: of labels, headings and sections."""

    opened: tuple[Opened, ...]
    nodes: list[Node]
    score: float


def trees(elements: ParserInput, weights: dict[str, float], margin: float = math.inf) -> Iterator[Tree]:
    """All trees of a document, by brute force."""
    headings = find_headings(elements, margin, kinds_in(weights))
    for opened, score in _ways(elements, headings, 0, (), headings.base):
        if score > -math.inf:
            nodes = _nodes(opened)
            yield Tree(opened, nodes, score + _score(None, nodes, weights))


def _ways(
    elements: ParserInput, headings: Headings, unit: int, opened: tuple[Opened, ...], score: float
) -> Iterator[tuple[tuple[Opened, ...], float]]:
    if unit == len(elements):
        yield opened, score
        return
    yield from _ways(elements, headings, unit + 1, opened, score + float(headings.text[unit]))
    options = headings.at(unit)
    for heading in options:
        reading = heading.opening.reading
        first = next(other for other in options if other.end == heading.end and other.number == heading.number)
        for implied in range(len(ancestors(reading)) + 1):
            for around in range((opened[-1].level if opened else 0) + 1):
                item = Opened(heading, around, implied, first.opening.reading != reading)
                yield from _ways(elements, headings, heading.end, (*opened, item), score + heading.score)


def ancestors(reading: Reading | None) -> list[Reading]:
    """The numberings above a numbering, innermost first."""
    found = []
    while reading is not None and (reading := reading.parent) is not None:
        found.append(reading)
    return found


def _nodes(opened: Sequence[Opened]) -> list[Node]:
    top: list[Node] = []
    path: list[Node] = []
    for item in opened:
        above = ancestors(item.heading.opening.reading)[: item.implied]
        openings = [*(Opening(reading, virtual=True) for reading in reversed(above)), item.heading.opening]
        del path[item.around :]
        for place, opening in enumerate(openings):
            features = heading_features(item.heading, item.second, item.implied) if place == 0 else []
            node = Node(opening, features)
            (path[-1].children if path else top).append(node)
            path.append(node)
    return top


def spans(tree: Tree, n_units: int) -> set[tuple[int, int, Reading | None, bool]]:
    """Start and end of the sections of a tree, the number of an implied one, and whether it is implied."""
    found = set()
    for place, item in enumerate(tree.opened):
        above = [None, *ancestors(item.heading.opening.reading)[: item.implied]]
        for up, reading in enumerate(above):
            later = (other.heading.start for other in tree.opened[place + 1 :] if other.around < item.level - up)
            found.add((item.heading.start, next(later, n_units), reading, up > 0))
    return found


Carried = frozenset[Reading]


def _score(above: Level | None, nodes: list[Node], weights: dict[str, float]) -> float:
    """Scores of sections below a level."""
    before: Level | None = None
    total = 0.0
    for node, level in zip(nodes, levels_below(above, nodes)):
        names = child_features(above, node.opening) if before is None else sibling_features(before, node.opening)
        total += sum(weights[name] for name in names + node.features) + _score(level, node.children, weights)
        before = level
    return total


def levels_below(above: Level | None, nodes: list[Node]) -> list[Level]:
    """The levels of sections that stand together below another."""
    found = list[Level]()
    for node in nodes:
        if found:
            told = carried_over(found[-1], told_inside(found[-1], nodes[len(found) - 1].children))
            carried = told[node.opening.reading is not None]
        else:
            carried = frozenset[Reading]() if above is None else above.carried
        found.append(Level(node.opening, entering(node.opening, carried)))
    return found


def told_inside(above: Level, nodes: list[Node]) -> Carried | None:
    """What the last section below another carries on, into a title; None where there is none."""
    if not nodes:
        return None
    last = levels_below(above, nodes)[-1]
    return carried_over(last, told_inside(last, nodes[-1].children))[0]


def entering(opening: Opening, carried: Carried) -> Carried:
    """Numbers carried into a section, but for that of its own sequence and those above it: written down once more."""
    own = opening.reading
    if own is None:
        return carried
    return frozenset(each for each in carried if name_of(each) != name_of(own) and not is_prefix(each, own))


def carried_over(closed: Level, inside: Carried | None) -> tuple[Carried, Carried]:
    """Numbers carried over a section, into a title and into a number: written down once more."""
    seen = list[Reading]()
    for each in (*(inside or ()), *closed.carried):
        is_lost = each in closed.carried and inside is not None and not name_of(each)[1] and each not in inside
        if not is_lost and name_of(each) not in map(name_of, seen):
            seen.append(each)
    if closed.reading is None:
        return frozenset(seen), frozenset()
    others = [each for each in seen if name_of(each) != name_of(closed.reading)]
    gone_on = [each for each in others if name_of(each)[1] or (goes_on(each) and each not in closed.carried)]
    return frozenset({closed.reading, *gone_on}), frozenset(filter(goes_on, (closed.reading, *others)))


def name_of(number: Reading) -> tuple[str, str]:
    """What numbers of one sequence share: the kind of numeral, and the word or sign before it."""
    word, _, form = number.format.rpartition(" ")
    return number.family.removesuffix("+a").removesuffix("+A"), word or ("§" if "§" in form else "")


def goes_on(number: Reading) -> bool:
    """Whether a number may go on inside of sections that have one."""
    kind, word = name_of(number)
    return kind == "1" or word != ""

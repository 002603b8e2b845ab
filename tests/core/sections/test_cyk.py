"""The section parser against CYK: sections annotated by their first and last numbering, over the same score terms."""

import math
from collections.abc import Iterable

import numpy as np
import pytest
from helpers.sections import Carried, carried_over, document, entering, random_label_scores, random_weights
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.grammar.chart import ParseScores
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.rules import GrammarRule
from spacy_crf.core.sections.features import child_features, heading_features, sibling_features
from spacy_crf.core.sections.headings import Headings, Level, Opening, ParserInput, find_headings
from spacy_crf.core.sections.parse import ParserSettings, parse
from spacy_crf.core.sections.titles import kinds_in

Key = tuple[str, tuple[str, ...]]
ALPHABETS = (
    ("N:1.", "N:2.", "T:Facts"),
    ("N:Chapter 1", "N:Article 1", "N:Article 2"),
    ("N:1.", "N:2.1"),
    ("N:(a)", "N:1."),
    ("N:i.", "N:1."),
    ("T:Facts", "T:View"),
)


class SectionGrammar:
    """A grammar whose symbols name the level of a section, what is carried out of it, and the first of its siblings."""

    def __init__(self, openings: Iterable[Opening], weights: dict[str, float]) -> None:
        self.weights = weights
        self.openings = list(dict.fromkeys(openings))
        implied = [
            Opening(above, virtual=True)
            for opening in self.openings
            if opening.reading is not None and (above := opening.reading.parent) is not None
        ]
        self.openings += dict.fromkeys(implied)
        self.levels: dict[Level, int] = {}
        self.rules: dict[Key, float] = {
            ("Document", ("Text",)): 0.0,
            ("Text", ("Unit",)): 0.0,
            ("Text", ("Text", "Unit")): 0.0,
            ("Unit", ("u",)): 0.0,
            ("Units", ("u",)): 0.0,
            ("Units", ("Units", "u")): 0.0,
        }
        self.runs: dict[tuple[Level, Level, Carried | None], None] = {}
        self.sections: dict[tuple[Level, Carried | None], None] = {}
        self.told: dict[Carried | None, int] = {}
        for opening in self.openings:
            self._reach(opening, frozenset())

    def score(self, names: list[str]) -> float:
        return sum(self.weights[name] for name in names)

    def heading(self, opening: Opening) -> str:
        return f"Heading{self.openings.index(opening)}"

    def section(self, level: Level, inside: Carried | None) -> str:
        return f"Section_{self.levels[level]}_{self._number(inside)}"

    def run(self, first: Level, last: Level, inside: Carried | None) -> str:
        return f"Sections_{self.levels[first]}_{self.levels[last]}_{self._number(inside)}"

    def _number(self, carried: Carried | None) -> int:
        return self.told.setdefault(carried, len(self.told))

    def _reach(self, opening: Opening, carried: Carried) -> None:
        """Add a level, and what can be made of it."""
        level = Level(opening, entering(opening, carried))
        if level in self.levels:
            return
        self.levels[level] = len(self.levels)
        if not opening.virtual:
            heading = self.heading(opening)
            self._section(level, None, (heading,), 0.0)
            self._section(level, None, (heading, "Text"), 0.0)
        for below in self.openings:
            self._reach(below, level.carried)
        for run in list(self.runs):
            self._hold(level, *run)

    def _section(self, level: Level, inside: Carried | None, parts: tuple[str, ...], score: float) -> None:
        self._add(self.section(level, inside), parts, score)
        if (level, inside) in self.sections:
            return
        self.sections[level, inside] = None
        self._run(level, level, inside, (self.section(level, inside),), 0.0)
        for run in list(self.runs):
            self._append(run, level, inside)

    def _run(self, first: Level, last: Level, inside: Carried | None, parts: tuple[str, ...], score: float) -> None:
        self._add(self.run(first, last, inside), parts, score)
        if (first, last, inside) in self.runs:
            return
        self.runs[first, last, inside] = None
        if not first.carried:
            outside = self.score(child_features(None, first.opening))
            for part in ((), ("Text",)):
                self._add("Document", (*part, self.run(first, last, inside)), outside)
        for opening in self.openings:
            self._reach(opening, carried_over(last, inside)[opening.reading is not None])
        for level in list(self.levels):
            self._hold(level, first, last, inside)
        for level, below in list(self.sections):
            self._append((first, last, inside), level, below)

    def _append(self, run: tuple[Level, Level, Carried | None], level: Level, inside: Carried | None) -> None:
        """A section behind a run of sections."""
        first, before, told = run
        if level.carried == entering(level.opening, carried_over(before, told)[level.opening.reading is not None]):
            parts = (self.run(*run), self.section(level, inside))
            self._run(first, level, inside, parts, self.score(sibling_features(before, level.opening)))

    def _hold(self, level: Level, first: Level, last: Level, inside: Carried | None) -> None:
        """A section that holds a run of sections."""
        if first.carried != entering(first.opening, level.carried):
            return
        run, gain = self.run(first, last, inside), self.score(child_features(level, first.opening))
        told = carried_over(last, inside)[0]
        if not level.opening.virtual:
            heading = self.heading(level.opening)
            self._section(level, told, (heading, run), gain)
            self._section(level, told, (heading, "Text", run), gain)
        elif first.opening.reading is not None and first.opening.reading.parent == level.reading:
            self._section(level, told, (run,), gain + self.weights["implied section"])

    def _add(self, symbol: str, parts: tuple[str, ...], score: float) -> None:
        self.rules[symbol, parts] = score

    def grammar(self) -> Grammar:
        """The rules that can be reached; headings are units that `scores` allows."""
        rules = dict(self.rules)
        for opening in self.openings:
            if not opening.virtual:
                rules[self.heading(opening), ("Units",)] = 0.0
        reached, waiting = {"Document"}, ["Document"]
        below: dict[str, set[str]] = {}
        for symbol, parts in rules:
            below.setdefault(symbol, set()).update(parts)
        while waiting:
            for part in below.get(waiting.pop(), set()) - reached:
                reached.add(part)
                waiting.append(part)
        made = tuple(GrammarRule(symbol, parts, score) for (symbol, parts), score in rules.items() if symbol in reached)
        return Grammar("Document", ("u",), made)

    def scores(self, headings: Headings, n_units: int) -> ParseScores:
        """Scores of units as text, and of headings over their units."""
        spans = {"Unit": np.full((n_units, n_units), -np.inf)}
        np.fill_diagonal(spans["Unit"], headings.text)
        for opening in self.openings:
            if not opening.virtual:
                spans[self.heading(opening)] = np.full((n_units, n_units), -np.inf)
        for start, options in ((unit, headings.at(unit)) for unit in headings.units):
            for heading in options:
                readings = [o.opening.reading for o in options if o.end == heading.end and o.number == heading.number]
                names = heading_features(heading, readings[0] != heading.opening.reading, 0)
                spans[self.heading(heading.opening)][start, heading.end - 1] = heading.score + self.score(names)
        return ParseScores(np.zeros((n_units, 1)), spans)


@st.composite
def long_documents(draw: st.DrawFn) -> ParserInput:
    """Up to 40 units, of which up to eight may be headings."""
    alphabet = draw(st.sampled_from(ALPHABETS))
    marked = draw(st.lists(st.sampled_from(alphabet), min_size=1, max_size=8))
    others = draw(st.lists(st.sampled_from(("X", "")), max_size=40 - len(marked)))
    lines = draw(st.permutations([*marked, *others]))
    return document(lines, random_label_scores(lines, draw(st.integers(0, 2**32 - 1)), other=0.0))


@settings(max_examples=8, deadline=None)
@given(long_documents(), st.integers(0, 1000))
def test_the_parser_without_a_cap_equals_cyk(elements: ParserInput, seed: int) -> None:
    weights = random_weights(seed)
    headings = find_headings(elements, math.inf, kinds_in(weights))
    found = parse(elements, weights, ParserSettings(max_states=None, margin=math.inf), probabilities=True)
    sections = SectionGrammar((h.opening for unit in headings.units for h in headings.at(unit)), weights)
    grammar, scores = sections.grammar(), sections.scores(headings, len(elements))
    assert found.score == pytest.approx(headings.base + grammar.parse(scores).score)
    assert found.log_z == pytest.approx(headings.base + grammar.marginals(scores).log_z)

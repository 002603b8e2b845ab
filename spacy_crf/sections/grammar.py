"""Section trees by a context-free grammar: those of Trompper's thesis, or one of one's own.

With M. Trompper's grammars (2016) numberings play a role at two places: between neighbouring sections of a run, or at
the beginning of a run. Both can be told from spans where every unit has one label, which is its likeliest one: the
heading of the first section that begins in a span is the first number or title in it. A grammar of one's own gets these
terms where it has their symbols. Terminals are labels of elements; without one for blank lines, these are passed over.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arrays import Bools, Indices, Ints
from ..core.errors import CoreErrors, CRFError, CRFWarning
from ..core.grammar.chart import NoParseError, ParseScores
from ..core.grammar.grammar import Grammar
from ..core.grammar.learn import ConditionalGrammar, Observation, fit
from ..core.grammar.numbering import Reading, step
from ..core.grammar.rules import ParseTree
from ..core.sections.headings import ParserInput
from ..core.sections.learn import GoldSection, TreeExample
from ..core.sections.parse import Section, SectionParse
from ..core.stored import stored_floats
from ..reading.files import read_text
from .errors import SectionErrors, SectionWarnings
from .features.rules import NEWLINE, NUMBER, TITLE
from .parsing import GRAMMAR, LabelRoles
from .tree import USUAL, heading_places

SHIPPED = files(__package__) / "grammars"
SUFFIX = ".grammar"
MAX_UNITS = 500  # of a document: CYK is cubic in them
SECTION = "Section"
LEAST, MORE = 0.4, 0.6  # the factor without the condition, and what it adds
FEWER = -1e-6  # for each section: of trees that the listing holds for equal, the one with fewer sections
ITERATIONS = 15  # of learning: each is an inside-outside pass over all documents, twice


def read_grammar(source: str | Path) -> Grammar:
    """Read a grammar from a path, or one of the library: `thesis` (Trompper's Listing 1), `thesis_code` (his code).

    RAISES (ValueError): for a file that cannot be read, and as `Grammar.from_text`, with file and line.
    """
    shipped = SHIPPED / f"{source}{SUFFIX}"
    try:
        is_shipped = "/" not in str(source) and shipped.is_file()
        text = shipped.read_text(encoding="utf8") if is_shipped else read_text(Path(source))
    except (OSError, CRFError) as error:
        expected = f"the path of a text file in UTF-8, or one of {', '.join(known_grammars())} ({error})"
        message = CoreErrors.CRF950.format(setting="grammar", value=repr(str(source)), expected=expected)
        raise CRFError(message) from error
    return Grammar.from_text(text, str(source))


def known_grammars() -> list[str]:
    """Names of the grammars of the library."""
    return sorted(path.name.removesuffix(SUFFIX) for path in SHIPPED.iterdir() if path.name.endswith(SUFFIX))


def first_headings(is_heading: Bools) -> Indices:
    """((N + 1,)): for each unit the first heading from there on; N for none, and behind the last unit."""
    n = len(is_heading)
    own = np.append(np.where(is_heading, np.arange(n), n), n)
    return np.minimum.accumulate(own[::-1])[::-1]


def succession(headings: Indices, numbers: Sequence[Sequence[Reading]]) -> Bools:
    """((N, N)): as [first, last unit], whether the first section in the span and that behind it follow each other.

    They do if their numberings are in direct sequence, or neither has one. O(H^2) for H headings.

    headings ((N + 1,)): for each unit the first heading from there on. numbers (sequence of N + 1): readings of units.
    """
    follows = np.zeros((len(headings), len(headings)), dtype=np.bool_)
    for before, after in combinations(np.unique(headings).tolist(), 2):
        neither = not numbers[before] and not numbers[after]
        pairs = product(numbers[before], numbers[after])
        follows[before, after] = neither or any(step(one, other) == 1 for one, other in pairs)
    return follows[headings[:-1]][:, headings[1:]]


def first_numbers(headings: Indices, numbers: Sequence[Sequence[Reading]]) -> Bools:
    """((N, N)): as [first, last unit], whether the first number of a run is a first one (1, a, i, x.1), or none.

    headings, numbers: see `succession`.
    """
    begins = [not own or any(number.values[-1] == 1 for number in own) for own in numbers]
    own = np.array(begins, dtype=np.bool_)[headings[:-1]]
    return np.repeat(own[:, None], len(own), axis=1)


TERMS = {"Followed": succession, "Seq": first_numbers}  # by the symbols whose spans have them


class GrammarParser:
    """Parses by CYK, with exact probabilities by inside and outside.

    name (str): of the component. source (str): see `read_grammar`; it is read when it is first needed, as a model that
        was stored has its grammar. roles (LabelRoles): labels, which terminals may be called by.
    """

    def __init__(self, name: str, source: str, roles: LabelRoles):
        self.name, self.source, self.roles = name, source, roles
        self._model: ConditionalGrammar | None = None

    @property
    def is_read(self) -> bool:
        """Whether there is a grammar already."""
        return self._model is not None

    @property
    def model(self) -> ConditionalGrammar:
        """The grammar with the weights of its rules and terms."""
        return self._model or self._read()

    def reset(self) -> None:
        """Forget what was learned, and read the grammar anew. RAISES (ValueError): if it cannot be read, or used."""
        self._read()

    def _read(self) -> ConditionalGrammar:
        grammar = read_grammar(self.source)
        self._check(grammar)
        self._model = ConditionalGrammar.start(grammar, 2 * len(TERMS))
        return self._model

    def _check(self, grammar: Grammar) -> None:
        known = self._roles_by_label
        problem = "" if SECTION in grammar.nonterminals else f"no symbol is called {SECTION}"
        if unknown := [terminal for terminal in grammar.terminals if terminal not in known]:
            problem = f"its terminal {unknown[-1]!r} is no label; known: {', '.join(known)}"
        if problem:
            raise CRFError(SectionErrors.CRF960.format(name=self.name, grammar=self.source, problem=problem))

    @property
    def _roles_by_label(self) -> dict[str, int]:
        labels = (*USUAL.values(), *self.roles.labels)
        return {label: place % len(USUAL) for place, label in enumerate(labels)}

    def parse(self, document: ParserInput) -> SectionParse:
        """The best tree; without sections where no label opens one, or, with a warning, where there is no tree."""
        labels = document.label_scores.argmax(axis=1)
        nothing = SectionParse([], labels, float(document.label_scores.max(axis=1).sum()))
        if not np.isin(labels, (NUMBER, TITLE)).any():
            return nothing
        units, written, features = self._inputs(document, labels)
        scores = self.model.scores(written, features)
        try:
            found, marginals = self.model.weighted.parse(scores), self.model.weighted.marginals(scores)
        except NoParseError as error:
            message = SectionWarnings.CRFW966.format(document=document.name, problem=error)
            warnings.warn(message, CRFWarning, stacklevel=2)
            return nothing
        decided = labels.copy()
        decided[units] = [self._roles_by_label[leaf] for leaf in found.tree.leaves]
        sections = _sections(found.tree, document, units, decided)
        probable = marginals.spans(SECTION)
        for section, node in zip(sections, (node for node in found.tree.nodes if node.label == SECTION)):
            section.probability = min(1.0, float(probable[node.start, node.end - 1]))
        return SectionParse(sections, decided, found.score, marginals.log_z)

    def _inputs(self, document: ParserInput, labels: Indices) -> tuple[Indices, ParseScores, dict[str, Ints]]:
        """((M,)) units that are parsed, their scores with the terms as these are written, and features of the terms.

        A term has one feature where it does not hold, and one where it does. RAISES (ValueError): for too many units.
        """
        grammar = self.model.grammar
        columns = [self._roles_by_label[terminal] for terminal in grammar.terminals]
        units = np.arange(len(document)) if NEWLINE in columns else np.flatnonzero(labels != NEWLINE)
        if len(units) > MAX_UNITS:
            found = {"found": len(units), "most": MAX_UNITS}
            raise CRFError(SectionErrors.CRF959.format(name=self.name, document=document.name, **found))
        headings = first_headings(np.isin(labels[units], (NUMBER, TITLE)))
        numbers = [document.readings[unit] if labels[unit] == NUMBER else () for unit in units.tolist()]
        terms = {name: term(headings, [*numbers, ()]) for name, term in TERMS.items() if name in grammar.nonterminals}
        spans = {name: np.log(LEAST + MORE * holds) for name, holds in terms.items()}
        spans[SECTION] = np.full((len(units), len(units)), FEWER)
        first = {name: len(grammar.rules) + 2 * place for place, name in enumerate(TERMS)}
        features = {name: (first[name] + holds[..., None]).astype(np.int32) for name, holds in terms.items()}
        return units, ParseScores(document.label_scores[units][:, columns], spans, document.name), features

    def learn(self, examples: Sequence[TreeExample], c2: float) -> None:
        """Learn weights of rules and terms: a conditional grammar, as the thesis wished for."""
        self.reset()
        self._model = fit(self.model, [self._observe(example) for example in examples], c2, ITERATIONS)

    def can_learn(self, example: TreeExample) -> None:
        observed = self._observe(example)
        self.model.expect(observed.gold, observed.columns)

    def _observe(self, example: TreeExample) -> Observation:
        document = example.document
        assert example.labels is not None
        labels = example.labels
        units, scores, features = self._inputs(document, labels)
        columns = np.array([self._roles_by_label[terminal] for terminal in self.model.grammar.terminals])
        terminals = np.where(columns == labels[units][:, None], scores.terminals, -np.inf)
        allowed = _gold_spans(example.sections, len(document))[np.ix_(units, units)]
        spans = {**scores.spans, SECTION: np.where(allowed, FEWER, -np.inf)}
        gold = ParseScores(terminals, spans, document.name)
        return Observation(scores, gold, features)

    def to_data(self) -> dict[str, Any]:
        terms = self.model.weights[len(self.model.grammar.rules) :].tolist()
        return dict(zip(GRAMMAR, (self.source, self.model.weighted.to_text("log"), terms)))

    def from_data(self, data: Mapping[str, Any]) -> None:
        """Take over a grammar that was stored under the same name or path; others are none of this parser."""
        if data.get("source") == self.source:
            grammar = Grammar.from_text(data["grammar"], self.source)
            self._check(grammar)
            terms = stored_floats("terms", np.array(data["terms"], dtype=np.float64), (2 * len(TERMS),))
            self._model = ConditionalGrammar(grammar, np.concatenate([np.zeros(len(grammar.rules)), terms]))


def _sections(tree: ParseTree, document: ParserInput, units: Indices, labels: Indices) -> list[Section]:
    """The sections of a tree. units ((M,)): of its leaves. labels ((N,)): roles of all units."""
    known, bounds = list(USUAL.values()), np.append(units, len(document)).tolist()
    names = [known[label] for label in labels.tolist()]
    found: list[Section] = []
    around = [-1] * len(tree.nodes)  # for each node the innermost section that it is or is in
    for index, node in enumerate(tree.nodes):
        above = -1 if index == 0 else around[node.parent]
        around[index] = above
        if node.label == SECTION:
            around[index] = len(found)
            level = 1 if above < 0 else found[above].level + 1
            found.append(Section(bounds[node.start], bounds[node.end], level, above, (), None, False))
    for place, section in enumerate(found):
        inner = (other.start for other in found[place + 1 : place + 2] if other.start < section.end)
        heading = heading_places(names[section.start : next(inner, section.end)], section.start)
        section.heading, section.titled = tuple(heading), any(labels[unit] == TITLE for unit in heading)
        if heading and labels[heading[0]] == NUMBER and document.readings[heading[0]]:
            section.reading = document.readings[heading[0]][0]
    return found


def _gold_spans(sections: Sequence[GoldSection], n_units: int) -> Bools:
    """((N, N)): as [first, last unit], spans that sections of a gold tree may have.

    Where they begin and how they nest is given, but not how much of the text behind its last subsection a section has.
    Implied sections are left out: grammars have none.
    """
    allowed = np.zeros((n_units, n_units), dtype=np.bool_)
    real = [section for section in sections if section.heading]
    for place, section in enumerate(real):
        last, limit = section.heading[-1], n_units
        for other in real[place + 1 :]:
            if other.level <= section.level and not other.loose:
                limit = other.heading[0]
                break
            if not section.loose and other.level > section.level:
                last = other.heading[-1]
        allowed[section.heading[0], last:limit] = True
    return allowed

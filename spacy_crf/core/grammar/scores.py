"""What a document brings to its parse: scores of terminals for each unit, and scores of labelled spans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors, CRFError
from .binary import BinaryGrammar
from .grammar import Grammar


@dataclass(frozen=True)
class ParseScores:
    """Log scores of one document of N units. A tree scores the sum of its log rule weights and of these.

    terminals ((N, V)): for each unit to be each terminal of the grammar; -inf for what it cannot be. Log probabilities
        of a tagger make parsing and labelling one decision.
    spans (mapping of str to (N, N)): for some nonterminals the score of every node with that label, as
        [first unit, last unit]; -inf forbids one. Cells below the diagonal are not looked at.
    name (str): of the document, for messages.
    RAISES (ValueError): for other shapes, or for NaN or +inf.
    """

    terminals: Doubles
    spans: Mapping[str, Doubles] = field(default_factory=dict)
    name: str = "The document"

    def __post_init__(self) -> None:
        if self.terminals.ndim != 2:
            raise CRFError(CoreErrors.CRF101.format(name="terminals", expected="(N, V)", actual=self.terminals.shape))
        for label, matrix in {"terminals": self.terminals, **self.spans}.items():
            if label != "terminals" and matrix.shape != (self.n_units, self.n_units):
                square = (self.n_units, self.n_units)
                raise CRFError(CoreErrors.CRF101.format(name=f"spans[{label!r}]", expected=square, actual=matrix.shape))
            if not bool((matrix < np.inf).all()):  # NaN compares false
                raise CRFError(CoreErrors.CRF102.format(name=f"scores of {label!r}"))

    @property
    def n_units(self) -> int:
        return len(self.terminals)

    @classmethod
    def from_labels(
        cls,
        grammar: Grammar,
        labels: Sequence[str],
        spans: Mapping[str, Doubles] | None = None,
        name: str = "The document",
    ) -> "ParseScores":
        """Scores of a document whose terminals are known: 0 for them, -inf for all others.

        grammar (Grammar): with the terminals. labels (sequence of str): one for each unit.
        RAISES (ValueError): for a label that is no terminal.
        """
        columns = {terminal: column for column, terminal in enumerate(grammar.terminals)}
        unknown = [label for label in labels if label not in columns]
        if unknown:
            expected = f"a terminal of the grammar: {', '.join(columns)}"
            raise CRFError(
                CoreErrors.CRF950.format(setting=f"labels of {name}", value=repr(unknown[0]), expected=expected)
            )
        terminals = np.full((len(labels), len(columns)), -np.inf)
        terminals[np.arange(len(labels)), np.array([columns[label] for label in labels], dtype=np.intp)] = 0.0
        return cls(terminals, spans or {}, name)


@dataclass(frozen=True)
class SpanTable:
    """Scores of spans by the numbers of symbols.

    symbols ((s,)): that have scores. matrices ((s, N, N)): [symbol, first unit, last unit].
    """

    symbols: Indices
    matrices: Doubles

    def of_length(self, length: int, n_symbols: int) -> Doubles | None:
        """((S, n)): scores of the n spans of a length; None if no symbol has any."""
        if not len(self.symbols):
            return None
        spans = np.diagonal(self.matrices, length - 1, axis1=1, axis2=2)
        table = np.zeros((n_symbols, spans.shape[1]))
        table[self.symbols] = spans
        return table

    def at(self, symbol: int, start: int, end: int) -> float:
        """The score of one labelled span, end exclusive."""
        place = np.flatnonzero(self.symbols == symbol)
        return float(self.matrices[place[0], start, end - 1]) if len(place) else 0.0


def span_table(grammar: BinaryGrammar, scores: ParseScores) -> SpanTable:
    """The scores of spans with symbols as numbers, and a check that scores and grammar belong together.

    RAISES (ValueError): for another number of terminals, or scores of what is no nonterminal.
    """
    if scores.terminals.shape[1] != grammar.n_terminals:
        shape = (scores.n_units, grammar.n_terminals)
        raise CRFError(CoreErrors.CRF101.format(name="terminals", expected=shape, actual=scores.terminals.shape))
    known = {label: grammar.n_terminals + place for place, label in enumerate(grammar.grammar.nonterminals)}
    for label in scores.spans:
        if label not in known:
            expected = f"a nonterminal of the grammar: {', '.join(known)}"
            raise CRFError(CoreErrors.CRF950.format(setting="spans", value=repr(label), expected=expected))
    symbols = np.array([known[label] for label in scores.spans], dtype=np.intp)
    matrices = np.array(list(scores.spans.values()), dtype=float)
    return SpanTable(symbols, matrices.reshape(len(symbols), scores.n_units, scores.n_units))

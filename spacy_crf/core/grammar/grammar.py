"""Weighted context-free grammars: read from text, counted from trees, and parsed with.

    # a comment, also behind a rule
    %start Document
    %terminals NR TITLE TEXT
    %weights plain
    Document -> Section [0.7] | Section Document [0.3]
    Section  -> NR TITLE TEXT

A rule a line; alternatives are parted by `|`; a weight stands in brackets behind each right side, 1 if there is none.
`%weights log` says that the numbers are natural logarithms. Symbols of other characters than these are quoted as in
JSON: `"a b"`.

Why there is no probabilistic Earley parser, which Trompper's thesis thinks of: its predictions from the left save work
where few symbols can begin at a place. In these small grammars nearly everything can begin everywhere, and CYK is one
numpy call for all spans of a length. Long documents are for the stack parser, which is linear.
"""

import itertools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Doubles, cached_property
from ..errors import CoreErrors, CRFError, require, require_count
from .chart import ParseScores
from .forest import Parse, best_parses
from .marginals import ForestMarginals, marginals
from .rules import BinaryGrammar, GrammarRule, ParseTree, binarise, check

PLAIN = re.compile(r"""[^\s|\[\]"#%][^\s|\[\]"#]*""")
TOKEN = re.compile(r"""\s*(?:("(?:[^"\\]|\\.)*")|(\[[^\]]*\])|(\|)|(#.*)|([^\s|\[\]"#]+))""")
ARROW, BAR = "->", "|"
SCALES = ("plain", "log")
DIRECTIVES = ("%start", "%terminals", "%weights")


@dataclass(frozen=True)
class Grammar:
    """A weighted context-free grammar that was found to be sound.

    Right sides are any sequences of symbols, but not empty. Weights are any positive numbers: it is a PCFG where those
    of each left side sum to 1. A tree weighs the product of the weights of its rules.

    start (str): the symbol of whole documents.
    terminals (tuple of str): symbols of units, in the order of their columns.
    rules (tuple of GrammarRule): R of them, in the order in which they are numbered.
    RAISES (ValueError): for what `rules.check` finds.

    >>> from spacy_crf import Grammar
    >>> grammar = Grammar.build("S", ["NR", "TEXT"], {("S", "NR", "TEXT"): 0.6, ("S", "NR", "TEXT", "S"): 0.4})
    >>> print(grammar.best(grammar.scores_of(["NR", "TEXT", "NR", "TEXT"]), 1)[0].tree)
    (S NR TEXT (S NR TEXT))
    """

    start: str
    terminals: tuple[str, ...]
    rules: tuple[GrammarRule, ...]

    def __post_init__(self) -> None:
        check(self.start, self.terminals, self.rules)

    @classmethod
    def build(cls, start: str, terminals: Iterable[str], rules: Mapping[tuple[str, ...], float]) -> "Grammar":
        """A grammar from plain weights by (parent, child, ..); a weight below 0, which has no logarithm, is refused."""
        logs = [math.log(weight) if weight > 0 else -math.inf if weight == 0 else math.nan for weight in rules.values()]
        made = (GrammarRule(key[0], tuple(key[1:]), weight) for key, weight in zip(rules, logs))
        return cls(start, tuple(terminals), tuple(made))

    @classmethod
    def from_text(cls, text: str, name: str = "") -> "Grammar":
        """Read a grammar in the format of the module, from a file of some name.

        RAISES (ValueError): for what cannot be read, and for faults of the grammar; messages name the line.
        """
        return cls(*_read(text, name))

    @classmethod
    def of_trees(cls, trees: Iterable[ParseTree], smoothing: float = 0.0) -> "Grammar":
        """The grammar of all rules in some trees, in the order in which they were met, weighted by relative counts.

        RAISES (ValueError): without trees, for different roots, or for a label that is a terminal here and none there.
        """
        trees = list(trees)
        roots = list(dict.fromkeys(tree.nodes[0].label for tree in trees))
        expected = "at least one tree, all with one label at the root"
        require(CoreErrors.CRF950, "roots of the trees", roots, len(roots) == 1, expected)
        keys = dict.fromkeys(key for tree in trees for _, key in tree.rules())
        rules = tuple(GrammarRule(key[0], key[1:]) for key in keys)
        terminals = tuple(dict.fromkeys(leaf for tree in trees for leaf in tree.leaves))
        return cls(roots[0], terminals, rules).with_counts(trees, smoothing)

    def with_counts(self, trees: Sequence[ParseTree], smoothing: float = 1.0) -> "Grammar":
        """The grammar with the weights (count + smoothing) / (count of the left side + smoothing times its rules).

        smoothing (float): at least 0. Rules that were not seen are left out with 0.
        RAISES (ValueError): for a tree with a rule or a root that the grammar does not have, for a negative smoothing,
            or where nothing is left.
        """
        require(CoreErrors.CRF950, "smoothing", smoothing, 0 <= smoothing < np.inf, "at least 0, and finite")
        counts = sum((self.count_rules(tree, name) for name, tree in enumerate(trees)), np.zeros(len(self.rules)))
        counts += smoothing
        require(CoreErrors.CRF950, "trees", "empty", np.any(counts), "at least one, or smoothed")
        counted = [(rule, count) for rule, count in zip(self.rules, counts.tolist()) if count]
        totals: dict[str, float] = defaultdict(float)
        for rule, count in counted:
            totals[rule.parent] += count
        weighted = (replace(rule, log_weight=math.log(count / totals[rule.parent])) for rule, count in counted)
        return Grammar(self.start, self.terminals, tuple(weighted))

    def count_rules(self, tree: ParseTree, name: object) -> Doubles:
        """((R,)): how often a tree has each rule. name (object): of the tree, for messages."""
        if tree.nodes[0].label != self.start:
            problem = f"its root is {tree.nodes[0].label!r}, the start symbol {self.start!r}"
            raise CRFError(CoreErrors.CRF949.format(name=name, problem=problem))
        counts = np.zeros(len(self.rules))
        for key, count in Counter(key for _, key in tree.rules()).items():
            if key not in self.numbers:
                problem = f"the grammar has no rule {GrammarRule(key[0], key[1:])}"
                raise CRFError(CoreErrors.CRF949.format(name=name, problem=problem))
            counts[self.numbers[key]] = count
        return counts

    def with_log_weights(self, log_weights: Doubles) -> "Grammar":
        """The same rules with other weights ((R,)), finite; for learners, it is not binarised anew."""
        rules = (replace(rule, log_weight=weight) for rule, weight in zip(self.rules, log_weights.tolist()))
        made = Grammar(self.start, self.terminals, tuple(rules))
        made.__dict__["binary"] = self.binary.with_log_weights(log_weights)
        return made

    @cached_property
    def nonterminals(self) -> tuple[str, ...]:
        """Left sides, in the order of their first rules."""
        return tuple(dict.fromkeys(rule.parent for rule in self.rules))

    @cached_property
    def numbers(self) -> dict[tuple[str, ...], int]:
        """The number of each rule by (parent, child, ..)."""
        return {(rule.parent, *rule.children): number for number, rule in enumerate(self.rules)}

    @property
    def log_weights(self) -> Doubles:
        """((R,)): of the rules."""
        return np.array([rule.log_weight for rule in self.rules])

    @cached_property
    def binary(self) -> BinaryGrammar:
        """The grammar as charts need it."""
        return binarise(self.start, self.terminals, self.nonterminals, self.rules)

    def scores_of(
        self, labels: Sequence[str], spans: Mapping[str, Doubles] | None = None, name: str = "The document"
    ) -> ParseScores:
        """Scores of a document whose units are known to be some terminals: 0 for them, -inf for all others."""
        scores = np.full((len(labels), len(self.terminals)), -np.inf)
        for unit, label in enumerate(labels):
            if label not in self.terminals:
                setting, expected = f"labels of {name}", f"a terminal of the grammar: {', '.join(self.terminals)}"
                raise CRFError(CoreErrors.CRF950.format(setting=setting, value=repr(label), expected=expected))
            scores[unit, self.terminals.index(label)] = 0.0
        return ParseScores(scores, spans or {}, name)

    def parse(self, scores: ParseScores) -> Parse:
        """The best tree of a document, by CYK. O(N^3 Q) for N units and Q right sides of binary rules.

        RAISES (NoParseError): if there is no tree; always so for a document without units.
        RAISES (ValueError): for scores that do not belong to the grammar.
        RAISES (DivergedLoopError): for unary rules that lead back to a symbol with a weight above 1.
        """
        return self.best(scores, 1)[0]

    def best(self, scores: ParseScores, k: int) -> list[Parse]:
        """The k best trees of a document, distinct, best first; fewer if there are no more. RAISES: as `parse`.

        Fewer trees are always the beginning of more. Those that go through loops of unary rules count.
        """
        require_count(k=k)
        return best_parses(self.binary, scores, k)

    def marginals(self, scores: ParseScores) -> ForestMarginals:
        """The probabilities of labelled spans and rules over all trees, inside and outside. RAISES: as `parse`."""
        return marginals(self.binary, scores)

    def to_text(self, scale: str = "plain") -> str:
        """A text that `from_text` reads back to an equal grammar, but for rounding where weights are plain.

        scale (str): of the weights, "plain" or "log"; logarithms come back unchanged.
        """
        require(CoreErrors.CRF950, "scale", repr(scale), scale in SCALES, " or ".join(SCALES))
        names = " ".join(map(_spell, self.terminals))
        lines = [f"%start {_spell(self.start)}", f"%terminals {names}".rstrip(), f"%weights {scale}"]
        for parent, rules in itertools.groupby(self.rules, lambda rule: rule.parent):
            weighted = [(rule, rule.log_weight if scale == "log" else math.exp(rule.log_weight)) for rule in rules]
            rights = [f"{' '.join(map(_spell, rule.children))} [{weight!r}]" for rule, weight in weighted]
            lines.append(f"{_spell(parent)} {ARROW} {f' {BAR} '.join(rights)}")
        return "\n".join(lines) + "\n"


def _spell(symbol: str) -> str:
    return symbol if PLAIN.fullmatch(symbol) and symbol != ARROW else json.dumps(symbol, ensure_ascii=True)


def _read(text: str, name: str) -> tuple[str, tuple[str, ...], tuple[GrammarRule, ...]]:
    """Start symbol, terminals and rules of a text."""
    settings: dict[str, tuple[str, ...]] = {}
    places = (f"{name}, line {number}" if name else f"line {number}" for number in itertools.count(1))
    lines = [(place, tokens) for place, line in zip(places, text.splitlines()) if (tokens := _tokens(line, place))]
    for place, tokens in lines:
        if tokens[0].startswith("%"):
            _read_directive(tokens, place, settings)
    scale = settings.get("%weights", ("plain",))[0]
    rules = [rule for place, tokens in lines if tokens[0][0] != "%" for rule in _read_rules(tokens, place, scale)]
    return settings.get("%start", ("",))[0], settings.get("%terminals", ()), tuple(rules)


def _refuse(place: str, problem: str) -> CRFError:
    return CRFError(CoreErrors.CRF941.format(where=place, problem=problem))


def _tokens(line: str, place: str) -> list[str]:
    """Names, arrows, bars and weights of a line; quoted names keep their quotes."""
    tokens, read = [], 0
    while read < len(line.rstrip()):
        match = TOKEN.match(line, read)
        if match is None:
            raise _refuse(place, f"nothing can be made of {line[read:].strip()!r}")
        read = match.end()
        if not match[4]:
            tokens.append(match[0].strip())
    return tokens


def _read_directive(tokens: list[str], place: str, settings: dict[str, tuple[str, ...]]) -> None:
    name, values = tokens[0], tuple(_read_symbol(token, place) for token in tokens[1:])
    if name not in DIRECTIVES:
        raise _refuse(place, f"there is no directive {name!r}")
    if name in settings:
        raise _refuse(place, f"{name} is given a second time")
    if name != "%terminals" and len(values) != 1:
        raise _refuse(place, f"{name} needs one value")
    if name == "%weights" and values[0] not in SCALES:
        raise _refuse(place, f"weights are plain or log, not {values[0]!r}")
    settings[name] = values


def _read_rules(tokens: list[str], place: str, scale: str) -> Iterable[GrammarRule]:
    if len(tokens) < 2 or tokens[1] != ARROW:
        raise _refuse(place, f"a rule begins with a symbol and '{ARROW}'")
    parent = _read_symbol(tokens[0], place)
    bars = [1, *(number for number, token in enumerate(tokens) if token == BAR), len(tokens)]
    for low, high in itertools.pairwise(bars):
        right = tokens[low + 1 : high]
        weight = right.pop() if right and right[-1].startswith("[") else ""
        children = tuple(_read_symbol(child, place) for child in right)
        if not children:
            raise _refuse(place, f"the right side of {parent!r} is empty")
        yield GrammarRule(parent, children, _read_weight(weight, place, scale) if weight else 0.0, place)


def _read_weight(token: str, place: str, scale: str) -> float:
    try:
        value = float(token[1:-1])
    except ValueError:
        raise _refuse(place, f"the weight {token} is no number") from None
    if (scale == "plain" and not 0 < value < math.inf) or (scale == "log" and not math.isfinite(value)):
        expected = "a finite number above 0" if scale == "plain" else "a finite logarithm"
        raise CRFError(CoreErrors.CRF943.format(where=place, rule="the rule", weight=value, expected=expected))
    return math.log(value) if scale == "plain" else value


def _read_symbol(token: str, place: str) -> str:
    if token.startswith("["):
        raise _refuse(place, f"the weight {token} does not stand behind a right side")
    if token in (ARROW, BAR):
        raise _refuse(place, f"{token!r} stands where a symbol is expected")
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token))
    except json.JSONDecodeError:
        raise _refuse(place, f"{token} is not quoted as in JSON") from None

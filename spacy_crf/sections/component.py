"""The section parser: a chain or rules label layout elements, and a parser over them builds the tree of sections."""

import json
import warnings
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.extensions import register
from ..core.arrays import Bools, Doubles, Indices, Ints
from ..core.chain.temperature import HeldOut
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.labels import UNKNOWN, Gold
from ..features.columns import Columns
from ..pipe.component import ChainPipe
from ..pipe.decoding import Decoder, MarginalsOutput, Prediction
from ..pipe.errors import PipeErrors
from ..pipe.pool import trained_on
from ..pipe.storage import NAMES, readable
from . import spans
from .block import SectionSettings
from .cross_references import get_cross_references
from .errors import SectionWarnings
from .features.batch import UnitBatch
from .features.rules import label_untrained
from .features.text import Phrases
from .grammar import GrammarParser
from .layout import units_of, warn_of_formatting
from .markup import MarkedHeadings, unmarked, without_marks
from .parsing import LabelRoles, StackParser, TreeParser, elements_of, learn_tree, parse_units
from .segment import Kind, LayoutUnit
from .tree import USUAL, SectionTree

FILE = "tree"  # of a stored component: what its tree parser has learned
MOST_UNKNOWN = 0.05  # of gold numbers that need not begin as numberings do, as annotators may be wrong
FOLD_ITERATIONS = 60  # of the chains whose probabilities the tree is learned with


@dataclass(slots=True)
class SectionPrediction:
    """N units with labels and probabilities, the rule that decided each, where rules did, and the tree of sections."""

    units: list[LayoutUnit]
    tags: Ints  # ((N,))
    probabilities: Doubles  # ((N, L))
    trace: list[str] | None
    tree: SectionTree


@dataclass(slots=True)
class GoldUnits:
    """Gold units of a label, and those among them that are not of the kind (Kind) that alone may have it."""

    label: str
    kind: Kind
    total: int = 0
    unknown: int = 0
    first: tuple[str, str] = ("", "")  # of these: its text, and its document

    def add(self, doc: Doc, elements: spans.Elements) -> None:
        if self.label not in elements.labels:
            return
        units = units_of(doc)
        own = [unit for unit, label in zip(units, spans.labels_of_units(units, elements, "")) if label == self.label]
        unknown = [unit for unit in own if unit.kind is not self.kind]
        self.total += len(own)
        self.unknown += len(unknown)
        if unknown and not self.first[0]:
            self.first = excerpt(doc.text[unknown[0].start : unknown[0].end]), excerpt(doc.text)

    def warn(self, name: str, message: str, most: float) -> None:
        """Tell of those that are never labelled so, if they are more than a share of all."""
        if self.unknown > most * self.total:
            where = dict(zip(("text", "document"), self.first)) | {"count": self.unknown, "all": self.total}
            warnings.warn(message.format(name=name, label=self.label, **where), CRFWarning, stacklevel=4)


class UnitMarginalsOutput(MarginalsOutput):
    """The probabilities of all labels of units, which are written with the elements."""

    def register(self) -> None:
        spans.register_extensions()
        register(Doc, "cross_references", getter=get_cross_references)


class SectionParser(ChainPipe):
    r"""Labels the layout elements of a document and nests its sections. See `SectionSettings`.

    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> parser = nlp.add_pipe("section_parser")  # untrained, it goes by rules
    >>> doc = nlp("1. Scope\nAll ferries.\n\n2. Term\nA year.\n")
    >>> [(span._.section["number"], span._.section["title"]) for span in doc.spans["sections"]]
    [('1.', 'Scope'), ('2.', 'Term')]
    """

    parts = (*NAMES, FILE)
    labels_tokens = False
    prepares = "weights of the tree"
    settings: SectionSettings

    def __init__(self, vocab: Vocab, settings: SectionSettings, name: str = "section_parser"):
        self.roles = LabelRoles.parse(name, settings.roles)
        self.unit_features = settings.features
        super().__init__(vocab, settings, name, newline_label=self.roles.newline)
        self._begin_parsers()

    def _begin_parsers(self) -> None:
        self._stack = StackParser(self.settings.max_states)
        self._grammar = GrammarParser(self.name, self.settings.grammar, self.roles)

    def describe_gold(self) -> str:
        return f"doc.spans[{self.settings.elements_key!r}]"

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        found: set[str] = set()
        numbers, blank = (GoldUnits(self.roles.names[kind.value], kind) for kind in (Kind.NUMBER, Kind.NEWLINE))
        for doc in references:
            elements = spans.read_elements(doc, self.settings.elements_key)
            if elements is not None:
                found.update(elements.labels)
                numbers.add(doc, elements)
                blank.add(doc, elements)
        self._warn_of_roles(found)
        if self.settings.candidates_only:
            numbers.warn(self.name, SectionWarnings.CRFW990, MOST_UNKNOWN)
        blank.warn(self.name, SectionWarnings.CRFW991, 0)
        left_out = set() if self.unit_features.newlines else {self.roles.newline}
        return [label for label in self.roles.order(found) if label not in left_out] if found else []

    def _warn_of_roles(self, labels: Set[str]) -> None:
        """Warn of the usual labels of numbers and titles that the settings have others for."""
        for role in ("number", "title"):
            if (label := USUAL[role]) in labels - set(self.roles.labels):
                where = {"name": self.name, "label": label, "own": self.roles.names[role]}
                warnings.warn(SectionWarnings.CRFW968.format(**where), CRFWarning, stacklevel=3)

    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        super().restore(files, path, alone)
        self._warn_of_roles(set(self.labels))

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        """Gold of the units of the chain; what no element covers, or a Doc without elements, is unknown."""
        warn_of_formatting(examples)
        for example in examples:
            for label in set(self._gold_names(example)) - {None}:
                if label not in self.tags.number:
                    document = example.reference.text[:40]
                    raise CRFError(PipeErrors.CRF403.format(label=label, document=document, name=self.name))
        return Gold.known(self._numbers(examples), len(self.tags))

    def held_out(self, examples: Sequence[Example]) -> HeldOut:
        _, found = self.read_distribution([example.predicted for example in examples], given=True)
        names = [name for example in examples for name in self._gold_names(example)]
        missed = np.array([name is not None and name not in self.tags.number for name in names], dtype=np.bool_)
        return HeldOut(found, self._numbers(examples), missed)

    def _numbers(self, examples: Sequence[Example]) -> Ints:
        """((N,)): gold labels of the units of the chain; UNKNOWN for none, and for those that the chain lacks."""
        names = [name for example in examples for name in self._gold_names(example)]
        return np.array([self.tags.number.get(name or "", UNKNOWN) for name in names], dtype=np.int32)

    def _gold_names(self, example: Example) -> list[str | None]:
        units = [unit for unit in units_of(example.predicted) if self._is_of_chain(unit)]
        elements = spans.read_elements(example.reference, self.settings.elements_key)
        if elements is None:
            return [None] * len(units)
        return spans.labels_of_units(units, elements, self.roles.newline)

    def _is_of_chain(self, unit: LayoutUnit) -> bool:
        return self.unit_features.newlines or unit.kind is not Kind.NEWLINE

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        start: str | None = None,
    ) -> None:
        """As `ChainPipe.initialize`; weights of the tree are learned in the first step of training.

        Where the settings say that rules label, texts without gold, which others learn from, are none to learn from.
        """
        self._begin_parsers()
        self.tree_parser.reset()
        is_given = labels is not None or start is not None or self.settings.labeller != "rules"
        if is_given or self.find_labels(self.references(get_examples)):
            super().initialize(get_examples, nlp=nlp, labels=labels, start=start)

    def update(self, examples: Iterable[Example], **settings: Any) -> dict[str, float]:
        """As `ChainPipe.update`; nothing is learned where rules label and no texts with gold were shown before."""
        return super().update([] if self.settings.labeller == "rules" and not self.labels else examples, **settings)

    @property
    def tree_parser(self) -> TreeParser:
        """The parser under the present settings."""
        if self.settings.parser == "grammar":
            return self._grammar
        self._stack.max_states = self.settings.max_states
        return self._stack

    def before_training(self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None) -> None:
        """Learn the weights of the tree, with labels as chains see them that were trained on other documents."""
        if self.settings.learn_tree:
            keys = self.settings.elements_key, self.settings.sections_key
            where = self._hold_out, self.roles, keys, self.settings.tree_c2
            learn_tree(self.tree_parser, list(get_examples()), *where)

    def _hold_out(self, others: list[Example], own: list[Example]) -> list[Doubles]:
        """Probabilities of the roles of the units of examples, from a chain trained on others."""
        fold = trained_on(self, others, FOLD_ITERATIONS, learn_tree=False)
        return [fold.role_probabilities(example.predicted) for example in own]

    def role_probabilities(self, doc: Doc) -> Doubles:
        """((N, 4)): of the roles of the units of a Doc, as the chain has them, before the tree."""
        (found,) = self.decode([doc], self.decoder())
        return self.roles.sum(self._spread(units_of(doc), found)[1], self._names)

    def write_files(self) -> dict[str, bytes]:
        uses_grammar = self.settings.parser == "grammar" or self._grammar.is_read
        data = {**self._stack.to_data(), **(self._grammar.to_data() if uses_grammar else {})}
        return {FILE: json.dumps(data, indent=1).encode("utf8")}  # not with srsly, which rounds numbers

    def read_files(self, files: dict[str, bytes], path: str) -> None:
        if FILE in files:
            with readable(self.name, f"{path}/{FILE}"):
                data = dict(json.loads(files[FILE]))
                self._stack.from_data(data)
                self._grammar.from_data(data)

    begin_with_files = read_files  # where there are trees to learn from, weights are learned from those set by hand

    def decoder(self) -> Decoder:
        return Decoder(None, (UnitMarginalsOutput("", self.labels),))

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        """Blank lines are nothing else; only candidates may be numbers, unless the settings say otherwise."""
        kinds = [unit.kind for doc in docs for unit in units_of(doc) if self._is_of_chain(unit)]
        allowed = np.ones((len(kinds), len(self.tags)), dtype=np.bool_)
        number, newline = (self.tags.number.get(self.roles.names[role]) for role in ("number", "newline"))
        if number is not None and self.settings.candidates_only:
            allowed[:, number] = [kind is Kind.NUMBER for kind in kinds]
        if newline is not None:
            is_blank = np.array([kind is Kind.NEWLINE for kind in kinds], dtype=np.bool_)
            allowed[is_blank] = False
            allowed[:, newline] = is_blank
        return allowed

    @property
    def _names(self) -> tuple[str, ...]:
        """Labels of elements: those of the chain, and that of blank lines where the chain has none of these."""
        return tuple(dict.fromkeys([*(self.labels or self.roles.labels), self.roles.newline]))

    @property
    def is_ruled(self) -> bool:
        """Whether rules label the units: where the settings say so, or before training."""
        return self.settings.labeller == "rules" or (self.settings.labeller == "auto" and not self.labels)

    def predict(self, docs: Iterable[Doc]) -> list[SectionPrediction]:
        """Label and parse Docs without changing them."""
        docs = list(docs)
        units = [units_of(doc) for doc in docs]
        if self.settings.markup == "ignore":
            units = list(map(unmarked, units))
        if self.is_ruled:
            return [self._ruled(doc, own) for doc, own in zip(docs, units)]
        found = zip(docs, units, self.decode(docs, self.decoder()))
        return [self._parse(doc, own, *self._spread(own, prediction)) for doc, own, prediction in found]

    def _ruled(self, doc: Doc, units: list[LayoutUnit]) -> SectionPrediction:
        lists = Phrases.of_lists(self.features.resources.lists.values())
        found = label_untrained(UnitBatch([(doc.text, units)], lists))  # the batch is large: it goes at once
        numbers = np.array([self._names.index(label) for label in self.roles.labels])
        probabilities = np.zeros((len(units), len(self._names)))
        probabilities[:, numbers] = found.scores
        return self._parse(doc, units, numbers[found.roles].astype(np.int32), probabilities, found.reasons)

    def _parse(
        self, doc: Doc, units: list[LayoutUnit], tags: Ints, probabilities: Doubles, trace: list[str] | None = None
    ) -> SectionPrediction:
        markup, roles = self.settings.markup, self.roles.of_labels(self._names)
        headings = MarkedHeadings.of(doc) if markup != "ignore" else MarkedHeadings(())
        if markup == "trust" and headings.places:
            tags, probabilities = headings.trust(units, probabilities, roles)
            tree = headings.tree(doc.text, units, elements_of(units, tags, probabilities, self._names))
            tree.roles = self.roles.names
            return SectionPrediction(units, tags, probabilities, trace, tree)
        probabilities = headings.prefer(doc.text, units, probabilities, roles)
        weight = self.settings.label_weight if self.settings.joint else None
        parser = self.roles, self.tree_parser, weight
        tags, tree = parse_units(doc.text, units, tags, probabilities, self._names, *parser, headings.costs(units))
        return SectionPrediction(units, tags, probabilities, trace, tree)

    def read_columns(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        return super().read_columns(without_marks(docs) if self.settings.markup == "ignore" else docs, extra)

    def _spread(self, units: list[LayoutUnit], prediction: Prediction) -> tuple[Ints, Doubles]:
        """((N,), (N, L)): labels and probabilities of all units, also of blank lines that are none of the chain."""
        names, kept = self._names, np.array([self._is_of_chain(unit) for unit in units], dtype=np.bool_)
        newline = names.index(self.roles.newline)
        tags = np.full(len(units), newline, dtype=np.int32)
        probabilities = np.zeros((len(units), len(names)))
        probabilities[~kept, newline] = 1
        tags[kept] = prediction.tags
        probabilities[np.flatnonzero(kept), : len(self.labels)] = prediction.told[0]
        return tags, probabilities

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[SectionPrediction]) -> None:
        """Write elements, sections and the tree to Docs; what is there is replaced."""
        for doc, found in zip(docs, predictions):
            leaves = found.tree.elements
            attrs: dict[str, list[object]] = {spans.PROBABILITIES: [leaf.probability for leaf in leaves]}
            if found.trace is not None:
                attrs[spans.RULES] = list(found.trace)
            elements = spans.Elements.of([(leaf.start, leaf.end, leaf.label) for leaf in leaves])
            spans.write_elements(doc, self.settings.elements_key, elements, attrs)
            spans.write_sections(doc, self.settings.sections_key, found.tree)

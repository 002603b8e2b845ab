"""The section parser: a chain or rules label layout elements, and a parser over them builds the tree of sections."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ..core.arrays import Bools, Doubles, Indices, Ints
from ..core.errors import CRFError
from ..core.gold import UNKNOWN, Gold
from ..core.labels import TagSet
from ..learning.block import Trainer
from ..learning.model import ChainModel, LinearChain
from ..pipe.component import ChainPipe
from ..pipe.errors import PipeErrors
from ..pipe.folds import fold_trainer
from ..pipe.inference import Inference, Prediction
from ..pipe.storage import NAMES, readable
from .features.batch import UnitBatch
from .features.block import UnitFeatureSettings
from .features.phrases import Phrases
from .features.rules import apply_rules
from .grammar import GrammarParser
from .layout import units_of
from .learning import learn_tree
from .parsing import LabelRoles, SectionPrediction, StackParser, TreeParser, parse_units
from .segment import Kind, LayoutUnit
from .spans import (
    PROBABILITIES,
    RULES,
    Elements,
    labels_of_units,
    read_elements,
    register_extensions,
    write_elements,
    write_sections,
)

FILE = "tree"  # of a stored component: what its tree parser has learned
FOLD_ITERATIONS = 60  # of the chains whose probabilities the tree is learned with
Labeller = Literal["auto", "chain", "rules"]
ParserKind = Literal["stack", "grammar"]


class SectionParser(ChainPipe):
    """Labels the layout elements of a document and nests its sections. See `factory` for the settings."""

    parts = (*NAMES, FILE)

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "section_parser",
        *,
        features: UnitFeatureSettings,
        trainer: Trainer,
        labeller: Labeller = "auto",
        roles: Mapping[str, str] | None = None,
        candidates_only: bool = True,
        temperature: float = 1.0,
        joint: bool = True,
        label_weight: float = 1.0,
        parser: ParserKind = "stack",
        grammar: str = "thesis",
        learn_tree: bool = True,
        tree_c2: float = 0.05,
        max_states: int | None = 24,
        elements_key: str = "elements",
        sections_key: str = "sections",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        self.roles = LabelRoles.parse(name, roles or {})
        self.unit_features = features
        self._stack, self._grammar = StackParser(max_states), GrammarParser(name, grammar, self.roles)
        self._to_learn: Callable[[], Iterable[Example]] | None = None
        settings = {
            "labeller": labeller,
            "candidates_only": candidates_only,
            "temperature": temperature,
            "joint": joint,
            "label_weight": label_weight,
            "parser": parser,
            "grammar": grammar,
            "learn_tree": learn_tree,
            "tree_c2": tree_c2,
            "max_states": max_states,
            "elements_key": elements_key,
            "sections_key": sections_key,
            "newline_label": self.roles.newline,
        }
        _check(name, settings)
        super().__init__(
            vocab,
            model,
            name,
            features=features,
            trainer=trainer,
            sequence="doc",
            scheme="none",
            forbidden=[],
            scorer=scorer,
            settings=settings,
        )
        register_extensions()

    # -- labels and gold -------------------------------------------------------------------------------------

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        return TagSet(labels, "none")

    def describe_gold(self) -> str:
        return f"doc.spans[{self.cfg['elements_key']!r}]"

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        found: set[str] = set()
        for doc in references:
            elements = read_elements(doc, self.cfg["elements_key"])
            found.update(elements.labels if elements is not None else ())
        if not found:
            return []
        return [
            label for label in self.roles.order(found) if self.unit_features.newlines or label != self.roles.newline
        ]

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        """Gold of the units of the chain; what no element covers, or a Doc without elements, is unknown."""
        labels = [label for example in examples for label in self._gold_labels(example)]
        return Gold.known(np.array(labels, dtype=np.int32), len(self.tags))

    def _gold_labels(self, example: Example) -> list[int]:
        units = [unit for unit in units_of(example.predicted) if self._is_of_chain(unit)]
        elements = read_elements(example.reference, self.cfg["elements_key"])
        if elements is None:
            return [UNKNOWN] * len(units)
        names = labels_of_units(units, elements, self.roles.newline)
        for label in set(names) - {None}:
            if label not in self.tags.number:
                document = example.reference.text[:40]
                raise CRFError(PipeErrors.CRF403.format(label=label, document=document, name=self.name))
        return [UNKNOWN if label is None else self.tags.number[label] for label in names]

    def _is_of_chain(self, unit: LayoutUnit) -> bool:
        return self.unit_features.newlines or unit.kind is not Kind.NEWLINE

    # -- the tree ------------------------------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        start: str | None = None,
    ) -> None:
        """Set labels, and read word lists. See `ChainPipe.initialize` for the arguments.

        Weights of the tree are learned in the first step of training, from these examples.
        """
        super().initialize(get_examples, nlp=nlp, labels=labels, start=start)
        self.tree_parser.reset()
        self._to_learn = get_examples if self.cfg["learn_tree"] else None

    @property
    def tree_parser(self) -> TreeParser:
        """The parser that builds trees under the present settings."""
        if self.cfg["parser"] == "grammar":
            if self._grammar.source != self.cfg["grammar"]:
                self._grammar = GrammarParser(self.name, self.cfg["grammar"], self.roles)
            return self._grammar
        self._stack.max_states = self.cfg["max_states"]
        return self._stack

    def finish_update(self, sgd: Optimizer | None) -> None:
        """Let the trainer take its step. Before the first one, learn the weights of the tree."""
        if self._to_learn is not None:
            get_examples, self._to_learn = self._to_learn, None
            where = self.roles, self.cfg["elements_key"], self.cfg["tree_c2"]
            learn_tree(self.tree_parser, list(get_examples()), self._hold_out, *where)
        super().finish_update(sgd)

    def _hold_out(self, others: list[Example], own: list[Example]) -> list[Doubles]:
        """Probabilities of the roles of the units of examples, from a chain trained on others."""
        fold = SectionParser(
            self.vocab,
            LinearChain(),
            self.name,
            features=self.unit_features,
            trainer=fold_trainer(self.trainer, FOLD_ITERATIONS),
            roles=self.roles.names,
            candidates_only=self.cfg["candidates_only"],
            elements_key=self.cfg["elements_key"],
            learn_tree=False,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that are missing in a fold
            fold.initialize(lambda: others, labels=list(self.labels))
            for _ in range(2):
                fold.update(others)
                fold.finish_update(None)
        return [fold.role_probabilities(example.predicted) for example in own]

    def role_probabilities(self, doc: Doc) -> Doubles:
        """((N, 4)): of the roles of the units of a Doc, as the chain has them, before the tree."""
        (found,) = self.infer([doc], self.inference())
        return self.roles.sum(self._spread(units_of(doc), found)[1], self._names)

    def __getstate__(self) -> dict[str, Any]:
        """Without the training examples, which stay in the process that trains."""
        return {**self.__dict__, "_to_learn": None}

    def _write_extra(self) -> dict[str, bytes]:
        return {FILE: self.tree_parser.to_bytes()}

    def _read_extra(self, files: dict[str, bytes], path: str) -> None:
        if FILE in files:
            with readable(self.name, f"{path}/{FILE}"):
                self._stack.from_bytes(files[FILE])
                self._grammar.from_bytes(files[FILE])

    # -- prediction ------------------------------------------------------------------------------------------

    def inference(self) -> Inference:
        return Inference(marginals=True, temperature=self.cfg["temperature"])

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        """Only numbering candidates may be numbers, only blank lines blank lines, unless the settings say otherwise."""
        if not self.cfg["candidates_only"]:
            return None
        units = [unit for doc in docs for unit in units_of(doc) if self._is_of_chain(unit)]
        allowed = np.ones((len(units), len(self.tags)), dtype=np.bool_)
        for role, kind in (("number", Kind.NUMBER), ("newline", Kind.NEWLINE)):
            label = self.tags.number.get(self.roles.names[role])
            if label is not None:
                allowed[:, label] = [unit.kind is kind for unit in units]
        return allowed

    @property
    def _names(self) -> tuple[str, ...]:
        """Labels of elements: those of the chain, and that of blank lines where the chain has none of these."""
        if not self.labels:
            return tuple(self.roles.labels)
        return tuple(dict.fromkeys([*self.labels, self.roles.newline]))

    @property
    def is_ruled(self) -> bool:
        """Whether rules label the units: where the settings say so, or before training."""
        return self.cfg["labeller"] == "rules" or (self.cfg["labeller"] == "auto" and not self.labels)

    def predict(self, docs: Iterable[Doc]) -> list[SectionPrediction]:  # type: ignore[override]
        """Label and parse Docs without changing them.

        RETURNS (list[SectionPrediction]): one for each Doc.
        """
        docs = list(docs)
        units = [units_of(doc) for doc in docs]
        if self.is_ruled:
            return [self._ruled(doc, own) for doc, own in zip(docs, units)]
        found = zip(docs, units, self.infer(docs, self.inference()))
        return [self._parse(doc, own, *self._spread(own, prediction)) for doc, own, prediction in found]

    def _ruled(self, doc: Doc, units: list[LayoutUnit]) -> SectionPrediction:
        batch = UnitBatch([(doc.text, units)], Phrases.of_lists(self._features.resources.lists.values()))
        decided = apply_rules(batch)
        numbers = np.array([self._names.index(label) for label in self.roles.labels])
        probabilities = np.zeros((len(units), len(self._names)))
        probabilities[:, numbers] = decided.probabilities(batch)
        trace = [decided.trace.names[k] for k in decided.trace.codes.tolist()]
        return self._parse(doc, units, numbers[decided.roles].astype(np.int32), probabilities, trace)

    def _parse(
        self, doc: Doc, units: list[LayoutUnit], tags: Ints, probabilities: Doubles, trace: list[str] | None = None
    ) -> SectionPrediction:
        weight = self.cfg["label_weight"] if self.cfg["joint"] else None
        names, labels = self._names, (tags, probabilities)
        tags, tree = parse_units(doc.text, units, *labels, names, self.roles, self.tree_parser, weight)
        return SectionPrediction(units, tags, probabilities, trace, tree)

    def _spread(self, units: list[LayoutUnit], prediction: Prediction) -> tuple[Ints, Doubles]:
        """((N,), (N, L)): labels and probabilities of all units, also of blank lines that are none of the chain."""
        names, kept = self._names, np.array([self._is_of_chain(unit) for unit in units], dtype=np.bool_)
        newline = names.index(self.roles.newline)
        tags = np.full(len(units), newline, dtype=np.int32)
        probabilities = np.zeros((len(units), len(names)))
        probabilities[~kept, newline] = 1
        tags[kept] = prediction.tags
        probabilities[np.flatnonzero(kept), : len(self.labels)] = prediction.marginals
        return tags, probabilities

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[SectionPrediction]) -> None:
        """Write elements, sections and the tree to Docs; what is there is replaced."""
        for doc, found in zip(docs, predictions):
            tree = found.tree
            elements = Elements.of([(element.start, element.end, element.label) for element in tree.elements])
            attrs: dict[str, list[object]] = {PROBABILITIES: [element.probability for element in tree.elements]}
            if found.trace is not None:
                attrs[RULES] = list(found.trace)
            write_elements(doc, self.cfg["elements_key"], elements, attrs)
            write_sections(doc, self.cfg["sections_key"], tree)


def _check(name: str, settings: Mapping[str, Any]) -> None:
    """Raise a coded error for a setting that has no meaning. name (str): of the component."""
    states, positive = settings["max_states"], "a positive number"
    for setting, holds, expected in (
        ("temperature", _is_positive(settings["temperature"]), positive),
        ("label_weight", _is_positive(settings["label_weight"]), positive),
        ("tree_c2", _is_positive(settings["tree_c2"]) or settings["tree_c2"] == 0, "0 or a positive number"),
        ("max_states", states is None or states >= 1, "at least 1, or null for all stacks"),
        ("grammar", settings["grammar"] != "", "the name of a grammar, or a path"),
        ("elements_key", settings["elements_key"] != "", "a key of doc.spans"),
        ("sections_key", settings["sections_key"] not in ("", settings["elements_key"]), "a key of its own"),
    ):
        if not holds:
            value = settings[setting]
            raise CRFError(PipeErrors.CRF408.format(name=name, setting=setting, value=value, expected=expected))


def _is_positive(value: float) -> bool:
    return math.isfinite(value) and value > 0

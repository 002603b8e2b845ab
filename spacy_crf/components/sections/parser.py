"""The section parser: a chain or rules label layout elements, and a parser over them builds the tree of sections."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ...core.gold import UNKNOWN, Gold
from ...core.grammar.sections.parse import ParserSettings, parse
from ...core.labels import TagSet
from ...core.types import Bools, Doubles, Indices, Ints
from ...errors import Errors
from ...features.units.config import UnitFeatureConfig, to_phrases
from ...features.units.rules import ROLES, Decisions, apply_rules
from ...features.units.view import UnitView
from ...model import ChainModel
from ...trainers import Trainer
from ...units.layout import units_of
from ...units.unit import Kind, Unit
from ..base import ChainPipe
from ..inference import Inference, Prediction
from .elements import Elements, labels_of_units, read_elements, write_elements
from .names import PROBABILITIES, RULES
from .prediction import SectionPrediction
from .roles import Roles
from .spans import register_extensions, write_sections
from .trees import parser_input, to_tree

Labeller = Literal["auto", "chain", "rules"]


class SectionParser(ChainPipe):
    """Labels the layout elements of a document and nests its sections. See `factory` for the settings."""

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "section_parser",
        *,
        features: UnitFeatureConfig,
        trainer: Trainer,
        labeller: Labeller = "auto",
        roles: Mapping[str, str] | None = None,
        temperature: float = 1.0,
        joint: bool = True,
        max_states: int | None = 24,
        elements_key: str = "elements",
        sections_key: str = "sections",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        self.roles = Roles.parse(name, roles or {})
        self.unit_features = features
        settings = {
            "labeller": labeller,
            "temperature": temperature,
            "joint": joint,
            "max_states": max_states,
            "elements_key": elements_key,
            "sections_key": sections_key,
            "newline_label": self.roles.newline,
        }
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
                raise ValueError(Errors.CRF403.format(label=label, document=document, name=self.name))
        return [UNKNOWN if label is None else self.tags.number[label] for label in names]

    def _is_of_chain(self, unit: Unit) -> bool:
        return self.unit_features.newlines or unit.kind is not Kind.NEWLINE

    # -- prediction ------------------------------------------------------------------------------------------

    def inference(self) -> Inference:
        return Inference(marginals=True, temperature=self.cfg["temperature"])

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        return None

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
        return [self._labelled(*found) for found in zip(docs, units, self.infer(docs, self.inference()))]

    def _ruled(self, doc: Doc, units: list[Unit]) -> SectionPrediction:
        decided: Decisions = apply_rules(UnitView([(doc.text, units)]), to_phrases(self._features.resources))
        names = self._names
        numbers = np.array([names.index(label) for label in self.roles.labels])
        tags = numbers[decided.roles].astype(np.int32)
        rest = (1 - decided.confidences) / max(1, len(names) - 1)
        probabilities = np.repeat(rest[:, None], len(names), axis=1)
        probabilities[np.arange(len(units)), tags] = decided.confidences
        trace = [decided.trace.names[k] for k in decided.trace.codes.tolist()]
        return self._parse(doc, units, tags, probabilities, names, trace)

    def _labelled(self, doc: Doc, units: list[Unit], prediction: Prediction) -> SectionPrediction:
        names, kept = self._names, np.array([self._is_of_chain(unit) for unit in units], dtype=np.bool_)
        newline = names.index(self.roles.newline)
        tags = np.full(len(units), newline, dtype=np.int32)
        probabilities = np.zeros((len(units), len(names)))
        probabilities[~kept, newline] = 1
        tags[kept] = prediction.tags
        probabilities[np.flatnonzero(kept), : len(self.labels)] = prediction.marginals
        return self._parse(doc, units, tags, probabilities, names, None)

    def _parse(
        self,
        doc: Doc,
        units: list[Unit],
        tags: Ints,
        probabilities: Doubles,
        names: Sequence[str],
        trace: list[str] | None,
    ) -> SectionPrediction:
        roles = self.roles.of_labels(names)
        scores: Doubles = np.eye(len(ROLES))[roles[tags]]
        if self.cfg["joint"]:
            scores = self.roles.sum(probabilities, names)
        settings = ParserSettings(max_states=self.cfg["max_states"])
        found = parse(parser_input(doc.text, units, scores), None, settings, probabilities=True)
        if self.cfg["joint"]:
            tags = _agree(tags, roles, found.labels, probabilities)
        chosen = probabilities[np.arange(len(units)), tags]
        tree = to_tree(doc.text, units, [names[tag] for tag in tags.tolist()], chosen, found)
        return SectionPrediction(units, tags, probabilities, trace, tree)

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


def _agree(tags: Ints, roles: Indices, decided: Indices, probabilities: Doubles) -> Ints:
    """Labels in the roles that the tree gives the units: the own ones where these agree, else the likeliest.

    tags ((N,)): of the chain. roles ((L,)): of the labels. decided ((N,)): roles. probabilities ((N, L)): of labels.
    """
    allowed = roles[None, :] == decided[:, None]
    likeliest = np.where(allowed, probabilities, -1.0).argmax(axis=1)
    return np.where(roles[tags] == decided, tags, likeliest).astype(np.int32)

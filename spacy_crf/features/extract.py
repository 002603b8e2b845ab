"""Feature keys of columns: one 64-bit hash for each unit and template.

Windows are shifted columns; conjunctions mix hashes; nothing is a Python string.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..core.arrays import Bools, Floats, Hashes, Indices, Segments
from ..core.errors import CRFError
from ..core.sparse import ABSENT
from ..core.threads import ForkSafeLock
from .block import SequenceMode
from .columns import ColumnReader, Columns, EndsBehind
from .errors import FeatureErrors
from .hashing import mix, string_hash
from .resources import Resources
from .templates import Atom, Attribute, Template

# what templates read that texts as they come do not have, and the annotation that it is a part of
SET_BY_COMPONENTS = {name: name for name in ("DEP", "LEMMA", "MORPH", "POS", "TAG")}
SET_BY_COMPONENTS |= dict.fromkeys(("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"), "ENT_IOB")
Stage = Literal["training", "use"]
_READING = ForkSafeLock()  # columns of word forms are cached, and threads may share a pipeline


@dataclass(frozen=True)
class Keys:
    """Feature keys ((A, N)) of N units under A templates, 0 where one yields nothing; their values if not all are 1."""

    keys: Hashes
    values: Floats | None


class Reader(Protocol):
    """Reads Docs into columns: `ColumnReader` for tokens, `UnitReader` for layout elements."""

    def read(self, docs: Sequence[Doc], vocab: Vocab, extra: int | None = None) -> Columns: ...


class FeatureExtractor:
    """Computes feature keys of Docs, from columns of tokens unless another reader is given. With padding, positions
    outside the sequence have values of their own ("BOS-1", "EOS+2"); without, they yield no feature, as in CRFsuite's
    examples."""

    def __init__(
        self,
        templates: list[Template],
        resources: Resources,
        sequence: SequenceMode,
        padding: bool,
        reader: Reader | None = None,
    ):
        self.state_templates = [template for template in templates if not template.is_edge]
        self.edge_templates = [template for template in templates if template.is_edge]
        self.padding = padding
        asking = {atom.attribute: template for template in templates for atom in template.atoms}
        self.attributes: list[Attribute] = list(asking)
        annotation = {one.name: template for one, template in asking.items() if one.name in SET_BY_COMPONENTS}
        spaces = {one.name: template for one, template in asking.items() if one.name == "SPACY"}
        self._untold = {"training": {**annotation, **spaces}, "use": annotation}
        self._extensions = {one.key: template for one, template in asking.items() if one.name == "_"}
        self._reader = ColumnReader(self.attributes, resources, sequence) if reader is None else reader

    def end_sequences_behind(self, words: EndsBehind | None) -> None:
        """Let sequences of tokens also end behind certain words; None for none."""
        if isinstance(self._reader, ColumnReader):
            self._reader.ends_behind = words

    @property
    def reads_annotation(self) -> bool:
        """Whether features depend on what other components write."""
        return any(attribute.is_annotation for attribute in self.attributes)

    def missing_annotation(self, docs: Sequence[Doc], stage: Stage) -> dict[str, Template]:
        """Return what templates read that no token of the first Docs of a stage has, with a template; later none,
        and in use nothing that training did without."""
        wanted = self._untold[stage]
        if not wanted or not any(map(len, docs)):
            return {}
        self._untold[stage] = {}
        found = {
            name: template for name, template in wanted.items() if not any(len(doc) and _has(doc, name) for doc in docs)
        }
        self._untold["use"] = {name: one for name, one in self._untold["use"].items() if name not in found}
        return found

    def read(self, docs: Sequence[Doc], vocab: Vocab, extra: int | None = None) -> Columns:
        """Return columns of a batch of Docs, with one more attribute of spaCy's (`extra`)."""
        for name, template in self._extensions.items():
            if not Token.has_extension(name):
                raise CRFError(FeatureErrors.CRF309.format(template=str(template), extension=name))
        with _READING:
            return self._reader.read(docs, vocab, extra)

    @property
    def reads_spaces(self) -> bool:
        """Whether features depend on the white space between words."""
        return any(attribute.is_of_sequence or attribute.name == "SPACY" for attribute in self.attributes)

    def read_words(self, texts: Sequence[Sequence[str]], vocab: Vocab) -> Columns:
        """Return columns of texts that are words alone."""
        assert isinstance(self._reader, ColumnReader)
        with _READING:
            return self._reader.read_words(texts, vocab)

    def keys(self, columns: Columns, templates: list[Template]) -> Keys:
        """Return feature keys of all units; none of edge templates at first ones. O(N) array operations for each
        atom."""
        windows = Windows(columns, self.padding)
        keys = np.empty((len(templates), windows.n_units), dtype=np.uint64)
        values = None
        for row, template in enumerate(templates):
            keys[row] = template_keys(template, [windows.hashes(atom) for atom in template.atoms])
            if template.is_edge:
                keys[row, windows.is_first] = ABSENT
            for atom in template.atoms:
                if (numbers := windows.numbers(atom)) is not None:
                    values = np.ones(keys.shape, dtype=np.float32) if values is None else values
                    values[row] *= numbers
        return Keys(keys, values)


def _has(doc: Doc, name: str) -> bool:
    """Whether a Doc has what an attribute tells. Where its white space is unknown, spaCy says that all tokens have
    some."""
    return not doc.has_unknown_spaces if name == "SPACY" else doc.has_annotation(SET_BY_COMPONENTS[name])


def template_keys(template: Template, hashes: Sequence[Hashes]) -> Hashes:
    """((n,)): keys of a template's features from the values (n,) of its atoms; 0 where one of them has none."""
    keys: Hashes = np.full(len(hashes[0]), template.key, dtype=np.uint64)
    for values in hashes:
        keys = mix(keys, values)
    for values in hashes:
        keys[values == ABSENT] = ABSENT
    return keys


class Windows:
    """Columns shifted within their sequences, each computed once. padding (bool): see `FeatureExtractor`."""

    def __init__(self, columns: Columns, padding: bool):
        self.columns, self.padding = columns, padding
        self.n_units = len(columns.orths)
        self._before = Segments(columns.lengths).positions
        self._after = np.repeat(columns.lengths, columns.lengths) - self._before - 1
        self._hashes: dict[Atom, Hashes] = {}

    @property
    def is_first(self) -> Bools:
        return self._before == 0

    def hashes(self, atom: Atom) -> Hashes:
        if atom not in self._hashes:
            column = self.columns.by_attribute[atom.attribute].hashes
            self._hashes[atom] = self._shifted(column, atom.offset) if atom.offset else column
        return self._hashes[atom]

    def numbers(self, atom: Atom) -> Floats | None:
        """((N,)): real values of an attribute at an offset from each unit, None where it has none."""
        column = self.columns.by_attribute[atom.attribute].numbers
        if column is None:
            return None
        return np.where(self.outside(atom.offset) == 0, np.roll(column, -atom.offset), np.float32(1))

    def outside(self, offset: int) -> Indices:
        """((N,)): how far the position lies outside the sequence: negative before it, positive after it, 0 inside."""
        if offset < 0:
            return np.minimum(self._before + offset, 0)
        return np.maximum(offset - self._after, 0)

    def has_value(self, outside: Indices) -> Bools:
        """((N,)): which positions outside of sequences have values of their own: not those behind truncated sides."""
        sides = self.columns.truncated
        if sides is None or not self.padding:
            return np.full(self.n_units, self.padding)
        by_unit = np.repeat(sides, self.columns.lengths, axis=0)
        return ~np.where(outside < 0, by_unit[:, 0], by_unit[:, 1])

    def _shifted(self, column: Hashes, offset: int) -> Hashes:
        outside = self.outside(offset)
        shifted = np.roll(column, -offset)
        beyond = np.array([string_hash(boundary(k)) for k in range(-abs(offset), abs(offset) + 1)], dtype=np.uint64)
        filled = np.where(self.has_value(outside), beyond[outside + abs(offset)], ABSENT)
        return np.where(outside == 0, shifted, filled)


def boundary(distance: int) -> str:
    """Return the name of a position outside the sequence: BOS-1 is the one before its first unit."""
    return f"BOS{distance}" if distance < 0 else f"EOS+{distance}"

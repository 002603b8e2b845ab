"""What a target is: how one kind of annotation is collected, read as gold, offered as evidence, and written."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example

from ..core.arrays import Bools, Doubles, Hashes, Indices, Ints
from ..core.gold import UNKNOWN, Gold
from ..core.labels import TagSet
from .extensions import Owner, register

Names: TypeAlias = Sequence[str | None]
Values: TypeAlias = np.ndarray[Any, Any]
Place: TypeAlias = tuple[int, int, str]  # first token, token after the last, label


class SpanProbabilities(Protocol):
    """Probabilities of S spans: with label and boundaries, with boundaries, and of all tokens having the label."""

    @property
    def label(self) -> Doubles: ...
    @property
    def boundaries(self) -> Doubles: ...
    @property
    def covered(self) -> Doubles: ...


@dataclass(slots=True)
class DecodedDoc:
    """What was decoded for a Doc.

    labels ((n,)): indices of tags. spans (Sequence): those that the tags form. scores (SpanProbabilities | None): of
    the spans. present ((n,) | None): the attribute of the tokens that `Target.reads` names.
    """

    labels: Ints
    spans: Sequence[Place] = ()
    scores: SpanProbabilities | None = None
    present: Hashes | None = None


@dataclass(frozen=True)
class Target(ABC):
    """One kind of annotation.

    name (str): "tag", "pos", "ent", "spans" or a custom token attribute, as settings name it.
    overwrite (bool): whether writing replaces annotation that is there.
    """

    name: str
    overwrite: bool = False
    is_spans: ClassVar[bool] = False

    @property
    @abstractmethod
    def description(self) -> str:
        """Place of the annotation, as messages name it."""

    @property
    @abstractmethod
    def reads(self) -> int | None:
        """Attribute of spaCy's that `write` has to know of each token, to be read with the words; None for none."""

    @abstractmethod
    def labels(self, docs: Iterable[Doc]) -> list[str]:
        """Labels that occur, sorted."""

    @abstractmethod
    def names(self, example: Example, tags: TagSet) -> Names:
        """The gold tag of each predicted token, whether the tag set has it or not; None where there is none."""

    @abstractmethod
    def evidence(self, docs: Sequence[Doc], lengths: Indices, tags: TagSet) -> Bools:
        """Tags that the annotation of Docs leaves open.

        lengths ((B,)): of the sequences that the Docs consist of.
        RETURNS ((N, L)): one row for each token, one Doc after the other.
        """

    @abstractmethod
    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        """Write what was decoded for a Doc.

        values ((L,)): what the method `values` gives for the tags.
        """

    def gold(self, example: Example, tags: TagSet, strict: bool = True) -> Ints:
        """((n,)): index of the gold tag of each predicted token, UNKNOWN where it is missing or misaligned.

        strict (bool): whether tags that the tag set lacks are an error; else they are UNKNOWN.
        RAISES (KeyError): for a tag that the tag set lacks; its argument is the tag.
        """
        names = self.names(example, tags)
        distinct = dict.fromkeys(names)
        lacking = [name for name in distinct if name is not None and name not in tags.number]
        if strict and lacking:
            raise KeyError(lacking[0])
        numbers = {name: UNKNOWN if name is None else tags.number.get(name, UNKNOWN) for name in distinct}
        return np.array([numbers[name] for name in names], dtype=np.int32)

    def narrow(self, gold: Gold, examples: Sequence[Example], tags: TagSet) -> Gold:
        """Gold with sets of tags where a token may have more than one. gold (Gold): of the predicted tokens."""
        return gold

    def values(self, strings: StringStore, tags: Sequence[str]) -> Values:
        """((L,)): values of tags as `write` puts them into a Doc, to be asked for once for all Docs."""
        return np.array(tags, dtype=object)

    @property
    def extensions(self) -> list[tuple[Owner, str]]:
        """The custom attributes that `write` needs."""
        return []

    def register(self) -> None:
        """Make the custom attributes available that `write` needs, where nobody else has."""
        for owner, name in self.extensions:
            register(owner, name)

"""Targets: how one kind of annotation is collected, read as gold, offered as evidence, and written; those of tokens."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from spacy.attrs import IDX, POS, TAG
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.parts_of_speech import NAMES as POS_NAMES
from spacy.strings import StringStore
from spacy.tokens import Doc, Token
from spacy.training import Example
from thinc.types import Ints2d

from ..core.arrays import Bools, Doubles, Hashes, Indices, Ints
from ..core.chain.evidence import allowed_labels
from ..core.labels import OUTSIDE, UNKNOWN, Gold, TagSet
from .extensions import UNSET, read_values, register, write_values
from .gold import aligned_tokens, same_tokens
from .white_space import Places, is_white_space

Names: TypeAlias = Sequence[str | None]
Values: TypeAlias = np.ndarray[Any, Any]
Place: TypeAlias = tuple[int, int, str]  # first token, token after the last, label


@dataclass(frozen=True)
class SpanScores:
    """Exact probabilities ((S,)) of spans with this label and these boundaries, with these boundaries and any label,
    and of every token lying in spans of this label, whatever the boundaries."""

    label: Doubles
    boundaries: Doubles
    covered: Doubles

    def take(self, chosen: Indices | slice) -> "SpanScores":
        """Scores of some of the spans."""
        return SpanScores(self.label[chosen], self.boundaries[chosen], self.covered[chosen])


@dataclass(slots=True)
class DecodedDoc:
    """What was decoded for a Doc.

    labels ((n,)): indices of tags, UNKNOWN for no tag. spans (Sequence): those that the tags form.
    scores (SpanScores | None): of the spans.
    present ((n,) | None): the attribute of the tokens that `Target.reads` names.
    """

    labels: Ints
    spans: Sequence[Place] = ()
    scores: SpanScores | None = None
    present: Hashes | None = None

    def spread(self, places: Places, present: Hashes | None) -> "DecodedDoc":
        """What was decoded for the words of a Doc, of all its tokens. present ((n,) | None): see above."""
        spans = [(*places.tokens_of(start, end), label) for start, end, label in self.spans]
        return DecodedDoc(places.spread(self.labels, UNKNOWN), spans, self.scores, present)


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
    def reads(self) -> int | None:
        """Attribute of spaCy's that `write` has to know of each token, to be read with the words; None for none."""
        return None

    @abstractmethod
    def labels_of(self, doc: Doc) -> set[str]:
        """Labels that occur in a Doc; one may be empty, which stands for none."""

    def labels(self, docs: Iterable[Doc]) -> list[str]:
        """Labels that occur, sorted. Docs are looked at one after the other, and not kept."""
        return sorted(set(chain.from_iterable(map(self.labels_of, docs))) - {""})

    @abstractmethod
    def names(self, example: Example, tags: TagSet) -> Names:
        """The gold tag of each predicted token, whether the tag set has it or not; None where there is none."""

    def judged(self, example: Example, tags: TagSet) -> Names:
        """The gold tags that predicted tokens are judged by: white space that was left out, without a tag, has none."""
        names, spaces = self.names(example, tags), is_white_space(example.predicted)
        if self.is_spans or not spaces.any():
            return names
        own = self.names(Example(example.predicted, example.predicted), tags)
        return [None if is_space and found is None else name for name, found, is_space in zip(names, own, spaces)]

    def present(self, doc: Doc, tags: TagSet) -> Names:
        """The tag that each token of a Doc has been given; None where there is none."""
        return self.names(Example(doc, doc), tags)

    def evidence(self, docs: Sequence[Doc], lengths: Indices, tags: TagSet) -> Bools:
        """((N, L)): tags that the annotation of Docs leaves open, a row for each token, one Doc after the other.

        lengths ((B,)): of the sequences that the Docs consist of. Tags that the tag set lacks say nothing.
        """
        names = (name for doc in docs for name in self.present(doc, tags))
        labels = [UNKNOWN if name is None else tags.number.get(name, UNKNOWN) for name in names]
        return allowed_labels(np.array(labels, dtype=np.int32), len(tags))

    @abstractmethod
    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        """Write what was decoded for a Doc. values ((L + 1,)): of the tags, as the method `values` gives them."""

    def chosen(self, found: DecodedDoc, tags: TagSet) -> Ints:
        """((n,)): tags of what was decoded for a Doc, whatever it has been annotated with."""
        return found.labels

    def written_names(self, doc: Doc, found: DecodedDoc, tags: TagSet) -> list[str]:
        """The tags of the annotation that `write` leaves in a Doc, whether the tag set has them or not; "" for none."""
        names = [*tags.tags, ""]  # UNKNOWN is -1
        kept = [None] * len(found.labels) if self.overwrite else self.present(doc, tags)
        return [names[label] if name is None else name for name, label in zip(kept, found.labels.tolist())]

    def written(self, doc: Doc, found: DecodedDoc, tags: TagSet) -> Ints:
        """((n,)): the same as numbers. Of labels that the tag set lacks, spans count as outside, and tags are UNKNOWN,
        as is ""."""
        other = tags.number.get(OUTSIDE, UNKNOWN) if self.is_spans else UNKNOWN
        names = self.written_names(doc, found, tags)
        return np.array([tags.number.get(name, other) if name else UNKNOWN for name in names], dtype=np.int32)

    def gold(self, example: Example, tags: TagSet, strict: bool = True) -> Ints:
        """((n,)): index of the gold tag of each predicted token, UNKNOWN where it is missing or misaligned.

        strict (bool): whether a tag that the tag set lacks is an error, the argument of a KeyError; else it is UNKNOWN.
        """
        names = self.names(example, tags)
        distinct = dict.fromkeys(names)
        lacking = [name for name in distinct if name is not None and name not in tags.number]
        if strict and lacking:
            raise KeyError(lacking[0])
        numbers = {name: UNKNOWN if name is None else tags.number.get(name, UNKNOWN) for name in distinct}
        return np.array([numbers[name] for name in names], dtype=np.int32)

    def narrow(self, gold: Gold, examples: Sequence[Example], lengths: Indices, tags: TagSet) -> Gold:
        """Gold with sets of tags where a token may have more than one. gold (Gold): of the predicted tokens, in
        sequences of some lengths ((B,))."""
        return gold

    def values(self, strings: StringStore, tags: Sequence[str]) -> Values:
        """((L + 1,)): values of tags as `write` puts them into a Doc, to be asked for once for all Docs; the last one
        is that of no tag, where UNKNOWN finds it."""
        return np.array([*tags, ""], dtype=object)

    def register(self) -> None:  # noqa: B027 - most need none
        """Make the custom attributes available that `write` needs, where nobody else has."""


def token_target(name: str, overwrite: bool = False) -> "AttributeTarget | ExtensionTarget":
    """The target "tag", "pos", or a custom attribute of tokens."""
    return AttributeTarget(name, overwrite) if name in AttributeTarget.attributes else ExtensionTarget(name, overwrite)


class AttributeTarget(Target):
    """`token.tag` or `token.pos`, by their ids in the arrays of a Doc."""

    attributes: ClassVar[dict[str, int]] = {"tag": TAG, "pos": POS}

    @property
    def description(self) -> str:
        return f"token.{self.name}"

    @property
    def reads(self) -> int | None:
        return None if self.overwrite else self.attributes[self.name]

    def labels_of(self, doc: Doc) -> set[str]:
        return {self._name_of(tag, doc) for tag in set(self._ids(doc))}

    def names(self, example: Example, tags: TagSet | None = None) -> Names:
        if not same_tokens(example):
            return [name or None for name in example.get_aligned(self.name.upper(), as_string=True)]
        ids = self._ids(example.reference)
        names = {tag: self._name_of(tag, example.reference) or None for tag in set(ids)}
        return [names[tag] for tag in ids]

    def values(self, strings: StringStore, tags: Sequence[str]) -> Hashes:
        ids = [POS_IDS[tag] if self.name == "pos" else strings.add(tag) for tag in tags]
        return np.array([*ids, 0], dtype=np.uint64)

    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        """Set the attribute of all tokens in one call. Where `present` is given, tokens that have a tag keep it."""
        ids, present = values[found.labels], found.present
        if present is not None and present.any():
            ids = np.where(present != 0, present, ids)
        doc.from_array([self.attributes[self.name]], cast(Ints2d, ids))

    def _ids(self, doc: Doc) -> list[int]:
        return cast(list[int], doc.to_array(self.attributes[self.name]).tolist())

    def _name_of(self, tag: int, doc: Doc) -> str:
        return str(POS_NAMES[tag] if self.name == "pos" else doc.vocab.strings[tag])


class ExtensionTarget(Target):
    """A custom attribute of tokens."""

    @property
    def description(self) -> str:
        return f"token._.{self.name}"

    @property
    def reads(self) -> int | None:
        return IDX

    def register(self) -> None:
        register(Token, self.name)

    def labels_of(self, doc: Doc) -> set[str]:
        return {str(value) for value in read_values(doc, self.name) if value not in UNSET}

    def names(self, example: Example, tags: TagSet | None = None) -> Names:
        values = [None if value in UNSET else str(value) for value in read_values(example.reference, self.name)]
        if same_tokens(example):
            return values
        chosen = [{values[token] for token in own} for own in aligned_tokens(example)]
        return [next(iter(found)) if len(found) == 1 else None for found in chosen]

    def present(self, doc: Doc, tags: TagSet) -> Names:
        """See `Target.present`: a default that somebody has registered has been given to no token."""
        values = read_values(doc, self.name, defaults=False)
        return [None if value in UNSET else str(value) for value in values]

    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        names = values.take(found.labels).tolist()
        write_values(doc, self.name, names, starts=found.present, overwrite=self.overwrite)

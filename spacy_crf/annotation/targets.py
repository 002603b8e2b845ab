"""The targets by the names of settings, and those of tokens: `token.tag`, `token.pos` and custom attributes."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, cast

import numpy as np
from spacy.attrs import IDX, POS, TAG
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.parts_of_speech import NAMES as POS_NAMES
from spacy.strings import StringStore
from spacy.tokens import Doc, Token
from spacy.training import Example
from thinc.types import Ints2d

from ..core.arrays import Bools, Hashes, Indices
from ..core.chain.evidence import allowed_labels
from ..core.labels import TagSet
from .extensions import UNSET, Owner, read_values, write_values
from .gold import aligned_tokens, same_tokens
from .span_targets import EntityTarget, GroupTarget
from .target import DecodedDoc, Names, Target, Values


def target_of(
    name: str, spans_key: str = "sc", *, overwrite: bool = False, scores: str | None = None, extend: bool = False
) -> Target:
    """The target that a setting names.

    name (str): "tag", "pos", "ent", "spans" or a custom token attribute. spans_key (str): of the group, for "spans".
    overwrite (bool): whether writing replaces annotation that is there. scores (str | None): span extension for the
        probabilities of entities. extend (bool): whether a group that is there gets spans between its own.
    """
    if name == "ent":
        return EntityTarget(name, overwrite, scores=scores)
    if name == "spans":
        return GroupTarget(name, overwrite, spans_key, extend)
    return token_target(name, overwrite)


def token_target(name: str, overwrite: bool = False) -> "TokenTarget":
    """The target "tag", "pos", or a custom attribute of tokens."""
    return AttributeTarget(name, overwrite) if name in AttributeTarget.attributes else ExtensionTarget(name, overwrite)


class TokenTarget(Target):
    """A tag for each token."""

    @abstractmethod
    def names(self, example: Example, tags: TagSet | None = None) -> Names:
        """The gold tag of each predicted token, whatever tags there are; None where there is none."""

    def evidence(self, docs: Sequence[Doc], lengths: Indices, tags: TagSet) -> Bools:
        """See `Target.evidence`. Tags that the tag set lacks say nothing."""
        labels = [self.gold(Example(doc, doc), tags, strict=False) for doc in docs]
        return allowed_labels(np.concatenate(labels), len(tags))


class AttributeTarget(TokenTarget):
    """`token.tag` or `token.pos`, by their ids in the arrays of a Doc."""

    attributes: ClassVar[dict[str, int]] = {"tag": TAG, "pos": POS}

    @property
    def description(self) -> str:
        return f"token.{self.name}"

    @property
    def reads(self) -> int | None:
        return None if self.overwrite else self.attributes[self.name]

    def labels(self, docs: Iterable[Doc]) -> list[str]:
        found = {self._name_of(tag, doc) for doc in docs for tag in set(self._ids(doc))}
        return sorted(found - {""})

    def names(self, example: Example, tags: TagSet | None = None) -> Names:
        if not same_tokens(example):
            return [name or None for name in example.get_aligned(self.name.upper(), as_string=True)]
        ids = self._ids(example.reference)
        names = {tag: self._name_of(tag, example.reference) or None for tag in set(ids)}
        return [names[tag] for tag in ids]

    def values(self, strings: StringStore, tags: Sequence[str]) -> Hashes:
        ids = [POS_IDS[tag] if self.name == "pos" else strings.add(tag) for tag in tags]
        return np.array(ids, dtype=np.uint64)

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


class ExtensionTarget(TokenTarget):
    """A custom attribute of tokens."""

    @property
    def description(self) -> str:
        return f"token._.{self.name}"

    @property
    def reads(self) -> int | None:
        return IDX

    @property
    def extensions(self) -> list[tuple[Owner, str]]:
        return [(Token, self.name)]

    def labels(self, docs: Iterable[Doc]) -> list[str]:
        values = (value for doc in docs for value in read_values(doc, self.name))
        return sorted({str(value) for value in values if value not in UNSET} - {""})

    def names(self, example: Example, tags: TagSet | None = None) -> Names:
        values = [None if value in UNSET else str(value) for value in read_values(example.reference, self.name)]
        if same_tokens(example):
            return values
        chosen = [{values[token] for token in own} for own in aligned_tokens(example)]
        return [next(iter(found)) if len(found) == 1 else None for found in chosen]

    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        names = values.take(found.labels).tolist()
        write_values(doc, self.name, names, starts=found.present, overwrite=self.overwrite)

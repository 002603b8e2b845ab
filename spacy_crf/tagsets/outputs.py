"""What a tagger with sets tells of Docs: sets of tags, the nodes of a tag tree, likely sequences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..annotation.extensions import register, register_by_token
from ..core.arrays import Bools, Floats, Segments
from ..core.sets.hierarchy import TagTree
from ..core.sets.sequences import smallest_sequence_sets
from ..pipe.decoding import Batch
from ..pipe.strata import Tokens
from .rules import SetRule


@dataclass(frozen=True)
class TagSets:
    """The set of each token, the most probable tag first, and the node of a tag tree that it is below.

    key (str): of the custom attribute for sets. tags (Sequence[str]): of the chain.
    make_rule (Callable): returns what chooses sets; called when there are tokens, and so tags.
    node_key (str), make_tree (Callable | None): custom attribute for nodes, and what returns the tree for them.
    """

    key: str
    tags: Sequence[str]
    make_rule: Callable[[], SetRule]
    node_key: str
    make_tree: Callable[[], TagTree] | None

    def read(self, batch: Batch) -> list[tuple[list[list[str]], list[str] | None]]:
        columns, marginals = batch.columns, batch.marginals
        members = self.make_rule()(marginals, Tokens(columns.orths, columns.lengths, columns.doc_lengths))
        tree = None if self.make_tree is None else self.make_tree()
        names, split = np.array(self.tags, dtype=object), batch.by_doc.split
        return [
            (list_members(own, probabilities, names), None if tree is None else tree.names_of(own))
            for own, probabilities in zip(split(members), split(marginals))
        ]

    def empty(self) -> tuple[list[list[str]], list[str] | None]:
        return [], None if self.make_tree is None else []

    def write(self, doc: Doc, value: tuple[list[list[str]], list[str] | None]) -> None:
        sets, nodes = value
        doc._.set(self.key, sets)
        if nodes is not None:
            doc._.set(self.node_key, nodes)

    def register(self) -> None:
        register_by_token(self.key)
        register_by_token(self.node_key)


@dataclass(frozen=True)
class LikelySequences:
    """The fewest labellings of each sequence that together have a given probability.

    key (str): of the attribute of Docs. mass (float): the probability. cap (int): labellings at most; None are listed
    for 0. tags (Sequence[str]): of the chain.
    """

    key: str
    mass: float
    cap: int
    tags: Sequence[str]

    def read(self, batch: Batch) -> list[list[dict[str, Any]] | None]:
        if not self.cap:
            return [None] * len(batch.docs)
        found = smallest_sequence_sets(batch.distribution.tempered, self.mass, self.cap)
        return [[{**place, **self._listed(found[b])} for b, place in own] for own in batch.numbered_sequences()]

    def _listed(self, found: Any) -> dict[str, Any]:
        return {
            "labels": [[self.tags[tag] for tag in path] for path in found.paths.tolist()],
            "probabilities": found.probabilities.tolist(),
            "mass": found.mass,
            "complete": found.complete,
        }

    def empty(self) -> list[dict[str, Any]] | None:
        return [] if self.cap else None

    def write(self, doc: Doc, value: list[dict[str, Any]] | None) -> None:
        if value is not None:
            doc._.set(self.key, value)

    def register(self) -> None:
        register(Doc, self.key)


def list_members(members: Bools, marginals: Floats, names: Any) -> list[list[str]]:
    """The tags of each set, the most probable one first.

    members ((n, L)), marginals ((n, L)): of the tokens of a Doc. names ((L,)): the tags.
    """
    tokens, tags = np.nonzero(members)
    order = np.lexsort((-marginals[tokens, tags], tokens))
    flat = names.take(tags[order]).tolist()
    return [flat[own] for own in Segments(members.sum(axis=1)).slices()]

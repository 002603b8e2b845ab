"""Dependency trees of CoNLL-U sentences."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..core.errors import CRFError
from .errors import CorpusErrors

UNKNOWN = "_"
ROOT_RELATION = "root"
SPACY_ROOT_RELATION = "ROOT"


class Tree(NamedTuple):
    """Heads as indices in the sentence (the root is its own head) and relations; both None if incomplete."""

    heads: list[int] | None = None
    deps: list[str] | None = None


def parse_tree(path: Path, lines: Sequence[int], heads: Sequence[str], deps: Sequence[str]) -> Tree:
    """Read the columns HEAD and DEPREL of one sentence.

    path (Path): The file, for the message.
    lines (Sequence[int]): The line of each word, for the message.
    heads (Sequence[str]): The column HEAD: ids counted from 1, 0 for the root, "_" for unknown.
    deps (Sequence[str]): The column DEPREL.
    RETURNS (Tree): The tree if it is complete: a head and a relation for each word, one root, no cycle.
    """
    positions = {str(number): number - 1 for number in range(len(heads) + 1)}
    malformed = set(heads) - positions.keys() - {UNKNOWN}
    if malformed:
        line, head = next((line, head) for line, head in zip(lines, heads) if head in malformed)
        raise CRFError(CorpusErrors.CRF516.format(path=path, line=line, head=head, last=len(heads)))
    if UNKNOWN in heads or UNKNOWN in deps or "" in deps:
        return Tree()
    parents = [positions[head] for head in heads]
    if not is_tree(parents):
        return Tree()
    root = parents.index(-1)
    parents[root] = root
    relations = [SPACY_ROOT_RELATION if dep == ROOT_RELATION else dep for dep in deps]
    return Tree(parents, relations)


def is_tree(parents: Sequence[int]) -> bool:
    """Whether every node reaches the one root, in O(n).

    parents (Sequence[int]): The parent of each node, -1 for a root.
    RETURNS (bool): False for a forest or a cycle.
    """
    if parents.count(-1) != 1:
        return False
    # 0 is not seen yet, a positive number the walk that came here first.
    seen = [0] * len(parents)
    for start in range(len(parents)):
        node, walk = start, start + 1
        while node != -1 and not seen[node]:
            seen[node] = walk
            node = parents[node]
        if node != -1 and seen[node] == walk:
            return False
    return True

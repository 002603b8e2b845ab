"""Sets of fine tags that are the leaves below one node of a tag tree, such as all XPOS tags of one UPOS tag.

Such a set has a name that an annotator knows. There are fewer nodes than sets, so that the best one is found by
scoring them all; its expected utility is at most that of the best set without a tree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, check_shape
from ..errors import CoreErrors, CRFError
from .predict import TIE, ChosenSets, check_marginals, check_values

ANY = "*"
DEEPEST = 100


@dataclass(frozen=True)
class TagTree:
    """The nodes of a tag tree or of several; labels are leaves.

    names (tuple of str): of the V nodes: first the labels, then coarse tags, small ones first.
    leaves ((V, L)): the labels below each node; a label is below itself.
    """

    names: tuple[str, ...]
    leaves: Bools

    def names_of(self, members: Bools) -> list[str]:
        """The node of each set ((N, L)), the first of those with these leaves; a KeyError without one. O(N L)."""
        packed = np.packbits(self.leaves, axis=1)
        names = {row.tobytes(): name for row, name in zip(packed[::-1], self.names[::-1])}
        distinct, places = np.unique(np.packbits(members, axis=1), axis=0, return_inverse=True)
        found = [names[row.tobytes()] for row in distinct]
        return [found[place] for place in places.ravel().tolist()]


def tree_from_parents(labels: Sequence[str], parents: Mapping[str, str]) -> TagTree:
    """A tree from the tag above each tag.

    A coarse tag may have the name of a label: a tag that is put under another is the label, the tag above is coarse.

    parents (mapping): fine tags to coarse tags, and these to coarser ones. Every label must be here; tags that are no
        labels, and coarse tags without labels below, are left out.
    RAISES (ValueError): for labels without a coarse tag, and for tags above themselves.
    """
    orphans = [label for label in labels if label not in parents]
    if orphans:
        raise CRFError(CoreErrors.CRF808.format(labels=orphans))
    own = set(labels)
    below: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        for coarse in _ancestors(label, parents, own):
            below.setdefault(coarse, []).append(index)
    coarse_tags = sorted(below, key=lambda tag: len(below[tag]))
    leaves = np.zeros((len(labels) + len(coarse_tags), len(labels)), dtype=np.bool_)
    np.fill_diagonal(leaves, True)
    for node, tag in enumerate(coarse_tags, start=len(labels)):
        leaves[node, below[tag]] = True
    return TagTree((*labels, *coarse_tags), leaves)


def tree_from_separator(labels: Sequence[str], separator: str) -> TagTree:
    """A tree of labels whose names say where they belong: with ".", NA.Dat is below NA.*, and all are below *.

    A coarse tag ends in the (not empty) separator and a star, which no label does, so that it is told from the label
    NA, which is below NA.* as well.
    """
    parents: dict[str, str] = {}
    heads = {label[:end] for label in labels for end in _ends(label, separator)}
    for label in labels:
        path = [f"{label[:end]}{separator}{ANY}" for end in _ends(label, separator)]
        path += [f"{label}{separator}{ANY}"] if label in heads else []
        parents.update(zip([label, *path[::-1]], [*path[::-1], ANY]))
    return tree_from_parents(labels, parents)


def _ends(label: str, separator: str) -> list[int]:
    """Where the parts of a label end before which others follow."""
    ends = [start for start in range(1, len(label)) if label.startswith(separator, start)]
    _check_depth(label, len(ends))
    return ends


def _ancestors(label: str, parents: Mapping[str, str], labels: set[str]) -> list[str]:
    """Coarse tags above a label, from the nearest to the root."""
    above = [parents[label]]
    # the name of a label as a key is the label: a coarse tag of that name has nothing above
    while above[-1] in parents and above[-1] not in labels:
        parent = parents[above[-1]]
        if parent in above:
            raise CRFError(CoreErrors.CRF809.format(tag=parent, path=" < ".join([*above, parent])))
        above.append(parent)
        _check_depth(label, len(above))
    return above


def _check_depth(label: str, depth: int) -> None:
    if depth > DEEPEST:
        raise CRFError(CoreErrors.CRF829.format(label=label, most=DEEPEST))


def best_nodes(marginals: Floats, tree: TagTree, g: Doubles) -> tuple[Indices, ChosenSets]:
    """The node of greatest expected utility for each unit ((N,)), and the labels below. O(N V L), exact for every g.

    Ties go to the smaller set, then to the node that comes first.
    """
    n_labels = check_marginals(marginals)
    check_shape("marginals", marginals, (len(marginals), tree.leaves.shape[1]))
    check_values(g, n_labels)
    sizes = tree.leaves.sum(axis=1)
    masses = marginals.astype(np.float64) @ tree.leaves.T
    values = masses * g[sizes - 1]
    # nodes are ordered by size, so that the first of the best is the smallest
    nodes = (values >= values.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
    cells = np.arange(len(nodes)), nodes
    return nodes, ChosenSets(tree.leaves[nodes], sizes[nodes], values[cells], masses[cells])

"""The tag tree that `method = "hierarchy"` takes its sets from: the block `hierarchy` of `set_valued_tagger`."""

from collections.abc import Sequence
from pathlib import Path

from ..core.errors import CoreErrors, CRFError
from ..core.sets.hierarchy import TagTree, tree_from_parents, tree_from_separator
from .block import SetSettings
from .errors import TagSetErrors

PARENTS = "parents"  # where a component keeps what the file says


def tag_tree(name: str, settings: SetSettings, parents: Sequence[Sequence[str]], labels: Sequence[str]) -> TagTree:
    """The tree over the labels of a component.

    name (str): of the component. parents (Sequence): pairs of the file. labels (Sequence[str]): in their order.
    RAISES (ValueError): where it has no block `hierarchy`, or the file has no parent for a label.
    """
    if settings.hierarchy is None:
        settings.check(name)
    if settings.hierarchy is not None and settings.hierarchy.separator is not None:
        return tree_from_separator(labels, settings.hierarchy.separator)
    return tree_from_parents(labels, dict(parents))


def read_parents(path: Path) -> dict[str, str]:
    """The parents of a file, by child.

    RAISES (ValueError): for a file that cannot be read, a line that is no pair, and a tag with two parents.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CRFError(TagSetErrors.CRF553.format(path=path, line=1, problem=error)) from error
    parents: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        fields = [field.strip() for field in line.split("\t")]
        if not line.strip() or (len(fields) == 1 and line.startswith("#")):
            continue
        if len(fields) != 2 or not all(fields):
            raise CRFError(
                TagSetErrors.CRF553.format(path=path, line=number, problem=f"{line!r} is not child<TAB>parent")
            )
        if parents.setdefault(fields[0], fields[1]) != fields[1]:
            raise CRFError(CoreErrors.CRF810.format(child=fields[0], first=parents[fields[0]], second=fields[1]))
    return parents

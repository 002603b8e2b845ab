"""The tag tree that `method = "hierarchy"` takes its sets from: the block `hierarchy` of `set_valued_tagger`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spacy.util import registry

from ..core.errors import CoreErrors, CRFError
from ..core.sets.hierarchy import TagTree, tree_from_parents, tree_from_separator
from ..pipe.errors import PipeErrors
from .errors import TagSetErrors

PARENTS = "parents"  # where a component keeps what the file says


@dataclass(frozen=True)
class TreeSettings:
    """Where the tree comes from: a file, or the names of the tags. See `make_tag_tree`."""

    path: str | None = None
    separator: str | None = None

    def read_parents(self) -> list[list[str]]:
        """The pairs of the file, none without one.

        RAISES (ValueError): for a file that cannot be read, a line that is no pair, and a tag with two parents.
        """
        return [] if self.path is None else [list(pair) for pair in _read(Path(self.path)).items()]


@registry.misc("spacy_crf.TagTree.v1")
def make_tag_tree(path: str | None = None, separator: str | None = None) -> TreeSettings:
    """A tree of tags, for `method = "hierarchy"`.

    path (str | None): a TSV file `child<TAB>parent`, in which every tag has a parent, and parents may have some again;
        read by `initialize` and saved with the component. Empty lines, and those that begin with # and have no tab, are
        skipped.
    separator (str | None): instead of a file: with ".", NA.Dat and NA.Akk are below NA.*, and all tags below *.
    RETURNS (TreeSettings): the settings.
    RAISES (ValueError): unless there is one of the two.
    """
    if bool(path) == bool(separator):
        raise CRFError(TagSetErrors.CRF554)
    return TreeSettings(path or None, separator or None)


def tag_tree(name: str, settings: Mapping[str, Any], labels: Sequence[str]) -> TagTree:
    """The tree over the labels of a component.

    name (str): of the component. settings (Mapping): its run-time settings. labels (Sequence[str]): in their order.
    RAISES (ValueError): where it has no block `hierarchy`, or the file has no parent for a label.
    """
    hierarchy = settings["hierarchy"]
    if hierarchy is None:
        expected = "a block spacy_crf.TagTree.v1 for method = 'hierarchy'"
        problem = {"setting": "hierarchy", "value": None, "expected": expected}
        raise CRFError(PipeErrors.CRF408.format(name=name, **problem))
    if hierarchy["separator"] is not None:
        return tree_from_separator(labels, hierarchy["separator"])
    return tree_from_parents(labels, dict(settings[PARENTS]))


def source_tree(name: str, hierarchy: TreeSettings | None) -> dict[str, Any] | None:
    """The settings of a component that takes its probabilities from another, and has no folder of its own for a file.

    RAISES (ValueError): for a tree from a file.
    """
    if hierarchy is not None and hierarchy.path is not None:
        problem = {"setting": "hierarchy.path", "value": hierarchy.path, "expected": "left out where `source` is set"}
        raise CRFError(PipeErrors.CRF408.format(name=name, **problem))
    return None if hierarchy is None else asdict(hierarchy)


def _read(path: Path) -> dict[str, str]:
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

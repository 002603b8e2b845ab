"""Trees in brackets, as treebanks have them, and as trees of nltk."""

from typing import Any

from ...core.errors import CRFError
from ..errors import SectionErrors
from ..units.layout import Layout
from ..units.tree import SectionTree
from .outline import Begin, End, is_blank, outline

ROOT, SECTION, VIRTUAL = "DOCUMENT", "SECTION", "VIRTUAL"
ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


def write_brackets(layout: Layout, tree: SectionTree) -> str:
    """A document in one bracket, a line for each section and element, indented by depth.

    layout (Layout): the document. tree (SectionTree): its sections and labels; blank lines are left out.
    RETURNS (str): brackets in the text are -LRB- and -RRB-, implied sections are VIRTUAL.
    """
    lines = [f"({ROOT}"]
    depth = 1
    for event in outline(tree):
        if isinstance(event, Begin):
            lines.append(f"{'  ' * depth}({VIRTUAL if event.node.virtual else SECTION}")
            depth += 1
        elif isinstance(event, End):
            lines[-1] += ")"
            depth -= 1
        elif not is_blank(layout, tree, event.place):
            element = tree.elements[event.place]
            words = " ".join(layout.text[element.start : element.end].translate(ESCAPES).split())
            lines.append(f"{'  ' * depth}({element.label} {words})")
    return "\n".join(lines) + ")\n"


def to_nltk(layout: Layout, tree: SectionTree) -> Any:
    """The same as an `nltk.Tree`, whose leaves are words.

    layout (Layout), tree (SectionTree): see `write_brackets`. RETURNS (nltk.Tree): labels are those of the brackets.
    RAISES (ValueError): if nltk is not installed.
    """
    try:
        from nltk import Tree
    except ImportError as error:
        raise CRFError(SectionErrors.CRF958) from error
    opened = [Tree(ROOT, [])]
    for event in outline(tree):
        if isinstance(event, Begin):
            node = Tree(VIRTUAL if event.node.virtual else SECTION, [])
            opened[-1].append(node)
            opened.append(node)
        elif isinstance(event, End):
            opened.pop()
        elif not is_blank(layout, tree, event.place):
            element = tree.elements[event.place]
            opened[-1].append(Tree(element.label, layout.text[element.start : element.end].split()))
    return opened[0]

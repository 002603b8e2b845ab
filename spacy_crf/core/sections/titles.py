"""Kinds of titles without numbers, told by their words: "Method" stands below "Leek soup", which nothing else shows.

A kind is a title that the trees of training have shown several times, or any title that recurs in its document. All
other titles are one kind. Kinds count only with weights that were learned: in 161 manuals, weights by hand for titles
that recur made more trees worse than better.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

RECURRING, OTHER, NUMBER, DOCUMENT = "recurring title", "other title", "number", "document"
LEAST_SECTIONS, LEAST_DOCUMENTS = 3, 2  # that have a title which is a kind of its own
MOST_KINDS = 64
_QUOTED = re.compile("“[^“”]*”")


def after(kind: str, before: str) -> str:
    """The name of the feature of a title, or of what stands behind one, as a sibling."""
    return f"{kind} after {before}"


def below(kind: str, above: str) -> str:
    """The name of the feature of a title, or of what stands below one, as a first child."""
    return f"{kind} below {above}"


def find_kinds(documents: Iterable[Sequence[str]]) -> list[str]:
    """Kinds that gold trees tell apart, the most frequent ones. documents: the words of the titles of each tree."""
    sections, trees = Counter[str](), Counter[str]()
    for titles in documents:
        sections.update(titles)
        trees.update(set(titles))
    enough = [
        words
        for words, count in sorted(sections.items(), key=lambda item: (-item[1], item[0]))
        if words and count >= LEAST_SECTIONS and trees[words] >= LEAST_DOCUMENTS
    ]
    return [RECURRING, *map(_quote, enough[:MOST_KINDS])]


def _quote(words: str) -> str:
    return f"“{words}”"


def names_of(kinds: Sequence[str]) -> list[str]:
    """Names of the features of some kinds: each beside and below each other, and numbers and other titles."""
    every = [*kinds, OTHER, NUMBER]
    pairs = [(kind, other) for kind in every for other in every if kind in kinds or other in kinds]
    siblings, children = [after(*pair) for pair in pairs], [below(*pair) for pair in pairs]
    return [*siblings, *children, *(below(kind, DOCUMENT) for kind in kinds)]


def kinds_in(names: Iterable[str]) -> frozenset[str]:
    """The kinds that features tell apart. names (iterable of str): see `names_of`; others are passed over."""
    text = "\n".join(names)
    return frozenset(_QUOTED.findall(text)) | ({RECURRING} if RECURRING in text else set())


def tell_kinds(titles: Sequence[str], kinds: frozenset[str]) -> list[str]:
    """The kind of each unit by its words, "" for those without words and for other titles."""
    if not kinds:
        return [""] * len(titles)
    counts = Counter(titles)

    def tell(words: str) -> str:
        if words and (own := _quote(words)) in kinds:
            return own
        return RECURRING if words and counts[words] > 1 and RECURRING in kinds else ""

    return list(map(tell, titles))

"""Ordinary features as python-crfsuite takes them: a list of attributes, which are strings, for each token."""

import re
from collections.abc import Callable
from functools import cache

Items = list[list[str]]
Template = tuple[tuple[str, int], ...]  # columns and their offsets
LONGEST_AFFIX, LONGEST_RUN = 4, 4


def window(column: str, *offsets: int) -> tuple[Template, ...]:
    """Return a template for each place beside a token."""
    return tuple(((column, offset),) for offset in offsets)


def runs(column: str, size: int, *firsts: int) -> tuple[Template, ...]:
    """Return a template for each run of neighbours, by the place of its first one."""
    return tuple(tuple((column, first + k) for k in range(size)) for first in firsts)


CHUNKING_TEMPLATES = (
    *window("w", -2, -1, 0, 1, 2),
    *runs("w", 2, -1, 0),
    *window("pos", -2, -1, 0, 1, 2),
    *runs("pos", 2, -2, -1, 0, 1),
    *runs("pos", 3, -2, -1, 0),
)
TAGGING_TEMPLATES = (*window("lower", -2, -1, 1, 2), *runs("lower", 2, -1, 0), *window("shape", -2, -1, 1, 2))
HISTORICAL_TEMPLATES = window("lower", -3, -2, -1, 1, 2)


def chunking(words: list[str], tags: list[str]) -> Items:
    """Return the attributes of CRFsuite's chunking example: 19 templates over words and given tags."""
    items: Items = [[] for _ in words]
    _apply(items, CHUNKING_TEMPLATES, {"w": words, "pos": tags})
    return _mark_edges(items)


def tagging(words: list[str], tags: list[str]) -> Items:
    """Return word, shape, affixes and flags, a window of two, and pairs of neighbours; tags are not looked at."""
    items = [list(_word_attributes(word)) for word in words]
    _apply(items, TAGGING_TEMPLATES, {"lower": [*map(str.lower, words)], "shape": [*map(_shape, words)]})
    return _mark_edges(items)


def historical(words: list[str], tags: list[str]) -> Items:
    """Return attributes for text in free spelling: words from -3 to 2, affixes of the lower-cased word, its length and
    whether it has capitals or digits; tags are not looked at."""
    items = [list(_historical_attributes(word)) for word in words]
    _apply(items, HISTORICAL_TEMPLATES, {"lower": [*map(str.lower, words)]})
    return items


FEATURES: dict[str, Callable[[list[str], list[str]], Items]] = {
    make.__name__: make for make in (tagging, chunking, historical)
}


def _apply(items: Items, templates: tuple[Template, ...], columns: dict[str, list[str]]) -> None:
    """Add the attributes of each template; one that reaches over an edge gives none there."""
    for template in templates:
        offsets = [offset for _, offset in template]
        first = max(0, -min(offsets))
        last = max(first, len(items) - max(0, *offsets))
        values = [columns[column][first + offset : last + offset] for column, offset in template]
        name = "|".join(f"{column}[{offset}]" for column, offset in template)
        for item, own in zip(items[first:last], zip(*values)):
            item.append(f"{name}={'|'.join(own)}")


def _mark_edges(items: Items) -> Items:
    if items:
        items[0].append("__BOS__")
        items[-1].append("__EOS__")
    return items


# once for each word: a careful user of the peer would not compute an affix twice either
@cache
def _word_attributes(word: str) -> tuple[str, ...]:
    lower = word.lower()
    sizes = range(1, min(len(lower), LONGEST_AFFIX) + 1)
    flags = {
        "has_digit": any(map(str.isdigit, word)),
        "has_capital": any(map(str.isupper, word)),
        "has_hyphen": "-" in word,
    }
    return (
        *(f"w[0]={word}", f"lower[0]={lower}", f"shape[0]={_shape(word)}"),
        *(f"prefix={lower[:size]}" for size in sizes),
        *(f"suffix={lower[-size:]}" for size in sizes),
        *(name for name, holds in flags.items() if holds),
    )


@cache
def _historical_attributes(word: str) -> tuple[str, ...]:
    lower = word.lower()
    affixes = [f"p{n}={lower[:n]}" for n in (1, 2, 3)] + [f"s{n}={lower[-n:]}" for n in (2, 3, 4, 5)]
    return ("b", f"w={word}", *affixes, f"c={lower != word}", f"d={any(map(str.isdigit, word))}", f"l={len(word)}")


@cache
def _shape(word: str) -> str:
    """Kind of each character, long runs cut: "Internationally-33" gives "Xxxxx-dd"."""
    kinds = "".join(("X" if c.isupper() else "x") if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return re.sub(rf"(.)\1{{{LONGEST_RUN},}}", lambda run: run.group(1) * LONGEST_RUN, kinds)

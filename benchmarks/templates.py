"""Features as Python strings, in the form that python-crfsuite takes: one list of attributes per token."""

import re
from functools import cache

Template = tuple[tuple[str, int], ...]

CHUNKING_TEMPLATES: tuple[Template, ...] = (
    (("w", -2),),
    (("w", -1),),
    (("w", 0),),
    (("w", 1),),
    (("w", 2),),
    (("w", -1), ("w", 0)),
    (("w", 0), ("w", 1)),
    (("pos", -2),),
    (("pos", -1),),
    (("pos", 0),),
    (("pos", 1),),
    (("pos", 2),),
    (("pos", -2), ("pos", -1)),
    (("pos", -1), ("pos", 0)),
    (("pos", 0), ("pos", 1)),
    (("pos", 1), ("pos", 2)),
    (("pos", -2), ("pos", -1), ("pos", 0)),
    (("pos", -1), ("pos", 0), ("pos", 1)),
    (("pos", 0), ("pos", 1), ("pos", 2)),
)
TAGGING_TEMPLATES: tuple[Template, ...] = (
    (("lower", -2),),
    (("lower", -1),),
    (("lower", 1),),
    (("lower", 2),),
    (("lower", -1), ("lower", 0)),
    (("lower", 0), ("lower", 1)),
    (("shape", -2),),
    (("shape", -1),),
    (("shape", 1),),
    (("shape", 2),),
)
MAX_AFFIX = 4
MAX_RUN = 4


def chunking_features(words: list[str], tags: list[str]) -> list[list[str]]:
    """Make the attributes of CRFsuite's chunking example.

    words (list[str]): words of one sentence.
    tags (list[str]): their parts of speech.
    RETURNS (list[list[str]]): attributes of each token.
    """
    items: list[list[str]] = [[] for _ in words]
    _apply_templates(items, CHUNKING_TEMPLATES, {"w": words, "pos": tags})
    _mark_edges(items)
    return items


def tagging_features(words: list[str]) -> list[list[str]]:
    """Make ordinary attributes for part-of-speech tagging: word, shape, affixes, flags, and a window of two.

    words (list[str]): words of one sentence.
    RETURNS (list[list[str]]): attributes of each token.
    """
    items = [list(_word_attributes(word)) for word in words]
    lower, shapes = [word.lower() for word in words], [_shape(word) for word in words]
    _apply_templates(items, TAGGING_TEMPLATES, {"lower": lower, "shape": shapes})
    _mark_edges(items)
    return items


def historical_features(words: list[str]) -> list[list[str]]:
    """Make attributes for text in free spelling by 17 templates: words from -3 to 2, affixes of the lower-cased word.

    words (list[str]): words of one segment.
    RETURNS (list[list[str]]): attributes of each token.
    """
    items = [list(_historical_attributes(word)) for word in words]
    window = tuple((("lower", offset),) for offset in (-3, -2, -1, 1, 2))
    _apply_templates(items, window, {"lower": [word.lower() for word in words]})
    return items


@cache
def _historical_attributes(word: str) -> tuple[str, ...]:
    lower = word.lower()
    affixes = [f"p{n}={lower[:n]}" for n in (1, 2, 3)] + [f"s{n}={lower[-n:]}" for n in (2, 3, 4, 5)]
    shape = [f"c={lower != word}", f"d={any(map(str.isdigit, word))}", f"l={len(word)}"]
    return ("b", f"w={word}", *affixes, *shape)


def _apply_templates(items: list[list[str]], templates: tuple[Template, ...], fields: dict[str, list[str]]) -> None:
    """Add the attributes of each template; one that reaches over an edge gives none there."""
    for template in templates:
        offsets = [offset for _, offset in template]
        first = max(0, -min(offsets))
        last = max(first, len(items) - max(0, *offsets))
        columns = [fields[field][first + offset : last + offset] for field, offset in template]
        prefix = _template_name(template) + "="
        for item, values in zip(items[first:last], zip(*columns)):
            item.append(prefix + "|".join(values))


@cache
def _template_name(template: Template) -> str:
    return "|".join(f"{field}[{offset}]" for field, offset in template)


def _mark_edges(items: list[list[str]]) -> None:
    if items:
        items[0].append("__BOS__")
        items[-1].append("__EOS__")


# Cached per word type: a careful user of the peer would not compute an affix twice either.
@cache
def _word_attributes(word: str) -> tuple[str, ...]:
    lower = word.lower()
    affixes = range(1, min(len(lower), MAX_AFFIX) + 1)
    flags = {
        "has_digit": any(char.isdigit() for char in word),
        "has_capital": any(char.isupper() for char in word),
        "has_hyphen": "-" in word,
    }
    return (
        f"w[0]={word}",
        f"lower[0]={lower}",
        f"shape[0]={_shape(word)}",
        *(f"prefix={lower[:size]}" for size in affixes),
        *(f"suffix={lower[-size:]}" for size in affixes),
        *(name for name, holds in flags.items() if holds),
    )


@cache
def _shape(word: str) -> str:
    """Kind of each character, long runs cut: "Internationally-33" gives "Xxxxx-dd"."""
    kinds = "".join(_kind(char) for char in word)
    return re.sub(rf"(.)\1{{{MAX_RUN},}}", lambda run: run.group(1) * MAX_RUN, kinds)


def _kind(char: str) -> str:
    if char.isalpha():
        return "X" if char.isupper() else "x"
    return "d" if char.isdigit() else char

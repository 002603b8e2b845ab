"""The ready-made set of templates for labelling layout elements; `@sections` in a config stands for it."""

from .contents import NAMES
from .phrases import CLASSES

_OWN = ("kind", "words", "letters", "opens", "ends", "case", "styles", "heading", "indent", "from start", "from end")
_PLACE = ("kind before", "kind after", "blanks before", "blanks after", "is first", "is last", "repeats")
_BESIDE = (
    *("words before", "words after", "is longer after", "ends before", "opens after", "case before", "case after"),
    *("styles before", "styles after"),
)
_NUMBERS = (
    *("family", "signs", "is odd", "depth", "value", "is opening", "leading zero", "is digits"),
    *("sequence before", "sequence behind", "like sequence before", "like sequence behind", "sequence length"),
    *("predecessor gap", "successor gap", "has parent", "is plausible", "row length", "row place", "row tainted"),
)
_PHRASES = tuple(f"{relation} {name}" for relation in ("is", "opens", "ends", "has") for name in CLASSES)
_ALIKE = ("known alike", "known share", "alike")
_WORDS = ("whole", "first", "first two", "last", "first before", "last before", "first after")
_RULED = (
    *(("rule",), ("part",), ("part", "kind"), ("part", "family")),
    *(("rule", "words"), ("rule", "sequence length")),
)
# what follows a number, and what the text before leads up to
_LED = (
    *(("kind", "ends before"), ("family", "ends before"), ("family", "opens after")),
    *(("family", "ends quote_intro before"), ("words", "opens sentence after")),
    *((f"ends {name} before",) for name in ("court", "head", "link", "quote_intro", "role", "title")),
    *(("is title before",), ("is title after",), ("has verb after",), ("opens sentence after",)),
)
_OPENS = ("month", "numeral", "role", "sentence", "title", "verb")  # classes of what stands behind a number
_SETTING = (
    ("kind", "blanks before", "blanks after"),
    ("words", "case"),
    ("words", "ends"),
    ("words", "is emphasised"),
    ("words", "opens"),
    ("words", "words after"),
    ("words", "blanks before"),
    ("words", "blanks after"),
    ("is title", "words"),
    ("opens title", "words"),
    ("has title", "words"),
    ("has title", "has verb"),
    ("is weak_title", "case"),
    ("is weak_title", "is emphasised"),
    ("known share", "words"),
    ("known alike", "case"),
    ("from start", "is title"),
    ("case", "from start"),
    ("ends", "ends before"),
    ("opens", "ends before"),
    ("opens", "kind before"),
    ("is emphasised", "blanks before", "blanks after"),
    ("is emphasised", "ends"),
    ("is emphasised", "ends before"),
    ("is emphasised", "case before"),
)


def _units(names: tuple[str, ...], where: str = "") -> list[str]:
    return [f"UNIT({name}){where}" for name in names]


PRESETS: dict[str, list[str]] = {
    "@sections": [
        "BIAS",
        *_units(_OWN),
        *_units(_PLACE),
        *_units(_BESIDE),
        *_units(_NUMBERS),
        *_units(_PHRASES),
        *_units(tuple(f"holds {name}" for name in NAMES)),
        *_units(_ALIKE),
        *_units(_WORDS),
        *("|".join(_units(names)) for names in (*_SETTING, *_RULED, *_LED)),
        *(f"UNIT(kind)[0]|UNIT(opens {name})[1]" for name in _OPENS),
        "UNIT(rule)[-1]",
        "UNIT(rule)[1]",
        "UNIT(kind)[-2..2]",
        "UNIT(kind)[-1]|UNIT(kind)[0]|UNIT(kind)[1]",
        "UNIT(family)[-1]",
        "UNIT(family)[1]",
        "UNIT(family)[-1]|UNIT(words)[0]",
        "UNIT(depth)[-1]|UNIT(words)[0]",
        "UNIT(is plausible)[-1]|UNIT(words)[0]",
        "UNIT(family)[0]|UNIT(opens)[1]",
        "UNIT(family)[0]|UNIT(sequence length)[0]",
        "UNIT(signs)[0]|UNIT(words)[1]",
        "UNIT(is title)[1]",
        "UNIT(kind)[0]|UNIT(holds leader)[1]",
        "B:UNIT(kind)[0]",
    ]
}

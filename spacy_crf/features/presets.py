"""Ready-made template sets; `@name` in a config stands for them."""

from .attributes import COUNTS, HAS, PART_ATTRIBUTES, PARTS
from .word_classes import class_names

_WORD_WINDOW = ["LOWER[-2..2]", "LOWER[-1]|LOWER[0]", "LOWER[0]|LOWER[1]"]
_WORDS_AND_AFFIXES = [
    "BIAS",
    "ORTH[0]",
    *_WORD_WINDOW,
    "LOWER[-1]|LOWER[1]",
    "LPREFIX1",
    "LPREFIX2",
    "LPREFIX3",
    "LPREFIX4",
    "LSUFFIX1",
    "LSUFFIX2",
    "LSUFFIX3",
    "LSUFFIX4",
    "LSUFFIX5",
    "LSUFFIX3[-1]",
    "LSUFFIX3[1]",
    "LSUFFIX2[-1]|LSUFFIX2[0]",
    "LSUFFIX2[0]|LSUFFIX2[1]",
    "SHAPE[-1..1]",
]
# free spelling: a word's length tells more than where its capitals are
_HISTORICAL = [*_WORDS_AND_AFFIXES, "LENGTH", "HAS_DIGIT", "HAS_UPPER"]
# What follows a word depends on the words beside it, those after it above all
_PUNCTUATION = [
    "BIAS",
    "BOS",
    "EOS",
    "LOWER[-3..4]",
    "LOWER[-2]|LOWER[-1]",
    "LOWER[-1]|LOWER[0]",
    "LOWER[0]|LOWER[1]",
    "LOWER[1]|LOWER[2]",
    "LOWER[2]|LOWER[3]",
    "LOWER[-1]|LOWER[1]",
    "LOWER[0]|LOWER[2]",
    "LOWER[-1]|LOWER[0]|LOWER[1]",
    "LOWER[0]|LOWER[1]|LOWER[2]",
    "LOWER[1]|LOWER[2]|LOWER[3]",
    "LSUFFIX2[0..1]",
    "LSUFFIX3[0..1]",
    "LSUFFIX2|LSUFFIX2[1]",
    "LSUFFIX3|LOWER[1]",
    "B:LOWER[0]",
    "B:LOWER[1]",
]


def _class_ngrams(here: str) -> list[str]:
    """Classes or tags around a word, alone and together, and beside words. here (str): their attribute."""
    return [
        f"{here}[-2..3]",
        f"{here}[-1]|{here}[0]",
        f"{here}[0]|{here}[1]",
        f"{here}[1]|{here}[2]",
        f"{here}[-1]|{here}[0]|{here}[1]",
        f"{here}[0]|{here}[1]|{here}[2]",
        f"{here}[-2]|{here}[-1]|{here}[0]|{here}[1]",
        f"{here}[-1]|{here}[0]|{here}[1]|{here}[2]",
        f"{here}[0]|{here}[1]|{here}[2]|{here}[3]",
        f"LOWER[0]|{here}[1]",
        f"{here}[0]|LOWER[1]",
    ]


_PUNCTUATION_CLASSES = [*_PUNCTUATION, *_class_ngrams("CLASS50")]
# What tells how a word is cased, even one that training has not seen: its letters, and what stands beside rare words
_PUNCTUATION_CASE = [
    *_PUNCTUATION_CLASSES,
    "LPREFIX1",
    "LPREFIX2",
    "LPREFIX3",
    "LSUFFIX1",
    "LSUFFIX4",
    "LENGTH",
    "HAS_HYPHEN",
    "DIGITS",
    "RARE3[-1..1]",
    "RARE3[-1]|RARE3[0]",
    "RARE3[0]|RARE3[1]",
    "LOWER[-1]|RARE3[0]",
    "RARE3[0]|LOWER[1]",
    "LSUFFIX2|RARE3",
]
# What more text than a hundred thousand words can bear
_SPEECH = [
    *_PUNCTUATION_CLASSES,
    *_class_ngrams("CLASS200"),
    "LOWER[-6..7]",
    "LOWER[-2]|LOWER[-1]|LOWER[0]",
    "LOWER[-1]|LOWER[0]|LOWER[1]|LOWER[2]",
    "LOWER[0]|LOWER[1]|LOWER[2]|LOWER[3]",
    "CLASS50[-5..6]",
]
# Fields of references: what a word is, what its clause and the clauses beside it hold, and what has come before
_PARTS = [
    template
    for part in PARTS
    for template in (
        *(f"{part}({what})" for what in PART_ATTRIBUTES),
        *(f"{part}({what},{offset})" for offset in ("-1", "+1") for what in ("classes", "first", "last", "opening")),
        *(f"{part}({HAS}{name})" for name in class_names()),
    )
]
_CITATIONS = [
    "BIAS",
    "LOWER[-3..3]",
    "LOWER[-1]|LOWER[0]",
    "LOWER[0]|LOWER[1]",
    "LPREFIX1",
    "LPREFIX2",
    "LPREFIX3",
    "LPREFIX4",
    "LSUFFIX1",
    "LSUFFIX2",
    "LSUFFIX3",
    "LSUFFIX4",
    "LENGTH",
    "SHAPE[-2..2]",
    "COLLAPSED[-2..2]",
    "COLLAPSED[-1]|COLLAPSED[0]",
    "COLLAPSED[0]|COLLAPSED[1]",
    "IS_UPPER",
    "IS_TITLE",
    "HAS_DIGIT",
    "DIGITS[-1..1]",
    "WORD_CLASS[-2..2]",
    "WORD_CLASS[-1]|WORD_CLASS[0]",
    "WORD_CLASS[0]|WORD_CLASS[1]",
    "WORD_CLASS[-2]|WORD_CLASS[-1]|WORD_CLASS[0]",
    "WORD_CLASS[-1]|WORD_CLASS[0]|WORD_CLASS[1]",
    "WORD_CLASS[0]|WORD_CLASS[1]|WORD_CLASS[2]",
    "SPACY[-1..0]",
    "SPACY[-1]|WORD_CLASS[0]",
    "SPACY[0]|WORD_CLASS[0]",
    "BOS",
    "EOS",
    "POSITION10",
    "IN_QUOTES[-1..1]",
    "IN_BRACKETS[-1..1]",
    *(f"{count}({name})" for count in COUNTS for name in class_names()),
    *_PARTS,
    # fields change behind punctuation marks
    "B:LOWER[-1]",
    "B:WORD_CLASS[-1]",
    "B:WORD_CLASS[0]",
    "B:WORD_CLASS[-1]|SPACY[-1]",
]
PRESETS: dict[str, list[str]] = {
    "tagging": [
        *_WORDS_AND_AFFIXES,
        "COLLAPSED[0]|BOS[0]",
        "HAS_DIGIT",
        "HAS_UPPER",
        "HAS_HYPHEN",
    ],
    # asks for bare words, as punctuation_restorer shows them
    "punctuation": _PUNCTUATION,
    # the same with induced classes, which say more of rare sequences: all of these ask for a `classes` block
    "punctuation_classes": _PUNCTUATION_CLASSES,
    "punctuation_case": _PUNCTUATION_CASE,
    "speech": _SPEECH,
    # asks for a tagger before the component that has learned from lower-case words without marks
    "speech_tags": [*_SPEECH, *_class_ngrams("TAG")],
    "historical": _HISTORICAL,
    # asks for a `spelling` block
    "free_spelling": [
        *_HISTORICAL,
        "REWRITTEN[-2..2]",
        "REWRITTEN[-1]|REWRITTEN[0]",
        "REWRITTEN[0]|REWRITTEN[1]",
        "RPREFIX2",
        "RPREFIX3",
        "RPREFIX4",
        "RSUFFIX2",
        "RSUFFIX3",
        "RSUFFIX4",
    ],
    # asks for tokens as the reader of tagged references makes them
    "citations": _CITATIONS,
    # the templates of CRFsuite's chunking example
    "chunking": [
        "ORTH[-2..2]",
        "ORTH[-1]|ORTH[0]",
        "ORTH[0]|ORTH[1]",
        "TAG[-2..2]",
        "TAG[-2]|TAG[-1]",
        "TAG[-1]|TAG[0]",
        "TAG[0]|TAG[1]",
        "TAG[1]|TAG[2]",
        "TAG[-2]|TAG[-1]|TAG[0]",
        "TAG[-1]|TAG[0]|TAG[1]",
        "TAG[0]|TAG[1]|TAG[2]",
        "BOS",
        "EOS",
    ],
    "ner": [
        "BIAS",
        "ORTH[-1..1]",
        *_WORD_WINDOW,
        "LPREFIX2",
        "LPREFIX3",
        "LPREFIX4",
        "LSUFFIX2",
        "LSUFFIX3",
        "LSUFFIX4",
        "SHAPE[-2..2]",
        "COLLAPSED[-1..1]",
        "COLLAPSED[-1]|COLLAPSED[0]",
        "COLLAPSED[0]|COLLAPSED[1]",
        "COLLAPSED[-1]|COLLAPSED[0]|COLLAPSED[1]",
        "LOWER[-1]|COLLAPSED[0]",
        "COLLAPSED[0]|LOWER[1]",
        "IS_TITLE[0]|BOS[0]",
        "IS_UPPER",
        "HAS_DIGIT",
        "DIGITS",
    ],
}

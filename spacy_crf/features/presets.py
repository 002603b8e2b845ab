"""Ready-made template sets; `@name` in a config stands for them."""

from .word_classes import COUNTS, HAS, PART_ATTRIBUTES, PARTS, class_names


def _affixes(name: str, longest: int, shortest: int = 1) -> list[str]:
    """Return templates of affixes. name (str): their attribute, such as LSUFFIX."""
    return [f"{name}{length}" for length in range(shortest, longest + 1)]


def _pairs(here: str, first: int, last: int) -> list[str]:
    """Return conjunctions of an attribute at each two neighbouring positions from `first` to `last`."""
    return [f"{here}[{at}]|{here}[{at + 1}]" for at in range(first, last)]


def _triples(here: str, first: int, last: int) -> list[str]:
    return [f"{here}[{at}]|{here}[{at + 1}]|{here}[{at + 2}]" for at in range(first, last - 1)]


def _class_ngrams(here: str) -> list[str]:
    """Return templates of classes or tags around a word, alone and together, and beside words."""
    return [
        f"{here}[-2..3]",
        *_pairs(here, -1, 2),
        *_triples(here, -1, 2),
        *(f"{here}[{at}]|{here}[{at + 1}]|{here}[{at + 2}]|{here}[{at + 3}]" for at in (-2, -1, 0)),
        f"LOWER[0]|{here}[1]",
        f"{here}[0]|LOWER[1]",
    ]


def _cluster_window(beginning: str, whole: str) -> list[str]:
    """Return templates of paths in a tree of clusters."""
    return [f"{part}[-1..1]" for part in (*map(beginning.format, (4, 6, 10)), whole)]


_WORD_WINDOW = ["LOWER[-2..2]", *_pairs("LOWER", -1, 1)]
_WORDS_AND_AFFIXES = [
    *("BIAS", "ORTH[0]", *_WORD_WINDOW, "LOWER[-1]|LOWER[1]"),
    *_affixes("LPREFIX", 4),
    *_affixes("LSUFFIX", 5),
    *("LSUFFIX3[-1]", "LSUFFIX3[1]", *_pairs("LSUFFIX2", -1, 1), "SHAPE[-1..1]"),
]
# free spelling: a word's length tells more than where its capitals are
_HISTORICAL = [*_WORDS_AND_AFFIXES, "LENGTH", "HAS_DIGIT", "HAS_UPPER"]
# What follows a word depends on the words beside it, those after it above all
_PUNCTUATION = [
    *("BIAS", "BOS", "EOS", "LOWER[-3..4]"),
    *_pairs("LOWER", -2, 3),
    *("LOWER[-1]|LOWER[1]", "LOWER[0]|LOWER[2]"),
    *_triples("LOWER", -1, 3),
    *("LSUFFIX2[0..1]", "LSUFFIX3[0..1]", "LSUFFIX2|LSUFFIX2[1]", "LSUFFIX3|LOWER[1]"),
    *("B:LOWER[0]", "B:LOWER[1]"),
]
_PUNCTUATION_CLASSES = [*_PUNCTUATION, *_class_ngrams("CLASS50")]
# What tells how a word is cased, even one that training has not seen: its letters, and what stands beside rare words
_PUNCTUATION_CASE = [
    *_PUNCTUATION_CLASSES,
    *_affixes("LPREFIX", 3),
    *("LSUFFIX1", "LSUFFIX4", "LENGTH", "HAS_HYPHEN", "DIGITS", "RARE3[-1..1]"),
    *_pairs("RARE3", -1, 1),
    *("LOWER[-1]|RARE3[0]", "RARE3[0]|LOWER[1]", "LSUFFIX2|RARE3"),
]
# What more text than a hundred thousand words can bear
_SPEECH = [
    *_PUNCTUATION_CLASSES,
    *_class_ngrams("CLASS200"),
    *("LOWER[-6..7]", "LOWER[-2]|LOWER[-1]|LOWER[0]"),
    *("LOWER[-1]|LOWER[0]|LOWER[1]|LOWER[2]", "LOWER[0]|LOWER[1]|LOWER[2]|LOWER[3]", "CLASS50[-5..6]"),
]
# Fields of references: the word itself, its clause and the clauses beside it, and what has come before
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
    *("BIAS", "LOWER[-3..3]", *_pairs("LOWER", -1, 1)),
    *_affixes("LPREFIX", 4),
    *_affixes("LSUFFIX", 4),
    *("LENGTH", "SHAPE[-2..2]", "COLLAPSED[-2..2]", *_pairs("COLLAPSED", -1, 1)),
    *("IS_UPPER", "IS_TITLE", "HAS_DIGIT", "DIGITS[-1..1]"),
    *("WORD_CLASS[-2..2]", *_pairs("WORD_CLASS", -1, 1), *_triples("WORD_CLASS", -2, 2)),
    *("SPACY[-1..0]", "SPACY[-1]|WORD_CLASS[0]", "SPACY[0]|WORD_CLASS[0]"),
    *("BOS", "EOS", "POSITION10", "IN_QUOTES[-1..1]", "IN_BRACKETS[-1..1]"),
    *(f"{count}({name})" for count in COUNTS for name in class_names()),
    *_PARTS,
    # fields change behind punctuation marks
    *("B:LOWER[-1]", "B:WORD_CLASS[-1]", "B:WORD_CLASS[0]", "B:WORD_CLASS[-1]|SPACY[-1]"),
]
# How names are spelt, and the words beside them
_NAMES = [
    *_affixes("LPREFIX", 4, 2),
    *_affixes("LSUFFIX", 4, 2),
    *("SHAPE[-2..2]", "COLLAPSED[-1..1]", *_pairs("COLLAPSED", -1, 1), *_triples("COLLAPSED", -1, 1)),
    *("LOWER[-1]|COLLAPSED[0]", "COLLAPSED[0]|LOWER[1]"),
    *("IS_TITLE[0]|BOS[0]", "IS_UPPER", "HAS_DIGIT", "DIGITS"),
]
PRESETS: dict[str, list[str]] = {
    "tagging": [*_WORDS_AND_AFFIXES, "COLLAPSED[0]|BOS[0]", "HAS_DIGIT", "HAS_UPPER", "HAS_HYPHEN"],
    # asks for bare words, as punctuation_restorer shows them
    "punctuation": _PUNCTUATION,
    # the same with induced classes, which say more of rare sequences: all of these ask for a `classes` block
    "punctuation_classes": _PUNCTUATION_CLASSES,
    "punctuation_case": _PUNCTUATION_CASE,
    "speech": _SPEECH,
    # asks for a tagger before the component that has learned from lower-case words without marks
    "speech_tags": [*_SPEECH, *_class_ngrams("TAG")],
    # the beginnings of paths in a tree of clusters: of the vocabulary's table, and of a word list `clusters`
    "clusters": _cluster_window("CLUSTER{}", "CLUSTER20"),
    "listed_clusters": _cluster_window("LIST(clusters,{})", "LIST(clusters)"),
    # how raw text writes words, by the lists of `crf casing`: their case, and whether marks stand beside them
    "listed_cases": ["LIST(cases)[-1..1]", "LIST(cases,1)[0]|LIST(cases,1)[1]", "LIST(cases)|LOWER[-1]"],
    "listed_marks": ["LIST(marks)[-1..2]", "LIST(marks)|LIST(marks)[1]", "LIST(marks,1)|LOWER[1]"],
    "historical": _HISTORICAL,
    # asks for a `spelling` block
    "free_spelling": [
        *_HISTORICAL,
        *("REWRITTEN[-2..2]", *_pairs("REWRITTEN", -1, 1)),
        *_affixes("RPREFIX", 4, 2),
        *_affixes("RSUFFIX", 4, 2),
    ],
    # asks for tokens as the reader of tagged references makes them
    "citations": _CITATIONS,
    # the templates of CRFsuite's chunking example
    "chunking": [
        *("ORTH[-2..2]", *_pairs("ORTH", -1, 1)),
        *("TAG[-2..2]", *_pairs("TAG", -2, 2), *_triples("TAG", -2, 2)),
        *("BOS", "EOS"),
    ],
    "ner": ["BIAS", "ORTH[-1..1]", *_WORD_WINDOW, *_NAMES],
    # new names stand beside other words than those of training: without pairs of words, more of them are found
    "entities": ["BIAS", "ORTH[-1..1]", "LOWER[-2..2]", *_NAMES],
}

"""The grammars of the thesis with their numbering terms."""

import math

import numpy as np
import pytest
from helpers.grammars import Enumeration, Listed
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy_crf.core.grammar.cyk import viterbi
from spacy_crf.core.grammar.language import parse, to_text
from spacy_crf.core.grammar.scores import ParseScores
from spacy_crf.core.grammar.thesis import LabelledUnits, first_number_scores, section_spans, succession_scores

from spacy_crf.core.grammar.binary import binarise
from spacy_crf.core.grammar.chart import NoParseError
from spacy_crf.core.grammar.numbering import readings
from spacy_crf.sections import grammars

LISTING, CODE = (grammars.read(name) for name in (grammars.THESIS, grammars.THESIS_CODE))
WORDS = {"T": "SECTION_TITLE", "x": "TEXT_BLOCK", "n": "NEWLINE"}
# as it is printed: a run is bracketed in any way, and weighs 0.4 or 1 at each place where it is cut
PRINTED = parse(
    """
    %start Document
    %terminals NR SECTION_TITLE TEXT_BLOCK NEWLINE
    Document -> Body
    Body -> Sections | Text Sections [0.8] | Sections Text [0.8] | Text Sections Text [0.8]
    Sections -> Sections Sections | Section | Section Text [0.9] | Text Section [0.8]
    Section -> Title Content
    Title -> NR | TitleText | NR TitleText
    TitleText -> SECTION_TITLE | NEWLINE TitleText [0.99]
    Content -> Text | Sections | Content Content
    Text -> TEXT_BLOCK | NEWLINE | Text Text
    """
)


def units(text: str) -> LabelledUnits:
    """A document from words: T a title, x text, n an empty line, anything else a numbering."""
    words = text.split()
    return LabelledUnits(
        [WORDS.get(word, "NR") for word in words], [() if word in WORDS else readings(word) for word in words], "Doc 3"
    )


@pytest.mark.parametrize("grammar", [LISTING, CODE])
def test_rules_of_the_library_come_back_from_text(grammar) -> None:
    assert parse(to_text(grammar, "log")) == grammar
    assert grammar.terminals == ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")


def test_the_grammar_of_the_code_is_a_pcfg() -> None:
    for symbol in CODE.nonterminals:
        weights = [math.exp(rule.log_weight) for rule in CODE.rules if rule.parent == symbol]
        assert sum(weights) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("x 1. T x n 2. T x", [(1, 5), (5, 8)]),
        ("1. T x 2. T x 2.1 x 2.2 x 3. T x", [(0, 3), (3, 10), (6, 8), (8, 10), (10, 13)]),
        ("1. x 2. x 3.1 x 3.2 x", [(0, 2), (2, 8), (4, 6), (6, 8)]),  # its known error: 3.1 is hung below 2
        ("x n x", []),
        ("", []),
        ("T x", [(0, 2)]),
    ],
)
def test_sections_as_the_thesis_parses_them(text: str, spans: list[tuple[int, int]]) -> None:
    assert section_spans(binarise(LISTING), units(text)) == spans


def test_sections_by_the_grammar_of_the_code() -> None:
    assert section_spans(binarise(CODE), units("x 1. T x 2. T x")) == [(1, 4), (4, 7)]
    assert section_spans(binarise(CODE), units("x n")) == []


def test_a_heading_at_the_end_has_no_tree_in_the_listing() -> None:
    with pytest.raises(NoParseError, match="Doc 3"):
        section_spans(binarise(LISTING), units("1. x 2."))
    assert section_spans(binarise(CODE), units("1. x 2.")) == [(0, 2), (2, 3)]


def first_heading(tree: tuple, labelled: LabelledUnits) -> int:
    _, start, end, _ = tree
    return next(place for place in range(start, end) if labelled.labels[place] in ("NR", "SECTION_TITLE"))


def last_section(tree: tuple) -> tuple:
    """The last section of a run, by going down the tree."""
    label, _, _, children = tree
    if label == "Section":
        return tree
    return last_section([child for child in children if child[0] in ("Sections", "Section")][-1])


def printed_terms(listed: Listed, labelled: LabelledUnits) -> float:
    """The terms of the listing, from a tree."""
    total, waiting = 0.0, [listed.tree]
    while waiting:
        label, _, _, children = waiting.pop()
        waiting += children
        if label == "Sections" and len(children) == 2 and {child[0] for child in children} == {"Sections"}:
            left, right = (first_heading(tree, labelled) for tree in (last_section(children[0]), children[1]))
            before, after = labelled.readings[left], labelled.readings[right]
            follows = any(
                a.family == b.family and a.values[:-1] == b.values[:-1] and b.values[-1] - a.values[-1] == 1
                for a in before
                for b in after
            )
            total += 0.0 if follows or (not before and not after) else math.log(0.4)
    return total


@given(st.lists(st.sampled_from(["1.", "2.", "3.", "1.1", "T", "x"]), min_size=1, max_size=6))
@settings(max_examples=40)
def test_runs_that_branch_to_the_right_have_the_weight_of_the_listing(words: list[str]) -> None:
    labelled = units(" ".join(words))
    scores = ParseScores.from_labels(PRINTED, labelled.labels)
    trees = Enumeration(PRINTED, scores, most=6).ranked
    if not trees:
        with pytest.raises(NoParseError):
            viterbi(binarise(LISTING), ParseScores.from_labels(LISTING, labelled.labels))
        return
    best = max(listed.score + printed_terms(listed, labelled) for listed in trees)
    spans = {"Followed": succession_scores(labelled)}
    found = viterbi(binarise(LISTING), ParseScores.from_labels(LISTING, labelled.labels, spans))
    assert found.score == pytest.approx(best)


def test_the_terms_look_at_the_first_headings() -> None:
    labelled = units("x 1. x 2. x T 4. x")
    table = np.exp(succession_scores(labelled))
    assert table[0, 1] == table[0, 2] == pytest.approx(1.0)  # 1. before 2.
    assert table[3, 4] == pytest.approx(0.4)  # 2. before a title
    assert table[0, 5] == pytest.approx(0.4)  # 1. before 4.
    begins = np.exp(first_number_scores(labelled))
    assert begins[0] == pytest.approx(np.ones(8))  # 1. is a first number
    assert begins[2] == pytest.approx(np.full(8, 0.4))  # 2. is none
    assert begins[5] == pytest.approx(np.ones(8))  # a title without a number

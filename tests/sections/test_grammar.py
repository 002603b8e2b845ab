"""Grammars as parsers of sections: those of the thesis with their numbering terms, and what is learned."""

import math
from pathlib import Path

import numpy as np
import pytest
from helpers.grammars import Enumeration, Listed
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.arrays import Bools
from spacy_crf.core.grammar.chart import NoParseError
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.numbering import Reading, readings
from spacy_crf.core.sections.headings import HeadingLabels, ParserInput
from spacy_crf.core.sections.learn import GoldSection, TreeExample
from spacy_crf.sections.grammar import (
    MAX_UNITS,
    GrammarParser,
    first_headings,
    first_numbers,
    known_grammars,
    read_grammar,
    succession,
)
from spacy_crf.sections.parsing import LabelRoles

LISTING, CODE = read_grammar("thesis"), read_grammar("thesis_code")
ROLES = LabelRoles.parse("test", {})
WORDS = {"T": 1, "x": 2, "n": 3}
# as it is printed: a run is bracketed in any way, and weighs 0.4 or 1 at each place where it is cut
PRINTED = Grammar.from_text(
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


def document(text: str, sure: float = 1.0) -> ParserInput:
    """A document from words: T a title, x text, n an empty line, anything else a numbering.

    sure (float): probability of these labels.
    """
    words = text.split()
    roles = [WORDS.get(word, 0) for word in words]
    scores = np.full((len(words), 4), (1 - sure) / 3)
    scores[np.arange(len(words)), roles] = sure
    with np.errstate(divide="ignore"):
        logs = np.log(scores)
    numbers = [() if word in WORDS else readings(word) for word in words]
    zeros = np.zeros(len(words), dtype=np.intp)
    blank = np.array([role == 3 for role in roles], dtype=np.bool_)
    return ParserInput(logs, numbers, zeros, zeros > 0, blank, HeadingLabels(0, 1), "Doc 3")


def parser(source: str | Path = "thesis") -> GrammarParser:
    return GrammarParser("test", str(source), ROLES)


def spans(parser: GrammarParser, text: str) -> list[tuple[int, int]]:
    return [(section.start, section.end) for section in parser.parse(document(text)).sections]


def terms(text: str) -> tuple[list[str], Bools, Bools]:
    """Labels of a document, and where its sections follow each other and begin with a first number."""
    words = text.split()
    names = ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")
    numbers: list[tuple[Reading, ...]] = [() if word in WORDS else readings(word) for word in words]
    headings = first_headings(np.array([WORDS.get(word, 0) < 2 for word in words], dtype=np.bool_))
    found = (term(headings, [*numbers, ()]) for term in (succession, first_numbers))
    return [names[WORDS.get(word, 0)] for word in words], *found


# -- the grammars ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", known_grammars())
def test_grammars_are_read_by_name(name: str) -> None:
    assert read_grammar(name).start == "Document"


def test_a_file_is_read_and_its_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "own.grammar"
    path.write_text("\ufeff%start A\n%terminals é\nA -> é\n", encoding="utf8")
    assert read_grammar(path).terminals == ("é",)
    path.write_text("%start A\nA -> b\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"CRF942.*own\.grammar, line 2.*'b'"):
        read_grammar(str(path))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00A")
    for source in ("other", tmp_path / "binary", tmp_path):
        with pytest.raises(ValueError, match=r"CRF950.*grammar.*thesis, thesis_code"):
            read_grammar(source)


@pytest.mark.parametrize("grammar", [LISTING, CODE])
def test_rules_of_the_library_come_back_from_text(grammar: Grammar) -> None:
    assert Grammar.from_text(grammar.to_text("log")) == grammar
    assert grammar.terminals == ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")


def test_the_grammar_of_the_code_is_a_pcfg() -> None:
    for symbol in CODE.nonterminals:
        weights = [math.exp(rule.log_weight) for rule in CODE.rules if rule.parent == symbol]
        assert sum(weights) == pytest.approx(1)


# -- sections ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x 1. T x n 2. T x", [(1, 5), (5, 8)]),
        ("1. T x 2. T x 2.1 x 2.2 x 3. T x", [(0, 3), (3, 10), (6, 8), (8, 10), (10, 13)]),
        ("1. x 2. x 3.1 x 3.2 x", [(0, 2), (2, 8), (4, 6), (6, 8)]),  # its known error: 3.1 is hung below 2
        ("x n x", []),
        ("", []),
        ("T x", [(0, 2)]),
    ],
)
def test_sections_as_the_thesis_parses_them(text: str, expected: list[tuple[int, int]]) -> None:
    assert spans(parser(), text) == expected


def test_sections_by_the_grammar_of_the_code() -> None:
    assert spans(parser("thesis_code"), "x 1. T x 2. T x") == [(1, 4), (4, 7)]
    assert spans(parser("thesis_code"), "x n") == []


def test_a_heading_at_the_end_has_no_tree_in_the_listing() -> None:
    with pytest.warns(UserWarning, match="CRFW966.*Doc 3.*CRF947"):
        assert spans(parser(), "1. x 2.") == []
    assert spans(parser("thesis_code"), "1. x 2.") == [(0, 2), (2, 3)]


def test_sections_know_their_headings_and_the_sections_around() -> None:
    found = parser().parse(document("x 1. T x 1.1 x 2. x"))
    assert [(section.level, section.parent, section.heading) for section in found.sections] == [
        *[(1, -1, (1, 2)), (2, 0, (4,)), (1, -1, (6,))]
    ]
    assert [str(section.reading) for section in found.sections] == ["1.", "1.1", "2."]
    assert [section.titled for section in found.sections] == [True, False, False]
    assert found.exact and found.dropped == 0
    assert all(0 < section.probability <= 1 for section in found.sections)


def test_probabilities_are_those_of_the_grammar() -> None:
    labels, follows, _ = terms("1. x 1.1 x")
    tables = {"Followed": np.log(0.4 + 0.6 * follows)}
    listing = Enumeration(LISTING, LISTING.scores_of(labels, tables), most=6)
    for section in parser().parse(document("1. x 1.1 x")).sections:
        node = ("Section", section.start, section.end)
        expected = listing.probability(lambda tree: node in tree.nodes())  # noqa: B023
        assert section.probability == pytest.approx(expected, abs=1e-4)


def test_labels_are_decided_with_the_tree() -> None:
    # what is perhaps a heading at the end is text, as a section needs content
    found = parser().parse(document("1. x 2. x 3.", sure=0.7))
    assert found.labels.tolist() == [0, 2, 0, 2, 2]
    assert [(section.start, section.end) for section in found.sections] == [(0, 2), (2, 5)]


def test_without_a_terminal_for_blank_lines_they_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "own.grammar"
    path.write_text(
        "%start Doc\n%terminals NR SECTION_TITLE TEXT_BLOCK\nDoc -> Section | Section Doc\n"
        "Section -> NR SECTION_TITLE TEXT_BLOCK | NR TEXT_BLOCK\n"
    )
    found = parser(path).parse(document("n 1. n T x n 2. x n"))
    assert [(section.start, section.end, section.heading) for section in found.sections] == [
        *[(1, 6, (1, 3)), (6, 9, (6,))]
    ]
    assert found.labels.tolist() == [3, 0, 3, 1, 2, 3, 0, 2, 3]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("%start Doc\n%terminals NR\nDoc -> NR\n", "no symbol is called Section"),
        ("%start Section\n%terminals WORD\nSection -> WORD\n", "terminal 'WORD' is no label.*NR"),
    ],
)
def test_a_grammar_that_cannot_parse_sections_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "own.grammar").write_text(text)
    with pytest.raises(ValueError, match=f"CRF960.*'test'.*{problem}"):
        parser(tmp_path / "own.grammar").parse(document("1. x"))


def test_long_documents_are_refused() -> None:
    text = "1. " + "x " * MAX_UNITS
    with pytest.raises(ValueError, match=f"CRF959.*Doc 3.*{MAX_UNITS + 1} units, more than the {MAX_UNITS}"):
        parser().parse(document(text))


# -- numbering terms ---------------------------------------------------------------------------------------------


def first_heading(tree: tuple, labels: list[str]) -> int:
    _, start, end, _ = tree
    return next(place for place in range(start, end) if labels[place] in ("NR", "SECTION_TITLE"))


def last_section(tree: tuple) -> tuple:
    """The last section of a run, by going down the tree."""
    label, _, _, children = tree
    if label == "Section":
        return tree
    return last_section([child for child in children if child[0] in ("Sections", "Section")][-1])


def printed_terms(listed: Listed, labels: list[str], numbers: list[tuple[Reading, ...]]) -> float:
    """The terms of the listing, from a tree."""
    total, waiting = 0.0, [listed.tree]
    while waiting:
        label, _, _, children = waiting.pop()
        waiting += children
        if label == "Sections" and len(children) == 2 and {child[0] for child in children} == {"Sections"}:
            left, right = (first_heading(tree, labels) for tree in (last_section(children[0]), children[1]))
            before, after = numbers[left], numbers[right]
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
    labels, follows, _ = terms(" ".join(words))
    numbers: list[tuple[Reading, ...]] = [() if word in WORDS else readings(word) for word in words]
    trees = Enumeration(PRINTED, PRINTED.scores_of(labels), most=6).ranked
    if not trees:
        with pytest.raises(NoParseError):
            LISTING.parse(LISTING.scores_of(labels))
        return
    best = max(listed.score + printed_terms(listed, labels, numbers) for listed in trees)
    tables = {"Followed": np.log(0.4 + 0.6 * follows)}
    found = LISTING.parse(LISTING.scores_of(labels, tables))
    assert found.score == pytest.approx(best)


def test_the_terms_look_at_the_first_headings() -> None:
    _, follows, begins = terms("x 1. x 2. x T 4. x")
    assert follows[0, 1] and follows[0, 2]  # 1. before 2.
    assert not follows[3, 4]  # 2. before a title
    assert not follows[0, 5]  # 1. before 4.
    assert begins[0].all()  # 1. is a first number
    assert not begins[2].any()  # 2. is none
    assert begins[5].all()  # a title without a number


# -- learning ----------------------------------------------------------------------------------------------------


def example(text: str, *sections: GoldSection) -> TreeExample:
    roles = np.array([WORDS.get(word, 0) for word in text.split()], dtype=np.intp)
    return TreeExample(document(text, sure=0.97), sections, roles)


# titles without numbers stand beside numbers: the listing hangs them below these
TEXT = "1. x T x 2. x T x"
GOLD = tuple(GoldSection(1, (unit,)) for unit in (0, 2, 4, 6))


def test_weights_are_learned_from_trees() -> None:
    right = [(0, 2), (2, 4), (4, 6), (6, 8)]
    own = parser()
    assert spans(own, TEXT) != right
    own.learn([example(TEXT, *GOLD)], 0.01)
    assert spans(own, TEXT) == right
    own.reset()
    assert spans(own, TEXT) != right


def test_weights_stay_near_those_that_are_written() -> None:
    own = parser()
    own.learn([example(TEXT, *GOLD)], 1e6)
    assert own.model.weighted.log_weights == pytest.approx(LISTING.log_weights, abs=1e-3)


def test_loose_headings_stand_anywhere_below_and_implied_sections_are_passed_over() -> None:
    own = parser()
    own.can_learn(example("1. x a. x 2. x", GoldSection(1, (0,)), GoldSection(2, (2,), True), GoldSection(1, (4,))))
    implied = GoldSection(1, (0,)), GoldSection(1, ()), GoldSection(2, (2,)), GoldSection(2, (4,))
    own.can_learn(example("1. x 3.1 x 3.2 x", *implied))


def test_a_tree_that_the_grammar_cannot_have_is_refused() -> None:
    with pytest.raises(NoParseError, match="CRF947.*Doc 3"):
        parser().can_learn(example("1. x 2.", GoldSection(1, (0,)), GoldSection(1, (2,))))
    with pytest.raises(NoParseError):
        parser().can_learn(example("1. x 2. x", GoldSection(1, (0,))))


def test_what_was_learned_is_stored_with_the_grammar(tmp_path: Path) -> None:
    path = tmp_path / "own.grammar"
    path.write_text(LISTING.to_text())
    own = parser(path)
    own.learn([example(TEXT, *GOLD)], 0.01)
    path.unlink()
    again = parser(path)
    again.from_data(own.to_data())
    assert again.parse(document(TEXT)).score == pytest.approx(own.parse(document(TEXT)).score)
    assert spans(again, TEXT) == spans(own, TEXT)
    assert again.to_data()["source"] == str(path)
    other = parser()
    other.from_data(own.to_data())  # the config has another grammar
    assert other.to_data() == parser().to_data()

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.grammar.numbering import Reading, is_first, is_prefix, readings, step
from spacy_crf.core.grammar.numerals import KEYWORDS, RANKS, letter_value, numeral, numerals, roman_numeral, roman_value


@pytest.mark.parametrize(
    ("text", "family", "form", "values"),
    [
        ("3", "1", "#", (3,)),
        (" 3.\n", "1", "#.", (3,)),
        ("2.1", "11", "#", (2, 1)),
        ("2.1.", "11", "#.", (2, 1)),
        ("2. 1.", "11", "#.", (2, 1)),
        ("2.1.3 )", "111", "#)", (2, 1, 3)),
        ("(b)", "a", "(#)", (2,)),
        ("[3]", "1", "[#]", (3,)),
        ("B.", "A", "#.", (2,)),
        ("XIV.", "I", "#.", (14,)),
        ("§ 4", "1", "§#", (4,)),
        ("§4.2", "11", "§#", (4, 2)),
        ("Artikel 3", "1", "artikel #", (3,)),
        ("ARTIKEL 3a", "1+a", "artikel #", (3, 1)),
        ("Art. 3:", "1", "article #:", (3,)),
        ("Artikel 6:162", "1:1", "artikel #", (6, 162)),
        ("Chapter IV", "I", "chapter #", (4,)),
        ("Annex", "1", "annex #", (1,)),
        ("ANNEX 2", "1", "annex #", (2,)),
        ("Appendix:", "1", "appendix #:", (1,)),
        ("SCHEDULE", "1", "schedule #", (1,)),
        ("Chapter IIIa:", "I+a", "chapter #:", (3, 1)),
        ("Deel twee", "1", "deel #", (2,)),
        ("Disposición final segunda.", "1", "disposición final #.", (2,)),
        ("DISPOSICION ADICIONAL DECIMOTERCERA", "1", "disposición adicional #", (13,)),
        ("Disposición derogatoria.", "1", "disposición derogatoria #.", (1,)),
        ("1.b", "1a", "#", (1, 2)),
        ("3b.", "1+a", "#.", (3, 2)),
        ("A.1", "A1", "#", (1, 1)),
        ("IV-2", "I-1", "#", (4, 2)),
        ("1°", "1", "#°", (1,)),
        ("2º.", "1", "#°.", (2,)),
        ("2de", "1", "#e", (2,)),
        ("0.", "1", "#.", (0,)),
        ("第十二条", "一", "条 #", (12,)),
        ("第3章:", "1", "章 #:", (3,)),
        ("二十、", "一", "#、", (20,)),
        ("（三）", "一", "(#)", (3,)),
        ("1/", "1", "#/", (1,)),
        ("{2}", "1", "{#}", (2,)),
        ("Tit. 2", "1", "title #", (2,)),
    ],
)
def test_numberings_with_one_reading(text: str, family: str, form: str, values: tuple[int, ...]) -> None:
    assert readings(text) == (Reading(family, form, values),)


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        ("i.", {("i", (1,)), ("a", (9,))}),
        ("v)", {("i", (5,)), ("a", (22,))}),
        ("x", {("i", (10,)), ("a", (24,))}),
        ("(c)", {("i", (100,)), ("a", (3,))}),
        ("d", {("i", (500,)), ("a", (4,))}),
        ("ii", {("i", (2,)), ("a", (35,))}),
        ("1.i", {("1i", (1, 1)), ("1a", (1, 9))}),
        ("1e", {("1+a", (1, 5)), ("1", (1,))}),
        ("Part One", {("1", (1,)), ("I", (1,))}),
        ("II. Abschnitt", {("I", (2,)), ("A", (35,))}),
        ("2. Kapitel:", {("1", (2,))}),
        ("PART C", {("I", (100,)), ("A", (3,))}),
        ("3.0", {("1", (3,)), ("11", (3, 0))}),
        ("3.2.0.", {("11", (3, 2)), ("111", (3, 2, 0))}),
    ],
)
def test_an_ambiguous_numbering_has_all_its_readings(text: str, meanings: set[tuple[str, tuple[int, ...]]]) -> None:
    assert {(reading.family, reading.values) for reading in readings(text)} == meanings


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-",
        "*",
        "Summary.",
        "De",
        "mix",
        "di",
        "iiii",
        "IC",
        "iV",
        "A.B.C.",
        "201300748/",
        "Figure 3",
        "x y",
        "1" * 99,
        "A. de Vries",
        "Artikel",
        "Artikel drie hoog",
        "3 (drie)",
        "€ 5",
        "a\nb",
    ],
)
def test_what_is_no_numbering_has_no_reading(text: str) -> None:
    assert readings(text) == ()


@given(st.integers(1, 3999))
def test_roman_numerals_round_trip(value: int) -> None:
    assert roman_value(roman_numeral(value)) == value


@given(st.sampled_from("1IiAa"), st.integers(1, 52))
def test_a_numeral_is_read_as_what_it_was_written_for(kind: str, value: int) -> None:
    assert (kind, value) in numerals(numeral(kind, value))


def test_letters_go_on_with_double_letters_after_z() -> None:
    assert [letter_value(text) for text in ("A", "Z", "AA", "ZZ", "AB", "AAA")] == [1, 26, 27, 52, None, None]


@given(
    st.lists(st.tuples(st.sampled_from("11111IiAa"), st.integers(1, 26)), min_size=1, max_size=5),
    st.sampled_from(["#", "#.", "(#)", "#)", "artikel #", "chapter #:", "§#"]),
)
def test_what_a_reading_prints_is_read_as_that_reading(parts: list[tuple[str, int]], form: str) -> None:
    family = "".join(kind for kind, _ in parts)
    reading = Reading(family, form, tuple(value for _, value in parts))
    if sum(kind != "1" for kind in family) <= 2:
        assert reading in readings(str(reading))


@given(st.text(max_size=80))
def test_any_text_is_read_without_failing(text: str) -> None:
    for reading in readings(text):
        assert len(reading.kinds) == len(reading.values) > 0
        assert "#" in reading.format


def one(text: str) -> Reading:
    return readings(text)[0]


def test_steps_of_a_sequence() -> None:
    assert step(one("3.1"), one("3.2.")) == 1
    assert step(one("3.1"), one("3.4")) == 3
    assert step(one("3."), one("1.")) == -2
    assert step(one("3.1"), one("4.1")) is None
    assert step(one("3"), one("3.1")) is None
    assert step(one("Artikel 1"), one("Feit 2")) is None
    assert step(one("Artikel 1:"), one("Artikel 2")) == 1


def test_letters_are_inserted_into_a_sequence() -> None:
    sequence = ["Artikel 3", "Artikel 3a", "Artikel 3b", "Artikel 4"]
    assert [step(one(before), one(after)) for before, after in pairwise(sequence)] == [1, 1, 1]
    assert str(one("3a.")) == "3a." and str(one("3.a")) == "3.a"
    assert one("3a").parent is None and not is_prefix(one("3"), one("3a")) and is_prefix(one("3"), one("3.a"))


@pytest.mark.parametrize(
    "text, values",
    [
        *(("Artículo 1.º", (1,)), ("Artigo 12.º", (12,)), ("Sección 2.ª", (2,)), ("TITRE Ier", (1,))),
        *(("Chapitre Ière", (1,)), ("Section 1re", (1,)), ("Section 1ère", (1,)), ("Livre 2eme", (2,)), ("1-", (1,))),
        *(("Art. 2-bis.", (2, 1)), ("Artikel 3:15a", (3, 15, 1)), ("Article R12-4", (18, 12, 4))),
        *(("Article L. 121-3", (50, 121, 3)), ("Article L.\u00a0121-3", (50, 121, 3))),
    ],
)
def test_ordinal_signs_insertions_and_codes(text: str, values: tuple[int, ...]) -> None:
    assert one(text).values == values


def test_first_prefix_and_parent() -> None:
    assert all(is_first(one(text)) for text in ("1", "a", "i", "3.1", "0", "Artikel 1"))
    assert not is_first(one("2.")) and not is_first(one("3.2"))
    assert (
        is_prefix(one("3."), one("3.1"))
        and is_prefix(one("Chapter 3"), one("3.1.a"))
        and is_prefix(one("A"), one("A.1"))
    )
    assert is_prefix(one("Article III"), one("Section 3.1")) and not is_prefix(one("Article III"), one("4.1"))
    assert (
        not is_prefix(one("3."), one("4.1"))
        and not is_prefix(one("3.1"), one("3.1"))
        and not is_prefix(one("I"), one("1.1"))
    )
    assert one("3.1.").parent == one("3.") and one("IV-2").parent == one("IV") and one("3.").parent is None


def test_keywords_are_lower_case_and_have_ranks() -> None:
    assert all(word == word.lower() and KEYWORDS[word] in RANKS for word in KEYWORDS)
    assert one("Part I").rank < one("Chapter 2").rank < one("Article 3").rank  # type: ignore[operator]
    assert one("§ 3").rank is not None and one("3.").rank is None


@pytest.mark.parametrize("value", range(1, 100))
def test_numerals_of_east_asia(value: int) -> None:
    assert numerals(numeral("一", value)) == [("一", value)]


@pytest.mark.parametrize("text", ["中", "十十", "一二", "二十十", "百"])
def test_what_is_no_numeral_of_east_asia(text: str) -> None:
    assert numerals(text) == [] and readings(f"第{text}章") == ()

"""Attributes of structure, found a second time by going over the tokens one by one."""

import itertools
import re

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_crf.features.columns import ColumnReader
from spacy_crf.features.presets import PRESETS
from spacy_crf.features.resources import Resources
from spacy_crf.features.sequence_attributes import COUNT_LIMIT, LENGTH_LIMIT, NUMBER_LIMIT, OPENING, PLACE_LIMIT
from spacy_crf.features.templates import Attribute, parse_attribute, parse_templates
from spacy_crf.features.word_classes import (
    PART_ATTRIBUTES,
    PARTS,
    class_names,
    classify,
    load_abbreviations,
    word_classes,
)

VOCAB = spacy.blank("xx").vocab
WORDS = ["Lee", "J", "in", "Proc", "1990", "1991", "May", "press", "12", *".,;:?!()[]\"“”`'-"]
TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
QUOTED, BRACKETED = {"“": "”", '"': '"'}, {"(": ")", "[": "]"}

tokens = st.lists(st.tuples(st.sampled_from(WORDS), st.booleans()), max_size=12)
documents = st.lists(tokens, min_size=1, max_size=3)


def make_doc(text: str) -> Doc:
    """The tokens of the reader of references."""
    found = list(TOKEN.finditer(text))
    spaces = [text[token.end() : token.end() + 1] == " " for token in found]
    return Doc(VOCAB, words=[token[0] for token in found], spaces=spaces)


def values(docs: list[Doc], spelling: str) -> list[list[str]]:
    """Values of an attribute for the tokens of each Doc."""
    attribute = parse_attribute(spelling)
    column = ColumnReader([attribute], Resources(), "doc").read(docs, VOCAB).by_attribute[attribute]
    strings = VOCAB.strings if column.strings is None else column.strings
    found = iter([strings[key] if key else "" for key in column.hashes.tolist()])
    return [list(itertools.islice(found, len(doc))) for doc in docs]


def of(text: str, spelling: str) -> str:
    """The values for a text, a space between two of them and "." for none."""
    return " ".join(value or "." for value in values([make_doc(text)], spelling)[0])


# -- classes of words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, name",
    [
        ("1994", "year"),
        ("1994a", "year"),
        ("3094", "number4"),
        ("7", "number1"),
        ("12345", "number"),
        ("5th", "ordinal"),
        ("B7", "mixed"),
        ("O'Lee", "mixed"),
        ("J", "initial"),
        ("Proceedings", "proceedings"),
        ("PRESS", "publisher"),
        ("MA", "postal"),
        ("Ma", "capitalised"),
        ("Å", "initial"),
        ("Lee", "capitalised"),
        ("ACM", "upper"),
        ("rope", "lower"),
        (",", ","),
        ("--", "--"),
    ],
)
def test_classes(text: str, name: str) -> None:
    assert classify(text) == name
    assert (name in word_classes()) == any(map(str.isalnum, text))


def test_sets_of_classes_fit_into_the_bits_of_an_integer() -> None:
    assert len(class_names()) <= 62
    assert "abbreviation" not in class_names() and "proc" in load_abbreviations()


# -- examples --------------------------------------------------------------------------------------------------

TEXT = "J. Lee, B. Om. On ropes? Proc. of May, pp. 3-9."


def test_clauses_end_at_punctuation_but_not_at_initials_and_abbreviations() -> None:
    assert of(TEXT, "CLAUSE(number)") == "0 0 0 0 1 1 1 1 2 2 2 3 3 3 3 3 4 4 4 4 4 4"
    assert of(TEXT, "SENTENCE(number)") == "0 0 0 0 0 0 0 0 1 1 1 2 2 2 2 2 2 2 2 2 2 2"


def test_what_is_known_of_a_clause() -> None:
    text = "Lee, 12(3): pp. 4-9"
    assert of(text, "CLAUSE(first)") == "lee lee 12 12 12 12 12 pp pp pp pp pp"
    assert of(text, "CLAUSE(last,-1)") == ". . lee lee lee lee lee 3 3 3 3 3"
    assert of(text, "CLAUSE(opening,+1)").split()[:3] == ["number2+(+number1+)"] * 2 + ["page+.+number1+-"]
    assert of(text, "CLAUSE(has page)") == ". . . . . . . 1 1 1 1 1"
    assert of(text, "CLAUSE(has page,+1)") == ". . 1 1 1 1 1 . . . . ."
    assert of(text, "CLAUSE(place)") == "0 1 0 1 2 3 3 0 1 2 3 3"
    assert of("In May 1990, x", "CLAUSE(classes)") == "month+year month+year month+year month+year none"


def test_quotes_and_brackets() -> None:
    assert of('A "b c", d', "IN_QUOTES") == ". 1 1 1 1 . ."
    assert of("A “b” ”c“ d", "IN_QUOTES") == ". 1 1 1 . . 1 1"
    assert of("A ``b'' c's", "IN_QUOTES") == ". 1 1 1 1 . . . ."
    assert of("A) (b [c] d) e", "IN_BRACKETS") == ". . 1 1 1 1 1 1 1 ."


def test_counts_of_what_comes_before_and_after() -> None:
    assert of("1990 x 1991 y", "BEFORE(year)") == ". 1 1 2"
    assert of("1990 x 1991 y", "AFTER(year)") == "1 1 . ."
    assert of("1990 " * 6, "AFTER(year)") == "3 3 3 2 1 ."


def test_nothing_crosses_documents() -> None:
    docs = [make_doc(text) for text in ('( " 1990, a', "b 1991", "")]
    assert values(docs, "IN_BRACKETS")[1] == values(docs, "IN_QUOTES")[1] == ["", ""]
    assert values(docs, "BEFORE(year)")[1] == ["", ""]
    assert values(docs, "AFTER(year)")[0][-1] == ""
    assert values(docs, "CLAUSE(first,+1)")[0][-1] == ""
    assert values(docs, "CLAUSE(last,-1)")[1] == ["", ""]


# -- the same in plain Python ------------------------------------------------------------------------------------


def build(rows: list[list[tuple[str, bool]]]) -> list[Doc]:
    return [Doc(VOCAB, words=[word for word, _ in row], spaces=[space for _, space in row]) for row in rows]


def ends(doc: Doc, part: str) -> list[bool]:
    found = []
    for token in doc:
        is_last = token.i == len(doc) - 1
        closes = bool(token.whitespace_) or is_last
        before = doc[token.i - 1].text if token.i else ""
        after = "" if is_last else doc[token.i + 1].text
        is_short = before.lower() in load_abbreviations() or classify(before) == "initial"
        stops = token.text == "." and closes and not is_short and not (after.islower() or after in [*",;:)]"])
        period = token.text in "?!" or stops
        found.append(period or (part == "CLAUSE" and token.text in ",;:" and closes))
    return found


def cut(doc: Doc, part: str) -> list[list[int]]:
    """Tokens of each part."""
    parts: list[list[int]] = [[]]
    for token, is_end in zip(range(len(doc)), ends(doc, part)):
        parts[-1].append(token)
        if is_end:
            parts.append([])
    return [own for own in parts if own]


def describe(doc: Doc, parts: list[list[int]], number: int, what: str) -> str:
    own = parts[number]
    words = [doc[i].lower_ for i in own if doc[i].text.isalnum()]
    classes = [classify(doc[i].text) for i in own]
    listed = sorted(set(classes) & set(class_names()))
    if what.startswith("has "):
        return "1" if what[4:] in listed else ""
    return {
        "number": str(min(number, NUMBER_LIMIT)),
        "back": str(min(len(parts) - 1 - number, NUMBER_LIMIT)),
        "length": str(min(len(words), LENGTH_LIMIT)),
        "first": (words or [""])[0],
        "last": (words or [""])[-1],
        "classes": "+".join(listed) or "none",
        "opening": "+".join(classes[:OPENING]),
    }[what]


@given(documents, st.sampled_from(PARTS), st.sampled_from([*PART_ATTRIBUTES, "has year", "has publisher"]), st.data())
def test_parts(rows: list[list[tuple[str, bool]]], part: str, what: str, data: st.DataObject) -> None:
    offset = 0 if what == "place" else data.draw(st.integers(-2, 2))
    docs = build(rows)
    expected = []
    for doc in docs:
        parts, column = cut(doc, part), []
        for number, own in enumerate(parts):
            if what == "place":
                column += [str(min(place, PLACE_LIMIT)) for place in range(len(own))]
            else:
                inside = 0 <= number + offset < len(parts)
                column += [describe(doc, parts, number + offset, what) if inside else ""] * len(own)
        expected.append(column)
    assert values(docs, str(Attribute(part, offset, what))) == expected


@given(documents, st.sampled_from(["IN_QUOTES", "IN_BRACKETS"]))
def test_inside(rows: list[list[tuple[str, bool]]], name: str) -> None:
    docs = build([[(word, space) for word, space in row if word not in "`'"] for row in rows])
    for doc, found in zip(docs, values(docs, name)):
        depth, turn = 0, False
        for token, value in zip(doc, found):
            before, text = depth, token.text
            if name == "IN_QUOTES":
                turn = not turn if text == '"' else turn
                opens, closes = text == "“" or (text == '"' and turn), text == "”" or (text == '"' and not turn)
            else:
                opens, closes = text in BRACKETED, text in BRACKETED.values()
            depth = max(0, depth + opens - closes)
            assert value == ("1" if depth or before else ""), (doc, token)


@given(documents, st.sampled_from(["year", "month"]))
def test_counts(rows: list[list[tuple[str, bool]]], name: str) -> None:
    docs = build(rows)
    for doc, before, after in zip(docs, values(docs, f"BEFORE({name})"), values(docs, f"AFTER({name})")):
        found = [each == name for each in map(classify, [token.text for token in doc])]
        for i in range(len(doc)):
            numbers = [min(sum(found[:i]), COUNT_LIMIT), min(sum(found[i + 1 :]), COUNT_LIMIT)]
            assert [before[i], after[i]] == [str(number) if number else "" for number in numbers]


# -- spelling ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling, attribute",
    [
        ("CLAUSE(first)", Attribute("CLAUSE", 0, "first")),
        ("CLAUSE( first , -1 )", Attribute("CLAUSE", -1, "first")),
        ("SENTENCE(has year,+2)", Attribute("SENTENCE", 2, "has year")),
        ("BEFORE(month)", Attribute("BEFORE", 0, "month")),
        ("IN_QUOTES", Attribute("IN_QUOTES")),
    ],
)
def test_spelling(spelling: str, attribute: Attribute) -> None:
    assert parse_attribute(spelling) == attribute == parse_attribute(str(attribute))
    assert attribute.is_of_sequence and not attribute.is_lexical


@pytest.mark.parametrize(
    "spelling, code",
    [
        ("CLAUSE(frist)", "CRF330.*'frist'.*first"),
        ("BEFORE(yaer)", "CRF331.*'yaer'.*year"),
        ("CLAUSE(has yaer)", "CRF331"),
        ("BEFORE(year,1)", "CRF332"),
        ("SENTENCE(place,1)", "CRF332"),
        ("CLAUSE", "CRF301"),
    ],
)
def test_misspelt_attributes(spelling: str, code: str) -> None:
    with pytest.raises(ValueError, match=code):
        parse_attribute(spelling)


def test_the_preset_for_citations_can_be_read() -> None:
    templates = parse_templates(["@citations"])
    assert len(templates) == len({str(template) for template in templates})
    assert any(template.is_edge for template in templates)
    assert set(map(str, parse_templates(PRESETS["citations"]))) == set(map(str, templates))

"""Features of units, each by an example that a reader can check."""

from collections.abc import Callable
from itertools import product

import pytest

from spacy_crf.sections.features.reader import FEATURES

Feature = Callable[..., list[str]]
LETTER = '2.1 The facts\n\nOn 3 June 2019 the buyer, [n], wrote:\n"I will pay"\n\n\nDECISION'


@pytest.mark.parametrize(
    "name, values",
    [
        ("kind", ["number", "text", "newline", "text", "quote", "text", "newline", "newline", "text"]),
        ("kind before", ["", "number", "text", "text", "text", "quote", "text", "text", "text"]),
        ("blanks before", ["", "<", "<", "1", "<", "<", "<", "1", "2"]),
        ("is first", ["1", "", "", "", "", "", "", "", ""]),
        ("is last", ["", "", "", "", "", "", "", "", "1"]),
        ("words", ["<", "2", "<", "6", "<", "3", "<", "<", "1"]),
        ("opens", ["digit", "upper", "", "upper", "other", "upper", "", "", "upper"]),
        ("ends", ["digit", "letter", "", ":", '"', '"', "", "", "letter"]),
        ("case", ["", "sentence", "", "mixed", "", "sentence", "", "", "upper"]),
        ("holds square", ["", "", "", "1", "", "", "", "", ""]),
        ("holds date", ["", "", "", "1", "", "", "", "", ""]),
        ("is title", ["", "1", "", "", "", "", "", "", "1"]),
        ("has verb", ["", "", "", "", "", "1", "", "", ""]),
        ("ends before", ["", "", "letter", "letter", ":", ":", '"', '"', '"']),
        ("family", ["11", "", "", "", "", "", "", "", ""]),
        ("depth", ["2", "", "", "", "", "", "", "", ""]),
        (
            "whole",
            ["0.0", "the facts", "", "on 0 june 0000 the buyer n wrote", "", "i will pay", "", "", "decision"],
        ),
        ("from start", ["", "<", "", "1", "", "1", "", "", "3"]),
    ],
)
def test_features_of_a_document(feature: Feature, name: str, values: list[str]) -> None:
    assert feature(name, LETTER) == values


def test_every_name_has_values_for_every_unit(feature: Feature) -> None:
    for name in FEATURES:
        assert len(feature(name, LETTER, "", "1. Scope\n\nAll of it")) == 9 + 0 + 4


def test_a_document_without_units_has_no_values(feature: Feature) -> None:
    for name in FEATURES:
        assert feature(name, "") == []


def test_values_are_the_same_in_any_batch(feature: Feature) -> None:
    ends = ("1. Rafts\n\n§ 2", "1. Rafts\n2.", "* ", "Notes")
    starts = ("-----\n\nScope", "(repealed)", "Scope of piers\n(see below)", "", LETTER)
    texts = [text for pair in product(ends, starts) for text in pair]
    for name in FEATURES:
        assert feature(name, *texts) == [value for text in texts for value in feature(name, text)], name


def test_formatting(feature: Feature) -> None:
    text = "Scope\nThis is all."
    assert feature("styles", text, runs=((0, 5, "bold"), (0, 5, "underline"))) == ["bold+underline", ""]
    assert feature("heading", text, runs=((0, 5, "heading2"),)) == ["heading2", ""]
    assert feature("styles before", text, runs=((0, 5, "bold"),)) == ["", "bold"]


def test_a_title_is_known_without_article_accents_capitals_and_spaces_between_letters(feature: Feature) -> None:
    titles = "DE BEOORDELING\nB E S L I S S I N G\nThe Facts.\nPréjudiciële vragen\nthe factory"
    assert feature("is title", titles) == ["1", "1", "1", "1", ""]


def test_the_setting_of_known_titles_is_found_again(feature: Feature) -> None:
    lines = ["It was cold.", "", "INTRODUCTION", "", "We met in spring.", "", "{}", "", "It stood by the river."]
    text = "\n".join(lines)
    assert feature("known alike", text.format("THE OLD MILL"))[6] == "1"
    assert feature("known alike", text.format("The old mill"))[6] == "<"
    assert feature("known alike", text.format("THE OLD MILL"))[2] == "<"  # itself is not counted

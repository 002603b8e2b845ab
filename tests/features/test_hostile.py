"""Templates and rewrite rules that would fail without a code, or take time or memory without end."""

import pytest
from helpers.fixtures import Write

from spacy_crf import CRFError
from spacy_crf.features.spelling import Rewriter, edit_distance
from spacy_crf.features.templates import MAX_OFFSET, MOST_TEMPLATES, parse_templates

DIGITS = "9" * 5000
WINDOW = f"LOWER[-{MAX_OFFSET}..{MAX_OFFSET}]"


@pytest.mark.parametrize(
    "text, code",
    [
        (f"LOWER[{DIGITS}]", "CRF304"),
        (f"LOWER[0..{'9' * 12}]", "CRF304"),
        (f"SUFFIX{'9' * 12}", "CRF301"),
        (f"LIST(brown,{'9' * 12})", "CRF301"),
        (f"CLAUSE(first,+{'9' * 12})", "CRF301"),
        ("|".join([WINDOW] * 3), "CRF333"),
        ("|".join([WINDOW] * 30), "CRF333"),
        ("A" * 1_000_000, "CRF304"),
        ("LOWER" + " " * 1_000_000 + "x[", "CRF304"),
        ("|".join(["LOWER[0]"] * 100_000), "CRF304"),
    ],
    ids=range(10),
)
def test_templates(text: str, code: str) -> None:
    with pytest.raises(CRFError) as caught:
        parse_templates([text])
    assert caught.value.code == code and len(str(caught.value)) < 3000


def test_products_up_to_the_limit() -> None:
    assert len(parse_templates([f"{WINDOW}|SHAPE[-10..10]"])) == 201 * 21 < MOST_TEMPLATES


@pytest.mark.parametrize("pattern", ["(" * 480 + ")" * 480, "a{99999999999}", "(?P<a>", "a" * 1001], ids=range(4))
def test_rules_that_are_none(write: Write, pattern: str) -> None:
    with pytest.raises(CRFError, match="CRF320|CRF322"):
        Rewriter.read(str(write("rules.tsv", f"{pattern}\tb\n")))


def test_rules_that_expand(write: Write) -> None:
    rewriter = Rewriter.read(str(write("rules.tsv", "^(.+)$\t\\1\\1\n" * 60)))
    with pytest.raises(CRFError, match=r"CRF326.*rules\.tsv.*rule 8 makes the word 'word'"):
        rewriter("word")
    assert Rewriter([("æ", "ae"), ("^(.+)$", r"\1\1")])("læt" * 1000) == "laet" * 2000


def test_long_words_are_compared_in_linear_time() -> None:
    first, second = "a" + "xy" * 20_000 + "b", "b" + "xy" * 20_000 + "a"
    assert edit_distance(first, second, 2) == 2
    assert edit_distance(first, "b" + "yx" * 20_000 + "a", 2) == 3

"""Texts of users that were errors without a code, or copied into messages without end."""

import pickle

import pytest
from helpers.fixtures import Write

from spacy_crf import CRFError, read_crfpp_templates
from spacy_crf.constraints.table import from_bytes, read_given
from spacy_crf.core.constraints.language import parse
from spacy_crf.core.sets.hierarchy import DEEPEST, tree_from_parents, tree_from_separator
from spacy_crf.lab.space import read_space
from spacy_crf.pipe.dictionary.tag_dictionary import read_table

DIGITS = "9" * 5000


def test_a_message_is_no_copy_of_its_file() -> None:
    error = CRFError("[CRF999] " + "x" * 10_000_000 + " the end.")
    assert error.code == "CRF999" and len(str(error)) < 5000 and str(error).endswith(" the end.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    "line", [f"U00:%x[{DIGITS},0]", f"U00:%x[0,{DIGITS}]", "U00:%x[0,9]", "X" * 99_999], ids=range(4)
)
def test_templates_of_crfpp(write: Write, line: str) -> None:
    with pytest.raises(CRFError, match="CRF731.*line 1"):
        read_crfpp_templates(write("template", line), ["ORTH"])


SPECS = [
    f"at_most(A, {DIGITS})",
    "at_most(A, ٣٣)",
    "at_most(A, 1) cost=" + DIGITS,
    "at_most(A, 1) cost=nan",
    'at_most("\\ud800", 1)',
    "at_most(" + "(" * 100_000,
    {"kind": ["at_most"]},
    {"kind": {}},
    {"kind": "at_most", "a": ["A"], "k": 10**400},
    {"kind": "at_most", "a": [["A"]], "k": 1},
    {"kind": "at_most", "a": ["\ud800"], "k": 1},
    {"kind": "rule", "condition": "has A", "then": "has B"},
    {},
]


@pytest.mark.parametrize("spec", SPECS, ids=range(len(SPECS)))
def test_constraints_are_refused_or_can_be_written(spec: object) -> None:
    try:
        constraint = parse(spec)  # type: ignore[arg-type]
    except CRFError as error:
        assert error.code
    else:
        assert parse(str(constraint)) == parse(constraint.to_json()) == constraint
        str(constraint).encode()


@pytest.mark.parametrize("content", ["[" * 9999, f"[{DIGITS}]", '["at_most(A, 1)", 1e999]', "{}", "NaN"], ids=range(5))
def test_constraints_in_json(content: str) -> None:
    with pytest.raises(CRFError, match="CRF440.*x.json"):
        from_bytes("ner", content.encode(), "x.json")


def test_constraints_that_are_no_text(write: Write) -> None:
    with pytest.raises(CRFError, match="CRF440.*CRF504.*line 2"):
        read_given("ner", str(write("x.txt", b"\n\xff")))


@pytest.mark.parametrize("count", ["nan", "-inf", "1e999", DIGITS, "1_0"], ids=range(5))
def test_counts_of_dictionaries(write: Write, count: str) -> None:
    with pytest.raises(CRFError, match="CRF841.*line 1"):
        read_table(write("x.tsv", f"the\tDT\t{count}"))


def test_spaces(write: Write) -> None:
    for text in (
        "a" + ".a" * 99_999 + " = 1",
        "[settings]\nx = { low = 1, high = " + DIGITS + " }",
        "a = " + "[" * 9999,
    ):
        with pytest.raises(CRFError, match="CRF631.*CRF575"):
            read_space(write("x.toml", text))


def test_tag_trees_have_a_limit() -> None:
    chain = {str(number): str(number + 1) for number in range(60_000)}
    with pytest.raises(CRFError, match="CRF829.*'0'"):
        tree_from_parents(["0"], chain)
    with pytest.raises(CRFError, match="CRF829"):
        tree_from_separator(["A" + "." * 60_000 + "B"], ".")
    short = {str(number): str(number + 1) for number in range(DEEPEST)}
    assert len(tree_from_parents(["0"], short).names) == DEEPEST + 1


def test_broad_tag_trees() -> None:
    labels = [str(number) for number in range(3000)]
    assert len(tree_from_parents(labels, dict.fromkeys(labels, "all")).names) == 3001

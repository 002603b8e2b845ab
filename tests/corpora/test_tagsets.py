import itertools
import math
from collections.abc import Iterator

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Token

from spacy_crf.annotation.gold import best_tag, write_gold_tags
from spacy_crf.corpora.tagsets import format_tags, parse_tags, read_cells, resolve_gold_tags

NAME = "tagsets_test_gold"
tags = st.text(st.characters(exclude_characters="|\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(
    lambda tag: tag == tag.strip()
)


@pytest.fixture(autouse=True)
def without_extension() -> Iterator[None]:
    yield
    if Token.has_extension(NAME):
        Token.remove_extension(NAME)


@pytest.fixture
def doc() -> Doc:
    return Doc(spacy.blank("en").vocab, words=["so", "dhe", "so", "."])


@pytest.mark.parametrize(
    "cell, expected",
    [
        ("NA", {"NA": 1}),
        ("KON|KOUS", {"KON": 0.5, "KOUS": 0.5}),
        ("A|B|C", {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3}),
        ("DDS:1|DRELS:1.0", {"DDS": 1, "DRELS": 1}),
        ("AVD:0.66|PTKG:0.33", {"AVD": 2 / 3, "PTKG": 1 / 3}),
        ("A:0.5|B:.25", {"A": 2 / 3, "B": 1 / 3}),
        ("A:0.2", {"A": 1}),
        # A rounded sum above 1 is 1 within the tolerance.
        ("A:0.3333335|B:0.666667", {"A": 0.3333335 / 1.0000005, "B": 0.666667 / 1.0000005}),
        (" A : 0.5 | B:0.5 ", {"A": 0.5, "B": 0.5}),
        (":", {":": 1}),
        (":|,", {":": 0.5, ",": 0.5}),
        ("::0.5|,:0.5", {":": 0.5, ",": 0.5}),
        ("N:pl:1", {"N:pl": 1}),
        ("_:1", {"_": 1}),
        ("$;", {"$;": 1}),
        ("_", {}),
        ("", {}),
        (" ", {}),
    ],
)
def test_parse(cell: str, expected: dict[str, float]) -> None:
    found = parse_tags(cell)
    assert found == pytest.approx(expected, abs=1e-12)
    assert list(found) == list(expected)


@pytest.mark.parametrize(
    "cell, fault",
    [
        ("A|", "empty"),
        ("|", "empty"),
        ("A||B", "empty"),
        (":0.5", "empty"),
        ("A|A", "twice"),
        ("A:0.5|A:0.5", "twice"),
        ("A:1|B", "others have none"),
        ("A:x", "'x'"),
        ("A:", "''"),
        ("A:0", "'0'"),
        ("A:-1", "'-1'"),
        ("A:nan|B:1", "'nan'"),
        ("A:inf", "'inf'"),
        ("A:2|B:2", "'2'"),
        ("A:0.7|B:0.7", "sum to 1.4"),
        ("A:1|B:0.5", "sum to 1.5"),
        ("A:0.500001|B:0.500001", "sum to 1"),
    ],
)
def test_malformed_cells_name_the_place(cell: str, fault: str) -> None:
    with pytest.raises(ValueError, match=r"CRF530\] a.tsv, line 3: .*" + fault):
        parse_tags(cell, "a.tsv, line 3")


@pytest.mark.parametrize(
    "weights, cell",
    [
        ({}, "_"),
        ({"A": 1}, "A"),
        ({"A": 0.5, "B": 0.5}, "A|B"),
        ({"A": 1, "B": 1}, "A:1|B:1"),
        ({"A": 2 / 3, "B": 1 / 3}, "A:0.666666667|B:0.333333333"),
        ({"N:pl": 1}, "N:pl:1"),
        ({"N:pl": 0.5, ":": 0.5}, "N:pl:0.5|::0.5"),
        ({":": 1}, ":"),
        ({"_": 1}, "_:1"),
        ({"_": 0.5, "A": 0.5}, "_|A"),
    ],
)
def test_format(weights: dict[str, float], cell: str) -> None:
    assert format_tags(weights) == cell
    assert parse_tags(cell) == pytest.approx(weights, abs=1e-9)


@pytest.mark.parametrize("tag", ["", "A|B", " A", "A\t", "A\nB", "A\rB"])
def test_tags_that_the_notation_cannot_hold(tag: str) -> None:
    with pytest.raises(ValueError, match="CRF531"):
        format_tags({tag: 0.5, "B": 0.5})


@pytest.mark.promise
@given(st.lists(tags, unique=True, max_size=5), st.data())
def test_what_is_written_is_read(names: list[str], data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["open", "correct", "partial"]))
    if kind == "partial":
        shares = data.draw(st.lists(st.floats(1e-6, 1), min_size=len(names), max_size=len(names)))
        weights = {name: share / math.fsum(shares) for name, share in zip(names, shares)}
    else:
        weights = dict.fromkeys(names, 1.0 if kind == "correct" else 1 / max(len(names), 1))
    cell = format_tags(weights)
    found = parse_tags(cell)
    assert found == pytest.approx(weights, rel=1e-7)
    assert list(found) == names
    assert format_tags(found) == cell


@pytest.mark.promise
@given(st.lists(st.sampled_from("AB|:_ .015"), max_size=9).map("".join))
def test_a_cell_is_refused_or_has_weights_that_section_4_3_allows(cell: str) -> None:
    try:
        weights = parse_tags(cell)
    except ValueError as error:
        assert "CRF530" in str(error)
        return
    total = math.fsum(weights.values())
    assert not weights or total == pytest.approx(1, abs=1e-8) or set(weights.values()) == {1.0}


def test_best_tag_is_the_first_of_equal_ones() -> None:
    assert [best_tag({"B": 0.5, "A": 0.5}), best_tag({"B": 0.3, "A": 0.7}), best_tag({})] == ["B", "A", ""]


ROWS = [{"AVD": 2 / 3, "PTKG": 1 / 3}, {"DDS": 1.0, "DRELS": 1.0}, {}, {"$;": 1.0}]


def test_docs_hold_gold_and_best_tags(doc: Doc) -> None:
    doc[2].tag_ = "KEPT"
    write_gold_tags(doc, ROWS, NAME)
    assert read_cells(doc, NAME) == ROWS
    assert [token.tag_ for token in doc] == ["AVD", "DDS", "KEPT", "$;"]
    assert doc[0]._.get(NAME) == ROWS[0]
    assert doc[2]._.get(NAME) is None


def test_gold_survives_docbin_and_needs_no_registration(doc: Doc) -> None:
    write_gold_tags(doc, ROWS, NAME)
    data = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    Token.remove_extension(NAME)
    (stored,) = DocBin().from_bytes(data).get_docs(doc.vocab)
    assert read_cells(stored, NAME) == ROWS
    assert not Token.has_extension(NAME)
    assert [token.tag_ for token in stored] == ["AVD", "DDS", "", "$;"]


def test_gold_survives_slices_of_a_doc(doc: Doc) -> None:
    write_gold_tags(doc, ROWS, NAME)
    assert read_cells(doc[1:].as_doc(copy_user_data=True), NAME) == ROWS[1:]


def test_docs_without_gold(doc: Doc) -> None:
    assert read_cells(doc, NAME) == [{}] * 4
    doc.user_data["other"] = 1
    assert read_cells(doc, NAME) == [{}] * 4


def test_what_is_read_is_a_copy(doc: Doc) -> None:
    write_gold_tags(doc, ROWS, NAME)
    read_cells(doc, NAME)[0].clear()
    assert read_cells(doc, NAME) == ROWS


def test_cells_in_a_doc_are_read_and_resolved(doc: Doc) -> None:
    Token.set_extension(NAME, default="")
    for token, cell in zip(doc, ["A|B", "A:1|B:1"]):
        token._.set(NAME, cell)
    expected = [{"A": 0.5, "B": 0.5}, {"A": 1, "B": 1}, {}, {}]
    assert read_cells(doc, NAME) == expected
    resolve_gold_tags(doc, NAME)
    assert [token._.get(NAME) for token in doc] == [*expected[:2], "", ""]
    assert read_cells(doc, NAME) == expected


def test_bad_cell_in_a_doc_names_document_and_token(doc: Doc) -> None:
    Token.set_extension(NAME, default="")
    doc[1]._.set(NAME, "A:2")
    with pytest.raises(ValueError, match=r"CRF530.*Token 1 \('dhe'\) of document 'so dhe so \.'"):
        read_cells(doc, NAME)


def test_a_row_for_each_token(doc: Doc) -> None:
    with pytest.raises(ValueError, match="CRF532.*3 sets.*4 tokens"):
        write_gold_tags(doc, ROWS[:3], NAME)


@pytest.mark.parametrize("settings", [{"getter": len}, {"method": len}])
def test_attributes_that_are_computed_are_refused(doc: Doc, settings: dict[str, object]) -> None:
    Token.set_extension(NAME, **settings)
    with pytest.raises(ValueError, match=f"CRF522.*{NAME}"):
        write_gold_tags(doc, ROWS, NAME)


def test_all_small_cells_against_a_second_reading_of_the_notation() -> None:
    """Weights from a plain list of the three cases, for two tags and all pairs of weights."""
    for first, second in itertools.product(["", "0.25", "0.5", "0.75", "1"], repeat=2):
        cell = f"A{':' * bool(first)}{first}|B{':' * bool(second)}{second}"
        total = float(first or 0) + float(second or 0)
        if not first and not second:
            expected = {"A": 0.5, "B": 0.5}
        elif not first or not second or (total > 1 and total < 2):
            with pytest.raises(ValueError, match="CRF530"):
                parse_tags(cell)
            continue
        elif total == 2:
            expected = {"A": 1.0, "B": 1.0}
        else:
            expected = {"A": float(first) / total, "B": float(second) / total}
        assert parse_tags(cell) == pytest.approx(expected)

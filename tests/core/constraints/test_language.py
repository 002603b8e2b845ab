"""Reading and writing constraints."""

import json
import math

import pytest
from helpers.constrained_chains import constraints
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.constraints.family import FAMILIES, Constraint, Predicate
from spacy_crf.core.constraints.labelling import Fields, UnitPredicates
from spacy_crf.core.constraints.language import parse, parse_all
from spacy_crf.core.constraints.relations import Adjacency
from spacy_crf.core.constraints.segments import AtMost, Order
from spacy_crf.core.constraints.units import Implication
from spacy_crf.core.labels import TagSet

NAMES = ("AUTHOR", "BOOK-TITLE", "a label", 'with "quotes"', "x|y", "->", "not", "é,(&)", "#")


@pytest.mark.promise
@given(constraints(NAMES))
def test_text_and_json_round_trip(constraint):
    assert parse(str(constraint)) == constraint
    assert parse(json.loads(json.dumps(constraint.to_json()))) == constraint
    assert parse(constraint) is constraint


@pytest.mark.promise
@given(constraints(NAMES), st.floats(0, 1e6), st.floats(0.01, 100))
def test_numbers_round_trip(constraint, cost, priority):
    changed = type(constraint)(**{**vars(constraint), "cost": cost, "priority": priority})
    assert parse(str(changed)) == changed


def test_readable_texts():
    assert parse("adjacency(VOLUME, PAGES|DATE) cost=2.5") == Adjacency(("VOLUME",), ("PAGES", "DATE"), cost=2.5)
    assert parse(" at_most( TITLE,1 )  each unit cost=1") == AtMost(("TITLE",), cost=1, count="each", level="unit")
    assert parse("at_most(A)") == AtMost(("A",), 1)
    assert parse('order(A, "B C"|D)').sets == (("A",), ("B C", "D"))
    rule = parse("rule(has A & not first B -> last C | has D & has E)")
    assert rule.condition == (Predicate("has", "A"), Predicate("first", "B", True))
    assert rule.then == ((Predicate("last", "C"),), (Predicate("has", "D"), Predicate("has", "E")))
    assert str(rule) == "rule(has A & not first B -> last C | has D & has E)"


def test_many_at_once():
    text = "# about volumes\nadjacency(V, P)\n\n  at_most(V) cost=1\n"
    assert [one.kind for one in parse_all(text)] == ["adjacency", "at_most"]
    assert parse_all(["at_most(V)", {"kind": "at_most", "a": "V", "about": {"support": 3}}]) == [AtMost(("V",))] * 2


def test_json_may_be_short_and_null_is_hard():
    assert parse({"kind": "at_most", "a": "V", "k": 2, "cost": None}) == AtMost(("V",), 2)
    rule = parse({"kind": "rule", "condition": [], "then": [['has "a label"']]})
    assert rule == Implication((), ((Predicate("has", "a label"),),))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nonsense", r"CRF901.*'nonsense' cannot be read: it does not begin with a family"),
        ("ajacency(A, B)", r"CRF903.*'ajacency'.*adjacency"),
        ("adjacency(A)", r"CRF905.*no 'b'.*adjacency\(a, b\)"),
        ("adjacency(A, B, C)", r"CRF905.*3 arguments"),
        ("adjacency(A B, C)", r"CRF901.*'A B' are not labels"),
        ("adjacency(A, B", r"CRF901.*no '\)'"),
        ("adjacency(A, (B))", r"CRF901.*second '\('"),
        ("adjacency(A|, B)", r"CRF901.*not labels"),
        ("adjacency(|, B)", r"CRF901.*stands where a name"),
        ('adjacency("A, B)', r"CRF901"),
        (r'adjacency("\q", B)', r"CRF901.*quoted as in JSON"),
        ("adjacency(A, B) gap", r"CRF905.*option 'gap'"),
        ("adjacency(A, B) cost=cheap", r"CRF901.*'cheap' is no number"),
        ("adjacency(A, B) cost=-1", r"CRF910.*cost=-1.*at least 0"),
        ("adjacency(A, B) cost=nan", r"CRF910"),
        ("adjacency(A, B) priority=0", r"CRF910.*above 0"),
        ("at_most(A, many)", r"CRF910.*whole number"),
        ("at_most(A, 1 2)", r"CRF901.*'1 2' is not one name"),
        ("at_least(A, 0)", r"CRF910.*above 0"),
        ("excludes(A, A|B)", r"CRF910.*already in another set"),
        ("order(A)", r"CRF910.*two or more"),
        ("order(A, B, A)", r"CRF910.*already in another set"),
        ("rule(has A)", r"CRF905.*not one '->'"),
        ("rule(has A -> B)", r"CRF901.*'B' is not"),
        ("rule(has A -> )", r"CRF901"),
        ({"kind": "adjacency", "a": "A", "b": "B", "colour": 1}, r"CRF905.*'colour'"),
        ({"kind": "adjacency", "a": 3, "b": "B"}, r"CRF901.*'a' is not a list"),
        ({"kind": "adjacency", "a": [3], "b": "B"}, r"CRF901.*list of strings"),
        ({"kind": "boundary", "at": 3}, r"CRF910.*a name"),
        ({"kind": "state_change", "at": "m", "a": "A", "b": "B", "gap": 1}, r"CRF910.*true or false"),
        ({"a": "A"}, r"CRF903.*None"),
        (["at_most(A)"], r"CRF901.*neither a text nor an object"),
    ],
)
def test_errors_say_what_is_wrong(spec, message):
    with pytest.raises(ValueError, match=message):
        parse(spec)


def test_rules_stay_small():
    disjunct = "has A & has B & has C & has D & has E"
    with pytest.raises(ValueError, match="CRF908.*3125"):
        parse(f"rule(-> {' | '.join([disjunct] * 5)})")


def test_unknown_labels_and_missing_predicates():
    fields = Fields(TagSet.of_spans(("TITLE", "AUTHOR"), "BIO"))
    wrong = parse("at_most(TITEL)")
    with pytest.raises(ValueError, match=r"CRF902.*at_most\(TITEL, 1\).*'TITEL'.*TITLE"):
        wrong.check(fields)
    predicates = UnitPredicates(3, {"comma": [True, False, True]})
    fields = Fields(TagSet.of_spans(("TITLE",), "BIO"))
    parse("boundary(comma)").check(fields, predicates)
    for text, code in [("boundary(dot)", "CRF906.*'dot'.*comma"), ("same_surface()", "CRF907"), ("fixed()", "CRF907")]:
        with pytest.raises(ValueError, match=code):
            parse(text).check(fields, predicates)
    with pytest.raises(ValueError, match="CRF927.*comma has 2"):
        UnitPredicates(3, {"comma": [True, False]})


def test_families_are_complete_and_hard_by_default():
    assert all(issubclass(family, Constraint) and family.kind == kind for kind, family in FAMILIES.items())
    assert parse("order(A, B)").hard and isinstance(parse("order(A, B)"), Order)
    assert not parse("order(A, B) cost=0").hard
    assert math.isinf(parse("order(A, B)").cost)


@pytest.mark.parametrize(
    "text, code",
    [
        ("at_most(A, 1) once each", "CRF905"),
        ("at_most(A, 1) cost=1 cost=2", "CRF905"),
        ("at_most(A, 1) segment unit", "CRF905"),
        ("at_most(A, 1) cost=1e999", "CRF901"),
    ],
)
def test_options_that_contradict_each_other_are_refused(text, code):
    with pytest.raises(ValueError, match=code):
        parse(text)

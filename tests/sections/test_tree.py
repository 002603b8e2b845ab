"""Trees and JSON."""

import json

import pytest
from helpers.layouts import documents
from hypothesis import given

from spacy_crf.sections.tree import Element, SectionNode, SectionTree, from_json


@pytest.mark.promise
@given(documents())
def test_json_keeps_all_of_a_tree(document):
    _, tree = document
    tree.exact, tree.dropped, tree.score = False, 3, -1.5
    assert from_json(tree.to_json()) == tree
    assert from_json(json.loads(json.dumps(tree.to_json()))) == tree


def test_walk_is_in_the_order_of_the_text():
    inner = SectionNode(2, 3, 2)
    tree = SectionTree([SectionNode(0, 3, 1, children=[inner]), SectionNode(4, 5, 1)])
    assert [node.start_char for node in tree.walk()] == [0, 2, 4]


def test_deep_trees():
    tree = SectionTree([SectionNode(0, 1, 1)], [Element(0, 1, "TEXT_BLOCK")])
    node = tree.sections[0]
    for level in range(2, 3000):
        node.children.append(SectionNode(0, 1, level))
        node = node.children[0]
    text = json.dumps(tree.to_json())
    assert json.dumps(from_json(json.loads(text)).to_json()) == text and text.count('"parent"') == 2999


@pytest.mark.parametrize(
    "data",
    [
        *({}, [], {"version": 2}, {"version": 1, "elements": [[0]], "sections": [], "exact": True}),
        {"version": 1, "exact": True, "dropped": 0, "score": None, "elements": [], "sections": [{"start": 0}]},
    ],
)
def test_other_data_is_refused(data):
    with pytest.raises(ValueError, match="CRF952"):
        from_json(data)


def test_a_parent_must_be_there():
    data = SectionTree([SectionNode(0, 1, 1)]).to_json()
    data["sections"][0]["parent"] = 0
    with pytest.raises(ValueError, match="CRF952"):
        from_json(data)


def section(**facts):
    plain = {
        "level": 1,
        "parent": None,
        "number": "",
        "title": "",
        "heading": [],
        "probability": None,
        "virtual": False,
    }
    return {"start": 0, "end": 3, **plain, **facts}


@pytest.mark.parametrize(
    "elements, sections",
    [
        ([], [section(start=5, end=2)]),
        ([], [section(start=-1)]),
        ([], [section(end=5), section(start=3, end=8)]),
        ([], [section(), section(start=5, end=8, parent=0, level=2)]),
        ([], [section(level=0)]),
        ([], [section(heading=[0])]),
        ([[5, 2, "X", None]], []),
        ([[0, 5, "X", None], [3, 8, "X", None]], []),
    ],
)
def test_trees_that_cannot_be_are_refused(elements, sections):
    with pytest.raises(ValueError, match="CRF952"):
        from_json({**SectionTree().to_json(), "elements": elements, "sections": sections})


def test_roles_are_kept():
    roles = {"number": "N", "title": "T", "text": "X", "newline": "L"}
    tree = SectionTree(elements=[Element(0, 1, "T"), Element(1, 2, "odd")], roles=roles)
    assert from_json(json.loads(json.dumps(tree.to_json()))) == tree
    assert [one.label for one in tree.with_usual_labels().elements] == ["SECTION_TITLE", "TEXT_BLOCK"]
    assert "roles" not in SectionTree().to_json()
    with pytest.raises(ValueError, match="CRF952"):
        from_json({**tree.to_json(), "roles": {"title": "T"}})

import pytest

from spacy_crf.features.presets import PRESETS
from spacy_crf.features.templates import MAX_OFFSET, parse_templates


def spelt(*texts):
    return [str(template) for template in parse_templates(texts)]


@pytest.mark.parametrize(
    ("text", "templates"),
    [
        ("LOWER[0]", ["LOWER[0]"]),
        ("LOWER", ["LOWER[0]"]),
        ("LOWER[+1]", ["LOWER[1]"]),
        ("LOWER[-2..2]", ["LOWER[-2]", "LOWER[-1]", "LOWER[0]", "LOWER[1]", "LOWER[2]"]),
        ("LOWER[1..1]", ["LOWER[1]"]),
        ("LOWER[-1]|LOWER[0]", ["LOWER[-1]|LOWER[0]"]),
        ("SUFFIX3|IS_TITLE[1]", ["SUFFIX3[0]|IS_TITLE[1]"]),
        ("TAG[0..1]|ORTH[0]", ["TAG[0]|ORTH[0]", "TAG[1]|ORTH[0]"]),
        ("TAG[0..1]|ORTH[-1..0]", ["TAG[0]|ORTH[-1]", "TAG[0]|ORTH[0]", "TAG[1]|ORTH[-1]", "TAG[1]|ORTH[0]"]),
        ("U:TAG[0]", ["TAG[0]"]),
        ("B:TAG[-1]|TAG[0]", ["B:TAG[-1]|TAG[0]"]),
        ("B:BIAS", ["B:BIAS[0]"]),
        ("LIST(brown,4)[-1]", ["LIST(brown,4)[-1]"]),
        ("LIST(brown)|_.pause[1]", ["LIST(brown)[0]|_.pause[1]"]),
        ("  LOWER [ -1 .. 0 ] | POS  ", ["LOWER[-1]|POS[0]", "LOWER[0]|POS[0]"]),
        ("POSITION4", ["POSITION4[0]"]),
    ],
)
def test_spellings(text, templates):
    assert spelt(text) == templates
    assert spelt(*templates) == templates


def test_repeated_templates_count_once():
    assert spelt("LOWER[0]", "LOWER", "U:LOWER[-1..0]", "B:LOWER") == ["LOWER[0]", "LOWER[-1]", "B:LOWER[0]"]


def test_edge_templates_are_marked():
    assert [template.is_edge for template in parse_templates(["TAG", "U:POS", "B:TAG"])] == [False, False, True]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_stand_for_their_templates(name):
    assert spelt(f"@{name}") == spelt(*PRESETS[name])
    assert spelt(f"@{name}", "B:DEP")[-1] == "B:DEP[0]"


def test_chunking_preset_is_that_of_crfsuite():
    """19 templates over words w and tags p, and two marks for the ends of a sentence."""
    words = ["ORTH[-2]", "ORTH[-1]", "ORTH[0]", "ORTH[1]", "ORTH[2]", "ORTH[-1]|ORTH[0]", "ORTH[0]|ORTH[1]"]
    tags = ["TAG[-2]", "TAG[-1]", "TAG[0]", "TAG[1]", "TAG[2]"]
    tags += ["TAG[-2]|TAG[-1]", "TAG[-1]|TAG[0]", "TAG[0]|TAG[1]", "TAG[1]|TAG[2]"]
    tags += ["TAG[-2]|TAG[-1]|TAG[0]", "TAG[-1]|TAG[0]|TAG[1]", "TAG[0]|TAG[1]|TAG[2]"]
    assert spelt("@chunking") == [*words, *tags, "BOS[0]", "EOS[0]"]


def test_unknown_preset():
    with pytest.raises(ValueError, match=r"CRF303.*@taging.*@tagging"):
        parse_templates(["@taging"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ""),
        ("B:", ""),
        ("LOWER|", ""),
        ("LOWER[", "LOWER["),
        ("LOWER[0]|TAG[x]", "TAG[x]"),
        ("LOWER[1..]", "LOWER[1..]"),
        ("LOWER[2..1]", "LOWER[2..1]"),
        (f"LOWER[{MAX_OFFSET + 1}]", f"LOWER[{MAX_OFFSET + 1}]"),
        (f"LOWER[{-MAX_OFFSET - 1}..0]", f"LOWER[{-MAX_OFFSET - 1}..0]"),
        ("LOWER[0] TAG[0]", "LOWER[0] TAG[0]"),
        ("[0]", "[0]"),
    ],
)
def test_unreadable_templates(text, part):
    with pytest.raises(ValueError, match="CRF304") as error:
        parse_templates(["ORTH", text])
    assert f"Template {text!r} cannot be read at {part!r}" in str(error.value)


@pytest.mark.parametrize(("text", "code"), [("LOWER|TAGS[1]", "CRF301"), ("SUFFIX[1]", "CRF302"), ("B:X", "CRF301")])
def test_misspelt_attributes_inside_templates(text, code):
    with pytest.raises(ValueError, match=code):
        parse_templates([text])

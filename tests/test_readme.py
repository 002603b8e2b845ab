"""What the README names exists, and what exists is in the README."""

import itertools
import re

import pytest
from helpers.paths import ROOT

from spacy_crf.features.presets import PRESETS
from spacy_crf.features.templates import parse_attribute, parse_templates
from spacy_crf.pipe.block import default_config
from spacy_crf.tagging.block import TaggerSettings
from spacy_crf.tagsets.block import SetSettings

DEFAULT_CONFIG, SET_CONFIG = default_config(TaggerSettings), default_config(SetSettings)
README = (ROOT / "README.md").read_text(encoding="utf8")


def table(heading, number=1):
    """First cells of the Markdown table with the given heading, the first one or a later one."""
    lines = README.split(f"| {heading} |")[number].splitlines()[2:]
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [re.split(r"(?<!\\)\|", row)[1] for row in rows]


def quoted(cells):
    return [name.replace("\\|", "|") for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_settings_table_is_the_default_config():
    assert sorted(quoted(table("setting"))) == sorted(set(DEFAULT_CONFIG) - {"scorer"})


def test_settings_table_of_sets_has_what_a_crf_tagger_does_not_have():
    own = set(SET_CONFIG) - set(DEFAULT_CONFIG)
    assert sorted(quoted(table("setting", 2))) == sorted(own - {"guarantee"})


@pytest.mark.parametrize("name", [n for n in quoted(table("attribute")) if not n.endswith("*") and n != "L"])
def test_attributes_are_known(name):
    assert str(parse_attribute(name)) == name


@pytest.mark.parametrize("text", quoted(table("spelling")))
def test_spellings_can_be_parsed(text):
    assert parse_templates([text])


def test_every_preset_is_named():
    assert {f"@{name}" for name in PRESETS} <= set(quoted(table("spelling")))

"""The page of all settings is what the docstrings of the blocks say."""

import tomllib

import pytest
import spacy
from helpers.paths import ROOT
from helpers.settings_reference import GROUPS, documented_settings, write_reference

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["entry-points"]
PAGE = ROOT / "docs" / "settings.md"
BLOCKS = [(group.removeprefix("spacy_"), name) for group in GROUPS for name in ENTRY_POINTS[group]]


@pytest.fixture(autouse=True, scope="module")
def _factories() -> None:
    spacy.blank("en")  # which registers those of the entry points


@pytest.mark.parametrize("kind, name", BLOCKS)
def test_every_setting_has_its_paragraph(kind: str, name: str) -> None:
    settings, documented = documented_settings(kind, name)
    assert settings == [one for one in settings if documented.get(one)]


def test_the_page_is_current(pytestconfig: pytest.Config) -> None:
    page = write_reference(ENTRY_POINTS)
    if pytestconfig.getoption("--rewrite-snapshots"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page, encoding="utf8")
    assert PAGE.read_text(encoding="utf8") == page

"""The pages of all settings, commands and messages are what the code says."""

import tomllib
from collections.abc import Callable

import pytest
import spacy
from helpers.commands_reference import write_commands
from helpers.messages_reference import write_messages
from helpers.paths import ROOT
from helpers.settings_reference import GROUPS, documented_settings, write_reference

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["entry-points"]
DOCS = ROOT / "docs"
BLOCKS = [(group.removeprefix("spacy_"), name) for group in GROUPS for name in ENTRY_POINTS[group]]


@pytest.fixture(autouse=True, scope="module")
def _factories() -> None:
    spacy.blank("en")  # which registers those of the entry points


@pytest.mark.parametrize("kind, name", BLOCKS)
def test_every_setting_has_its_paragraph(kind: str, name: str) -> None:
    settings, documented = documented_settings(kind, name)
    assert settings == [one for one in settings if documented.get(one)]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("commands", write_commands),
        ("settings", lambda: write_reference(ENTRY_POINTS)),
        ("messages", write_messages),
    ],
)
def test_the_pages_are_current(name: str, write: Callable[[], str], pytestconfig: pytest.Config) -> None:
    path, page = DOCS / f"{name}.md", write()
    if pytestconfig.getoption("--rewrite-snapshots"):
        path.write_text(page, encoding="utf8")
    assert path.read_text(encoding="utf8") == page

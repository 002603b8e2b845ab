"""What the README names exists, and what exists is in the README."""

import itertools
import re
import textwrap
import tomllib

import pytest
from helpers.paths import ROOT

from spacy_crf.features.presets import PRESETS
from spacy_crf.features.templates import parse_attribute, parse_templates

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["entry-points"]
README = (ROOT / "README.md").read_text(encoding="utf8")


def table(heading, number=1):
    """First cells of the Markdown table with the given heading, the first one or a later one."""
    lines = README.split(f"| {heading} |")[number].splitlines()[2:]
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [re.split(r"(?<!\\)\|", row)[1] for row in rows]


def quoted(cells):
    return [name.replace("\\|", "|") for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def anchors(path):
    """Anchors of the headings of a Markdown file, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]*#?[^)]*)\)", README))
def test_local_links_lead_somewhere(link):
    path, _, anchor = link.partition("#")
    if "://" not in link:
        assert (ROOT / path).exists()
        assert not anchor or anchor in anchors(ROOT / (path or "README.md"))


@pytest.mark.parametrize("component", ENTRY_POINTS["spacy_factories"])
def test_every_component_is_there(component):
    assert f"`{component}`" in README or f"## {component}" in README


BLOCKS = re.findall(r"^```python\n(.*?)^```\n\n((?:    [^\n]*\n)+)", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code, output", [block for block in BLOCKS if "output/" not in block[0] + block[1]])
def test_code_without_a_trained_model_prints_what_it_says(code, output, capsys, tmp_path, monkeypatch):
    grammar = re.search(r"line at fault:\n\n((?:    .*\n)+)", README)[1]
    (tmp_path / "my.grammar").write_text(textwrap.dedent(grammar), encoding="utf8")
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.split() == output.split()


@pytest.mark.parametrize("name", [n for n in quoted(table("attribute")) if not n.endswith("*") and n != "L"])
def test_attributes_are_known(name):
    assert str(parse_attribute(name)) == name


@pytest.mark.parametrize("text", quoted(table("spelling")))
def test_spellings_can_be_parsed(text):
    assert parse_templates([text])


def test_every_preset_is_named():
    assert {f"@{name}" for name in PRESETS} <= set(quoted(table("spelling")))

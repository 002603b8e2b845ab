"""What README and docs name exists, what exists is named, and their code prints what they say."""

import inspect
import itertools
import json
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import srsly
from helpers.paths import ROOT
from spacy.cli.train import train

import spacy_crf
from spacy_crf.cli.guarantee import SpanPromises, TagPromises
from spacy_crf.core.constraints.family import FAMILIES
from spacy_crf.features.presets import PRESETS
from spacy_crf.features.templates import parse_attribute, parse_templates
from spacy_crf.lab.evaluation import is_shown

ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["entry-points"]
NAMED = (
    "README.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "projects/README.md",
    "benchmarks/README.md",
    "corpus/README.md",
)
PAGES = [*(ROOT / name for name in NAMED), *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf8") for page in PAGES}
README = TEXTS[ROOT / "README.md"]
FEATURES = TEXTS[ROOT / "docs" / "guides" / "features.md"]
READ = sorted(
    str(page.relative_to(ROOT))
    for part in ("start", "tutorials", "guides")
    for page in (ROOT / "docs" / part).glob("*.md")
)
PARTS = {folder.name for folder in (ROOT / "spacy_crf").iterdir() if folder.is_dir()}
LONGEST_README = 220, 1800  # lines, words
LONGEST_SENTENCE = 35  # words
LOADED = re.compile(r"""<(?:script|img|iframe)\b[^>]*?\ssrc=["']?([^"'\s>]+)|<link\b[^>]*?\shref=["']?([^"'\s>]+)""")
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n((?:    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
TRAINED = re.compile(r"output/(\w+)/model-best")
BY_THEMSELVES = {page: text for page, text in TEXTS.items() if page.parent.name not in ("start", "tutorials")}
BLOCKS = [(page, *found) for page, text in BY_THEMSELVES.items() for found in BLOCK.findall(text)]
NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.02  # of numbers that trained models print: processors differ in the last digits of sums


def table(heading, number=1):
    """First cells of a Markdown table of the page of features with the given heading, the first one or a later one."""
    lines = FEATURES.split(f"| {heading} |")[number].splitlines()[2:]
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [re.split(r"(?<!\\)\|", row)[1] for row in rows]


def quoted(cells):
    return [name.replace("\\|", "|") for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def anchors(path):
    """Anchors of the headings of a Markdown file, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    ("page", "link"), [(page, link) for page, text in TEXTS.items() for link in re.findall(r"\]\(([^)\s]+)\)", text)]
)
def test_local_links_lead_somewhere(page, link):
    path, _, anchor = link.partition("#")
    if "://" not in link:
        target = page.parent / path if path else page
        assert target.exists()
        assert not anchor or anchor in anchors(target)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("mkdocstrings", reason="needs the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = [path.read_text(encoding="utf8") for path in tmp_path.rglob("*.html")]
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md")))
    loaded = {"".join(found) for page in pages for found in LOADED.findall(page)}
    assert [address for address in loaded if address.startswith(("http", "//"))] == []


def test_the_readme_is_short():
    lines, words = LONGEST_README
    assert len(README.splitlines()) <= lines and len(README.split()) <= words


@pytest.mark.parametrize("name", ["README.md", "docs/glossary.md", "docs/index.md", *READ])
def test_sentences_are_short(name):
    prose = re.sub(
        r"^```.*?^```$|^    [^\n]*$|^<!--[^\n]*$|\]\([^)]*\)", "", TEXTS[ROOT / name], flags=re.MULTILINE | re.DOTALL
    )
    pieces = re.split(r"(?<=[.:;?!])\s|\n\n|^- |\|", prose, flags=re.MULTILINE)
    assert [piece for piece in pieces if len(piece.split()) > LONGEST_SENTENCE] == []


def test_the_glossary_has_all_figures():
    """Those of saved models, those of sets, and the heads of the tables of promises."""
    _, figures = TEXTS[ROOT / "docs" / "glossary.md"].split("## Figures")
    saved = sorted((ROOT / "tests" / "contract" / "data" / "scores").glob("*.json"))
    names = {name for path in saved for name in json.loads(path.read_text(encoding="utf8"))["scores"]}
    patterns = re.findall(r"`([\w*]+)`", figures)
    shown = [name for name in names if is_shown(name) and "confusions" not in name]
    assert [name for name in shown if not any(fnmatch(name, pattern) for pattern in patterns)] == []
    heads = [*TagPromises.columns.values(), *SpanPromises.columns.values(), "CovGap", "calibration error (ECE)"]
    assert [head for head in heads if head not in figures] == []


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_the_guide_says_what_each_family_of_constraints_means(family):
    meaning = inspect.cleandoc(family.__doc__).split("\n\n")[0].replace("\n", " ")
    assert f"- `{family.usage()}`: {meaning}\n" in TEXTS[ROOT / "docs" / "guides" / "constrained_ner.md"]


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "papers").glob("*.md")), ids=lambda page: page.stem)
def test_names_beside_equations_are_in_the_code(page):
    names = [name for name in re.findall(r"`(\w+\.[\w.]+)`", TEXTS[page]) if name.split(".")[0] in PARTS]
    assert names or page.stem == "index"
    for name in names:
        pkgutil.resolve_name(f"spacy_crf.{name}")


@pytest.mark.parametrize("component", ENTRY_POINTS["spacy_factories"])
def test_every_component_is_there(component):
    assert any(f"`{component}`" in text for text in TEXTS.values())


def test_every_guide_is_named_in_the_readme():
    guides = {path.name for path in (ROOT / "docs" / "guides").glob("*.md")}
    assert guides == set(re.findall(r"docs/guides/([\w-]+\.md)", README))


def run(code, capsys):
    exec(compile(code, "documentation", "exec"), {})
    return capsys.readouterr().out


@pytest.mark.parametrize(("code", "output"), [(code, out) for _, code, out in BLOCKS if not TRAINED.search(code)])
def test_code_without_a_trained_model_prints_what_it_says(code, output, capsys, tmp_path, monkeypatch):
    grammar = re.search(r"line at fault:\n\n((?:    .*\n)+)", TEXTS[ROOT / "docs" / "guides" / "section_parser.md"])[1]
    (tmp_path / "my.grammar").write_text(textwrap.dedent(grammar), encoding="utf8")
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    monkeypatch.chdir(tmp_path)
    assert run(code, capsys).split() == output.split()


def test_code_with_trained_models_prints_what_it_says(capsys, tmp_path, monkeypatch):
    blocks = [block for block in BLOCKS if TRAINED.search(block[1])]
    for folder in ("corpus", "configs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    for name in sorted({name for _, code, _ in blocks for name in TRAINED.findall(code)}):
        train(Path("configs") / f"{name}.cfg", Path("output") / name)
    capsys.readouterr()
    for page, code, output in blocks:
        told = run(code, capsys)
        words, expected = (NUMBER.sub("0", text).split() for text in (told, output))
        assert words == expected, f"{page.name}: {told}"
        numbers, promised = (list(map(float, NUMBER.findall(text))) for text in (told, output))
        assert numbers == pytest.approx(promised, abs=TOLERANCE), f"{page.name}: {told}"


def test_the_entry_for_spacys_universe_runs(capsys):
    entry = json.loads((ROOT / "docs" / "site" / "universe.json").read_text(encoding="utf8"))
    assert "2. Term" in run("\n".join(entry["code_example"]), capsys)


def test_the_citation_has_the_version_and_the_licence():
    cited = srsly.read_yaml(ROOT / "CITATION.cff")
    assert (cited["title"], cited["version"], cited["license"]) == ("spacy_crf", spacy_crf.__version__, "MIT")


@pytest.mark.parametrize("name", [n for n in quoted(table("attribute")) if not n.endswith("*") and n != "L"])
def test_attributes_are_known(name):
    assert str(parse_attribute(name)) == name


@pytest.mark.parametrize("text", quoted(table("spelling")))
def test_spellings_can_be_parsed(text):
    assert parse_templates([text])


def test_every_preset_is_named():
    assert {f"@{name}" for name in PRESETS} <= set(quoted(table("spelling")))

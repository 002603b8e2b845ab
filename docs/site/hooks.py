"""What mkdocs cannot say in its settings: files beside docs/ belong to the site, and tutorials are notebooks too."""

import importlib.util
import posixpath
import re
from pathlib import Path, PurePosixPath
from types import ModuleType

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
REPOSITORY = "repository"  # folder of the site that takes what stands beside docs/
PAGES = (
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/README.md",
    "corpus/README.md",
    "projects/README.md",
)
ROW = re.compile(r"^\|.*", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def load(name: str) -> ModuleType:
    """Import a module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the repository, what they link to, and a notebook of each tutorial."""
    texts = [(f"docs/{file.src_uri}", file.content_string) for file in files.documentation_pages()]
    texts += [(name, (ROOT / name).read_text(encoding="utf8")) for name in PAGES]
    linked = {target(name, link) for name, text in texts for link in LINK.findall(text)}
    for name in sorted({*PAGES, *linked}):
        if not name.startswith("docs/") and (ROOT / name).is_file():
            files.append(File.generated(config, f"{REPOSITORY}/{name}", abs_src_path=str(ROOT / name)))
    notebooks = load("notebooks")
    for page in notebooks.tutorials(ROOT / "docs"):
        name = f"tutorials/{page.stem}.ipynb"
        files.append(File.generated(config, name, content=notebooks.write_notebook(page.read_text(encoding="utf8"))))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links that leave docs/ lead to the copies in the site; in tables, bars of code need no escape here."""
    home = source(page.file.src_uri)
    markdown = ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0]), markdown)
    markdown = LINK.sub(lambda found: relink(home, found[1], page.file.src_uri), markdown)
    notebook = PurePosixPath(page.file.src_uri).with_suffix(".ipynb")
    if files.get_file_from_path(str(notebook)) is None:
        return markdown
    return f"{markdown}\n[This page as a notebook]({notebook.name}), to run in an empty folder.\n"


def relink(home: str, link: str, uri: str) -> str:
    """Return a link of a page as the site has it; home (str): the page's place in the repository."""
    found = target(home, link)
    if (ROOT / found).is_dir():
        found = f"{found}/README.md"
    inside = found.removeprefix("docs/") if found.startswith("docs/") else f"{REPOSITORY}/{found}"
    if inside == f"{REPOSITORY}/README.md":
        inside = "index.md"
    return posixpath.relpath(inside, str(PurePosixPath(uri).parent))


def source(uri: str) -> str:
    """Return the place in the repository of a page of the site."""
    return uri.removeprefix(f"{REPOSITORY}/") if uri.startswith(f"{REPOSITORY}/") else f"docs/{uri}"


def target(home: str, link: str) -> str:
    """Return the place in the repository that a link of a page leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(home), link))

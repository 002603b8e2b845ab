"""What `from spacy_crf import ..` gives: lazily, with a documentation whose examples hold."""

import ast
import doctest
import inspect
import sys
from pathlib import Path

import pytest
from helpers.folders import unpack_demo
from helpers.interpreters import run_alone
from helpers.paths import ROOT

import spacy_crf

MOST_MODULES = 27


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as it is after `make demo`."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "corpus").symlink_to(ROOT / "corpus")
    unpack_demo(folder / "output")
    return folder


def test_type_checkers_see_the_names_that_there_are() -> None:
    tree = ast.parse((ROOT / "spacy_crf" / "__init__.py").read_text(encoding="utf8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        alias.name: f"spacy_crf.{node.module}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(imported) == spacy_crf.__all__
    for name, module in imported.items():
        assert getattr(spacy_crf, name) is getattr(sys.modules[module], name)
    assert set(spacy_crf.__all__) <= set(dir(spacy_crf))


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="spacy_crf.*crf_taggr"):
        _ = spacy_crf.crf_taggr


def test_the_estimator_imports_no_spacy() -> None:
    code = "import sys; from spacy_crf import CRF, CRFError, Grammar; print('spacy' in sys.modules)"
    assert run_alone(code) == "False"


def test_spacy_loads_little_of_the_library() -> None:
    code = (
        "import sys, spacy; spacy.blank('en'); print(*[name for name in sys.modules if name.startswith('spacy_crf')])"
    )
    assert 0 < len(run_alone(code).split()) <= MOST_MODULES


@pytest.mark.parametrize("name", spacy_crf.__all__)
def test_examples(name: str, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    documented = inspect.getdoc(getattr(spacy_crf, name)) or ""
    example = doctest.DocTestParser().get_doctest(documented, {}, name, None, None)
    assert example.examples, f"{name} has no example"
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=told.append)
    assert not told, "".join(told)

"""Registered functions: listed in pyproject, found without an import, and light."""

import ast
import importlib
import re
import sys
import tomllib

import pytest
import spacy
from helpers.interpreters import run_alone
from helpers.paths import ROOT
from spacy.cli.package import get_third_party_dependencies
from spacy.util import registry

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
GROUPS: dict[str, dict[str, str]] = PROJECT["entry-points"]
ENTRIES = [(group, name, target) for group, entries in GROUPS.items() for name, target in entries.items()]
REGISTRIES = [group for group in GROUPS if group not in ("spacy_factories", "spacy_cli")]


@pytest.mark.parametrize("group, name, target", ENTRIES)
def test_every_entry_point_is_the_function_registered_under_its_name(group: str, name: str, target: str) -> None:
    module, attribute = target.split(":")
    function = getattr(importlib.import_module(module), attribute)
    if group == "spacy_factories":
        assert spacy.blank("en").get_factory_meta(name).factory == name
        function = registry.get("factories", name)
    elif group != "spacy_cli":
        assert registry.get(group.removeprefix("spacy_"), name) is function
    assert function.__module__.startswith("spacy_crf.") or group == "spacy_cli"


def test_nothing_is_registered_without_being_listed() -> None:
    code = f"""
import importlib, pkgutil, spacy, spacy_crf
from spacy.util import registry
for module in pkgutil.walk_packages(spacy_crf.__path__, "spacy_crf."):
    importlib.import_module(module.name)
for group in {REGISTRIES}:
    for name, function in getattr(registry, group.removeprefix("spacy_")).get_all().items():
        if function.__module__.startswith("spacy_crf."):
            print(group, name)
for name in spacy.blank("en").factories:
    if registry.find("factories", name)["module"].startswith("spacy_crf."):
        print("spacy_factories", name)
"""
    registered = set(run_alone(code).splitlines())
    assert registered == {f"{group} {name}" for group, name, _ in ENTRIES if group != "spacy_cli"}


def test_a_fresh_process_needs_no_import_and_loads_nothing_heavy() -> None:
    code = """
import sys, spacy
nlp = spacy.blank("en")
print([name for name in ("scipy", "pulp", "sklearn", "threadpoolctl") if name in sys.modules])
ours = [module for name, module in sys.modules.items() if name.startswith("spacy_crf")]
print([module.__name__ for module in ours if not module.__file__.endswith(("block.py", "__init__.py", "errors.py"))])
nlp.add_pipe("crf_tagger")
print([name for name in ("scipy", "pulp", "sklearn", "threadpoolctl") if name in sys.modules])
"""
    assert run_alone(code).splitlines() == ["[]", "[]", "[]"]


def test_the_core_imports_without_spacy() -> None:
    code = """
import importlib, pkgutil, sys, spacy_crf.core
for module in pkgutil.walk_packages(spacy_crf.core.__path__, "spacy_crf.core."):
    importlib.import_module(module.name)
print([name for name in ("spacy", "thinc", "scipy") if name in sys.modules])
"""
    assert run_alone(code) == "[]"


def test_packages_of_pipelines_require_the_library() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger")
    assert any(requirement.startswith("spacy_crf>=") for requirement in get_third_party_dependencies(nlp.config))


def test_what_is_imported_is_declared() -> None:
    listed = [*PROJECT["dependencies"], *(one for extra in PROJECT["optional-dependencies"].values() for one in extra)]
    declared = {re.split(r"[<>=\[]", one)[0].replace("-", "_") for one in listed}
    known_as = {
        "cassis": "dkpro_cassis",
        "citeproc": "citeproc_py",
        "docx": "python_docx",
        "markdown_it": "markdown_it_py",
        "sklearn": "scikit_learn",
    }
    imported: set[str] = set()
    for path in (ROOT / "spacy_crf").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    outside = {known_as.get(name, name) for name in imported - {"spacy_crf"} if name not in sys.stdlib_module_names}
    assert "numpy" in outside and outside <= declared

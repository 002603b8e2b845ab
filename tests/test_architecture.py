"""Who may import whom, and other rules that hold over all modules."""

import ast
from pathlib import Path

import pytest

from spacy_crf.errors import Errors, Warnings

PACKAGE = Path(__file__).parents[1] / "spacy_crf"
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# each part of the package, and the parts below it that it may import
BELOW: dict[str, set[str]] = {
    "__init__": set(),
    "errors": set(),
    "core": {"errors"},
    "features": {"units", "core", "errors"},
    "trigrams": {"core"},
    "layouts": {"core"},
    "model": {"layouts", "trigrams", "core", "errors"},
    "model_files": {"model", "trigrams", "core"},
    "learner": {"model", "features", "core", "errors"},
    "emissions": {"learner", "features", "core"},
    "vectors": {"model", "core"},
    "trainers": {"learner", "trigrams", "model", "features", "core", "errors"},
    "files": {"errors"},
    "xml_events": {"files", "errors"},
    "units": {"xml_events", "files", "core", "errors"},
    "grammars": {"core", "errors"},
    "punctuation": {"errors"},
    "batchers": set(),
    "scorers": {"errors"},
    "components": {
        *("emissions", "vectors", "trainers", "learner", "model_files", "model", "trigrams", "scorers"),
        *("units", "features", "punctuation", "core", "errors"),
    },
    "tokenizer": set(),
    "corpora": {"components", "units", "tokenizer", "punctuation", "xml_events", "files", "errors"},
    "importers": {"components", "model", "features", "core", "errors"},
    "estimator": {"importers", "core", "errors"},
    "inspect": {"components", "model", "features", "core", "errors"},
    "explain": {"components", "emissions", "model", "features", "core", "errors"},
    "bibliography": {"errors"},
    "review": {"corpora", "components", "core"},
    "tuning": {"corpora", "components", "trainers", "learner", "model", "features", "core", "errors"},
    "experiments": {"corpora", "components", "core", "errors"},
    "visual": {"components", "units", "errors"},
    "cli": {
        *("experiments", "tuning", "inspect", "explain", "review", "visual", "bibliography", "corpora", "components"),
        *("scorers", "units", "features", "punctuation", "files", "core", "errors"),
    },
}
CORE_BELOW: dict[str, set[str]] = {
    "learn": {"chain"},
    "constraints": {"chain"},
    "sets": {"chain"},
    "grammar": {"learn"},
    "measures": set(),
    "tagging": {"learn", "chain"},
    "chain": set(),
}


def imports(module: str) -> set[str]:
    """All modules that a module imports, at its top or in functions; those of the package from `spacy_crf` on."""
    path = MODULES[module]
    package = ["spacy_crf", *path.relative_to(PACKAGE).parts[:-1]]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{source}.{alias.name}" for alias in node.names)
    return found


def own(module: str) -> list[list[str]]:
    """Imports from the package, as the parts behind `spacy_crf`."""
    return [name.split(".")[1:] for name in imports(module) if name.split(".")[0] == "spacy_crf"]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downwards(module: str) -> None:
    part = module.split(".")[0]
    assert part in BELOW, "a new part of the package needs its place in BELOW"
    for target in own(module):
        assert target[0] in BELOW[part] | {part, "__version__"}, f"{module} imports {'.'.join(target)}"


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("core")])
def test_the_core_knows_neither_spacy_nor_files(module: str) -> None:
    outside = {name.split(".")[0] for name in imports(module)}
    assert not outside & {"spacy", "thinc", "srsly", "typer", "wasabi"}
    folder = module.split(".")[1:-1]
    for target in own(module):
        if target[0] == "core" and len(target) > 1 and target[1] in CORE_BELOW:
            assert (folder and target[1] in CORE_BELOW[folder[0]] | {folder[0]}) or module in ABOVE_CHAIN


# what a batch shows to the model ends in the potentials of its chains
ABOVE_CHAIN = {"core.observations"}


@pytest.mark.parametrize("module", MODULES)
def test_one_module_knows_solvers_and_nothing_heavy_is_imported_at_the_top(module: str) -> None:
    if module != "core.constraints.ilp":
        assert "pulp" not in {name.split(".")[0] for name in imports(module)}
    top = ast.parse(MODULES[module].read_text(encoding="utf8")).body
    names = [alias.name for node in top if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in top if isinstance(node, ast.ImportFrom) and not node.level]
    heavy = {"scipy", "sklearn", "threadpoolctl", "matplotlib", "optuna", "pulp", "pybtex", "lxml", "markdown_it"}
    assert not {name.split(".")[0] for name in names} & heavy


def test_one_module_knows_optuna() -> None:
    assert [module for module in MODULES if "optuna" in imports(module)] == ["tuning.search"]


def test_pybtex_is_needed_to_read_bibtex_only() -> None:
    assert [module for module in MODULES if "pybtex.database" in imports(module)] == ["bibliography.bibtex_reader"]


def test_lxml_is_needed_to_read_html_only() -> None:
    assert [module for module in MODULES if "lxml.etree" in imports(module)] == ["units.html"]


@pytest.mark.parametrize("module", MODULES)
def test_only_the_command_line_imports_the_command_line(module: str) -> None:
    if module.split(".")[0] != "cli":
        assert not [target for target in own(module) if target[0] == "cli"]


@pytest.mark.parametrize("module", MODULES)
def test_annotations_are_evaluated(module: str) -> None:
    # spaCy checks configs by the annotations of registered functions; as strings they would not be checked
    assert "__future__.annotations" not in imports(module)


@pytest.mark.parametrize("module", MODULES)
def test_library_code_does_not_print(module: str) -> None:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf8"))):
        assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")


def test_no_code_of_a_message_is_given_twice() -> None:
    for namespace in (Errors, Warnings):
        codes = [code for part in namespace.__mro__ for code in vars(part) if code.startswith("CRF")]
        assert len(codes) == len(set(codes)) > 0

"""Who may import whom, and other rules that hold over all modules."""

import ast
import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest
from helpers.paths import ROOT

PACKAGE = ROOT / "spacy_crf"
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# of other libraries: spaCy has no other door for those who extend its commands, and scipy no public product that adds
PRIVATE_BUT_NEEDED = ("spacy.cli._util", "scipy.sparse._sparsetools")
MOST_MODULES, MOST_LINES_OF_A_MODULE = 360, 350
SLICES = {"tagging", "tagsets", "constraints", "sections", "punctuation"}
# each part of the package, and the parts below it that it may import
BELOW: dict[str, set[str]] = {
    "core": set(),
    "reading": {"core"},
    "annotation": {"reading", "core"},
    "features": {"annotation", "reading", "core"},
    "learning": {"features", "annotation", "reading", "core"},
    "corpora": {"annotation", "reading", "core"},
    "pipe": {"learning", "annotation", "features", "reading", "core"},
    **{part: {"pipe", "corpora", "learning", "annotation", "features", "reading", "core"} for part in SLICES},
    "bibliography": {*SLICES, "pipe", "corpora", "annotation", "reading", "core"},
    "lab": {*SLICES, "pipe", "corpora", "learning", "annotation", "features", "reading", "core"},
    "estimator": {"tagging", "pipe", "learning", "features", "reading", "core"},
    "cli": {*SLICES, "lab", "bibliography", "pipe", "corpora", "learning", "annotation", "features", "reading", "core"},
    "service": {*SLICES, "lab", "bibliography", "pipe", "corpora", "annotation", "reading", "core"},
    "__init__": {*SLICES, "service", "estimator", "bibliography", "pipe", "corpora", "reading", "core"},
}
# what belongs to the process: changed here, it would change for other threads, and for the user's own code
SHARED_BY_THREADS = {
    *("warnings." + name for name in ("catch_warnings", "filterwarnings", "simplefilter", "resetwarnings")),
    *("np.seterr", "np.random.seed", "random.seed", "os.chdir", "os.putenv", "os.umask", "locale.setlocale"),
    *("sys.setrecursionlimit", "signal.signal", "csv.field_size_limit", "socket.setdefaulttimeout"),
}
# what the commands of a slice, in its module `cli`, may import of the command line; nobody else imports such a module
SHARED_BY_COMMANDS = {"cli.options", "cli.data", "cli.surface"}
CORE_BELOW: dict[str, set[str]] = {
    "chain": set(),
    **{part: {"chain"} for part in ("learn", "constraints", "sets")},
    "grammar": {"learn"},
    "sections": {"grammar", "learn"},
}


def imports(module: str, only_top: bool = False) -> set[str]:
    """All modules that a module imports, at its top or in functions; those of the package from `spacy_crf` on."""
    path = MODULES[module]
    package = ["spacy_crf", *path.relative_to(PACKAGE).parts[:-1]]
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf8"))
    for node in tree.body if only_top else ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{source}.{alias.name}" for alias in node.names)
    return found


def own(module: str, only_top: bool = False) -> set[str]:
    """Modules of the package that a module imports, without the name of the package."""
    names = {name.removeprefix("spacy_crf.") for name in imports(module, only_top) if name.startswith("spacy_crf.")}
    return {name if name in MODULES else name.rpartition(".")[0] for name in names} - {"", module}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def forbidden(module: str) -> set[str]:
    part, *rest = module.split(".")
    found = {target for target in own(module) if target.split(".")[0] not in BELOW[part] | {part, "__init__"}}
    if rest == ["cli"]:
        found -= SHARED_BY_COMMANDS
    if part != "cli":
        found |= {target for target in own(module) if target.endswith(".cli")}
    if part == "core":
        folder = rest[0] if rest and (len(rest) > 1 or MODULES[module].name == "__init__.py") else ""
        allowed = CORE_BELOW.get(folder, set()) | {folder}
        folders = {target: target.split(".")[1] for target in own(module) if target.count(".") > 1}
        found |= {target for target, other in folders.items() if other not in allowed}
    return found


def test_imports_point_downwards() -> None:
    found = {f"{module} imports {target}" for module in MODULES for target in forbidden(module)}
    assert sorted(found) == []


def test_there_is_no_circle() -> None:
    # factories and checks of a leaf import what knows its settings: its top is what counts
    graph = {module: own(module, only_top=module.endswith(".block")) for module in MODULES}
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for target in sorted(graph.get(module, ())):
                walk(target, (*path, module))
            done.add(module)

    for module in MODULES:
        walk(module, ())


@pytest.mark.parametrize("module", [name for name in MODULES if name.split(".")[0] == "core"])
def test_the_core_knows_neither_spacy_nor_files(module: str) -> None:
    outside = {name.split(".")[0] for name in imports(module)}
    assert not outside & {"spacy", "thinc", "srsly", "typer", "wasabi"}


@pytest.mark.parametrize("module", MODULES)
def test_one_module_knows_solvers_and_nothing_heavy_is_imported_at_the_top(module: str) -> None:
    if module != "core.constraints.ilp":
        assert "pulp" not in {name.split(".")[0] for name in imports(module)}
    top = ast.parse(MODULES[module].read_text(encoding="utf8")).body
    names = [alias.name for node in top if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in top if isinstance(node, ast.ImportFrom) and not node.level]
    heavy = {"scipy", "sklearn", "threadpoolctl", "matplotlib", "optuna", "pulp"}
    heavy |= {"pylatexenc", "lxml", "markdown_it", "pypdfium2", "docx"}
    assert not {name.split(".")[0] for name in names} & heavy


@pytest.mark.parametrize(
    "library", ["optuna", "pybtex", "pylatexenc", "lxml", "matplotlib", "pypdfium2", "docx", "uvicorn"]
)
def test_one_module_knows_an_optional_library(library: str) -> None:
    assert len([module for module in MODULES if library in {name.split(".")[0] for name in imports(module)}]) == 1


@pytest.mark.parametrize("module", MODULES)
def test_annotations_are_evaluated(module: str) -> None:
    # spaCy checks configs by the annotations of registered functions; as strings they would not be checked
    assert "__future__.annotations" not in imports(module)


@pytest.mark.parametrize("module", MODULES)
def test_library_code_leaves_the_state_of_the_process_alone(module: str) -> None:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf8"))):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in SHARED_BY_THREADS
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            assert ast.unparse(node.value) != "os.environ"


@pytest.mark.parametrize("module", MODULES)
def test_library_code_does_not_print(module: str) -> None:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf8"))):
        assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")


def test_no_code_of_a_message_is_given_twice() -> None:
    codes: list[str] = []
    for name in [name for name in MODULES if name.endswith(".errors")]:
        module = importlib.import_module(f"spacy_crf.{name}")
        for namespace in vars(module).values():
            if isinstance(namespace, type) and namespace.__module__ == module.__name__:
                codes += [code for code in vars(namespace) if code.startswith("CRF") and code.isupper()]
    assert len(codes) == len(set(codes)) > 300


def test_every_message_is_told_somewhere() -> None:
    used: set[str] = set()
    for path in MODULES.values():
        names = (node for node in ast.walk(ast.parse(path.read_text("utf8"))) if isinstance(node, ast.Attribute))
        used.update(node.attr for node in names)
    messages = [path.read_text("utf8") for name, path in MODULES.items() if name.split(".")[-1] == "errors"]
    codes = {code for text in messages for code in re.findall(r"^    (CRFW?\d{3}) = ", text, re.M)}
    assert codes and codes <= used


def test_the_house_is_small() -> None:
    lines = {module: len(path.read_text(encoding="utf8").splitlines()) for module, path in MODULES.items()}
    assert len(lines) <= MOST_MODULES
    assert {module: count for module, count in lines.items() if count > MOST_LINES_OF_A_MODULE} == {}


def test_no_name_of_a_class_stands_for_two() -> None:
    owners = defaultdict(list)
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.ClassDef):
                owners[node.name].append(module)
    assert {name: modules for name, modules in owners.items() if len(modules) > 1} == {}


def borrowed(path: Path) -> set[str]:
    """Names that a module imports at its top; a package hands such names on."""
    top = [] if path.name == "__init__.py" else ast.parse(path.read_text(encoding="utf8")).body
    statements = [node for node in top if isinstance(node, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name for node in statements for alias in node.names}


def test_names_are_imported_from_where_they_are_defined() -> None:
    names = {f"spacy_crf.{module}.{name}" for module, path in MODULES.items() for name in borrowed(path)}
    found = {f"{module} imports {name}" for module in MODULES for name in imports(module) & names}
    assert sorted(found) == []


@pytest.mark.parametrize("module", MODULES)
def test_no_private_name_of_another_module_is_used(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf8"))
    sources = {name for name in imports(module) if not name.startswith(PRIVATE_BUT_NEEDED)}
    parts = {part for name in sources for part in name.split(".")}
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    }
    assert not {name for name in parts | used if is_private(name)}

"""What users name: entry points, commands, settings, custom attributes, codes of messages.

The snapshots hold what was promised. When the surface changes on purpose, rewrite them and read the difference:

    python -m pytest tests/contract --rewrite-snapshots
"""

import importlib
import inspect
import json
import re
import subprocess
import sys
import tomllib
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
import spacy
import typer
from contract.snapshots import Snapshots
from spacy.cli._util import app
from spacy.language import Language
from spacy.util import registry

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
GROUPS: dict[str, dict[str, str]] = PROJECT["entry-points"]
SOURCE = {"constraint_decoder": {"source": "crf_tagger"}}  # which it cannot do without
CLICK_TYPES = {"text": "str", "integer": "int", "boolean": "bool", "path": "Path"}
CLICK_TYPES |= {"integer range": "int", "float range": "float"}


def messages() -> dict[str, str]:
    """Templates of all errors and warnings by code; the one place here that names modules of the library."""
    paths = (ROOT / "spacy_crf").glob("*/errors.py")
    modules = [importlib.import_module(f"spacy_crf.{path.parent.name}.errors") for path in sorted(paths)]
    owners = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    codes = ((owner, code) for owner in owners for code in vars(owner) if re.fullmatch(r"CRFW?[0-9]+", code))
    return {code: getattr(owner, code) for owner, code in codes}


def make(name: str) -> Language:
    """A blank pipeline with a component and what it needs."""
    nlp = spacy.blank("en")
    config = SOURCE.get(name, {})
    if "source" in config:
        nlp.add_pipe(config["source"])
    nlp.add_pipe(name, config=config)
    return nlp


def describe_signature(function: Any) -> dict[str, dict[str, str]]:
    """Kind and default of each argument of a registered function."""
    found = inspect.signature(function).parameters.values()
    return {
        one.name: {
            "kind": one.kind.description,
            **({} if one.default is one.empty else {"default": repr(one.default)}),
        }
        for one in found
    }


def describe_type(parameter: Any) -> str:
    """Name of the type of a parameter, whichever of its releases typer has."""
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is None:
        name = str(parameter.type.name)
        return "|".join(getattr(parameter.type, "choices", ())) or CLICK_TYPES.get(name, name)
    annotation = descriptor.annotation
    if get_origin(annotation) is list:
        (annotation,) = get_args(annotation)
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        return "|".join(str(one.value) for one in annotation)
    return "|".join(get_args(annotation)) or str(getattr(annotation, "__name__", annotation))


def describe_parameter(parameter: Any) -> dict[str, Any]:
    """What the help of a command tells about an argument or an option."""
    default = parameter.default
    return {
        "kind": parameter.param_type_name,
        "spelt": [*parameter.opts, *parameter.secondary_opts],
        "required": parameter.required,
        "default": default if isinstance(default, str | int | float | list | None) else str(default),
        "type": describe_type(parameter),
        "several": bool(parameter.multiple or parameter.nargs != 1),
        "help": parameter.help,
    }


def describe_command(command: Any) -> dict[str, Any]:
    """Help and parameters of a command."""
    parameters = [describe_parameter(one) for one in command.params]
    arguments = [one for one in parameters if one["kind"] == "argument"]
    options = {one["spelt"][0]: one for one in parameters if one["kind"] == "option"}
    return {"help": command.help, "arguments": arguments, "options": options, **command.context_settings}


def test_entry_points(snapshots: Snapshots) -> None:
    snapshots.check("entry_points", {group: sorted(names) for group, names in GROUPS.items()})


def test_commands(snapshots: Snapshots) -> None:
    registry.cli.get_all()
    group: Any = typer.main.get_command(app).commands["crf"]  # type: ignore[attr-defined]
    commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
    snapshots.check("commands", {name: describe_command(command) for name, command in commands.items()})


@pytest.mark.parametrize("name", sorted(GROUPS["spacy_factories"]))
def test_factory(name: str, snapshots: Snapshots) -> None:
    nlp = make(name)
    meta = nlp.get_factory_meta(name)
    told = {
        "default_config": meta.default_config,
        "config": nlp.config["components"][name],
        "assigns": meta.assigns,
        "requires": meta.requires,
        "retokenizes": meta.retokenizes,
        "default_score_weights": meta.default_score_weights,
        "scores": sorted(meta.scores),
        "trainable": nlp.get_pipe(name).is_trainable,
    }
    snapshots.check(f"factories/{name}", told)


def test_settings_of_registered_functions(snapshots: Snapshots) -> None:
    groups = [group for group in GROUPS if group not in ("spacy_factories", "spacy_cli")]
    found = {
        group: {name: describe_signature(registry.get(group.removeprefix("spacy_"), name)) for name in GROUPS[group]}
        for group in groups
    }
    snapshots.check("signatures", found)


def test_custom_attributes(snapshots: Snapshots) -> None:
    script = Path(__file__).parent / "extensions.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    snapshots.check("extensions", json.loads(done.stdout))


def test_messages(snapshots: Snapshots) -> None:
    snapshots.check("messages", messages())

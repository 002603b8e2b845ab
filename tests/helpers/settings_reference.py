"""The page `docs/settings.md`: a table for each block of a config, made from the docstring of its settings."""

import inspect
import json
import re
from typing import Any

from spacy.language import Language
from spacy.util import registry

GROUPS = {
    "spacy_factories": "Components",
    "spacy_architectures": "Models",
    "spacy_misc": "Blocks",
    "spacy_readers": "Readers",
    "spacy_tokenizers": "Tokenizers",
    "spacy_batchers": "Batchers",
}
INTRODUCTION = """# Settings

Each block of a config, with its settings, their defaults and what they mean. This page is made from the docstrings of
the blocks: change these, then run

    python -m pytest tests/test_settings_reference.py --rewrite-snapshots
"""
ENTRY = re.compile(r"(?:^|(?<=\. ))((?:\w+ \([^()]*\)(?:, )?)+): ", re.MULTILINE)
NAME = re.compile(r"(\w+) \([^()]*\)")
LAST = ("RETURNS", "RAISES", "YIELDS")


def write_reference(groups: dict[str, dict[str, str]]) -> str:
    """Write the page. groups (dict): entry points of the library by group, as in pyproject.toml."""
    parts = [INTRODUCTION]
    for group, title in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [write_block(group.removeprefix("spacy_"), name) for name in groups[group]]
    return "\n".join(parts)


def write_block(kind: str, name: str) -> str:
    """Write the section of one block. kind (str): registry. name (str): as configs name it."""
    owner = find_block(kind, name)
    defaults = Language.get_factory_meta(name).default_config if kind == "factories" else {}
    summary, known = documentation(owner)
    rows = []
    for parameter in inspect.signature(owner).parameters.values():
        default = defaults.get(parameter.name, parameter.default)
        cells = f"`{parameter.name}`", show_default(default), known[parameter.name]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    table = ["| setting | default | meaning |", "| --- | --- | --- |", *rows] if rows else ["It has no settings."]
    return "\n".join([f"### {name}\n", f"{summary}\n", *table, ""])


def find_block(kind: str, name: str) -> Any:
    """Return the dataclass of a block, or the function that makes it where there is none."""
    owner = registry.get(kind, name)
    return getattr(owner, "settings", owner)


def documented_settings(kind: str, name: str) -> tuple[list[str], dict[str, str]]:
    """Return the settings of a block, and what is said of them."""
    owner = find_block(kind, name)
    return list(inspect.signature(owner).parameters), documentation(owner)[1]


def documentation(owner: Any) -> tuple[str, dict[str, str]]:
    """Return what the docstring of a class or function says, and what it and those of its bases say of settings."""
    bases = [one for one in inspect.getmro(owner) if one.__doc__] if isinstance(owner, type) else [owner]
    summary, known = "", {}
    for base in reversed(bases):
        summary, own = parse(inspect.getdoc(base) or "")
        known |= own
    return summary, known


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its beginning and the entries `name (type): text`."""
    text = re.split(rf"^(?:{'|'.join(LAST)})\b|^>>> ", text, maxsplit=1, flags=re.MULTILINE)[0]
    head, *parts = ENTRY.split(text)
    entries = {}
    for names, meaning in zip(parts[::2], parts[1::2]):
        entries.update(dict.fromkeys(NAME.findall(names), flat(meaning)))
    return head.strip(), entries


def flat(text: str) -> str:
    return " ".join(text.split())


def show_default(value: Any) -> str:
    """Return a default as configs spell it; registered blocks by their name."""
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, dict):
        names = [str(one) for key, one in value.items() if key.startswith("@")]
        if names:
            rest = {key: one for key, one in value.items() if not key.startswith("@")}
            return f"`{names[0]}`" + (f" with `{json.dumps(rest)}`" if rest else "")
    return f"`{json.dumps(value, default=str)}`"

"""The page `docs/commands.md`: every command with its arguments and options, as `--help` tells them."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from spacy_crf.cli import app

PROGRAM = "python -m spacy crf"
INTRODUCTION = f"""# Commands

`{PROGRAM} COMMAND --help` tells the same in a terminal. This page is made from the commands: change these, then run

    python -m pytest tests/test_settings_reference.py --rewrite-snapshots
"""


def write_commands() -> str:
    """Write the page."""
    group = get_command(app)
    with group.make_context(PROGRAM, ["--help"], resilient_parsing=True) as context:
        names = group.list_commands(context)
        return "\n".join([INTRODUCTION, *(write_command(group.get_command(context, name), name) for name in names)])


def write_command(command: Any, name: str) -> str:
    """Write the section of one command."""
    with command.make_context(f"{PROGRAM} {name}", [], resilient_parsing=True) as context:
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        rows = [row(*record) for record in records(command, context)]
    told = [flow(text) for text in (command.help, command.epilog) if text]
    table = ["| argument or option | meaning |", "| --- | --- |", *rows]
    return "\n".join([f"## {name}\n", f"    {usage}\n", *(f"{text}\n" for text in told), *table, ""])


def records(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    """Yield name and meaning of each argument and option, but for `--help`."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            yield record


def row(name: str, meaning: str) -> str:
    """Return a row of the table; a list of choices goes to the meaning, which may be as long as it likes."""
    name, _, choices = name.partition(" [") if "|" in name and name.endswith("]") else (name, "", "")
    if choices:
        meaning = f"{', '.join(f'`{one}`' for one in choices[:-1].split('|'))}. {meaning}"
    cells = f"`{name}`", " ".join(meaning.split()).replace("<", "&lt;")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def flow(text: str) -> str:
    """Return a help text as Markdown: its paragraphs; what keeps its lines stays as it is."""
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(as_code(one[1:]) if one.startswith("\b") else one for one in paragraphs)


def as_code(text: str) -> str:
    """Return lines as a block of code, behind what ends in a colon."""
    lines = [line.strip() for line in text.strip("\n").splitlines()]
    head = f"{lines.pop(0)}\n\n" if lines[0].endswith(":") else ""
    return head + "\n".join(f"    {line}" for line in lines)

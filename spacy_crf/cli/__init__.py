"""`python -m spacy crf ...`: importing this package adds the commands to spaCy's own command line.

The module of a command is imported when it is asked for: spaCy's own commands do not wait for ours.
"""

from importlib import import_module
from typing import Any

import typer
from spacy.cli._util import app as spacy_app
from typer.core import TyperGroup
from typer.main import get_group

MODULES = {
    "bibliography.cli": ("cite", "synthesise"),
    "cli.classes": ("classes",),
    "cli.corpora": ("convert", "dictionary", "spelling"),
    "cli.evaluate": ("evaluate", "score"),
    "cli.experiment": ("experiment",),
    "cli.guarantee": ("guarantee",),
    "cli.init": ("init",),
    "cli.models": ("calibrate", "constraints", "explain", "inspect", "pool"),
    "cli.package": ("package",),
    "cli.search": ("search", "tune"),
    "punctuation.cli": ("casing", "punctuate"),
    "sections.cli": ("sections",),
    "service.cli": ("serve",),
    "tagging.cli": ("review", "tag"),
    "tagsets.cli": ("annotate", "sets"),
}
COMMANDS = {name: module for module, names in MODULES.items() for name in names}


class Commands(TyperGroup):
    """The group of `COMMANDS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        modules = [COMMANDS[cmd_name]] if cmd_name in COMMANDS else list(MODULES)  # for names that are near
        for module in modules:
            import_module(f"..{module}", __package__)
        self.commands = get_group(app).commands
        return self.commands.get(cmd_name)


app = typer.Typer(
    name="crf",
    cls=Commands,
    help="Commands for structured prediction with spacy_crf.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def crf() -> None:
    # With a callback, a single command still has to be called by its name.
    pass


spacy_app.add_typer(app, name="crf")

"""`python -m spacy crf ...`: importing this package adds the commands to spaCy's own command line.

The module of a command is imported when it is asked for: spaCy's own commands do not wait for ours.
"""

import sys
from importlib import import_module
from types import TracebackType
from typing import Annotated, Any

import typer
from spacy.cli._util import app as spacy_app
from typer.core import TyperGroup
from typer.main import get_group
from wasabi import Printer

from .. import __version__

MODULES = {
    "bibliography.cli": ("cite", "synthesise"),
    "cli.apply": ("apply",),
    "cli.corpora": ("classes", "convert", "dictionary", "spelling"),
    "cli.evaluate": ("evaluate", "score"),
    "cli.experiment": ("experiment",),
    "cli.guarantee": ("guarantee",),
    "cli.init": ("examples", "init"),
    "cli.models": ("calibrate", "constraints", "explain", "inspect", "pool"),
    "cli.package": ("package",),
    "cli.search": ("search", "tune"),
    "punctuation.cli": ("casing", "punctuate"),
    "sections.cli": ("sections",),
    "service.cli": ("report", "serve"),
    "tagging.cli": ("review", "tag"),
    "tagsets.cli": ("annotate", "sets"),
}
COMMANDS = {name: module for module, names in MODULES.items() for name in names}


EXIT_CODES = (
    "A command ends with 0 where it has done what it says, with 1 where it tells an error, and with 2 where an option "
    "or an argument is wrong."
)


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
    help="Commands for structured prediction with spacy_crf.\n\n" + EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
)


def tell_version(is_asked: bool) -> None:
    """Write the version, and end."""
    if is_asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def crf(
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    # With a callback, a single command still has to be called by its name.
    pass


def tell_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Tell an error of this library by its message alone, in all of spaCy's commands: who has to correct a file or a
    setting learns nothing from its place in the code. `python -X dev -m spacy ..` shows the traceback."""
    from ..core.errors import CRFError

    if issubclass(kind, CRFError) and not sys.flags.dev_mode:
        typer.echo(Printer(no_print=True).fail(str(error)), err=True)
    else:
        tell_others(kind, error, trace)


spacy_app.add_typer(app, name="crf")
tell_others, sys.excepthook = sys.excepthook, tell_error

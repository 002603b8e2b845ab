"""What all commands have on their surface: an example in the help, `--quiet`, and old spellings that still work."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from os.path import isfile, samefile
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand
from wasabi import Printer, msg

from ..core.errors import CRFError
from ..corpora.errors import CorpusErrors
from ..lab.errors import LabErrors

# The new name of an option; or what tells it from the value that follows, "" where the option stays what it is
NewName = str | Callable[[str], str]
PROGRAM = "python -m spacy crf"
WRITTEN = ("output", "output_path", "results", "results_path", "marks")  # parameters for files that are written
MOST = 2.0**63  # of a number, which arrays can hold
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


class SpeltCommand(TyperCommand):
    """A command whose options had other names. renamed (Mapping[str, NewName]): New names of options by old ones."""

    def __init__(self, *args: Any, renamed: Mapping[str, NewName], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.renamed = renamed

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = respell(args, self.renamed)
        given: dict[str, Any] = self.make_parser(ctx).parse_args(args=list(args))[0]
        rest = super().parse_args(ctx, args)
        for param in self.params:
            told, value = given.get(param.name or ""), ctx.params.get(param.name or "")
            # an empty path would be the folder that one is in: what a variable of a shell is that nobody has set
            if "" in (told if isinstance(told, list | tuple) else [told]) and "TEXT" not in (param.metavar or ""):
                raise typer.BadParameter("it is empty.", ctx=ctx, param=param)
            for number in value if isinstance(value, list | tuple) else [value]:
                if isinstance(number, int | float) and not -MOST <= number <= MOST:
                    raise typer.BadParameter(f"{number} is no number that can be used here.", ctx=ctx, param=param)
        return rest


def respell(args: Sequence[str], renamed: Mapping[str, NewName]) -> list[str]:
    """Return arguments with the options of today, and tell on standard error which ones have new names."""
    found = list(args[: args.index("--")] if "--" in args else args)
    rest = args[len(found) :]
    for place, (text, following) in enumerate(zip(found, [*found[1:], ""])):
        option, equals, value = text.partition("=")
        new = renamed.get(option)
        if callable(new):
            new = new(value if equals else following)
        if new:
            tell_warning(LabErrors.CRFW981.format(old=option, new=new))
            found[place] = f"{new}{equals}{value}"
    return [*found, *rest]


def before_value(new: str) -> Callable[[str], str]:
    """The new name of an option that took a value and is a flag now."""
    return lambda following: new if following and not following.startswith("-") else ""


def with_values(new: str, *values: str) -> Callable[[str], str]:
    """The new name of an option where it has one of these values; with others it is an option of today."""
    return lambda following: new if following in values else ""


def help_with_example(command: str, example: str) -> str:
    """The lines below the options in the help of a command. example (str): Its arguments."""
    return f"\b\nExample:\n  {PROGRAM} {command} {example}"


def check_argument(text: str) -> str:
    """Return a text of the command line. RAISES (ValueError): where it is not UTF-8."""
    try:
        text.encode("utf8")
    except UnicodeEncodeError as error:
        raise CRFError(LabErrors.CRF488.format(text=readable(text))) from error
    return text


# -- telling -----------------------------------------------------------------------------------------------------


@contextmanager
def quietly(is_quiet: bool) -> Iterator[None]:
    """Tell only results, warnings and errors, on request."""
    token = _quiet.set(is_quiet or _quiet.get())
    try:
        yield
    finally:
        _quiet.reset(token)


def is_quiet() -> bool:
    """Whether `--quiet` was given, or the result is data for another program."""
    return _quiet.get()


def refuse_overwriting(values: Mapping[str, Any]) -> None:
    """Raise a coded error where a file that would be written is another parameter, too. values (Mapping): of all."""
    given = (one for value in values.values() for one in (value if isinstance(value, list) else [value]))
    files = [one for one in given if isinstance(one, str | Path) and isfile(one)]
    for written in map(values.get, WRITTEN):
        if written in files and sum(samefile(one, written) for one in files) > 1:
            raise CRFError(CorpusErrors.CRF579.format(path=written))


def write_utf8() -> None:
    """Have standard output be UTF-8 in a file or pipe, whatever the language of the system; a terminal has its own."""
    if isinstance(sys.stdout, TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")


def readable(text: str) -> str:
    """Return a text that every terminal takes: bytes of paths in it that are no UTF-8 are spelt out."""
    return text.encode("utf8", "backslashreplace").decode("utf8")


def tell_done(text: str) -> None:
    """Tell what was done."""
    if not is_quiet():
        msg.good(readable(text))


def tell_failure(title: str, problem: str, to_stderr: bool) -> None:
    """Tell an error that ends a command."""
    typer.echo(Printer(no_print=True).fail(title, readable(problem)), err=to_stderr)


def tell_next(text: str) -> None:
    """Tell what can be done next."""
    if not is_quiet():
        typer.echo(readable(f"Next: {text}"))


def tell_progress(text: str) -> None:
    """Tell how far the work is, on standard error."""
    if not is_quiet():
        typer.echo(Printer(no_print=True).info(readable(text)), err=True)


def tell_warning(text: str) -> None:
    """Tell a warning, on standard error."""
    typer.echo(Printer(no_print=True).warn(readable(text)), err=True)

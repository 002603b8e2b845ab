"""What commands share: options, the pipeline with its component or its config, messages of errors, and output."""

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from configparser import InterpolationError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args

import click
import spacy
import typer
import wasabi
from spacy.cli._util import import_code, parse_config_overrides
from spacy.language import Language
from spacy.util import get_package_path, is_package, load_config
from thinc.api import Config
from tqdm import tqdm

from ..core.calibration import Reliability
from ..core.errors import CRFError
from ..lab.errors import LabErrors
from ..lab.training import NO_ROOM, check_source, told_problem
from ..reading.files import write_whole
from . import app, surface
from .surface import NewName, SpeltCommand, help_with_example, is_quiet, quietly, tell_done, tell_failure, tell_next

Function = TypeVar("Function", bound=Callable[..., None])
NumberT = TypeVar("NumberT", int, float)
Item = TypeVar("Item")
CONTEXT = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)


class OptionGroup(ABC):
    """Annotates a parameter of a command that stands for an argument and options.

    context (dict): Settings of typer for such a command. renamed (dict): New names of its options by old ones.
    """

    context: ClassVar[dict[str, Any]] = {}
    renamed: ClassVar[dict[str, NewName]] = {}

    @abstractmethod
    def parameters(self, name: str) -> list[Parameter]:
        """The argument and the options. name (str): Name of the parameter."""

    @abstractmethod
    def make(self, name: str, values: dict[str, Any]) -> Any:
        """Value of the parameter; those of the argument and the options are taken out of `values`."""


def parameter(name: str, kind: Any, info: Any, default: Any = Parameter.empty) -> Parameter:
    """A parameter of a command. info (Any): an argument or an option of typer."""
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info], default=default)


QUIET = parameter("quiet", bool, typer.Option("--quiet", help="Tell only results, warnings and errors"), False)


def command(
    name: str,
    failure: str,
    example: str,
    to_stderr: bool = False,
    hidden: bool = False,
    renamed: Mapping[str, NewName] | None = None,
) -> Callable[[Function], Function]:
    """Make a command of a function. If it has a parameter `given`, that takes the names of the options that were given.

    name (str): Name of the command. failure (str): Title of errors. example (str): Arguments and options, as somebody
        would write them. to_stderr (bool): Tell errors on standard error, where standard output is for the result.
    hidden (bool): Leave it out of the list of commands. renamed (Mapping | None): See `SpeltCommand`.
    """

    def register(function: Function) -> Function:
        groups: dict[str, OptionGroup] = {}
        context: dict[str, Any] = {}
        arguments, options = [], []
        spellings = dict(renamed or {})
        asked = dict(inspect.signature(function).parameters)
        wants_given = asked.pop("given", None) is not None
        for own in asked.values():
            found = [info for info in get_args(own.annotation)[1:] if isinstance(info, OptionGroup)]
            if found:
                groups[own.name] = found[0]
                context |= found[0].context
                spellings |= found[0].renamed
                argument, *more = found[0].parameters(own.name)
                arguments.append(argument)
                options += more
            else:
                arguments.append(own.replace(kind=Parameter.KEYWORD_ONLY))
        if wants_given and not context:
            arguments.append(CONTEXT)

        def run(**values: Any) -> None:
            surface.write_utf8()
            if wants_given:
                told = values["context"] if context else values.pop("context")
                values["given"] = {
                    name for name in values if getattr(told.get_parameter_source(name), "name", "") == "COMMANDLINE"
                }
            with quietly(values.pop("quiet") or values.get("as_json", False)), told_errors(failure, to_stderr):
                surface.refuse_overwriting(values)
                for name, group in groups.items():
                    values[name] = group.make(name, values)
                function(**values)

        run.__doc__ = function.__doc__
        run.__annotations__ = {}
        run.__signature__ = inspect.Signature([*arguments, *options, QUIET])  # type: ignore[attr-defined]
        made: Any = partial(SpeltCommand, renamed=spellings)
        epilog = help_with_example(name, example)
        app.command(name, cls=made, context_settings=context, hidden=hidden, epilog=epilog)(run)
        return function

    return register


def refuse_idle(given: Collection[str], *rules: tuple[str, bool, str]) -> None:
    """Raise a coded error for an option that was given where it says nothing.

    rules (tuple[str, bool, str]): name of a parameter, whether its option says something, and what it goes with.
    """
    for name, says_something, owner in rules:
        if name in given and not says_something:
            raise CRFError(LabErrors.CRF639.format(setting="--" + name.replace("_", "-"), owner=owner))


@contextmanager
def told_errors(failure: str, to_stderr: bool = False) -> Iterator[None]:
    """End the command with a message for errors of users. See `command` for the arguments."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError, InterpolationError) as error:  # ImportError: of an unknown language
        tell_failure(failure, told_problem(error), to_stderr or getattr(error, "errno", None) in NO_ROOM)
        raise typer.Exit(1) from error


# -- the pipeline ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """A pipeline with the component that a command is about, and the folder or package it is from."""

    source: Path | str
    nlp: Language
    name: str

    @property
    def component(self) -> Any:
        return self.nlp.get_pipe(self.name)


@dataclass(frozen=True)
class Pipe(OptionGroup):
    """Annotates a parameter of type `Loaded`: makes MODEL and the name of a component of it.

    factory (str): Name of the kind of component. kinds (tuple): Classes, unions or protocols; a component of the first
    one is preferred. first (str): The component that is taken without; last (bool): that is the last one. model (str):
    Description of the pipeline.
    """

    renamed: ClassVar[dict[str, NewName]] = {"--pipe": "--component"}

    factory: str
    kinds: tuple[Any, ...]
    first: str = ""
    model: str = "a trained pipeline"
    last: bool = False

    def parameters(self, name: str) -> list[Parameter]:
        help = f"Name of the component; {self.first or f'the first {self.factory}'} without"
        model = typer.Argument(metavar="MODEL", help=f"Folder or package of {self.model}")
        return [parameter("model", str, model), parameter("component", str | None, typer.Option(help=help), None)]

    def make(self, name: str, values: dict[str, Any]) -> Loaded:
        source, wanted = locate(values.pop("model")), values.pop("component")
        nlp = load_pipeline(source)
        return Loaded(source, nlp, find_component(nlp, wanted, self.factory, *self.kinds, last=self.last))


def locate(model: str) -> Path | str:
    """The folder of a pipeline, or the name of its package."""
    return Path(model) if Path(model).exists() else model


def load_pipeline(source: Path | str, **settings: Any) -> Language:
    """Load a pipeline as `spacy.load` does; a folder that cannot be read is told by a coded error."""
    try:
        return spacy.load(source, **settings)
    except CRFError:
        raise
    except (OSError, ValueError, LookupError, EOFError, TypeError, AttributeError) as error:
        if not isinstance(source, Path):
            if is_package(source) and not (get_package_path(source) / "meta.json").is_file():
                raise CRFError(LabErrors.CRF886.format(name=source)) from error
            raise
        problem = " ".join(told_problem(error).split()) or type(error).__name__
        if (best := source / "model-best").is_dir():
            problem = f"it holds the pipelines of a training, of which {best} is the best: give that"
        raise CRFError(LabErrors.CRF608.format(path=source, error=problem)) from error


def find_component(nlp: Language, name: str | None, factory: str, *kinds: Any, last: bool = False) -> str:
    """Name of the component that a command is about, the one asked for if it is of the kinds; see `Pipe`."""
    found = [known for kind in kinds for known, pipe in nlp.pipeline if isinstance(pipe, kind)]
    if name is None and found:
        return found[-1 if last else 0]
    if name not in found:
        called, known = "" if name is None else f" called {name!r}", ", ".join(nlp.pipe_names)
        raise CRFError(LabErrors.CRF602.format(kind=factory, called=called, known=known))
    return name


# -- configs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainingConfig:
    """A config as for `spacy train`, settings of it that are replaced, by dotted key, and code that was imported."""

    path: Path
    overrides: dict[str, Any]
    code: Path | None

    def load(self) -> Config:
        """The config, with variables as they are."""
        return check_source(load_config(self.path, overrides=self.overrides, interpolate=False), *self.overrides)


class ConfigOptions(OptionGroup):
    """Annotates a parameter of type `TrainingConfig`: makes CONFIG, --code, and settings that replace those of it."""

    context: ClassVar[dict[str, Any]] = {"allow_extra_args": True, "ignore_unknown_options": True}

    def parameters(self, name: str) -> list[Parameter]:
        config = typer.Argument(metavar="CONFIG", help="Config, as for spacy train", exists=True)
        code = typer.Option("--code", help="Python file to import first, as for spacy train")
        return [parameter("config_path", Path, config), CONTEXT, parameter("code", Path | None, code, None)]

    def make(self, name: str, values: dict[str, Any]) -> TrainingConfig:
        code = values.pop("code")
        try:
            overrides = parse_config_overrides(values.pop("context").args)
        except click.UsageError as error:  # typer brings a click of its own, which does not know this one's errors
            raise typer.BadParameter(error.format_message()) from error
        import_code(code)
        return TrainingConfig(values.pop("config_path"), overrides, code)


# -- values and output -------------------------------------------------------------------------------------------


def parse_numbers(name: str, text: str, kind: type[NumberT] = float) -> list[NumberT]:  # type: ignore[assignment]
    """Numbers that are separated by commas. name (str): Name of the option. kind (type): float, or int."""
    try:
        return [kind(number) for number in text.split(",")]
    except ValueError as error:
        raise CRFError((LabErrors.CRF607 if kind is int else LabErrors.CRF605).format(name=name, value=text)) from error


def split_names(text: str | None) -> list[str]:
    """Names that are separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def make_folders(*files: Path | None) -> None:
    """Make the folders of files that were asked for, or raise a coded error for a folder: now, not after hours."""
    for file in filter(None, files):
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            raise CRFError(LabErrors.CRF679.format(path=file))


def write_result(text: str, output: Path | None) -> None:
    """Write a result in UTF-8, with folders that are missing, or to standard output without a file."""
    if output is None:
        typer.echo(text, nl=False)
        return
    make_folders(output)
    write_whole(output, text)


def write_data(data: Any, output: Path | None) -> None:
    """Write data as JSON, if a file was asked for: before anything is shown, whose reader may have left."""
    if output is not None:
        write_whole(output, json.dumps(data, indent=2) + "\n")


def echo_data(data: Any, as_json: bool = True, lines: Iterable[str] = ()) -> None:
    """Show data as JSON, or the lines that tell people the same."""
    for line in [json.dumps(data, indent=2, ensure_ascii=False)] if as_json else lines:
        typer.echo(line)


def watched(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield items, with a bar on standard error where that is a terminal. what (str): what is done with them."""
    yield from tqdm(items, what, leave=False, disable=is_quiet() or None)


annotating = partial(watched, what="Annotating")
# after a command that writes what people correct; `{}` stands for its path
TRAIN_WITH_OLD = """train on it beside the old data: --paths.train '["OLD", "{}"]'"""


def tell_written(output: Path | None, what: str = "", then: str = "") -> None:
    """Tell that a file or folder was written, if one was asked for. what (str): What is in it. then (str): What can be
    done with it; `{}` stands for its path, in quotes where that has spaces."""
    if output is not None:
        tell_done(f"Wrote {what} to {output}" if what else f"Wrote {output}")
        if then:
            tell_next(then.format(f'"{output}"' if " " in str(output) and '"{}"' not in then else output))


def table(rows: Iterable[Sequence[str]], header: Sequence[str] = (), aligns: str = "", width: int = 30) -> str:
    """Rows in columns.

    header (Sequence[str]): Titles of the columns; none without. aligns (str): "l" or "r" for each column; the last one
        holds for those that follow. width (int): Of a column, at most.
    """
    rows = list(rows)
    columns = max(map(len, [header, *rows]))
    sides: Any = aligns.ljust(columns, aligns[-1:] or "l")
    return str(wasabi.table(rows, header=header or None, divider=bool(header), max_col=width, aligns=tuple(sides)))


def confusion_table(counts: Mapping[tuple[str, str], int]) -> str:
    """Lay out how often each gold label (a row) has each predicted label (a column); "-" stands for no label."""
    labels = sorted({label for pair, count in counts.items() if count for label in pair})
    rows = [(gold or "-", *(f"{counts.get((gold, found), 0) or ''}" for found in labels)) for gold in labels]
    return table(rows, ("gold", *(label or "-" for label in labels)), "lr")


def bin_rows(before: Reliability, after: Reliability) -> list[list[str]]:
    """Cells of a table of bins: their bounds, and number, mean confidence and accuracy on either side."""
    rows = [[f"{low:.2f} - {high:.2f}"] for low, high in zip(before.lower, before.upper)]
    for side in (before, after):
        for row, count, *values in zip(rows, side.counts, side.confidences, side.accuracies):
            row += [f"{count:,}", *(f"{value:.3f}" if count else "" for value in values)]
    return rows

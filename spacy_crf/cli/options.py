"""What commands share: options, the pipeline with its component, messages of errors, and output."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from wasabi import Printer, msg

from ..core.calibration import Reliability
from ..core.errors import CRFError
from ..lab.errors import LabErrors
from . import app
from .errors import CommandErrors

Function = TypeVar("Function", bound=Callable[..., None])


class OptionGroup(ABC):
    """Annotates a parameter of a command that stands for an argument and options."""

    @abstractmethod
    def parameters(self, name: str) -> list[Parameter]:
        """The argument and the options. name (str): Name of the parameter."""

    @abstractmethod
    def make(self, name: str, values: dict[str, Any]) -> Any:
        """Value of the parameter; those of the argument and the options are taken out of `values`."""


def parameter(name: str, kind: Any, info: Any, default: Any = Parameter.empty) -> Parameter:
    """A parameter of a command. info (Any): an argument or an option of typer."""
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info], default=default)


def command(name: str, failure: str, to_stderr: bool = False) -> Callable[[Function], Function]:
    """Make a command of a function.

    name (str): Name of the command. failure (str): Title of errors. to_stderr (bool): Tell errors on standard error,
        where standard output is for the result.
    """

    def register(function: Function) -> Function:
        groups: dict[str, OptionGroup] = {}
        arguments, options = [], []
        for own in inspect.signature(function).parameters.values():
            found = [info for info in get_args(own.annotation)[1:] if isinstance(info, OptionGroup)]
            if found:
                groups[own.name] = found[0]
                argument, *more = found[0].parameters(own.name)
                arguments.append(argument)
                options += more
            else:
                arguments.append(own.replace(kind=Parameter.KEYWORD_ONLY))

        def run(**values: Any) -> None:
            with told_errors(failure, to_stderr):
                for name, group in groups.items():
                    values[name] = group.make(name, values)
                function(**values)

        run.__doc__ = function.__doc__
        run.__annotations__ = {}
        run.__signature__ = inspect.Signature([*arguments, *options])  # type: ignore[attr-defined]
        app.command(name)(run)
        return function

    return register


@contextmanager
def told_errors(failure: str, to_stderr: bool = False) -> Iterator[None]:
    """End the command with a message for errors of users. See `command` for the arguments."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:  # ImportError: spaCy's for an unknown language
        typer.echo(Printer(no_print=True).fail(failure, str(error)), err=to_stderr)
        raise typer.Exit(1) from error


# -- the pipeline ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """A pipeline with the component that a command is about. source (Path | str): Its folder or package."""

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
    one is preferred. option (str): Name of the option. first (str): The component that is taken without.
    model (str): Description of the pipeline.
    """

    factory: str
    kinds: tuple[Any, ...]
    option: str = "pipe"
    first: str = ""
    model: str = "a trained pipeline"

    def parameters(self, name: str) -> list[Parameter]:
        help = f"Name of the component; {self.first or f'the first {self.factory}'} without"
        model = typer.Argument(metavar="MODEL", help=f"Folder or package of {self.model}")
        return [parameter("model", str, model), parameter(self.option, str | None, typer.Option(help=help), None)]

    def make(self, name: str, values: dict[str, Any]) -> Loaded:
        source, wanted = locate(values.pop("model")), values.pop(self.option)
        nlp = spacy.load(source)
        return Loaded(source, nlp, find_component(nlp, wanted, self.factory, *self.kinds))


def locate(model: str) -> Path | str:
    """The folder of a pipeline, or the name of its package."""
    return Path(model) if Path(model).exists() else model


def find_component(nlp: Language, name: str | None, factory: str, *kinds: Any) -> str:
    """Name of the component that a command is about; see `Pipe`.

    nlp (Language): The pipeline. name (str | None): The component asked for.
    RAISES (ValueError): If there is none of the kinds.
    """
    found = [known for kind in kinds for known, pipe in nlp.pipeline if isinstance(pipe, kind)]
    if name is None and found:
        return found[0]
    if name not in found:
        known = ", ".join(nlp.pipe_names)
        raise CRFError(CommandErrors.CRF602.format(kind=factory, name=name or factory, known=known))
    return name


def run_before(nlp: Language, name: str, docs: Iterable[Doc]) -> Iterator[Doc]:
    """Docs as a component of the pipeline sees them."""
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(name)]):
        yield from nlp.pipe(docs)


def annotated(nlp: Language, name: str, examples: Sequence[Example]) -> Iterator[Example]:
    """Examples whose predicted side a component of the pipeline sees."""
    for doc, example in zip(run_before(nlp, name, (example.predicted for example in examples)), examples):
        yield Example(doc, example.reference)


# -- values and output -------------------------------------------------------------------------------------------


def parse_numbers(name: str, text: str) -> list[float]:
    """Numbers that are separated by commas. name (str): Name of the option, for the message."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        raise CRFError(LabErrors.CRF605.format(name=name, value=text)) from error


def split_names(text: str | None) -> list[str]:
    """Names that are separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def write_result(text: str, output: Path | None) -> None:
    """Write a result in UTF-8, with folders that are missing, or to standard output without a file."""
    if output is None:
        typer.echo(text, nl=False)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf8", newline="\n")


def tell_written(output: Path | None, what: str = "") -> None:
    """Tell that a file or folder was written, if one was asked for. what (str): What is in it."""
    if output is not None:
        msg.good(f"Wrote {what} to {output}" if what else f"Wrote {output}")


def percent(share: float | None) -> str:
    """A share as text; "" for None."""
    return "" if share is None else f"{100 * share:.2f} %"


def bin_rows(before: Reliability, after: Reliability) -> list[list[str]]:
    """Cells of a table of bins: their bounds, and number, mean confidence and accuracy on either side."""
    rows = []
    for number, (low, high) in enumerate(zip(before.lower.tolist(), before.upper.tolist())):
        cells = [f"{low:.2f} - {high:.2f}"]
        for side in (before, after):
            count = int(side.counts[number])
            values = (side.confidences[number], side.accuracies[number])
            cells += [f"{count:,}", *(f"{value:.3f}" if count else "" for value in values)]
        rows.append(cells)
    return rows

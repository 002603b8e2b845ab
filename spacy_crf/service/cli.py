"""`python -m spacy crf serve` and `report`: pipelines as a service over HTTP, and a page about one of them."""

import gc
import socket
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language

from ..cli.data import Data, DataOptions
from ..cli.options import Loaded, Pipe, annotating, command, load_pipeline, locate, make_folders, tell_written, watched
from ..cli.surface import tell_done
from ..constraints.component import ConstraintDecoder
from ..core.errors import CRFError, CRFWarning
from ..lab.evaluation import describe_data, describe_model, evaluate
from ..lab.report import describe_libraries
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets, LabelsTokens
from ..reading.files import write_whole
from ..reading.records import read_json_lines
from .errors import ServiceErrors
from .models import Limits, Models, ServedModel, ask_for_all
from .report import PARTS, Reported, make_report

NEEDED = ("fastapi", "uvicorn", "cassis")
LAST_FOLDERS = ("model-best", "model-last")  # whose parents' names say more
STEP_PARTS = ("scores", "losses")  # of a log
ANYWHERE = ("0.0.0.0", "::")
REPORTED = Pipe("crf_tagger", (LabelsTokens, ChainPipe | GivesSets | ConstraintDecoder))
GOLD = DataOptions("DATA", "Gold documents, in any format that a component reads", told="Format of DATA and of --train")


@command("serve", "Nothing is served", "training/model-best --data corrections --port 8070")
def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Folders or packages of pipelines, or NAME=MODEL")
    ],
    host: Annotated[str, typer.Option(help="Address to listen to; no other one is")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for one that is free")] = 8070,
    name: Annotated[
        list[str] | None, typer.Option(help="Name by which it is called besides, such as that of a proxy; repeatable")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder for corrections, and models that learn from them; none learns without")
    ] = None,
    max_mb: Annotated[float, typer.Option("--max-mb", min=0.001, help="Size of a request")] = Limits.megabytes,
    max_texts: Annotated[int, typer.Option("--max-texts", min=1, help="Texts in a request")] = Limits.texts,
    max_chars: Annotated[
        int, typer.Option("--max-chars", min=1, help="Characters of all texts in a request")
    ] = Limits.characters,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for the work of a request")] = Limits.seconds,
) -> None:
    """Serve pipelines: JSON at /tag, /sets, /entities, /cite, /sections and /punctuate, and a page at /.

    INCEpTION finds an external recommender at /inception/NAME, Label Studio an ML backend at /label-studio/NAME, and
    clients of GROBID the parser of citations at /api. With --data, models learn from what is corrected there, and are
    replaced when the new one is saved and not worse. It asks for the extra spacy_crf[serve].
    """
    for package in NEEDED:
        if find_spec(package) is None:
            raise CRFError(ServiceErrors.CRF738.format(package=package))
    from .app import make_app
    from .retraining import Learner
    from .server import ANY_ADDRESS, LOCAL, make_server

    limits = Limits(max_mb, max_texts, max_chars, timeout)
    if data is not None:
        data.mkdir(parents=True, exist_ok=True)  # or it would be a request that finds out that it cannot be made
    served = load_models(models, limits)
    own = [ANY_ADDRESS] if host in ANYWHERE else [host.lower(), f"[{host.lower()}]"]
    hosts = [*LOCAL, *own, *(other.lower() for other in name or ())]
    gc.freeze()  # the models are there to stay: looking through them for garbage takes long
    for model in served.values():
        tell_done(f"{model.name}: {', '.join(model.kinds)}")
    app = make_app(served, limits, hosts, Learner(data))
    with listen(host, port) as listening:
        typer.echo(f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}")
        make_server(app, log_level="warning", server_header=False).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """Listen to an address; a coded error where that cannot be."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise CRFError(ServiceErrors.CRF588.format(host=host, port=port, reason=error.strerror)) from error


def load_models(given: Sequence[str], limits: Limits) -> Models:
    """Load pipelines. given (Sequence[str]): folders or packages, or NAME=MODEL to name them."""
    models = []
    for text in given:
        name, equals, model = text.partition("=")
        source = locate(model if equals else text)
        nlp = load_pipeline(source)
        models.append(ServedModel(name if equals else _name_of(source), nlp, str(source), limits))
    return Models(models)


def _name_of(source: Path | str) -> str:
    path = Path(source).resolve() if isinstance(source, Path) else Path(source)
    return path.parent.name if path.name in LAST_FOLDERS else path.name


# -- a page ------------------------------------------------------------------------------------------------------


@command("report", "Nothing was reported", "training/model-best test.tsv --output report.html")
def report(
    loaded: Annotated[Loaded, REPORTED],
    data: Annotated[Data, GOLD],
    output: Annotated[Path, typer.Option(help="HTML file")] = Path("report.html"),
    train: Annotated[Path | None, typer.Option(help="Training data: tells known words from unknown ones")] = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Log of training, as spacy.ConsoleLogger.v3 writes it; that of the config without"),
    ] = None,
    most: Annotated[int, typer.Option(min=0, help="How many errors and documents to show")] = 8,
) -> None:
    """Write a page about a pipeline on gold documents: one HTML file that needs nothing else, to keep or to print.

    It has scores with intervals, confusions, calibration, sets by level, the learning curve, the strongest weights,
    surprising errors with explanations, what constraints changed, and documents as the pipeline sees them.
    """
    make_folders(output)
    nlp = loaded.nlp
    steps = log_of_training(nlp) if log is None else read_log(log)
    made_of = describe_model(nlp, loaded.name)
    ask_for_all(nlp)
    trained = None if train is None else data.at(train).trained_on(nlp, loaded.name)
    examples, whole = data.examples(nlp, loaded.name), data.with_punctuation(nlp)
    figures = evaluate(nlp, loaded.name, examples, trained, whole, with_intervals=True, watch=annotating)
    title = " ".join(filter(None, [loaded.name, "of", nlp.meta.get("name") or _name_of(loaded.source)]))
    facts = {"data": describe_data(data.path), "components": ", ".join(made_of["components"])}
    facts |= {"version": nlp.meta.get("version", ""), "spacy-crf": describe_libraries()["spacy-crf"]}
    page = make_report(Reported(nlp, loaded.name, figures, title, facts, steps, most), watched(PARTS, "Reporting"))
    write_whole(output, page)
    tell_written(output)


def log_of_training(nlp: Language) -> list[dict[str, Any]]:
    """The steps of the log that the config of a pipeline names; none where it is not there, or of another training,
    with a warning: spaCy's logger leaves a file that is there as it is."""
    logger = nlp.config.interpolate()["training"].get("logger") or {}
    path = Path(logger.get("output_file") or "")
    if not path.is_file():
        return []
    steps, performance = read_log(path), nlp.meta.get("performance")
    known = performance if isinstance(performance, Mapping) else {}
    losses = {name: value for name, value in known.items() if name.endswith("_loss") and isinstance(value, int | float)}
    told = [{f"{name}_loss": loss for name, loss in step["losses"].items()} for step in steps]
    if not any(all(isclose(value, own.get(name, value)) for name, value in losses.items()) for own in told):
        warnings.warn(ServiceErrors.CRFW584.format(path=path), CRFWarning, stacklevel=2)
        return []
    return steps


def read_log(path: Path) -> list[dict[str, Any]]:
    """The steps of a log of one training, which all have the same scores and losses."""
    steps = [data for _, data in read_json_lines(path)]
    for number, step in enumerate(steps, 1):
        if not _is_step(step) or any(step[part].keys() != steps[0][part].keys() for part in STEP_PARTS):
            raise CRFError(ServiceErrors.CRF584.format(path=path, line=number))
    return steps


def _is_step(data: Any) -> bool:
    return isinstance(data, dict) and "step" in data and all(isinstance(data.get(part), dict) for part in STEP_PARTS)

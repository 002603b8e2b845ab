"""`python -m spacy crf serve`: pipelines as a service over HTTP."""

import gc
import socket
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ..cli.options import command, load_pipeline, locate
from ..core.errors import CRFError
from .errors import ServiceErrors
from .models import Limits, Models, ServedModel

NEEDED = ("fastapi", "uvicorn", "cassis")
LAST_FOLDERS = ("model-best", "model-last")  # whose parents' names say more
ANYWHERE = ("0.0.0.0", "::")


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
    import uvicorn

    from .app import ANY_ADDRESS, LOCAL, make_app
    from .retraining import Learner

    limits = Limits(max_mb, max_texts, max_chars, timeout)
    served = load_models(models, limits)
    own = [ANY_ADDRESS] if host in ANYWHERE else [host.lower(), f"[{host.lower()}]"]
    hosts = [*LOCAL, *own, *(other.lower() for other in name or ())]
    gc.freeze()  # the models are there to stay: looking through them for garbage takes long
    for model in served.values():
        msg.good(f"{model.name}: {', '.join(model.kinds)}")
    app = make_app(served, limits, hosts, Learner(data))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        typer.echo(f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", server_header=False))
        server.run(sockets=[listening])


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

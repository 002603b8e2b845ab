"""The application: its endpoints for JSON, its page, its limits, and errors with codes for whatever it refuses."""

import json
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import asdict
from importlib import resources
from string import Template
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from fastapi import APIRouter, Body, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from spacy.language import Language
from spacy.tokens import Doc
from starlette.exceptions import HTTPException

from ..annotation import parts
from ..annotation.white_space import Places, is_white_space
from ..core.arrays import Segments
from ..core.errors import CRFError
from ..pipe.component import ChainPipe
from ..pipe.decoding import Batch
from ..pipe.explain import explain
from ..pipe.seen import run_before
from ..reading.records import parse_json
from .answers import Answer, answer, tell_error
from .corrections import PAGE_TELLERS, CheckMark, FileLayout, find, token_places, write_checked
from .errors import Refusal, ServiceErrors
from .grobid import add_grobid
from .inception import add_inception
from .label_studio import add_label_studio
from .models import KINDS, Limits, Models, ServedModel
from .rendering import show
from .retraining import Learner
from .server import LOCAL, Gate, tell_refusal

ExplainedKind = Literal["tag", "sets", "entities"]
CheckedKind = Literal[ExplainedKind, "sections", "punctuate"]
EXPLAINED: tuple[str, ...] = get_args(ExplainedKind)
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
BEST = 5  # labellings of a sentence that are told
FOLDER = resources.files(__package__).joinpath("pages")
log = logging.getLogger("spacy_crf.service")


class TextRequest(BaseModel):
    """One text or several, and the model to ask; without one, the first that answers."""

    model_config = ConfigDict(extra="forbid")
    text: Annotated[str | None, Field(description="One text")] = None
    texts: Annotated[list[str] | None, Field(description="Several texts")] = None
    model: Annotated[str | None, Field(description="A name of GET /models")] = None
    html: Annotated[bool, Field(description="With HTML, and all probabilities of tags")] = False

    def listed(self) -> list[str]:
        """The texts; a coded error unless there is either one or a list."""
        if (self.text is None) == (self.texts is None):
            raise Refusal(ServiceErrors.CRF734.format(problem='give either "text" or "texts"'))
        return [self.text] if self.text is not None else list(self.texts or ())


class OwnText(BaseModel):
    """A text that is asked about again: with the model that has answered, and the kind of its answer."""

    model_config = ConfigDict(extra="forbid")
    text: str
    model: Annotated[str | None, Field(description="A name of GET /models")] = None
    kind: str | None = None
    kinds: ClassVar[tuple[str, ...]] = EXPLAINED

    def choose(self, models: Models) -> tuple[ServedModel, str]:
        """The model, and what it is asked for: of what it answers, the first that fits."""
        kinds = self.kinds if self.kind is None else (self.kind,)
        found = [
            kind
            for kind in kinds
            for model in models.values()
            if kind in model.kinds and self.model in (None, model.name)
        ]
        kind = found[0] if found else kinds[0]
        model = models.choose(kind, self.model)
        model.component(kind)
        return model, kind


class TokenRequest(OwnText):
    """A token, by the place of its first character."""

    kind: Annotated[ExplainedKind | None, Field(description="What had been asked for")] = None
    start: int
    html: bool = False


class CheckedText(OwnText):
    """A text with what somebody has checked in it, and the layout of the file for that."""

    kind: Annotated[CheckedKind | None, Field(description="What had been asked for")] = None
    kinds: ClassVar[tuple[str, ...]] = (*EXPLAINED, "sections", "punctuate")
    checked: list[CheckMark]
    layout: FileLayout = "tsv"
    name: Annotated[str, Field(description="Of the document", pattern=r"^[^\r\n\t]*$")] = ""


class CheckedRequest(Request):
    """A request whose JSON is read within the limits of `parse_json`."""

    async def json(self) -> Any:
        return parse_json(await self.body(), "The request")


class CheckedRoute(APIRoute):
    """A route that gets such requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_checked(request: Request) -> Response:
            return await handle(CheckedRequest(request.scope, request.receive))

        return handle_checked


def make_app(
    models: Models, limits: Limits | None = None, hosts: Collection[str] = LOCAL, learner: Learner | None = None
) -> FastAPI:
    """Make the application.

    models (Models): what is served. limits (Limits): of requests. hosts (Collection[str]): names by which the service
        may be called, in the header Host, and perhaps ANY_ADDRESS. learner (Learner | None): of corrections; None: one
        that keeps none.
    """
    limits = limits or Limits()
    app = FastAPI(
        title="spacy_crf", description=__doc__, docs_url=None, redoc_url=None, openapi_url="/openapi.json"
    )  # the pages of FastAPI load scripts from elsewhere
    learner, router = learner or Learner(), APIRouter(route_class=CheckedRoute)
    add_json(router, models, limits)
    add_grobid(router, models, limits)
    add_inception(router, models, limits, learner)
    add_label_studio(router, models, limits, learner)
    app.include_router(router)
    app.add_exception_handler(CRFError, lambda _, error: tell_refusal(error))
    app.add_exception_handler(RequestValidationError, lambda _, error: tell_refusal(_invalid(error)))
    app.add_exception_handler(HTTPException, lambda _, error: tell_refusal(_of_http(error)))
    app.add_exception_handler(Exception, lambda _, error: tell_refusal(_unexpected(error)))
    app.add_middleware(Gate, limits=limits, hosts=hosts)
    return app


def add_json(router: APIRouter, models: Models, limits: Limits) -> None:
    """Add the endpoints for JSON, and the page."""
    page = page_of_workbench()

    @router.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def show_page() -> Response:
        return HTMLResponse(page, headers=PAGE_HEADERS)

    @router.get("/health")
    async def tell_health() -> dict[str, Any]:
        """Whether the service is there."""
        return {"status": "UP", "models": list(models)}

    @router.get("/models")
    async def tell_models() -> list[dict[str, Any]]:
        """What each model is made of, what it answers, its scores, and what it learns."""
        return [model.describe() for model in models.values()]

    @router.post("/explain")
    async def explain_token(request: Annotated[TokenRequest, Body()]) -> Response:
        """Why a token has its label, with what speaks for it, and the best labellings of its sentence."""
        limits.check_texts([request.text])
        model, kind = request.choose(models)

        def work(nlp: Language) -> bytes:
            return to_json(explain_at(nlp, model.component(kind), request.text, request.start, request.html))

        found = await model.run(work, [request.text])
        return Response(b'{"model": %b, "results": [%b]}' % (to_json(model.name), found), media_type="application/json")

    @router.post("/checked")
    async def write_file(request: Annotated[CheckedText, Body()]) -> Response:
        """A file for training, in which what a person has checked in a text is gold."""
        limits.check_texts([request.text])
        model, kind = request.choose(models)
        told = request.text, request.checked, request.layout, request.name
        content = await model.run(lambda nlp: write_checked(nlp, model.component(kind), kind, *told), [request.text])
        is_text = request.layout != "spacy"
        return Response(content, media_type="text/plain; charset=utf-8" if is_text else "application/octet-stream")

    for kind in KINDS:
        name = f"answer_{kind}"
        router.add_api_route(f"/{kind}", text_endpoint(kind, models, limits), methods=["POST"], name=name)


def text_endpoint(kind: str, models: Models, limits: Limits) -> Callable[..., Awaitable[Response]]:
    """The endpoint of one kind of answers."""

    async def answer_texts(request: Annotated[TextRequest, Body()]) -> Response:
        """An answer for each text, in "results"; a text that fails has its "error" there."""
        texts = request.listed()
        limits.check_texts(texts)
        model = models.choose(kind, request.model)
        model.component(kind)

        def work(nlp: Language, texts: list[str]) -> list[bytes]:
            found = answer(kind, nlp, model.component(kind), texts, PAGE_TELLERS if request.html else None)
            return [to_json(show(kind, *pair) if request.html else pair[0]) for pair in zip(found, texts)]

        results: list[bytes] = await model.gather((kind, request.html), texts, work, sum(map(len, texts)))
        name = to_json(model.name)
        return Response(b'{"model": %b, "results": [%b]}' % (name, b", ".join(results)), media_type="application/json")

    return answer_texts


def to_json(data: Any) -> bytes:
    """JSON in UTF-8."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf8")


def _invalid(error: Exception) -> CRFError:
    assert isinstance(error, RequestValidationError)
    found = error.errors()[0]
    place = ".".join(map(str, found["loc"][:4]))
    return Refusal(ServiceErrors.CRF734.format(problem=f"{place}: {found['msg']}"))


def _of_http(error: Exception) -> CRFError:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, CRFError):  # JSON that cannot be read
        return Refusal(str(error.__cause__), error.status_code)
    return Refusal(ServiceErrors.CRF734.format(problem=error.detail), error.status_code)


def _unexpected(error: Exception) -> CRFError:
    log.error("A request failed", exc_info=error)
    if isinstance(error, OSError) and error.strerror:
        return Refusal(ServiceErrors.CRF253.format(reason=error.strerror), 500)
    return Refusal(ServiceErrors.CRF739.format(error=type(error).__name__), 500)


# -- the workbench ----------------------------------------------------------------------------------------------------


def page_of_workbench() -> str:
    """The page, with its scripts and styles in it."""
    page, own, rules, corrections, script = (
        FOLDER.joinpath(name).read_text(encoding="utf8")
        for name in ("workbench.html", "workbench.css", "sets.js", "corrections.js", "workbench.js")
    )
    return Template(page).substitute(style=parts.style() + own, script=rules + corrections + script)


def explain_at(nlp: Language, component: Any, text: str, start: int, with_html: bool = False) -> Answer:
    """Explain the label of the token that begins at a character.

    RETURNS (dict): the fields of its `Explanation`, or its "error", with the best "labellings" of its sentence.
    """
    chain = component if isinstance(component, ChainPipe) else nlp.get_pipe(component.source)
    if not isinstance(chain, ChainPipe):
        why = f"its source {component.source!r} is no CRF"
        raise Refusal(ServiceErrors.CRF580.format(name=component.name, why=why))
    (doc,) = run_before(nlp, chain.name, [nlp.make_doc(text)])
    token = find(start, token_places(doc))
    told: Answer = {"labellings": best_labellings(chain, doc, token)}
    try:
        (found,) = explain(chain, doc, [token])
        told = {**asdict(found), **told}
    except CRFError as error:
        told |= tell_error(error)
    if with_html:
        why = parts.failed(told["error"]) if "error" in told else parts.explanation(told)
        told["html"] = why + parts.labellings(told["labellings"])
    return told


def best_labellings(chain: ChainPipe, doc: Doc, token: int) -> list[Answer]:
    """The best labellings of the sequence that a token is in, each with its probability and what differs in it; "" for
    tokens that get no label."""
    docs, places = chain.words([doc]), Places.beside(is_white_space(doc) & chain.skips_white_space)
    columns, distribution = chain.read_distribution(docs, True)
    batch = Batch(docs, columns, distribution, chain.tags, chain.unlabelled(docs, columns))
    sequences = Segments(columns.lengths)
    number = int(sequences.owners[places.words_of(token, token + 1)[0]])
    units = sequences.slices()[number]
    (found,) = batch.labellings.select(np.array([number])).n_best(BEST)
    told = places.spread_sequence({"start": units.start, "end": units.stop, **batch.listed(*found)})
    names, words = told["labels"], [doc[place].text for place in range(told["start"], told["end"])]
    return [
        {
            **{"probability": probability, "labels": own},
            "differs": [[word, label] for word, label, best in zip(words, own, names[0]) if label != best],
        }
        for own, probability in zip(names, told["probabilities"])
    ]

"""The application: its endpoints for JSON, its limits, and errors with codes for whatever it refuses."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, MutableMapping
from ipaddress import ip_address
from typing import Annotated, Any, ClassVar, Literal, get_args

from fastapi import APIRouter, Body, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from spacy.language import Language
from starlette.exceptions import HTTPException

from ..core.errors import CRFError
from ..reading.records import parse_json
from .answers import answer
from .corrections import PAGE_TELLERS, CheckMark, FileLayout, write_checked
from .errors import Refusal, ServiceErrors
from .grobid import add_grobid
from .inception import add_inception
from .label_studio import add_label_studio
from .models import KINDS, Limits, Models, ServedModel
from .rendering import show
from .retraining import Learner
from .workbench import explain_at, page_of_workbench

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MB = 1_000_000
ExplainedKind = Literal["tag", "sets", "entities"]
CheckedKind = Literal[ExplainedKind, "sections", "punctuate"]
EXPLAINED: tuple[str, ...] = get_args(ExplainedKind)
READ_ON = 8  # times the limit of a request that are read, and thrown away, so that who sends it hears of the refusal
LOCAL = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = "any address"  # among the names of hosts: in figures, which nobody can point elsewhere
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
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


class Gate:
    """Lets requests in that are for this host and not too large; a body is read to its end before it is looked at.

    It keeps pages of other sites out, which reach a local service by a name that their owner has pointed to it.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], limits: Limits, hosts: Collection[str]):
        self.app, self.limits, self.hosts = app, limits, {*hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._check_host(scope)
            body = await asyncio.wait_for(self._read(receive), self.limits.seconds)
        except Refusal as refusal:
            await tell_refusal(refusal)(scope, receive, send)
            return
        except TimeoutError:
            late = Refusal(ServiceErrors.CRF728.format(seconds=self.limits.seconds), 408)
            await tell_refusal(late)(scope, receive, send)
            return
        is_read = False

        async def receive_again() -> MutableMapping[str, Any]:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, receive_again, send)

    def _check_host(self, scope: Scope) -> None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        named = hosts[0] if len(hosts) == 1 else ""
        name = named if named.endswith("]") else named.rpartition(":")[0] or named
        if name.lower() not in self.hosts and not (ANY_ADDRESS in self.hosts and is_address(name)):
            known = ", ".join(sorted(self.hosts))
            raise Refusal(ServiceErrors.CRF733.format(host=named[:100], known=known), 400)

    async def _read(self, receive: Receive) -> bytes:
        most, size, parts = int(self.limits.megabytes * MB), 0, []
        while True:
            message = await receive()
            part = message.get("body", b"")
            size += len(part)
            if size <= most:
                parts.append(part)
            if size > READ_ON * most or (size > most and not message.get("more_body")):
                raise Refusal(ServiceErrors.CRF720.format(most=f"{self.limits.megabytes:g}"), 413)
            if not message.get("more_body"):
                return b"".join(parts)


def is_address(name: str) -> bool:
    """Whether the name of a host is an address in figures."""
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


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


def tell_refusal(error: Exception) -> JSONResponse:
    """The answer to a request that is refused: its code and a message that says what to do."""
    assert isinstance(error, CRFError)
    status = error.status if isinstance(error, Refusal) else 422
    wait = error.retry_after if isinstance(error, Refusal) else 0
    headers = {"Retry-After": str(wait)} if wait else None
    return JSONResponse({"code": error.code, "message": str(error)}, status, headers)


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

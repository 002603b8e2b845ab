"""The door of the service: a server, uvicorn, and limits for what comes before a request is looked at."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from ipaddress import ip_address
from typing import Any

import uvicorn
from fastapi.responses import JSONResponse
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ..core.errors import CRFError
from .errors import Refusal, ServiceErrors
from .models import Limits

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MB = 1_000_000
SILENT, LONGEST_HEAD = 30.0, MB  # seconds without a request on a connection; bytes before the body of one
READ_ON = 8  # times the limit of a request that are read, and thrown away, so that who sends it hears of the refusal
LOCAL = ("127.0.0.1", "localhost", "[::1]")
ANY_ADDRESS = "any address"  # among the names of hosts: in figures, which nobody can point elsewhere


def make_server(app: Any, **settings: Any) -> uvicorn.Server:
    """Make a server of an app, with settings of uvicorn."""
    return uvicorn.Server(uvicorn.Config(app, http=LimitedProtocol, **settings))


class LimitedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The protocol of uvicorn, which waits for headers for ever and keeps all; such connections are closed here."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._last, self._size = None, 0
        self._timer = self.loop.call_later(SILENT, self._close_silent, None)

    def connection_lost(self, error: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self.cycle is not self._last or not self._awaits_request():
            self._last, self._size = self.cycle, 0
        self._size += len(data)
        if self._size > LONGEST_HEAD and self._awaits_request():
            self.transport.abort()
        else:
            super().data_received(data)

    def _awaits_request(self) -> bool:  # and does not throw away the rest of a body that was refused
        return self.cycle is None or (self.cycle.response_complete and not self.cycle.more_body)

    def _close_silent(self, before: Any) -> None:  # the last request, some time ago; no such thing if it was at work
        now = self.cycle if self._awaits_request() else object()
        if now is before:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(SILENT, self._close_silent, now)


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


def tell_refusal(error: Exception) -> JSONResponse:
    """The answer to a request that is refused: its code and a message that says what to do."""
    assert isinstance(error, CRFError)
    status = error.status if isinstance(error, Refusal) else 422
    wait = error.retry_after if isinstance(error, Refusal) else 0
    headers = {"Retry-After": str(wait)} if wait else None
    return JSONResponse({"code": error.code, "message": str(error)}, status, headers)

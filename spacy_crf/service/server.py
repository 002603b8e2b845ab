"""The server of the service: uvicorn, with limits for what comes before a request."""

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from .app import MB

SILENT, LONGEST_HEAD = 30.0, MB  # seconds without a request on a connection; bytes before the body of one


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

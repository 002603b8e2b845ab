"""Applications behind a real socket, and requests to them."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

for package in ("fastapi", "uvicorn", "cassis", "httpx"):
    pytest.importorskip(package, reason="the service needs spacy_crf[serve], and its tests httpx")

import httpx  # noqa: E402

from spacy_crf.service.app import make_app  # noqa: E402
from spacy_crf.service.models import Limits, Models, ServedModel  # noqa: E402
from spacy_crf.service.server import make_server  # noqa: E402


@contextmanager
def served(models: Models, limits: Limits | None = None, **settings: Any) -> Iterator[httpx.Client]:
    """Serve models on a free port of this machine, and give a client for it."""
    app = make_app(models, limits, **settings)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = make_server(app, log_level="error", lifespan="off")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=60) as client:
            yield client
        server.should_exit = True
        thread.join()


def model_of(name: str, nlp: Any, **limits: Any) -> Models:
    """One model alone."""
    return Models([ServedModel(name, nlp, limits=Limits(**limits))])


def refusal(response: httpx.Response, status: int, code: str) -> str:
    """The message of a refusal, which has to have a status and a code."""
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    message: str = response.json()["message"]
    assert message.startswith(f"[{code}] ")
    return message

"""Load on the service, and what it does when hostile requests go between.

    python -m benchmarks.service_load [MODEL ...] [--seconds 60] [--connections 20] [--hostile [N]] [--out FILE.json]

MODEL is a folder, or NAME=FOLDER, as `crf serve` takes it; without one, the tagger of `make demo` is trained. The
service runs in a process of its own, on a free port of this machine. Good requests are of one sentence, on connections
that are kept; all endpoints of all models that take texts are asked in turn. An answer has to have the bytes that it
had before the load. What is told: good requests a second, milliseconds of the processor for each (of the server, and
for all that it did), latencies, resident memory at the start, where each sentence has been answered once, and at the
end, how it grows in a minute, and how often each status came.

With --hostile, other connections send what `benchmarks.hostile` makes. Faults are a status of 500 or more, a refusal
without a code, no answer, a good request that is lost, refused or answered otherwise, and a traceback of the server.
They are listed, and the command ends with 1. It needs psutil, which the extra `test` brings.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import linear_regression, quantiles
from typing import Any, NamedTuple

import psutil

from benchmarks.hostile import FAST, SLOW, Family, Hostile, Right, request, right_requests, to_json
from benchmarks.machine import describe
from benchmarks.measure import ROOT, write_json

SENTENCES = re.compile(r"^# text = (.+)$", re.MULTILINE)
CORPUS = ROOT / "corpus" / "crf_tagger" / "dev.conllu"
ASKED = 50  # sentences for each kind of answers
HOSTILE = 16  # connections for hostile requests, half of which are slow
PATIENCE, SAMPLED = 120, 0.5  # seconds for an answer, and between samples
GOOD = "good"
CODED = re.compile(rb'\{"code": ?"CRF\d+"')
RAISED = re.compile(r"^[\w.]*(?:Error|Exception|Refusal)\b.*", re.MULTILINE)  # the end of a traceback
MOST_TOLD = 300  # characters that are shown of a request, or an answer


class Reply(NamedTuple):
    """An answer. status (int): of HTTP."""

    status: int
    body: bytes


@dataclass
class Seen:
    """What has been seen. latencies (list[float]): of good requests, in seconds. statuses (Counter): by "good" or the
    family of a hostile request. faults (Counter): by what they are. samples (list): seconds, CPU seconds, MiB."""

    latencies: list[float] = field(default_factory=list)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    samples: list[tuple[float, float, float]] = field(default_factory=list)


# -- the server --------------------------------------------------------------------------------------------------


def train_tagger(folder: Path) -> Path:
    """Train the tagger as `make demo` does."""
    command = [sys.executable, "-m", "spacy", "train", "configs/crf_tagger.cfg", "--output", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return folder / "model-best"


class Server(NamedTuple):
    """A service in a process of its own. port (int): that it listens to. log (Path): what it writes of faults."""

    process: psutil.Process
    port: int
    log: Path

    def sample(self) -> tuple[float, float, float]:
        """The moment, CPU seconds so far, and resident memory in MiB."""
        used = self.process.cpu_times()
        return time.perf_counter(), used.user + used.system, self.process.memory_info().rss / 2**20


@contextmanager
def served(models: Sequence[str]) -> Iterator[Server]:
    """Serve models on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        given = models or [f"crf_tagger={train_tagger(Path(folder, 'training'))}"]
        command = [sys.executable, "-m", "spacy", "crf", "serve", *given, "--port", "0", "--data", f"{folder}/data"]
        log = Path(folder, "log")
        with (
            log.open("wb") as file,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as process,
        ):
            assert process.stdout is not None
            try:
                address = next((line for line in process.stdout if line.startswith("http://")), None)
                if address is None:
                    raise SystemExit(f"The service did not start: {log.read_text(encoding='utf8')}")
                yield Server(psutil.Process(process.pid), int(address.rpartition(":")[2]), log)
            finally:
                process.terminate()


# -- HTTP --------------------------------------------------------------------------------------------------------


@dataclass
class Connection:
    """A connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, port: int) -> "Connection":
        """Open one."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, *parts: bytes, pause: float = 0.0, answers: int = 1) -> Reply:
        """Send requests, and read their answers, of which the last one is returned; EOFError where there is none."""
        await self.send(parts, pause)
        replies = [await asyncio.wait_for(self._read(), PATIENCE) for _ in range(answers)]
        return replies[-1]

    async def send(self, parts: Sequence[bytes], pause: float) -> None:
        """Send parts of a request; the server may answer, and close the connection, before it has read all of them."""
        with suppress(ConnectionError):
            for number, part in enumerate(parts):
                await asyncio.sleep(pause if number else 0)
                self.writer.write(part)
                await asyncio.wait_for(self.writer.drain(), PATIENCE)

    async def _read(self) -> Reply:
        head = await self.reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status < 200:
            return await self._read()
        size = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        return Reply(status, await self.reader.readexactly(int(size[1]) if size else 0))

    def close(self) -> None:
        """Close it at once."""
        self.writer.transport.abort()


# -- load --------------------------------------------------------------------------------------------------------


async def ask_all(port: int, asked: Sequence[bytes]) -> list[Reply]:
    """Ask one after the other."""
    connection = await Connection.open(port)
    replies = [await connection.ask(one) for one in asked]
    connection.close()
    return replies


async def send_good(port: int, asked: Sequence[tuple[bytes, Reply]], until: float, seen: Seen) -> None:
    """Send good requests on one connection, and compare their answers."""
    connection, turn = await Connection.open(port), cycle(asked)
    while (started := time.perf_counter()) < until:
        one, expected = next(turn)
        try:
            reply = await connection.ask(one)
        except (OSError, EOFError) as error:
            seen.faults[f"a good request was lost: {type(error).__name__}"] += 1
            connection.close()
            connection = await Connection.open(port)
            continue
        seen.latencies.append(time.perf_counter() - started)
        seen.statuses[GOOD, str(reply.status)] += 1
        if reply != expected:
            told = f"{expected.status} before, {reply.status} {reply.body[:MOST_TOLD]!r} now"
            seen.faults[f"a good request has another answer: {told}"] += 1
    connection.close()


async def send_hostile(port: int, make: Callable[[], Hostile], until: float, seen: Seen) -> None:
    """Send hostile requests, each on a connection of its own."""
    while time.perf_counter() < until:
        one, connection = make(), await Connection.open(port)
        status, fault = await try_hostile(connection, one)
        seen.statuses[one.name, status] += 1
        if fault:
            seen.faults[f"{one.name}: {fault} to {shown(one)}"] += 1
        connection.close()


async def try_hostile(connection: Connection, one: Hostile) -> tuple[str, str]:
    """Send a hostile request. RETURNS: the status of the answer, or what took its place; and the fault, "" for none."""
    try:
        if one.is_left:
            await connection.send(one.parts, one.pause)
            return "left", ""
        reply = await connection.ask(*one.parts, pause=one.pause, answers=one.answers)
    except TimeoutError:
        return "late", f"no answer in {PATIENCE} s"
    except (OSError, EOFError):
        return "closed", "no answer" * one.is_whole
    return str(reply.status), fault_of(one, reply)


def fault_of(one: Hostile, reply: Reply) -> str:
    """What is wrong with an answer to a hostile request; "" for nothing."""
    is_told = reply.status < 400 or CODED.match(reply.body) or not one.is_whole
    return "" if is_told and reply.status < 500 else f"{reply.status} {reply.body[:MOST_TOLD]!r}"


def shown(one: Hostile) -> str:
    """The beginning and the end of a request."""
    whole = b"".join(one.parts)
    return repr(whole) if len(whole) < 3 * MOST_TOLD else f"{whole[: 2 * MOST_TOLD]!r} .. {whole[-MOST_TOLD:]!r}"


def maker(families: Sequence[Family], right: Sequence[Right], seed: int) -> Callable[[], Hostile]:
    """Make hostile requests of some families, the same ones for a seed."""
    rng = random.Random(seed)
    return lambda: rng.choice(families)(rng, rng.choice(right))


async def watch(server: Server, until: float, seen: Seen) -> None:
    """Take samples of the process."""
    while time.perf_counter() < until:
        seen.samples.append(server.sample())
        await asyncio.sleep(SAMPLED)
    seen.samples.append(server.sample())


async def load(server: Server, options: argparse.Namespace) -> Seen:
    """Send requests for some seconds, and tell what was seen."""
    seen, port = Seen(), server.port
    (told,) = await ask_all(port, [request("/models", method="GET")])
    models = json.loads(told.body)
    good = [
        request(f"/{kind}", to_json({"text": text, "model": model["name"]}))
        for text in SENTENCES.findall(CORPUS.read_text(encoding="utf8"))[:ASKED]
        for model in models
        for kind in model["answers"]
    ]
    asked = list(zip(good, await ask_all(port, good)))
    until = time.perf_counter() + options.seconds
    work: list[Coroutine[Any, Any, None]] = [watch(server, until, seen)]
    for number in range(options.connections):
        place = number * len(asked) // options.connections
        work.append(send_good(port, asked[place:] + asked[:place], until, seen))
    right = right_requests(models)
    for number in range(options.hostile):
        families = SLOW if number % 2 else FAST
        work.append(send_hostile(port, maker(families, right, options.seed + number), until, seen))
    await asyncio.gather(*work)
    return seen


# -- results -----------------------------------------------------------------------------------------------------


def summarise(seen: Seen) -> dict[str, Any]:
    """The figures of a run."""
    (began, cpu_before, first), (ended, cpu_behind, last) = seen.samples[0], seen.samples[-1]
    moments, _, memory = zip(*seen.samples)
    cuts = quantiles(seen.latencies, n=100)
    statuses = {f"{name} {status}": count for (name, status), count in sorted(seen.statuses.items())}
    return {
        "seconds": ended - began,
        "requests_per_second": len(seen.latencies) / (ended - began),
        "cpu_milliseconds_per_request": 1000 * (cpu_behind - cpu_before) / len(seen.latencies),
        "p50_milliseconds": 1000 * cuts[49],
        "p99_milliseconds": 1000 * cuts[98],
        "first_mebibytes": first,
        "last_mebibytes": last,
        "mebibytes_by_minute": [round(held) for held in memory[:: round(60 / SAMPLED)]],
        "mebibytes_per_minute": 60 * linear_regression(moments, memory).slope,
        "hostile": sum(count for (name, _), count in seen.statuses.items() if name != GOOD),
        "statuses": statuses,
        "faults": [f"{count} times {fault}" for fault, count in seen.faults.most_common()],
    }


def main() -> None:
    """Measure, and end with 1 where there are faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="folder, or NAME=FOLDER")
    parser.add_argument("--seconds", type=float, default=60, help="of load")
    parser.add_argument("--connections", type=int, default=20, help="for good requests")
    parser.add_argument(
        "--hostile",
        metavar="N",
        type=int,
        nargs="?",
        const=HOSTILE,
        default=0,
        help=f"connections ({HOSTILE}) for them",
    )
    parser.add_argument("--seed", type=int, default=0, help="of hostile requests")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    options = parser.parse_args()
    machine = describe()
    with served(options.models) as server:
        found = summarise(asyncio.run(load(server, options)))
        log = server.log.read_text(encoding="utf8", errors="replace")
    found["faults"] += [f"{count} times {line}" for line, count in Counter(RAISED.findall(log)).most_common()]
    found["load_average_at_end"] = os.getloadavg()[0]
    print(json.dumps(found, indent=1))
    if options.out:
        write_json(options.out, {"machine": machine, **found})
    sys.exit(bool(found["faults"]))


if __name__ == "__main__":
    main()

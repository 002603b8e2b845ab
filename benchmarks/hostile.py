"""Hostile requests for `benchmarks.service_load`: most of them are right requests that are damaged."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from cassis import Cas, TypeSystem

TEXT = "They can swim to the boats that leave at noon."
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
LAYER, FEATURE = "webanno.custom.X", "label"
DKPRO, ANNOTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.", "uima.tcas.Annotation"
EXPLAINED = ("tag", "sets", "entities")
KEYS = ("id", "documentId", "userId", "projectId")  # name files of corrections: from five on, a model would learn
LARGE, DEEP, WORDS, TOGETHER = 10_000_000, 100_000, 40, 3
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 2**63, -(2**70), 1e308, 0.5, float("nan"), float("inf"), -float("inf")),
    *("", " ", "\0", "none", "\ud800", "\udfff\ud800", "\ufeff", "\u202e\u200b", "a\u0301" * 50, "😀" * 100),
    *("\r\n\r\n", "../../etc/passwd", "$HOME", "{}", "1" * 5000, "𝟜", "<a/>", "<!DOCTYPE a>", "\t" * 3000),
    *([], {}, [None], [[]], ["a"] * 200, {"": None}, {"start": 0}, [{}], [{"start": 0, "tags": [""]}] * 2),
)
LINES = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40,  # the beginning of TLS
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /health HTTP/9.9\r\n\r\n",
    b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
    b"POST /tag HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nzz\r\n",
    b"POST /tag HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
    b"GET /health HTTP/1.1\r\nHost : localhost\r\nA\x00B: 1\r\n\r\n",
)
HEADS = (
    *(["Host: evil.example"], ["Host: "], ["Host: \xff\xfe"], ["Host: localhost", "Host: localhost"], []),
    ["Host: localhost", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"],
    ["Host: localhost", "Expect: 200-ok", "Connection: close"],
    ["Host: localhost", "Accept: \xe9" * 50, "Cookie: " + "a" * 8000, "X-Forwarded-For: ' OR 1=1"],
)


class Hostile(NamedTuple):
    """A hostile request.

    name (str): of its family. parts (list[bytes]): what is sent, one after the other. is_whole (bool): whether it is
        HTTP, so that an answer is due, with a code where it refuses; else the connection may be closed without.
    pause (float): seconds between the parts. is_left (bool): the connection is closed behind the last part.
    answers (int): that are due.
    """

    name: str
    parts: Sequence[bytes]
    is_whole: bool = True
    pause: float = 0.0
    is_left: bool = False
    answers: int = 1


@dataclass(frozen=True)
class Right:
    """A right request, which is damaged. body (Any): a value for JSON, or bytes."""

    path: str
    body: Any
    kind: str = JSON

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        return self.body if isinstance(self.body, bytes) else to_json(self.body)


def to_json(value: Any) -> bytes:
    """JSON, also of what is none: NaN, infinity, lone surrogates, which stay escaped."""
    return json.dumps(value).encode()


def request(
    path: str, body: bytes = b"", kind: str = JSON, method: str = "POST", heads: Iterable[str] = ("Host: localhost",)
) -> bytes:
    """A request of HTTP 1.1."""
    lines = [f"{method} {path} HTTP/1.1", *heads, f"Content-Type: {kind}", f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


# -- right requests ----------------------------------------------------------------------------------------------


def right_requests(models: Sequence[Mapping[str, Any]]) -> list[Right]:
    """A request to each endpoint of each model, as GET /models tells of them."""
    return [one for model in models for one in _of_model(model["name"], model["answers"], _labels(model))]


def _labels(model: Mapping[str, Any]) -> list[str]:
    return [label for component in model["components"] for label in component["labels"]] or ["NONE"]


def _of_model(name: str, kinds: Sequence[str], labels: list[str]) -> Iterator[Right]:
    for kind in kinds:
        yield Right(f"/{kind}", {"text": TEXT, "model": name, "html": True})
        asked = {"text": TEXT, "model": name, "kind": kind}
        if kind in EXPLAINED:
            yield Right("/explain", {**asked, "start": 5, "html": True})
        if kind == "cite":
            yield from (
                Right(f"/api/processCitation{end}", b"citations=" + TEXT.encode(), FORM) for end in ("", "List")
            )
        else:
            mark = {"start": 0, "end": 4, "tags": _tags(kind, labels)}
            for layout in ("tsv", "conllu", "spacy"):
                yield Right("/checked", {**asked, "checked": [mark], "layout": layout, "name": "a"})
    given, annotated = _inception()
    yield Right(f"/inception/{name}/predict", {**given, "document": annotated})
    yield Right(f"/inception/{name}/train", {**given, "documents": [annotated]})
    listed = "".join(f'<Label value="{label}"/>' for label in labels if label.isalnum())
    interface = f'<View><Labels name="l" toName="t">{listed}</Labels><Text name="t" value="$text"/></View>'
    task = {"id": 1, "data": {"text": TEXT}}
    region = {"from_name": "l", "value": {"start": 0, "end": 4, "text": TEXT[:4], "labels": labels[:1]}}
    event = {"annotation": {"id": 1, "result": [region]}, "task": task, "project": {"label_config": interface}}
    yield Right(f"/label-studio/{name}/setup", {"project": "1", "schema": interface})
    yield Right(f"/label-studio/{name}/predict", {"tasks": [task], "label_config": interface})
    for action in ("ANNOTATION_CREATED", "ANNOTATIONS_DELETED"):
        yield Right(f"/label-studio/{name}/webhook", {"action": action, **event})


def _tags(kind: str, labels: Sequence[str]) -> list[str]:
    return {"punctuate": ["", TEXT[:4]], "sections": ["text", ""]}.get(kind, list(labels[:1]))


def _inception() -> tuple[dict[str, Any], dict[str, Any]]:
    """What requests of INCEpTION have in common, and a document with an annotation."""
    system = TypeSystem()
    for name in (f"{DKPRO}Sentence", f"{DKPRO}Token", LAYER):
        system.create_type(name, ANNOTATION)
    system.create_feature(system.get_type(LAYER), FEATURE, "uima.cas.String")
    cas = Cas(system)
    cas.sofa_string, cas.sofa_mime = TEXT, "text/plain"
    cas.add(system.get_type(f"{DKPRO}Sentence")(begin=0, end=len(TEXT)))
    for start, end in ((0, 4), (5, 8), (9, 13)):
        cas.add(system.get_type(f"{DKPRO}Token")(begin=start, end=end))
    cas.add(system.get_type(LAYER)(begin=0, end=4, **{FEATURE: "PRP"}))
    metadata = {"layer": LAYER, "feature": FEATURE, "projectId": 1, "anchoringMode": "tokens", "crossSentence": False}
    document = {"xmi": cas.to_xmi(), "documentId": 1, "userId": "a"}
    return {"metadata": metadata, "typeSystem": system.to_xml()}, document


# -- damages -----------------------------------------------------------------------------------------------------


def places_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """All containers of JSON, each with the key or number of each of its parts, but those that name files."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if key not in KEYS:
            yield value, key
            yield from places_of(part)


def damage_text(rng: Random, text: str) -> str:
    """A text, some of which is lost, doubled, or another character."""
    low = rng.randrange(len(text) + 1)
    high = min(len(text), low + rng.choice((1, 1, 3, 20, 200)))
    middle = rng.choice(("", text[low:high] * 2, text[low:high][::-1], rng.choice("<>&\"'\0\n0-9𝟜é\ud800")))
    return text[:low] + middle + text[high:]


def change_value(rng: Random, one: Right) -> bytes:
    """A part that is odd, missing, in a list, or a damaged text."""
    whole = {"": one.body.decode() if isinstance(one.body, bytes) else deepcopy(one.body)}
    for _ in range(rng.choice((1, 1, 2))):
        owner, key = rng.choice(list(places_of(whole)))
        value, change = owner[key], rng.random()
        if isinstance(value, str) and change < 0.5:
            owner[key] = damage_text(rng, value)
        elif change < 0.85:
            owner[key] = deepcopy(rng.choice(ODD_VALUES))
        elif change < 0.93 or not isinstance(owner, dict) or owner is whole:
            owner[key] = [value] * rng.choice((1, 2, 101))
        else:
            del owner[key]
    if isinstance(one.body, bytes) and isinstance(whole[""], str):
        return whole[""].encode("utf8", "surrogatepass")
    return to_json(whole[""])


def change_bytes(rng: Random, one: Right) -> bytes:
    """Bytes that are lost, or others."""
    content = bytearray(one.content)
    for _ in range(rng.randint(1, 5)):
        low = rng.randrange(len(content) + 1)
        content[low : low + rng.randrange(4)] = rng.choice(
            (b"", rng.randbytes(2), b'"', b"]", b"}", b"\\ud800", b"NaN")
        )
    return bytes(content)


def make_no_json(rng: Random, one: Right) -> bytes:
    """No JSON, or another one."""
    own = one.content
    return rng.choice(
        (b"", b"null", b"[1, 2]", b'"a"', b"NaN", b"\xff\xfe", own * 2, own[1:], own[:-1], own.replace(b":", b"="))
    )


def nest(rng: Random, one: Right) -> bytes:
    """Deep nesting, alone or in the place of a text."""
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opening * rng.choice((200, 2000, DEEP)) + b"1" + closing * rng.choice((0, 200, DEEP))
    return rng.choice((deep, b'{"text": %b}' % deep, b'{"texts": [%b]}' % deep, b'{"a": {"text": %b}}' % deep))


def enlarge(rng: Random, one: Right) -> bytes:
    """A text, or texts, beyond what is allowed, or near it."""
    piece = rng.choice((" ", "a", "a ", "They can swim.\n", "😀", "<a>", "1. "))
    text = piece * (rng.choice((LARGE, LARGE, 3_900_000, 600_000)) // len(piece.encode()))
    return json.dumps(
        {"text": text} if rng.random() < 0.8 else {"texts": [text[:100]] * 500}, ensure_ascii=False
    ).encode()


def make_words(rng: Random, count: int) -> str:
    """New words of random letters."""
    letters = rng.choice(("abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопр", "一二三四五六七八", "aé-'.,A9😀"))
    return " ".join("".join(rng.choices(letters, k=rng.randint(1, 12))) for _ in range(count))


def ask_about_new_words(rng: Random, one: Right) -> bytes:
    """A right request with words that no model has seen; sometimes many."""
    text = make_words(rng, rng.choice((1, 10, WORDS, WORDS, 50 * WORDS)))
    if isinstance(one.body, bytes):
        return b"citations=" + text.encode()
    return to_json({**one.body, "text": text} if "text" in one.body else one.body)


BODIES: tuple[Callable[[Random, Right], bytes], ...] = (
    *(change_value, change_value, change_value, change_value, change_bytes, make_no_json, nest, enlarge),
    *(ask_about_new_words, ask_about_new_words),
)


# -- families ----------------------------------------------------------------------------------------------------


def damage_body(rng: Random, one: Right) -> Hostile:
    """A body that is not as it should be."""
    change = rng.choice(BODIES)
    return Hostile(change.__name__, [request(one.path, change(rng, one), one.kind)])


def miss_the_path(rng: Random, one: Right) -> Hostile:
    """Unknown paths, methods and content types."""
    paths = (
        f"{one.path}x",
        "/",
        "//",
        "/%00",
        "/%ff",
        "/..%2f..%2fetc/passwd",
        "/inception//predict",
        f"{one.path}?a=%zz",
    )
    path = rng.choice((one.path, damage_path(rng, one.path), rng.choice(paths)))
    method = rng.choice(("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST", "PROPFIND"))
    kind = rng.choice(
        (one.kind, "text/plain", "application/xml", "multipart/form-data", "application/json; charset=utf-7", "\xe9")
    )
    return Hostile("path", [request(path, one.content, kind, method)])


def damage_path(rng: Random, path: str) -> str:
    """A path with a part that there is not, such as the name of a model."""
    parts = path.split("/")
    parts[rng.randrange(1, len(parts))] = rng.choice(
        ("none", "%F0%9F%98%80", "%ED%A0%80", "a" * 5000, "..", "%2e%2e", "%0d%0a")
    )
    return "/".join(parts)


def pack(rng: Random, one: Right) -> Hostile:
    """A body that is gzipped."""
    heads = ("Host: localhost", "Content-Encoding: gzip")
    return Hostile("gzip", [request(one.path, gzip.compress(one.content), one.kind, heads=heads)])


def cut_in_chunks(rng: Random, one: Right) -> Hostile:
    """A right body in chunks, which is answered."""
    size = rng.choice((1, 7, 1000))
    content = one.content[:3000] if size == 1 else one.content
    pieces = [content[low : low + size] for low in range(0, len(content), size)]
    head = (
        f"POST {one.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {one.kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return Hostile("chunks", [head.encode(), chunks + b"0\r\n\r\n"])


def break_http(rng: Random, one: Right) -> Hostile:
    """What is no HTTP, or has headers that are odd or oversized."""
    large = [f"X-{number}: {'a' * rng.choice((10, 5000))}" for number in range(rng.choice((100, 2000)))]
    heads = rng.choice((*HEADS, ["Host: localhost", *large], ["Host: localhost", "X: " + "a" * 1_000_000]))
    whole = request(one.path, one.content, one.kind, heads=heads)
    return Hostile("http", [rng.choice((whole, rng.choice(LINES), rng.randbytes(300)))], is_whole=False)


def send_together(rng: Random, one: Right) -> Hostile:
    """Right requests that do not wait for each other's answers."""
    return Hostile("together", [request(one.path, one.content, one.kind) * TOGETHER], answers=TOGETHER)


def leave(rng: Random, one: Right) -> Hostile:
    """A connection that is closed half-way, or before the answer."""
    whole = request(one.path, rng.choice((one.content, enlarge(rng, one))), one.kind)
    return Hostile("left", [whole[: rng.choice((len(whole), rng.randrange(len(whole))))]], is_whole=False, is_left=True)


def send_slowly(rng: Random, one: Right) -> Hostile:
    """A right request, byte by byte or nearly so."""
    whole = request(one.path, one.content, one.kind)
    size = rng.choice((len(whole) // 10 + 1, len(whole) // 40 + 1))
    return Hostile(
        "slow", [whole[low : low + size] for low in range(0, len(whole), size)], pause=rng.choice((0.05, 0.5))
    )


def stop(rng: Random, one: Right) -> Hostile:
    """A body of which the last byte never comes: refused behind the seconds of a request."""
    whole = request(one.path, one.content, one.kind)
    return Hostile("stopped", [whole[:-1]])


def say_nothing(rng: Random, one: Right) -> Hostile:
    """A connection on which nothing comes, or the beginning of headers alone."""
    beginning = rng.choice((b"", b"\r\n" * 500, b"POST /tag HTTP/1.1\r\nHost: lo"))
    return Hostile("silent", [beginning, b""], is_whole=False, pause=rng.uniform(1, 40), is_left=True)


Family = Callable[[Random, Right], Hostile]
FAST: tuple[Family, ...] = (
    *(damage_body,) * 12,
    *(miss_the_path, pack, cut_in_chunks, break_http, send_together, leave),
)
SLOW: tuple[Family, ...] = (send_slowly, send_slowly, stop, say_nothing)

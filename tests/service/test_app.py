"""JSON over a socket: what is answered, and that whatever is refused has a code."""

import json
import socket
from typing import Any

import pytest
import spacy
from helpers.services import Models, httpx, model_of, refusal, served
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.service.server import ANY_ADDRESS

JSON = {"content-type": "application/json"}
REFERENCE = "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."


def ask(client: httpx.Client, kind: str, **body: Any) -> list[dict[str, Any]]:
    response = client.post(f"/{kind}", json=body)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["results"]
    return found


def test_health_and_models(client: httpx.Client) -> None:
    assert client.get("/health").json()["status"] == "UP"
    assert client.get("/api/isalive").text == "true"
    told = {model["name"]: model for model in client.get("/models").json()}
    assert told["tagger"]["answers"] == ["tag"] and "NN" in told["tagger"]["components"][0]["labels"]
    assert told["references"]["answers"] == ["entities", "cite"]
    assert told["tagger"]["scores"]["tag_acc"] > 0.5


def test_tags(client: httpx.Client, models: Models) -> None:
    text = "They can swim."
    (found,) = ask(client, "tag", text=text)
    doc = models["tagger"].nlp(text)
    assert [token["tag"] for token in found["tokens"]] == [token.tag_ for token in doc]
    for token in found["tokens"]:
        assert text[token["start"] : token["end"]] == token["text"]
        assert token["probabilities"][token["tag"]] == pytest.approx(token["probability"], abs=1e-4)


def test_sets(client: httpx.Client, models: Models) -> None:
    (found,) = ask(client, "sets", text="uinen sawzel", model="sets")
    assert [token["set"] for token in found["tokens"]] == models["sets"].nlp("uinen sawzel")._.tag_set


def test_entities_and_what_constraints_changed(client: httpx.Client) -> None:
    (found,) = ask(client, "entities", text=REFERENCE)
    assert "".join(one["text"] for one in found["entities"]).replace(" ", "") == REFERENCE.replace(" ", "")
    assert all(0 < one["probability"] <= 1 for one in found["entities"])
    assert found["decoding"]["certified"] is True
    for change in found["changes"]:
        assert change["from"] != change["to"] and change["because"][0]


def test_references(client: httpx.Client) -> None:
    (found,) = ask(client, "cite", text=f"[1] {REFERENCE}\n[2] {REFERENCE}\n")
    assert [one["marker"] for one in found["references"]] == ["[1]", "[2]"]
    first = found["references"][0]
    assert first["csl"]["title"] == "The Kitchen Sonnet" and "Kitchen Sonnet" in first["bibtex"]
    assert {"AUTHOR", "TITLE"} <= {field["label"] for field in first["fields"]}
    assert 0 < first["probability"] <= min(field["probability"] for field in first["fields"]) + 1e-6
    assert found["bibtex"].count("@") == 2


@pytest.mark.parametrize("order", [["tagger", "entities"], ["entities", "tagger"]])
def test_components_of_one_pipeline_have_their_own_probabilities(load: Any, order: list[str]) -> None:
    nlp, text = spacy.blank("en"), "Doreen left Whitby in May"
    for name in order:
        nlp.add_pipe("crf_tagger", name=name, source=load(name))
    alone = load("tagger")
    with served(model_of("both", nlp)) as both, served(model_of("one", alone)) as one:
        (expected,) = one.post("/tag", json={"text": text}).json()["results"]
        assert ask(both, "tag", text=text)[0]["tokens"] == expected["tokens"]


def test_attributes_that_other_components_read_keep_their_names(load: Any) -> None:
    nlp, text = load("tagger"), "Can you mail the can opener back?"
    nlp.get_pipe("crf_tagger").cfg["marginals"] = "own_probs"  # type: ignore[attr-defined]
    config = {"marginals": "own_probs", "target": "tag", "constraints": ["at_most(MD, 1)"]}
    nlp.add_pipe("constraint_decoder", config=config)
    tags = [token.tag_ for token in nlp(text)]
    with served(model_of("one", nlp)) as client:
        assert [token["tag"] for token in ask(client, "tag", text=text)[0]["tokens"]] == tags


def test_sections(client: httpx.Client) -> None:
    text = "1. Scope\nAll ferries.\n\n2. Term\nA year, see 1.\n"
    (found,) = ask(client, "sections", text=text)
    assert [node["title"] for node in found["tree"]["sections"]] == ["Scope", "Term"]


@pytest.mark.parametrize("closing", ["", ")", ' ]"'])
def test_punctuation(client: httpx.Client, closing: str) -> None:
    text = f"dear tom{closing} thank you for your letter{closing} 😀 how is your sister"
    (found,) = ask(client, "punctuate", text=text)
    words = [word.translate(str.maketrans("", "", ",.?!:;–")) for word in found["restored"].lower().split()]
    assert [word for word in words if word] == text.split()
    signs = {"COMMA": ",", "PERIOD": ".", "QUESTION": "?"}
    assert found["marks"]
    for mark in found["marks"]:
        assert found["restored"][mark["at"]] == signs.get(mark["mark"], found["restored"][mark["at"]])
        assert text[mark["start"] : mark["end"]] == mark["word"] and 0 < mark["probability"] <= 1


def test_several_texts_are_as_each_alone(client: httpx.Client) -> None:
    texts = ["They can swim.", "", "A dog barks at noon."]
    assert ask(client, "tag", texts=texts) == [ask(client, "tag", text=text)[0] for text in texts]


@pytest.mark.parametrize(
    "body, status, code",
    [
        (b"{bad", 400, "CRF574"),
        (b"[1, 2]", 422, "CRF734"),
        (b"", 422, "CRF734"),
        (b'{"text": 1}', 422, "CRF734"),
        (b"{}", 422, "CRF734"),
        (b'{"text": "a", "texts": ["a"]}', 422, "CRF734"),
        (b'{"text": "a", "other": 1}', 422, "CRF734"),
        (b'{"text": "a", "model": "none"}', 404, "CRF730"),
        (b'{"text": "a", "model": "outline"}', 422, "CRF732"),
        (b'{"text": "a", "text": "b"}', 400, "CRF574"),
        (b'{"text": "\\ud800"}', 400, "CRF573"),
        (b'{"text": "\xff"}', 400, "CRF574"),
        (b"[" * 100_000, 400, "CRF574"),
        (b'{"text": ' + b"1" * 10_000 + b"}", 400, "CRF574"),
        (json.dumps({"texts": ["a"] * 6}).encode(), 413, "CRF726"),
        (json.dumps({"text": "a" * 50_001}).encode(), 413, "CRF727"),
        (b" " * 500_001, 413, "CRF720"),
        (b" " * 10_000_000, 413, "CRF720"),
    ],
)
def test_refusals(client: httpx.Client, body: bytes, status: int, code: str) -> None:
    refusal(client.post("/tag", content=body, headers={"content-type": "application/json"}), status, code)


@pytest.mark.parametrize("row", ["😀" * 2001, "'s" * 2000, "_" * 9000, "a" + "-" * 1500 + "a " + "=" * 1500])
def test_marks_in_a_row_that_keep_a_tokenizer_busy_are_refused(client: httpx.Client, row: str) -> None:
    refusal(client.post("/tag", json={"texts": ["They swim.", f"They {row}."]}), 413, "CRF483")
    refusal(client.post("/api/processCitation", data={"citations": row}), 413, "CRF483")
    assert ask(client, "tag", text="They " + "--- " * 2000)[0]["tokens"]


def test_requests_of_other_sites_are_refused(client: httpx.Client) -> None:
    refusal(client.post("/tag", json={"text": "a"}, headers={"host": "evil.example:8070"}), 400, "CRF733")
    refusal(client.post("/tag", content=b'{"text": "a"}', headers={"content-type": "text/plain"}), 422, "CRF734")
    response = client.options(
        "/tag", headers={"origin": "https://evil.example", "access-control-request-method": "POST"}
    )
    assert "access-control-allow-origin" not in response.headers


def test_pages_that_there_are_not(client: httpx.Client) -> None:
    refusal(client.get("/tag"), 405, "CRF734")
    refusal(client.get("/none"), 404, "CRF734")
    refusal(client.get("/docs"), 404, "CRF734")
    assert {"/tag", "/cite", "/models"} <= client.get("/openapi.json").json()["paths"].keys()


def test_a_header_without_a_host_is_refused(client: httpx.Client) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("beginning", [b"", b"\r\n", b"GET /health HTTP/1.1\r\nHost: lo", b"%b" + b"GET"])
def test_connections_without_a_request_are_closed(
    client: httpx.Client, beginning: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_crf.service.server.SILENT", 0.2)
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=4) as connection:
        connection.sendall(beginning.replace(b"%b", whole))  # uvicorn closes what is silent for 5 s, behind an answer
        while connection.recv(4096):
            pass


def test_headers_that_do_not_end_are_not_kept(client: httpx.Client) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=30) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(2000):
                connection.sendall(b"X: " + b"a" * 10_000 + b"\r\n")


def test_many_requests_on_one_connection(client: httpx.Client) -> None:
    for _ in range(8):
        assert client.post("/tag", content=b" " * 400_000 + b'{"text": "They swim."}', headers=JSON).status_code == 200
        refusal(client.post("/tag", content=b" " * 3_000_000, headers=JSON), 413, "CRF720")


class Failing:
    """A component that fails for some texts."""

    def __call__(self, doc: Doc) -> Doc:
        if "fail" in doc.text:
            raise RuntimeError("it fails")
        return doc


def test_a_text_that_fails_does_not_take_the_others(load: Any) -> None:
    nlp: Language = load("tagger")
    Language.component("failing", func=Failing())
    nlp.add_pipe("failing")
    with served(model_of("one", nlp)) as client:
        first, second, third = ask(client, "tag", texts=["They swim.", "They fail.", "They can."])
        assert second["error"]["code"] == "CRF739" and "it fails" in second["error"]["message"]
        assert first["tokens"] and third["tokens"]


class Slow:
    """A component that takes its time."""

    def __call__(self, doc: Doc) -> Doc:
        import time

        time.sleep(0.3 if len(doc) else 0)
        return doc


def test_too_long_and_too_many(load: Any) -> None:
    nlp: Language = load("tagger")
    Language.component("slow", func=Slow())
    nlp.add_pipe("slow")
    with served(model_of("one", nlp, seconds=0.05, waiting=1)) as client:
        found = [client.post("/tag", json={"text": "They swim."}) for _ in range(4)]
        for response in found:
            assert response.status_code == 503 and response.headers["retry-after"]
        assert {response.json()["code"] for response in found} == {"CRF728", "CRF729"}


def test_the_page_asks_for_nothing_from_elsewhere(client: httpx.Client) -> None:
    response = client.get("/")
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-security-policy"].startswith("default-src 'none';")
    assert "//" not in response.text.replace("// ", "")
    assert "<script>" in response.text and "src=" not in response.text


def test_names_of_hosts(models: Models) -> None:
    with served(models, hosts=["box", ANY_ADDRESS]) as client:
        for host, status in [("box:80", 200), ("BOX", 200), ("10.0.0.7:8070", 200), ("[::1]:8070", 200), ("evil", 400)]:
            assert client.get("/health", headers={"host": host}).status_code == status

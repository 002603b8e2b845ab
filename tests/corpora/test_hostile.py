"""Files that would make a reader fail without a code, or take time or memory without end."""

import gzip
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fixtures import Write
from spacy.language import Language

from spacy_crf import Corpus, CRFError, PunctuationCorpus, SectionCorpus, read_crfpp_templates, read_crfsuite
from spacy_crf.corpora.references import read_references
from spacy_crf.reading import files

DIGITS = "9" * 5000
ROW = "\t".join
WEBANNO = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.TagSet|tag\n\n\n#Text=a\n"


def review(**changed: object) -> str:
    tokens = [{"text": "a", "gold": "X"}]
    return json.dumps(
        {"format": "spacy_crf review 1", "target": "tag", "text": "a", "tokens": tokens, "input": {}} | changed
    )


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.conllu", ROW([f"1-{DIGITS}", *"_________"]) + "\n" + ROW(["1", *"a________"]), "CRF515.*line 1"),
        ("a.conllu", ROW([f"{DIGITS}-2", *"_________"]), "CRF515.*line 1"),
        ("a.conllu", ROW(["1", *"a_____", DIGITS, *"___"]), "CRF507|CRF516"),
        ("a.tsv", WEBANNO + f"1-1\t0-{DIGITS}\ta\t_\t\n", "CRF540.*line 6.*18 digits"),
        ("a.tsv", WEBANNO + f"1-1\t{DIGITS}-1\ta\t_\t\n", "CRF540.*line 6.*18 digits"),
        ("a.tsv", WEBANNO.replace("webanno.custom.TagSet|tag", "|") + "1-1\t0-1\ta\t_\t\n", "CRF539"),
        ("a.jsonl", review() + "[" * 100_000, "CRF574.*line 1"),
        ("a.jsonl", review(more=["x"]).replace('"x"', "[" * 500 + "]" * 500), "CRF574.*200 deep"),
        ("a.jsonl", review(tokens=[{"text": "\ud800", "gold": "X"}]), "CRF573.*line 1.*U.D800"),
        ("a.jsonl", review(text=[]), "CRF525.*strings"),
        ("a.jsonl", review(tokens=[{"text": "a", "gold": []}]), "CRF525.*strings"),
        ("a.jsonl", review(target=["tag"]), "CRF525.*strings"),
        ("a.jsonl", review(target={}), "CRF525.*strings"),
        ("a.jsonl", review(target=0), "CRF525.*strings"),
        ("a.jsonl", review(tokens=1), "CRF525"),
        ("a.jsonl", review(input={"pos": 1}), "CRF525"),
    ],
)
def test_uncoded_errors_of_old(nlp: Language, write: Write, name: str, content: str, message: str) -> None:
    path = write(name, content)
    settings = {"a.tsv": {"format": "webanno"}, "a.jsonl": {"format": "review"}}.get(name, {})
    with pytest.raises(CRFError, match=message) as caught:
        list(Corpus(path, **settings)(nlp))
    assert len(str(caught.value)) < 5000


@pytest.mark.parametrize("name", ["a.conllu", "a.conll", "a.txt", "a.xml", "a.tsv", "a.jsonl", "a.spacy"])
@pytest.mark.parametrize("filling", [b" ", b"a\n", b"\n"])
def test_bombs(nlp: Language, write: Write, name: str, filling: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_SIZE", 1 << 20)
    path = write(name, gzip.compress(filling * (8 << 20)))
    for read in (Corpus(path), PunctuationCorpus(path), SectionCorpus(path)):
        with pytest.raises(CRFError):
            list(read(nlp))


def test_bombs_in_stored_documents(nlp: Language, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_SIZE", 1 << 20)
    with pytest.raises(CRFError, match=r"CRF570.*a\.spacy"):
        list(Corpus(write("a.spacy", zlib.compress(bytes(64 << 20))))(nlp))


@pytest.mark.parametrize("read", [read_crfsuite, lambda path: read_crfpp_templates(path, ["ORTH"])])
def test_bombs_in_models(write: Write, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_SIZE", 1 << 20)
    with pytest.raises(CRFError, match=r"CRF570.*a\.model"):
        read(write("a.model", gzip.compress(bytes(8 << 20))))


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.mark.parametrize("name, piece", [("a.txt", "a b. "), ("a.txt", "a b.\n"), ("a.xml", "a<!-- -->")])
def test_references_take_linear_time(write: Write, name: str, piece: str) -> None:
    def content(size: int) -> str:
        if name == "a.xml":
            return f"<dataset><sequence><author>{piece * size}</author></sequence></dataset>"
        return f"<NEWREFERENCE>\n<author>{piece * size}</author>"

    paths = [write(f"{size}{name}", content(size)) for size in (5_000, 80_000)]
    small, large = (seconds(lambda path=path: list(read_references(path))) for path in paths)  # type: ignore[misc]
    assert large < 100 * small + 0.5

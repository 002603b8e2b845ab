"""XML is read within limits: of nesting, of encodings, of tags that do not end, and without document types."""

from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_crf import CRFError
from spacy_crf.reading import xml
from spacy_crf.reading.xml import DEEPEST, XmlReader

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-16", "iso-8859-1", "us-ascii", "windows-1252", "koi8-r", "cp437"])
def test_encodings_of_text(write: Write, encoding: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?><a>{"" if encoding == "us-ascii" else "é"}</a>'
    if encoding == "koi8-r":
        content = content.replace("é", "ж")
    found: list[str] = []
    reader = XmlReader(write("a.xml", content.encode(encoding)))
    reader.expat.CharacterDataHandler = found.append
    reader.read()
    assert "".join(found) == content.partition("<a>")[2].removesuffix("</a>")


@pytest.mark.parametrize(
    "encoding", ["utf-7", "idna", "punycode", "rot13", "hex", "unknown", "utf-32", "big5", "undefined"]
)
def test_other_encodings_are_refused(write: Write, encoding: str) -> None:
    path = write("a.xml", f'<?xml version="1.0" encoding="{encoding}"?>\n<a/>')
    with pytest.raises(CRFError, match=rf"CRF533.*a\.xml, line 1.*{encoding}"):
        XmlReader(path).read()


def test_nesting(write: Write) -> None:
    XmlReader(write("a.xml", "<a>" * DEEPEST + "</a>" * DEEPEST)).read()
    XmlReader(write("a.xml", "<a>" + "<b/>\n" * 1000 + "</a>")).read()
    with pytest.raises(CRFError, match=r"CRF533.*a\.xml, line 1: .*10000 deep"):
        XmlReader(write("a.xml", "<a>" * 100_000)).read()


def test_document_types_are_refused(write: Write) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    with pytest.raises(CRFError, match=r"CRF534.*a\.xml, line 1"):
        XmlReader(write("a.xml", f'<!DOCTYPE a [<!ENTITY l0 "ha">{laughs}]><a>&l9;</a>')).read()


def test_a_tag_that_does_not_end(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml, "LONGEST_LINE", 1 << 20)
    XmlReader(write("a.xml", "<a>" + "b" * (4 << 20) + "</a>")).read()
    with pytest.raises(CRFError, match=r"CRF572.*a\.xml"):
        XmlReader(write("a.xml", '<a b="' + "b" * (4 << 20) + '"/>')).read()


@pytest.mark.parametrize("content", ["", "<a>", "</a>", "<a></b>", "<a", "\0", b"<a>\xff</a>", "<a>&x;</a>"])
def test_malformed(write: Write, content: str | bytes) -> None:
    with pytest.raises(CRFError, match=r"CRF533.*a\.xml, line"):
        XmlReader(write("a.xml", content)).read()

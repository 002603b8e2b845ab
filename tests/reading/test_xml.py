"""XML is read within limits: of nesting, of encodings, of tags that do not end, and without declarations of its own."""

import time
from pathlib import Path

import pytest
from helpers.fixtures import Write

from spacy_crf import CRFError
from spacy_crf.reading import xml
from spacy_crf.reading.xml import DEEPEST, XmlReader


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


JATS = """<?xml version="1.0" encoding="utf-8"?>
<!-- of a publisher -->
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.2 20190208//EN"
  "JATS-archivearticle1.dtd">
<article n="&sect; 5">&ldquo;Caf&eacute; &amp; bar&rdquo;&nbsp;&LT;</article>
"""


class Said(XmlReader):
    """Keeps text and values of attributes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.said: list[str] = []
        self.expat.StartElementHandler = lambda name, attributes: self.said.extend(attributes.values())
        self.expat.CharacterDataHandler = self.said.append


def test_a_dtd_may_be_named_and_its_characters_are_known(write: Write) -> None:
    assert "".join(Said(write("a.xml", JATS)).read().said) == "§ 5“Café & bar”\xa0<"
    assert "".join(Said(write("e.xml", "<!DOCTYPE a SYSTEM 'a.dtd' [\n]>\n<a>b</a>")).read().said) == "b"
    assert "".join(Said(write("b.xml", "<!DOCTYPE a SYSTEM 'a.dtd'>\n<a>&nbsp;</a>")).read().said) == "\xa0"


@pytest.mark.parametrize("broken", [JATS.replace("&sect;", "&klingon;"), JATS.replace("&nbsp;", "&klingon;")])
def test_what_only_a_dtd_knows_is_refused_with_its_line(write: Write, broken: str) -> None:
    with pytest.raises(CRFError, match=r"CRF533.*a\.xml, line 5: .*entity"):
        Said(write("a.xml", broken)).read()


def test_files_for_other_parsers_name_no_dtd(write: Write) -> None:
    with pytest.raises(CRFError, match=r"CRF534.*a\.xml, line 4"):
        XmlReader(write("a.xml", JATS), takes_dtd=False).read()


@pytest.mark.parametrize(
    "begun", ["<!-- a -->" * 50_000, "<!-- a " * 50_000, "<?a " * 50_000, "<!DOCTYPE " + "a " * 50_000]
)
def test_what_stands_before_the_root_takes_no_time(write: Write, begun: str) -> None:
    start = time.process_time()
    with pytest.raises(CRFError, match="CRF533"):
        XmlReader(write("a.xml", begun)).read()
    assert time.process_time() - start < 5  # seconds; a hundred times what it takes


def test_declarations_are_refused(write: Write) -> None:
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

"""The reader of documents with sections: every format that it takes gives the same gold."""

import gzip
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin

from spacy_crf.core.errors import CRFWarning
from spacy_crf.sections.layout import runs_of
from spacy_crf.sections.reader import SectionCorpus, read_layout
from spacy_crf.sections.tree import SectionNode, SectionTree

XML = """<document xml:lang="en" genre="statute">
<section><nr>1</nr> <title><b>Dogs</b></title>
<section><nr>(a)</nr> <text>Dogs are kept on a lead.</text>
</section></section></document>
"""
COURT = """<?xml version="1.0" encoding="utf-8"?>
<open-rechtspraak><uitspraak>
<section><title><nr manualAnnotation="NR">1</nr><text manualAnnotation="SECTION_TITLE">De feiten</text></title>
<para manualAnnotation="TEXT_BLOCK">Er is een hond.</para></section>
<para/></uitspraak></open-rechtspraak>
"""
NLP = spacy.blank("en")


def read(path: Path, **settings: object) -> list[Doc]:
    return list(SectionCorpus(path, **settings).read_docs(NLP.vocab))  # type: ignore[arg-type]


def facts(doc: Doc) -> tuple[object, ...]:
    elements = [(span.text, span.label_) for span in doc.spans["elements"]]
    tree = doc._.section_tree
    return doc.text, elements, [(node.level, node.start_char, node.end_char) for node in tree.walk()]


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "xml" / "dogs.xml"
    path.parent.mkdir()
    path.write_text(XML, encoding="utf8")
    return path


def test_annotated_xml(annotated: Path) -> None:
    (doc,) = read(annotated)
    assert doc.text == "1 Dogs\n(a) Dogs are kept on a lead."
    assert facts(doc)[1] == [
        ("1", "NR"),
        ("Dogs", "SECTION_TITLE"),
        ("(a)", "NR"),
        ("Dogs are kept on a lead.", "TEXT_BLOCK"),
    ]
    assert [level for level, _, _ in facts(doc)[2]] == [1, 2]  # type: ignore[attr-defined]
    assert doc._.doc_name == "dogs"


def test_a_number_is_no_title(tmp_path: Path) -> None:
    path = tmp_path / "court.xml"
    bare = COURT.replace('<text manualAnnotation="SECTION_TITLE">De feiten</text>', "")
    path.write_text(bare, encoding="utf8")
    assert [(node.number, node.title) for node in read(path)[0]._.section_tree.walk()] == [("1", "")]


def test_formats_agree(annotated: Path, tmp_path: Path) -> None:
    (doc,) = read(annotated)
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "dogs.spacy")
    entry = {"text": doc.text, "layout": runs_of(doc), "tree": doc._.section_tree.to_json()}
    srsly.write_json(tmp_path / "dogs.json", entry)
    srsly.write_jsonl(tmp_path / "dogs.jsonl", [entry, entry])
    assert [facts(other) for other in read(tmp_path / "dogs.spacy")] == [facts(doc)]
    assert [facts(other) for other in read(tmp_path / "dogs.json")] == [facts(doc)]
    assert [facts(other) for other in read(tmp_path / "dogs.jsonl")] == [facts(doc)] * 2
    assert len(read(tmp_path)) == 5
    assert len(read(tmp_path, limit=2)) == 2


@pytest.mark.parametrize("suffix", ["xml", "json", "jsonl", "spacy"])
def test_gold_without_trees(annotated: Path, tmp_path: Path, suffix: str) -> None:
    (doc,) = read(annotated)
    path = tmp_path / f"dogs.{suffix}"
    entry = {"text": doc.text, "layout": runs_of(doc), "tree": doc._.section_tree.to_json()}
    if suffix == "spacy":
        DocBin(docs=[doc], store_user_data=True).to_disk(path)
    else:
        path.write_text(XML if suffix == "xml" else srsly.json_dumps(entry), encoding="utf8")
    (bare,) = read(path, trees=False)
    assert "sections" not in bare.spans and bare._.section_tree is None
    assert [span.text for span in bare.spans["elements"]] == [span.text for span in doc.spans["elements"]]


@pytest.mark.parametrize("suffix", ["xml", "json", "jsonl", "spacy"])
def test_packed_files(annotated: Path, tmp_path: Path, suffix: str) -> None:
    (doc,) = read(annotated)
    entry = {"text": doc.text, "layout": runs_of(doc), "tree": doc._.section_tree.to_json()}
    data = {
        "xml": XML.encode(),
        "json": srsly.json_dumps(entry).encode(),
        "jsonl": srsly.json_dumps(entry).encode(),
        "spacy": DocBin(docs=[doc], store_user_data=True).to_bytes(),
    }
    path = tmp_path / "packed" / f"cats.{suffix.upper()}.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(data[suffix]))
    assert [facts(other) for other in read(path)] == [facts(other) for other in read(path.parent)] == [facts(doc)]
    assert read(path)[0]._.doc_name == ("dogs" if suffix == "spacy" else "cats")


@pytest.mark.parametrize("name, text", [("dogs.xml", XML), ("court.xml.gz", COURT)])
def test_notes_beside_annotated_documents_are_no_gold(name: str, text: str, tmp_path: Path) -> None:
    own = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / name).write_bytes(own)
    (tmp_path / "NOTES.md").write_text("# Dogs\n\nWho annotated them.\n", encoding="utf8")
    with pytest.warns(CRFWarning, match=r"CRFW473.*NOTES\.md"):
        assert len(read(tmp_path)) == 1
    (tmp_path / "parts" / name).write_bytes(b"")  # nothing annotated is left
    (tmp_path / "page.html").write_text("<h1>Cats</h1>", encoding="utf8")
    with pytest.warns(CRFWarning, match="CRFW969"):
        assert len(read(tmp_path)) == 2


def test_hidden_files_of_a_folder_are_left_out(annotated: Path) -> None:
    folder = annotated.parent
    for hidden in (folder / ".cache" / "cats.xml", folder / ".cats.xml"):
        hidden.parent.mkdir(exist_ok=True)
        hidden.write_text("not read", encoding="utf8")
    assert [doc._.doc_name for doc in read(folder)] == ["dogs"]


def test_the_predicted_side_has_text_and_formatting_but_no_gold(annotated: Path) -> None:
    (example,) = SectionCorpus(annotated)(NLP)
    assert example.predicted.text == example.reference.text
    assert runs_of(example.predicted) == [(2, 6, "bold")]
    assert not example.predicted.spans and example.predicted._.section_tree is None


def test_judgments(tmp_path: Path) -> None:
    path = tmp_path / "court.xml"
    path.write_text(COURT, encoding="utf8")
    (doc,) = read(path)
    labels = [span.label_ for span in doc.spans["elements"]]
    assert labels[:3] == ["NR", "SECTION_TITLE", "TEXT_BLOCK"]
    assert len(doc.spans["sections"]) == 1
    (doc,) = read(path, trees=False)
    assert "sections" not in doc.spans
    path.write_text(COURT.replace("<section>", "").replace("</section>", ""), encoding="utf8")
    (doc,) = read(path)
    assert "sections" not in doc.spans  # nobody has marked up a tree


@pytest.mark.parametrize(
    "name, content, code",
    [
        ("a.xml", "<html></html>", "CRF970.*html"),
        ("a.xml", "<document><title>x</document>", "CRF533"),
        ("a.json", "{}", "CRF970.*text"),
        ("a.json", "nothing", "CRF574"),
        ("a.spacy", "damaged", "CRF517"),
        ("a.xml", "<document>\n<text>\x00</text></document>", "CRF533.*line 2"),
        ("a.xml", "<document>\n<text>x</document>", "CRF533.*line 2"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, content: str, code: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf8")
    with pytest.raises(ValueError, match=code):
        read(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [b"<document><text>x", b"<document>\n<text>\xe9\xff</text></document>", b"\x7fELF\0\0", b"", b"\xff\xfe<"],
)
def test_a_bad_file_is_named_and_the_others_are_read(annotated: Path, tmp_path: Path, content: bytes) -> None:
    (folder := tmp_path / "several").mkdir()
    (folder / "b.xml").write_bytes(content)
    with pytest.raises(ValueError, match=r"^\[CRF\d+\] .*b\.xml"):
        read(folder)
    for name in ("a.xml", "c.xml"):
        (folder / name).write_bytes(annotated.read_bytes())
    with pytest.warns(CRFWarning, match=r"CRFW969.*\[CRF\d+\] .*b\.xml"):
        docs = read(folder)
    assert [bool(doc.spans["elements"]) for doc in docs] == [True, True]


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CRF501"):
        SectionCorpus(None)
    with pytest.raises(ValueError, match="CRF502"):
        SectionCorpus(tmp_path / "missing")
    with pytest.raises(ValueError, match="CRF520"):
        read(tmp_path)


@pytest.mark.parametrize("text, message", [(None, "the text is None"), ("One", "goes to 5")])
def test_a_tree_is_one_of_its_text(tmp_path, text, message):
    srsly.write_json(tmp_path / "a.json", {"text": text, "tree": SectionTree([SectionNode(0, 5, 1)]).to_json()})
    with pytest.raises(ValueError, match=f"CRF970.*{message}"):
        next(SectionCorpus(tmp_path / "a.json")(spacy.blank("en")))


def test_a_document_may_be_named_by_a_string(annotated: Path) -> None:
    assert read_layout(str(annotated)) == read_layout(annotated)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.jsonl.gz"])
def test_json_of_blocks_is_a_document_if_it_is_alone(tmp_path: Path, name: str) -> None:
    entry = {"id": "ferries", "blocks": [["heading", 1, "Scope"], ["text", 0, "All ferries."]]}
    line = srsly.json_dumps(entry).encode()

    def write(data: bytes) -> Path:
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    assert read_layout(write(line)).text == "Scope\n\nAll ferries.\n"
    several = b"[%s,%s]" if name == "a.json" else b"%s\n%s\n"
    with pytest.raises(ValueError, match="CRF958.*2 documents"):
        read_layout(write(several % (line, line)))

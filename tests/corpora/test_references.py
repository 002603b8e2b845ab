"""Tagged references, whose labels are counted a second time from the markup."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fixtures import Write
from helpers.paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from spacy import registry
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.annotation.gold import partial_tags
from spacy_crf.corpora.block import ReferenceSettings
from spacy_crf.corpora.reader import Corpus
from spacy_crf.corpora.references import read_references

Read = Callable[..., list[Doc]]

CORPUS = ROOT / "corpus" / "constrained_ner"
LINES = """\
<author> A. Ree, B. Om. </author> <title> On C#-like "ropes". </title> <pages> pp. 3-9 </pages>.

<author> Ö. Ånd </author> <volume> 12(3) </volume> <date> 1990 </date>
"""


@pytest.fixture
def read(nlp: Language, write: Write) -> Read:
    """Read a text, as a file of tagged references."""

    def read_text(content: str, name: str = "a.txt", **settings: object) -> list[Doc]:
        references = ReferenceSettings(**settings)  # type: ignore[arg-type]
        return list(Corpus(write(name, content), format="references", references=references).read_docs(nlp.vocab))

    return read_text


def pairs(doc: Doc) -> list[tuple[str, str]]:
    return [(token.text, token.tag_) for token in doc]


def test_tokens_labels_and_text(read: Read) -> None:
    first, second = read(LINES)
    assert first.text == 'A. Ree, B. Om. On C#-like "ropes". pp. 3-9 .'
    assert second.text == "Ö. Ånd 12(3) 1990"
    assert pairs(second) == [
        *((text, "AUTHOR") for text in ("Ö", ".", "Ånd")),
        *((text, "VOLUME") for text in ("12", "(", "3", ")")),
        ("1990", "DATE"),
    ]
    assert [token.text for token in first if token.tag_ == "TITLE"] == [
        "On",
        "C",
        "#",
        "-",
        "like",
        *'"',
        "ropes",
        *'".',
    ]
    assert pairs(first)[-1] == (".", "PAGES")  # behind the field, where Cora has it by mistake
    assert [len(list(doc.sents)) for doc in (first, second)] == [1, 1]


def test_without_punctuation(read: Read) -> None:
    _, doc = read(LINES, punctuation=False)
    assert [(token.text, token._.gap, token.tag_) for token in doc] == [
        ("Ö", "", "AUTHOR"),
        ("Ånd", ".", "AUTHOR"),
        ("12", "", "VOLUME"),
        ("3", "(", "VOLUME"),
        ("1990", ")", "DATE"),
    ]
    assert doc.text == "Ö Ånd 12 3 1990"
    (doc,) = read('<title> "X-ray," </title> <date> (1990). </date>', punctuation=False)
    assert [token._.gap for token in doc] == ['"', "-", '," (']


def test_components_see_the_gaps_if_they_are_input(nlp: Language, write: Write) -> None:
    settings = {"format": "references", "references": ReferenceSettings(punctuation=False)}
    (_, seen) = Corpus(write("a.txt", LINES), input=["ext:gap"], **settings)(nlp)  # type: ignore[arg-type]
    assert [token._.gap for token in seen.predicted] == ["", ".", "", "(", ")"]


def test_fields_as_spans(read: Read) -> None:
    text = "<date> 1990 </date> <date> May </date> <title> A b. </title>"
    (doc,) = read(text, ents=True, spans_key="fields")
    expected = [("DATE", "1990"), ("DATE", "May"), ("TITLE", "A b.")]
    assert [(span.label_, span.text) for span in doc.ents] == expected
    assert [(span.label_, span.text) for span in doc.spans["fields"]] == expected
    (doc,) = read(text)
    assert not doc.ents and not doc.spans


def test_text_outside_of_fields_has_no_gold(read: Read) -> None:
    (doc,) = read("[7] <author> A. Ree </author> stray <date> 1990 </date>, end", ents=True)
    assert [tag for _, tag in pairs(doc)] == ["", "", "", "AUTHOR", "AUTHOR", "AUTHOR", "", "DATE", "", ""]
    assert [(span.label_, span.text) for span in doc.ents] == [("AUTHOR", "A. Ree"), ("DATE", "1990")]
    assert [token.ent_iob_ for token in doc if not token.tag_] == [""] * 6


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_marks_between_references(read: Read, end: str) -> None:
    lines = ["<NEWREFERENCE>", "<author> A. Ree </author>", "<date> 1990 </date>", "<newreference> <title> On</title>"]
    first, second = read(end.join(lines) + end)
    assert pairs(first) == [("A", "AUTHOR"), (".", "AUTHOR"), ("Ree", "AUTHOR"), ("1990", "DATE")]
    assert first.text == "A. Ree 1990"
    assert pairs(second) == [("On", "TITLE")]


XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<dataset>
  <sequence>
    <author>A. Ree &amp; B. Om.</author>
    <container-title>On <!-- no comment -->ropes,</container-title>
  </sequence>
  <sequence><title>X</title><date>1990</date></sequence>
</dataset>
"""


@pytest.mark.parametrize("name", ["a.xml", "a.txt"])
def test_xml(read: Read, name: str) -> None:
    first, second = read(XML, name, ents=True)
    assert first.text == "A. Ree & B. Om. On ropes,"
    assert [(span.label_, span.text) for span in first.ents] == [
        ("AUTHOR", "A. Ree & B. Om."),
        ("CONTAINER-TITLE", "On ropes,"),
    ]
    assert pairs(second) == [("X", "TITLE"), ("1990", "DATE")]
    assert second.text == "X1990"  # as it is printed


WORDS = "Ree,\tAUTHOR\nA.\tauthor\n(1990).\tDATE\n[\t_\n7]\t\nX-ray\tTITLE\n\n\nOn\tTITLE\n"


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.tsv.gz"])
def test_labelled_words(read: Read, name: str) -> None:
    first, second = read(WORDS, name, ents=True)
    assert first.text == "Ree, A. (1990). [ 7] X-ray"
    assert [(span.label_, span.text) for span in first.ents] == [("AUTHOR", "Ree, A.")]
    assert [token.text for token in first if not token.tag_] == ["[", "7", "]"]  # unknown, not wrong
    assert [token.ent_iob_ for token in first[4:]] == [""] * (len(first) - 4)
    # where the date ends, and where the title begins
    known = partial_tags(first, "ent", "") or []
    assert known[4:] == ["B-DATE", *["I-DATE"] * 3, "", "", "", *["I-TITLE"] * 3]
    assert pairs(second) == [("On", "TITLE")]


def test_words_around_a_mark_that_is_left_out(read: Read) -> None:
    """One field, as the mark may have been of it, and two where labels differ."""
    (doc,) = read("A\tAUTHOR\n&\t_\nB\tAUTHOR\n.\t_\nOn\tTITLE\n", "a.tsv", ents=True, punctuation=False)
    assert [span.text for span in doc.ents] == ["A B", "On"]


@pytest.mark.parametrize(
    "row, fault",
    [("1990", "'1990' is no word with its label"), ("1990\tDATE\tX", "is no word"), ("A\tAUTOR", "no field <AUTOR>")],
)
def test_faulty_labelled_words(read: Read, row: str, fault: str) -> None:
    with pytest.warns(UserWarning, match=rf"CRFW560.*a\.tsv, line 5: .*{re.escape(fault)}"):
        docs = read(f"A\tAUTHOR\n\nOn\tTITLE\n\nA\tAUTHOR\n{row}\n\nB\tDATE\n", "a.tsv")
    assert [doc.text for doc in docs] == ["A", "On", "B"]


def test_folder_of_labelled_words(nlp: Language, write: Write, tmp_path: Path) -> None:
    write("b/a.tsv", WORDS)
    assert len(list(Corpus(tmp_path, format="references").read_docs(nlp.vocab))) == 2


FAULTS = [
    ("<author> A. <title> B </title>", "<title> is in <author>"),
    ("<author> A. </title>", "</title> closes <author>"),
    ("A. </title>", "</title> closes nothing"),
    ("<author> A.", "<author> is not closed"),
    ("<autor> A. </autor>", "there is no field <autor>"),
    ("<author> A. <author> B. </author>", "<author> is in <author>"),
    ("<author> A. </author> <title> <b> B </b> </title>", "there is no field <b>"),
]


@pytest.mark.parametrize("line, fault", FAULTS)
def test_faulty_references_are_left_out(read: Read, line: str, fault: str) -> None:
    with pytest.warns(UserWarning, match=rf"CRFW560.*a\.txt, line 4: .*{re.escape(fault)}"):
        docs = read(LINES.replace("\n\n", f"\n\n\n{line}\n"))
    assert [doc[-1].text for doc in docs] == [".", "1990"]


def test_rows_of_more_columns_are_left_out_and_no_words(read: Read) -> None:
    with pytest.warns(UserWarning, match=r"CRFW560.*line 1: .*is no word with its label"):
        (doc,) = read("Lee\tAUTHOR\tx\nA.\tAUTHOR\ty\n\nKim\tAUTHOR\n", "a.tsv")
    assert pairs(doc) == [("Kim", "AUTHOR")]


def test_faulty_references_of_xml(read: Read) -> None:
    faulty = XML.replace("<author>", "<autor>").replace("</author>", "</autor>")
    with pytest.warns(UserWarning, match=r"CRFW560.*a\.xml, line 3: .*there is no field <autor>"):
        (doc,) = read(faulty, "a.xml")
    assert doc.text == "X1990"


def test_other_fields(read: Read) -> None:
    (doc,) = read("<autor> A </autor>", fields=["Autor"])
    assert pairs(doc) == [("A", "AUTOR")]
    with pytest.warns(UserWarning, match="CRFW560"), pytest.raises(ValueError, match="CRF520"):
        read("<author> A </author>", fields=["autor"])


@pytest.mark.parametrize(
    "content, message",
    [
        (XML[:90], r"CRF533.*a\.xml, line 4"),
        ('<!DOCTYPE dataset [<!ENTITY a "x">]>\n<dataset/>', r"CRF534.*line 1"),
        ("<dataset></dataset>", "CRF520"),
        ("<dataset><sequence> </sequence></dataset>", "CRF520"),
    ],
)
def test_malformed_xml(read: Read, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(content, "a.xml")


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.txt", LINES),
        ("a.tsv", "\n" + LINES),
        ("a", "<NEWREFERENCE>\n" + LINES),
        ("a.xml", XML),
        ("a.txt.gz", LINES),
        ("a.txt", "<AUTHOR> A </AUTHOR>"),
    ],
)
def test_format_is_told_from_the_content(nlp: Language, write: Write, name: str, content: str) -> None:
    doc = next(Corpus(write(name, content)).read_docs(nlp.vocab))
    assert doc[0].tag_ == "AUTHOR"


def test_folder(nlp: Language, write: Write, tmp_path: Path) -> None:
    write("b/a.txt", LINES)
    write("b/b.xml", XML)
    docs = list(Corpus(tmp_path, format="references").read_docs(nlp.vocab))
    assert [doc._.doc_name for doc in docs] == ["b/a", "b/a 2", "b/b", "b/b 2"]


@pytest.mark.parametrize("setting", [{"spans_key": ""}, {"fields": ["a", ""]}])
def test_settings_that_are_empty(setting: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="CRF549"):
        ReferenceSettings(**setting)  # type: ignore[arg-type]
    assert registry.misc.get("spacy_crf.References.v1") is ReferenceSettings


def test_settings_belong_to_the_format(write: Write) -> None:
    with pytest.raises(ValueError, match="CRF552.*references"):
        Corpus(write("a.txt", LINES), references=ReferenceSettings())


@pytest.mark.parametrize("part, references, tokens", [("train", 313, 10_060), ("dev", 61, 1_927)])
def test_the_corpus_of_the_project(nlp: Language, part: str, references: int, tokens: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        docs = list(Corpus(CORPUS / part).read_docs(nlp.vocab))
    assert (len(docs), sum(map(len, docs))) == (references, tokens)
    assert len({token.tag_ for doc in docs for token in doc}) == 13
    lines = [line for path in sorted((CORPUS / part).glob("*.txt")) for line in path.read_text("utf-8").splitlines()]
    for doc, line in zip(docs, lines, strict=True):
        assert doc.text == " ".join(re.sub(r"<(/?)[a-z]+>", " ", line).split())


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<>\x00\r\n"), max_size=20)


@pytest.mark.promise
@given(st.lists(st.tuples(st.sampled_from(["author", "title", "date"]), texts), min_size=1, max_size=4))
def test_nothing_but_white_space_is_lost(
    tmp_path_factory: pytest.TempPathFactory, fields: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "references.txt"
    path.write_text("".join(f"<{name}>{text}</{name}>" for name, text in fields), encoding="utf-8", newline="")
    sentences = list(read_references(path))
    printed = "".join(text for _, text in fields)
    assert "".join("".join(sentence.words) for sentence in sentences) == re.sub(r"\s", "", printed)
    for sentence in sentences:
        labels = [name.upper() for name, text in fields for character in text if not character.isspace()]
        spelt = [label for word, label in zip(sentence.words, sentence.columns["tag"]) for _ in word]
        assert spelt == labels


@pytest.mark.parametrize("first", ["# references of our group", "A. Ree\tAUTHOR"])
def test_labelled_words_behind_another_first_line_are_no_text(read: Read, first: str) -> None:
    with pytest.warns(UserWarning, match=r"CRFW560.*.*is no word with its label"):
        docs = read(f"{first}\nRopes\tTITLE\n\n<author> B. Om </author>\n1.\tPlain text\n", "a.tsv")
    assert "TITLE" not in " ".join(doc.text for doc in docs)
    assert [doc.text for doc in docs][-2:] == ["B. Om", "1. Plain text"]

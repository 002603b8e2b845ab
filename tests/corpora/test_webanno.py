import re
from pathlib import Path

import pytest
import spacy
from helpers.fixtures import PROBS, SET, Write
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Token

from spacy_crf import Corpus
from spacy_crf.annotation.gold import read_gold_tags
from spacy_crf.corpora.docs import DocMaker
from spacy_crf.corpora.exchange import ExchangeDocument, PredictedTags
from spacy_crf.corpora.sentence import group_sentences
from spacy_crf.corpora.tagsets import read_cells, resolve_gold_tags
from spacy_crf.corpora.webanno import (
    DEFAULT_LAYER,
    WebannoLayer,
    escape_value,
    read_webanno,
    split_cell,
    write_webanno,
)

pytestmark = pytest.mark.usefixtures("predictions")
LAYER = WebannoLayer(name="webanno.custom.Tags", tag="value")


def predicted(nlp: Language) -> Doc:
    doc = Doc(
        nlp.vocab,
        words=["dhe", "[x]", "||", "😊", "N_1", "->"],
        spaces=[True, False, True, True, False, True],
        tags=["DDS", "XY", "$;", "", "N:pl", "A_*"],
        sent_starts=[True, False, False, True, False, False],
    )
    doc[0]._.set(SET, ["DDS", "DRELS"])
    doc[0]._.set(PROBS, {"NA": 0.0699, "DRELS": 0.3101, "DDS": 0.62})
    doc[1]._.set(PROBS, {"NA": 0.25, "XY": 0.75})
    doc[2]._.set(SET, ["$;"])
    return doc


def lines_of(doc: Doc, layer: WebannoLayer = DEFAULT_LAYER, checked: bool = False) -> list[str]:
    """The lines of a file. checked (bool): Whether somebody has said that all of it is right."""
    written = write_webanno([ExchangeDocument.of([doc], PredictedTags(SET, PROBS))], layer).decode()
    if checked:
        written = re.sub(r"\tfalse\t$", "\ttrue\t", written, flags=re.MULTILINE)
    return written.removesuffix("\n").split("\n")


def read(nlp: Language, path: Path, layer: WebannoLayer = LAYER) -> Doc:
    (doc,) = [DocMaker(nlp.vocab)(group) for group in group_sentences(read_webanno(path, layer=layer), "auto")]
    resolve_gold_tags(doc)
    return doc


def test_what_is_written(nlp: Language) -> None:
    assert lines_of(predicted(nlp)) == [
        "#FORMAT=WebAnno TSV 3.3",
        "#T_SP=webanno.custom.TagSet|tag|tags|probabilities|checked",
        "",
        "",
        "#Text=dhe [x]||",
        r"1-1	0-3	dhe	DDS	DDS\|DRELS	DDS:0.6200\|DRELS:0.3101	false	",
        r"1-2	4-7	[x]	XY	XY	XY:0.7500	false	",
        r"1-3	7-9	||	$\;	$\;	*	false	",
        "",
        "#Text=😊 N_1->",
        # Outside of the first plane a character has two units.
        r"2-1	10-12	😊	_	_	_	_	",
        r"2-2	13-16	N_1	N:pl:1	N:pl:1	*	false	",
        r"2-3	16-18	->	A\_\*	A\_\*	*	false	",
    ]


def test_predictions_come_back_as_gold(nlp: Language, write: Write) -> None:
    doc = predicted(nlp)
    path = write("a.tsv", "\n".join(lines_of(doc, checked=True)) + "\n")
    copy = read(nlp, path, WebannoLayer())
    assert copy.text == doc.text
    assert [token.text for token in copy] == [token.text for token in doc]
    assert [sent.start for sent in copy.sents] == [0, 3]
    assert [token.tag_ for token in copy] == [token.tag_ for token in doc]
    assert read_cells(copy) == [{token.tag_: 1.0} if token.tag_ else {} for token in doc]


def test_corrections_are_read(nlp: Language, write: Write) -> None:
    text = "\n".join(lines_of(predicted(nlp), checked=True))
    for before, after in [
        ("\tDDS\t", "\tDDS\\|DRELS\t"),
        ("\tXY\tXY", "\tA:0.75\\|B:0.25\t"),
        ("\t$\\;\t$\\;", "\t*\t$\\;"),
        ("😊\t_", "😊\tA[1]|B\\_[2]"),
        ("\tN:pl:1\tN:pl:1", "\tC:1\\|D:1\tN:pl:1"),
        ("\tA\\_\\*\tA\\_\\*\t*\ttrue", "\t_\t_\t_\t_"),
    ]:
        assert text.count(before) == 1
        text = text.replace(before, after)
    doc = read(nlp, write("a.tsv", text), WebannoLayer())
    both, open_set = {"DDS": 0.5, "DRELS": 0.5}, {"A": 0.5, "B_": 0.5}
    assert read_cells(doc) == [both, {"A": 0.75, "B": 0.25}, {}, open_set, {"C": 1, "D": 1}, {}]
    assert [token.tag_ for token in doc] == ["DDS", "A", "", "A", "C", ""]


@pytest.mark.parametrize(
    "tags, marks, expected",
    [
        ("A[1]|B[2]", "false[1]|true[2]", {"B": 1}),
        ("A[1]|B[2]", "true[1]|*[2]", {"A": 1}),
        ("A[1]|B[2]|C[3]", "true[1]|false[2]|true[3]", {"A": 0.5, "C": 0.5}),
        ("A[1]|*[2]", "false[1]|true[2]", {}),
        ("A[1]|B[2]", "false[1]|false[2]", {}),
        ("A:0.6[1]|B:0.4[2]", "true[1]|true[2]", {"A": 0.6, "B": 0.4}),
    ],
)
def test_of_several_annotations_those_that_are_checked_count(
    nlp: Language, write: Write, tags: str, marks: str, expected: dict[str, float]
) -> None:
    header = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.TagSet|tag|tags|probabilities|checked\n\n\n#Text=up so\n"
    words = f"1-1\t0-2\tup\t{tags}\t*[1]|*[2]\t*[1]|*[2]\t{marks}\t\n1-2\t3-5\tso\tD\t*\t*\ttrue\t\n"
    (example,) = Corpus(write("a.tsv", header + words))(nlp)
    assert read_gold_tags(example.reference) == [expected, {"D": 1}]


def test_the_writer_sees_stored_and_computed_predictions(nlp: Language) -> None:
    expected = lines_of(predicted(nlp))
    data = DocBin(store_user_data=True, docs=[predicted(nlp)]).to_bytes()
    Token.remove_extension(SET)
    Token.remove_extension(PROBS)
    (stored,) = DocBin().from_bytes(data).get_docs(nlp.vocab)
    assert lines_of(stored) == expected
    Token.set_extension(SET, getter=lambda token: ["G"])
    assert "\tXY\tG\t*\tfalse\t" in lines_of(stored)[6]


def test_sets_of_whole_documents(nlp: Language) -> None:
    """Attributes of tokens may be computed from one of their Doc, as components store them."""
    doc = predicted(nlp)
    for name in (SET, PROBS):
        Token.remove_extension(name)
    sets = [["DDS", "NA"], [], [], [], [], []]
    Token.set_extension(SET, getter=lambda token: sets[token.i])
    Token.set_extension(PROBS, getter=lambda token: {"NA": 0.25, "XY": 0.0, "DDS": 0.75})
    lines = lines_of(doc)
    assert lines[5].endswith("dhe\tDDS\tDDS\\|NA\tDDS:0.7500\\|NA:0.2500\tfalse\t")
    assert lines[6].endswith("[x]\tXY\tXY\t*\tfalse\t")


def test_white_space_and_line_ends(nlp: Language, write: Write) -> None:
    doc = Doc(
        nlp.vocab,
        words=["\n", "a", "\n", "b\\", "  ", "c", "\n", "\n"],
        spaces=[False] * 8,
        tags=["", "A", "S", "B", "", "C", "", ""],
        sent_starts=[True, False, False, False, False, True, False, True],
    )
    lines = lines_of(doc, layer=LAYER)
    assert lines[1] == "#T_SP=webanno.custom.Tags|value|tags|probabilities|checked"
    assert lines[4:] == [
        "#Text=a",
        "#Text=b\\\\",
        "1-1\t1-2\ta\tA\tA\t*\tfalse\t",
        "1-2\t3-5\tb\\\tB\tB\t*\tfalse\t",
        "",
        "#Text=c",
        "2-1\t7-8\tc\tC\tC\t*\tfalse\t",
    ]
    copy = read(nlp, write("a.tsv", "\n".join(lines)))
    assert copy.text == "a b\\ c "
    assert [token.tag_ for token in copy] == ["A", "B", "C"]


@pytest.mark.parametrize("text", ["", "\n"])
def test_documents_without_words(nlp: Language, text: str) -> None:
    assert len(lines_of(nlp.make_doc(text))) == 3


# As INCEpTION writes them: other layers before and behind, a relation, a layer without features, parts of tokens.
ROWS = """\
#FORMAT=WebAnno TSV 3.2
#T_SP=webanno.custom.Empty|
#T_SP=webanno.custom.Tags|note|value
#T_CH=webanno.custom.Chain|referenceType|referenceRelation
#T_RL=webanno.custom.Link|kind|BT_webanno.custom.Tags


#Sentence.id=s1
#Text=dat hu\\\\s
1-1	7-10	dat	*[1]	_	_	_	_	_	_
1-2	11-15	hu\\s	*[1]	sure[2]	NA[2]	_	_	_	_
1-2.1	11-13	hu	_	_	X	_	_	_	_

#Text=staat
#Text=up
2-1	16-21	staat	_	*[3]|a\\]b[4]	*[3]|NE[4]	_	_	of	1-2
2-2	22-24	up	_	n[5]	AVD[5]	p[1]	*->1-1	_	_
2-3	24-25	.	_	_	_	_	_	_	_
"""
# Each row ends with a tab.
EXPORTED = re.sub(r"(?m)^([0-9].*)$", "\\1\t", ROWS)


def test_files_with_many_layers(nlp: Language, write: Write) -> None:
    doc = read(nlp, write("a.tsv", EXPORTED.replace("#Text=up", "#Text=up.")))
    assert [token.text for token in doc] == ["dat", "hu\\s", "staat", "up", "."]
    assert doc.text == "dat hu\\s staat up. "
    assert [token.tag_ for token in doc] == ["", "NA", "NE", "AVD", ""]
    assert [sent.start for sent in doc.sents] == [0, 2]
    notes = read(nlp, write("a.tsv", EXPORTED.replace("#Text=up", "#Text=up.")), WebannoLayer(LAYER.name, "note"))
    assert [token.tag_ for token in notes] == ["", "sure", "a]b", "n", ""]


@pytest.mark.parametrize(
    "before, after, message",
    [
        ("WebAnno TSV 3.2", "WebAnno TSV 2.0", "CRF538"),
        ("#FORMAT=", "", "CRF538"),
        ("|value", "|Value", r"CRF539.*'webanno.custom.Tags'.*'value'.*Empty, webanno.custom.Tags\|note\|Value"),
        ("#T_SP=webanno.custom.Tags", "#T_RL=webanno.custom.Tags", "CRF539.*has: webanno.custom.Empty"),
        ("1-1\t", "x\t", r"CRF540.*a\.tsv, line 10: .*row of a token"),
        ("7-10", "7", r"CRF540.*line 10: .*row of a token"),
        ("\t1-2\t\n", "\n", r"CRF540.*line 16: found 9 columns instead of 10"),
        ("24-25", "24-26", r"CRF540.*line 18: .*24-26 are not in the text"),
        ("24-25", "23-25", r"CRF540.*line 18: .*not in order"),
        ("24-25", "24-24", r"CRF540.*line 18: .*24-24"),
        ("24-25", "2-3", r"CRF540.*line 18"),
        ("\tup\t", "\tuP\t", r"CRF540.*line 17: the text has 'up' at 22-24, the row has the word 'uP'"),
        ("11-15", "11-14", "CRF540.*line 11: the text has 'hu.*' at 11-14, the row has the word 'hu.*s'"),
        ("AVD[5]", "A\\|A[5]", r"CRF530.*a\.tsv, line 17, 'up': 'A\|A'"),
        ("AVD[5]", "A:1[5]|B[6]", r"CRF530.*line 17, 'up': 'A:1\|B'"),
    ],
)
def test_malformed_files(write: Write, before: str, after: str, message: str) -> None:
    text = EXPORTED.replace("#Text=up", "#Text=up.")
    assert before in text
    with pytest.raises(ValueError, match=message):
        list(read_webanno(write("a.tsv", text.replace(before, after, 1)), layer=LAYER))


@pytest.mark.parametrize("content", ["", "\n\n", "no header\n"])
def test_files_of_another_kind(write: Write, content: str) -> None:
    with pytest.raises(ValueError, match=r"CRF538.*a\.tsv"):
        list(read_webanno(write("a.tsv", content)))


def test_a_character_that_is_cut_in_two(write: Write) -> None:
    text = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Tags|value\n\n\n#Text=😊\n1-1\t0-1\t😊\t_\t\n"
    with pytest.raises(ValueError, match="CRF540.*line 6: .*0-1"):
        list(read_webanno(write("a.tsv", text), layer=LAYER))


@pytest.mark.parametrize("blanks", [" ", "  \t", "\u00a0", "\n"])
def test_a_sentence_that_begins_with_white_space(nlp: Language, write: Write, blanks: str) -> None:
    text, start = blanks.replace("\t", "\\t").replace("\n", "\n#Text="), len(blanks)
    rows = f"1-1\t{start}-{start + 5}\tHello\tA\t\n1-2\t{start + 6}-{start + 11}\tworld\tB\t\n"
    header = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Tags|value\n\n\n"
    doc = read(nlp, write("a.tsv", f"{header}#Text={text}Hello world\n{rows}"))
    assert [(token.text, token.tag_) for token in doc] == [("Hello", "A"), ("world", "B")]


def test_words_that_break_a_row_are_not_written(nlp: Language) -> None:
    with pytest.raises(ValueError, match="CRF541.*character 2"):
        lines_of(Doc(nlp.vocab, words=["a", "b\tc"]))


reserved = st.lists(
    st.sampled_from(["\\", "[", "]", "|", "_", "->", "-", ">", ";", "\t", "\n", "*", "1", "a", "t", "n"])
)
texts = st.one_of(reserved.map("".join), st.text(st.characters(exclude_categories=["Cs"])))


@pytest.mark.promise
@given(st.lists(texts.filter(bool), min_size=1, max_size=4), st.booleans())
def test_escaped_values_come_back(values: list[str], numbered: bool) -> None:
    cell = "|".join(escape_value(value) + f"[{i}]" * numbered for i, value in enumerate(values))
    assert not re.search(r"[\t\n]", cell)
    assert split_cell(cell) == values


@pytest.mark.promise
@given(st.text(max_size=20))
def test_any_cell_can_be_split(cell: str) -> None:
    assert all(isinstance(value, str) for value in split_cell(cell))


words = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=6)
tags = st.text(st.characters(exclude_characters="\t\n\r|", exclude_categories=["Cs"]), max_size=4).map(str.strip)


@pytest.mark.promise
@given(st.lists(st.tuples(words, st.booleans(), tags, st.booleans()), min_size=1, max_size=8))
def test_any_document_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, bool, str, bool]]
) -> None:
    nlp = BLANK
    rows = [row for row in rows if not row[0].isspace()]
    if not rows:
        return
    doc = Doc(
        nlp.vocab,
        words=[row[0] for row in rows],
        spaces=[row[1] for row in rows[:-1]] + [True],
        tags=[row[2] for row in rows],
        sent_starts=[i == 0 or row[3] for i, row in enumerate(rows)],
    )
    path = tmp_path_factory.getbasetemp() / "webanno.tsv"
    path.write_text("\n".join(lines_of(doc, checked=True)), encoding="utf-8", newline="\n")
    copy = read(nlp, path, WebannoLayer())
    assert [token.text for token in copy] == [token.text for token in doc]
    assert copy.text == doc.text
    assert [token.tag_ for token in copy] == [token.tag_ for token in doc]
    assert [token.is_sent_start for token in copy] == [token.is_sent_start for token in doc]


BLANK = spacy.blank("en")

"""Files for people who check tags: what goes out comes back, and only what is checked is gold."""

import csv
import errno
import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.fixtures import PROBS, SET, Write
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Token
from spacy.training import Example

from spacy_crf import Corpus, CRFError, CRFWarning
from spacy_crf.annotation.documents import read_doc_name, write_doc_name
from spacy_crf.annotation.gold import GOLD_POS, GOLD_TAGS, read_gold_tags
from spacy_crf.corpora.cas import SENTENCE, TOKEN, TYPE_SYSTEM, write_cas_json, write_types, write_xmi
from spacy_crf.corpora.conllu import rewrite_conllu, write_conllu
from spacy_crf.corpora.exchange import ExchangeDocument, PredictedTags, copy_checked
from spacy_crf.corpora.formats import pick_format
from spacy_crf.corpora.tables import write_tsv, write_xlsx
from spacy_crf.corpora.tasks import write_doccano, write_label_studio
from spacy_crf.corpora.webanno import write_webanno
from spacy_crf.tagsets.gold import gold_weights

BLANK = spacy.blank("xx")
pytestmark = pytest.mark.usefixtures("predictions")
FORMATS: dict[str, tuple[str, Callable[..., bytes]]] = {
    "tagsets": ("tsv", write_tsv),
    "conllu": ("conllu", lambda documents: write_conllu(documents, "tag")),
    "webanno": ("tsv", write_webanno),
    "cas": ("xmi", write_xmi),
    "cas json": ("json", write_cas_json),
    "label_studio": ("json", write_label_studio),
    "doccano": ("jsonl", write_doccano),
    "xlsx": ("xlsx", write_xlsx),
}
PACKAGES = {"cas": "cassis", "cas json": "cassis", "xlsx": "openpyxl"}
KEEP_SPACES = [name for name in FORMATS if name not in ("tagsets", "xlsx")]


def make_doc(rows: list[tuple[str, bool, dict[str, float], str | None]], starts: list[bool] | None = None) -> Doc:
    """A tagged Doc of words, whether a space follows, the predicted set, and the gold of what is checked."""
    tags = [max(predicted, key=predicted.__getitem__, default="") for *_, predicted, _ in rows]
    words, spaces = [row[0] for row in rows], [row[1] for row in rows]
    doc = Doc(BLANK.vocab, words=words, spaces=spaces, tags=tags, sent_starts=starts)
    for token, (_, _, predicted, _) in zip(doc, rows):
        token._.set(SET, list(predicted))
        token._.set(PROBS, predicted)
    gold = Doc(BLANK.vocab, words=words, tags=[row[3] or "" for row in rows])
    Token.set_extension("checked", default="", force=True)
    for token, row in zip(gold, rows):
        if row[3] is not None:
            token._.set("checked", "yes")
    copy_checked(gold, doc, "tag")
    return write_doc_name(doc, "letters")


def save(format: str, folder: Path, *docs: Doc) -> Path:
    if format in PACKAGES:
        pytest.importorskip(PACKAGES[format])
    suffix, write = FORMATS[format]
    path = folder / f"a.{suffix}"
    path.write_bytes(write([ExchangeDocument.of([doc], PredictedTags(SET, PROBS)) for doc in docs]))
    if suffix == "xmi":
        (folder / TYPE_SYSTEM).write_bytes(write_types())
    return path


def read(path: Path, **settings: Any) -> list[Doc]:
    return list(Corpus(path, group="document", **settings).read_docs(BLANK.vocab))


@pytest.fixture
def doc() -> Doc:
    rows: list[tuple[str, bool, dict[str, float], str | None]] = [
        ("dhe", True, {"DDS": 0.62, "DRELS": 0.31}, "DRELS"),
        ("=[x]|", False, {"XY": 0.75}, None),
        ("#", True, {"$;": 0.5, "N:pl": 0.5}, None),
        ("😊", True, {}, None),
        ("12", True, {"$,": 0.9}, "$,"),
        ("hus", False, {"NA": 0.4, "NE": 0.3, "A_*": 0.3}, None),
        (".", True, {"$.": 1.0}, ""),
    ]
    return make_doc(rows, [True, False, False, True, False, False, False])


@pytest.mark.parametrize("format", FORMATS)
def test_only_what_is_checked_comes_back_as_gold(format: str, tmp_path: Path, doc: Doc) -> None:
    path = save(format, tmp_path, doc)
    assert pick_format(path) == format.split()[0]
    (copy,) = read(path)
    assert [token.text for token in copy] == [token.text for token in doc]
    assert [sent.start for sent in copy.sents] == [0, 3]
    assert [token.tag_ for token in copy] == ["DRELS", "", "", "", "$,", "", ""]
    assert read_gold_tags(copy) == [{"DRELS": 1}, {}, {}, {}, {"$,": 1}, {}, {}]
    assert [bool(token._.checked) for token in copy] == [True, False, False, False, True, False, True]
    if format in KEEP_SPACES:
        assert copy.text == doc.text


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_not_checked_is_soft_gold_on_request(format: str, tmp_path: Path, doc: Doc) -> None:
    (copy,) = read(save(format, tmp_path, doc), unchecked="soft")
    rows = read_gold_tags(copy)
    assert rows[0] == {"DRELS": 1} and rows[1] == {"XY": 1} and rows[3] == {} and rows[6] == {}
    assert rows[2] == {"$;": 0.5, "N:pl": 0.5}
    assert rows[5] == pytest.approx({"NA": 0.4, "NE": 0.3, "A_*": 0.3}, abs=2e-4)


@pytest.mark.parametrize("format", FORMATS)
def test_files_in_which_nobody_has_checked_anything_are_told(format: str, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    path = save(format, tmp_path, make_doc([("a", True, {"X": 0.9}, None), ("b", True, {"Y": 0.9}, None)]))
    with pytest.warns(CRFWarning, match="CRFW288"):
        list(Corpus(path)(nlp))
    with warnings.catch_warnings(action="error"):
        list(Corpus(path, unchecked="soft")(nlp))
    path = save(format, tmp_path, make_doc([("a", True, {"X": 0.9}, "X"), ("b", True, {"Y": 0.9}, None)]))
    with warnings.catch_warnings(action="error"):
        list(Corpus(path)(nlp))


@pytest.mark.parametrize("format", ["tagsets", "conllu", "label_studio", "doccano", "xlsx"])
def test_documents_keep_their_names(format: str, tmp_path: Path, doc: Doc) -> None:
    other = write_doc_name(make_doc([("a", True, {"A": 1.0}, "A")]), "letters 2")
    named = [read_doc_name(one) for one in read(save(format, tmp_path, doc, other))]
    assert named == ["letters", "letters 2"]
    again = [read_doc_name(one) for one in read(save(format, tmp_path, doc, other, doc))]
    assert again == ["letters", "letters 2", "a 3"]  # which is another document, called by the file


def test_formats_mix_in_one_corpus(tmp_path: Path, doc: Doc) -> None:
    paths = []
    for number, format in enumerate(FORMATS):
        (tmp_path / str(number)).mkdir()
        paths.append(save(format, tmp_path / str(number), doc))
    review = tmp_path / "review.tsv"
    review.write_text("# spacy_crf review 1\n# target = ext:gold_tags\n\na\tDRELS\tX\t0.5\t_\n", encoding="utf8")
    for corpus in ([*paths, review], tmp_path):
        docs = read(corpus)  # type: ignore[arg-type]
        assert [doc[0].tag_ for doc in docs] == ["DRELS"] * (len(FORMATS) + 1)
    with pytest.raises(CRFError, match="CRF538"):
        read(paths[0], format="webanno")


@pytest.mark.parametrize(
    "content, told",
    [
        ("a\tA\nb\tB\n", "CRF568.*tagsets.*columns"),
        ("a\tNN\nb\tO\n", "CRF568.*tagsets.*columns"),
        ("some words here\n", "CRF506"),
        ("a\tA\tB\n", "CRF506"),
    ],
)
def test_what_tells_no_format_is_refused(write: Write, content: str, told: str) -> None:
    with pytest.raises(CRFError, match=told):
        read(write("a.tsv", content))


def test_tables_of_two_columns_are_told_by_what_they_hold(write: Write) -> None:
    assert pick_format(write("a.tsv", "a\tNN\nb\tVB|NN\n")) == "tagsets"
    assert pick_format(write("b.tsv", "a\tB-X\nb\tO\n")) == "columns"
    assert read_gold_tags(read(write("a.tsv", "a\tNN\nb\tVB|NN\n"))[0]) == [{"NN": 1}, {"VB": 0.5, "NN": 0.5}]


@pytest.mark.parametrize("format", FORMATS)
def test_weights_of_what_is_checked_stay(format: str, tmp_path: Path) -> None:
    table = tmp_path / "source.tsv"
    cells = ["A:1|B:1", "B:0.75|A:0.25", "A|B", "A", "_"]
    rows = "".join(f"{word}\t{cell}\tyes\n" for word, cell in zip("abcde", cells))
    table.write_text(f"# columns = form, tags, checked\n{rows}f\tA:0.6|B:0.4\t_\n", encoding="utf8")
    (gold,) = read(table)
    again = Doc(BLANK.vocab, words=list("abcdef"), tags=list("AAAAAA"))
    copy_checked(gold, again, "tag")
    (folder := tmp_path / "out").mkdir()
    path = save(format, folder, again)
    assert read_gold_tags(read(path)[0]) == read_gold_tags(gold)
    if format in ("label_studio", "doccano"):  # a person takes B from the first word
        changed = re.sub(r'"labels": \[\s*"A",\s*"B"\s*\]|\[0, 1, "B"\]', only_a, path.read_text("utf8"), count=1)
        path.write_text(changed, encoding="utf8")
        assert read_gold_tags(read(path)[0])[0] == {"A": 1}


def only_a(found: re.Match[str]) -> str:
    return '[0, 1, "A"]' if found[0].startswith("[0") else '"labels": ["A"]'


# -- CoNLL-U -----------------------------------------------------------------------------------------------------

CONLLU = """\
# newdoc id = x
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|Gloss=let's
1\tvamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\tNE=B-X
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\t_
2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
# a comment
3\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\tGloss=sea

"""


def test_a_file_is_written_again_with_nothing_else_changed(write: Write) -> None:
    path = write("a.conllu", CONLLU)
    doc = make_doc(
        [("vamos", True, {"A": 0.6, "B|C".replace("|", "/"): 0.3}, None), ("nos", True, {"P": 1.0}, "P"),
         ("mar", True, {"N": 0.5, "A": 0.5}, None)]
    )  # fmt: skip
    documents = [ExchangeDocument.of([doc], PredictedTags(SET, PROBS))]
    found = rewrite_conllu(path, documents, "tag").decode()
    rows = [line.split("\t") for line in found.splitlines()]
    assert rows[0] == ["# checked = tag"]
    assert [row[4] for row in rows if len(row) == 10] == ["_", "A", "P", "_", "N"]
    assert [row[9] for row in rows if len(row) == 10] == [
        "SpaceAfter=No|Gloss=let's",
        "NE=B-X|TagSet=A:0.6\\pB/C:0.3|Checked=No",
        "TagSet=P|Checked=Yes",
        "_",
        "Gloss=sea|TagSet=N\\pA|Checked=No",
    ]
    others = [[*row[:4], *row[5:9]] if len(row) == 10 else row for row in rows[1:]]
    assert others == [[*r[:4], *r[5:9]] if len(r) == 10 else r for r in (o.split("\t") for o in CONLLU.splitlines())]
    again = write("b.conllu", found)
    assert rewrite_conllu(again, documents, "tag").decode() == found
    (copy,) = read(again)
    assert [token.tag_ for token in copy] == ["", "P", ""] and copy[0].pos_ == "VERB"
    assert [ent.text for ent in copy.ents] == ["vamos"]


def test_words_of_another_file_are_refused(write: Write) -> None:
    documents = [ExchangeDocument.of([make_doc([("tu", True, {"A": 1.0}, None)])], PredictedTags(SET, PROBS))]
    with pytest.raises(CRFError, match="CRF578.*'tu'"):
        rewrite_conllu(write("a.conllu", CONLLU), documents, "tag")


def test_several_parts_of_speech(write: Write) -> None:
    rows = [
        "1\ta\t_\tNOUN\tX\t_\t_\t_\t_\tGold=NOUN:0.75\\pVERB:0.25|Checked=Yes",
        "2\tb\t_\tVERB\tY\t_\t_\t_\t_\tTagSet=NOUN\\pVERB|Checked=No",
    ]
    path = write("a.conllu", "\n".join(["# checked = pos", *rows]) + "\n\n")
    (doc,) = read(path)
    assert read_gold_tags(doc, GOLD_POS) == [{"NOUN": 0.75, "VERB": 0.25}, {}] and not any(read_gold_tags(doc))
    assert [token.pos_ for token in doc] == ["NOUN", ""] and [token.tag_ for token in doc] == ["X", "Y"]
    gold = Example(Doc(doc.vocab, words=["a", "b"]), doc)
    assert gold_weights(gold, "pos", GOLD_TAGS) == [{"NOUN": 0.75, "VERB": 0.25}, {}]
    assert gold_weights(gold, "tag", GOLD_TAGS) == [{"X": 1.0}, {"Y": 1.0}]
    (soft,) = read(path, unchecked="soft")
    assert read_gold_tags(soft, GOLD_POS)[1].keys() == {"NOUN", "VERB"}
    again = Doc(doc.vocab, words=["a", "b"])
    copy_checked(doc, again, "pos")
    out = write_conllu([ExchangeDocument.of([again], PredictedTags(SET, PROBS))], "pos").decode()
    assert "Gold=NOUN:0.75\\pVERB:0.25|Checked=Yes" in out


def test_several_gold_tags_and_upos(write: Write) -> None:
    rows = [
        "1\ta\t_\tNOUN\tX\t_\t_\t_\t_\tGold=X:0.75\\pY:0.25|Checked=Yes",
        "2\tb\t_\tVERB\tZ\t_\t_\t_\t_\tGold=X\\pY|TagSet=Q|Checked=Yes",
        "3\tc\t_\tADJ\tZ\t_\t_\t_\t_\tChecked=No",
    ]
    (doc,) = read(write("a.conllu", "\n".join(rows) + "\n\n"))
    assert read_gold_tags(doc) == [{"X": 0.75, "Y": 0.25}, {"Z": 1}, {}]
    assert [token.pos_ for token in doc] == ["NOUN", "VERB", "ADJ"]
    (doc,) = read(write("b.conllu", "\n".join(["# checked = pos", *rows]) + "\n\n"))
    assert [token.pos_ for token in doc] == ["NOUN", "VERB", ""]
    assert [token.tag_ for token in doc] == ["X", "Z", "Z"]


def test_check_marks_are_of_one_column(write: Write, tmp_path: Path) -> None:
    rows = ["1\ta\t_\tNOUN\tART\t_\t_\t_\t_\tChecked=Yes", "2\tb\t_\tVERB\tNA\t_\t_\t_\t_\tChecked=No"]
    for kind, target in (("pos", "tag"), ("tag", "pos")):
        path = write(f"{kind}.conllu", "\n".join([f"# checked = {kind}", *rows]) + "\n\n")
        (doc,) = read(path)
        again = Doc(doc.vocab, words=["a", "b"])
        copy_checked(doc, again, target)
        documents = [ExchangeDocument.of([again], PredictedTags(SET, PROBS, target))]
        assert not any(token.is_checked for sentence in documents[0].sentences for token in sentence)
        with pytest.raises(CRFError, match=f"CRF593.*{'UPOS' if kind == 'pos' else 'XPOS'}"):
            rewrite_conllu(path, documents, target)


def test_sentences_say_what_a_tagger_has_filled_in_wherever_they_go(write: Write) -> None:
    source = write("a.conllu", "".join(f"1\t{word}\t_\t_\tX\t_\t_\t_\t_\t_\n\n" for word in "ab"))
    doc = Doc(BLANK.vocab, words=["a", "b"], pos=["NOUN", "VERB"], sent_starts=[True, True])
    documents = [ExchangeDocument.of([write_doc_name(doc, "a")], PredictedTags(SET, PROBS, "pos"))]
    for content in (write_conllu(documents, "pos"), rewrite_conllu(source, documents, "pos")):
        second = content.decode().split("\n\n")[1] + "\n\n"
        (found,) = read(write("second.conllu", second))
        assert [(token.text, token.pos_) for token in found] == [("b", "")]
        assert found[0].tag_ == ("X" if "\tX\t" in second else "")


def test_checked_parts_of_speech_in_a_table_go_out_again(write: Write) -> None:
    (doc,) = read(write("a.tsv", "# columns = form, tags, checked\na\tNOUN\tyes\nb\tVERB\t_\n"))
    again = Doc(doc.vocab, words=["a", "b"], pos=["ADJ", "ADJ"])
    copy_checked(doc, again, "pos")
    (sentence,) = ExchangeDocument.of([again], PredictedTags(SET, PROBS, "pos")).sentences
    assert [(token.tag, token.is_checked) for token in sentence] == [("NOUN", True), ("ADJ", False)]


# -- UIMA CAS ----------------------------------------------------------------------------------------------------


def save_cas(folder: Path, suffix: str, kind: str, *values: tuple[int, int, Any]) -> Path:
    """A text of two words as cassis writes it. kind (str): of the feature `tag`. values: annotations, all checked."""
    cassis = pytest.importorskip("cassis")
    types = cassis.TypeSystem()
    for name in (TOKEN, SENTENCE):
        types.create_type(name, "uima.tcas.Annotation")
    layer = types.create_type("webanno.custom.TagSet", "uima.tcas.Annotation")
    types.create_feature(layer, "tag", kind)
    types.create_feature(layer, "checked", "uima.cas.Boolean")
    cas = cassis.Cas(types)
    cas.sofa_string = "abc b"
    tokens = [types.get_type(TOKEN)(begin=start, end=end) for start, end in ((0, 3), (4, 5))]
    cas.add_all(tokens)
    for start, end, value in values:
        value = types.get_type("uima.cas.StringArray")(elements=value) if isinstance(value, list) else value
        value = tokens[0] if value is None else value
        cas.add(layer(begin=start, end=end, tag=value, checked=True))
    (folder / TYPE_SYSTEM).write_text(types.to_xml(), encoding="utf8")
    path = folder / f"a.{suffix}"
    path.write_text(cas.to_xmi() if suffix == "xmi" else cas.to_json(), encoding="utf8")
    return path


@pytest.mark.parametrize("suffix", ["xmi", "json"])
def test_annotations_of_other_kinds(suffix: str, tmp_path: Path) -> None:
    several = save_cas(tmp_path, suffix, "uima.cas.StringArray", (0, 3, ["A", "B"]), (4, 5, ["C"]))
    assert read_gold_tags(read(several)[0]) == [{"A": 0.5, "B": 0.5}, {"C": 1}]
    empty = save_cas(tmp_path, suffix, "uima.cas.String", (1, 1, "A"), (4, 5, "C"), (5, 5, "D"))
    assert read_gold_tags(read(empty)[0]) == [{}, {"C": 1}]
    with pytest.raises(CRFError, match="CRF569.*no text"):
        read(save_cas(tmp_path, suffix, TOKEN, (0, 3, None)))


# -- tools that know no tokens -----------------------------------------------------------------------------------


def task(results: list[dict[str, Any]], **more: Any) -> str:
    data = {"text": "a b c", "document": "x", "sentences": [[[0, 1], [2, 3], [4, 5]]]}
    return json.dumps([{"id": 1, "data": data, "predictions": [], "annotations": [{"result": results, **more}]}])


def span(start: int, end: int, *labels: str, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": list(labels)}
    return {"id": f"{start}", "type": "labels", "value": value, **more}


def test_label_studio_tells_what_a_person_has_done(write: Write) -> None:
    kept, changed = span(0, 1, "A", origin="prediction"), span(2, 3, "B", "C", origin="prediction-changed")
    own = span(4, 5, "D", origin="manual")
    tick = {"id": "0", "type": "choices", "value": {"choices": ["checked"]}}
    for results, more, expected in [
        ([kept, changed, own], {}, [{}, {"B": 0.5, "C": 0.5}, {"D": 1}]),
        ([kept, tick], {}, [{"A": 1}, {}, {}]),
        ([kept], {"ground_truth": True}, [{"A": 1}, {}, {}]),
        ([own], {"was_cancelled": True}, [{}, {}, {}]),
        ([span(0, 3, "E")], {}, [{"E": 1}, {"E": 1}, {}]),
        ([span(0, 3, "E"), span(2, 5, "F")], {}, [{"E": 1}, {"E": 0.5, "F": 0.5}, {"F": 1}]),
    ]:
        (doc,) = read(write("a.json", task(results, **more)))
        assert read_gold_tags(doc) == expected and read_doc_name(doc) == "x"


def test_label_studio_has_tags_in_one_control(write: Write) -> None:
    tag, other = span(0, 1, "A", from_name="label"), span(0, 3, "PERSON", from_name="who")
    relation = {"from_id": "0", "to_id": "1", "type": "relation", "direction": "right"}
    only = {"from_name": "pos"}
    for results, expected in [
        ([tag, other, relation], [{"A": 1}, {}, {}]),
        ([span(0, 1, "A", **only), span(2, 3, "B", **only)], [{"A": 1}, {"B": 1}, {}]),
    ]:
        (doc,) = read(write("a.json", task(results)))
        assert read_gold_tags(doc) == expected
    tasks = [json.loads(task(own))[0] for own in ([other], [tag])]  # the first one alone would not tell
    assert [read_gold_tags(doc) for doc in read(write("a.json", json.dumps(tasks)))] == [[{}] * 3, [{"A": 1}, {}, {}]]


def test_label_studio_may_spell_line_ends_in_another_way(write: Write) -> None:
    one = span(0, 3, "A")
    one["value"]["text"] = "a\\nb"
    (doc,) = read(write("a.json", task([one])))
    assert read_gold_tags(doc) == [{"A": 1}, {"A": 1}, {}]


def test_doccano_tells_checked_spans_by_a_label(write: Write) -> None:
    data = {"text": "a b c", "sentences": [[[0, 1], [2, 3]], [[4, 5]]]}
    spans = [[0, 1, "A"], [2, 3, "B"], [4, 5, "C"], [0, 3, "checked"]]
    entities = [{"id": k, "start_offset": s, "end_offset": e, "label": label} for k, (s, e, label) in enumerate(spans)]
    for line in ({**data, "label": spans}, {"text": data["text"], "meta": data, "entities": entities}):
        (doc,) = read(write("a.jsonl", json.dumps(line)))
        assert read_gold_tags(doc) == [{"A": 1}, {"B": 1}, {}] and len(list(doc.sents)) == 2


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.json", task([span(0, 9, "A")]), r"CRF577.*a\.json, task 1.*from 0 to 9"),
        ("a.json", task([span(0, 1, "A")]).replace('"labels": ["A"]', '"labels": ["A"], "text": "x"'), "CRF577.*'x'"),
        ("a.json", task([span(0, 1, "A", from_name="b"), span(0, 1, "A", from_name="c")]), "CRF760.*b, c"),
        ("a.json", task([span(0, 1, "A") | {"type": "hypertextlabels"}]), "CRF577.*task 1.*hypertextlabels"),
        ("a.json", task([]).replace('"sentences"', '"sentence"'), "CRF577.*sentences"),
        ("a.json", task([span(0, 1, "AB")]).replace('["AB"]', '"AB"'), "CRF577.*'AB' are no labels"),
        ("a.jsonl", '{"text": "a", "sentences": [[[0, 1]]], "label": [[0, 1, null]]}', "CRF577.*no labels"),
        ("a.json", task([]).replace("[2, 3]", "[0, 3]"), "CRF577.*0 to 3"),
        ("a.jsonl", '{"text": "a b", "label": [[0, 1, "A"]]}', r"CRF577.*a\.jsonl, line 1.*sentences"),
        ("a.xlsx", "no zip", "CRF569.*spread"),
        ("a.xmi", "<x/>", "CRF577.*TypeSystem"),
        ("a.json", '{"%TYPES": 1}', "CRF569.*CAS"),
    ],
)
def test_what_is_malformed_is_named(write: Write, name: str, content: str, message: str) -> None:
    for package in (
        package for kind, package in (("569.*spread", "openpyxl"), ("569.*CAS", "cassis")) if kind in message
    ):
        pytest.importorskip(package)
    with pytest.raises(CRFError, match=message):
        read(write(name, content))


def test_cells_of_a_spreadsheet_are_coloured_by_doubt_and_never_formulas(tmp_path: Path, doc: Doc) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    sheet = openpyxl.load_workbook(save("xlsx", tmp_path, doc)).worksheets[0]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == ["form", "tags", "checked", "probability", "place"] and rows[1][0] == "# newdoc id = letters"
    assert rows[2] == ["dhe", "DRELS", "yes", 0.62, 2] and rows[3][:3] == ["=[x]|", "XY", None]
    assert sheet["A4"].data_type == "s"
    checked, sure, unsure = (sheet.cell(row, 2).fill.fgColor.rgb[2:] for row in (3, 4, 9))
    assert checked == "FFFFFF" and int(unsure[2:], 16) < int(sure[2:], 16) < int(checked[2:], 16)


def test_a_word_of_a_spreadsheet_whose_tags_were_deleted_is_no_comment(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = save("xlsx", tmp_path, make_doc([("#port", True, {"NE": 0.9}, None), ("ahoy", True, {"ITJ": 0.8}, "ITJ")]))
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["B3"].value = None
    book.save(path)
    (copy,) = read(path)
    assert [(token.text, token.tag_) for token in copy] == [("#port", ""), ("ahoy", "ITJ")]


def test_a_control_character_is_refused_in_a_spreadsheet(tmp_path: Path) -> None:
    with pytest.raises(CRFError, match="CRF569.*spreadsheet"):
        save("xlsx", tmp_path, make_doc([("a\x01", True, {"NE": 0.9}, None)]))


def test_a_spreadsheet_for_which_there_is_no_room(tmp_path: Path, doc: Doc, monkeypatch: pytest.MonkeyPatch) -> None:
    def save_nothing(*_: Any) -> None:
        raise RuntimeError("IO_ENOSPC")  # as lxml says it

    monkeypatch.setattr(pytest.importorskip("openpyxl").Workbook, "save", save_nothing)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        save("xlsx", tmp_path, doc)


@pytest.mark.parametrize("format", ["tagsets", "conllu", "xlsx"])
def test_the_name_of_a_document_is_written_on_one_line(format: str, tmp_path: Path, doc: Doc) -> None:
    (copy,) = read(save(format, tmp_path, write_doc_name(doc, "to\nRuth\tB.\0")))
    assert [token.text for token in copy] == [token.text for token in doc]
    assert read_doc_name(copy) == "to Ruth B."


def edited(path: Path, edit: Callable[[Any], None]) -> Path:
    """A spreadsheet as a person has left it, whose first token is checked."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(path)
    book["tokens"]["C3"] = "yes"
    edit(book)
    book.save(path)
    return path


def rename_behind_a_legend(book: Any) -> None:
    book["tokens"].title = "letters"
    book.create_sheet("legend", 0).append(["ITJ", "interjection"])


EDITS: dict[str, Callable[[Any], None]] = {
    "another name behind a sheet": rename_behind_a_legend,
    "a column of notes": lambda book: (book["tokens"].insert_cols(3), book["tokens"].cell(1, 3, "notes")),
    "numbers in front": lambda book: (book["tokens"].insert_cols(1), book["tokens"].cell(1, 1, "nr")),
    "other case": lambda book: book["tokens"].cell(1, 3, "Checked "),
    "a sheet in front": lambda book: book.create_sheet("notes", 0).cell(1, 1, "ask Ruth"),
    "no titles": lambda book: book["tokens"].delete_rows(1),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_columns_of_a_spreadsheet_are_found_by_their_titles(tmp_path: Path, edit: Callable[[Any], None]) -> None:
    pytest.importorskip("openpyxl")
    path = save("xlsx", tmp_path, make_doc([("a", True, {"X": 0.9}, None), ("ahoy", True, {"ITJ": 0.8}, None)]))
    (copy,) = read(edited(path, edit))
    assert [(token.text, token.tag_) for token in copy] == [("a", "X"), ("ahoy", "")]


def test_a_spreadsheet_without_a_column_of_check_marks(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = save("xlsx", tmp_path, make_doc([("a", True, {"X": 0.9}, None), ("ahoy", True, {"ITJ": 0.8}, None)]))
    with pytest.raises(CRFError, match="CRF587.*form, tags, seen, probability"):
        read(edited(path, lambda book: book["tokens"].cell(1, 3, "seen")))
    (copy,) = read(edited(path, lambda book: book["tokens"].delete_cols(3, 2)))
    assert [token.tag_ for token in copy] == ["X", "ITJ"]


def test_what_a_spreadsheet_program_makes_of_a_word(tmp_path: Path) -> None:
    path = save("xlsx", tmp_path, make_doc([("TRUE", True, {"NE": 0.9}, None)]))
    (copy,) = read(edited(path, lambda book: book["tokens"].cell(3, 1, True)))
    assert [(token.text, token.tag_) for token in copy] == [("TRUE", "NE")]
    with pytest.raises(CRFError, match="CRF594.*2001-05-12"):
        read(edited(path, lambda book: book["tokens"].cell(3, 1, date(2001, 5, 12))))


def sort_rows(path: Path, key: Callable[[list[Any]], Any], folder: Path) -> Path:
    """A copy of a spreadsheet whose rows are sorted below the titles, as spreadsheet programs do."""
    openpyxl = pytest.importorskip("openpyxl")
    titles, *rows = ([cell.value for cell in row] for row in openpyxl.load_workbook(path)["tokens"].iter_rows())
    book = openpyxl.Workbook()
    book.active.title = "tokens"
    for row in [titles, *sorted(rows, key=key)]:
        book.active.append(row)
    book.save(folder / "sorted.xlsx")
    return folder / "sorted.xlsx"


def test_a_sorted_spreadsheet_is_refused_until_its_rows_are_in_their_order_again(tmp_path: Path) -> None:
    tokens: list[tuple[str, bool, dict[str, float], str | None]] = [
        ("ahoy", True, {"ITJ": 0.9}, "ITJ"),
        ("so", True, {"ADV": 0.3}, "ADV"),
        ("what", True, {"PRON": 0.5}, "PRON"),
    ]
    path = save("xlsx", tmp_path, *(make_doc(tokens, starts=[True, False, True]) for _ in range(2)))
    doubtful = sort_rows(path, lambda row: (row[3] is None, row[3] or 0), tmp_path)
    with pytest.raises(CRFError, match="CRF463.*sorted.xlsx, row 4: the place 5 stands behind 9"):
        read(doubtful)
    copies = read(sort_rows(doubtful, lambda row: row[4], tmp_path))
    assert [[sent.text.strip() for sent in copy.sents] for copy in copies] == [["ahoy so", "what"]] * 2


def test_a_spreadsheet_whose_words_are_sorted_before_all_other_rows_is_refused(tmp_path: Path) -> None:
    tokens: list[tuple[str, bool, dict[str, float], str | None]] = [("ahoy", True, {"ITJ": 0.9}, "ITJ")]
    path = save("xlsx", tmp_path, *(make_doc(tokens) for _ in range(2)))
    marked = sort_rows(path, lambda row: not row[1], tmp_path)  # words, then comments and empty rows
    with pytest.raises(CRFError, match="CRF463.*sorted.xlsx"):
        read(marked)


def test_rows_may_be_deleted_copied_and_added_and_documents_put_together(tmp_path: Path) -> None:
    path = save("xlsx", tmp_path, make_doc([("a", True, {"X": 0.9}, "X"), ("b", True, {"Y": 0.9}, "Y")]))

    def change(book: Any) -> None:
        sheet = book["tokens"]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        sheet.delete_rows(3, 3)
        for row in [rows[2], rows[2], ["new", "Z", "yes"], rows[3], *rows]:
            sheet.append(row)

    copies = read(edited(path, change))
    assert [[token.text for token in copy] for copy in copies] == [["b", "b", "new"], ["a", "b"]]


def set_cell(book: Any, place: str, value: Any, format: str = "General") -> None:
    book["tokens"][place].value, book["tokens"][place].number_format = value, format


LOST: dict[str, tuple[Callable[[Any], None], str]] = {
    "share": (lambda book: set_cell(book, "A3", 0.5, "0%"), "CRF594.*0%, of the cell A3"),
    "leading zeros": (lambda book: set_cell(book, "A4", 7, "000"), "CRF594.*000.*A4"),
    "error": (lambda book: set_cell(book, "B3", "#N/A"), "CRF594.*an error of the cell B3"),
    "merged": (lambda book: book["tokens"].merge_cells("B3:B4"), "CRF492.*B3:B4"),
    "long number": (lambda book: set_cell(book, "A4", 123456789012345678), "CRF594.*15 digits of the cell A4"),
    "a copy of the sheet": (lambda book: book.copy_worksheet(book["tokens"]), "CRF287.*tokens, tokens Copy"),
    "a column twice": (lambda book: set_cell(book, "G1", "Checked"), "CRF287.*called 'checked'"),
}


@pytest.mark.parametrize("edit, message", LOST.values(), ids=LOST)
def test_what_a_spreadsheet_does_not_tell_is_refused(tmp_path: Path, edit: Callable[[Any], None], message: str) -> None:
    path = save("xlsx", tmp_path, make_doc([("a", True, {"X": 0.9}, "X"), ("b", True, {"Y": 0.9}, "Y")]))
    with pytest.raises(CRFError, match=message):
        read(edited(path, edit))


@pytest.mark.parametrize("edit", [lambda book: None, rename_behind_a_legend])
@pytest.mark.parametrize("size", [b"A1:D3", b"A1"])
def test_cells_beyond_the_size_that_a_spreadsheet_tells(
    tmp_path: Path, edit: Callable[[Any], None], size: bytes
) -> None:
    path = save("xlsx", tmp_path, make_doc([("a", True, {"X": 0.9}, "X"), ("b", True, {"Y": 0.9}, "Y")]))
    parts = zipfile.ZipFile(io.BytesIO(edited(path, edit).read_bytes()))
    with zipfile.ZipFile(path, "w") as archive:
        for name in parts.namelist():
            archive.writestr(name, re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="%b"' % size, parts.read(name)))
    (copy,) = read(path)
    assert [(token.text, token.tag_) for token in copy] == [("a", "X"), ("b", "Y")]


def resave(path: Path) -> Path:
    """Save a table as a spreadsheet program does: as many cells in each row, those with a quotation mark in quotes."""
    rows = [line.split("\t") for line in path.read_text("utf8").split("\n")]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t")
    writer.writerows([*row, *[""] * (max(map(len, rows)) - len(row))] for row in rows)
    path.write_text(text.getvalue(), "utf8")
    return path


def test_a_table_that_a_spreadsheet_program_has_saved(tmp_path: Path) -> None:
    gold = [('"', True, {"$(": 0.9}, "$("), ("ja", False, {"ITJ": 0.8}, "ITJ"), ('"', True, {"$(": 0.9}, None)]
    path = resave(save("tagsets", tmp_path, make_doc(gold)))
    assert '""""' in path.read_text("utf8")
    (copy,) = read(path)
    assert [(token.text, token.tag_) for token in copy] == [('"', "$("), ("ja", "ITJ"), ('"', "")]
    assert read_doc_name(copy) == "letters"


MARKED: list[tuple[str, bool, dict[str, float], str | None]] = [
    ("a", True, {"X": 0.9}, None),
    ("b", True, {"Y": 0.9}, None),
]


def test_marks_that_are_filled_down_a_column_of_a_table(tmp_path: Path) -> None:
    path = resave(save("tagsets", tmp_path, *(make_doc(MARKED, starts=[True, True]) for _ in range(2))))
    rows = [line.split("\t") for line in path.read_text("utf8").splitlines()]
    path.write_text("".join(f"{word}\t{tags}\tyes\n" for word, tags, _ in rows), "utf8")
    check_filled_down(read(path))


@pytest.mark.parametrize("mark", ["x", True])
def test_marks_that_are_filled_down_a_column_of_a_spreadsheet(tmp_path: Path, mark: object) -> None:
    path = save("xlsx", tmp_path, *(make_doc(MARKED, starts=[True, True]) for _ in range(2)))

    def fill(book: Any) -> None:
        for row in range(2, book["tokens"].max_row + 1):
            book["tokens"].cell(row, 3, mark)

    check_filled_down(read(edited(path, fill)))


def check_filled_down(docs: list[Doc]) -> None:
    """Look for two documents of two sentences."""
    found = [[[(token.text, token.tag_) for token in sent] for sent in doc.sents] for doc in docs]
    assert found == [[[("a", "X")], [("b", "Y")]]] * 2


def test_documents_with_marks_in_all_rows_are_put_together(tmp_path: Path) -> None:
    path = save("xlsx", tmp_path, make_doc(MARKED))

    def double(book: Any) -> None:
        sheet = book["tokens"]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        sheet.delete_rows(2, len(rows))
        for row in rows + rows:
            sheet.append([*row[:2], True, *row[3:]])

    assert [[token.tag_ for token in doc] for doc in read(edited(path, double))] == [["X", "Y"]] * 2


def test_marks_that_mean_nothing_are_refused(write: Write) -> None:
    table = "# columns = form, tags, checked\na\tA\t{}\n"
    assert read(write("a.tsv", table.format("X")))[0][0].tag_ == "A"
    assert read(write("a.tsv", table.format("")))[0][0].tag_ == ""
    with pytest.raises(CRFError, match=r"CRF567.*line 2.*'perhaps'"):
        read(write("a.tsv", table.format("perhaps")))
    with pytest.raises(CRFError, match="CRF549.*unchecked.*'gold'"):
        Corpus(write("a.tsv", table.format("")), unchecked="gold")  # type: ignore[arg-type]


words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp", "Cn"]), min_size=1, max_size=6).filter(
    lambda word: not word.isspace()
)
labels = st.text(st.sampled_from("AB:$,._;1"), min_size=1, max_size=3)
sets = st.dictionaries(labels, st.sampled_from([0.5, 0.25, 0.125]), max_size=2)
rows = st.lists(st.tuples(words, st.booleans(), sets, st.none() | labels), min_size=1, max_size=6)


@pytest.mark.promise
@pytest.mark.parametrize("format", FORMATS)
@given(made=rows)
def test_any_document_comes_back(
    format: str, made: list[tuple[str, bool, dict[str, float], str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    doc = make_doc([*made[:-1], (made[-1][0], True, *made[-1][2:])])
    (copy,) = read(save(format, tmp_path_factory.getbasetemp(), doc))
    assert [token.text for token in copy] == [token.text for token in doc]
    assert read_gold_tags(copy) == [{gold: 1.0} if gold else {} for *_, gold in made]
    if format in KEEP_SPACES:
        assert copy.text == doc.text

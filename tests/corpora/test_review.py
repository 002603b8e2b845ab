"""Corrected files of `crf review` are read back, token by token, and what is malformed is named with its line."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fixtures import Write
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_crf.annotation.gold import partial_tags
from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.reader import Corpus
from spacy_crf.corpora.review import FORMAT, escape, unescape, write_label
from spacy_crf.corpora.sentence import find_exact_spaces

HEAD = f"# {FORMAT}\n# Fill in.\n# target = TARGET\n# columns = word, gold, best, probability, alternatives\n\n"


def rows(*tokens: str, target: str = "tag", comments: str = "# id = 1.1, line 1\n") -> str:
    """A file of one sequence from `word/gold` pairs."""
    cells = (token.split("/") for token in tokens)
    return HEAD.replace("TARGET", target) + comments + "".join(f"{w}\t{g}\tX\t0.5\t_\n" for w, g in cells)


def lines(*tokens: str, target: str = "tag", **changed: object) -> str:
    found = [{"text": word, "gold": gold} for word, gold in (token.split("/") for token in tokens)]
    return json.dumps({"format": FORMAT, "target": target, "text": None, "tokens": found, "input": {}, **changed})


def read(nlp: Language, path: Path, **settings: object) -> list[Doc]:
    return [example.reference for example in Corpus(path, **settings)(nlp)]


@pytest.mark.parametrize("make, name", [(rows, "a.tsv"), (lines, "a.jsonl")])
def test_an_empty_tag_is_unknown(nlp: Language, write: Write, make: Callable[..., str], name: str) -> None:
    (doc,) = read(nlp, write(name, make("Can/MD", "you/", "#/_", "mail/VB")))
    assert [(token.text, token.tag_) for token in doc] == [("Can", "MD"), ("you", ""), ("#", ""), ("mail", "VB")]
    assert [token.is_sent_start for token in doc] == [True, False, False, False]


def test_every_target_has_its_place(nlp: Language, write: Write, extension: str) -> None:
    (doc,) = read(nlp, write("a.tsv", rows("a/NOUN", "b/", target="pos")))
    assert [token.pos_ for token in doc] == ["NOUN", ""]
    (doc,) = read(nlp, write("a.tsv", rows("a/x", "b/", target=f"ext:{extension}")))
    assert [token._.get(extension) for token in doc] == ["x", ""]
    (doc,) = read(nlp, write("a.tsv", rows("a/B-PER", "b/I-PER", "c/O", "d/", target="ner")))
    assert [token.ent_iob_ for token in doc] == ["B", "I", "O", ""]
    (doc,) = read(nlp, write("a.tsv", rows("a/B-NP", "b/I-NP", "c/O", target="spans:chunks")))
    assert [(span.text, span.label_) for span in doc.spans["chunks"]] == [("a b", "NP")]


@pytest.mark.parametrize("target", ["ner", "spans:chunks"])
@pytest.mark.parametrize(
    "tokens, spans, known",
    [
        (["\\n/", "a/B-X", "\\n/", "b/I-X", "\\n/", "c/O"], [(1, 4)], "111111"),
        (["a/B-X", "\\n/"], [(0, 1)], "11"),
        (["a/B-X", "\\n/", "b/"], [], "100"),
        (["a/B-X", "\\n/", "b/B-X", "\\n/", "\\n/", "c/O"], [(0, 1), (2, 3)], "111111"),
        (["\\n/", "a/", "\\n/", "b/O"], [], "0001"),
    ],
)
def test_white_space_lies_in_the_span_that_goes_on_behind_it_or_in_none(
    nlp: Language, write: Write, target: str, tokens: list[str], spans: list[tuple[int, int]], known: str
) -> None:
    (doc,) = read(nlp, write("a.tsv", rows(*tokens, target=target)))
    found = doc.ents if target == "ner" else doc.spans["chunks"]
    assert [(span.start, span.end) for span in found] == spans
    tags = partial_tags(doc, "ent" if target == "ner" else "spans", "chunks")
    if tags is None and target == "ner":
        tags = [token.ent_iob_ for token in doc]
    assert "".join("1" if tag else "0" for tag in tags or ["O"] * len(doc)) == known


@pytest.mark.parametrize("text, quote", [('"a", b', ', "'), ('"a b', '"')])
def test_a_file_that_a_spreadsheet_program_has_saved(nlp: Language, write: Write, text: str, quote: str) -> None:
    plain = rows('"/``', "a/DT", "b/NN", comments=f"# id = 1.1, line 1\n# text = {text}\n")
    cells = [line.split("\t") for line in plain.splitlines()]
    quoted = [[f'"{c.replace(chr(34), chr(34) * 2)}"' if set(quote) & {*c} else c for c in row] for row in cells]
    with warnings.catch_warnings(action="ignore", category=CRFWarning):  # words are made up
        (doc,) = read(
            nlp, write("a.tsv", "".join("\t".join([*row, *[""] * (5 - len(row))]) + "\r\n" for row in quoted))
        )
    assert [(token.text, token.tag_) for token in doc] == [('"', "``"), ("a", "DT"), ("b", "NN")]


def test_rows_between_quotation_marks_that_a_program_takes_for_one_cell(nlp: Language, write: Write) -> None:
    plain = rows('"/``', "a/DT", "\"/''", "b/NN", comments='# id = 1.1, line 1\n# text = "a" b\n')
    saved = plain.replace('# text = "a" b', '"# text = ""a"" b"')
    with warnings.catch_warnings(action="error"):
        docs = [doc for text in (plain, saved) for doc in read(nlp, write("a.tsv", text))]
    for doc in docs:
        assert [(token.text, token.tag_) for token in doc] == [('"', "``"), ("a", "DT"), ('"', "''"), ("b", "NN")]
        assert doc.text.strip() == '"a" b'


def test_words_that_have_changed_are_told(nlp: Language, write: Write) -> None:
    comments = "# id = 1.1, line 1\n# text = on 1.50\n"
    with pytest.warns(CRFWarning, match="CRFW588.*line 8"):
        read(nlp, write("a.tsv", rows("on/IN", "1,5/CD", comments=comments)))
    with warnings.catch_warnings(action="error"):
        read(nlp, write("b.tsv", rows("on/IN", "1.50/CD", comments=comments)))


@pytest.mark.parametrize("target, own", [("ner", "ent"), ("spans:sc", "spans")])
@pytest.mark.parametrize("make, name", [(rows, "a.tsv"), (lines, "a.jsonl")])
def test_spans_keep_the_tags_of_single_tokens(
    nlp: Language, write: Write, make: Callable[..., str], name: str, target: str, own: str
) -> None:
    gold = ["", "I-PER", "O", "", "B-LOC", "", "O"]
    (doc,) = read(nlp, write(name, make(*(f"w{i}/{tag}" for i, tag in enumerate(gold)), target=target)))
    assert partial_tags(doc, own, "sc") == gold
    (stored,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert partial_tags(stored, own, "sc") == gold
    assert partial_tags(doc, "tag", "sc") is None


def test_span_columns_of_other_files_are_partial_too(nlp: Language, write: Write) -> None:
    path = write("a.conll", "New B-LOC\nYork L-LOC\nis _\nbig O\nBay U-LOC\n\nall O\nin O\n")
    partial, whole = read(nlp, path, columns=["word", "spans:sc"])
    assert partial_tags(partial, "spans", "sc") == ["B-LOC", "I-LOC", "", "O", "B-LOC"]
    assert partial_tags(whole, "spans", "sc") is None


@pytest.mark.parametrize("text", ["Hi  you \\there.", "  a\tb\nc", "It's (on)", "no_space#", "a \u00a0b"])
def test_the_text_is_kept_with_its_spaces(nlp: Language, write: Write, text: str) -> None:
    words = [token.text for token in nlp.make_doc(text)]
    assert "".join(token.text_with_ws for token in nlp.make_doc(text)) == text
    tokens = [f"{escape(word)}/X" for word in words]
    as_rows = write("a.tsv", rows(*tokens, comments=f"# text = {escape(text)}\n"))
    as_lines = write("a.jsonl", lines(*(f"{word}/X" for word in words), text=text))
    for path in (as_rows, as_lines):
        (doc,) = read(nlp, path)
        assert [token.text for token in doc] == words and doc.text.removesuffix(" ") == text.removesuffix(" ")
    assert find_exact_spaces(text, [*words, "more"]) is None


@pytest.mark.promise
@given(st.text(alphabet="\\tnr\t\n\r #a", max_size=12))
def test_what_was_escaped_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not set(escape(text)) & set("\t\n\r")


@pytest.mark.parametrize("label", ["_", r"\_", r"\\_", "a_", "O", ""])
def test_labels_that_look_like_unknown_ones_come_back(nlp: Language, write: Write, label: str) -> None:
    as_rows = write("a.tsv", rows(f"a/{escape(write_label(label))}", "b/MD"))
    as_lines = write("a.jsonl", lines(f"a/{write_label(label)}", "b/MD"))
    for path in (as_rows, as_lines):
        (doc,) = read(nlp, path)
        assert [token.tag_ for token in doc] == [label, "MD"]


def test_input_columns_come_with_the_file(nlp: Language, write: Write) -> None:
    text = (
        rows("a/B-NP", "b/", target="spans:sc")
        .replace("# columns", "# input = tag\n# columns")
        .replace("_\n", "_\tDT\n")
    )
    (example,) = Corpus(write("a.tsv", text), input=["tag"])(nlp)
    assert [token.tag_ for token in example.predicted] == ["DT", "DT"]
    assert "sc" not in example.predicted.spans and not example.predicted.user_data
    (example,) = Corpus(write("a.jsonl", lines("a/B-NP", target="spans:sc", input={"tag": ["DT"]})), input=["tag"])(nlp)
    assert example.predicted[0].tag_ == "DT"


def test_beside_other_corpora(nlp: Language, write: Write) -> None:
    old, new = write("old.tsv", "a\tDT\n"), write("new.tsv", rows("b/NN", "c/") + "\n# id = 2.1\nd\t\tX\t0.5\t_\n")
    for settings in ({}, {"group": "document"}):
        found = read(nlp, [old, new], columns=["word", "tag"], **settings)
        assert [[(token.text, token.tag_) for token in doc] for doc in found] == [
            [("a", "DT")],
            [("b", "NN"), ("c", "")],
        ]
    assert [doc.text for doc in read(nlp, [new, str(new)], format="review")] == ["b c "]
    with pytest.raises(ValueError, match=r"CRF502.*nothing\.tsv"):
        Corpus([old, Path("nothing.tsv")])
    with pytest.raises(ValueError, match="CRF501"):
        Corpus([])


def test_beside_files_with_sets_of_tags(nlp: Language, write: Write) -> None:
    found = read(nlp, [write("old.tsv", "a\tDT|NN\n"), write("new.tsv", rows("b/NN", "c/"))], format="tagsets")
    assert [[(token.text, token.tag_) for token in doc] for doc in found] == [[("a", "DT")], [("b", "NN"), ("c", "")]]


def test_what_a_spreadsheet_does_to_it(nlp: Language, write: Write) -> None:
    text = rows("#/NN", "b/ DT ").replace("\n\n", "\n\t\t\t\t\n").replace("line 1\n", "line 1\t\t\t\t\n")
    (doc,) = read(nlp, write("a.tsv", text.replace("\n", "\r\n")))
    assert [(token.text, token.tag_) for token in doc] == [("#", "NN"), ("b", "DT")]


def test_marks_that_are_filled_down_its_column(nlp: Language, write: Write) -> None:
    head = HEAD.replace("TARGET", "tag").replace("best", "checked, best")
    table = [*head.splitlines(), "# id = 1.1", "# text = a b", "a\t\t\tX\t0.5\t_", "b\tNN\t\tX\t0.5\t_", ""]
    table += ["# id = 1.2", "# text = c", "c\t\t\tX\t0.5\t_"]
    cells = (row.split("\t") + [""] * (5 - row.count("\t")) for row in table)
    filled = ["\t".join([*row[:2], "yes", *row[3:]]) for row in cells]
    docs = read(nlp, write("a.tsv", "\n".join(filled)))
    assert [[(token.text, token.tag_) for token in doc] for doc in docs] == [[("a", "X"), ("b", "NN")], [("c", "X")]]


@pytest.mark.parametrize(
    "text, message",
    [
        (rows("a/NN") + "b\tNN\n", r"CRF507.*a\.tsv, line 8: found 2 columns instead of 5 \(word, gold"),
        (rows("a/NN") + "\tNN\tX\t0.5\t_\n", r"CRF511.*line 8"),
        (rows("a/NN", "b/B-X", target="ner"), r"CRF512.*line 7: 'NN'"),
        (rows("a/B-X", "b/L-X", target="ner"), r"CRF524.*line 8: .*'L-X'"),
        (rows("a/B-X", "b/I-Y", target="spans:sc"), r"CRF524.*line 8: .*'I-Y'.*behind 'B-X'"),
        (rows("a/I-X", "b/", target="spans:sc"), r"CRF524.*line 7: .*'I-X'.*behind 'O'"),
        (rows("a/O", " /", "b/I-X", target="ner"), r"CRF524.*line 9: .*'I-X'.*behind 'O'"),
        (rows("a/thing", target="pos"), r"CRF513.*line 7: 'thing'"),
        (rows("a/NN").replace("# target = tag\n", ""), r"CRF526.*line 5"),
        (rows("a/NN") + "\n" + rows("a/B-X", target="ner"), r"CRF526.*line 15"),
        (rows("a/", "b/_"), r"CRF527.*a\.tsv"),
        (rows("a/NN", target="tags"), r"CRF508.*tags"),
        (lines("a/NN") + "\n{\n", r"CRF574.*line 2"),
        (lines("a/NN", tokens=[{"text": "a"}]), r"CRF525.*line 1.*gold"),
        (lines("a/NN", tokens=[{"text": 1, "gold": "NN"}]), r"CRF525.*line 1.*strings"),
        (lines("a/NN", input={"pos": []}), r"CRF525.*line 1.*each token"),
        (lines("a/NN") + "\n" + lines("a/NN", target="pos"), r"CRF526.*line 2"),
        (lines("a/NN") + '\n{"format": 2}', r"CRF525.*line 2.*format is 2"),
    ],
)
def test_errors_name_file_and_line(nlp: Language, write: Write, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(nlp, write("a.tsv", text))

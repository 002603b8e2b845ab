from pathlib import Path

import pytest
from helpers.fixtures import Write
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_crf import CRFError
from spacy_crf.annotation.gold import partial_tags
from spacy_crf.annotation.span_targets import target_of
from spacy_crf.corpora.reader import Corpus

CHUNKED = """\
The DT B-NP
old JJ I-NP
ferry NN I-NP
left VBD B-VP
. . O

It PRP B-NP
sank VBD B-VP
"""
MARKED = """\
-DOCSTART- -X- O O

Ada NNP B-NP B-PER
sang VBD B-VP O

Bo NNP B-NP B-PER

-DOCSTART- -X- O O
Oslo NNP B-NP B-LOC
froze VBD B-VP O
"""


def read(nlp: Language, path: Path, **settings: object) -> list[Doc]:
    return list(Corpus(path, **settings).read_docs(nlp.vocab))  # type: ignore[arg-type]


def words(docs: list[Doc]) -> list[list[str]]:
    return [[token.text for token in doc] for doc in docs]


def spans(doc: Doc, key: str) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.spans[key]]


def entities(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_conll2000(nlp: Language, write: Write) -> None:
    first, second = read(nlp, write("a.txt", CHUNKED), format="conll2000")
    assert [token.tag_ for token in first] == ["DT", "JJ", "NN", "VBD", "."]
    assert spans(first, "chunks") == [("The old ferry", "NP"), ("left", "VP")]
    assert spans(second, "chunks") == [("It", "NP"), ("sank", "VP")]
    assert not first.has_annotation("ENT_IOB")
    assert [token.is_sent_start for token in first] == [True, False, False, False, False]


def test_conll2003_with_document_marks(nlp: Language, write: Write) -> None:
    first, second = read(nlp, write("a.conll", MARKED))
    assert words([first, second]) == [["Ada", "sang", "Bo"], ["Oslo", "froze"]]
    assert [token.is_sent_start for token in first] == [True, False, True]
    assert entities(first) == [("Ada", "PER"), ("Bo", "PER")]
    assert spans(second, "chunks") == [("Oslo", "NP"), ("froze", "VP")]


@pytest.mark.parametrize("content", ["Ada NNP B-PER\nsang VBD O\n", "Ada B-PER\nsang O\n"])
def test_conll2002_has_two_layouts(nlp: Language, write: Write, content: str) -> None:
    (doc,) = read(nlp, write("a.txt", content), format="conll2002")
    assert entities(doc) == [("Ada", "PER")]
    assert [token.ent_iob_ for token in doc] == ["B", "O"]


@pytest.mark.parametrize(
    "group, expected",
    [
        ("auto", [["Ada", "sang", "Bo"], ["Oslo", "froze"]]),
        ("document", [["Ada", "sang", "Bo"], ["Oslo", "froze"]]),
        ("sentence", [["Ada", "sang"], ["Bo"], ["Oslo", "froze"]]),
        (1, [["Ada", "sang"], ["Bo"], ["Oslo", "froze"]]),
        (2, [["Ada", "sang", "Bo"], ["Oslo", "froze"]]),
        (9, [["Ada", "sang", "Bo"], ["Oslo", "froze"]]),
    ],
)
def test_group_in_a_file_with_documents(
    nlp: Language, write: Write, group: str | int, expected: list[list[str]]
) -> None:
    assert words(read(nlp, write("a.conll", MARKED), group=group)) == expected


@pytest.mark.parametrize("group, lengths", [("auto", [1, 1, 1]), ("document", [3]), (2, [2, 1])])
def test_group_in_a_file_without_documents(nlp: Language, write: Write, group: str | int, lengths: list[int]) -> None:
    docs = read(nlp, write("a.conll", "a O\n\nb O\n\nc O\n"), group=group)
    assert [len(doc) for doc in docs] == lengths
    assert all(token.is_sent_start for doc in docs for token in doc)


def test_sentences_before_the_first_mark_are_documents_of_their_own(nlp: Language, write: Write) -> None:
    path = write("a.conll", "a O\n\nb O\n\n-DOCSTART- O\n\nc O\n\nd O\n")
    assert words(read(nlp, path)) == [["a"], ["b"], ["c", "d"]]


def test_all_kinds_of_columns(nlp: Language, write: Write, extension: str) -> None:
    names = ["lemma", "_", "word", "pos", "morph", "spans:sc", f"ext:{extension}"]
    path = write("a.tsv", "go\tx\twent\tVERB\tTense=Past\tB-ACT\tlow\n_\tx\tHome\t_\t_\tO\t_\n")
    (doc,) = read(nlp, path, columns=names)
    assert [token.text for token in doc] == ["went", "Home"]
    assert [token.lemma_ for token in doc] == ["go", ""]
    assert [token.pos_ for token in doc] == ["VERB", ""]
    assert [str(token.morph) for token in doc] == ["Tense=Past", ""]
    assert [token._.get(extension) for token in doc] == ["low", ""]
    assert spans(doc, "sc") == [("went", "ACT")]
    assert not doc.has_annotation("TAG")


def test_custom_attribute_is_registered_even_without_values(nlp: Language, write: Write, extension: str) -> None:
    (doc,) = read(nlp, write("a.tsv", "a\t_\n"), columns=["word", f"ext:{extension}"])
    assert doc[0]._.get(extension) == ""


def test_custom_attribute_that_is_computed_is_refused(nlp: Language, write: Write, extension: str) -> None:
    Token.set_extension(extension, getter=len)
    with pytest.raises(ValueError, match=f"CRF522.*{extension}"):
        read(nlp, write("a.tsv", "a\tx\n"), columns=["word", f"ext:{extension}"])


def test_unknown_entities_are_missing_not_outside(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.iob", "Ada U-PER\nsang _\nin O\nOslo U-LOC\n"))
    assert [token.ent_iob_ for token in doc] == ["B", "", "O", "B"]


def test_unknown_chunks(nlp: Language, write: Write) -> None:
    path = write("a.txt", "a _\nb _\n\na B-NP\nb _\n")
    nothing_known, partly_known = read(nlp, path, columns=["word", "chunk"])
    assert "chunks" not in nothing_known.spans
    assert spans(partly_known, "chunks") == [] and partial_tags(partly_known, "spans", "chunks") == ["B-NP", ""]


def test_spans_do_not_continue_in_the_next_sentence(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.iob", "New I-LOC\nYork I-LOC\n\nBay I-LOC\n"), group="document")
    assert entities(doc) == [("New York", "LOC"), ("Bay", "LOC")]


def test_labels_without_a_type(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.txt", "a B B\nb I O\n"), columns=["word", "ner", "chunk"])
    assert entities(doc) == [("a b", "ENTITY")]
    assert spans(doc, "chunks") == [("a", "chunks")]


def test_blanks_tabs_and_odd_characters(nlp: Language, write: Write) -> None:
    path = write("a.txt", "\ufeff10\u00a0000  B-QTY \r\neuro\tO\r\n \t \r\nso O")
    assert words(read(nlp, path)) == [["10\u00a0000", "euro"], ["so"]]
    tabs = write("b.txt", "New York\tB-LOC\nis\tO \n")
    assert words(read(nlp, tabs)) == [["New York", "is"]]
    bars = write("c.txt", "New York|B-LOC\nis|O\n")
    assert words(read(nlp, bars, separator="|")) == [["New York", "is"]]


def test_spaces_are_unknown(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.iob", "Hi O\n! O\n"))
    assert doc.has_unknown_spaces


@pytest.mark.parametrize(
    "content, settings, message",
    [
        ("a O\n\nb O\nc\n", {}, r"CRF507.*a\.txt, line 4: found 1 columns instead of 2 \(word, ner\)"),
        ("a O\nb O O\n", {}, r"CRF507.*line 2: found 3"),
        ("a B O\n", {"columns": ["word", "ner"]}, r"CRF507.*line 1: found 3"),
        ("a DT B-NP\n", {}, r"CRF506.*line 1: .* 3 columns.*conll2000"),
        ("a DT\n", {"format": "conll2003"}, r"CRF506.*conll2003"),
        ("-DOCSTART- O\n\na O\nb NN\n", {}, r"CRF512.*line 4: 'NN'.*'ner'"),
        ("a NN\n", {"columns": ["word", "pos"]}, r"CRF513.*line 1: 'NN'"),
        ("a Past\n", {"columns": ["word", "morph"]}, r"CRF514.*line 1: 'Past'"),
        ("a\tO\n\tO\n", {}, r"CRF511.*line 2"),
        ("\n \n", {}, r"CRF520.*a\.txt"),
        ("a O\n", {"input": ["tag"]}, r"CRF519.*a\.txt.*'tag'.*ner"),
    ],
)
def test_errors_name_file_and_line(
    nlp: Language, write: Write, content: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read(nlp, write("a.txt", content), **settings)


HOLES = "John _\nSmith I-PER\nsaw O\nNew B-LOC\nYork _\nCity I-LOC\nin O\nMay B-DATE\n"


@pytest.mark.parametrize("kind, target", [("ner", "ent"), ("spans:sc", "spans")])
def test_inside_goes_on_behind_an_unknown_tag(nlp: Language, write: Write, kind: str, target: str) -> None:
    (doc,) = read(nlp, write("a.conll", HOLES), columns=["word", kind])
    assert partial_tags(doc, target, "sc") == ["", "I-PER", "O", "B-LOC", "", "I-LOC", "O", "B-DATE"]
    # spans one of whose ends is unknown can neither be right nor wrong
    assert [span.text for span in (doc.ents if target == "ent" else doc.spans["sc"])] == ["May"]
    labels = target_of(target).labels([doc])
    assert labels == ["DATE", "LOC", "PER"]


@pytest.mark.parametrize(
    "tags, expected",
    [
        # IOB1, in which I begins spans as well: a file without a B where IOB1 has I
        ("_ I-A I-A O", ["", "", "I-A", "O"]),
        ("O I-A O _ I-A", ["O", "B-A", "O", "", ""]),
        ("O B-A _ I-A", ["O", "B-A", "", "I-A"]),
        ("_ L-A O U-A", ["", "I-A", "O", "B-A"]),
        ("A-B _ A-I", ["B-A", "", "I-A"]),
        ("_ I O B", ["", "I-sc", "O", "B-sc"]),
    ],
)
def test_the_scheme_tells_what_inside_means_behind_an_unknown_tag(
    nlp: Language, write: Write, tags: str, expected: list[str]
) -> None:
    text = "".join(f"w {tag}\n" for tag in tags.split())
    (doc,) = read(nlp, write("a.conll", text), columns=["word", "spans:sc"])
    assert partial_tags(doc, "spans", "sc") == expected


def test_sentences_begin_spans_anew(nlp: Language, write: Write) -> None:
    path = write("a.conll", "a _\n\nb I-A\nc O\nd B-A\n\n")
    (doc,) = read(nlp, path, columns=["word", "spans:sc"], group="document")
    assert partial_tags(doc, "spans", "sc") == ["", "B-A", "O", "B-A"]


@pytest.mark.parametrize(
    "tags, expected",
    [
        ("E-MAIL-B E-MAIL-I O", [("a b", "E-MAIL")]),
        ("I-9-B I-9-I O", [("a b", "I-9")]),
        ("E-MAIL-B O O", [("a", "E-MAIL")]),
        ("B-I I-I O", [("a b", "I")]),
        ("B-E-S I-E-S U-X", [("a b", "E-S"), ("c", "X")]),
    ],
)
def test_the_column_tells_on_which_side_labels_are(
    nlp: Language, write: Write, tags: str, expected: list[tuple[str, str]]
) -> None:
    text = "".join(f"{word} {tag}\n" for word, tag in zip("abc", tags.split()))
    (doc,) = read(nlp, write("a.conll", text), columns=["word", "ner"])
    assert entities(doc) == expected


@pytest.mark.parametrize("tags", ["B-I O B-TO-B", "B-I I-B", "E-MAIL-B LOC-B B-PER"])
def test_tags_that_can_be_read_in_two_ways_are_refused(nlp: Language, write: Write, tags: str) -> None:
    text = "".join(f"w {tag}\n" for tag in tags.split())
    with pytest.raises(ValueError, match=r"CRF542.*a\.conll.*'ner'"):
        read(nlp, write("a.conll", text), columns=["word", "ner"])


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.tsv", "word\ttag\nold\tJJ\n"),
        ("a.tsv", "Form\tTags\nold\tJJ\n"),
        ("a.iob", "TOKEN NER\nold O\n"),
        ("a.conllu", "# global.columns = ID FORM XPOS UPOS LEMMA FEATS HEAD DEPREL DEPS MISC\n1\told\tJJ" + "\t_" * 7),
    ],
)
def test_titles_of_columns_are_no_token(nlp: Language, write: Write, name: str, content: str) -> None:
    with pytest.raises(ValueError, match="CRF589.*line 1"):
        read(nlp, write(name, content))


def test_a_column_of_check_marks(nlp: Language, write: Write) -> None:
    path = write("a.tsv", "a\tNN\tyes\nb\tVB\tno\nc\tJJ\t_\nd\tRB\tx\n")
    columns = ["word", "tag", "ext:checked"]
    (doc,) = Corpus(path, columns=columns).read_docs(nlp.vocab)
    assert [token.tag_ for token in doc] == ["NN", "", "", "RB"]
    with pytest.raises(CRFError, match=r"CRF567.*a\.tsv, line 2.*'perhaps'"):
        list(Corpus(write("a.tsv", "a\tNN\tyes\nb\tVB\tperhaps\n"), columns=columns).read_docs(nlp.vocab))

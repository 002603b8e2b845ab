from itertools import pairwise
from pathlib import Path

import pytest
from helpers.fixtures import Write
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_crf import CRFError, CRFWarning
from spacy_crf.corpora.reader import Corpus

SAMPLE = """\
# newdoc id = one
# text = Let's sing!
1-2|Let's|_|_|_|_|_|_|_|_
1|Let|let|VERB|VB|Mood=Imp|0|root|_|_
2|'s|us|PRON|PRP|_|3|nsubj|_|SpaceAfter=No
3|sing|sing|VERB|VB|VerbForm=Inf|1|xcomp|_|SpaceAfter=No
3.1|hidden|_|_|_|_|_|_|_|_
4|!|!|PUNCT|.|_|1|punct|_|_

# sent_id = 2
1|_|_|SYM|_|_|0|root|_|SpaceAfter=No

# newdoc
# newpar
1|So|_|_|_|_|_|_|_|_
""".replace("|", "\t")


def line(id: int | str, form: str, head: str = "_", misc: str = "_", **fields: str) -> str:
    columns = [str(id), form, "_", fields.get("pos", "_"), "_", "_", head, fields.get("dep", "x"), "_", misc]
    return "\t".join(columns) + "\n"


def read(nlp: Language, path: Path, **settings: object) -> list[Doc]:
    return list(Corpus(path, **settings).read_docs(nlp.vocab))  # type: ignore[arg-type]


def test_words_and_annotation(nlp: Language, write: Write) -> None:
    first, second = read(nlp, write("a.conllu", SAMPLE))
    assert [token.text for token in first] == ["Let", "'s", "sing", "!", "_"]
    assert [token.lemma_ for token in first] == ["let", "us", "sing", "!", "_"]
    assert [token.pos_ for token in first] == ["VERB", "PRON", "VERB", "PUNCT", "SYM"]
    assert [token.tag_ for token in first] == ["VB", "PRP", "VB", ".", ""]
    assert [str(token.morph) for token in first] == ["Mood=Imp", "", "VerbForm=Inf", "", ""]
    assert [token.head.i for token in first] == [0, 2, 0, 0, 4]
    assert [token.dep_ for token in first] == ["ROOT", "nsubj", "xcomp", "punct", "ROOT"]
    assert [token.is_sent_start for token in first] == [True, False, False, False, True]
    for attribute in ("LEMMA", "POS", "TAG", "MORPH", "DEP", "ENT_IOB"):
        assert not second.has_annotation(attribute)
    assert second[0].is_sent_start


def test_spaces_of_multiword_tokens_are_those_of_the_surface(nlp: Language, write: Write) -> None:
    (doc, _) = read(nlp, write("a.conllu", SAMPLE))
    assert doc.text == "Let's sing! _"
    glued = SAMPLE.replace("Let's\t_\t_\t_\t_\t_\t_\t_\t_", "Let's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", 1)
    assert read(nlp, write("b.conllu", glued))[0].text == "Let'ssing! _"


def test_spaces_from_the_text_where_no_token_has_them(nlp: Language, write: Write) -> None:
    content = "# text = (dámelo  ahora)\n" + line(1, "(") + line("2-4", "dámelo")
    content += line(2, "da") + line(3, "me") + line(4, "lo") + line(5, "ahora") + line(6, ")")
    (doc,) = read(nlp, write("a.conllu", content))
    assert [bool(token.whitespace_) for token in doc] == [False, False, False, True, False, True]
    (doc,) = read(nlp, write("b.conllu", "# text = other\n" + line(1, "a") + line(2, "b")))
    assert doc.text.strip() == "a b"


@pytest.mark.parametrize("group, lengths", [("auto", [5, 1]), ("document", [5, 1]), ("sentence", [4, 1, 1])])
def test_group(nlp: Language, write: Write, group: str, lengths: list[int]) -> None:
    assert [len(doc) for doc in read(nlp, write("a.conllu", SAMPLE), group=group)] == lengths


def test_mark_in_a_block_of_comments_counts_for_the_next_sentence(nlp: Language, write: Write) -> None:
    content = line(1, "a") + "\n# newdoc\n\n" + line(1, "b") + "\n" + line(1, "c")
    assert [len(doc) for doc in read(nlp, write("a.conllu", content))] == [1, 2]


@pytest.mark.parametrize("key", ["name", "NE", "NER", "ner"])
def test_entities_in_misc(nlp: Language, write: Write, key: str) -> None:
    content = line(1, "Ada", misc=f"SpaceAfter=No|{key}=B-PER") + line(2, "Byron", misc=f"{key}=I-PER")
    content += line(3, "sang") + "\n" + line(1, "So")
    first, second = read(nlp, write("a.conllu", content))
    assert [(ent.text, ent.label_) for ent in first.ents] == [("AdaByron", "PER")]
    assert [token.ent_iob_ for token in first] == ["B", "I", "O"]
    assert [token.ent_iob_ for token in second] == ["O"]


@pytest.mark.parametrize(
    "note, tags",
    [("S-LOC", ["B", "I", "O"]), ("B-LOC", ["B", "I", "I"]), ("O", ["O", "O", "O"]), ("E-LOC", ["B", "I", "O"])],
)
def test_entities_of_multiword_tokens(nlp: Language, write: Write, note: str, tags: list[str]) -> None:
    content = line("1-2", "du", misc=f"ner={note}") + line(1, "de") + line(2, "le")
    content += line(3, "Nil", misc="ner=I-LOC" if note == "B-LOC" else "ner=O")
    (doc,) = read(nlp, write("a.conllu", content))
    assert [token.ent_iob_ for token in doc] == tags
    own = content.replace("1\tde\t_\t_\t_\t_\t_\tx\t_\t_", "1\tde\t_\t_\t_\t_\t_\tx\t_\tner=O")
    assert [token.ent_iob_ for token in read(nlp, write("b.conllu", own))[0]][:2] == ["O", "O"]


@pytest.mark.parametrize("of_all, of_first, length", [("NER=B_LOC", "_", 2), ("_", "NER=B_LOC", 1)])
def test_entities_in_other_forms_are_read_or_refused(
    nlp: Language, write: Write, of_all: str, of_first: str, length: int
) -> None:
    """Where a file has tags such as O, others are not taken for it."""
    content = line("1-2", "du", misc=of_all) + line(1, "de", misc=of_first) + line(2, "le")
    content += line(3, "Nil", misc="NER=O")
    (doc,) = read(nlp, write("a.conllu", content))
    assert [(ent.label_, len(ent)) for ent in doc.ents] == [("LOC", length)]
    with pytest.raises(CRFError, match="CRF512.*'LOC'"):
        read(nlp, write("a.conllu", content.replace("B_LOC", "LOC")))


def test_files_without_entities_beside_others_are_told(nlp: Language, write: Write) -> None:
    """Nothing is known of entities there: what a model finds is not counted as wrong."""
    some, none = line(1, "Ada", misc="NER=B-PER") + line(2, "sang"), line(1, "Boats") + line(2, "sank")
    path = write("a.conllu", f"{some}\n").parent
    write("b.conllu", f"{none}\n")
    with pytest.warns(CRFWarning, match=r"CRFW290.*1 files.*b\.conllu"):
        first, second = read(nlp, path)
    assert first.has_annotation("ENT_IOB") and not second.has_annotation("ENT_IOB")
    write("b.conllu", f"{line(1, 'Boats', misc='name=O')}{line(2, 'sank')}\n")
    assert all(doc.has_annotation("ENT_IOB") for doc in read(nlp, path))
    write("a.conllu", f"{none}\n")
    write("b.conllu", f"{none}\n")
    read(nlp, path)


def test_notes_of_a_file_whose_lines_end_in_cr_alone(nlp: Language, write: Write) -> None:
    entities = "# sent_id = 1\n" + line(1, "Ada", misc="NER=B-PER") + line(2, "sang")
    checked = "# sent_id = 1\n" + line(1, "Ada", misc="Checked=Yes") + line(2, "sang", misc="Checked=No")
    checked = checked.replace("\t_\t_\t_\t_\tx", "\t_\tX\t_\t_\tx")
    for end in ("\n", "\r\n", "\r"):
        (doc,) = read(nlp, write("a.conllu", entities.replace("\n", end).encode()))
        assert [token.ent_iob_ for token in doc] == ["B", "O"]
        (doc,) = read(nlp, write("b.conllu", checked.replace("\n", end).encode()))
        assert [token.tag_ for token in doc] == ["X", ""]


def test_other_misc_is_no_entity(nlp: Language, write: Write) -> None:
    content = "# name=B-PER\n" + line(1, "Ada", misc="name=Ada|Surname=B-PER")
    (doc,) = read(nlp, write("a.conllu", content))
    assert doc[0].ent_iob_ == ""


def test_long_sentences_and_late_comments(nlp: Language, write: Write) -> None:
    lines = [line(i, f"w{i}") for i in range(1, 701)]
    lines.insert(600, "# a comment\n")
    (doc,) = read(nlp, write("a.conllu", "".join(lines)))
    assert len(doc) == 700 and doc[699].text == "w700"


@pytest.mark.parametrize("heads", ["0 _", "0 0", "2 1", "0 2"])
def test_incomplete_trees_are_left_out(nlp: Language, write: Write, heads: str) -> None:
    first, second = heads.split()
    content = line(1, "a", first) + line(2, "b", second) + "\n" + line(1, "c", "0")
    (doc,) = read(nlp, write("a.conllu", content), group="document")
    assert not doc.has_annotation("DEP")
    assert [token.is_sent_start for token in doc] == [True, False, True]


def test_sentence_starts_survive_crossing_arcs(nlp: Language, write: Write) -> None:
    # A chain of arcs that all cross: more than spaCy sorts out into sentences.
    size = 40
    order = [17 * (i + 4) % size for i in range(size)]
    heads = {order[0]: 0} | {child: parent + 1 for parent, child in pairwise(order)}
    tree = "".join(line(i + 1, f"w{i}", str(heads[i])) for i in range(size))
    (doc,) = read(nlp, write("a.conllu", f"{tree}\n{tree}"), group="document")
    assert [token.i for token in doc if token.is_sent_start] == [0, size]


@pytest.mark.parametrize(
    "content, message",
    [
        (line(1, "a") + line(3, "b"), r"CRF515.*line 2: .*'3', expected 2"),
        (line("x", "a"), r"CRF515.*line 1: .*'x'"),
        (line("2-1", "a"), r"CRF515.*line 1: .*'2-1'"),
        (line("1-3", "ab") + line(1, "a") + line(2, "b"), r"CRF515.*line 1: .*'1-3'"),
        (line("1-2", "ab") + line(1, "a") + line("2-3", "bc") + line(2, "b"), r"CRF515.*line 3: .*'2-3'"),
        (line(1, "a") + "2 b c\n", r"CRF507.*a\.conllu, line 2: found 1 columns instead of 10"),
        (line(1, "a", "2"), r"CRF516.*line 1: .*'2'"),
        (line(1, "a", "-1"), r"CRF516.*line 1: .*'-1'"),
        ("\n\n" + line(1, "a", pos="NN"), r"CRF513.*line 3: 'NN'"),
        (line(1, ""), r"CRF511.*line 1"),
        ("# newdoc\n", r"CRF520"),
    ],
)
def test_errors_name_file_and_line(nlp: Language, write: Write, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(nlp, write("a.conllu", content))


@pytest.mark.parametrize("kind, name", [("tag", "gold_tags"), ("pos", "gold_pos")])
def test_where_nothing_is_checked_gold_is_none_whichever_file_comes_first(
    nlp: Language, write: Write, kind: str, name: str
) -> None:
    if Token.has_extension(name):
        Token.remove_extension(name)
    (doc,) = read(nlp, write("a.conllu", f"# checked = {kind}\n{line(1, 'a')}"))
    assert doc[0]._.get(name) is None

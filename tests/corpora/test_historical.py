from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.fixtures import Write
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_config_from_str, registry
from spacy.vocab import Vocab

from spacy_crf.annotation.gold import read_gold_tags
from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.block import HistoricalText
from spacy_crf.corpora.historical import apply_text, ends_segment, prepare_gold
from spacy_crf.corpora.reader import Corpus
from spacy_crf.corpora.sentence import Sentence

TSV = """\
he\tP
xii\tXY
.\t$;
wen\tKON|KOUS
/\t$;

¶\t_
dat\t_
…\tOA
"""
CORA = """\
<text>
  <token><anno utf="Jk"><pos tag="PPER"/></anno></token>
  <token><anno utf="dar"><pos tag="--"/></anno><anno utf="."><pos tag="$;"/><bound_sent tag="Satz"/></anno></token>
  <token><anno utf="mi"><pos tag="PPER"/><morph tag="*.Sg.Dat-Akk.1"/></anno></token>
</text>
"""
CONFIG = """
[corpus]
@readers = "spacy_crf.Corpus.v1"
path = "FILE"
format = "cora"

[corpus.cora]
@misc = "spacy_crf.CoraXML.v1"
with_case = true

[corpus.cora.case_fields]
PPER = 2

[corpus.cora.borders]

[corpus.text]
@misc = "spacy_crf.HistoricalText.v1"
untagged = "OA"
punctuation = "context"
punctuation_tags = ["$;"]
cut_at_tags = ["OA"]
"""


def segments(path: Path, format: str, **text: Any) -> list[list[tuple[str, str]]]:
    """Words and best tags of the segments of the one document that is made."""
    corpus = Corpus(path, format=format, text=HistoricalText(**text))  # type: ignore[arg-type]
    (doc,) = corpus.read_docs(spacy.blank("xx").vocab)
    rows = read_gold_tags(doc)
    for token, row in zip(doc, rows):
        assert bool(row) == bool(token.tag_) and (not row or max(row, key=row.__getitem__) == token.tag_)
    return [[(token.text, token.tag_) for token in sent] for sent in doc.sents]


PLAIN = [
    [("he", "P"), ("xii", "XY"), (".", "$;"), ("wen", "KON"), ("/", "$;")],
    [("¶", ""), ("dat", ""), ("…", "OA")],
]


def test_without_settings_nothing_changes(write: Write) -> None:
    path = write("a.tsv", TSV)
    assert segments(path, "tagsets") == PLAIN
    (doc,) = Corpus(path, format="tagsets").read_docs(spacy.blank("xx").vocab)
    assert [token.tag_ for token in doc] == [tag for segment in PLAIN for _, tag in segment]


def test_untagged_words_get_a_tag(write: Write) -> None:
    (_, second) = segments(write("a.tsv", TSV), "tagsets", untagged="OA")
    assert second == [("¶", "OA"), ("dat", "OA"), ("…", "OA")]


def test_punctuation_is_context_without_gold(write: Write) -> None:
    first, second = segments(write("a.tsv", TSV), "tagsets", punctuation="context", untagged="OA")
    assert first == [("he", "P"), ("xii", "XY"), (".", ""), ("wen", "KON"), ("/", "")]
    assert second == [("¶", ""), ("dat", "OA"), ("…", "")]
    first, second = segments(write("a.tsv", TSV), "tagsets", punctuation="context", punctuation_tags=["$;"])
    assert first[2] == (".", "") and second == PLAIN[1]


@pytest.mark.parametrize("text", [{"punctuation": "context"}, {"cut_at_punctuation": True}])
def test_signs_of_words_that_count_as_punctuation_are_told(text: dict[str, Any], write: Write) -> None:
    path = write("a.tsv", "he\tP\n⁊\tKON\nse\tP\n.\t$;\n")
    with pytest.warns(CRFWarning, match="CRFW497.*'⁊'.*KON"):
        segments(path, "tagsets", **text)
    with pytest.warns(CRFWarning, match="CRFW497"):
        prepare_gold(Doc(Vocab(), ["he", "⁊"], tags=["P", "KON"]), HistoricalText(**text))
    assert segments(path, "tagsets", **text, punctuation_tags=["$;"])[0][1] == ("⁊", "KON")


def test_punctuation_is_removed(write: Write) -> None:
    found = segments(write("a.tsv", TSV), "tagsets", punctuation="removed")
    assert found == [[("he", "P"), ("xii", "XY"), ("wen", "KON")], [("dat", "")]]
    found = segments(write("b.tsv", ".\t$;\n\n/\t$;\n\nhe\tP\n"), "tagsets", punctuation="removed")
    assert found == [[("he", "P")]]


def test_pseudo_sentences_end_behind_punctuation_and_tags(write: Write) -> None:
    path = write("a.tsv", TSV)
    words = [[word for word, _ in segment] for segment in segments(path, "tagsets", cut_at_punctuation=True)]
    assert words == [["he", "xii", "."], ["wen", "/"], ["¶"], ["dat", "…"]]
    both = {"cut_at_tags": ["XY"], "cut_at_punctuation": True, "punctuation": "removed"}
    words = [[word for word, _ in segment] for segment in segments(path, "tagsets", **both)]
    assert words == [["he", "xii"], ["wen"], ["dat"]]
    words = [[w for w, _ in s] for s in segments(path, "tagsets", join_segments=True, cut_at_tags=["XY"])]
    assert words == [["he", "xii"], [".", "wen", "/", "¶", "dat", "…"]]


def test_documents_stay_apart_and_those_of_punctuation_alone_are_left_out(tmp_path: Path, write: Write) -> None:
    for name, content in (("a", "he\tP\n\nse\tP\n"), ("b", ".\t$;\n"), ("c", ".\t$;\n\nwe\tP\n")):
        write(f"data/{name}.tsv", content)
    text = HistoricalText(punctuation="removed", join_segments=True)
    docs = list(Corpus(tmp_path / "data", format="tagsets", text=text).read_docs(spacy.blank("xx").vocab))
    assert [[token.text for token in doc] for doc in docs] == [["he", "se"], ["we"]]
    assert [len(list(doc.sents)) for doc in docs] == [1, 1]


def test_all_settings_of_cora_xml_are_reached_from_a_config(nlp: Language, write: Write) -> None:
    config = load_config_from_str(CONFIG.replace("FILE", str(write("a.xml", CORA))))
    (example,) = registry.resolve(config)["corpus"](nlp)
    doc = example.reference
    assert [(token.text, token.tag_) for token in doc] == [
        ("Jk", "PPER"),
        ("dar", "OA"),
        (".", ""),
        ("mi", "PPER.Dat"),
    ]
    assert read_gold_tags(doc)[3] == {"PPER.Dat": 0.5, "PPER.Akk": 0.5}
    assert [sent.text for sent in doc.sents] == ["Jk dar", ". mi"]


def test_spaces_of_removed_tokens_stay(write: Write) -> None:
    text = HistoricalText(punctuation="removed")
    docs = Corpus(write("a.xml", CORA), format="cora", text=text).read_docs(spacy.blank("xx").vocab)
    assert [doc.text for doc in docs] == ["Jk dar mi "]


@pytest.mark.parametrize(
    "settings, problem",
    [
        ({"punctuation": "kept"}, "CRF549.*punctuation.*kept"),
        ({"cut_at_tags": ["XY", ""]}, "CRF549.*cut_at_tags"),
        ({"punctuation_tags": [""]}, "CRF549.*punctuation_tags"),
    ],
)
def test_settings_of_no_meaning_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        HistoricalText(**settings)


@pytest.mark.parametrize(
    "settings, problem",
    [
        ({"tag": ""}, "CRF549.*'tag'|CRF549.*tag"),
        ({"case_fields": {"N": -1}}, "CRF549.*case_fields"),
    ],
)
def test_settings_of_cora_xml_are_checked(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        registry.get("misc", "spacy_crf.CoraXML.v1")(**settings)


@pytest.mark.parametrize("format", [None, "tagsets", "conll2000"])
def test_blocks_belong_to_formats(write: Write, format: Any) -> None:
    path = write("a.tsv", TSV)
    make = registry.get("misc", "spacy_crf.CoraXML.v1")
    with pytest.raises(ValueError, match="CRF552.*'cora'"):
        Corpus(path, format=format, cora=make())
    if format == "conll2000":
        with pytest.raises(ValueError, match="CRF552.*'text'.*'tagsets'"):
            Corpus(path, format=format, text=HistoricalText())


@pytest.mark.parametrize(
    ("setting", "format", "name"), [("text", "tagsets", "HistoricalText"), ("cora", "cora", "CoraXML")]
)
def test_blocks_are_named(write: Write, setting: str, format: str, name: str) -> None:
    """A block whose name is forgotten is a table to spaCy."""
    block = {"@readers": "spacy_crf.Corpus.v1", "path": str(write("a.tsv", TSV)), "format": format, setting: {}}
    with pytest.raises(ValueError, match=f"CRF549.*{setting}.*@misc = 'spacy_crf.{name}.v1'"):
        registry.resolve({"corpus": block})


@given(
    st.lists(st.lists(st.tuples(st.sampled_from("ab./"), st.sampled_from(["A", "XY", ""])), min_size=1), min_size=1),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["gold", "context", "removed"]),
)
def test_no_word_is_lost_and_each_cut_is_behind_what_cuts(rows: Any, join: bool, cut: bool, punctuation: Any) -> None:
    given_segments = []
    for number, row in enumerate(rows):
        words, tags = [word for word, _ in row], [tag for _, tag in row]
        columns = {"tag": tags, "ext:gold_tags": list(tags)}
        given_segments.append(Sentence(words, columns, [True] * len(words), starts_document=number == 0))
    text = HistoricalText(punctuation=punctuation, join_segments=join, cut_at_punctuation=cut, cut_at_tags=("XY",))
    found = list(apply_text(given_segments, text))
    words = [word for segment in found for word in segment.words]
    expected = [word for row in rows for word, _ in row if punctuation != "removed" or word in "ab"]
    assert words == expected
    assert [segment.starts_document for segment in found] == [number == 0 for number in range(len(found))]
    for segment in found:
        assert len(segment.words) == len(segment.columns["tag"]) == len(segment.spaces or [])
        if punctuation == "gold":
            inside = zip(segment.words[:-1], segment.columns["tag"][:-1])
            assert not any(ends_segment(word, tag, text) for word, tag in inside)


@pytest.mark.parametrize("stored", [False, True])
def test_words_that_nobody_has_checked_are_not_untagged(tmp_path: Path, stored: bool) -> None:
    """In CoNLL-U, and where it was stored: one document is checked in part, nobody has seen the other yet."""
    row = "1\t{}\t_\t_\t{}\t_\t_\t_\t_\tChecked={}"
    rows = [row.format("a", "_", "Yes"), row.format("b", "X", "No").replace("1", "2", 1)]
    texts = ["\n".join(rows), row.format("c", "Y", "No")]
    path = tmp_path / "a.conllu"
    path.write_text("".join(f"# newdoc\n# checked = tag\n{text}\n\n" for text in texts), encoding="utf8")
    nlp = spacy.blank("xx")
    docs = list(Corpus(path).read_docs(nlp.vocab))
    if stored:
        DocBin(store_user_data=True, docs=docs).to_disk(tmp_path / "a.spacy")
        docs = list(Corpus(tmp_path / "a.spacy").read_docs(nlp.vocab))
    for doc in docs:
        prepare_gold(doc, HistoricalText(untagged="OA"))
    assert [[token.tag_ for token in doc] for doc in docs] == [["OA", ""], [""]]

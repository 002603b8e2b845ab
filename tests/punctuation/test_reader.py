"""The reader of punctuated text: formats, windows, anomalies."""

import gzip
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin

from spacy_crf.core.errors import CRFWarning
from spacy_crf.features.columns import TRUNCATED
from spacy_crf.punctuation.block import ENDS, LabelScheme
from spacy_crf.punctuation.docs import MARKS, gold_labels, read_punctuation
from spacy_crf.punctuation.passages import Passage, make_passage
from spacy_crf.punctuation.reader import PunctuationCorpus

TEXT = "Well, is it so? Dr. Oake said so.\n\nI don't know!"
WORDS = ["well", "is", "it", "so", "dr.", "oake", "said", "so", "i", "don't", "know"]
NAMES = ["COMMA", "", "", "QUESTION", "", "", "", "PERIOD", "", "", "EXCLAMATION"]
SRT = """1
00:00:01,000 --> 00:00:02,500
<i>- Well, is it</i>
so? [door slams]

2
00:00:03,000 --> 00:00:05,000
DR. HALE: {\\an8}I don't know!
♪ la la la ♪
"""
VTT = """WEBVTT - a title

NOTE is, this, text?

cue
00:01.000 --> 00:02.000 align:start
<v Ann>Well, is it so?
"""


CUES = """1
00:00:01,000 --> 00:00:02,000
NOTEBOOKS 1 < 2, and 3 > 2.
We are #1 and #2!

2
00:00:03,000 --> 00:00:04,000
# la la #
Q &amp; A.
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


def read(path: Path | list[Path], **settings) -> list[tuple[list[str], list[str]]]:
    nlp = spacy.blank("xx")
    examples = list(PunctuationCorpus(path, **settings)(nlp))
    return [([t.text for t in eg.predicted], read_punctuation(eg.reference)[MARKS]) for eg in examples]


def test_plain_text_is_a_document(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.txt", TEXT)) == [(WORDS, NAMES)]
    (example,) = PunctuationCorpus(tmp_path)(spacy.blank("xx"))
    assert [t.text for t in example.reference][4:6] == ["Dr.", "Oake"]
    assert [t.text for t in example.reference] == make_passage(TEXT).words


def test_units_of_plain_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", TEXT)
    assert [len(words) for words, _ in read(path, unit="paragraph")] == [8, 3]
    with pytest.warns(UserWarning, match="CRFW971.*1 without words"):
        assert [len(words) for words, _ in read(path, unit="line")] == [8, 3]


def test_every_format_gives_the_same(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    rows = "\n".join(f"{word}\t{mark or 'O'}" for word, mark in zip(WORDS, NAMES))
    signs = rows.replace("COMMA", ",").replace("QUESTION", "?")
    DocBin(docs=[nlp(TEXT)]).to_disk(tmp_path / "a.spacy")
    paths = [
        tmp_path / "a.spacy",
        write(tmp_path / "a.jsonl", srsly.json_dumps({"text": TEXT}) + "\n\n"),
        write(tmp_path / "a.tsv", rows),
        write(tmp_path / "b.tsv", signs + "\n"),
        tmp_path / "a.txt.gz",
    ]
    paths[-1].write_bytes(gzip.compress(TEXT.encode("utf8")))
    for path in paths:
        assert read(path) == [(WORDS, NAMES)], path.name
    assert len(read(paths)) == 5
    with pytest.warns(CRFWarning, match="CRFW473"):  # plain text beside words with marks
        assert len(read(tmp_path)) == 4
    assert read(write(tmp_path / "c.jsonl", srsly.json_dumps({"body": TEXT})), text_key="body") == [(WORDS, NAMES)]


def test_subtitles(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.srt", SRT)) == [
        (["well", "is", "it", "so", "i", "don't", "know"], ["COMMA", "", "", "QUESTION", "", "", "EXCLAMATION"])
    ]
    assert read(write(tmp_path / "a.vtt", VTT)) == [(["well", "is", "it", "so"], ["COMMA", "", "", "QUESTION"])]


def test_pauses_between_cues_are_behind_their_last_words(tmp_path: Path) -> None:
    """A cue without speech is a pause; cues that overlap have none between them, and of the end nothing is known."""
    shown = ["so it is", "(sighs)", "...", "I know.", "You do?", "Yes."]
    times = [(1, 2.25), (3, 4), (4, 5), (3661, 3670), (3669, 3672), (3672.5, 3674)]
    stamps = [[f"{int(t) // 3600:02}:{int(t) // 60 % 60:02}:{t % 60:06.3f}" for t in pair] for pair in times]
    cues = [f"{start} --> {end}\n{text}\n" for (start, end), text in zip(stamps, shown)]
    path = write(tmp_path / "a.vtt", "WEBVTT\n\n" + "\n".join(cues))
    (whole,) = PunctuationCorpus(path)(spacy.blank("xx"))
    expected = [None, None, 3658.75, None, 0.0, None, 0.5, None]
    for doc in (whole.predicted, whole.reference):
        assert [token._.pause for token in doc] == pytest.approx(expected)
    for settings in ({"window": 4}, {"unit": "sentence"}):
        parts = list(PunctuationCorpus(path, **settings)(spacy.blank("xx")))
        assert [token._.pause for part in parts for token in part.predicted] == pytest.approx(expected)
        assert len(parts) > 1


def test_signs_of_comparison_in_subtitles_are_no_mark_up(tmp_path: Path) -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\n<i>Well,</i> 3<4 and 5>2, <00:00:01.500>so.\n"
    ((words, _),) = read(write(tmp_path / "a.srt", text))
    assert words == ["well", "3<4", "and", "5>2", "so"]


def test_only_subtitles_know_pauses(tmp_path: Path) -> None:
    (example,) = PunctuationCorpus(write(tmp_path / "a.txt", TEXT))(spacy.blank("xx"))
    assert {token._.pause for token in example.predicted} == {None} and not example.predicted.user_data
    (example,) = PunctuationCorpus(write(tmp_path / "a.srt", SRT))(spacy.blank("xx"))
    assert [token._.pause for token in example.predicted] == [None, None, None, 0.5, None, None, None]


def test_blank_lines_end_documents_of_labelled_words(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "so\tO\nit\tCOMMA\n\nis\tPERIOD\n\t.\n,\tO\n")
    with pytest.warns(UserWarning, match="2 rows without a word"):
        assert read(path) == [(["so", "it"], ["", "COMMA"]), (["is"], ["PERIOD"])]


def test_case_is_shown_on_request(tmp_path: Path) -> None:
    ((words, _),) = read(write(tmp_path / "a.txt", TEXT), lower=False)
    assert words[0] == "Well"


@pytest.mark.parametrize("size, lengths", [(0, [11]), (100, [11]), (4, [3, 4, 4]), (1, [1] * 11)])
def test_windows_are_open_where_they_are_cut(tmp_path: Path, size: int, lengths: list[int]) -> None:
    path = write(tmp_path / "a.txt", TEXT)
    examples = list(PunctuationCorpus(path, window=size)(spacy.blank("xx")))
    assert [len(eg.predicted) for eg in examples] == lengths
    assert [t.text for eg in examples for t in eg.predicted] == WORDS
    assert [m for eg in examples for m in read_punctuation(eg.reference)[MARKS]] == NAMES
    sides = [eg.predicted.user_data.get(TRUNCATED, [False, False]) for eg in examples]
    last = len(examples) - 1
    assert sides == [[k > 0, k < last] for k in range(len(examples))]
    following = read_punctuation(examples[0].reference).get("following", "").split()
    ends = [mark for mark in following if mark in ENDS]
    assert ends[:1] == {11: [], 3: ["QUESTION"], 1: ["QUESTION"]}[lengths[0]]


def test_anomalies_are_dropped_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", TEXT)
    write(tmp_path / "b.txt", "word " * 150)
    write(tmp_path / "c.txt", "broken \ufffd sign.")
    write(tmp_path / "d.txt", "... --\n")
    corpus = PunctuationCorpus(tmp_path)
    with pytest.warns(UserWarning, match="CRFW971"):
        assert len(list(corpus(spacy.blank("xx")))) == 1
    dropped = {"hardly punctuated": 1, "with undecodable characters": 1, "without words": 1}
    assert corpus.anomalies.dropped == dropped and corpus.anomalies.read == 1
    assert len(read(tmp_path / "b.txt", least_marks=0.0)) == 1


def test_limit(tmp_path: Path) -> None:
    assert len(read(write(tmp_path / "a.txt", TEXT), window=2, limit=2)) == 2


@pytest.mark.parametrize(
    "name, text, settings, code",
    [
        ("a.txt", "", {}, "CRF981"),
        ("a.doc", TEXT, {}, "CRF982"),
        ("a.jsonl", '{"txt": "x"}', {}, "CRF983"),
        ("a.jsonl", '["x"', {}, "CRF574"),
        ("a.tsv", "word\tDOT", {}, "CRF984"),
        ("a.tsv", "so\tO\nwell\n", {}, r"CRF494.*a\.tsv, line 2: 'well'"),
        ("a.conll", "so O\nwell COMMA\n", {}, r"CRF494.*line 1: 'so O'"),
        ("a.tsv", "New York\tO\n", {}, "CRF494.*New York"),
        ("a.txt", TEXT, {"window": -1}, "CRF549"),
        ("a.txt", TEXT, {"format": "doc"}, "CRF549"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, text: str, settings: dict, code: str) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError, match=code):
        read(path, **settings)


def test_paths_that_there_are_not(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CRF501"):
        PunctuationCorpus(None)
    with pytest.raises(ValueError, match="CRF502"):
        PunctuationCorpus(tmp_path / "none")
    with pytest.raises(ValueError, match="CRF503"):
        list(PunctuationCorpus(tmp_path)(spacy.blank("xx")))


def test_broken_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"so it\nis \xff.")
    with pytest.raises(ValueError, match="CRF504.*line 2"):
        read(path)


def test_predicted_words_are_bare_docs(tmp_path: Path) -> None:
    (example,) = PunctuationCorpus(write(tmp_path / "a.txt", TEXT))(spacy.blank("xx"))
    assert isinstance(example.predicted, Doc) and example.predicted.has_unknown_spaces
    assert read_punctuation(example.predicted) is None


def test_sentences_are_documents_on_request(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", TEXT + " Well")
    assert [len(words) for words, _ in read(path, unit="sentence")] == [4, 4, 3, 1]
    rows = "\n".join(f"{word}\t{mark or 'O'}" for word, mark in zip(WORDS, NAMES))
    path = write(tmp_path / "a.tsv", rows)
    examples = list(PunctuationCorpus(path, unit="sentence")(spacy.blank("xx")))
    assert [len(eg.predicted) for eg in examples] == [4, 4, 3]
    assert not any(TRUNCATED in eg.predicted.user_data for eg in examples)


def test_no_spoken_word_is_taken_for_mark_up(tmp_path: Path) -> None:
    words = [word for words, _ in read(write(tmp_path / "a.srt", CUES), lower=False) for word in words]
    assert words == ["NOTEBOOKS", "1", "<", "2", "and", "3", ">", "2", "We", "are", "#1", "and", "#2", "Q", "&", "A."]


def test_abbreviations_of_other_languages(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "So bzw. nicht, Dr. Hale.")
    assert read(path, lower=False)[0] == (["So", "bzw", "nicht", "Dr.", "Hale"], ["", "PERIOD", "COMMA", "", "PERIOD"])
    ours = read(path, abbreviations=["Bzw."], lower=False)[0]
    assert ours == (["So", "bzw.", "nicht", "Dr", "Hale"], ["", "", "COMMA", "PERIOD", "PERIOD"])


def test_abbreviations_of_several_words(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "So z. B. hier, d.\u00a0h. dort (u. a.), i. d. R. heute, Kaz. B. nicht.")
    words, marks = read(path, language="de")[0]
    assert " ".join(words) == "so z. b. hier d. h. dort u. a. i. d. r. heute kaz b. nicht"
    marked = [(word, mark) for word, mark in zip(words, marks) if mark]
    assert marked == [(word, "COMMA") for word in ("hier", "a.", "heute")] + [("kaz", "PERIOD"), ("nicht", "PERIOD")]
    assert len(read(path, language="de", unit="sentence")) == 2
    path = write(tmp_path / "b.txt", "Ash et al. say, EE. UU. is not al. else.")
    words, marks = read(path, abbreviations=["et al.", "EE. UU."])[0]
    assert words == ["ash", "et", "al.", "say", "ee.", "uu.", "is", "not", "al", "else"]
    assert [mark for mark in marks if mark] == ["COMMA", "PERIOD", "PERIOD"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Բարև, Աննա։ Լավ եմ։", "Բարև COMMA Աննա PERIOD Լավ եմ PERIOD"),
        ("ሰላም፣ ደህና ነህ፧ አዎ። ና፤ ሂድ።", "ሰላም COMMA ደህና ነህ QUESTION አዎ PERIOD ና SEMICOLON ሂድ PERIOD"),
    ],
)
def test_marks_of_armenian_and_ethiopic(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path / "a.txt", text)
    ((forms, marks),) = read(path, lower=False)
    assert " ".join(part for pair in zip(forms, marks) for part in pair if part) == words
    (doc,) = PunctuationCorpus(path).read_texts(spacy.blank("xx"))
    assert doc.text == text


@pytest.mark.parametrize("line", ["\n", "\r\n", "\n\n "])
def test_dashes_that_begin_lines_are_no_marks(tmp_path: Path, line: str) -> None:
    text = f"The list{line}- one - or two{line}— Three —{line}—four"
    (doc,) = PunctuationCorpus(write(tmp_path / "a.txt", text))(spacy.blank("xx"))
    assert [token._.punct_after for token in doc.reference] == ["", "", "DASH", "", "", "DASH", ""]


def test_windows_know_how_their_last_sentence_ends() -> None:
    words = [f"w{number}" for number in range(10)]
    marks = ["", "", "", "COMMA", "QUESTION", "", "", "PERIOD", "", ""]
    passage = Passage(words, marks, [""] * 10, [""] * 10, [""] * 10, following="EXCLAMATION")
    behind = ["COMMA QUESTION PERIOD EXCLAMATION", "QUESTION PERIOD EXCLAMATION", "PERIOD EXCLAMATION"]
    assert [part.following for part in passage.windows(2)] == behind + ["EXCLAMATION"] * 2


@pytest.mark.parametrize(
    "marks, collapse, ends",
    [
        (["PERIOD", "QUESTION"], {"SEMICOLON": "PERIOD"}, None),
        (["QUESTION"], None, None),
        (["QUESTION"], None, ["QUESTION"]),
    ],
)
def test_windows_are_of_the_kinds_of_the_whole_text(tmp_path: Path, marks: list, collapse: dict, ends: list) -> None:
    """Which marks end a sentence depends on the component: semicolons may, and exclamation marks may not."""
    path = write(tmp_path / "a.txt", "So it is; is it? Stop now! Why is it. It is so? Well")
    scheme = LabelScheme(marks, collapse, kinds=["QUESTION"], ends=ends)
    whole, windows = (
        [label for eg in PunctuationCorpus(path, window=size)(spacy.blank("xx")) for label in gold_labels(eg, scheme)]
        for size in (0, 2)
    )
    assert windows == whole and {label.sentence for label in whole if label} == {"", "QUESTION"}


def stored(path: Path, docs: list[Doc]) -> Path:
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


@pytest.mark.parametrize("settings", [{"window": 4}, {"unit": "sentence"}, {}])
def test_marks_of_annotated_docs_are_read_again(tmp_path: Path, settings: dict) -> None:
    """A Doc of bare words that is annotated with its marks has none in its text."""
    nlp = spacy.blank("xx")
    first = list(PunctuationCorpus(write(tmp_path / "a.txt", "“" + TEXT + "” مرحبا، كيف؟"), **settings)(nlp))
    again = list(PunctuationCorpus(stored(tmp_path / "a.spacy", [eg.reference for eg in first]))(nlp))
    assert len(first) == len(again)
    for one, other in zip(first, again):
        assert [t.text for t in one.predicted] == [t.text for t in other.predicted]
        assert read_punctuation(one.reference) == read_punctuation(other.reference)
        for ours, theirs in ((one.predicted, other.predicted), (one.reference, other.reference)):
            assert ours.user_data.get(TRUNCATED) == theirs.user_data.get(TRUNCATED)
        assert one.reference._.doc_name == other.reference._.doc_name


def test_sentences_of_a_cut_document_are_open_where_it_is_cut(tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    windows = list(PunctuationCorpus(write(tmp_path / "a.txt", TEXT), window=6)(nlp))
    path = stored(tmp_path / "a.spacy", [eg.reference for eg in windows])
    parts = [eg.predicted for eg in PunctuationCorpus(path, unit="sentence")(nlp)]
    found = [(len(doc), doc.user_data.get(TRUNCATED)) for doc in parts]
    assert found == [(4, None), (1, [False, True]), (3, [True, False]), (3, None)]


def test_parts_of_a_document_have_its_name(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write(tmp_path / "a.txt", TEXT)
    write(tmp_path / "b" / "c.jsonl", "".join(srsly.json_dumps({"text": TEXT}) + "\n" for _ in range(2)))
    for settings in ({}, {"window": 4}, {"unit": "sentence"}):
        names = [eg.reference._.doc_name for eg in PunctuationCorpus(tmp_path, **settings)(spacy.blank("xx"))]
        assert list(dict.fromkeys(names)) == ["a", "b/c", "b/c 2"]
        assert len(names) == 3 * (len(names) // 3)
    with pytest.warns(UserWarning, match="CRFW971"):
        lines = list(PunctuationCorpus(tmp_path / "a.txt", unit="line")(spacy.blank("xx")))
    assert [eg.reference._.doc_name for eg in lines] == ["a", "a"]


def test_texts_have_what_examples_have(tmp_path: Path) -> None:
    """What `crf convert` writes: the same words, marks, signs and names, and the sides that are open."""
    nlp = spacy.blank("xx")
    for text in (TEXT, "مرحبا، كيف حالك؟ انا بخير. هل، هو؟", "我是学生。你好吗？他说，我们走吧。"):
        corpus = PunctuationCorpus(write(tmp_path / "a.txt", text), window=5)
        examples, docs = list(corpus(nlp)), list(corpus.read_texts(nlp))
        again = list(PunctuationCorpus(stored(tmp_path / "a.spacy", docs))(nlp))
        for one, other in zip(examples, again, strict=True):
            assert read_punctuation(one.reference) == read_punctuation(other.reference)
            assert one.reference._.doc_name == other.reference._.doc_name == "a"
            assert one.predicted.user_data.get(TRUNCATED) == other.predicted.user_data.get(TRUNCATED)


def test_texts_keep_marks_that_their_letters_do_not_tell(tmp_path: Path) -> None:
    rows = "what\tO\nis\tO\n`\tO\ndamp\tO\n'\tQUESTION\nask\tO\ncapt.\tPERIOD\nmr.\tO\nroe\tO\netc\tPERIOD\n"
    corpus, nlp = PunctuationCorpus(write(tmp_path / "a.tsv", rows)), spacy.blank("en")
    found = stored(tmp_path / "a.spacy", list(corpus.read_texts(nlp)))
    marks = [
        [read_punctuation(eg.reference)["marks"] for eg in each(nlp)] for each in (corpus, PunctuationCorpus(found))
    ]
    assert marks[0] == marks[1] == [["", "", "", "", "QUESTION", "", "PERIOD", "", "", "PERIOD"]]


def test_rows_of_signs_are_no_words(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'so\tO\n"\tO\nit\t،\n-\tO\n')
    with pytest.warns(UserWarning, match="2 rows without a word"):
        assert read(path) == [(["so", "it"], ["", "COMMA"])]


def test_plain_text_beside_words_with_marks_is_no_gold(tmp_path: Path) -> None:
    (tmp_path / "talks.tsv").write_text("well\tCOMMA\nso\tPERIOD\n", encoding="utf8")
    (tmp_path / "README.txt").write_text("Talks, taken down. By hand.\n", encoding="utf8")
    nlp = spacy.blank("en")
    with pytest.warns(CRFWarning, match=r"CRFW473.*README\.txt"):
        (example,) = PunctuationCorpus(tmp_path)(nlp)
    assert [token.text for token in example.reference] == ["well", "so"]

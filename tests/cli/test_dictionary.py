"""`crf dictionary`: proposals, what held-out text says of the dictionary, and a table that a component takes."""

from functools import partial
from pathlib import Path

import pytest
import spacy
from helpers.commands import run

from spacy_crf.corpora.reader import Corpus
from spacy_crf.pipe.dictionary.block import DictionarySettings
from spacy_crf.pipe.dictionary.tag_dictionary import make_dictionary, read_table
from spacy_crf.tagsets.report import TaggedWords, dictionary_coverage

TRAIN = "he\tP\nwen\tKON|KOUS\nWen\tKON\nse\tP\nwen\tKOUS\nkumt\tV\nse\tKON\n"
HELD_OUT = "he\tP\nWEN\tV\nwen\tKON:0.8|V:0.2\nswimt\tNEW\nse\t_\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.tsv").write_text(TRAIN, encoding="utf8")
    (tmp_path / "held_out.tsv").write_text(HELD_OUT, encoding="utf8")
    return tmp_path


propose = partial(run, "dictionary")


def rows(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines()]


def test_proposals_and_the_table(folder: Path) -> None:
    options = ("--format", "tagsets", "--similarity", 0.4, "--open-types", 2, "--fold", "lower")
    found = rows(propose(folder / "train.tsv", *options, "--output", folder / "words.tsv"))
    assert ["words", "4"] in found and ["occurrences", "with", "gold", "7"] in found
    assert ["open", "2:", "KON", "P"] in found
    # KON: 1.5 wen, 1 se; KOUS: 1.5 wen; P: 1 he, 1 se
    assert ["0.600", "KON", "KOUS", "*"] in found and ["0.286", "KON", "P"] in found
    entries = {(word, tag): count for word, tag, count in read_table(folder / "words.tsv")}
    assert entries[("wen", "KOUS")] == 1.5 and len(entries) == 6


def test_held_out_text(folder: Path) -> None:
    layout = ("--format", "tagsets", "--fold", "lower", "--open-types", 2, "--held-out", folder / "held_out.tsv")
    found = rows(propose(folder / "train.tsv", *layout))
    # 3 of the 4 tokens with gold are known words: he is right, WEN is not, wen is by 0.8; NEW is none of the tags
    assert ["1", "75.00", "%", "45.00", "%", "60.00", "%", "0.00", "%", "1.8", "1.7"] in found
    # with all words rare, KON, P and own tags are left: those of wen are three
    assert ["50", "0.00", "%", "45.00", "%", "45.00", "%", "2.5"] in found


def test_coverage_by_hand(folder: Path) -> None:
    docs = Corpus(folder / "train.tsv", format="tagsets").read_docs(spacy.blank("xx").vocab)
    words = TaggedWords.of(docs, "tag")
    tags = words.tags
    assert tags.tags == ("KON", "KOUS", "P", "V")
    settings = DictionarySettings(min_count=2, open_tags=["V"], fold="none")
    dictionary = make_dictionary(words.count(tags, "none"), settings, tags, "test")
    others = TaggedWords(["wen", "wen", "Wen", "nie"], [{"KON": 1}, {"V": 1}, {"V": 1}, {}])
    found = dictionary_coverage(dictionary, others, tags)
    assert (found.known, found.valid_known, found.valid_others) == pytest.approx((2 / 3, 0.5, 1.0))
    assert (found.valid, found.size, found.size_known) == pytest.approx((2 / 3, 2.0, 2.0))
    with pytest.raises(ValueError, match="CRF638"):
        dictionary_coverage(dictionary, TaggedWords(["wen"], [{}]), tags)
    lacking = TaggedWords([*others.texts, "wen", "Wen"], [*others.rows, {"NEW": 1}, {"NEW": 0.5, "V": 0.5}])
    assert dictionary_coverage(dictionary, lacking, tags).valid == pytest.approx(2.5 / 5)


def test_a_word_is_known_as_often_as_it_was_seen(folder: Path) -> None:
    """Thirds sum to a little less than 2: two occurrences were too few for a least count of 2, in this table alone."""
    thirds = "samna\tA|B|C\nsamna\tD|E|F\n"
    (folder / "thirds.tsv").write_text(thirds, encoding="utf8")
    (folder / "other.tsv").write_text("samna\tA\n", encoding="utf8")
    found = rows(propose(folder / "thirds.tsv", "--format", "tagsets", "--held-out", folder / "other.tsv"))
    assert [row[1] for row in found if row and row[0] in ("1", "2", "5") and "%" in row] == ["100.00", "100.00", "0.00"]


@pytest.mark.parametrize("text, code", [("", "CRF520"), ("he\t_\n", "CRF831")])
def test_without_gold_there_is_nothing_to_propose(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text(text, encoding="utf8")
    assert code in propose(tmp_path / "empty.tsv", "--format", "tagsets", code=1)


def test_settings_and_files_that_do_not_exist(folder: Path) -> None:
    assert "No dictionary was made" in propose(folder / "nowhere.tsv", code=1)
    assert "CRF840" in propose(folder / "train.tsv", "--format", "tagsets", "--similarity", 2, code=1)


def test_a_table_is_written_where_all_that_is_asked_for_can_be_told(folder: Path) -> None:
    """Without held-out text it was written, and "No dictionary was made" was told; a folder was not made for it."""
    train, output = (folder / "train.tsv", "--format", "tagsets"), folder / "new" / "dictionary.tsv"
    propose(*train, "--held-out", folder / "nowhere.tsv", "--output", output, code=1)
    assert not output.exists()
    propose(*train, "--output", output)
    assert output.exists()

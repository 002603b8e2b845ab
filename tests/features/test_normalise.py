import random
import time
from collections import Counter
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.features.spelling import Neighbours, SpellingTable, edit_distance, fit_spelling, fold

words = st.text("abc", min_size=1, max_size=9)
lengths = st.lists(st.integers(1, 7), max_size=3).map(sorted)


def full_distance(first: str, second: str) -> int:
    """Levenshtein by its recursive definition, with a table."""
    table = {(i, 0): i for i in range(len(first) + 1)} | {(0, j): j for j in range(len(second) + 1)}
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            change = table[i - 1, j - 1] + (first[i - 1] != second[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, change)
    return table[len(first), len(second)]


@pytest.mark.promise
@given(words, words, st.integers(0, 4))
def test_distance(first: str, second: str, most: int) -> None:
    assert edit_distance(first, second, most) == min(full_distance(first, second), most + 1)


@given(st.lists(words, unique=True, max_size=25), words, lengths, st.data())
def test_neighbours_are_those_of_a_full_search(
    known: list[str], word: str, least: list[int], data: st.DataObject
) -> None:
    neighbours = Neighbours(least)
    for other in known:
        neighbours.add(other)
    stop = data.draw(st.none() | st.integers(0, len(known)))
    best = None
    for number, other in enumerate(known[:stop]):
        shorter = min(len(word), len(other))
        distance = full_distance(word, other)
        if sum(shorter >= length for length in least) >= max(distance, 1) and (best is None or distance < best[0]):
            best = distance, other, number
    assert neighbours.find(word, stop) == (best[1] if best else None)


@given(st.integers(0, 2**32))
def test_edits_behind_the_beginning_are_found(seed: int) -> None:
    """Long words with two edits anywhere: their beginnings alone must lead to them."""
    chance = random.Random(seed)
    word = "".join(chance.choices("abcdefghijklmnop", k=chance.randint(9, 16)))
    letters = list(word)
    for _ in range(2):
        place = chance.randrange(len(letters) + 1)
        letters[place : place + chance.randint(0, 1)] = chance.choice([[], ["x"]])
    variant = "".join(letters)
    neighbours = Neighbours((4, 8))
    neighbours.add(word)
    expected = full_distance(word, variant) <= neighbours.allowed(min(len(word), len(variant)))
    assert (neighbours.find(variant) == word) == expected


def test_a_rare_spelling_goes_to_a_frequent_one() -> None:
    spelling = fit_spelling({"koninck": 100, "konynck": 5, "koning": 8, "dat": 500, "dit": 9}, ratio=10)
    assert spelling.table == {
        "dat": "dat",
        "koninck": "koninck",
        "dit": "dit",  # too short for an edit
        "koning": "koning",  # two edits, and only seven characters
        "konynck": "koninck",
    }


def test_nearest_before_most_frequent_before_alphabet() -> None:
    spelling = fit_spelling({"koninginne": 90, "koninginnen": 50, "koningynnen": 2})
    assert spelling.normalise("koningynnen") == "koninginnen"
    assert fit_spelling({"stede": 80, "stade": 90, "stude": 2}).normalise("stude") == "stade"
    assert fit_spelling({"stede": 90, "stade": 90, "stude": 2}).normalise("stude") == "stade"


@pytest.mark.parametrize("count, normal", [(9, "heren"), (10, "herem"), (11, "herem")])
def test_ratio_must_be_exceeded(count: int, normal: str) -> None:
    assert fit_spelling({"heren": 100, "herem": count}, ratio=10).table["herem"] == normal


def test_equally_frequent_forms_stay_apart() -> None:
    assert set(fit_spelling({"heren": 3, "herem": 3}, ratio=1).table.values()) == {"heren", "herem"}


def test_a_variant_is_no_normal_form() -> None:
    spelling = fit_spelling({"aaaaa": 100, "aaaab": 10, "aaabb": 1}, ratio=1)
    # Two edits from aaaaa, and aaaab belongs to it already.
    assert spelling.table == {"aaaaa": "aaaaa", "aaaab": "aaaaa", "aaabb": "aaabb"}


def test_numbers_are_left_alone() -> None:
    spelling = fit_spelling({"1400": 100, "1500": 1, "anno14": 100, "anno15": 1})
    assert [spelling.normalise(form) for form in ("1500", "1401", "anno15", "anno24")] == [
        "1500",
        "1401",
        "anno15",
        "anno24",
    ]


def test_forms_are_folded() -> None:
    spelling = fit_spelling({"Kȫning": 6, "kȫning".upper(): 5, "ko\u0308\u0304ning": 4, "kȫninc": 1})
    assert spelling.table == {"kȫning": "kȫning", "kȫninc": "kȫning"}
    assert spelling.normalise("KȪNINC") == "kȫning"
    assert fold("KO\u0308\u0304NING") == "kȫning"


def test_unknown_forms() -> None:
    spelling = fit_spelling({"vrouwe": 50, "vrowe": 2, "here": 40})
    assert spelling.normalise("Vrouwen") == "vrouwe"
    assert spelling.normalise("herre") == "here"
    assert spelling.normalise("herrre") == "herrre"
    assert spelling.normalise("") == ""
    # Variants are no goal: vrowen is one letter from vrowe, but two from vrouwe.
    assert spelling.normalise("vrowen") == "vrowen"


@given(st.dictionaries(words, st.integers(1, 50), max_size=25), lengths, st.sampled_from([1, 2.5, 10]), st.randoms())
def test_table_is_deterministic_and_final(
    counts: dict[str, int], least: list[int], ratio: float, chance: random.Random
) -> None:
    spelling = fit_spelling(counts, least, ratio)
    items = list(counts.items())
    chance.shuffle(items)
    assert list(fit_spelling(dict(items), least, ratio).table.items()) == list(spelling.table.items())
    assert set(spelling.table) == set(counts)
    for form, normal in spelling.table.items():
        assert spelling.normalise(normal) == normal
        if form != normal:
            assert counts[normal] > ratio * counts[form]
            assert full_distance(form, normal) <= sum(min(len(form), len(normal)) >= length for length in least)


@pytest.mark.promise
@given(st.dictionaries(words, st.integers(1, 50), max_size=25), st.lists(words, max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], unknown: list[str]
) -> None:
    spelling = fit_spelling(counts, (2, 4), 2)
    path = tmp_path_factory.getbasetemp() / "table.tsv"
    spelling.write(path)
    copy = SpellingTable.read(path, (2, 4))
    assert copy.table == spelling.table
    assert [copy.normalise(form) for form in unknown] == [spelling.normalise(form) for form in unknown]
    assert copy.neighbours.words == spelling.neighbours.words


def test_the_table_shows_variants_below_their_normal_form(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    fit_spelling({"here": 40, "herre": 1, "vrouwe": 50, "vrowe": 2}).write(path)
    assert path.read_bytes() == b"vrouwe\tvrouwe\nvrowe\tvrouwe\nhere\there\nherre\there\n"


def test_a_table_that_a_spreadsheet_program_has_saved(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text('""""\t""""\n"o""er"\toder\nvnde\tunde\n', encoding="utf8")
    assert SpellingTable.read(path).table == {'"': '"', 'o"er': "oder", "vnde": "unde"}


def test_an_edited_table(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_bytes("\ufeff# by hand\r\n\r\nvp\tup\r\n#x\t#\n Sulvern \tsilver\n".encode())
    spelling = SpellingTable.read(path)
    assert spelling.table == {"vp": "up", "#x": "#", "sulvern": "silver"}
    assert [spelling.normalise(form) for form in ("VP", "sylver", "sulvern")] == ["up", "silver", "silver"]


@pytest.mark.parametrize(
    "content, message",
    [
        ("a\ta\nb\n", r"CRF545.*table\.tsv, line 2: .*'b'"),
        ("a\t\n", "CRF545.*line 1"),
        ("\ta\n", "CRF545.*line 1"),
        ("a\tb\tc\n", "CRF545.*line 1"),
        ("a\tb\nA\tc\n", "CRF546.*line 2: the form 'a'"),
        ("a\tb\nb\tc\n", "CRF547.*'b'.*'a'.*'c'"),
        (b"\xff\ta\n", r"CRF548.*table\.tsv.*UTF-8"),
    ],
)
def test_malformed_tables(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "table.tsv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=message):
        SpellingTable.read(path)


def test_missing_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"CRF548.*none\.tsv"):
        SpellingTable.read(tmp_path / "none.tsv")


@pytest.mark.parametrize("least", [(8, 4), (0,), (-1, 2)])
def test_lengths_are_checked(least: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="CRF549.*lengths"):
        fit_spelling({"a": 1}, least)


@pytest.mark.parametrize("ratio", [0.5, 0, float("nan")])
def test_ratio_is_checked(ratio: float) -> None:
    with pytest.raises(ValueError, match="CRF549.*ratio"):
        fit_spelling({"a": 1}, ratio=ratio)


@pytest.mark.parametrize(("block", "name"), [("spelling", "Spelling"), ("classes", "InducedClasses")])
def test_blocks_are_named(block: str, name: str) -> None:
    """A block whose name is forgotten is a table to spaCy."""
    with pytest.raises(ValueError, match=f"CRF549.*{block}.*@misc = 'spacy_crf.{name}.v1'"):
        spacy.blank("en").add_pipe("crf_tagger", config={"features": {"templates": ["@tagging"], block: {}}})


def test_many_forms_are_fitted_in_time() -> None:
    """Words of syllables, as near to each other as those of a language; a full search would take minutes."""
    chance = random.Random(1)
    syllables = [first + vowel + last for first in "bdghklmnrstvw" for vowel in "aeiou" for last in ("", "n", "r")]
    counts = Counter("".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(8_000))
    start = time.process_time()
    spelling = fit_spelling({form: count * chance.randint(1, 99) for form, count in counts.items()})
    assert time.process_time() - start < 10
    assert len(set(spelling.table.values())) < len(counts)

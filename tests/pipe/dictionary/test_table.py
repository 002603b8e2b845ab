"""A dictionary as a table: what is written is read."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import TagSet
from spacy_crf.pipe.dictionary.block import DictionarySettings
from spacy_crf.pipe.dictionary.counts import CountTable
from spacy_crf.pipe.dictionary.tag_dictionary import HEAD, TagDictionary, make_dictionary, read_table, write_table

TAGS = ["N", "V:fin", "#"]
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3)
entries = st.dictionaries(
    st.tuples(words, st.sampled_from(range(3))), st.sampled_from([1.0, 0.5, 1 / 3, 120.0, np.inf]), max_size=8
)


def as_dictionary(found: dict[tuple[str, int], float]) -> TagDictionary:
    keys, labels = [word for word, _ in found], np.array([label for _, label in found], dtype=np.intp)
    table = CountTable.build(keys, labels, np.array(list(found.values())), 3)
    return make_dictionary(table, DictionarySettings(fold="none"), TagSet(tuple(TAGS), "none"), "test")


@pytest.mark.promise
@given(found=entries)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, found: dict[tuple[str, int], float]) -> None:
    path = tmp_path_factory.getbasetemp() / "words.tsv"
    write_table(as_dictionary(found), TAGS, path)
    again = {(word, TAGS.index(tag)): count for word, tag, count in read_table(path)}
    assert again.keys() == found.keys()
    assert [again[key] for key in found] == pytest.approx(list(found.values()))


def test_how_it_looks(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    write_table(as_dictionary({("wen", 1): 2.5, ("wen", 0): 1.0, ("#", 2): np.inf}), TAGS, path)
    assert path.read_text(encoding="utf8") == f"{HEAD}\n#\t#\nwen\tN\t1\nwen\tV:fin\t2.5\n"


def test_a_table_that_a_spreadsheet_program_has_saved(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(f'{HEAD}\n""""\tN\t2\n"o""er"\tN\t1\nwen\tN\t\n', encoding="utf8")
    assert read_table(path) == [('"', "N", 2.0), ('o"er', "N", 1.0), ("wen", "N", np.inf)]


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\rb"])
def test_words_that_a_table_cannot_hold(word: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CRF843"):
        write_table(as_dictionary({(word, 0): 1.0}), TAGS, tmp_path / "words.tsv")

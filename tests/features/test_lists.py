from unicodedata import normalize

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.features import Features
from spacy_crf.features.hashing import string_hash, string_hashes
from spacy_crf.features.resources import WordList, splitter


def values(entries, *texts, prefix=0):
    """The value of each word of some texts."""
    word_list = WordList("list", [(tuple(phrase.split()), value) for phrase, value in entries])
    words = [text.split() for text in texts]
    lowers = np.array([string_hash(word) for text in words for word in text], dtype=np.uint64)
    numbers = word_list.match(lowers, np.array([len(text) for text in words], dtype=np.intp))
    strings = word_list.strings(prefix)
    return [strings[number] for number in numbers]


def test_single_words():
    assert values([("rome", "CITY"), ("po", "RIVER")], "po near rome po") == ["RIVER", "", "CITY", "RIVER"]


def test_words_that_are_symbols_of_spacy():
    assert values([("mark", "A"), ("case root", "B")], "mark case root") == ["A", "B", "I-B"]


def test_longest_match_wins():
    entries = [("new", "ADJ"), ("york", "NAME"), ("new york", "CITY"), ("new york times", "PAPER")]
    assert values(entries, "new york times") == ["PAPER", "I-PAPER", "I-PAPER"]
    assert values(entries, "new york city") == ["CITY", "I-CITY", ""]
    assert values(entries, "new york york") == ["CITY", "I-CITY", "NAME"]
    assert values(entries, "new new york") == ["ADJ", "CITY", "I-CITY"]


def test_overlapping_phrases_go_from_left_to_right():
    entries = [("a b", "X"), ("b c d", "Y"), ("c", "Z")]
    assert values(entries, "a b c d") == ["X", "I-X", "Z", ""]
    assert values(entries, "b c d") == ["Y", "I-Y", "I-Y"]


def test_phrases_do_not_cross_docs():
    entries = [("new york", "CITY"), ("york", "NAME")]
    assert values(entries, "old new", "", "york new york") == ["", "", "NAME", "CITY", "I-CITY"]


def test_prefix_cuts_values_not_marks():
    entries = [("a", "011010"), ("a b", "1100")]
    assert values(entries, "a a b", prefix=2) == ["01", "11", "I-11"]
    assert values(entries, "a a b", prefix=9) == ["011010", "1100", "I-1100"]


def test_the_last_entry_counts():
    assert values([("a", "Z"), ("b c", "Z"), ("a", "B"), ("b c", "B")], "a b c") == ["B", "B", "I-B"]


def test_empty_list():
    assert values([], "a b") == ["", ""]


def reference(entries, texts):
    found = []
    phrases = {tuple(phrase): value for phrase, value in entries}
    for text in texts:
        i = 0
        while i < len(text):
            for n in range(len(text) - i, 0, -1):
                value = phrases.get(tuple(text[i : i + n]))
                if value is not None:
                    found += [value, *[f"I-{value}"] * (n - 1)]
                    i += n
                    break
            else:
                found.append("")
                i += 1
    return found


words = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)


@given(
    st.lists(st.tuples(words, st.sampled_from("XYZ")), max_size=8),
    st.lists(st.lists(st.sampled_from("abcd"), max_size=9), max_size=3),
)
def test_match_as_a_plain_search_does(entries, texts):
    found = values([(" ".join(phrase), value) for phrase, value in entries], *map(" ".join, texts))
    assert found == reference(entries, texts)


def write(tmp_path, text):
    path = tmp_path / "list.tsv"
    path.write_text(text, encoding="utf8", newline="")
    return path


def test_read(tmp_path):
    path = write(tmp_path, "\ufeff# a comment\n\nNew  York\tCITY\r\n#1\tTOP\n Łódź \t CITY \nno\u2028break\tX\n")
    assert WordList.read("list", path).entries == [
        (("#1",), "TOP"),
        (("new", "york"), "CITY"),
        (("new  york",), "CITY"),
        (("no", "break"), "X"),
        (("no\u2028break",), "X"),
        ((normalize("NFD", "łódź"),), "CITY"),
        (("łódź",), "CITY"),
    ]


@pytest.mark.parametrize("file_form", ["NFC", "NFD"])
@pytest.mark.parametrize("text_form", ["NFC", "NFD"])
def test_letters_with_accents_are_the_same_composed_or_not(tmp_path, file_form, text_form):
    word_list = WordList.read("list", write(tmp_path, normalize(file_form, "Łódź\tCITY\nSão Lúcio\tTOWN\n")))
    words = normalize(text_form, "in Łódź und São Lúcio").lower().split()
    numbers = word_list.match(string_hashes(words), np.array([len(words)], dtype=np.intp))
    assert [word_list.strings()[number] for number in numbers] == ["", "CITY", "", "TOWN", "I-TOWN"]


def test_phrases_are_split_by_the_pipeline(tmp_path):
    path = write(tmp_path, "St.-Denis, Paris\tPLACE\nI'm\tME\n")
    word_list = WordList.read("list", path, splitter(spacy.blank("en")))
    assert (("i", "'m"), "ME") in word_list.entries
    assert any(entry[0][-2:] == (",", "paris") for entry in word_list.entries)


@pytest.mark.parametrize("line", ["word", "word\t", "\tvalue", "\t", "word\tvalue\tmore", "  \t value", "#\t"])
def test_malformed_lines(tmp_path, line):
    path = write(tmp_path, f"# comment\ngood\tX\n\n{line}\nbad")
    with pytest.raises(ValueError, match="CRF306") as error:
        WordList.read("cities", path)
    if line.strip():
        assert f"{path} line 4" in str(error.value)
        assert repr(line) in str(error.value)
    else:
        assert f"{path} line 5" in str(error.value)
    assert "'cities'" in str(error.value)


def test_unreadable_files(tmp_path):
    (tmp_path / "latin.tsv").write_bytes("Łódź\tCITY".encode("utf-16"))
    for path in (tmp_path / "missing.tsv", tmp_path, tmp_path / "latin.tsv"):
        with pytest.raises(ValueError, match="CRF307") as error:
            WordList.read("cities", path)
        assert "'cities'" in str(error.value)
        assert str(path) in str(error.value)


def test_template_without_its_list():
    with pytest.raises(ValueError, match=r"CRF305.*LOWER\[0\]\|LIST\(towns\)\[1\].*'towns'"):
        FeatureSettings(["LOWER|LIST(towns)[1]"], lists={"cities": "cities.tsv"})


def test_several_lists_of_one_config(tmp_path):
    nlp = spacy.blank("en")
    (tmp_path / "cities.tsv").write_text("Rome\tCITY\nNew York\tCITY\n")
    (tmp_path / "brown.tsv").write_text("rome\t0110\nnew\t1010\n")
    lists = {name: str(tmp_path / f"{name}.tsv") for name in ("cities", "brown")}
    config = FeatureSettings(["LIST(cities)[0]|LIST(brown,2)[0]", "LIST(brown)[1]"], lists=lists, padding=False)
    features = Features(config, "auto", config.make_resources(splitter(nlp)))
    columns = features.extractor.read([nlp.make_doc("Rome, new York"), nlp.make_doc("New")], nlp.vocab)
    keys = features.extractor.keys(columns, features.extractor.state_templates)
    features.state.grow(keys, columns, padding=False)
    assert sorted(features.state.names()) == [
        "LIST(brown)[1]=1010",
        "LIST(cities)[0]|LIST(brown,2)[0]=CITY|01",
        "LIST(cities)[0]|LIST(brown,2)[0]=CITY|10",
    ]


def test_phrases_match_tokens_that_the_pipeline_would_split(tmp_path):
    """A column file has tokens of its own, which are what stands between spaces."""
    path = write(tmp_path, "don't panic\tX\n")
    nlp = spacy.blank("en")
    features = Features(
        FeatureSettings(["LIST(list)"], lists={"list": str(path)}),
        "auto",
        FeatureSettings(["LIST(list)"], lists={"list": str(path)}).make_resources(splitter(nlp)),
    )
    for doc in (nlp.make_doc("Don't panic"), Doc(nlp.vocab, words=["don't", "panic"])):
        (column,) = features.extractor.read([doc], nlp.vocab).by_attribute.values()
        assert [column.strings[value] for value in column.hashes.tolist()] == ["X", *["I-X"] * (len(doc) - 1)]


def test_words_with_spaces_within_are_found(tmp_path):
    path = tmp_path / "clusters.tsv"
    path.write_text("Việt Nam\t01\n10\u00a0000\t10\n", encoding="utf8")
    lowers = np.array([string_hash(word) for word in ("việt nam", "10\u00a0000", "việt", "nam")], dtype=np.uint64)
    word_list = WordList.read("clusters", path)
    numbers = word_list.match(lowers, np.array([4], dtype=np.intp))
    assert [word_list.strings()[number] for number in numbers] == ["01", "10", "01", "I-01"]


def test_a_list_that_a_spreadsheet_program_has_saved(tmp_path):
    path = write(tmp_path, '""""\tQUOTE\n"""Kant"""\tNAME\nLund\tCITY\n')
    assert WordList.read("list", path).entries == [(('"',), "QUOTE"), (('"kant"',), "NAME"), (("lund",), "CITY")]
    commas = write(tmp_path, '"Lund, S."\tCITY\nMoss\tCITY\n')
    assert dict(WordList.read("list", commas).entries)[("lund,", "s.")] == "CITY"
    all_cells = write(tmp_path, '"lund"\t"CITY"\n"moss"\t1\n')
    assert WordList.read("list", all_cells).entries == [(("lund",), "CITY"), (("moss",), "1")]
    by_hand = write(tmp_path, '"a,b"\tQUOTE\n,\tCOMMA\n')
    assert WordList.read("list", by_hand).entries == [(('"a,b"',), "QUOTE"), ((",",), "COMMA")]
    as_it_is = write(tmp_path, '"\tQUOTE\n"Kant"\tNAME\n')
    assert WordList.read("list", as_it_is).entries == [(('"',), "QUOTE"), (('"kant"',), "NAME")]

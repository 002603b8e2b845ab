from collections import Counter

import pytest
import srsly
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.features import Features


class Indexer:
    """State features of Docs that are given as lists of words."""

    def __init__(self, vocab, texts, **config):
        self.vocab = vocab
        self.features = Features(FeatureSettings(texts, **config), "auto")
        self.index = self.features.state

    def keys(self, words):
        extractor = self.features.extractor
        columns = extractor.read([Doc(self.vocab, words=words)], self.vocab)
        return extractor.keys(columns, extractor.state_templates), columns

    def grow(self, words):
        return self.index.grow(*self.keys(words), self.features.config.padding)

    def encode(self, words):
        """Names of the features of each word."""
        rows, names = self.index.encode(self.keys(words)[0]), self.index.names()
        return [[names[i] for i in rows.indices[a:b]] for a, b in zip(rows.indptr[:-1], rows.indptr[1:])]


word = st.sampled_from(["a", "b", "A", "mark", "1", "BOS-1"])
batches = st.lists(st.lists(word, min_size=1, max_size=8), min_size=1, max_size=5)
TEXTS = ["ORTH[0]", "LOWER[-1]|LOWER[0]", "BOS"]


@given(batches, st.booleans())
def test_numbers_never_change(vocab, parts, padding):
    indexer = Indexer(vocab, TEXTS, padding=padding)
    before = []
    for words in parts:
        n_new = indexer.grow(words)
        after = indexer.index.names()
        assert after[: len(before)] == before
        assert len(after) == len(indexer.index) == len(before) + n_new
        before = after
    assert len(set(before)) == len(before)
    assert [indexer.index.name(number) for number in range(len(before))] == before
    assert indexer.grow(parts[0]) == 0


@given(batches, st.integers(1, 4))
def test_cut_off_counts_over_all_calls(vocab, parts, min_count):
    indexer = Indexer(vocab, ["LOWER", "SHAPE|IS_ALPHA"], min_count=min_count)
    plain = Indexer(vocab, ["LOWER", "SHAPE|IS_ALPHA"])
    for words in parts:
        indexer.grow(words)
        plain.grow(words)
    counts = Counter(name for words in parts for names in plain.encode(words) for name in names)
    assert set(indexer.index.names()) == {name for name, count in counts.items() if count >= min_count}


def test_cut_off_by_hand(vocab):
    indexer = Indexer(vocab, ["ORTH"], min_count=3)
    assert indexer.grow(["a", "a", "b"]) == 0
    assert indexer.grow(["b", "c", "a", "a"]) == 1
    assert indexer.grow(["b", "a"]) == 1
    assert indexer.index.names() == ["ORTH[0]=a", "ORTH[0]=b"]


def test_unknown_features_are_left_out(vocab):
    indexer = Indexer(vocab, ["ORTH", "BIAS"])
    indexer.grow(["a"])
    assert indexer.encode(["a", "b", "a"]) == [["ORTH[0]=a", "BIAS[0]=1"], ["BIAS[0]=1"], ["ORTH[0]=a", "BIAS[0]=1"]]


def test_untrained_index_encodes_to_nothing(vocab):
    indexer = Indexer(vocab, TEXTS)
    assert indexer.encode(["a", "b"]) == [[], []]
    assert indexer.index.names() == []


def test_real_values_are_those_of_the_features(vocab, clue):
    indexer = Indexer(vocab, ["_.clue", "ORTH", "_.clue[1]|ORTH[0]"], padding=False)
    doc = Doc(vocab, words=["a", "b", "c"])
    doc[0]._.clue, doc[1]._.clue, doc[2]._.clue = 0.5, "x", -2.0
    extractor = indexer.features.extractor
    columns = extractor.read([doc], vocab)
    keys = extractor.keys(columns, extractor.state_templates)
    indexer.index.grow(keys, columns, False)
    rows, names = indexer.index.encode(keys), indexer.index.names()
    assert [(names[i], value) for i, value in zip(rows.indices, rows.values.tolist())] == [
        ("_.clue[0]=value", 0.5),
        ("ORTH[0]=a", 1.0),
        ("_.clue[1]|ORTH[0]=x|a", 1.0),
        ("_.clue[0]=x", 1.0),
        ("ORTH[0]=b", 1.0),
        ("_.clue[1]|ORTH[0]=value|b", -2.0),
        ("_.clue[0]=value", -2.0),
        ("ORTH[0]=c", 1.0),
    ]


def restored(indexer, **config):
    data = srsly.msgpack_loads(srsly.msgpack_dumps(indexer.features.to_data()))
    other = Indexer(indexer.vocab, [str(template) for template in indexer.index.templates], **config)
    other.features = Features.from_data(data, other.features.config, "auto")
    other.index = other.features.state
    return other


@given(batches, batches)
def test_round_trip(vocab, parts, later):
    indexer = Indexer(vocab, TEXTS)
    for words in parts:
        indexer.grow(words)
    copy = restored(indexer)
    assert copy.index.names() == indexer.index.names()
    assert srsly.msgpack_dumps(copy.features.to_data()) == srsly.msgpack_dumps(indexer.features.to_data())
    for words in later:
        assert copy.encode(words) == indexer.encode(words)
    for words in later:  # both go on in the same way
        assert copy.grow(words) == indexer.grow(words)
    assert srsly.msgpack_dumps(copy.features.to_data()) == srsly.msgpack_dumps(indexer.features.to_data())


def test_keys_follow_from_what_is_stored(vocab, clue):
    """Whatever the attribute: spaCy's symbols, enumerations, flags, real values, lists, edges of the sequence."""
    texts = ["ORTH[-2..2]", "LOWER|SHAPE[1]", "LSUFFIX2", "IS_TITLE|BOS", "POSITION3", "LENGTH", "BIAS", "_.clue"]
    texts += [
        f"{name}[-1..0]" for name in ("POS", "TAG", "MORPH", "DEP", "LEMMA", "NORM", "ENT_IOB", "ENT_TYPE", "SPACY")
    ]
    doc = Doc(
        vocab,
        words=["mark", "Noun", "1", "ROOT", "Ünïcode", "BOS-1"],
        pos=["NOUN", "X", "NUM", "VERB", "PROPN", "X"],
        tags=["NN", "mark", "CD", "nsubj", "ORTH", "x"],
        deps=["nsubj", "ROOT", "x", "dep", "amod", "mark"],
        heads=[1, 1, 1, 1, 1, 1],
        morphs=["Case=Nom|Number=Sing", "", "NumType=Card", "", "", ""],
        lemmas=["mark", "noun", "1", "root", "TAG", ""],
        ents=["B-PERSON", "I-PERSON", "O", "B-mark", "O", "O"],
    )
    doc[0]._.clue, doc[1]._.clue, doc[2]._.clue, doc[3]._.clue = 0.5, "TAG", 7, True
    features = Features(FeatureSettings([*texts, "B:TAG[-1]|LOWER"]), "auto")
    columns = features.extractor.read([doc], vocab)
    for index, templates in (
        (features.state, features.extractor.state_templates),
        (features.edge, features.extractor.edge_templates),
    ):
        index.grow(features.extractor.keys(columns, templates), columns, True)
    data = srsly.msgpack_loads(srsly.msgpack_dumps(features.to_data()))
    copy = Features.from_data(data, features.config, "auto")
    assert copy.state.table.keys.tolist() == features.state.table.keys.tolist() and len(copy.state) > 90
    assert copy.edge.table.keys.tolist() == features.edge.table.keys.tolist() and len(copy.edge) == 5
    assert "keys" not in data["state"] and data["state"]["atoms"].dtype == "uint8"


def test_round_trip_of_nothing(vocab):
    assert restored(Indexer(vocab, TEXTS)).index.names() == []


def test_names_use_the_strings_of_the_annotation(vocab):
    """Enumerations have names too, and numbers do not stand for symbols."""
    features = Features(FeatureSettings(["POS", "ENT_IOB", "SPACY", "MORPH", "TAG", "ORTH"]), "auto")
    doc = Doc(vocab, words=["mark"], pos=["NOUN"], ents=["B-PER"], morphs=["Case=Nom"], tags=["case"])
    columns = features.extractor.read([doc], vocab)
    features.state.grow(features.extractor.keys(columns, features.config.parsed), columns, True)
    values = ["POS[0]=NOUN", "ENT_IOB[0]=B", "SPACY[0]=1", "MORPH[0]=Case=Nom", "TAG[0]=case", "ORTH[0]=mark"]
    assert features.state.names() == values


def test_no_templates_of_a_kind(vocab):
    features = Features(FeatureSettings(["ORTH"]), "auto")
    columns = features.extractor.read([Doc(vocab, words=["a", "b"])], vocab)
    keys = features.extractor.keys(columns, features.extractor.edge_templates)
    assert features.edge.grow(keys, columns, True) == 0
    assert features.edge.encode(keys).n_rows == 2
    assert features.edge.names() == []
    assert features.edge.to_data()["atoms"].shape == (0, 0)


def test_empty_list_of_templates():
    with pytest.raises(ValueError, match="CRF310"):
        FeatureSettings([])


def test_config_defaults():
    config = FeatureSettings(["ORTH", "B:TAG"])
    assert (config.min_count, config.min_edge_count, config.lists or {}, config.padding) == (1, 1, {}, True)
    features = Features(FeatureSettings(["ORTH", "B:TAG"], min_count=3, min_edge_count=5), "doc")
    assert (features.state.min_count, features.edge.min_count) == (3, 5)
    assert (len(features.state), len(features.edge)) == (0, 0)


def test_slots_are_the_templates_of_the_features(vocab):
    indexer = Indexer(vocab, TEXTS)
    indexer.grow(["a", "B"])
    spelt = [str(template) for template in indexer.index.templates]
    assert [spelt[slot] for slot in indexer.index.slots] == [name.split("=")[0] for name in indexer.index.names()]

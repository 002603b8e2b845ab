import numpy as np
import pytest
from helpers.string_features import state_and_edge_features
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.extract import FeatureExtractor
from spacy_crf.features.features import Features
from spacy_crf.features.templates import parse_templates

ATTRIBUTES = [
    *("ORTH", "LOWER", "NORM", "SHAPE", "PREFIX1", "SUFFIX2", "LPREFIX3", "LSUFFIX4", "COLLAPSED", "LENGTH"),
    *("HAS_DIGIT", "HAS_HYPHEN", "HAS_UPPER", "DIGITS", "IS_TITLE", "IS_SPACE", "IS_PUNCT", "LIKE_NUM", "IS_STOP"),
    *("TAG", "POS", "LEMMA", "MORPH", "DEP", "ENT_TYPE", "ENT_IOB", "ENT_ID", "ENT_KB_ID", "SPACY"),
    *("BIAS", "BOS", "EOS", "POSITION1", "POSITION3", "_.clue"),
]
# "mark", "NOUN" and "LOWER" are symbols of spaCy; "the" is a stop word
WORDS = ["Mark", "mark", "NOUN", "LOWER[0]", "Tokyo-3", "1984", "the", "ñandú", ",", "\n", " ", "x", "1", "McX", "\t\t"]
clues = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "1"]), st.floats(-4, 4, width=16)
)


@st.composite
def docs(draw, vocab, bounded):
    """A Doc with some annotation, which may lack any; with all sentence boundaries if `bounded`."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=9))
    n = len(words)

    def annotation(*values):
        return draw(st.none() | st.lists(st.sampled_from(values), min_size=n, max_size=n))

    starts = annotation(True, False) if bounded else annotation(True, False, None)
    doc = Doc(
        vocab,
        words=words,
        spaces=annotation(True, False),
        tags=annotation("NN", "mark", "", "Ünï"),
        pos=annotation("NOUN", "X", ""),
        lemmas=annotation("be", "mark", ""),
        morphs=annotation("Number=Sing|Person=3", "Case=Nom", ""),
        ents=annotation("O", "B-PER", "B-LOC"),
        sent_starts=[False] * n if bounded and not starts else starts,
    )
    for token in doc:
        token._.clue = draw(clues)
        token.norm_ = draw(st.sampled_from([token.norm_, "other"]))
        token.dep_ = draw(st.sampled_from(["", "nsubj", "ROOT"]))
        token.ent_id_, token.ent_kb_id_ = draw(st.sampled_from([("", ""), ("Q1", "Q2")]))
    return doc


atoms = st.tuples(st.sampled_from(ATTRIBUTES), st.integers(-3, 3)).map(lambda atom: f"{atom[0]}[{atom[1]}]")
templates = st.tuples(st.sampled_from(["", "", "B:"]), st.lists(atoms, min_size=1, max_size=3)).map(
    lambda template: template[0] + "|".join(template[1])
)


def extracted(index, keys, columns, padding):
    """A dictionary from feature to value for each token, by way of the index."""
    index.grow(keys, columns, padding)
    rows, names = index.encode(keys), index.names()
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    found = [{} for _ in range(rows.n_rows)]
    for unit, number, value in zip(rows.row_numbers().tolist(), rows.indices.tolist(), values.tolist()):
        found[unit][names[number]] = value
    return found


def both(texts, batch, vocab, sequence="auto", padding=True):
    features = Features(FeatureSettings(texts, padding=padding), sequence)
    extractor = features.extractor
    columns = extractor.read(batch, vocab)
    return tuple(
        extracted(index, extractor.keys(columns, chosen), columns, padding)
        for index, chosen in (
            (features.state, extractor.state_templates),
            (features.edge, extractor.edge_templates),
        )
    )


@given(st.data(), st.lists(templates, min_size=1, max_size=6), st.sampled_from(["auto", "doc", "sents"]), st.booleans())
@pytest.mark.usefixtures("clue")
def test_features_are_those_of_the_reference(vocab, data, texts, sequence, padding):
    batch = data.draw(st.lists(docs(vocab, bounded=sequence == "sents"), max_size=4))
    state, edge = both(texts, batch, vocab, sequence, padding)
    expected_state, expected_edge = state_and_edge_features(batch, texts, sequence, padding)
    assert state == [pytest.approx(values) for values in expected_state]
    assert edge == [pytest.approx(values) for values in expected_edge]


@pytest.mark.parametrize("preset", ["tagging", "chunking", "ner"])
@pytest.mark.parametrize("padding", [True, False])
def test_presets_give_the_features_of_the_reference(vocab, preset, padding):
    words = ["Mark", "flew", "to", "St.", "Gallen", "-", "in", "1984", ",", "he", "said", ".", "\n"]
    words += ["Nobody", "knew", "."]
    starts = [word in ("Mark", "Nobody") for word in words]
    batch = [Doc(vocab, words=words, tags=["T" + word[0] for word in words], sent_starts=starts), Doc(vocab)]
    texts = [str(template) for template in parse_templates([f"@{preset}"])]
    state, edge = both(texts, batch, vocab, padding=padding)
    assert (state, edge) == state_and_edge_features(batch, texts, "auto", padding)


def windows(vocab, batch, sequence, padding):
    return [set(features) for features in both(["ORTH[-1]", "ORTH[1]"], batch, vocab, sequence, padding)[0]]


def test_windows_end_where_sentences_end(vocab):
    doc = Doc(vocab, words=["a", "b", "c"], sent_starts=[True, False, True])
    assert windows(vocab, [doc], "auto", False) == [{"ORTH[1]=b"}, {"ORTH[-1]=a"}, set()]
    assert windows(vocab, [doc], "auto", True) == [
        {"ORTH[-1]=BOS-1", "ORTH[1]=b"},
        {"ORTH[-1]=a", "ORTH[1]=EOS+1"},
        {"ORTH[-1]=BOS-1", "ORTH[1]=EOS+1"},
    ]
    assert windows(vocab, [doc], "doc", False) == [{"ORTH[1]=b"}, {"ORTH[-1]=a", "ORTH[1]=c"}, {"ORTH[-1]=b"}]


@pytest.mark.parametrize("sequence", ["auto", "doc"])
def test_windows_end_where_docs_end(vocab, sequence):
    batch = [Doc(vocab, words=["a"]), Doc(vocab), Doc(vocab, words=["b", "c"])]
    assert windows(vocab, batch, sequence, False) == [set(), {"ORTH[1]=c"}, {"ORTH[-1]=b"}]


def test_a_sentence_has_the_same_features_alone_and_in_a_text(vocab):
    words = ["One", "two", "three", "Four", "five"]
    text = Doc(vocab, words=words, sent_starts=[True, False, False, True, False])
    alone = [Doc(vocab, words=words[:3]), Doc(vocab, words=words[3:])]
    texts = ["@ner", "POSITION2", "B:LOWER[-1..1]"]
    assert both(texts, [text], vocab) == both(texts, alone, vocab)


def test_far_offsets_lie_outside(vocab):
    doc = Doc(vocab, words=["a", "b"])
    assert both(["ORTH[-100]", "ORTH[100]"], [doc], vocab)[0] == [
        {"ORTH[-100]=BOS-100": 1.0, "ORTH[100]=EOS+99": 1.0},
        {"ORTH[-100]=BOS-99": 1.0, "ORTH[100]=EOS+100": 1.0},
    ]


def test_edge_templates_say_nothing_where_no_transition_leads(vocab):
    doc = Doc(vocab, words=["a", "b", "c"], sent_starts=[True, False, True])
    assert both(["BIAS", "B:BIAS", "B:ORTH"], [doc], vocab)[1] == [
        {},
        {"B:BIAS[0]=1": 1.0, "B:ORTH[0]=b": 1.0},
        {},
    ]


def test_no_docs(vocab):
    assert both(["@tagging", "B:TAG", "LIKE_URL"], [], vocab) == ([], [])
    assert both(["@tagging", "B:TAG", "LIKE_URL"], [Doc(vocab), Doc(vocab)], vocab) == ([], [])


@pytest.mark.parametrize(
    ("texts", "reads"), [(["LOWER", "BOS"], False), (["LOWER", "B:TAG"], True), (["_.clue"], True), (["NORM"], True)]
)
def test_reads_annotation(texts, reads):
    assert Features(FeatureSettings(texts), "auto").extractor.reads_annotation is reads


def test_unregistered_extension(vocab):
    with pytest.raises(ValueError, match="CRF309") as error:
        both(["LOWER", "LOWER|_.unheard_of[1]"], [Doc(vocab, words=["a"])], vocab)
    assert "LOWER[0]|_.unheard_of[1]" in str(error.value)
    assert "'unheard_of'" in str(error.value)


def test_white_space_that_no_text_has_is_told_of_in_training() -> None:
    settings = FeatureSettings(["LOWER", "SPACY[-1]"])
    vocab = Vocab()
    unknown, known = Doc(vocab, words=["a", "b"]), Doc(vocab, words=["a", "b"], spaces=[True, False])
    for docs, stage, found in (
        ([unknown], "training", ["SPACY"]),
        ([unknown, known], "training", []),
        ([unknown], "use", []),
    ):
        extractor = FeatureExtractor(settings.parsed, settings.empty_resources(), "auto", True)
        assert list(extractor.missing_annotation(docs, stage)) == found

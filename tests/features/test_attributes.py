import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.symbols import NAMES
from spacy.tokens import Doc

from spacy_crf.features.columns import ColumnReader
from spacy_crf.features.hashing import string_hash, string_hashes
from spacy_crf.features.lexemes import WordForms, lexical_hashes, lexical_strings
from spacy_crf.features.resources import Resources
from spacy_crf.features.templates import (
    ANNOTATION,
    COMPUTED,
    LEXEME_FLAGS,
    LEXEME_STRINGS,
    NUMBERED,
    POSITIONAL,
    WORD_FLAGS,
    Attribute,
    parse_attribute,
)

NAMED = [*LEXEME_STRINGS, *LEXEME_FLAGS, *COMPUTED, *ANNOTATION, *POSITIONAL]


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("en").vocab


@pytest.mark.parametrize("name", NAMED)
def test_every_name_is_read_and_spelt_back(name):
    spelling = f"{name}3" if name in NUMBERED else name
    assert parse_attribute(spelling) == Attribute(name, 3 if name in NUMBERED else 0)
    assert str(parse_attribute(spelling)) == spelling


@pytest.mark.parametrize(
    ("spelling", "attribute"),
    [
        ("SUFFIX12", Attribute("SUFFIX", 12)),
        ("LIST(cities)", Attribute("LIST", 0, "cities")),
        ("LIST(brown,4)", Attribute("LIST", 4, "brown")),
        ("LIST( brown , 4 )", Attribute("LIST", 4, "brown")),
        ("NOT(IS_UPPER)", Attribute("NOT", 0, "IS_UPPER")),
        ("TAG(2)", Attribute("TAG", 2)),
        ("ENT_TYPE( 3 )", Attribute("ENT_TYPE", 3)),
        ("_.pause", Attribute("_", 0, "pause")),
        ("_.a_b2", Attribute("_", 0, "a_b2")),
    ],
)
def test_spellings_with_parts(spelling, attribute):
    assert parse_attribute(spelling) == attribute
    assert parse_attribute(str(attribute)) == attribute


@pytest.mark.parametrize(
    ("spelling", "near"),
    [
        ("LOWR", "LOWER"),
        ("lower", "LOWER"),
        ("suffix3", "SUFFIX"),
        ("SUFIX3", "SUFFIX"),
        ("ENT_TYP", "ENT_TYPE"),
        ("IS_DIGITS", "IS_DIGIT"),
        ("LIST(cities", "LIST(name)"),
        ("NOT(LOWER)", "LOWER"),
        ("SPACY(2)", "SPACY"),
        ("TAG(0)", "TAG"),
        ("_.", "_.name"),
        ("", "ORTH"),
    ],
)
def test_misspelt_names_are_told_with_their_neighbours(spelling, near):
    with pytest.raises(ValueError, match="CRF301") as error:
        parse_attribute(spelling)
    assert repr(spelling) in str(error.value)
    assert near in str(error.value).split("Nearest: ")[1]


@pytest.mark.parametrize("spelling", ["SUFFIX", "PREFIX0", "POSITION", "LPREFIX", "LOWER3", "LOWER0", "TAG1", "BOS1"])
def test_missing_and_needless_numbers(spelling):
    with pytest.raises(ValueError, match="CRF302") as error:
        parse_attribute(spelling)
    assert repr(spelling) in str(error.value)


@pytest.mark.parametrize(
    ("spelling", "text", "value"),
    [
        ("ORTH", "Łódź", "Łódź"),
        ("LOWER", "Łódź", "łódź"),
        ("SHAPE", "Apt-12", "Xxx-dd"),
        ("PREFIX2", "Word", "Wo"),
        ("PREFIX4", "Word", "Word"),
        ("PREFIX5", "Word", ""),
        ("SUFFIX3", "Word", "ord"),
        ("LPREFIX1", "Word", "w"),
        ("LSUFFIX2", "WORD", "rd"),
        ("LSUFFIX5", "WORD", ""),
        ("START2", "Word", "Wo"),
        ("START5", "Word", "Word"),
        ("END3", "Word", "ord"),
        ("END5", "Word", "Word"),
        ("LSTART2", "WORD", "wo"),
        ("LSTART3", "ΠΕΣΤΕ", "πεσ"),
        ("LPREFIX3", "ΠΕΣΤΕ", "πεσ"),
        ("LSUFFIX1", "ΟΔΟΣ", "ς"),
        ("LEND1", "ΟΔΟΣ", "ς"),
        ("LEND5", "WORD", "word"),
        ("NOT(IS_UPPER)", "WORD", ""),
        ("NOT(IS_UPPER)", "Word", "1"),
        ("NOT(HAS_DIGIT)", "Word", "1"),
        ("COLLAPSED", "McDonald-1995", "XxXx-d"),
        ("COLLAPSED", "\n\n", "\n"),
        ("COLLAPSED", "Ünï--1٣", "Xx-d"),
        ("LENGTH", "Word", "4"),
        ("HAS_DIGIT", "B2B", "1"),
        ("HAS_DIGIT", "BB", ""),
        ("HAS_HYPHEN", "well-read", "1"),
        ("HAS_HYPHEN", "well", ""),
        ("HAS_UPPER", "iPad", "1"),
        ("HAS_UPPER", "pad", ""),
        ("DIGITS", "1995-96", "0000-00"),
        ("DIGITS", "none", ""),
        ("IS_TITLE", "Word", "1"),
        ("IS_TITLE", "word", ""),
        ("LIKE_URL", "example.com", "1"),
        ("LIKE_NUM", "ten", "1"),
    ],
)
def test_lexical_values(vocab, spelling, text, value):
    attribute = parse_attribute(spelling)
    assert attribute.is_lexical
    assert lexical_strings(attribute, WordForms([vocab[text]])) == [value]
    assert lexical_hashes(attribute, WordForms([vocab[text]])).tolist() == [string_hash(value)]


@pytest.mark.parametrize("name", LEXEME_FLAGS)
def test_flags_are_those_of_the_tokens(vocab, name):
    words = ["Word", "WORD", "word", "12", "(", ")", "$", "'", ",", "the", "\n", "a@b.com", "www.b.com", "ñ"]
    values = lexical_strings(parse_attribute(name), WordForms([vocab[word] for word in words]))
    flags = [getattr(token, name.lower()) for token in Doc(vocab, words=words)]
    assert [value == "1" for value in values] == flags
    assert name == "IS_OOV" or len(set(values)) == 2


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(WORDS, st.integers(1, 5))
def test_slices_and_flags_are_those_of_python(vocab, word, n):
    def value(spelling):
        return lexical_strings(parse_attribute(spelling), WordForms([vocab[word]]))[0]

    assert [value(f"START{n}"), value(f"END{n}")] == [word[:n], word[-n:]]
    assert [value(f"LSTART{n}"), value(f"LEND{n}")] == [word.lower()[:n], word.lower()[-n:]]
    assert value("LOWER") == word.lower()
    flags = {"IS_UPPER": word.isupper(), "IS_TITLE": word.istitle(), "IS_DIGIT": word.isdigit()}
    assert {name: value(name) == "1" for name in flags} == flags
    assert all((value(name) == "1") != (value(f"NOT({name})") == "1") for name in WORD_FLAGS)


def test_first_characters_of_annotation(vocab):
    words = ["She", "was", "seen"]
    doc = Doc(vocab, words=words, tags=["PRP", "VBD", ""], pos=["PRON", "AUX", "VERB"], lemmas=["she", "b", ""])
    spellings = ["TAG(2)", "POS(3)", "LEMMA(2)", "DEP(1)"]
    attributes = [parse_attribute(spelling) for spelling in spellings]
    columns = ColumnReader(attributes, Resources({}), "auto").read([doc], vocab).by_attribute
    found = [columns[attribute].hashes.tolist() for attribute in attributes]
    values = [["PR", "VB", ""], ["PRO", "AUX", "VER"], ["sh", "b", ""], ["", "", ""]]
    assert found == [list(map(string_hash, row)) for row in values]


def test_kinds_of_attributes():
    lexical = {name for name in NAMED if Attribute(name).is_lexical}
    annotation = {name for name in [*NAMED, "_", "LIST"] if Attribute(name).is_annotation}
    assert lexical == {*LEXEME_STRINGS, *LEXEME_FLAGS, *COMPUTED}
    assert annotation == {*ANNOTATION, "_"}


@given(st.one_of(st.text(min_size=1), st.sampled_from(NAMES[1:])))
def test_hashes_are_the_ids_of_the_string_store(text):
    """Also for symbols, among them common words such as "mark" and "case"."""
    store = spacy.strings.StringStore()
    assert string_hash(text) == store.add(text)
    assert string_hashes(["", text, text]).tolist() == [0, string_hash(text), string_hash(text)]

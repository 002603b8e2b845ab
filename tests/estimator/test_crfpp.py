"""CRF++ template files become templates that see the same."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_crf.estimator.pipe import read_crfpp_templates
from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.features import Features

CHUNKING = """# Unigram
U00:%x[-2,0]
U01:%x[0,0]
U05:%x[-1,0]/%x[0,0]

U10:%x[-2,1]
U20:pre%x[-2,1]/mid/%x[-1, 1]/%x[+1,1]
U30:

# Bigram
B
B01:%x[0,1]
B02:%x[-1,1]/%x[0,1]
"""


def write(tmp_path, text):
    path = tmp_path / "template"
    path.write_text(text, encoding="utf8")
    return path


def test_templates(tmp_path):
    assert read_crfpp_templates(write(tmp_path, CHUNKING), ["ORTH", "TAG"]) == [
        "ORTH[-2]",
        "ORTH[0]",
        "ORTH[-1]|ORTH[0]",
        "TAG[-2]",
        "TAG[-2]|TAG[-1]|TAG[1]",
        "BIAS",
        "B:TAG[0]",
        "B:TAG[-1]|TAG[0]",
    ]


def test_columns_by_number_and_any_attribute(tmp_path):
    path = write(tmp_path, "U1:%x[0,2]/%x[1,0]\n")
    assert read_crfpp_templates(path, {0: "LOWER", 2: "_.case"}) == ["_.case[0]|LOWER[1]"]


def test_the_component_accepts_them(tmp_path):
    texts = read_crfpp_templates(write(tmp_path, CHUNKING), ["ORTH", "TAG"])
    features = Features(FeatureSettings(texts), "auto")
    assert [str(template) for template in features.config.parsed] == [
        "BIAS[0]" if text == "BIAS" else text for text in texts
    ]
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["He", "reckons", "so"], tags=["PRP", "VBZ", "RB"])
    extractor = features.extractor
    columns = extractor.read([doc], vocab)
    features.state.grow(extractor.keys(columns, extractor.state_templates), columns, True)
    names = features.state.names()
    # CRF++ has _B-2 for the word two before the first; its template 5 is "_B-1/He" there
    assert {"ORTH[-2]=BOS-2", "ORTH[-2]=He", "ORTH[-1]|ORTH[0]=BOS-1|He", "TAG[-2]|TAG[-1]|TAG[1]=BOS-1|PRP|RB"} <= set(
        names
    )


def test_equal_templates_count_once_and_comments_not(tmp_path):
    assert read_crfpp_templates(write(tmp_path, "U1:%x[0,0]\r\n #U2:%x[1,0]\nU3:w=%x[0,0]"), ["ORTH"]) == ["ORTH[0]"]
    assert read_crfpp_templates(write(tmp_path, ""), ["ORTH"]) == []


def test_values_stand_anywhere_in_a_line(tmp_path):
    """CRF++ puts values in the place of macros in the whole line; a colon means nothing to it."""
    path = write(tmp_path, "U%x[0,0]:%x[1,0]\nU1%x[-1,0]/a:b\nU2:%x[0,0]:%x[0,1]\nB%x[0,1]:\n")
    assert read_crfpp_templates(path, ["ORTH", "TAG"]) == ["ORTH[0]|ORTH[1]", "ORTH[-1]", "ORTH[0]|TAG[0]", "B:TAG[0]"]


def test_templates_that_their_values_alone_tell_apart(tmp_path):
    with pytest.raises(ValueError, match="CRF731.*line 2.*share"):
        read_crfpp_templates(write(tmp_path, "Uw=%x[0,0]\nUw=%x[1,0]\n"), ["ORTH"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("U01:%x[0,7]", ["column 7"]),
        ("U01:%t[0,0,'x']", ["macro"]),
        ("U01:%x[0]", ["macro"]),
        ("U01:%x[0,0]/%", ["macro"]),
        ("*01:%x[0,0]", ["neither"]),
        ("u01:%x[0,0]", ["neither"]),
        ("U01:%x[-101,0]", ["100"]),
        ("U00:%x[-1,0]", ["U00", "before"]),
    ],
)
def test_lines_without_counterpart_are_named(tmp_path, line, words):
    path = write(tmp_path, f"# words\nU00:%x[0,0]\n{line}\n")
    with pytest.raises(ValueError, match="CRF731") as error:
        read_crfpp_templates(path, ["ORTH", "TAG"])
    assert all(word in str(error.value) for word in ["line 3", str(path), line, *words])


def test_unknown_attributes(tmp_path):
    with pytest.raises(ValueError, match="CRF301"):
        read_crfpp_templates(write(tmp_path, "U0:%x[0,0]"), ["WORD"])


def test_a_byte_order_mark_is_no_part_of_a_template(tmp_path: Path) -> None:
    (tmp_path / "template").write_bytes(b"\xef\xbb\xbfU00:%x[0,0]\r\nB\r\n")
    assert read_crfpp_templates(tmp_path / "template", ["ORTH"]) == ["ORTH[0]"]

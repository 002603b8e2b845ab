import gzip
from pathlib import Path

import pytest
from helpers.fixtures import Write
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.block import CoraSettings, HistoricalText
from spacy_crf.corpora.cora import read_cora
from spacy_crf.corpora.docs import DocMaker
from spacy_crf.corpora.historical import apply_text
from spacy_crf.corpora.sentence import Sentence, group_sentences
from spacy_crf.corpora.tagsets import parse_tags, read_cells, resolve_gold_tags

# Two words written together, a heading, a word without annotation, and borders that end no segment.
TEXT = """\
<?xml version="1.0" encoding="UTF-8"?>
<text id="t">
  <header>of no interest: <![CDATA[<anno>]]></header>
  <comment type="K" tag="outside"/>
  <token id="t1" trans="Boek">
    <dipl utf="Boek"/>
    <anno utf="Boek"><pos tag="NA"/><morph tag="N.Nom-Akk.Sg"/><lemma tag="bôk"/><bound_head tag="Ueberschrift"/></anno>
  </token>
  <token id="t2" trans="byder">
    <dipl utf="byder"/>
    <anno utf="by"><pos tag="APPR"/><morph tag="_"/><lemma tag="bî"/></anno>
    <anno utf="der"><pos tag="DDARTA"/><morph tag="Fem.*.Sg"/><lemma tag="dê"/><bound_sent tag="Wort"/></anno>
  </token>
  <token id="t3">
    <anno utf="vn&#x303;"><pos tag="KO*"/><morph tag="--"/><lemma tag="--"/></anno>
  </token>
  <token id="t4">
    <anno utf="lop"><pos tag="--"/><bound_sent tag="Satz"/></anno>
  </token>
  <token id="t5">
    <anno utf=" twe "><pos tag="ADJN"/><morph tag="Pos"/></anno>
  </token>
</text>
"""


def cells(sentences: list[Sentence]) -> list[list[str]]:
    return [sentence.columns["ext:gold_tags"] for sentence in sentences]


def read(nlp: Language, path: Path, settings: CoraSettings | None = None) -> list[Doc]:
    docs = [DocMaker(nlp.vocab)(group) for group in group_sentences(read_cora(path, settings), "auto")]
    for doc in docs:
        resolve_gold_tags(doc)
    return docs


def test_suggestions_are_no_gold(write: Write) -> None:
    suggested = '<suggestions><pos tag="NE" score="0.9"/><lemma tag="x"/></suggestions>'
    own = '<pos tag="NA"/><lemma tag="bôk"/>'
    words = (f"{own}{suggested}", f"{suggested}{own}", suggested, own)
    mods = "".join(f'<token><mod utf="Boek">{word}</mod></token>' for word in words)
    (sentence,) = read_cora(write("a.xml", f"<text>{mods}</text>"))
    assert cells([sentence]) == [["NA", "NA", "", "NA"]]
    assert sentence.columns["lemma"] == ["bôk", "bôk", "", "bôk"]


def test_what_nobody_has_checked_is_no_gold(nlp: Language, write: Write) -> None:
    words = ("y", "n", "y"), ("Boek", "is", "got"), ("NA", "VAFIN", "ADJD")
    tokens = (
        f'<token><mod utf="{form}" checked="{checked}">'
        f'<pos tag="{tag}"/><lemma tag="x"/><bound_sent tag="Satz"/></mod></token>'
        for checked, form, tag in zip(*words)
    )
    path = write("a.xml", f"<text>{''.join(tokens)}</text>")
    with pytest.warns(CRFWarning, match="CRFW566.*1 of 3 words"):
        sentences = list(read_cora(path))
    assert cells(sentences) == [["NA"], [""], ["ADJD"]], "and the border stays"
    assert [sentence.columns["lemma"] for sentence in sentences] == [["x"], [""], ["x"]]
    (other, _, _) = apply_text(sentences[1:2] * 3, HistoricalText(untagged="OA"))
    assert cells([other]) == [[""]], "it is unknown, not without a tag"
    assert cells(list(read_cora(path, CoraSettings(with_unchecked=True)))) == [["NA"], ["VAFIN"], ["ADJD"]]


def test_words_segments_and_tags(write: Write) -> None:
    sentences = list(read_cora(write("a.xml", TEXT)))
    assert [sentence.words for sentence in sentences] == [["Boek"], ["by", "der", "vn\u0303", "lop"], ["twe"]]
    assert cells(sentences) == [["NA"], ["APPR", "DDARTA", "KON|KOUS", ""], ["ADJN"]]
    assert [sentence.columns["tag"] for sentence in sentences] == [["NA"], ["APPR", "DDARTA", "KON", ""], ["ADJN"]]
    assert sentences[1].columns["lemma"] == ["bî", "dê", "", ""]
    assert sentences[1].columns["ext:cora_morph"] == ["_", "Fem.*.Sg", "", ""]
    assert [sentence.starts_document for sentence in sentences] == [True, False, False]


def test_a_file_is_one_doc_with_the_words_as_they_are_written(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.xml", TEXT))
    assert doc.text == "Boek byder vn\u0303 lop twe "
    assert [sent.start for sent in doc.sents] == [0, 1, 5]
    assert read_cells(doc)[3] == doc[3]._.gold_tags == {"KON": 0.5, "KOUS": 0.5}
    assert doc[1].lemma_ == "bî"
    assert doc[0]._.cora_morph == "N.Nom-Akk.Sg"
    assert doc[4].tag_ == ""


def test_tags_with_case(write: Write) -> None:
    sentences = list(read_cora(write("a.xml", TEXT), CoraSettings(with_case=True)))
    any_case = "|".join(f"DDARTA.{case}" for case in ("Nom", "Gen", "Dat", "Akk"))
    # ADJN has its case in the third field of the morphology, and this one has only one field.
    assert cells(sentences) == [["NA.Nom|NA.Akk"], ["APPR._", any_case, "KON|KOUS", ""], ["ADJN"]]


def test_fields_of_the_case_by_the_longest_beginning_of_the_tag(write: Write) -> None:
    settings = CoraSettings(with_case=True, case_fields={"N": 1, "NA": 0, "AP": 3})
    first, second, _ = read_cora(write("a.xml", TEXT), settings)
    assert cells([first, second]) == [["NA.N"], ["APPR", "DDARTA", "KON|KOUS", ""]]


@pytest.mark.parametrize(
    "alternative, with_case, expected",
    [
        ("NX|NY", False, {"NX": 1 / 2, "NY": 1 / 2}),
        ("NX|Y", True, {"NX.Nom": 1 / 4, "NX.Akk": 1 / 4, "Y": 1 / 2}),
        ("NX:0.75|Y:0.25", True, {"NX.Nom": 3 / 8, "NX.Akk": 3 / 8, "Y": 1 / 4}),
        ("NX:1|Y:1", True, {"NX.Nom": 1, "NX.Akk": 1, "Y": 1}),
    ],
)
def test_alternatives_share_their_weight_among_cases(
    write: Write, alternative: str, with_case: bool, expected: dict[str, float]
) -> None:
    settings = CoraSettings(with_case=with_case, alternatives={"NA": alternative})
    first, *_ = read_cora(write("a.xml", TEXT), settings)
    assert parse_tags(cells([first])[0][0]) == pytest.approx(expected)


def test_settings(write: Write) -> None:
    settings = CoraSettings(tag="lemma", lemma="pos", morph="bound_sent", borders={"bound_sent": [], "morph": ["_"]})
    sentences = list(read_cora(write("a.xml", TEXT), settings))
    assert [sentence.words for sentence in sentences] == [["Boek", "by"], ["der"], ["vn\u0303", "lop"], ["twe"]]
    assert [sentence.columns["ext:gold_tags"] for sentence in sentences] == [
        ["bôk", "bî"],
        ["dê"],
        ["", ""],
        [""],
    ]
    assert sentences[2].columns["lemma"] == ["KO*", ""]
    assert sentences[1].columns["ext:cora_bound_sent"] == ["Wort"]


def test_an_element_without_a_tag_ends_no_segment(write: Write) -> None:
    path = write("a.xml", TEXT.replace("</anno>", '<edge tag=""/></anno>'))
    borders = (
        CoraSettings(borders={"edge": []}),
        CoraSettings(borders={"morph": []}),
        CoraSettings(borders={"edge": [""]}),
    )
    assert [len(list(read_cora(path, settings))) for settings in borders] == [1, 4, 6]


@pytest.mark.parametrize("element", ["tok_anno", "mod"])
def test_other_names_of_words(write: Write, element: str) -> None:
    path = write("a.xml", TEXT.replace("<anno", f"<{element}").replace("</anno", f"</{element}"))
    assert next(read_cora(path)).words == ["Boek"]


def test_encodings_and_compression(write: Write) -> None:
    latin = TEXT.replace("UTF-8", "ISO-8859-1").encode("latin-1")
    for path in (
        write("a.xml", latin),
        write("b.xml.gz", gzip.compress(TEXT.encode())),
        write("c.xml", "\ufeff" + TEXT),
    ):
        assert next(read_cora(path)).columns["lemma"] == ["bôk"]


BOMB = '<!DOCTYPE text [<!ENTITY a "xxxx"><!ENTITY b "&a;&a;&a;">]>\n<text><token><anno utf="&b;"/></token></text>\n'


@pytest.mark.parametrize(
    "content, message",
    [
        (TEXT[: len(TEXT) // 2], r"CRF533.*a\.xml, line 1[0-9]:"),
        (TEXT.replace("</dipl>", "").replace("<dipl utf=", "<dipl utf"), r"CRF533.*a\.xml, line 6: .*not well-formed"),
        (TEXT.replace('<pos tag="NA"/>', '<pos tag="NA">'), r"CRF533.*line 7: .*mismatched tag"),
        (TEXT.replace("by", "&unknown;", 1), r"CRF533.*line 9: .*entity"),
        ("", r"CRF533.*no element found"),
        (BOMB, r"CRF534.*a\.xml, line 1:"),
        ('\n<!DOCTYPE text SYSTEM "text.dtd" [<!ENTITY a "x">]>\n<text/>', r"CRF534.*line 2"),
        ('<!DOCTYPE text SYSTEM "text.dtd">\n<text>\n<token trans="&slong;"/></text>', r"CRF533.*line 3: .*entity"),
        (TEXT.replace(' utf="by"', ""), r"CRF535.*a\.xml, line 11: .*<anno>"),
        (TEXT.replace(' utf="by"', ' utf=" "'), r"CRF535.*line 11"),
        (TEXT.replace("<pos", "<xpos"), r"CRF536.*<pos>.*bound_head, bound_sent, lemma, morph, xpos"),
        ('<text><token><anno utf="a"/></token></text>', r"CRF536.*has: none"),
        ("<text><token/></text>", r"CRF537.*a\.xml"),
        (TEXT.replace('"APPR"', '"A|"'), r"CRF531.*'A\|'"),
    ],
)
def test_malformed_files(write: Write, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(read_cora(write("a.xml", content)))


def test_bad_alternative_names_the_token(write: Write) -> None:
    with pytest.raises(ValueError, match=r"CRF530.*a\.xml, line 15, token 'vn"):
        list(read_cora(write("a.xml", TEXT), CoraSettings(alternatives={"KO*": "KON|KON"})))

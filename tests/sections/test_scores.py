"""Scores of elements and trees, worked out by hand."""

from collections import Counter
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.sections.layout import attach_layout
from spacy_crf.sections.reader import SectionCorpus
from spacy_crf.sections.scorer import score_elements, section_score
from spacy_crf.sections.spans import Elements, drop_sections, gold_tree, write_elements, write_sections
from spacy_crf.sections.tree import SectionNode, SectionTree

NLP = spacy.blank("en")
TEXT = "A\n\nB\nC\nD"  # units A, a blank line, B, C, D
UNITS = [(0, 1), (2, 3), (3, 4), (5, 6), (7, 8)]


def make_doc(labels: str, *sections: tuple[int, int, bool]) -> Doc:
    doc = NLP.make_doc(TEXT)
    names = {"t": "SECTION_TITLE", "x": "TEXT_BLOCK", "b": "NEWLINE"}
    write_elements(doc, "elements", Elements.of([(*u, names[c]) for u, c in zip(UNITS, labels)]), {})
    tree, opened = SectionTree(), list[SectionNode]()
    for a, b, virtual in sections:
        start, end = UNITS[a][0], UNITS[b - 1][1]
        opened = [node for node in opened if end <= node.end_char]
        siblings = opened[-1].children if opened else tree.sections
        siblings.append(SectionNode(start, end, len(opened) + 1, virtual=virtual))
        opened.append(siblings[-1])
    write_sections(doc, "sections", tree)
    return doc


def test_scores() -> None:
    predicted = make_doc("tbxtx", (0, 3, False), (3, 5, False))
    gold = make_doc("tbtxx", (0, 2, False), (2, 5, False))
    scores = section_score([Example(predicted, gold)])
    assert scores["elements_acc"] == pytest.approx(2 / 4)
    title = scores["elements_f_per_type"]["SECTION_TITLE"]
    assert title == {"p": 0.5, "r": 0.5, "f": 0.5, "f05": 0.5}
    assert scores["elements_macro_f"] == pytest.approx((0.5 + 0.5) / 2)
    assert scores["parseval_f"] == 0.0


def test_blank_lines_do_not_matter_to_trees() -> None:
    predicted = make_doc("tbxxx", (0, 2, False), (2, 5, False))
    gold = make_doc("tbxxx", (0, 1, False), (2, 5, False))
    assert section_score([Example(predicted, gold)])["parseval_f"] == 1.0


def test_virtual_sections_count_only_where_gold_has_some() -> None:
    predicted = make_doc("tbxxx", (0, 2, False), (2, 5, True))
    plain, virtual = make_doc("tbxxx", (0, 2, False)), make_doc("tbxxx", (0, 2, False), (2, 5, True))
    assert section_score([Example(predicted, plain)])["parseval_p"] == 1.0
    assert section_score([Example(predicted, virtual)])["parseval_r"] == 1.0
    without = make_doc("tbxxx", (0, 2, False))
    assert section_score([Example(without, virtual)])["parseval_r"] == 0.5


def test_empty_against_empty_is_right_and_missing_gold_is_no_gold() -> None:
    assert section_score([Example(make_doc("xbxxx"), make_doc("xbxxx"))])["parseval_f"] == 1.0
    assert section_score([Example(NLP.make_doc(TEXT), NLP.make_doc(TEXT))]) == {}
    alone = section_score([Example(NLP.make_doc(TEXT), make_doc("tbxxx"))])
    assert alone["elements_acc"] == 0.0 and alone["parseval_f"] == 1.0


def test_f_half_prefers_precision() -> None:
    counts = Counter({("T", "T"): 1, ("T", "X"): 3, ("X", "X"): 6})
    title = score_elements(counts, "B")["elements_f_per_type"]["T"]
    assert (title["p"], title["r"], title["f"]) == pytest.approx((1.0, 0.25, 0.4))
    assert title["f05"] == pytest.approx(1.25 * 0.25 / (0.25 + 0.25))


def test_all_confusions_and_averages_of_precision_and_recall() -> None:
    counts = Counter({("T", "T"): 1, ("T", "X"): 3, ("X", "X"): 6, ("B", "B"): 2, ("X", ""): 1})
    scores = score_elements(counts, "B")
    assert scores["elements_confusions"] == {
        "B": {"": 0, "B": 2, "T": 0, "X": 0},
        "T": {"": 0, "B": 0, "T": 1, "X": 3},
        "X": {"": 1, "B": 0, "T": 0, "X": 6},
    }
    assert scores["elements_macro_p"] == pytest.approx((1 + 6 / 9) / 2)
    assert scores["elements_macro_r"] == pytest.approx((1 / 4 + 6 / 7) / 2)
    assert scores["elements_weighted_p"] == pytest.approx((4 * 1 + 7 * 6 / 9) / 11)
    assert scores["elements_weighted_r"] == pytest.approx(7 / 11)
    assert scores["elements_weighted_f"] == pytest.approx((4 * 2 / 5 + 7 * 12 / 16) / 11)


def test_trees_by_levels_crossing_edits_and_documents() -> None:
    perfect = Example(make_doc("tbtxx", (0, 2, False), (2, 5, False)), make_doc("tbtxx", (0, 2, False), (2, 5, False)))
    predicted, gold = make_doc("tbtxx", (0, 4, False)), make_doc("tbtxx", (0, 2, False), (2, 5, False))
    scores = section_score([perfect, Example(predicted, gold)])
    assert scores["parseval_f"] == pytest.approx(2 * 2 / 7)
    assert scores["parseval_mean_f"] == pytest.approx(0.5)
    assert scores["parseval_crossing"] == pytest.approx(1 / 3)
    assert scores["sections_level_acc"] == 1.0  # of the headings that both have
    assert scores["sections_steds"] == pytest.approx((1 + 2 / 3) / 2)  # two of three nodes, the document among them


def test_a_section_on_another_level() -> None:
    flat, nested = ((0, 2, False), (2, 5, False)), ((0, 5, False), (2, 5, False))
    scores = section_score([Example(make_doc("tbtxx", *flat), make_doc("tbtxx", *nested))])
    assert scores["sections_level_acc"] == 0.5


def test_trees_that_are_too_large_for_edits_are_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy_crf.sections.scorer.MOST_NODES", 2)
    doc = make_doc("tbtxx", (0, 2, False), (2, 5, False))
    with pytest.warns(UserWarning, match="CRFW967"):
        scores = section_score([Example(doc, doc)])
    assert "sections_steds" not in scores and scores["parseval_f"] == 1.0


def test_certified_trees_need_no_gold() -> None:
    blank = NLP.make_doc(TEXT)
    sure, unsure = make_doc("tbtxx", (0, 5, False)), make_doc("tbtxx")
    write_sections(unsure, "sections", SectionTree(exact=False))
    examples = [Example(sure, blank), Example(unsure, unsure), Example(sure, sure), Example(blank, blank)]
    assert section_score(examples)["sections_certified"] == pytest.approx(2 / 3)


def test_a_wrong_blank_line_counts() -> None:
    scores = section_score([Example(make_doc("bbxxb"), make_doc("xbxxx"))])
    assert scores["elements_acc"] == 2 / 4


def test_formatting_that_is_in_gold_alone_is_told() -> None:
    gold = make_doc("tbxxx")
    attach_layout(gold, [(0, 1, "bold")])
    with pytest.warns(CRFWarning, match=r"CRFW970.*1 of 2 documents"):
        section_score([Example(make_doc("tbxxx"), gold), Example(gold.copy(), gold)])
    attach_layout(gold, [])
    section_score([Example(make_doc("tbxxx"), gold)])


def test_sections_count_as_their_spans_are(folder: Path, nlp: Language, tmp_path: Path) -> None:
    gold = [example.reference for example in SectionCorpus(folder)(nlp)]
    for doc in gold:
        assert [node.level for node in gold_tree(doc).walk()] == [1, 2, 2, 1]
        written, bare = gold_tree(doc), doc.copy()
        drop_sections(bare, "sections")
        assert gold_tree(bare) is None
        bare.spans["sections"] = [Span(bare, span.start, span.end) for span in reversed(doc.spans["sections"])]
        found = gold_tree(bare)  # gold of another tool
        for one, other in zip(written.walk(), found.walk(), strict=True):
            assert (one.start_char, one.end_char, one.level) == (other.start_char, other.end_char, other.level)
            assert (one.heading, one.virtual) == (other.heading, other.virtual)
        doc.spans["sections"] = [span for number, span in enumerate(doc.spans["sections"]) if number != 1]  # corrected
        assert [node.level for node in gold_tree(doc).walk()] == [1, 2, 1]
    DocBin(docs=gold).to_disk(tmp_path / "gold.spacy")
    examples = list(SectionCorpus(tmp_path / "gold.spacy")(nlp))
    right = [one.reference for one in SectionCorpus(folder)(nlp)]
    scores = section_score([Example(own, one.reference) for own, one in zip(right, examples)])
    assert scores["parseval_r"] == 1 and scores["parseval_p"] == 3 / 4


def test_sections_that_cross_are_told() -> None:
    doc = make_doc("tbtxx")
    doc.spans["sections"] = [doc[0:4], doc[2:5]]
    with pytest.raises(CRFError, match="CRF980"):
        section_score([Example(make_doc("tbtxx"), doc)])

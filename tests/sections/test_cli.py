"""`crf sections`: a document in, its section tree out."""

import json
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke, run

from spacy_crf.core.errors import CRFWarning
from spacy_crf.sections.formats.annotated import read_annotated
from spacy_crf.sections.layout import to_doc
from spacy_crf.sections.reader import read_layout
from spacy_crf.sections.tree import from_json

TEXT = """REPORT ON THE BRIDGE

1. Introduction
The bridge was built in 1911.

2. Findings
2.1 The deck
The deck is sound.
2.2 The piers
Two piers have cracks.

3. Conclusion
Repair the piers.
"""
HEADINGS = [(1, "1."), (1, "2."), (2, "2.1"), (2, "2.2"), (1, "3.")]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "report.txt").write_text(TEXT, encoding="utf8")
    return tmp_path / "report.txt"


def find(*arguments):
    result = invoke("sections", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def headings(tree):
    return [(node.level, node.number) for node in tree.walk()]


def test_rules_need_no_model(path):
    assert headings(from_json(json.loads(find(path, "--to", "json")))) == HEADINGS


def test_formats(path, tmp_path):
    assert find(path) == "1. Introduction\n2. Findings\n  2.1 The deck\n  2.2 The piers\n3. Conclusion\n"
    in_brackets = find(path, "--to", "brackets")
    assert "  (SECTION\n    (NR 1.)\n    (SECTION_TITLE Introduction)\n    (TEXT_BLOCK The bridge" in in_brackets
    assert "\n# 1. Introduction\n\nThe bridge" in find(path, "--to", "md")
    page = find(path, "--to", "html")
    assert page.startswith("<!DOCTYPE html>") and page.count("<section") == 5
    assert json.loads(find(path, "--to", "docling"))["schema_name"] == "DoclingDocument"
    assert "<title><nr>1.</nr> Introduction</title>" in find(path, "--to", "rechtspraak")


def test_annotated_xml_is_gold_of_the_same_text(path, tmp_path):
    output = tmp_path / "new" / "report.xml"
    assert "Wrote 5 sections" in find(path, "--to", "xml", "--output", output)
    gold = read_annotated(output)
    assert gold.layout.text == TEXT and gold.layout.units == read_layout(path).units
    assert headings(gold.tree) == HEADINGS


def test_titles_of_annotated_xml_have_no_space_more_than_the_text(tmp_path):
    path, output = tmp_path / "quoted.md", tmp_path / "quoted.xml"
    path.write_text("# 1. “Night” boats\n\nThey sail.\n\n# “Day” boats\n\nThey rest.\n", encoding="utf8")
    find(path, "--to", "xml", "--output", output)
    titles = [node.title for node in from_json(json.loads(find(path, "--to", "json"))).walk()]
    assert [node.title for node in read_annotated(output).tree.walk()] == titles == ["“Night” boats", "“Day” boats"]


def test_a_page_shows_all_digits_of_sections_without_titles(tmp_path):
    path = tmp_path / "fleet.txt"
    path.write_text(
        "\n\n".join(f"{n} {n}0 ferries sail each day, and all come back." for n in (1, 2, 3)), encoding="utf8"
    )
    page = find(path, "--to", "html")
    assert all(f'<span class="name opening">{number}0 ferries sail' in page for number in (1, 2, 3))


def test_a_model(path, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", name="outline")
    nlp.to_disk(tmp_path / "model")
    assert find(path, "--model", tmp_path / "model", "--component", "outline") == find(path)
    spacy.blank("en").to_disk(tmp_path / "other")
    result = invoke("sections", path, "--model", tmp_path / "other")
    assert result.exit_code == 1 and "CRF602" in result.output and "section_parser" in result.output


@pytest.mark.parametrize(
    "name, content, code", [("a.xml", b"<a>", "CRF533"), ("a.txt", b"\0", "CRF954"), ("a.txt", None, "a.txt")]
)
def test_bad_files_are_named(tmp_path, name, content, code):
    path = Path(tmp_path / name)
    if content is not None:
        path.write_bytes(content)
    result = invoke("sections", path)
    assert result.exit_code == 1 and code in result.output and not result.stdout


def test_evaluate_shows_trees_and_all_confusions(tmp_path: Path) -> None:
    nlp = spacy.blank("nl")
    nlp.add_pipe("section_parser")
    nlp.to_disk(tmp_path / "model")
    gold = Path(__file__).parents[2] / "corpus" / "section_parser" / "dev" / "judgment_timmerman.xml"
    output = run("evaluate", tmp_path / "model", gold)
    for name in ("parseval_mean_f", "parseval_crossing", "sections_steds", "sections_level_acc", "elements_weighted_p"):
        assert name in output
    lines = output.split("Gold label by row, predicted label by column\n")[1].splitlines()
    assert ["gold", "NEWLINE", "NR", "SECTION_TITLE", "TEXT_BLOCK"] in [line.split() for line in lines]
    assert any(line.startswith("NEWLINE ") for line in lines)


def test_the_component_that_was_named_is_asked(path, tmp_path):
    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser", name="first")
    nlp.add_pipe("sentencizer")
    with pytest.warns(CRFWarning, match="CRFW406"):
        nlp.add_pipe("section_parser", name="second", config={"label_weight": 0.05, "sections_key": "others"})
        nlp.to_disk(tmp_path / "model")
        found = [
            find(path, "--model", tmp_path / "model", "--to", "json", *which)
            for which in ((), ("--component", "first"), ("--component", "second"))
        ]
    trees = [nlp(TEXT)._.section_tree]
    nlp.remove_pipe("second")
    trees.insert(0, nlp(TEXT)._.section_tree)
    own = [[node.probability for node in tree.walk()] for tree in trees]
    assert own[0] != own[1]
    assert [[node.probability for node in from_json(json.loads(each)).walk()] for each in found] == [own[0], *own]


@pytest.mark.filterwarnings("ignore:.*CRFW101")  # it knows them all
def test_a_section_parser_is_calibrated(trained, folder, tmp_path):
    trained.to_disk(tmp_path / "model")
    output = run("calibrate", tmp_path / "model", folder, "--output", tmp_path / "calibrated")
    temperature = spacy.load(tmp_path / "calibrated").get_pipe("section_parser").cfg["temperature"]
    assert f"temperature 1 -> {temperature:.4g}" in output


HEADED = [[1, "Chapter 1"], [2, "1.1 Scope"], [2, "Z"], [3, "`code` and (a) more"], [3, "- dash"], [1, "Chapter 2 End"]]


@pytest.mark.parametrize("to, suffix", [("xml", "xml"), ("md", "md"), ("docling", "json")])
def test_headings_that_mark_up_names_stay_headings(tmp_path, to, suffix):
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": "trust"})
    nlp.to_disk(tmp_path / "model")
    blocks = [block for level, text in HEADED for block in (["heading", level, text], ["text", 0, "A text."])]
    path, written = tmp_path / "a.json", tmp_path / f"b.{suffix}"
    path.write_text(json.dumps({"blocks": blocks}), encoding="utf8")
    find(path, "--model", tmp_path / "model", "--to", to, "--output", written)
    trees = [nlp(to_doc(nlp.vocab, read_layout(file)))._.section_tree for file in (path, written)]
    found, again = ([(node.level, f"{node.number} {node.title}".strip()) for node in tree.walk()] for tree in trees)
    assert found == [(level, text) for level, text in HEADED]
    assert again == found

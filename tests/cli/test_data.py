"""Formats of all components: told from files, scored with their components, converted and read back."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from contract.models import MODELS
from contract.snapshots import DATA
from helpers.commands import run
from helpers.folders import unpack_model
from helpers.paths import ROOT
from spacy.language import Language
from spacy.training import Example

from spacy_crf.cli.data import Data
from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.corpora.reader import Corpus
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.sections.reader import SectionCorpus

CORPUS = ROOT / "corpus"
CUES = (
    "1\n00:00:01,000 --> 00:00:02,000\nWell, who's there?\n\n2\n00:00:03,500 --> 00:00:05,000\nIt's Ada, Mr. Finch.\n"
)
FILES = {
    "a.srt": CUES,
    "b.md": "Who is it? It is Ada.\n",
    "c.jsonl": '{"text": "Who is it? It is Ada."}\n',
    "d.txt": "\ufeff“Who,” she said, “is it?” It is Ada – of (old) Port Wick…\n",
    "e.tsv": "who\tO\nis\tO\nit\t?\nit\tO\nis\tO\nada\tPERIOD\n",
}


@pytest.fixture(scope="module", params=sorted(MODELS))
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    unpack_model(request.param, folder)
    return request.param, folder


def test_every_component_is_scored_with_its_scorer(saved: tuple[str, Path]) -> None:
    name, folder = saved
    gold: dict[str, Any] = MODELS[name].gold
    options = ("--format", gold["format"]) if "format" in gold else ()
    output = run("evaluate", folder, DATA / "gold" / gold["path"], *options)
    shown = dict(re.findall(r"^(\w+) +([\d.]+) *$", output.split("\n\n\n")[0], re.M))
    expected = json.loads((DATA / "scores" / f"{name}.json").read_text(encoding="utf8"))
    scored = shown.keys() & set(expected["names"])
    assert scored
    for key, value in ((key, shown[key]) for key in scored if "window" not in gold):  # which is no option
        factor = 1 if key in ("set_size", "violations", "violations_before") else 100
        assert float(value) == pytest.approx(factor * expected["scores"].get(key, 0.0), abs=0.15)


@pytest.mark.parametrize(
    "path, format, reader",
    [
        ("section_parser/dev", None, SectionCorpus),
        ("section_parser/dev/judgment_timmerman.xml", None, SectionCorpus),
        ("crf_tagger/dev.conllu", None, Corpus),
        ("constrained_ner/dev", None, Corpus),
        ("punctuation_restorer/dev/chat_garden.txt", "text", PunctuationCorpus),
    ],
)
def test_the_reader_of_a_corpus(path: str, format: str | None, reader: type) -> None:
    assert type(Data(CORPUS / path, format).reader(spacy.blank("en"))) is reader


def test_the_surest_file_of_a_folder_tells(tmp_path: Path) -> None:
    for name, content, reader in (
        (".hidden.conllu", "", Corpus),
        ("a.json", "{}", SectionCorpus),
        ("b.srt", CUES, PunctuationCorpus),
        ("c.xml", "<document/>", SectionCorpus),
        ("d.conllu", "1\tShe\n", Corpus),
        ("LICENSE.txt", "May be used.", Corpus),
    ):
        (tmp_path / name).write_text(content, encoding="utf8")
        assert type(Data(tmp_path).reader(spacy.blank("en"))) is reader


@pytest.mark.parametrize("name", FILES)
def test_punctuated_text_is_converted_with_all_that_is_learned_from(name: str, tmp_path: Path) -> None:
    path, target = tmp_path / name, tmp_path / "out.spacy"
    path.write_text(FILES[name], encoding="utf8")
    format = {".txt": "text", ".tsv": "labels"}.get(path.suffix)
    run("convert", path, target, *(("--format", format) if format else ()))
    nlp = spacy.blank("en")
    first, second = (learned(list(PunctuationCorpus(one)(nlp))) for one in (path, target))
    assert first == second and any(marks for _, marks, _ in first)
    assert (path.suffix == ".srt") == any(pause for *_, pauses in first for pause in pauses)


def learned(examples: list[Example]) -> list[tuple[list[str], Any, list[float | None]]]:
    """Words, marks and pauses."""
    docs = [example.reference for example in examples]
    return [([token.text for token in doc], doc._.punctuation, [token._.pause for token in doc]) for doc in docs]


def test_sections_are_converted(tmp_path: Path) -> None:
    output = run("convert", CORPUS / "section_parser" / "dev", tmp_path / "out.spacy")
    assert "10 documents" in output and "spans:sections: 240" in output
    assert sectioned(CORPUS / "section_parser" / "dev") == sectioned(tmp_path / "out.spacy")


def sectioned(path: Path) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Texts with their elements and sections."""
    docs = SectionCorpus(path).read_docs(spacy.blank("nl").vocab)
    spans = ((doc.text, [*doc.spans["elements"], *doc.spans["sections"]]) for doc in docs)
    return [(text, [(span.start, span.end, span.label_) for span in own]) for text, own in spans]


def test_annotation_of_json_lines_is_told_to_be_left_out(tmp_path: Path) -> None:
    row = {"text": "Ada left.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps({**row, 'spans': []})}\n", encoding="utf8")
    with pytest.warns(CRFWarning, match=r"CRFW971.* 1 lists of 'spans'\."):
        run("convert", tmp_path / "a.jsonl", tmp_path / "out.spacy")


def test_annotation_of_json_lines_is_told_to_be_left_out_of_whole_texts(tmp_path: Path) -> None:
    row = {"text": "Ada left.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf8")
    with pytest.warns(CRFWarning, match=r"CRFW971.* 1 lists of 'spans'\."):
        ((doc, _),) = Data(tmp_path / "a.jsonl").raw(spacy.blank("en"))
    assert doc.text == "Ada left."


@pytest.mark.parametrize("name", ["a.srt", "a.jsonl", "folder"])
def test_texts_keep_marks_and_capitals_for_what_restores_none(name: str, tmp_path: Path) -> None:
    unpack_model("tagger", tmp_path / "model")
    text, path = "Mr. Finch left, but Ada, who knew, stayed: why?", tmp_path / name
    if name == "folder":
        path.mkdir()
        (path / "b.srt").write_text(CUES, encoding="utf8")
    content = f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n" if name == "a.srt" else json.dumps({"text": text})
    (path / "a.jsonl" if path.is_dir() else path).write_text(content, encoding="utf8")
    expected, found = (json.loads(run("tag", tmp_path / "model", one, "--json").split("\n")[0]) for one in (text, path))
    assert found["tokens"] == expected["tokens"] and found["text"].strip() == text


def test_texts_are_bare_words_for_what_restores_marks(tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_text(CUES, encoding="utf8")
    nlp = spacy.blank("en")
    nlp.add_pipe("punctuation_restorer")
    bare = spacy.blank("en")
    bare.config["corpora"] = {**bare.config["corpora"], "dev": {"@readers": "spacy_crf.Corpus.v1", "path": None}}
    bare.config["corpora"]["dev"]["bare"] = True
    for one in (nlp, bare):
        ((doc, _),) = Data(tmp_path / "a.srt").raw(one)
        assert doc.text.strip() == "well who's there it's ada mr. finch"


def test_what_does_not_go_together_is_named(tmp_path: Path) -> None:
    annotated = CORPUS / "section_parser" / "dev"
    for options, code in ((["--columns", "word,tag"], "CRF5"), (["--group", "sentence"], "CRF510")):
        assert code in run("convert", annotated, tmp_path / "out.spacy", *options, code=1)
    assert "CRF523" in run("convert", annotated, tmp_path / "out.spacy", "--format", "tables", code=1)
    nlp = spacy.blank("nl")
    nlp.add_pipe("section_parser")
    nlp.to_disk(tmp_path / "model")
    assert "CRF523" in run("evaluate", tmp_path / "model", annotated, "--format", "conllu", code=1)
    assert "CRF510" in run("evaluate", tmp_path / "model", annotated, "--columns", "word,tag", code=1)


GERMEVAL = "1;Ada;B-PER;O\n2;sold;O;O\n3;New;B-LOC;O\n4;Delft;I-LOC;B-LOC\n"


def trained_with(**settings: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.config["corpora"]["dev"] = {"@readers": "spacy_crf.Corpus.v1", "path": None, **settings}
    return nlp


@pytest.mark.parametrize("options", [{}, {"format": "columns"}, {"columns": ["_", "word", "ner", "_"]}])
@pytest.mark.parametrize("name", ["a.tsv", "a.conll", "folder"])
def test_column_files_are_read_as_those_of_training(name: str, options: Any, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    (path / "a.tsv" if path.is_dir() else path).write_text(GERMEVAL, encoding="utf8")
    (doc,) = Data(path, **options).docs(trained_with(columns=["_", "word", "ner", "_"], separator=";"))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Ada", "PER"), ("New Delft", "LOC")]


@pytest.mark.parametrize("format, content", [("conll2000", "Ada NNP B-NP\n"), ("conll2003", "Ada NNP B-NP B-PER\n")])
def test_a_format_of_training_that_no_content_tells_is_kept(format: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(content, encoding="utf8")
    (doc,) = Data(tmp_path / "a.conll").docs(trained_with(format=format))
    assert [(token.tag_, doc.spans["chunks"][0].label_) for token in doc] == [("NNP", "NP")]
    (tmp_path / "b.tsv").write_text("Zeit\tNN|VV\n", encoding="utf8")
    (doc,) = Data(tmp_path / "b.tsv").docs(trained_with(format="tagsets"))
    assert set(doc[0]._.gold_tags) == {"NN", "VV"}


def test_other_files_tell_their_format_whatever_that_of_training(tmp_path: Path) -> None:
    nlp = trained_with(columns=["_", "word", "ner", "_"], separator=";")
    (tmp_path / "a.conllu").write_text("1\tShe\tshe\tPRON\tPRP\t_\t0\troot\t_\t_\n", encoding="utf8")
    (doc,) = Data(tmp_path / "a.conllu").docs(nlp)
    assert [token.tag_ for token in doc] == ["PRP"]
    (tmp_path / "b.tsv").write_text("She\tO\n", encoding="utf8")
    with pytest.raises(CRFError, match="CRF5"):  # not the layout of training
        list(Data(tmp_path / "b.tsv").docs(nlp))
    assert len(list(Data(tmp_path / "b.tsv", columns=["word", "ner"]).docs(trained_with(columns=["word"])))) == 1


def test_commands_wait_for_no_other() -> None:
    code = "import spacy.cli, sys; from spacy.util import registry; registry.cli.get_all(); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in found if name.startswith("spacy_crf")] == ["spacy_crf", "spacy_crf.cli"]


def test_folders_of_several_formats_are_read_whole(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.xml").write_text("<dataset><sequence><author>Ada</author></sequence></dataset>\n", encoding="utf8")
    (folder / "b.conllu").write_text("1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n", encoding="utf8")
    nlp = spacy.blank("en")
    assert [doc.text.strip() for doc in Data(folder).docs(nlp)] == ["Ada", "Hi"]
    block = {"@misc": "spacy_crf.References.v1", "ents": True}
    reader = {"@readers": "spacy_crf.Corpus.v1", "path": "x", "format": "references", "references": block}
    nlp.config["corpora"] = {**nlp.config["corpora"], "dev": reader}
    with pytest.raises(CRFError, match=r"CRF544.*mixed.*conllu, references.*'references'"):
        Data(folder).examples(nlp)
    with pytest.warns(CRFWarning, match=r"CRFW473.*: b\.conllu\."):
        assert len(Data(folder, format="references").examples(nlp)) == 1

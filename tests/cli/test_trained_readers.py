"""Commands read files in the way of the dev corpus that a pipeline was trained with, whatever its reader."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.commands import run
from helpers.folders import unpack_model
from helpers.paths import ROOT
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf import CRFWarning
from spacy_crf.cli.data import Data, trained_settings
from spacy_crf.corpora.block import HistoricalText
from spacy_crf.corpora.reader import Corpus
from spacy_crf.corpora.review import MARK
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.sections.reader import SectionCorpus
from spacy_crf.sections.tree import from_json

CORPUS = "spacy_crf.Corpus.v1"
ROWS = ("She", "PRP"), ("met", "VBD"), ("Ada", "VB"), (".", ".")
SECTIONS = ROOT / "corpus" / "section_parser" / "dev"


@dataclass(frozen=True)
class Case:
    """A saved pipeline, the block of its dev corpus, a file, the commands that read it, and the settings they take."""

    model: str
    reader: type
    block: dict[str, Any]
    file: str
    content: str
    commands: tuple[str, ...]

    @property
    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.block.items() if name not in ("@readers", "path", "limit")}


TAGGED = "".join(f"{word};{tag}\n" for word, tag in ROWS) + "\n"
OF_KINDS = "".join(f"{word};{tag};x\n" for word, tag in ROWS) + "\n"
SETS = "he\tP\nwen\tKON|KOUS\n.\tPUNCT\nse\tP\n" * 3
LABELLED = "well\tCOMMA\nthis\tO\nis\tO\nnice\tPERIOD\nis\tO\nit\tQUESTION\n"
MANY = LABELLED * 400  # enough to calibrate by
TEXT = {"@misc": "spacy_crf.HistoricalText.v1", "punctuation": "context", "cut_at_punctuation": True}
CASES = {
    "columns": Case(
        *("tagger", Corpus),
        {
            "@readers": CORPUS,
            **{"columns": ["word", "tag", "ext:kind"], "separator": ";", "group": "document", "input": ["ext:kind"]},
        },
        *("a.conll", OF_KINDS, ("evaluate", "calibrate", "review")),
    ),
    "conll2000": Case(
        *("tagger", Corpus),
        {"@readers": CORPUS, "format": "conll2000", "group": 2, "retokenize": True},
        *("a.conll", "Ada NNP B-NP\n\nleft VBD B-VP\n", ("evaluate", "calibrate", "review")),
    ),
    "tag sets": Case(
        *("sets", Corpus),
        {"@readers": CORPUS, "format": "tagsets", "text": TEXT},
        *("a.tsv", SETS, ("evaluate", "sets", "annotate", "review", "guarantee")),
    ),
    "marks": Case(
        *("punctuation", PunctuationCorpus),
        {
            "@readers": "spacy_crf.PunctuationCorpus.v1",
            **{"format": "labels", "unit": "sentence", "window": 3, "lower": False, "least_marks": 0.0},
            "abbreviations": ["nr."],
        },
        *("a.txt", MANY, ("evaluate", "calibrate")),
    ),
    "sections": Case(
        *("sections", SectionCorpus),
        {"@readers": "spacy_crf.SectionCorpus.v1", "hidden": True, "trees": False},
        *("a.xml", (SECTIONS / "judgment_timmerman.xml").read_text(encoding="utf8"), ("evaluate",)),
    ),
}


def saved(model: str, block: dict[str, Any], folder: Path) -> Path:
    """A pipeline that was trained with a dev corpus."""
    nlp = spacy.load(unpack_model(model, folder / "saved"))
    nlp.config["corpora"]["dev"] = {"path": None, **block}
    nlp.to_disk(folder / "model")
    return folder / "model"


@pytest.mark.parametrize(
    "name, command", [(name, command) for name, case in CASES.items() for command in case.commands]
)
def test_commands_read_as_training_has_read(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    model = saved(case.model, {**case.block, "path": "somewhere", "limit": 1}, tmp_path)
    path, made = tmp_path / case.file, list[Any]()
    path.write_text(case.content, encoding="utf8")
    check = case.reader.__post_init__  # type: ignore[attr-defined]
    monkeypatch.setattr(case.reader, "__post_init__", lambda self: (check(self), made.append(self))[0])
    options = {"annotate": ["--output", tmp_path / "out"], "guarantee": ["--level", 0.9]}
    run(command, model, path, *options.get(command, []))
    assert [reader for reader in made if reader.path == path]
    for reader in (reader for reader in made if reader.path == path):
        assert reader.limit == 0
        for setting, value in case.settings.items():
            expected = HistoricalText(**{k: v for k, v in value.items() if k[0] != "@"}) if setting == "text" else value
            if not (setting == "text" and reader.text is not None and reader.text.punctuation == "gold"):
                assert getattr(reader, setting) == expected  # but for the scores with punctuation


@pytest.mark.parametrize("name", CASES)
def test_folds_are_read_as_their_corpus(name: str) -> None:
    nlp, block = spacy.blank("en"), CASES[name].block
    fold = {"@readers": "spacy_crf.Fold.v1", "folds": 2, "fold": 0, "part": "held_out"}
    found = []
    for dev in (block, {**fold, "corpus": block}, {**fold, "corpus": {**fold, "corpus": block}}):
        nlp.config["corpora"]["dev"] = {"path": None, **dev}
        found.append(trained_settings(nlp, block["@readers"]))
    assert found[0] and found[0] == found[1] == found[2]
    assert trained_settings(nlp, "another") == {}


@pytest.mark.parametrize("hidden", [False, True])
def test_documents_of_courts_hide_what_training_has_hidden(
    hidden: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = SECTIONS / "judgment_timmerman.xml"
    block = {"@readers": "spacy_crf.SectionCorpus.v1", "hidden": hidden}
    model = saved("sections", block, tmp_path)
    nlp, (example,) = spacy.load(model), SectionCorpus(path, hidden=hidden)(spacy.blank("nl"))
    run("sections", path, "--model", model, "--to", "json", "--output", tmp_path / "tree.json")
    (expected,) = nlp.pipe([Doc(nlp.vocab).from_bytes(example.predicted.to_bytes())])
    assert from_json(json.loads((tmp_path / "tree.json").read_text(encoding="utf8"))) == expected._.section_tree


@pytest.mark.parametrize(
    "format, file, content, found",
    [
        ("labels", "a.txt", LABELLED, "labels"),
        ("labels", "a.iwslt", LABELLED, "labels"),
        ("labels", "a.txt", "Well, is it? It is.\n", None),
        ("labels", "a.srt", "1\n00:00:01,000 --> 00:00:02,000\nWell, is it?\n", None),
        ("labels", "a.jsonl", '{"text": "Well, is it?"}\n', None),
        ("text", "a.tsv", LABELLED, None),
        ("text", "a.speech", "Well, is it? It is.\n", "text"),
        ("subtitles", "a.txt", "1\n00:00:01,000 --> 00:00:02,000\nWell, is it?\n", "subtitles"),
        (None, "a.tsv", LABELLED, None),
    ],
)
def test_the_format_of_marks_is_that_of_training_unless_a_file_tells_another(
    format: str | None, file: str, content: str, found: str | None, tmp_path: Path
) -> None:
    nlp = spacy.blank("en")
    nlp.config["corpora"]["dev"] = {"@readers": "spacy_crf.PunctuationCorpus.v1", "path": None, "format": format}
    (tmp_path / file).write_text(content, encoding="utf8")
    paths = [tmp_path / file] if Path(file).suffix in (".iwslt", ".speech") else [tmp_path / file, tmp_path]
    for path in paths:
        reader = Data(path).reader(nlp, "punctuation_restorer")
        assert reader.format == found
        words = [token.text.lower() for example in reader(nlp) for token in example.predicted]
        assert words[0] == "well" and "is" in words and "it" in words


@pytest.mark.parametrize("label", ["{}", "B-{}"])
def test_words_with_labels_are_references_where_training_had_such(label: str, tmp_path: Path) -> None:
    rows = [("Moss", "AUTHOR"), ("Peat", "TITLE"), ("1990", "DATE"), ("Reed", "AUTHOR"), ("Fen", "TITLE")]
    lines = [f"{word}\t{label.format(name)}\n" for word, name in rows]
    path = tmp_path / "a.tsv"
    path.write_text("".join([*lines[:3], "\n", *lines[3:], "\n"]), encoding="utf8")
    block = {
        "@readers": CORPUS,
        "format": "references",
        "references": {"@misc": "spacy_crf.References.v1", "ents": True},
    }
    nlp = spacy.load(saved("references", block, tmp_path))
    docs = [example.reference for example in Data(path).examples(nlp)]
    assert [[ent.label_ for ent in doc.ents] for doc in docs] == [["AUTHOR", "TITLE", "DATE"], ["AUTHOR", "TITLE"]]
    assert [len(doc) for doc, _ in Data(path).raw(nlp)] == [3, 2]


def test_corrected_files_beside_column_files_leave_their_layout(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.config["corpora"]["dev"] = {"@readers": CORPUS, "path": None, "columns": ["word", "tag"], "separator": ";"}
    (tmp_path / "b.tsv").write_text(TAGGED, encoding="utf8")
    head = f"{MARK}\n# target = tag\n# columns = word, gold, best, probability, alternatives\n\n"
    (tmp_path / "a.tsv").write_text(head + "Ada\tNN\tNNP\t0.5\t_\n", encoding="utf8")
    tags = [token.tag_ for doc in Data(tmp_path).docs(nlp) for token in doc]
    assert sorted(tags) == sorted(["NN", *(tag for _, tag in ROWS)])


@pytest.mark.parametrize("layout", ["tsv", "jsonl"])
def test_reviews_of_raw_text_can_be_trained_on_with_the_input_of_training(layout: str, tmp_path: Path) -> None:
    """A tagger of entities saw tags in training; raw text has those that the pipeline gives it, or none."""
    block = {"@readers": CORPUS, "columns": ["word", "tag", "ext:crf_test_case", "ner"]}
    nlp = tagger_with_input(block)
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "raw.txt").write_text("Ada met her\n", encoding="utf8")
    corrected = tmp_path / f"corrected.{layout}"
    with pytest.warns(CRFWarning, match="CRFW407.*TAG"):
        run("review", tmp_path / "model", tmp_path / "raw.txt", "--format", layout, "--prefill", "--output", corrected)
    seen = corrected.read_text(encoding="utf8").replace("Ada\tB-PER\t\t", "Ada\tB-PER\tyes\t")
    corrected.write_text(seen.replace('"checked": false', '"checked": true'), encoding="utf8")
    settings = trained_settings(spacy.load(tmp_path / "model"), CORPUS)
    (example,) = Corpus(corrected, input=settings["input"])(nlp)
    assert [token.text for token in example.predicted] == ["Ada", "met", "her"]
    (again,) = Data(corrected).reader(spacy.load(tmp_path / "model"))(nlp)
    assert [token.tag_ for token in again.predicted] == [token.tag_ for token in example.predicted] == [""] * 3


def tagger_with_input(block: dict[str, Any]) -> Language:
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "TAG", "_.crf_test_case"]}
    nlp.add_pipe("crf_tagger", config={"target": "ent", "features": features})
    nlp.config["corpora"]["dev"] = {"path": None, "input": ["tag", "ext:crf_test_case"], **block}
    seen = Doc(nlp.vocab, words=["Ada", "left"], tags=["NNP", "VBD"])
    gold = Doc(nlp.vocab, words=["Ada", "left"], tags=["NNP", "VBD"], ents=["B-PER", "O"])
    examples = [Example(seen, gold)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp

"""The projects are valid, run on small data in the formats of theirs, and what is told of them is what came out."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.paths import ROOT
from spacy.tokens import Doc
from spacy.util import load_config
from weasel.util import load_project_config

from projects.check import problems
from projects.tables import MARKED, SUMMARY, TABLES, Column, cell, documents, rewritten
from spacy_crf import Corpus, PunctuationCorpus
from spacy_crf.core.sets.predict import make_utility, utility_optimal_sets

PROJECTS = sorted(path.parent for path in (ROOT / "projects").glob("*/project.yml"))
CORPORA = ROOT / "corpus"
# settings that make a training short
SHORT = {"max_steps": 2, "max_epochs": 0, "eval_frequency": 1, "patience": 0}


@pytest.fixture(params=PROJECTS, ids=lambda path: path.name)
def project(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def weasel(command: str, project: Path, **variables: Path | str) -> Any:
    """Run a command of a project."""
    overrides = [part for name, value in variables.items() for part in (f"--vars.{name}", str(value))]
    call = [sys.executable, "-m", "weasel", "run", command, str(project), *overrides]
    return subprocess.run(call, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "COLUMNS": "200"})


# -- as they are -------------------------------------------------------------------------------------------------


def test_a_project_is_valid_and_uses_shipped_configs(project: Path) -> None:
    config = load_project_config(project)
    commands = {command["name"]: command for command in config["commands"]}
    assert all(name in commands for names in config["workflows"].values() for name in names)
    assert config["workflows"]["all"][0] == "check" and config["title"] and config["description"]
    assert all(command["help"] and command["script"] for command in commands.values())
    for name, value in config["vars"].items():
        if name.endswith("config"):
            assert (project / value).resolve().parent == ROOT / "configs" and (project / value).exists()
    for line in (line for command in commands.values() for line in command["script"]):
        assert line.startswith("python ")
    assert "card.toml" in commands["package"]["deps"] and (project / "card.toml").exists()


def test_results_are_made_by_a_command_and_name_no_machine(project: Path) -> None:
    made = {output for command in load_project_config(project)["commands"] for output in command.get("outputs", [])}
    for path in (project / "results").glob("*"):
        assert {f"results/{path.name}", f"results/{re.sub('-[0-9].json', '-0.json', path.name)}"} & made
        text = path.read_text(encoding="utf8")
        assert json.loads(text) and not re.search(r'"/|/(home|tmp|work|root)/', text)


def test_a_project_without_its_data_says_what_to_do(project: Path, tmp_path: Path) -> None:
    shown = weasel("check", project, data=tmp_path)
    told = " ".join(shown.stdout.split())
    assert shown.returncode == 1 and f"is not in {tmp_path}" in told and "--vars.data DIR" in told


def test_other_data_of_a_project_are_asked_for_by_their_own_variable(tmp_path: Path) -> None:
    project = ROOT / "projects" / "iwslt_punct"
    for name in ("ted_train.tsv.gz", "dev2012.tsv.gz", "test2011.tsv"):
        (tmp_path / name).touch()
    told = " ".join(weasel("check", project, data=tmp_path, ewt=tmp_path / "ewt").stdout.split())
    assert "en_ewt-ud-dev.conllu is not in" in told and "--vars.ewt DIR" in told


def test_a_file_with_another_checksum_is_told(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "en_ewt-ud-train.conllu.gz", "wt") as file:
        file.write("1\tother\n")
    (found,) = problems(ROOT / "projects" / "ud_english_ewt", tmp_path, ["en_ewt-ud-train.conllu.gz"])
    assert "checksum differs" in found


# -- the peer ----------------------------------------------------------------------------------------------------


def test_sets_of_the_peer_are_those_of_the_library() -> None:
    peer = pytest.importorskip("projects.crfsuite", exc_type=ImportError)
    rng, g = np.random.default_rng(0), make_utility("g", 1.0, 1.0).values(5)
    for marginals in rng.dirichlet(np.full(5, 0.3), 200):
        (members,) = utility_optimal_sets(marginals[None], g).members
        found = peer.best_set({str(label): probability for label, probability in enumerate(marginals)})
        assert set(map(int, found)) == set(np.flatnonzero(members).tolist())
        assert int(found[0]) == marginals.argmax()


def test_the_peer_finds_the_longest_names_and_writes_the_spans_that_it_has_read(tmp_path: Path) -> None:
    peer = pytest.importorskip("projects.crfsuite", exc_type=ImportError)
    (tmp_path / "names.tsv").write_text("New York\tplace\nNew York Times\tfirm\nYork\tplace\n", encoding="utf8")
    features = peer.with_names(lambda doc: [[] for _ in doc], tmp_path / "names.tsv")
    doc = Doc(spacy.blank("en").vocab, words=["New", "York", "Times", "York", "New", "York", "New"])
    firm = ["name=B-firm", "name=I-firm", "name=I-firm"]
    assert list(chain(*features(doc))) == [*firm, "name=B-place", "name=B-place", "name=I-place"]
    labels = ["B-A", "I-A", "B-A", "O", "B-B", "I-B", "I-B"]
    peer.write(doc, labels, "ent")
    assert peer.gold_labels(doc, "ent") == labels and peer.gold_labels(doc[4:], "ent") == labels[4:]
    assert [(span.start, span.end) for span in peer.found_spans(doc, ["I-A", "I-B", *"OOOOO"])] == [(0, 1), (1, 2)]


# -- what is told of them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_tables_say_what_the_results_say(path: Path) -> None:
    text = path.read_text(encoding="utf8")
    assert rewritten(text) == text, "python -m projects.tables writes them anew"
    assert len(MARKED.findall(text)) == text.count("<!-- results:") / 2


def test_seeds_are_shown_as_mean_and_deviation() -> None:
    found = [{"scores": {"f": value}} for value in (0.5, 0.6)]
    assert (
        cell(found, Column("F", "scores.f")) == "55.00 ± 7.07" and cell(found[:1], Column("F", "scores.f")) == "50.00"
    )
    assert cell(found, Column("P", "scores.p")) == ""


def test_figures_name_what_makes_them() -> None:
    numbers = MARKED.sub("", (ROOT / "docs" / "figures.md").read_text(encoding="utf8"))
    parts = [part for part in re.split(r"\n\n(?!\|)", numbers) if re.search(r"\d[.,]\d", part)]
    assert parts and not [part for part in parts if not re.search(r"`(make|benchmarks/|python -m)|[0-9a-f]{7}\b", part)]


def test_every_table_stands_somewhere_and_is_of_results_that_a_command_makes() -> None:
    shown = {found[2] for path in documents() for found in MARKED.finditer(path.read_text(encoding="utf8"))}
    assert shown == {*TABLES, SUMMARY}
    for table in TABLES.values():
        commands = load_project_config(ROOT / "projects" / table.project)["commands"]
        made = {output for command in commands for output in command.get("outputs", [])}
        for file in table.rows.values():
            assert {f"results/{file}.json", f"results/{file}-0.json"} & made


# -- on small data -----------------------------------------------------------------------------------------------


def chunks(folder: Path) -> None:
    for name, source in (("train", "train"), ("test", "dev")):
        shutil.copy(CORPORA / "crf_tagger" / "chunks" / f"{source}.txt", folder / f"{name}.txt")


def treebank(folder: Path) -> None:
    own = CORPORA / "crf_tagger"
    with gzip.open(folder / "en_ewt-ud-train.conllu.gz", "wt", encoding="utf8") as file:
        file.write((own / "train.conllu").read_text(encoding="utf8"))
    for split in ("dev", "test"):
        shutil.copy(own / "dev.conllu", folder / f"en_ewt-ud-{split}.conllu")


def entities(folder: Path) -> None:
    for split in ("train", "dev"):
        with (folder / f"{split}.conll").open("w", encoding="utf8") as file:
            for doc in Corpus(CORPORA / "crf_tagger" / f"{split}.conllu", limit=12).read_docs(spacy.blank("en").vocab):
                for sentence in doc.sents:
                    labels = (f"{token.ent_iob_}-{token.ent_type_}".removesuffix("-") for token in sentence)
                    file.writelines(f"{token.text}\t{label}\n" for token, label in zip(sentence, labels))
                    file.write("\t\n")  # as sentences end in the public files


def tag_sets(folder: Path) -> None:
    rows = ["file\tsplit"]
    for kind in ("pos", "poscase"):
        (folder / kind).mkdir()
    for split, source in (("train", "train"), ("dev", "dev"), ("test", "dev")):
        for path in sorted((CORPORA / "set_valued_tagger" / source).glob("*.tsv"))[:3]:
            rows.append(f"{path.stem}_{split}\t{split}")
            for kind in ("pos", "poscase"):
                shutil.copy(path, folder / kind / f"{path.stem}_{split}.tsv")
    (folder / "documents.tsv").write_text("\n".join(rows) + "\n", encoding="utf8")


def two_languages(folder: Path) -> None:
    files = sorted((CORPORA / "set_valued_tagger" / "train").glob("*.tsv"))[:4]
    text = "\n".join(path.read_text(encoding="utf8") for path in files)
    for language in ("occitan", "catalan"):
        (folder / f"{language}.train.tsv").write_text(text, encoding="utf8")


def talks(folder: Path) -> None:
    for split, name in (("train", "ted_train.tsv.gz"), ("dev", "dev2012.tsv.gz"), ("dev", "test2011.tsv")):
        docs = PunctuationCorpus(CORPORA / "punctuation_restorer" / split, limit=6)(spacy.blank("en"))
        lines = []
        for example in docs:
            marks = example.reference._.punctuation["marks"]
            lines += [f"{token.text}\t{mark or 'O'}" for token, mark in zip(example.predicted, marks)]
        with (gzip.open if name.endswith(".gz") else open)(folder / name, "wt", encoding="utf8") as file:
            file.write("\n".join(lines) + "\n")
    treebank(folder)


def reference_lines(split: str) -> list[str]:
    """Some references, in markup."""
    files = sorted((CORPORA / "constrained_ner" / split).glob("*.txt"))
    return [line for path in files for line in path.read_text(encoding="utf8").splitlines()[:4]]


def tagged_references(folder: Path) -> None:
    (folder / "tagged_references.txt").write_text("\n".join(reference_lines("train")) + "\n", encoding="utf8")


def references_in_xml(folder: Path) -> None:
    for split in ("train", "dev"):
        rows = (line.replace("&", "&amp;") for line in reference_lines(split))
        body = "".join(f"<sequence>{row}</sequence>\n" for row in rows)
        (folder / f"{split}.xml").write_text(f"<dataset>\n{body}</dataset>\n", encoding="utf8")


def labelled_words(folder: Path) -> None:
    for split in ("train", "dev"):
        with gzip.open(folder / f"{split}.tsv.gz", "wt", encoding="utf8") as file:
            for line in reference_lines(split):
                for label, text in re.findall(r"<(\w+)>(.*?)</", line):
                    file.writelines(f"{word}\t{'_' if label == 'note' else label.upper()}\n" for word in text.split())
                file.write("\n")


def judgments(folder: Path) -> None:
    for split in ("annotated", "raw"):
        (folder / split).mkdir()
    for number in range(6):
        sections = "".join(
            f'<section><title><nr manualAnnotation="NR">{place}</nr> '
            f'<text manualAnnotation="SECTION_TITLE">{title}</text></title>'
            f'<para manualAnnotation="TEXT_BLOCK">De zaak {number} over {title}.</para></section><para/>'
            for place, title in enumerate(("De feiten", "De beoordeling", "De beslissing"), 1)
        )
        text = f"<open-rechtspraak><uitspraak>{sections}</uitspraak></open-rechtspraak>"
        (folder / "annotated" / f"zaak{number}.xml").write_text(text, encoding="utf8")
        raw = re.sub(' manualAnnotation="[A-Z_]+"', "", text)
        (folder / "raw" / f"ruw{number}.xml").write_text(raw if number else f" {raw[:-9]}", encoding="utf8")


def general_references(data: Path) -> None:
    for make, name in ((references_in_xml, "anystyle"), (labelled_words, "grobid_references")):
        (data / name).mkdir()
        make(data / name)


# what makes small data for a project, and the commands to run
RUNS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "conll2000": (chunks, ("train", "evaluate", "train-l2", "evaluate-l2", "peer", "package")),
    "ud_english_ewt": (
        treebank,
        ("train-xpos", "train-upos", "evaluate-xpos", "evaluate-upos", "peer-xpos", "peer-upos", "package"),
    ),
    "wnut17": (entities, ("train", "evaluate", "train-names", "evaluate-names", "peer")),
    "ren_mlg": (
        tag_sets,
        (
            *("split", "train", "evaluate", "train-case", "evaluate-case", "classes", "train-classes"),
            *("evaluate-classes", "peer", "active", "package"),
        ),
    ),
    "medieval_romance": (two_languages, ("occitan", "catalan", "train", "package")),
    "iwslt_punct": (talks, ("tagger", "features", "calibrate-features", "evaluate-features")),
    "cora": (tagged_references, ("evaluate", "evaluate-free", "train", "package")),
    "anystyle": (references_in_xml, ("train", "evaluate", "cross-validate", "package")),
    "grobid_references": (labelled_words, ("train", "evaluate", "package")),
    "references": (
        general_references,
        ("generate", "train", "evaluate", "train-mixed", "evaluate-mixed"),
    ),
    "rechtspraak": (judgments, ("labels", "labels-alone", "trees", "train", "certified", "package")),
}
SLOW = [name if name == "wnut17" else pytest.param(name, marks=pytest.mark.slow) for name in RUNS]


@pytest.mark.parametrize("name", SLOW)
def test_the_commands_of_a_project_run_on_files_like_its_own(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    make, commands = RUNS[name]
    project, data = tmp_path / "projects" / name, tmp_path / "data"
    only = shutil.ignore_patterns("assets", "training", "results", "project.lock", "__pycache__")
    shutil.copytree(ROOT / "projects", tmp_path / "projects", ignore=only)
    data.mkdir()
    make(data)
    (tmp_path / "configs").mkdir()
    for path in (ROOT / "configs").glob("*.cfg"):
        config = load_config(path)
        config["training"] |= SHORT
        config.to_disk(tmp_path / "configs" / path.name)
    own = load_project_config(project)
    variables = {name: data for name in ("data", "ewt") if name in own["vars"]}
    variables |= {
        name: count
        for name, count in (("folds", "2"), ("repeats", "1"), ("entries", "60"), ("mixed", "40"))
        if name in own["vars"]
    }
    for command in commands:
        done = weasel(command, project, **variables)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    made = {output for one in own["commands"] if one["name"] in commands for output in one.get("outputs", [])}
    assert made and all((project / output).exists() for output in made)
    for path in (project / "results").glob("*.json"):
        assert str(tmp_path) not in path.read_text(encoding="utf8")

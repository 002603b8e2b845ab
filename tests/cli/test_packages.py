"""`crf package`: packages whose README says what a pipeline is, and cards that say too little."""

import json
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from contract.snapshots import DATA
from helpers.commands import run
from helpers.folders import unpack_model
from helpers.paths import ROOT

from spacy_crf.cli.package import read_card
from spacy_crf.core.errors import CRFWarning

CARDS = sorted((ROOT / "corpus").glob("*/card.toml")) + sorted((ROOT / "projects").glob("*/card.toml"))
LEAST = {"name": "own", "description": "Tags", "license": "MIT", "use": "Tests.", "limits": "All else."}
SCORES = {"tag_acc": 0.5, "set_size": 1.5, "tag_acc_known": 0.75}
RESULTS = {
    "made_of": {"data": "dev.conllu", "libraries": {"spacy": "3.8"}},
    "scores": SCORES,
    "intervals": {"tag_acc": [0.25, 0.625]},
    "intervals_over": "documents",
    "speed": {"tokens_per_second": 12345},
}


def package(*arguments: object, code: int = 0) -> str:
    return " ".join(run("package", *arguments, code=code).split())


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return unpack_model("tagger", tmp_path / "model")


def write_card(folder: Path, **more: Any) -> Path:
    """Write a card: texts, and tables of texts; values that are None are left out."""
    lines, tables = [], []
    for name, value in (LEAST | {"sources": [{"name": "mine"}]} | more).items():
        if isinstance(value, dict):
            tables += [f"[{name}]", *(f"{key} = {json.dumps(text)}" for key, text in value.items())]
        elif isinstance(value, list):
            tables += [f"[[{name}]]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in one.items()) for one in value]
        elif value is not None:
            lines.append(f"{name} = {json.dumps(value)}")
    path = folder / "card.toml"
    path.write_text("\n".join([*lines, *tables]) + "\n", encoding="utf8")
    return path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # spaCy leaves the closing of files to the garbage collector
def test_a_package_says_what_it_is(model: Path, tmp_path: Path) -> None:
    titles = {"tag_acc": "accuracy", "set_size": "tags"}
    (tmp_path / "results.json").write_text(json.dumps(RESULTS), encoding="utf8")
    card = write_card(tmp_path, name="en_own", scores=titles, command="make it", version="1.2.0")
    before = (model / "meta.json").read_bytes()
    for _ in range(2):  # what was made before is replaced
        package(model, card, tmp_path / "out", "--results", tmp_path / "results.json")
    assert (model / "meta.json").read_bytes() == before
    (wheel,) = (tmp_path / "out").rglob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("en_own-1.2.0.dist-info/METADATA").decode("utf8")
        meta = json.loads(archive.read("en_own/meta.json"))
    assert "Description-Content-Type: text/markdown" in metadata and "Requires-Dist: spacy" in metadata
    for told in (
        "| accuracy | 50.00 (25.00 to 62.50) |",
        "| tags | 1.50 |",
        "`make it`",
        "12,345 tokens",
        "All else.",
        "`1.2.0`",
    ):
        assert told in metadata
    assert meta["performance"] == {"tag_acc": 0.5} and meta["license"] == "MIT"


@pytest.mark.parametrize(
    "more, told",
    [
        ({"limits": None}, "limits is missing"),
        ({"use": ""}, "use is missing"),
        ({"name": "my-own"}, "name is 'my-own'"),
        ({"version": "first"}, "version is 'first'"),
        ({"version": "../1.0"}, "version is '../1.0'"),
        ({"sources": [{"url": "x"}]}, "sources is [{'url': 'x'}]"),
        ({"usage": "x"}, "there is no 'usage'"),
        ({"author": 3}, "author is 3"),
        ({"scores": {"tag_acc": 1}}, "scores is {'tag_acc': 1}"),
    ],
)
def test_a_card_that_says_too_little_is_refused(more: dict[str, Any], told: str, model: Path, tmp_path: Path) -> None:
    shown = package(model, write_card(tmp_path, **more), tmp_path / "out", code=1)
    assert "CRF671" in shown and told in shown and not (tmp_path / "out").exists()
    assert "version, such as 1.0.2" in shown


@pytest.mark.parametrize("kept", ["model", "card", "results"])
def test_what_a_package_is_made_of_is_not_removed_with_an_old_one(kept: str, model: Path, tmp_path: Path) -> None:
    old = tmp_path / "out" / "en_own-0.0.0"
    old.mkdir(parents=True)
    places = {name: old if name == kept else tmp_path for name in ("model", "card", "results")}
    found = model.rename(places["model"] / "own")
    card, results = write_card(places["card"], scores={"tag_acc": "accuracy"}), places["results"] / "results.json"
    results.write_text(json.dumps(RESULTS), encoding="utf8")
    assert "CRF695" in package(found, card, tmp_path / "out", "--results", results, code=1)
    assert (found / "meta.json").is_file() and card.is_file() and results.is_file()


@pytest.mark.parametrize("place", ["", "packages"])
def test_a_pipeline_is_not_packed_into_itself(place: str, model: Path, tmp_path: Path) -> None:
    """As `crf package . card.toml .` does: it was copied into its own copies, until their names were too long."""
    before = sorted(model.rglob("*"))
    assert "CRF609" in package(model, write_card(tmp_path), model / place, code=1)
    assert sorted(model.rglob("*")) == before


@pytest.mark.parametrize(
    "fault, told",
    [(shutil.Error([("a", "out/a", "[Errno 28] No space left on device")]), "CRF498"), (SystemExit(1), "")],
)
def test_an_old_package_stays_where_a_new_one_comes_to_nothing(
    fault: BaseException, told: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the disk is full, or wheels cannot be made."""
    old = tmp_path / "out" / "en_own-0.0.0" / "dist" / "old.whl"
    old.parent.mkdir(parents=True)
    old.write_text("old", encoding="utf8")

    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("spacy_crf.cli.package.package", fail)
    assert told in package(model, write_card(tmp_path), tmp_path / "out", code=1)
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == [old]


def test_results_are_figures_and_have_the_scores_of_the_card(model: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    for content, code in ((RESULTS, "CRF672"), (SCORES, "CRF673"), ([RESULTS], "CRF673")):
        results.write_text(json.dumps(content), encoding="utf8")
        card = write_card(tmp_path, scores={"ents_f": "F"})
        assert code in package(model, card, tmp_path / "out", "--results", results, code=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["ents_per_type", "set_sizes"])
def test_scores_of_labels_and_counts_that_there_are_not_are_refused(name: str, model: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    scores = {**SCORES, "ents_per_type": {"LOC": {"p": 0.5, "r": 0.5, "f": 0.5}}}
    results.write_text(json.dumps({**RESULTS, "scores": scores}), encoding="utf8")
    card = write_card(tmp_path, scores={"tag_acc": "accuracy", name: "more"})
    assert "CRF672" in package(model, card, tmp_path / "out", "--results", results, code=1)


def test_figures_of_another_model_are_told_of(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    monkeypatch.setattr("spacy_crf.cli.package.package", lambda path, *args, **settings: made.append(path))
    gold, results = DATA / "gold" / "tagger.conllu", tmp_path / "results.json"
    run("evaluate", model, gold, "--output", results)
    arguments = (model, write_card(tmp_path, scores={"tag_acc": "accuracy"}), tmp_path / "out", "--results", results)
    assert "CRFW694" not in package(*arguments)
    (model / "more").write_text("trained again", encoding="utf8")
    with pytest.warns(CRFWarning, match=r"CRFW694.*results\.json are of a model of [0-9]+ bytes"):
        package(*arguments)
    assert made == [model, model]


def test_files_that_are_not_there_are_told_by_a_code(model: Path, tmp_path: Path) -> None:
    card = write_card(tmp_path, scores={"ents_f": "F"})
    shown = package(model, card, tmp_path / "out", "--results", tmp_path / "no.json", code=1)
    assert "CRF498" in shown and "No such file" in shown and not (tmp_path / "out").exists()


def test_figures_that_no_score_of_the_card_shows_are_refused(model: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps(RESULTS), encoding="utf8")
    shown = package(model, write_card(tmp_path), tmp_path / "out", "--results", results, code=1)
    assert "[scores] is missing" in shown and not (tmp_path / "out").exists()


def test_a_folder_that_is_no_pipeline_is_refused(tmp_path: Path) -> None:
    assert "CRF670" in package(tmp_path, write_card(tmp_path), tmp_path / "out", code=1)


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.parent.name)
def test_our_cards_are_complete(path: Path) -> None:
    card = read_card(path)
    assert card.command and card.scores and card.sources
    assert tomllib.loads(path.read_text(encoding="utf8"))["name"].isidentifier()

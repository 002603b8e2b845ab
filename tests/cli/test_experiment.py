"""`crf experiment` from configs to tables, JSON and pictures."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest
from helpers.commands import invoke
from helpers.experiments import make_config


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    make_config(folder).to_disk(folder / "ours.cfg")
    make_config(folder, decode="viterbi").to_disk(folder / "theirs.cfg")
    return folder / "ours.cfg"


run = partial(invoke, "experiment")


def test_two_configs_on_the_same_folds(config: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, short, plots = tmp_path / "new" / "results.json", tmp_path / "short.json", tmp_path / "plots"
    against = config.with_name("theirs.cfg")
    options = (
        "--folds",
        2,
        "--results",
        out,
        "--output",
        short,
        "--plots",
        plots,
        "--paths.dev",
        config.parent / "train" / "text0.tsv",
    )
    result = run(config, "--against", against, *options)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("of 4, ours, fold") == 2 and "of 4, theirs, fold 2: ml_acc" in result.stderr
    text = result.stdout
    for part in ("ours - theirs", "ours: most frequent confusions", "p Wilcoxon", "p t", "95 % t"):
        assert part in text
    assert "95 % over documents" in text and "ours: tokens by gold tag (rows) and predicted tag" in text
    tables = [line for line in text.splitlines() if "% unknown words" in line]
    assert len(tables) == 2 * 4 + 2 + 1 and all("K = " in line for line in tables)
    assert "ml_util by beta" in text and "fold 2" in text
    data = json.loads(out.read_text(encoding="utf8"))
    assert [system["name"] for system in data["systems"]] == ["ours", "theirs"] and data["settings"]["folds"] == 2
    assert {row["score"] for row in data["differences"]} >= {"ml_acc", "ml_util", "set_size", "tag_acc"}
    told = json.loads(short.read_text(encoding="utf8"))
    assert told["made_of"]["configs"] == ["ours.cfg", "theirs.cfg"] and str(tmp_path) not in json.dumps(told)
    assert told["made_of"]["overrides"] == {"paths.dev": "text0.tsv"} and told["splits"]["folds"] == 2
    first, second = data["systems"][0]["groups"][0]["scores"], data["systems"][1]["groups"][0]["scores"]
    assert told["scores"]["ml_acc"] == pytest.approx(first["ml_acc"]["mean"], abs=1e-6)
    assert told["deviations"]["ml_acc"] == pytest.approx(first["ml_acc"]["deviation"], abs=1e-6)
    assert told["intervals"]["ml_acc"] == pytest.approx(first["ml_acc"]["corrected"], abs=1e-6)
    (other,) = told["against"]
    assert other["name"] == "theirs" and other["scores"]["ml_acc"] == pytest.approx(second["ml_acc"]["mean"], abs=1e-6)
    assert told["intervals_over"] == "test parts" and len(told["differences"]) == len(data["differences"])
    assert sum(own["gold"] for own in told["labels"].values()) == sum(
        count for row in told["confusions"].values() for count in row.values()
    )
    assert sorted(path.name for path in plots.iterdir()) == ["ml_util_by_beta.png", "set_size_by_beta.png"]


def test_one_setting_varied_on_the_same_folds(config: Path, tmp_path: Path) -> None:
    setting, out = "components.set_valued_tagger.beta=5", tmp_path / "out.json"
    result = run(config, "--vary", setting, "--folds", 2, "--output", out)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text(encoding="utf8"))
    assert [other["name"] for other in data["against"]] == [setting] and data["made_of"]["configs"] == ["ours.cfg"]
    differences = {row["score"]: row["mean"] for row in data["differences"]}
    assert differences["tag_acc"] == 0 and differences["set_size"] < 0  # sets of many tags are worth more with it
    for wrong in ("alpha=0.5", "components.set_valued_tagger.alpha"):
        result = run(config, "--vary", wrong)
        assert result.exit_code == 1 and "CRF655" in result.output


def test_a_config_beside_itself(config: Path, tmp_path: Path) -> None:
    setting, out = "components.set_valued_tagger.beta=5", tmp_path / "out.json"
    twice = ("--against", config, "--vary", setting, "--vary", setting)
    result = run(config, *twice, "--folds", 2, "--output", out)
    assert result.exit_code == 0, result.output
    data = json.loads(out.read_text(encoding="utf8"))
    names = [data["name"], *(other["name"] for other in data["against"])]
    assert names == [f"{config} (1)", f"{config} (2)", f"{setting} (1)", f"{setting} (2)"]
    same = [row for row in data["differences"] if row["second"] == names[1]]
    assert same and all(row["mean"] == 0 and row["ranks"]["p"] == row["resampled"]["p"] == 1 for row in same)


def test_names_of_documents_are_shown(config: Path) -> None:
    result = run(config, "--kind", "cross-domain", "--least-tokens", 25, "--repeats", 1)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert {row[0] for row in rows if row and row[0].startswith("text")} == {"text1", "text3"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--folds", "9"], "CRF610"),
        (["--kind", "monte-carlo", "--test-share", "2"], "CRF611"),
        (["--kind", "across", "--by", "document"], "CRF613"),
        (["--kind", "cross-domain", "--least-tokens", "9000"], "CRF614"),
        (["--kind", "curve", "--fractions", "0.1,x"], "CRF605"),
        (["--kind", "curve", "--fractions", "1.5"], "CRF611"),
        (["--component", "parser"], "CRF621"),
        (["--paths.train", "nowhere"], "CRF502"),
        (["--with-dev", "--dev-share", "0"], "CRF624"),
    ],
)
def test_what_is_wrong_is_named(config: Path, arguments: list[str], code: str) -> None:
    result = run(config, *arguments)
    assert result.exit_code == 1 and code in result.output


def test_choices_are_checked(config: Path) -> None:
    assert run(config, "--kind", "unheard-of").exit_code == 2
    assert run(config, "--by", "token").exit_code == 2
    assert "--seed" in run(config, "--seed", "-1").output


def test_an_option_that_there_is_not_is_told(config: Path) -> None:
    result = run(config, "--foldz", 3)
    assert result.exit_code == 2 and "No such option '--foldz'" in result.output


def test_a_folder_in_place_of_a_file_is_refused_before_the_work(config: Path, tmp_path: Path) -> None:
    for option in ("--output", "--results"):
        result = run(config, "--folds", 2, option, tmp_path)
        assert result.exit_code == 1 and "CRF679" in result.output and "of 2" not in result.stderr


def test_pictures_are_refused_before_the_work(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(config, "--plots", tmp_path / "plots")
    assert result.exit_code == 1 and "CRF627" in result.output and "of 10" not in result.stderr

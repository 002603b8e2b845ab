import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from helpers.paths import ROOT
from spacy.util import load_config

from spacy_crf.lab import space as space_module
from spacy_crf.lab.space import Candidates, Number, SearchSpace, parse_space, read_space

CONFIG = ROOT / "configs" / "crf_tagger.cfg"


def space(text: str) -> SearchSpace:
    return parse_space(tomllib.loads(text))


def test_the_documented_example_is_a_space() -> None:
    example = "\n".join(line for line in (space_module.__doc__ or "").split("\n") if line.startswith("    "))
    found = space("\n".join(line[4:] for line in example.split("\n")))
    c2, min_count, decode, trainer, prefixes, suffixes, words, rare = found.parameters.values()
    assert isinstance(c2, Number) and c2.log and not c2.is_whole and (c2.low, c2.high) == (0.01, 10.0)
    assert isinstance(min_count, Number) and min_count.is_whole and not min_count.log
    assert decode.ends() == ("viterbi", "posterior") and trainer.ends() == ("lbfgs", "arow")
    assert (
        prefixes.ends() == suffixes.ends() == ("off", "on")
        and rare.ends() == (2, 100)
        and words.ends() == ("-1..1", "none")
    )
    assert found.always == ("LOWER[0]",) and found.start == {"words": "none"} and found.has_templates


def test_values_change_settings_and_templates() -> None:
    found = space(
        """
        [settings]
        "a.b" = { low = 1, high = 3 }
        "a.c" = [true, 2, "x", 0.5, []]
        [alternatives.both]
        one = { "a.d" = 1, "a.e" = { "@misc" = "y" } }
        two = { "a.d" = 2 }
        [templates]
        left = ["LOWER[-1]", "LOWER[0]"]
        right = { no = [], yes = ["LOWER[0]", "LOWER[1]"] }
        """
    )
    values = {"a.b": 2, "a.c": "true", "both": "one", "left": "on", "right": "yes"}
    change = found.changes(values)
    assert change.settings == {"a.b": 2, "a.c": True, "a.d": 1, "a.e": {"@misc": "y"}}
    assert change.templates == ("LOWER[-1]", "LOWER[0]", "LOWER[1]")
    assert found.changes({**values, "left": "off", "right": "no", "a.c": "[]"}).templates == ()
    assert found.parameters["a.c"].ends() == ("true", "2", "x", "0.5", "[]")


def test_a_search_begins_with_values_as_the_space_has_them() -> None:
    found = space('settings = { x = [0.5, 2, true, "y"], z = [true, false] }\nstart = { x = 0.5, z = false }')
    assert found.start == {"x": "0.5", "z": "false"}
    assert found.changes(found.start).settings == {"x": 0.5, "z": False}


def test_numbers_stand_in_templates(config: Any) -> None:
    found = space(
        """
        templates = { always = ["ORTH|COMMON{common}"], suffix = ["SUFFIX2|RARE{rare}", "SUFFIX3|RARE{rare}"] }
        numbers = { common = { low = 2, high = 6 }, rare = { low = 2, high = 100, log = true } }
        """
    )
    candidates = Candidates(config, found)
    for values, expected in (
        ({"common": 5, "suffix": "on", "rare": 7}, ["ORTH|COMMON5", "SUFFIX2|RARE7", "SUFFIX3|RARE7"]),
        ({"common": 2, "suffix": "off", "rare": 7}, ["ORTH|COMMON2"]),
    ):
        assert candidates.make(values)["components"]["crf_tagger"]["features"]["templates"] == expected
    candidates.check()


def test_corners_have_every_option_and_every_end() -> None:
    found = space(
        """
        settings = { x = { low = 0.5, high = 2 }, y = [1, 2, 3] }
        templates = { z = ["BIAS"] }
        """
    )
    corners = list(found.corners())
    assert len(corners) == 3
    for name, parameter in found.parameters.items():
        assert {corner[name] for corner in corners} == set(parameter.ends())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "nothing|no settings"),
        ("a = ", "Invalid value"),
        ("[other]\nx = [1, 2]", "other is not one of the tables"),
        ("settings = 3", "settings is not one"),
        ("settings = { x = 3 }", "x must be a list of values, or have low"),
        ("settings = { x = { low = 1 } }", "x must be a list"),
        ("settings = { x = { low = 1, high = 2, step = 1 } }", "x must be a list"),
        ('settings = { x = { low = "1", high = 2 } }', "x ends at '1'"),
        ("settings = { x = { low = true, high = 2 } }", "x ends at True"),
        ("settings = { x = { low = 1, high = inf } }", "the number inf"),
        ('templates = { x = ["RARE{n}"] }', r"{n} in the template 'RARE{n}' is not one of the numbers"),
        ("numbers = { n = { low = 1, high = 2 } }", r"numbers.n is in no template of the space: write {n} there"),
        ("numbers = { n = { low = 1, high = 2.5 } }", "numbers.n must have a low and a high that are whole"),
        ("numbers = { n = [1, 2] }", "numbers.n must have a low and a high that are whole"),
        ("settings = { x = { low = 2, high = 2 } }", "low below its high"),
        ("settings = { x = { low = 0, high = 2, log = true } }", "above 0"),
        ("settings = { x = { low = 1, high = 2, log = 1 } }", "log"),
        ("settings = { x = [1] }", "x must have at least two options"),
        ('settings = { x = [1, "1"] }', "x must have at least two options, each with a name"),
        ("alternatives = { x = [1, 2] }", r"alternatives\.x must be a table"),
        ("alternatives = { x = { a = 1, b = 2 } }", r"alternatives\.x must be a table"),
        ("alternatives = { x = { a = { y = 1 } } }", "x must have at least two options"),
        ("templates = { x = 1 }", r"templates\.x must be a list of templates"),
        ("templates = { x = [1] }", r"templates\.x must be a list of strings"),
        ('templates = { always = "A" }', r"templates\.always must be a list of strings"),
        ("templates = { always = [] }", "no settings, no alternatives"),
        ("settings = { x = [1, 2] }\ntemplates = { x = [] }", "x is the name of two"),
        ("settings = { x = [1, 2] }\nstart = { y = 1 }", r"start\.y is 1"),
        ("settings = { x = [1, 2] }\nstart = { x = 3 }", r"start\.x is '3'"),
        ("settings = { x = { low = 1, high = 2 } }\nstart = { x = 3 }", r"start\.x is 3"),
        ("settings = { x = { low = 1, high = 2 } }\nstart = { x = 1.5 }", r"start\.x is 1\.5"),
    ],
)
def test_what_is_wrong_with_a_space_is_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "space.toml"
    path.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=rf"CRF631.*space\.toml.*({problem})"):
        read_space(path)


def test_a_space_has_to_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_bytes("# \xe4".encode("latin-1"))
    with pytest.raises(ValueError, match="CRF631"):
        read_space(path)


# -- configs ----------------------------------------------------------------------------------------------------


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(ROOT)
    return load_config(CONFIG, interpolate=False)


def test_a_candidate_keeps_variables_and_adds_templates(config: Any) -> None:
    found = space(
        """
        [settings]
        "components.crf_tagger.trainer.c2" = { low = 0.1, high = 1.0 }
        "training.patience" = [3, 4]
        [templates]
        more = ["LPREFIX9"]
        """
    )
    candidates = Candidates(config, found)
    assert candidates.component == "crf_tagger"
    values = {"components.crf_tagger.trainer.c2": 0.5, "training.patience": "4", "more": "on"}
    made = candidates.make(values)
    own = config["components"]["crf_tagger"]
    assert made["components"]["crf_tagger"]["trainer"] == {**own["trainer"], "c2": 0.5}
    assert made["components"]["crf_tagger"]["features"]["templates"] == [*own["features"]["templates"], "LPREFIX9"]
    assert made["corpora"]["train"]["path"] == "${paths.train}" and made["training"]["patience"] == 4
    again = candidates.make({**values, "more": "off"})
    assert again["components"]["crf_tagger"]["features"] == own["features"]
    candidates.check()


def test_blocks_that_are_left_to_defaults_are_written_out(config: Any) -> None:
    for block in ("trainer", "features"):
        del config["components"]["crf_tagger"][block]
    found = space('settings = { "components.crf_tagger.trainer.c1" = [0.5, 1.0] }\ntemplates = { bias = ["BIAS"] }')
    block = Candidates(config, found).make({"components.crf_tagger.trainer.c1": "0.5", "bias": "on"})
    trainer = block["components"]["crf_tagger"]["trainer"]
    assert trainer["@misc"] == "spacy_crf.LBFGS.v1" and trainer["c1"] == 0.5 and "memory" in trainer
    assert block["components"]["crf_tagger"]["features"]["templates"] == ["@tagging", "BIAS"]


TRAINERS = """
    [settings]
    "components.crf_tagger.trainer.c2" = { low = 0.1, high = 1.0 }
    [alternatives.trainer]
    lbfgs = { "components.crf_tagger.trainer" = { "@misc" = "spacy_crf.LBFGS.v1", "c1" = 0.5 } }
    arow = { "components.crf_tagger.trainer" = { "@misc" = "spacy_crf.AROW.v1" } }
    auto = { "components.crf_tagger.trainer" = "auto" }
    """


def test_a_setting_counts_in_the_blocks_that_have_it(config: Any) -> None:
    candidates = Candidates(config, space(TRAINERS))
    made = {
        name: candidates.make({"components.crf_tagger.trainer.c2": 0.3, "trainer": name})["components"]["crf_tagger"]
        for name in ("lbfgs", "arow", "auto")
    }
    assert made["lbfgs"]["trainer"] == {"@misc": "spacy_crf.LBFGS.v1", "c1": 0.5, "c2": 0.3}
    assert made["arow"]["trainer"] == {"@misc": "spacy_crf.AROW.v1"}
    assert made["auto"]["trainer"]["@misc"] == "spacy_crf.LBFGS.v1" and made["auto"]["trainer"]["c2"] == 0.3
    candidates.check()
    with pytest.raises(ValueError, match="CRF632.*trainer.c3"):
        Candidates(config, space(TRAINERS.replace("trainer.c2", "trainer.c3"))).check()


def test_a_setting_beside_its_block_that_the_block_has_not_is_refused(config: Any) -> None:
    slip = TRAINERS.replace('AROW.v1" } }', 'AROW.v1" }, "components.crf_tagger.trainer.c2" = 0.5 }')
    with pytest.raises(ValueError, match="CRF632.*trainer.c2"):
        Candidates(config, space(slip)).check()


def test_groups_of_templates_are_added_to_templates_that_are_chosen(config: Any) -> None:
    text = """
        settings = { "components.crf_tagger.features.templates" = [["@tagging"], ["@entities"]] }
        templates = { bias = ["BIAS"] }
        """
    values = {"components.crf_tagger.features.templates": '["@entities"]', "bias": "on"}
    made = Candidates(config, space(text)).make(values)["components"]["crf_tagger"]["features"]["templates"]
    assert made == ["@entities", "BIAS"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('settings = { "components.crf_tagger.decoder" = ["a", "b"] }', "CRF632.*decoder"),
        ('settings = { "components.tagger.decode" = ["a", "b"] }', "CRF632.*components.tagger.decode"),
        ('settings = { "training.seed.x" = ["a", "b"] }', "CRF632.*seed"),
        ('settings = { "components.crf_tagger.trainer.c3" = [1, 2] }', "c3"),
        ('settings = { "components.crf_tagger.decode" = ["viterbi", "best"] }', "best"),
        ('settings = { "components.crf_tagger.temperature" = { low = -1.0, high = 1.0 } }', "CRF408"),
        ('settings = { "paths.dev" = ["corpus/crf_tagger/dev.conllu", "nowhere"] }', "CRF502.*nowhere"),
        ('templates = { bad = ["LOVER[0]"] }', "LOVER"),
    ],
)
def test_slips_show_before_anything_is_trained(config: Any, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.compile(problem, re.DOTALL)):
        Candidates(config, space(text)).check()


def test_templates_need_a_component_that_has_some(config: Any) -> None:
    found = space('templates = { bias = ["BIAS"] }')
    with pytest.raises(ValueError, match=r"CRF635.*'tagger'.*have one: crf_tagger"):
        Candidates(config, found, "tagger")


def test_the_space_that_comes_with_the_project_fits_its_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    shipped = read_space(ROOT / "configs" / "set_valued_tagger_space.toml")
    assert set(shipped.start) == set(shipped.parameters)
    Candidates(
        load_config(ROOT / "configs" / "set_valued_tagger_heid_left3words.cfg", interpolate=False), shipped
    ).check()

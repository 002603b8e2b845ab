"""The benchmark of speed, on a model that knows a few words."""

import json
from pathlib import Path

import pytest
from spacy.training import Example

from benchmarks import punctuation_speed as speed
from benchmarks.punctuation_speed import JOBS, NAME
from spacy_crf.punctuation.reader import PunctuationCorpus

WORDS = ["well", "did", "she", "go", "home", "then", "they", "saw", "the", "mill"] * 20
TEXT = "Well, did she go home? Then they saw the mill. They saw the mill, and they went home."


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory):
    import spacy

    path = tmp_path_factory.mktemp("texts") / "texts.txt"
    path.write_text("\n".join([TEXT] * 3), encoding="utf8")
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config={"features": {"@misc": "spacy_crf.Features.v1", "templates": ["@punctuation"]}})
    examples: list[Example] = list(PunctuationCorpus(path, unit="line")(nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "WORDS", 200)
    monkeypatch.setattr(speed, "STREAMED", 10)


@pytest.mark.parametrize("job", [job for job in JOBS if not job.startswith("filter")])
def test_every_job_measures(nlp, job: str) -> None:
    numbers = JOBS[job](nlp, WORDS)
    assert numbers and all(value > 0 for value in numbers.values())
    json.dumps(numbers)


def test_the_filter_is_measured_and_checked(nlp) -> None:
    numbers = speed.filter_file(nlp, WORDS, 100, is_new=True)
    assert numbers["peak_mebibytes"] > 50 and numbers["words_per_second"] > 0


def test_files_have_so_many_words(tmp_path: Path) -> None:
    for is_new in (True, False):
        speed.write_text(tmp_path / "text", 150, WORDS, is_new)
        words = (tmp_path / "text").read_text(encoding="utf8").split()
        assert len(words) == 150 and (set(words) <= set(WORDS)) is not is_new

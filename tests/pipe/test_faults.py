"""Savings and training that are killed, interrupted, or without room: what was complete loads, the rest is refused.

python -m pytest tests/pipe/test_faults.py --slow -s      # 200 moments each, with their table
"""

import errno
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import spacy
from contract.make_models import make_config
from contract.models import MODELS
from helpers.paths import ROOT
from helpers.tagged import build, clean_docs, train
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_pipeline

from spacy_crf import CRFError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
MOMENTS = [6, pytest.param(200, marks=pytest.mark.slow)]


def stop(work: Callable[..., None], arguments: tuple[Any, ...], seconds: float, number: int) -> None:
    """Do work in another process, and send it a signal after some time."""
    process = get_context("fork").Process(target=quietly, args=(work, arguments))
    process.start()
    time.sleep(seconds)
    os.kill(process.pid or 0, number)
    process.join()


def quietly(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        work(*arguments)


def save_in_turn(pipes: list[Any], folder: Path) -> None:
    for _ in range(10_000):
        for pipe in pipes:
            pipe.to_disk(folder)


@pytest.mark.parametrize("n_moments", MOMENTS)
def test_a_saving_that_is_killed_leaves_one_of_both(n_moments: int, tmp_path: Path) -> None:
    pipes = make_two()
    contents, rng, found = [pipe.to_bytes() for pipe in pipes], random.Random(0), Counter[str]()
    pipes[0].to_disk(tmp_path)
    for _ in range(n_moments):
        stop(save_in_turn, (pipes, tmp_path), rng.uniform(0.02, 0.2), signal.SIGKILL)
        found["between renamings"] += any(tmp_path.glob("checksums.json.partial"))
        found["between writings"] += any(tmp_path.glob("*.partial"))
        loaded = build().get_pipe("crf_tagger").from_disk(tmp_path)
        found["loaded"] += loaded.to_bytes() in contents
    print(dict(found))
    assert found["loaded"] == n_moments


def make_two() -> list[Any]:
    """Two taggers that differ in every file."""
    first, second = (train(trainer).get_pipe("crf_tagger") for trainer in ("LBFGS", "AdaGrad"))
    second.add_label("ANOTHER")
    return [first, second]


def train_small(output: Path) -> None:
    os.chdir(ROOT)
    output.mkdir()
    train_pipeline(init_nlp(small_config()), output)


def small_config() -> Any:
    config = make_config(MODELS["tagger"]).copy()
    config["corpora"]["train"]["limit"] = 20
    config["training"].update(max_steps=12, eval_frequency=1, patience=0)
    config["components"]["crf_tagger"]["trainer"]["iterations_per_step"] = 1
    return config.interpolate()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("n_moments", MOMENTS)
def test_a_training_that_is_stopped_leaves_a_model(
    n_moments: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    started = time.perf_counter()
    quietly_here(train_small, tmp_path / "whole")
    whole, rng, found = time.perf_counter() - started, random.Random(1), Counter[str]()
    for moment in range(n_moments):
        output = tmp_path / str(moment)
        stop(train_small, (output,), rng.uniform(0.1, 1.0) * whole, number)
        states = [try_to_load(output / name) for name in ("model-last", "model-best")]
        found.update(f"{name} {state}" for name, state in zip(("last", "best"), states))
        found["one of both"] += "whole" in states
        found["none of two"] += (output / "model-best").exists() and "whole" not in states
        shutil.rmtree(output, ignore_errors=True)
    print(signal.Signals(number).name, dict(sorted(found.items())))
    assert not found["none of two"]
    assert not found["last wrong"] + found["best wrong"]


def quietly_here(work: Callable[..., None], *arguments: Any) -> None:
    before = sys.stdout, sys.stderr
    try:
        quietly(work, arguments)
    finally:
        sys.stdout, sys.stderr = before


def try_to_load(path: Path) -> str:
    """What becomes of a folder: "whole", "none", or refused by us or by spaCy."""
    if not path.exists():
        return "none"
    try:
        nlp = spacy.load(path)
    except CRFError as error:
        assert "take another copy, such as model-best" in str(error)
        return "refused by us"
    except (OSError, ValueError, KeyError, EOFError):
        return "refused by spaCy"
    doc = nlp("The boats that left before dawn were back by noon.")
    return "whole" if all(token.tag_ for token in doc) else "wrong"


# -- no room, no right -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", range(4))
def test_a_full_disk_leaves_what_was_saved(
    problem: int, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_two()
    first.to_disk(tmp_path)
    calls = 0

    def fail(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > call:
            raise OSError(problem, os.strerror(problem))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(CRFError, match=r"CRF427.*cannot be written.*Make room.*left alone"):
            second.to_disk(tmp_path)
    assert not list(tmp_path.glob("*.partial"))
    assert build().get_pipe("crf_tagger").from_disk(tmp_path).to_bytes() == first.to_bytes()


class Killed(BaseException):
    """What ends a process."""


def test_savings_that_are_killed_again_and_again_leave_one_that_was_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each two moments, one saving after the other is killed: what loads is the last that was complete, or newer."""
    first, second = make_two()
    third = train("Perceptron").get_pipe("crf_tagger")
    contents = [pipe.to_bytes() for pipe in (first, second, third)]
    left, calls = 0, {"fsync": os.fsync, "replace": Path.replace}

    def limited(name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return calls[name](*arguments)

        return call

    first.to_disk(tmp_path / "before")
    monkeypatch.setattr(os, "fsync", limited("fsync"))
    monkeypatch.setattr(Path, "replace", limited("replace"))
    for moment, again in product(range(9), range(13)):
        folder = tmp_path / f"{moment} {again}"
        shutil.copytree(tmp_path / "before", folder)
        for pipe, count in ((second, moment), (third, again)):
            left = count
            with suppress(Killed):
                pipe.to_disk(folder)
        loaded = build().get_pipe("crf_tagger").from_disk(folder).to_bytes()
        newest = 2 if again >= 12 else 0 if moment < 4 else 1
        assert contents.index(loaded) >= newest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process of its own has the limit")
def test_files_may_not_become_longer(tmp_path: Path) -> None:
    import resource

    first, second = make_two()
    first.to_disk(tmp_path)

    def save_small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            second.to_disk(tmp_path)
        except CRFError as error:
            os._exit(7 if error.code == "CRF427" else 8)

    process = get_context("fork").Process(target=save_small)
    process.start()
    process.join()
    assert process.exitcode == 7
    assert build().get_pipe("crf_tagger").from_disk(tmp_path).to_bytes() == first.to_bytes()


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    pipe = train().get_pipe("crf_tagger")
    (tmp_path / "file").write_text("", encoding="utf8")
    for path in (tmp_path / "file", tmp_path / "file" / "folder", tmp_path / "missing" / "folder"):
        with pytest.raises(CRFError, match="CRF427.*cannot be written"):
            pipe.to_disk(path)


def test_an_interrupt_while_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_two()
    first.to_disk(tmp_path)
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if target.name == "model":
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            second.to_disk(tmp_path)
    nlp = build()
    assert nlp.get_pipe("crf_tagger").from_disk(tmp_path).to_bytes() == second.to_bytes()
    assert nlp(clean_docs(nlp)[0])[0].tag_

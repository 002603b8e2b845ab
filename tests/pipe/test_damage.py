"""Folders whose files are damaged, mixed, or made by somebody who means harm: a coded error, never another answer."""

import json
import random
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from contract.models import MODELS, predict
from helpers.folders import CHECKSUMS, accept_edits, unpack_model
from helpers.tagged import build, train
from spacy.language import Language

from spacy_crf import CRFError

LOWER = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]"]}
FLIPS = 500  # of each file, in the slow test


@contextmanager
def most_memory(n_bytes: float) -> Iterator[None]:
    """Assert that no more is allocated at a time."""
    tracemalloc.start()
    try:
        yield
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < n_bytes


def load(name: str, folder: Path) -> tuple[Language, Path]:
    """A pipeline of the saved ones, and its folder, saved again as this version does."""
    nlp = spacy.load(unpack_model(name, folder / "old"))
    nlp.to_disk(folder / "new")
    return nlp, folder / "new"


def flipped(content: bytes, rng: random.Random) -> bytes:
    """The same bytes with one bit turned over."""
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def damages(content: bytes, rng: random.Random, n_flips: int) -> Iterator[bytes]:
    """Contents with a bit turned over each, cut off, doubled, emptied."""
    yield from (flipped(content, rng) for _ in range(n_flips))
    yield from (content[: len(content) // 2], content[:-1], content + content, content + b"\n", b"")


def check_damages(name: str, folder: Path, n_flips: int) -> int:
    """Damage every file of every component in turn, and return how often it was noticed."""
    nlp, saved = load(name, folder)
    noticed, rng = 0, random.Random(name)
    files = [path for pipe in nlp.pipe_names if (saved / pipe).exists() for path in sorted((saved / pipe).iterdir())]
    for path in files:
        content, pipe = path.read_bytes(), nlp.get_pipe(path.parent.name)
        for damaged in damages(content, rng, n_flips):
            path.write_bytes(damaged)
            try:
                pipe.from_disk(path.parent)
            except CRFError as error:
                assert error.code in ("CRF404", "CRF425", "CRF426") and len(str(error)) < 1000
                noticed += 1
            else:  # white space of the list of checksums
                assert path.name == CHECKSUMS and json.loads(damaged) == json.loads(content)
        path.write_bytes(content)
        pipe.from_disk(path.parent)
    return noticed


@pytest.mark.parametrize("name", ["tagger", "sourced", "sections"])
def test_damage_is_noticed(name: str, tmp_path: Path) -> None:
    assert check_damages(name, tmp_path, 3) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_any_damage_is_noticed(name: str, tmp_path: Path) -> None:
    print(name, check_damages(name, tmp_path, FLIPS))


def test_files_of_two_savings_are_told_apart(tmp_path: Path) -> None:
    for number, target in enumerate(("tag", "pos")):
        train(target=target, features={**LOWER, "min_count": 1 + number}).get_pipe("crf_tagger").to_disk(
            tmp_path / str(number)
        )
    for name in ("cfg", "features", "model"):
        mixed = build(target="tag", features=LOWER).get_pipe("crf_tagger")
        (tmp_path / "mixed").mkdir(exist_ok=True)
        for path in (tmp_path / "0").iterdir():
            (tmp_path / "mixed" / path.name).write_bytes(path.read_bytes())
        (tmp_path / "mixed" / name).write_bytes((tmp_path / "1" / name).read_bytes())
        with pytest.raises(CRFError, match=f"CRF426.*{name} is not as it was written"):
            mixed.from_disk(tmp_path / "mixed")


def test_half_of_a_folder_is_not_taken_for_all(tmp_path: Path) -> None:
    pipe = train().get_pipe("crf_tagger")
    pipe.to_disk(tmp_path)
    (tmp_path / CHECKSUMS).unlink()
    with pytest.raises(CRFError, match=r"CRF428.*checksums.json is missing.*model-best"):
        build().get_pipe("crf_tagger").from_disk(tmp_path)


def test_half_of_a_folder_without_weights_is_not_taken_for_all(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    for factory, source in (("crf_tagger", {}), ("set_valued_tagger", {"source": "crf_tagger"})):
        pipe = nlp.add_pipe(factory, config=source)
    pipe.to_disk(tmp_path)
    (tmp_path / CHECKSUMS).unlink()
    with pytest.raises(CRFError, match=r"CRF428.*checksums.json is missing"):
        pipe.from_disk(tmp_path)


def test_an_edit_is_accepted_when_its_checksum_is_null(tmp_path: Path) -> None:
    pipe = train().get_pipe("crf_tagger")
    pipe.to_disk(tmp_path)
    cfg = (tmp_path / "cfg").read_text(encoding="utf8")
    (tmp_path / "cfg").write_text(cfg.replace('"NNP"', '"NAME"'), encoding="utf8")
    with pytest.raises(CRFError, match="CRF426"):
        build().get_pipe("crf_tagger").from_disk(tmp_path)
    accept_edits(tmp_path)
    assert "NAME" in build().get_pipe("crf_tagger").from_disk(tmp_path).labels


@pytest.mark.parametrize("name", ["tagger", "sourced"])
def test_bytes_are_checked_as_folders_are(name: str, tmp_path: Path) -> None:
    nlp, _ = load(name, tmp_path)
    before, rng = predict(MODELS[name], nlp), random.Random(1)
    for pipe in (nlp.get_pipe(one) for one in nlp.pipe_names if hasattr(nlp.get_pipe(one), "restore")):
        stored = pipe.to_bytes()
        for damaged in damages(stored, rng, 40):
            with pytest.raises(CRFError):
                pipe.from_bytes(damaged)
        pipe.from_bytes(stored)
    assert predict(MODELS[name], nlp) == before


# -- what no saving ever wrote, with the right checksums ------------------------------------------------------


def rewrite(pipe: Any, part: str, change: Callable[[Any], None]) -> bytes:
    """The bytes of a component with a part changed, and nothing that tells."""
    files = srsly.msgpack_loads(pipe.to_bytes())
    data = srsly.msgpack_loads(zlib.decompress(files[part]))
    change(data)
    files[part] = zlib.compress(srsly.msgpack_dumps(data))
    files[CHECKSUMS] = json.dumps(dict.fromkeys(files)).encode()
    changed: bytes = srsly.msgpack_dumps(files)
    return changed


def of_params(change: Callable[[dict[str, Any]], None]) -> Callable[[Any], None]:
    return lambda data: change(data["params"][0])


def of_layout(change: Callable[[dict[str, Any]], None]) -> Callable[[Any], None]:
    def changed(data: Any) -> None:
        layout = srsly.msgpack_loads(data["attrs"][0]["layout"])
        change(layout)
        data["attrs"][0]["layout"] = srsly.msgpack_dumps(layout)

    return changed


def with_value(name: str, value: float) -> Callable[[Any], None]:
    def change(params: dict[str, Any]) -> None:
        params[name] = params[name].astype(np.float32)
        params[name][0] = value

    return of_params(change)


def doubled(steps: Any) -> Any:
    changed = steps.copy()
    changed[1] = 0
    return changed


WEIGHTS = {
    "nan": with_value("state", np.nan),
    "inf": with_value("transitions", -np.inf),
    "huge": with_value("state", 3e38),
    "1e30": with_value("start", 1e30),
    "whole numbers": of_params(lambda p: p.update(state=p["state"].astype(np.int32))),
    "truth values": of_params(lambda p: p.update(state=p["state"] != 0)),
    "bytes": of_params(lambda p: p.update(state=b"abc")),
    "text": of_params(lambda p: p.update(state="abc")),
    "too few": of_params(lambda p: p.update(state=p["state"][1:])),
    "another shape": of_params(lambda p: p.update(start=p["start"][:, None])),
    "missing": of_params(lambda p: p.update(edges=None)),
    "doubled": of_layout(lambda x: x.update(state_cells=doubled(x["state_cells"]))),
    "negative": of_layout(lambda x: x.update(state_cells=x["state_cells"] - np.int32(5))),
    "out of range": of_layout(lambda x: x.update(transition_cells=x["transition_cells"] + np.int32(1000))),
    "floats": of_layout(lambda x: x.update(state_cells=x["state_cells"].astype(np.float64))),
    "many labels": of_layout(lambda x: x.update(n_labels=1 << 23)),
    "many features": of_layout(lambda x: x.update(n_features=1 << 40)),
    "many edges": of_layout(lambda x: x.update(n_edge_features=1 << 40)),
    "fewer than none": of_layout(lambda x: x.update(n_labels=-1)),
}
FEATURES: dict[str, Callable[[Any], None]] = {
    "templates out of range": lambda x: x["state"].update(template=x["state"]["template"] + np.uint8(200)),
    "values out of range": lambda x: x["state"].update(values=x["state"]["values"][:3]),
    "signed": lambda x: x["state"].update(atoms=-x["state"]["atoms"].astype(np.int32)),
    "floats": lambda x: x["state"].update(template=x["state"]["template"].astype(np.float32)),
    "another shape": lambda x: x["state"].update(atoms=x["state"]["atoms"].reshape(-1)),
    "numbers for strings": lambda x: x["state"].update(values=[1] * len(x["state"]["values"])),
    "missing": lambda x: x.pop("state"),
    "doubled": lambda x: x["state"].update(template=np.zeros_like(x["state"]["template"])),
}


@pytest.mark.parametrize("part, change", [("model", one) for one in WEIGHTS] + [("features", one) for one in FEATURES])
def test_arrays_that_no_training_makes_are_refused(part: str, change: str) -> None:
    pipe = train().get_pipe("crf_tagger")
    changed = rewrite(pipe, part, (WEIGHTS if part == "model" else FEATURES)[change])
    with pytest.raises(CRFError, match=r"CRF4(04|12)") as caught, most_memory(50e6):
        build().get_pipe("crf_tagger").from_bytes(changed)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "bomb",
    [
        zlib.compress(b"\xc0" * 100_000_000),
        zlib.compress(b"\xdd\x01\x00\x00\x00" + b"\x90" * (1 << 24)),
        zlib.compress(b"\xdc\x0f\xff" * 5_000_000),
        zlib.compress(srsly.msgpack_dumps([["a"] * 1000] * 5000)),
        zlib.compress(b"\x91" * 1_000_000),
    ],
    ids=["bytes", "list", "nested lists", "lists", "deep lists"],
)
@pytest.mark.parametrize("part", ["features", "model"])
def test_little_data_that_unpacks_to_much_is_refused(bomb: bytes, part: str, tmp_path: Path) -> None:
    train().get_pipe("crf_tagger").to_disk(tmp_path)
    (tmp_path / part).write_bytes(bomb)
    accept_edits(tmp_path)
    with pytest.raises(CRFError, match="CRF404") as caught, most_memory(250e6):
        build().get_pipe("crf_tagger").from_disk(tmp_path)
    assert len(str(caught.value)) < 1000


def test_weights_that_are_no_numbers_are_not_saved(tmp_path: Path) -> None:
    pipe = train().get_pipe("crf_tagger")
    pipe.to_disk(tmp_path)
    weights = pipe.model.get_param("state").copy()
    weights[0] = np.nan
    pipe.model.set_param("state", weights)
    with pytest.raises(CRFError, match="CRF429.*diverged"):
        pipe.to_disk(tmp_path)
    assert build().get_pipe("crf_tagger").from_disk(tmp_path).labels == pipe.labels


def test_what_hardly_holds_anything_is_saved_and_read() -> None:
    nlp = build(model={"@architectures": "spacy_crf.LinearChain.v1", "all_states": True})
    pipe = train().get_pipe("crf_tagger")
    pipe.model.set_param("state", np.zeros_like(pipe.model.get_param("state")))
    assert nlp.get_pipe("crf_tagger").from_bytes(pipe.to_bytes()).labels == pipe.labels


LEARNED: dict[str, list[Any]] = {  # with values of another form
    "preparation": [
        False,
        "x",
        [],
        {},
        {"punctuation": "none", "cuts": True, "words": []},
        {"punctuation": "gold", "cuts": 1, "words": []},
        {"punctuation": "gold", "cuts": True, "words": "abc"},
        {"punctuation": "gold", "cuts": True, "words": [1]},
        {"punctuation": "gold", "cuts": True, "words": [], "more": 1},
    ],
    "skips_white_space": [None, 0, 1, "x", []],
    "parents": [None, False, 1.5, "x", {}, [1], ["ab"], [["a"]], [["a", 1]], [["a", "b", "c"]]],
    "mixed_forms": [None, True, "x", [], {"bluefern": 1}, {"bluefern": None}],
    "signs": [None, True, "x", [["DASH", "-"]], {"DASH": 1}],
    "calibration": [
        False,
        "x",
        [],
        {},
        {"marks": "abc", "weights": [], "bias": []},
        {"marks": ["COMMA"], "weights": [[1, 2]], "bias": [0.0]},
        {"marks": ["COMMA", "DASH"], "weights": [[1, 2], [1]], "bias": [0.0, 1.0]},
        {"marks": ["COMMA"], "weights": [[1e300]], "bias": [0.0]},
        {"marks": ["COMMA"], "weights": [[1.0]], "bias": [0.0], "temperature": None},
    ],
}


@pytest.mark.parametrize("name", MODELS)
def test_what_was_learned_has_its_form_or_is_refused(name: str, tmp_path: Path) -> None:
    _, folder = load(name, tmp_path)
    for path in folder.glob("*/cfg"):
        accept_edits(path.parent)
        stored = srsly.read_json(path)
        for setting in LEARNED.keys() & stored.keys():
            for value in LEARNED[setting]:
                srsly.write_json(path, {**stored, setting: value})
                with pytest.raises(CRFError, match="CRF404"):
                    spacy.load(folder)
        srsly.write_json(path, stored)
    spacy.load(folder)

"""Training on several processes ends where training on one does, whatever becomes of these."""

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.paths import ROOT
from helpers.tagged import make_examples
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.training import Example

from spacy_crf import Corpus
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.sparse import SparseRows
from spacy_crf.core.weights import Layout
from spacy_crf.learning.distributed import connect, cut_shards, evaluate_shard, narrow, read_shard, write_shard
from spacy_crf.learning.model import get_weights

TRAIN, DEV = (ROOT / "corpus" / "crf_tagger" / f"{name}.conllu" for name in ("train", "dev"))
LBFGS = {"@misc": "spacy_crf.LBFGS.v1", "period": 0, "epsilon": 1e-5, "iterations_per_step": 300}
needs_dask = pytest.mark.filterwarnings("default")


def random_corpus(rng: np.random.Generator, lengths: list[int], n_features: int = 12, n_labels: int = 3) -> Any:
    n = sum(lengths)
    sizes = rng.integers(0, 5, n)
    indices = np.concatenate([rng.choice(n_features, size, replace=False) for size in sizes]).astype(np.int32)
    rows = SparseRows(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), indices, None, n_features)
    gold = Gold.known(rng.integers(0, n_labels, n).astype(np.int32), n_labels)
    cells = np.flatnonzero(rng.random(n_features * n_labels) < 0.7)
    pairs = np.arange(n_labels * n_labels)
    layout = Layout.empty(n_labels, True, n_features)
    layout = Layout(**{**vars(layout), "state_cells": cells, "transition_cells": pairs})
    return EncodedCorpus(np.array(lengths), rows, gold), layout


@given(st.integers(0, 10**6), st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 5))
def test_the_shards_add_up_to_the_corpus(
    tmp_path_factory: pytest.TempPathFactory, seed: int, lengths: list[int], n_shards: int
) -> None:
    lengths = [*lengths, 3]
    rng = np.random.default_rng(seed)
    corpus, layout = random_corpus(rng, lengths)
    flat = rng.normal(size=layout.size)
    shards = cut_shards(corpus, n_shards)
    assert sum(len(shard.lengths) for shard in shards) == len(lengths) and 1 <= len(shards) <= n_shards
    value, gradient, folder = 0.0, np.zeros(layout.size), tmp_path_factory.mktemp("shards")
    for number, shard in enumerate(shards):
        own, narrowed, places = narrow(shard, layout)
        write_shard(folder / f"{number}.npz", own, narrowed)
        assert len(read_shard(str(folder / f"{number}.npz"))[0].lengths) == len(shard.lengths)
        loss, slopes = evaluate_shard(str(folder / f"{number}.npz"), flat[places])
        value += loss
        gradient[places] += slopes
    whole = FullBatchObjective(corpus, layout, 0.0)
    # numeric check at the same point, in the layout's own weights
    expected, _ = whole(whole.basis.start(flat))
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-4)
    direction = rng.normal(size=layout.size)
    ahead, behind = (whole(whole.basis.start(flat + step * direction))[0] for step in (1e-2, -1e-2))
    assert gradient @ direction == pytest.approx((ahead - behind) / 2e-2, rel=2e-2, abs=2e-2)


def make(trainer: dict[str, Any], **corpus: Any) -> tuple[Language, list[Example]]:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", config={"trainer": trainer})
    examples: list[Example] = list(Corpus(TRAIN, **corpus)(nlp))
    nlp.initialize(lambda: examples)
    return nlp, examples


def trained(trainer: dict[str, Any], steps: int, **corpus: Any) -> tuple[Language, Any, np.ndarray]:
    nlp, examples = make(trainer, **corpus)
    for _ in range(steps):
        nlp.update(examples)
    pipe: Any = nlp.get_pipe("crf_tagger")
    optimizer, flat = pipe.trainer.optimizer, get_weights(pipe.model).flat
    pipe.trainer.reset()
    return nlp, optimizer, flat


@needs_dask
@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_the_optimum_is_that_of_one_machine(c1: float) -> None:
    pytest.importorskip("distributed", reason="needs the extra dask")
    inner = {**LBFGS, "c1": c1}
    _, alone, flat = trained(inner, 2, limit=60)
    _, found, other = trained({"@misc": "spacy_crf.Distributed.v1", "trainer": inner, "workers": 2}, 2, limit=60)
    assert found.value == pytest.approx(alone.value, rel=1e-6)
    np.testing.assert_allclose(other, flat, atol=0.02)


@needs_dask
def test_workers_may_run_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        monkeypatch.chdir(tmp_path)
        settings = {"trainer": LBFGS, "scheduler": cluster.scheduler_address, "folder": "."}
        *_, weights = trained({"@misc": "spacy_crf.Distributed.v1", **settings}, 1, limit=20)
    *_, alone = trained(LBFGS, 1, limit=20)
    np.testing.assert_allclose(weights, alone, atol=1e-3)


@needs_dask
def test_there_are_as_many_workers_as_asked_and_they_keep_memory_for_the_next_array() -> None:
    pytest.importorskip("distributed", reason="needs the extra dask")
    with connect(None, workers=3) as client:
        found = client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_")
    assert list(found.values()) == 3 * [os.environ.get("MALLOC_TRIM_THRESHOLD_")]


@needs_dask
def test_averaged_epochs_learn_as_well(tmp_path: Any) -> None:
    pytest.importorskip("distributed", reason="needs the extra dask")
    inner = {"@misc": "spacy_crf.AdaGrad.v1"}
    settings = {"@misc": "spacy_crf.Distributed.v1", "trainer": inner, "workers": 2, "folder": str(tmp_path)}
    nlp, mixed, _ = trained(settings, 5)
    assert mixed.iterations == 5 and list(tmp_path.iterdir()) == []
    one, _, _ = trained(LBFGS, 1)
    dev = list(Corpus(DEV)(nlp))
    assert nlp.evaluate(dev)["tag_acc"] > one.evaluate(dev)["tag_acc"] - 0.01
    assert nlp.from_bytes(nlp.to_bytes()).evaluate(dev)["tag_acc"] == nlp.evaluate(dev)["tag_acc"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"trainer": {"@misc": "spacy_crf.Perceptron.v1"}}, "trainer is PerceptronSettings"),
        ({"trainer": {**LBFGS, "unseen": 0.1}}, "unseen is 0.1; it must be left out"),
        ({"trainer": {**LBFGS, "resumable": True}}, "resumable is True"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        spacy.blank("en").add_pipe(
            "crf_tagger", config={"trainer": {"@misc": "spacy_crf.Distributed.v1", "trainer": LBFGS, **settings}}
        )


@needs_dask
@pytest.mark.slow
def test_ten_runs_whose_workers_are_killed_end_at_the_same_objective() -> None:
    pytest.importorskip("distributed", reason="needs the extra dask")
    settings = {"@misc": "spacy_crf.Distributed.v1", "trainer": {**LBFGS, "iterations_per_step": 4}, "workers": 2}
    _, expected, flat = trained(settings, 6, limit=60)
    rng = random.Random(0)
    for _ in range(10):
        nlp, examples = make(settings, limit=60)
        nlp.update(examples)
        pipe: Any = nlp.get_pipe("crf_tagger")
        killed: list[int] = []
        killer = threading.Thread(target=kill_two, args=(pipe.trainer.shards.client.cluster, rng, killed))
        killer.start()
        for _ in range(5):
            nlp.update(examples)
        killer.join()
        assert killed and pipe.trainer.optimizer.value == expected.value
        np.testing.assert_array_equal(get_weights(pipe.model).flat, flat)
        pipe.trainer.reset()


def kill_two(cluster: Any, rng: random.Random, killed: list[int]) -> None:
    """Kill workers of a cluster at two moments, and note their numbers."""
    for _ in range(2):
        time.sleep(rng.random())
        if pids := [nanny.pid for nanny in cluster.workers.values() if nanny.pid]:
            killed.append(rng.choice(pids))
            os.kill(killed[-1], signal.SIGKILL)


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"trainer": {"@misc": "spacy_crf.Distributed.v1", "trainer": LBFGS}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match="CRF688"):
        nlp.update(examples)

"""Processes, threads and thread counts change no answer and no byte."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import spacy
from contract.models import ENGLISH, MODELS, describe
from helpers.folders import unpack_model
from helpers.paths import ROOT
from spacy.language import Language
from spacy.util import registry

QUICK = ("tagger", "references")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
METHODS = sorted({"fork", "spawn", "forkserver"} & set(multiprocessing.get_all_start_methods()))


def load(name: str, folder: Path) -> Language:
    return spacy.load(unpack_model(name, folder))


def texts(name: str, times: int) -> list[str]:
    """Texts that differ, some of them with words that nobody has seen."""
    known = [*ENGLISH, *MODELS[name].texts]
    return [f"{text} {'abcdefgh'[k % 8] * (k % 5)}".strip() for k in range(times) for text in known]


@pytest.mark.parametrize("name", NAMES)
def test_eight_threads_share_a_pipeline(name: str, tmp_path: Path) -> None:
    nlp, asked = load(name, tmp_path), texts(name, 30)
    expected = [describe(MODELS[name], nlp(text)) for text in asked]
    shared = spacy.load(tmp_path)  # with caches that are empty, which all threads fill
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: describe(MODELS[name], shared(text)), asked))
    assert found == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_worker_processes(name: str, method: str, tmp_path: Path) -> None:
    nlp, asked = load(name, tmp_path / "model"), texts(name, 3)
    expected = [describe(MODELS[name], doc) for doc in nlp.pipe(asked)]
    script = textwrap.dedent(f"""
        import json, multiprocessing, sys
        import spacy
        sys.path.insert(0, {str(ROOT / "tests")!r})
        from contract.models import MODELS, describe
        if __name__ == "__main__":
            multiprocessing.set_start_method({method!r})
            nlp = spacy.load({str(tmp_path / "model")!r})
            docs = nlp.pipe({asked!r}, n_process=2, batch_size=4)
            print(json.dumps([describe(MODELS[{name!r}], doc) for doc in docs]))
    """)
    (tmp_path / "script.py").write_text(script, encoding="utf8")
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


@pytest.mark.skipif("fork" not in METHODS, reason="nothing is forked here")
@pytest.mark.parametrize("name", NAMES)
def test_workers_are_forked_while_threads_are_at_work(name: str, tmp_path: Path) -> None:
    load(name, tmp_path / "model")
    script = textwrap.dedent(f"""
        import multiprocessing, sys, threading
        import spacy
        sys.path.insert(0, {str(ROOT / "tests")!r})
        from contract.models import MODELS, describe
        multiprocessing.set_start_method("fork")
        asked = {texts(name, 2)!r}
        nlp = spacy.load({str(tmp_path / "model")!r})
        expected = [describe(MODELS[{name!r}], doc) for doc in nlp.pipe(asked)]
        nlp, done = spacy.load({str(tmp_path / "model")!r}), threading.Event()
        def work():
            while not done.is_set():
                list(nlp.pipe(asked))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3):
                docs = nlp.pipe(asked, n_process=2, batch_size=4)
                assert [describe(MODELS[{name!r}], doc) for doc in docs] == expected
        finally:
            done.set()
    """)
    script = [sys.executable, "-W", "ignore", "-c", script]
    with subprocess.Popen(script, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True) as process:
        try:
            errors = process.communicate(timeout=120)[1]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # workers that hang would keep its pipe open
    assert process.returncode == 0, errors


@pytest.mark.parametrize("model", [{"order": 1, "all_states": True}, {"order": 2}], ids=["order 1", "order 2"])
def test_the_number_of_threads_changes_no_byte(model: dict[str, Any]) -> None:
    corpus = {"@readers": "spacy_crf.Corpus.v1", "path": str(ROOT / "corpus" / "crf_tagger" / "train.conllu")}
    found = []
    for n_threads in (1, 2, 4):
        trainer = {"@misc": "spacy_crf.LBFGS.v1", "n_threads": n_threads, "unseen": 0.01, "first_order_steps": 2}
        config = {"model": {"@architectures": "spacy_crf.LinearChain.v1", **model}, "trainer": trainer, "target": "pos"}
        nlp = spacy.blank("en")
        nlp.add_pipe("crf_tagger", config=config)
        examples = list(registry.resolve({"reader": {**corpus, "limit": 400}})["reader"](nlp))
        optimizer = nlp.initialize(lambda read=examples: read)
        for _ in range(4):
            nlp.update(examples, sgd=optimizer)
        found.append(nlp.get_pipe("crf_tagger").to_bytes())
    assert found[0] == found[1] == found[2]

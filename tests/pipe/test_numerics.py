"""Single and double precision give the same labels; chains may be long, and labels many."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from contract.models import MODELS
from helpers.folders import unpack_model
from helpers.paths import ROOT
from helpers.tagged import clean_docs, train
from scipy.special import logsumexp
from spacy.tokens import Doc
from spacy.util import registry

from benchmarks.precision import labels_that_differ
from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.core.chain.potentials import ChainPotentials

LONG, MANY = 1_000_000, 2_000


def random_chain(n_units: int, n_labels: int, seed: int = 0) -> ChainPotentials:
    rng = np.random.default_rng(seed)
    emissions = rng.normal(size=(n_units, n_labels)).astype(np.float32)
    transitions, start, end = (rng.normal(size=shape) for shape in ((n_labels, n_labels), n_labels, n_labels))
    transitions = transitions.astype(np.float32)
    batch = pack(np.array([n_units]))
    return ChainPotentials(batch, emissions, transitions, start.astype(np.float32), end.astype(np.float32))


def log_z_and_best(chain: ChainPotentials) -> tuple[float, float]:
    """The sum and the greatest score of all labellings, in double precision, one unit after the other."""
    emissions, transitions = chain.emissions.astype(np.float64), chain.transitions.astype(np.float64)
    total = best = chain.start.astype(np.float64) + emissions[0]
    for row in emissions[1:]:
        total = logsumexp(total[:, None] + transitions, axis=0) + row
        best = (best[:, None] + transitions).max(axis=0) + row
    return float(logsumexp(total + chain.end)), float((best + chain.end).max())


@pytest.mark.parametrize("n_units, n_labels", [(3000, 5), (12, 300), pytest.param(40, MANY, marks=pytest.mark.slow)])
def test_long_chains_and_many_labels(n_units: int, n_labels: int) -> None:
    chain = random_chain(n_units, n_labels)
    said = ChainDistribution(chain)
    log_z, best = log_z_and_best(chain)
    np.testing.assert_allclose(said.log_z, [log_z], rtol=1e-6)
    np.testing.assert_allclose(said.best_scores, [best], rtol=1e-6)
    np.testing.assert_allclose(said.marginals.sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("n_units", [30_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", [1.0, 20.0], ids=["all labels", "few labels"])  # which Viterbi looks at
def test_long_chains_have_the_labels_of_double_precision(n_units: int, scale: float) -> None:
    chain = random_chain(n_units, 8)
    chain = replace(chain, emissions=chain.emissions * np.float32(scale))
    single, double = ChainDistribution(chain), ChainDistribution(chain.astype(np.float64))
    assert np.array_equal(single.best(), double.best())
    assert np.array_equal(single.n_best(2)[0].labels, double.n_best(2)[0].labels)


@pytest.mark.slow
def test_a_chain_of_a_million_units() -> None:
    chain, started = random_chain(LONG, 5), time.perf_counter()
    said = ChainDistribution(chain)
    marginals, labels = said.marginals, said.best()
    print(f"{LONG:,} units, 5 labels: {time.perf_counter() - started:.1f} s")
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-9)
    whole = np.r_[said.log_z, said.best_scores]
    emissions, before = chain.emissions.astype(np.float64), chain.transitions.astype(np.float64)
    score = chain.start[labels[0]] + chain.end[labels[-1]] + emissions[np.arange(LONG), labels].sum()
    np.testing.assert_allclose(score + before[labels[:-1], labels[1:]].sum(), whole[1], rtol=1e-9)
    part = random_chain(LONG, 5).emissions[:2000]  # far from the end, what comes there makes no difference
    near = ChainDistribution(ChainPotentials(pack(np.array([2000])), part, chain.transitions, chain.start, chain.end))
    np.testing.assert_allclose(near.marginals[:1500], marginals[:1500], atol=1e-6)


@pytest.mark.slow
def test_a_doc_of_a_million_tokens() -> None:
    nlp = train()
    words = [token.text for doc in clean_docs(nlp) for token in doc]
    doc = Doc(nlp.vocab, words=(words * (LONG // len(words) + 1))[:LONG])
    tags = [token.tag_ for token in nlp(doc)]
    few = [token.tag_ for token in nlp(Doc(nlp.vocab, words=words * 3))]
    size = len(words)
    assert tags[size : 2 * size] == few[size : 2 * size] and all(tags)


@pytest.mark.parametrize("name", ["tagger", "entities", "references"])
def test_single_precision_gives_the_labels_of_double(name: str, tmp_path: Path) -> None:
    unpack_model(name, tmp_path)
    nlp = spacy.load(tmp_path)
    reader: dict[str, Any] = dict(MODELS[name].gold)
    reader["path"] = str(ROOT / "corpus" / MODELS[name].train)
    docs = [example.predicted for example in registry.resolve({"reader": reader})["reader"](nlp)]
    different, tokens = labels_that_differ(nlp.get_pipe(nlp.pipe_names[0]), docs)
    assert tokens > 3000 and different <= tokens / 100_000

"""Hidden Markov models against hmmlearn: probabilities of words, posteriors of labels, best sequences."""

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.labels import Gold
from spacy_crf.lab.baselines.hmm import HMM, HMMCounts, HMMSettings, estimate_hmm
from spacy_crf.lab.baselines.lexicon import LexiconSettings

WORDS = ["a", "b", "c", "ab", "ca", "new"]
FEWEST = 1e-3  # a scale that leaves room below 1 for a symbol that never occurs

END = len(WORDS)  # a symbol
texts = st.lists(
    st.lists(st.tuples(st.sampled_from(WORDS[:-1]), st.integers(0, 2)), min_size=1, max_size=6), min_size=3, max_size=8
)


def estimate(text: list[list[tuple[str, int]]], order: int) -> HMM:
    gold = Gold.known(np.array([label for sentence in text for _, label in sentence], dtype=np.int32), 3)
    counts = HMMCounts.of_text([[word for word, _ in sentence] for sentence in text], gold)
    return estimate_hmm(counts, HMMSettings(order, lexicon=LexiconSettings(smoothing=1.0)))


def as_hmmlearn(hmm: HMM) -> CategoricalHMM:
    """The same model, with a state for the end, and one for what is left of probabilities; both have their symbols."""
    states, n = hmm.states, len(hmm.states.labels)
    model = CategoricalHMM(n + 2, init_params="", params="")
    starts, transitions = np.zeros(n + 2), np.zeros((n + 2, n + 2))
    starts[:n] = np.exp(states.start)
    transitions[:n, :n], transitions[:n, n] = np.exp(states.transitions), np.exp(states.end)
    emissions = np.zeros((n + 2, len(WORDS) + 2))
    emissions[:n, : len(WORDS)] = FEWEST * np.exp(hmm.emissions(WORDS)).T[states.labels]
    emissions[n, END] = 1.0
    for table in (starts[None], transitions, emissions):
        table[:, -1] = 1 - table[:, :-1].sum(axis=1)
    assert min(starts.min(), transitions.min(), emissions.min()) > -1e-9
    model.startprob_, model.transmat_, model.emissionprob_ = (
        np.maximum(table, 0) for table in (starts, transitions, emissions)
    )
    return model


@settings(deadline=None)
@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.sampled_from([2, 3]))
def test_the_same_probabilities_and_sequences(text, words, order):
    hmm = estimate(text, order)
    model = as_hmmlearn(hmm)
    symbols = np.array([[*map(WORDS.index, words), END]]).T
    n, states = len(words), hmm.states
    ours = forward_backward(hmm.potentials([words])).log_z[0] + n * np.log(FEWEST)
    assert model.score(symbols) == pytest.approx(ours, abs=1e-8)
    posteriors = states.label_marginals(model.predict_proba(symbols)[:n, : len(states.labels)])
    np.testing.assert_allclose(hmm.marginals([words]), posteriors, atol=1e-8)
    best, path = model.decode(symbols)
    theirs = np.append(states.labels, [-1, -1])[path][:n]
    own = hmm.decode([words])
    if not np.array_equal(own, theirs):  # another best sequence
        scores = [score_of(model, symbols, labels, states.labels) for labels in (own, theirs)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-8) == pytest.approx(best, abs=1e-8)


def score_of(model: CategoricalHMM, symbols: np.ndarray, labels: np.ndarray, of_states: np.ndarray) -> float:
    """Log probability of the best path of states with these labels."""
    allowed = np.zeros((len(labels) + 1, len(of_states) + 2), dtype=bool)
    allowed[:-1, :-2], allowed[-1, -2] = labels[:, None] == of_states, True
    with np.errstate(divide="ignore"):
        emissions = np.where(allowed, np.log(model.emissionprob_[:, symbols[:, 0]].T), -np.inf)
        best, steps = np.log(model.startprob_) + emissions[0], np.log(model.transmat_)
    for row in emissions[1:]:
        best = (best[:, None] + steps).max(axis=0) + row
    return float(best.max())

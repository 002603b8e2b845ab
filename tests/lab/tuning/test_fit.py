"""Fits of folds against the component's own trainer."""

from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import make_examples
from helpers.weights import flat_weights
from spacy.training import Example

from spacy_crf.core.weights import Layout
from spacy_crf.features.index import FeatureIndex
from spacy_crf.lab.tuning.fit import FoldTrainer
from spacy_crf.lab.tuning.folds import encode
from spacy_crf.learning.block import LBFGSTrainer
from spacy_crf.learning.model import get_layout
from spacy_crf.tagging.component import CRFTagger

FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "SUFFIX2"]}


def make(**trainer: Any) -> tuple[CRFTagger, list[Example], LBFGSTrainer]:
    """An untrained component, the corpus, and the component's trainer."""
    nlp = spacy.blank("xx")
    config = {"features": FEATURES, "trainer": {"@misc": "spacy_crf.LBFGS.v1", **trainer}}
    pipe = nlp.add_pipe("crf_tagger", config=config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert isinstance(pipe, CRFTagger) and isinstance(pipe.trainer, LBFGSTrainer)
    return pipe, examples, pipe.trainer


def by_name(index: FeatureIndex, layout: Layout, flat: np.ndarray) -> dict[tuple[str, int], float]:
    """State weights by feature and label."""
    names, n = index.names(), layout.n_labels
    return {(names[cell // n], cell % n): weight for cell, weight in zip(layout.state_cells.tolist(), flat.tolist())}


@pytest.mark.parametrize("changed", [{}, {"unseen": 0.001}, {"warmup": 2, "seed": 5}])
@pytest.mark.parametrize("c1", [0.0, 0.2])
def test_a_fold_is_fitted_as_the_trainer_would(changed: dict[str, Any], c1: float) -> None:
    settings = {"iterations_per_step": 8, "memory": 4, "delta": 1e-3, **changed}
    pipe, examples, trainer = make(c1=c1, c2=0.1, **settings)
    held_out = np.arange(20) % 4 == 1
    whole = encode(pipe, examples)
    fitted = FoldTrainer(whole.fold(held_out), trainer, 24).fit(c1, 0.1)
    kept = [example for example, out in zip(examples, held_out) if not out]
    for _ in range(3):
        pipe.update(kept)
        pipe.finish_update(None)  # type: ignore[arg-type]
    ours = by_name(whole.features.state, fitted.weights.layout, fitted.weights.flat)
    theirs = by_name(pipe._features.state, get_layout(pipe.model), flat_weights(pipe.model))
    assert ours.keys() == theirs.keys()
    assert [ours[key] for key in theirs] == pytest.approx(list(theirs.values()), abs=2e-3)
    assert 8 < fitted.iterations <= 24


@pytest.mark.parametrize("settings", [{}, {"unseen": 0.001}, {"warmup": 1}])
def test_a_fit_does_not_depend_on_those_before_it(settings: dict[str, Any]) -> None:
    pipe, examples, trainer = make(**settings)
    fold = encode(pipe, examples).fold(np.arange(20) < 5)
    pairs = [(0.0, 0.1), (0.3, 0.1), (0.0, 5.0)]
    fitter = FoldTrainer(fold, trainer, 15)
    first = [fitter.fit(*pair).weights.flat.tobytes() for pair in pairs]
    again = [fitter.fit(*pair).weights.flat.tobytes() for pair in reversed(pairs)]
    alone = [FoldTrainer(fold, trainer, 15).fit(*pair).weights.flat.tobytes() for pair in pairs]
    assert first == again[::-1] == alone and len(set(first)) == 3


def test_iterations_are_the_limit() -> None:
    pipe, examples, trainer = make(unseen=0.001, iterations_per_step=10)
    fold = encode(pipe, examples).fold(np.arange(20) < 5)
    assert [FoldTrainer(fold, trainer, n).fit(0.0, 0.01).iterations for n in (1, 10, 13)] == [1, 10, 13]

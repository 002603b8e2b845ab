"""Pools of restorers."""

from pathlib import Path
from typing import cast

import numpy as np
from helpers.punctuated import train
from spacy.tokens import Doc

from spacy_crf.core.calibration import DirichletMap
from spacy_crf.pipe.pool import pool
from spacy_crf.punctuation.calibration import MarkCalibration
from spacy_crf.punctuation.component import PunctuationRestorer

NAME = "punctuation_restorer"


def test_equal_members_make_an_equal_pool_without_their_calibration(tmp_path: Path) -> None:
    pipelines = [train(tmp_path), train(tmp_path)]
    first = cast(PunctuationRestorer, pipelines[0].get_pipe(NAME))
    words = ["where", "did", "she", "go", "she", "went", "home"]
    (before,) = first.token_probabilities([Doc(first.vocab, words=words)])
    size = len(first.label_table.marks)
    first.calibration = MarkCalibration(first.label_table.marks, DirichletMap(np.eye(size) * 0.5, np.ones(size)))
    pooled = cast(PunctuationRestorer, pool(pipelines, [NAME] * 2, [0.5, 0.5]).get_pipe(NAME))
    assert pooled.calibration is None
    (after,) = pooled.token_probabilities([Doc(pooled.vocab, words=words)])
    np.testing.assert_allclose(after, before, atol=1e-4)

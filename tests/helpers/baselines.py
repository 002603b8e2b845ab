"""Pipelines with comparison taggers."""

from typing import Any

import spacy
from spacy.language import Language

from helpers.tagged import make_examples

MEMM = {"c2": 0.01, "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"]}}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("frequency_tagger", {}),
    ("hmm_tagger", {"order": 2}),
    ("hmm_tagger", {"order": 3}),
    ("memm_tagger", MEMM),
]
IDS = ["frequency", "hmm-2", "hmm-3", "memm"]


def build(factory: str, **config: Any) -> Language:
    """A pipeline with an untrained component."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config=config)
    return nlp


def train(factory: str, **config: Any) -> Language:
    """A pipeline trained on the tiny corpus in one batch."""
    nlp = build(factory, **config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp

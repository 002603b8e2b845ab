"""Settings and scores that the comparison taggers share."""

from typing import Any

DEFAULT_CONFIG: dict[str, Any] = {
    "target": "tag",
    "overwrite": False,
    "marginals": None,
    "gold_tags": "gold_tags",
    "scorer": {"@scorers": "spacy_crf.tagger_scorer.v1"},
}
LEXICON_CONFIG: dict[str, Any] = {"smoothing": 1.0, "suffix_length": 10, "cutoff": 10, "theta": None}
SEQUENCE_CONFIG: dict[str, Any] = {"sequence": "auto", "decode": "viterbi"}
SCORE_WEIGHTS: dict[str, float | None] = {"crf_score": 1.0, "tag_acc": None, "pos_acc": None}
ASSIGNS = ["token.tag", "token.pos"]

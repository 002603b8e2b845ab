"""Scorer of restored punctuation: marks, words, case and sentence boundaries.

Word accuracy, the measure of Agrawal & Shah, counts the words without a mark, which are most of them; so it stands
beside the accuracy of setting no mark anywhere, and beside precision, recall and F of the marks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example
from spacy.util import registry

from .block import ABBREVIATIONS, NONE, LabelScheme
from .docs import CASE, MARKS, WordView, gold_labels, read_punctuation


@registry.scorers("spacy_crf.punctuation_scorer.v1")
def make_punctuation_scorer() -> Callable[..., dict[str, Any]]:
    """Return the scorer of `punctuation_restorer`."""
    return punctuation_score


def punctuation_score(
    examples: Iterable[Example],
    *,
    marks: list[str],
    collapse: Mapping[str, str],
    ends: list[str],
    has_case: bool = False,
    abbreviations: Iterable[str] = ABBREVIATIONS,
    **kwargs: Any,
) -> dict[str, Any]:
    """Measure restored marks against gold; words without gold are left out.

    marks, collapse, ends, has_case, abbreviations: of the component.
    RETURNS (dict): punct_p, punct_r, punct_f: micro average over the marks. punct_f_per_type: the same by mark.
        punct_f_inner: without the last words of documents, which a mark always follows where these are utterances.
        punct_ser: slot error rate, (substitutions + deletions + insertions) / gold marks. word_acc: share of words with
        the right label, no mark among them; word_acc_none: what it would be without any mark. sent_boundary_f: of the
        words behind which a sentence ends. case_acc: share of words in the right case, where case is restored.
    """
    scheme = LabelScheme(marks, dict(collapse), case=has_case, ends=ends, abbreviations=list(abbreviations))
    pairs: Counter[tuple[str, str]] = Counter()
    inner: Counter[tuple[str, str]] = Counter()
    cases: Counter[bool] = Counter()
    for example in examples:
        stored = read_punctuation(example.predicted) or {}
        gold, last = gold_labels(example, scheme), WordView.of(example.predicted, scheme).last_tokens.tolist()
        if MARKS not in stored:
            continue
        for place, (label, token) in enumerate(zip(gold, last), 1):
            if label is not None:
                pair = label.mark, stored[MARKS][token] or NONE
                pairs[pair] += 1
                inner[pair] += place < len(last)
                if has_case and CASE in stored:
                    cases[label.case == stored[CASE][token]] += 1
    scores = mark_scores(pairs, scheme)
    scores["punct_f_inner"] = mark_scores(+inner, scheme)["punct_f"]
    return {**scores, "case_acc": cases[True] / cases.total() if cases else None}


def mark_scores(pairs: Counter[tuple[str, str]], scheme: LabelScheme) -> dict[str, Any]:
    """Measure marks; see `punctuation_score`.

    pairs (Counter): how often each gold mark was restored as each mark, NONE among them.
    """
    per_type = {mark: _prf(pairs, mark.__eq__) for mark in scheme.marks}
    total = sum(per_type.values(), start=PRFScore())
    n_words = pairs.total() or 1
    n_gold = sum(number for (gold, _), number in pairs.items() if gold != NONE)
    errors = sum(number for (gold, own), number in pairs.items() if gold != own)
    scores = {
        "punct_p": total.precision,
        "punct_r": total.recall,
        "punct_f": total.fscore,
        "punct_f_per_type": {mark: one.to_dict() for mark, one in per_type.items() if one.tp + one.fp + one.fn},
        "punct_ser": errors / n_gold if n_gold else None,
        "word_acc": (n_words - errors) / n_words,
        "word_acc_none": 1 - n_gold / n_words,
        "sent_boundary_f": _prf(pairs, scheme.is_end).fscore,
    }
    return scores if pairs else dict.fromkeys(scores)


def _prf(pairs: Counter[tuple[str, str]], wanted: Callable[[str], bool]) -> PRFScore:
    """Score the marks that are wanted, taken for one."""
    score = PRFScore()
    for (gold, own), number in pairs.items():
        score.tp += number * (wanted(gold) and wanted(own))
        score.fp += number * (wanted(own) and not wanted(gold))
        score.fn += number * (wanted(gold) and not wanted(own))
    return score

"""Scorer of restored punctuation: marks, words, case and sentence boundaries.

Word accuracy, the measure of Agrawal & Shah, counts the words without a mark, which are most of them; so it stands
beside the accuracy of setting no mark anywhere, and beside precision, recall and F of the marks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

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
    existing: str = "override",
    **kwargs: Any,
) -> dict[str, Any]:
    """Measure restored marks against gold; words without gold are left out, and those whose mark or case was kept.

    marks, collapse, ends, has_case, abbreviations, existing: of the component.
    RETURNS (dict): punct_p, punct_r, punct_f: micro average over the marks. punct_f_per_type: the same by mark.
        punct_macro_p, punct_macro_r, punct_macro_f: means over the marks that occur, each counting the same.
        punct_f_inner: without the last words of documents, which a mark always follows where these are utterances.
        punct_ser: slot error rate, (substitutions + deletions + insertions) / gold marks. word_acc: share of words with
        the right label, no mark among them; word_acc_none: what it would be without any mark. sent_boundary_p, _r, _f:
        of the words behind which a sentence ends. case_acc: share of words in the right case, where case is restored;
        case_per_type: p, r and f of each case.
    """
    scheme = LabelScheme(marks, dict(collapse), case=has_case, ends=ends, abbreviations=list(abbreviations))
    counts = (count_words(example, scheme, existing == "keep") for example in examples)
    return word_scores(sum(counts, Counter()), scheme)


class WordCount(NamedTuple):
    """A word of a kind ("mark", "case") with its gold and restored value. is_last (bool): of its document."""

    kind: str
    gold: str
    own: str
    is_last: bool = False


def count_words(example: Example, scheme: LabelScheme, keep: bool = False) -> Counter[WordCount]:
    """Count the words of a document that have gold; none if the document was not restored.

    keep (bool): whether the marks and capitals of its text were kept, so that their words say nothing.
    """
    stored = read_punctuation(example.predicted) or {}
    counts: Counter[WordCount] = Counter()
    gold, view = gold_labels(example, scheme), WordView.of(example.predicted, scheme)
    if MARKS not in stored:
        return counts
    last = view.last_tokens.tolist()
    for place, (label, word, form, token) in enumerate(zip(gold, view.words, view.forms, last), 1):
        if label is not None and not (keep and word.mark):
            counts[WordCount("mark", label.mark, stored[MARKS][token] or NONE, place == len(last))] += 1
            if scheme.case and CASE in stored and not (keep and form != form.lower()):
                counts[WordCount("case", label.case, stored[CASE][token])] += 1
    return counts


def word_scores(counts: Counter[WordCount], scheme: LabelScheme) -> dict[str, Any]:
    """Make the scores of `punctuation_score` of counts, which may be sums over documents."""
    pairs: Counter[tuple[str, str]] = Counter()
    inner: Counter[tuple[str, str]] = Counter()
    cases: Counter[tuple[str, str]] = Counter()
    for word, count in counts.items():
        pair = word.gold, word.own
        if word.kind == "case":
            cases[pair] += count
            continue
        pairs[pair] += count
        inner[pair] += 0 if word.is_last else count
    scores = mark_scores(pairs, scheme)
    scores["punct_f_inner"] = mark_scores(+inner, scheme)["punct_f"]
    right = sum(count for (gold, own), count in cases.items() if gold == own)
    by_case = {case: _prf(cases, case.__eq__).to_dict() for case in sorted({case for pair in cases for case in pair})}
    return {**scores, "case_acc": right / cases.total() if cases else None, "case_per_type": by_case or None}


def mark_scores(pairs: Counter[tuple[str, str]], scheme: LabelScheme) -> dict[str, Any]:
    """Measure marks; see `punctuation_score`.

    pairs (Counter): how often each gold mark was restored as each mark, NONE among them.
    """
    per_type = {mark: _prf(pairs, mark.__eq__) for mark in scheme.marks}
    occurring = {mark: one for mark, one in per_type.items() if one.tp + one.fp + one.fn}
    total, sentences = sum(per_type.values(), start=PRFScore()), _prf(pairs, scheme.is_end)
    n_words = pairs.total() or 1
    n_gold = sum(number for (gold, _), number in pairs.items() if gold != NONE)
    errors = sum(number for (gold, own), number in pairs.items() if gold != own)
    scores = {
        "punct_p": total.precision,
        "punct_r": total.recall,
        "punct_f": total.fscore,
        "punct_macro_p": _mean(one.precision for one in occurring.values()),
        "punct_macro_r": _mean(one.recall for one in occurring.values()),
        "punct_macro_f": _mean(one.fscore for one in occurring.values()),
        "punct_f_per_type": {mark: one.to_dict() for mark, one in occurring.items()},
        "punct_ser": errors / n_gold if n_gold else None,
        "word_acc": (n_words - errors) / n_words,
        "word_acc_none": 1 - n_gold / n_words,
        "sent_boundary_p": sentences.precision,
        "sent_boundary_r": sentences.recall,
        "sent_boundary_f": sentences.fscore,
    }
    return scores if pairs else dict.fromkeys(scores)


def _mean(values: Iterable[float]) -> float:
    """Return the mean; 0.0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def _prf(pairs: Counter[tuple[str, str]], wanted: Callable[[str], bool]) -> PRFScore:
    """Score the marks that are wanted, taken for one."""
    score = PRFScore()
    for (gold, own), number in pairs.items():
        score.tp += number * (wanted(gold) and wanted(own))
        score.fp += number * (wanted(own) and not wanted(gold))
        score.fn += number * (wanted(gold) and not wanted(own))
    return score

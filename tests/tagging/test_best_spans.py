"""Entities that are chosen by their own probabilities instead of the most probable sequence."""

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.chains import softened
from helpers.commands import invoke
from helpers.tagged import build, make_examples, train
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_crf.annotation.gold import write_partial
from spacy_crf.core.chain.spans import LikelySpans, best_spans
from spacy_crf.core.errors import CRFError, CRFWarning

WORDS = st.lists(st.sampled_from(["Ada", "Bo", "Stone", "New", "Delft", "mill", "sold", "."]), min_size=1, max_size=6)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4), st.floats(0.01, 1)), max_size=7), st.floats(0.01, 0.9))
def test_no_other_spans_without_overlaps_have_more_probability(
    found: list[tuple[int, int, float]], cost: float
) -> None:
    firsts, lengths, probabilities = (np.array(column) for column in zip(*found)) if found else [np.zeros(0)] * 3
    likely = LikelySpans(firsts.astype(int), (firsts + lengths).astype(int), ["X"] * len(found), probabilities)
    chosen = best_spans(likely, cost).tolist()
    assert is_free(likely, chosen)
    subsets = (own for n in range(len(found) + 1) for own in combinations(range(len(found)), n) if is_free(likely, own))
    best = max(sum(probabilities[k] - cost for k in own) for own in subsets)
    assert sum(probabilities[k] - cost for k in chosen) == pytest.approx(best, abs=1e-9)


def is_free(likely: LikelySpans, chosen: Any) -> bool:
    pairs = combinations(chosen, 2)
    return all(likely.ends[a] <= likely.firsts[b] or likely.ends[b] <= likely.firsts[a] for a, b in pairs)


@cache
def tagger(scheme: str = "BIO", target: str = "ent") -> Language:
    return softened(target=target, scheme=scheme, decode="spans", threshold=0.1)


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
@given(WORDS, st.sampled_from([0.05, 0.2, 0.4, 0.6]))
def test_entities_are_the_best_of_all_spans(scheme: str, words: list[str], threshold: float) -> None:
    nlp = tagger(scheme)
    pipe = nlp.get_pipe("crf_tagger")
    pipe.cfg["threshold"] = threshold
    doc = Doc(nlp.vocab, words=words)
    bounds = [(start, end) for start in range(len(doc)) for end in range(start + 1, len(doc) + 1)]
    spans = [Span(doc, *own, label=label) for own in bounds for label in pipe.labels]
    gains = dict(zip(spans, pipe.span_probabilities(doc, spans).label - threshold))
    best = [0.0]  # of the first tokens, so many
    for end in range(1, len(doc) + 1):
        ending = (best[span.start] + gain for span, gain in gains.items() if span.end == end)
        best.append(max(best[-1], *ending))
    found = pipe(doc.copy()).ents
    own = [gains[Span(doc, span.start, span.end, label=span.label_)] for span in found]
    assert all(gain > -1e-9 for gain in own)
    assert sum(own) == pytest.approx(best[-1], abs=1e-5)
    assert pipe.tag_words([words])[0].labels.tolist() == pipe.predict([doc])[0].tags.tolist()


@pytest.mark.parametrize("settings", [{}, {"scheme": "none"}, {"target": "spans", "scheme": "BILUO"}])
def test_words_have_no_tags_of_spans_that_a_threshold_leaves_out(settings: dict[str, Any]) -> None:
    nlp = softened(**{"target": "ent", "threshold": 0.5, **settings})
    pipe, n_left_out = nlp.get_pipe("crf_tagger"), 0
    for example in make_examples(nlp):
        (found,) = pipe.tag_words([[token.text for token in example.predicted]])
        doc = pipe(example.predicted.copy())
        assert found.labels.tolist() == pipe.annotation.gold(Example(doc, doc), pipe.tags).tolist()
        n_left_out += found.labels.tolist() != pipe.predict([example.predicted])[0].tags.tolist()
    assert n_left_out


def test_a_low_threshold_finds_more_and_a_high_one_less() -> None:
    nlp = tagger()
    pipe, counts = nlp.get_pipe("crf_tagger"), []
    for threshold in (0.02, 0.2, 0.9):
        pipe.cfg["threshold"] = threshold
        counts.append(
            len(
                nlp(
                    Doc(nlp.vocab, words=["Ada", "and", "Stone", "sold", "New", "mills", "to", "old", "Port", "."])
                ).ents
            )
        )
    assert counts[0] > counts[1] > counts[2]


def test_groups_of_spans_have_their_probabilities() -> None:
    nlp = tagger(target="spans")
    doc = nlp(Doc(nlp.vocab, words=["Bo", "met", "Ada", "in", "Delft", "."]))
    assert len(doc.spans["sc"]) == len(doc.spans["sc"].attrs["scores"]) > 0


def test_evidence_stays() -> None:
    nlp = train(target="ent", decode="spans", threshold=0.3, given=True)
    doc = Doc(nlp.vocab, words=["the", "mill", "sold", "Delft"])
    doc.ents = [Span(doc, 1, 2, label="PER")]
    assert [(span.text, span.label_) for span in nlp(doc).ents] == [("mill", "PER"), ("Delft", "LOC")]


# -- threshold = "auto" ------------------------------------------------------------------------------------------


def test_the_threshold_that_is_fitted_is_a_good_one(tmp_path: Path) -> None:
    nlp = softened(target="ent", decode="spans", threshold="auto")
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    with pytest.warns(CRFWarning, match="CRFW408.*threshold = 'auto'"):
        nlp.to_bytes()
    pipe.calibrate(examples)
    fitted = pipe.settings.threshold
    assert pipe.cfg.assignable["threshold"] == "auto" and 0.025 <= fitted <= 0.5
    scores = {}
    for threshold in (fitted, *(np.arange(1, 21) / 40).tolist()):
        pipe.cfg["threshold"] = threshold
        scores[threshold] = nlp.evaluate([Example(one.predicted.copy(), one.reference) for one in examples])["ents_f"]
    assert scores[fitted] >= 0.96 * max(scores.values())
    assert len(set(scores.values())) > 1


@pytest.mark.parametrize("target", ["ent", "spans"])
def test_where_gold_is_unknown_nothing_counts_for_the_threshold(target: str) -> None:
    """The scorer counts nothing there either."""
    nlp = softened(target=target, decode="spans", threshold="auto")
    pipe, examples = nlp.get_pipe("crf_tagger"), list(map(known_in_part, make_examples(nlp), range(20)))
    assert pipe.best_threshold(examples) == pytest.approx(best_by_score(nlp, examples))


def test_spans_whose_end_is_unknown_do_not_count_for_the_threshold() -> None:
    nlp = softened(target="spans", decode="spans", threshold="auto")
    examples = make_examples(nlp)
    for example in examples[::3]:  # not all is to be right
        example.reference.spans["sc"] = []
    examples += 2 * [known_in_part(example, 3) for example in make_examples(nlp)]
    fitted = nlp.get_pipe("crf_tagger").best_threshold(examples)
    assert fitted == pytest.approx(best_by_score(nlp, examples))


def test_the_threshold_is_that_of_what_evidence_leaves_open() -> None:
    """Where it decides most, the threshold of the rest is another one."""
    nlp = softened(target="ent", decode="spans", threshold="auto", given=True)
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    without = pipe.best_threshold(examples)
    for example in examples:
        example.predicted.ents = [Span(example.predicted, one.start, one.end, "PER") for one in example.reference.ents]
    fitted = pipe.best_threshold(examples)
    assert fitted == pytest.approx(best_by_score(nlp, examples)) and fitted != pytest.approx(without)


def test_spans_that_gold_ends_with_white_space_are_missed_whatever_the_threshold() -> None:
    """What is written has no white space at its ends, so that the scorer counts it as wrong."""
    nlp = softened(target="spans", decode="spans", threshold="auto")
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    plain, spaced = pipe.best_threshold(examples), list(map(with_line_ends, examples))
    fitted = pipe.best_threshold(spaced)
    assert fitted == pytest.approx(best_by_score(nlp, spaced)) and fitted != pytest.approx(plain)


def with_line_ends(example: Example) -> Example:
    """The example with a line end in each LOC, behind its words."""
    spans = example.reference.spans["sc"]
    ends = sorted(own.end for own in spans if own.label_ == "LOC")
    words = [token.text for token in example.reference]
    words = [piece for k, word in enumerate(words, 1) for piece in ([word, "\n"] if k in ends else [word])]
    gold = Doc(example.predicted.vocab, words=words)
    bounds = [own.start for own in spans], [own.end for own in spans]
    firsts, behind = (np.searchsorted(ends, side, "right").tolist() for side in bounds)
    gold.spans["sc"] = [Span(gold, one.start + a, one.end + b, one.label) for one, a, b in zip(spans, firsts, behind)]
    return Example(Doc(gold.vocab, words=words), gold)


def best_by_score(nlp: Language, examples: list[Example]) -> float:
    """The mean of the thresholds that the scorer likes best."""
    scores = dict[float, float]()
    for threshold in (np.arange(1, 21) / 40).tolist():
        nlp.get_pipe("crf_tagger").cfg["threshold"] = threshold
        found = nlp.evaluate([Example(one.predicted.copy(), one.reference) for one in examples])
        scores[threshold] = found["crf_score"]
    return float(np.mean([threshold for threshold, score in scores.items() if score >= 0.98 * max(scores.values())]))


def known_in_part(example: Example, number: int) -> Example:
    """Every fourth example as it is; of the others, gold that is known up to the fourth token, up to the end of the
    last entity, of which nothing says then that it ends there, or not at all."""
    if number % 4 == 0:
        return example
    last = max((own.end for own in example.reference.ents), default=0)
    gold, known = example.predicted.copy(), (0, 0, 4, last)[number % 4]
    spans = [Span(gold, own.start, own.end, label=own.label) for own in example.reference.ents if own.end <= known]
    outside = [gold[place : place + 1] for place in range(known) if example.reference[place].ent_iob_ == "O"]
    gold.set_ents(spans, outside=outside, default="missing")
    if known:
        tags = [f"{token.ent_iob_}-{token.ent_type_}".rstrip("-") for token in example.reference[:known]]
        write_partial(gold, "spans", "sc", [*tags, *[""] * (len(gold) - known)])
        gold.spans["sc"] = spans
    return Example(example.predicted, gold)


def test_what_is_fitted_is_saved_and_fitted_anew(tmp_path: Path) -> None:
    nlp = train(target="ent", decode="spans", threshold="auto")
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    pipe.calibrate(examples)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path).get_pipe("crf_tagger")
    assert again.settings.threshold == pytest.approx(pipe.settings.threshold, abs=1e-9)
    nlp.update(examples)
    pipe.finish_update(None)
    assert pipe.settings.threshold == "auto" and pipe.settings.least_probability == 0.2


def test_without_right_spans_the_threshold_stays() -> None:
    nlp = train(target="ent", decode="spans", threshold="auto")
    doc = Doc(nlp.vocab, words=["a", "b"], ents=["O", "O"])
    nlp.get_pipe("crf_tagger").calibrate([Example(doc.copy(), doc)])
    assert nlp.get_pipe("crf_tagger").settings.threshold == 0.2


@pytest.mark.parametrize(
    "settings, setting",
    [
        ({"target": "ent"}, "threshold"),
        ({"target": "ent", "threshold": 1.5}, "threshold"),
        ({"target": "ent", "threshold": "auto", "decode": "viterbi"}, "threshold"),
        ({"target": "tag"}, "decode"),
        ({"target": "ent", "threshold": 0.2, "scheme": "none"}, "decode"),
        ({"target": "ent", "threshold": 0.2, "forbidden": [["B-PER", "B-LOC"]]}, "decode"),
    ],
)
def test_settings_that_do_not_go_with_it_are_refused(settings: dict[str, Any], setting: str) -> None:
    with pytest.raises(CRFError, match=f"CRF408.*{setting}"):
        build(**{"decode": "spans", **settings})


def test_a_threshold_is_fitted_at_the_temperature_in_force(tmp_path: Path) -> None:
    nlp = softened(target="ent", decode="spans", threshold="auto")
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    examples[0].reference.ents, examples[2].reference.ents = [], []  # not all is to be right
    pipe.calibrate(examples)
    before = pipe.settings.threshold
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=[example.reference for example in examples] * 2).to_disk(tmp_path / "dev.spacy")
    arguments = [tmp_path / "model", tmp_path / "dev.spacy", "--output", tmp_path / "calibrated"]
    found = invoke("calibrate", *arguments)
    again = spacy.load(tmp_path / "calibrated").get_pipe("crf_tagger")
    assert again.temperature != pytest.approx(1, abs=0.1)
    assert again.settings.threshold == pytest.approx(again.best_threshold(examples)) != pytest.approx(before)
    assert again.cfg.assignable["threshold"] == "auto"
    assert f"threshold {before:.4g} -> {again.settings.threshold:.4g}" in found.stdout
    with pytest.warns(CRFWarning, match=f"CRFW681.*threshold = {before:.4g}"):
        pipe.cfg["temperature"] = again.temperature

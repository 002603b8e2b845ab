"""Measures of tags, sets and sections, counted again in plain Python."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.experiments import SENTENCES
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.annotation.gold import write_gold_tags
from spacy_crf.corpora.tagsets import parse_tags
from spacy_crf.lab.intervals import make_tallies
from spacy_crf.lab.measures import BETAS, Findings, Scored, measure
from spacy_crf.sections.spans import Elements, write_elements, write_sections
from spacy_crf.sections.tree import SectionNode, SectionTree

NEW = ["he/P swimt/V", "wen/KON:0.66|KOUS:0.33 dat/A hus/NEW"]
FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "LSUFFIX2"]}
TRAINER = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.5}


def read(nlp: Language, line: str) -> Example:
    words, cells = zip(*(token.rsplit("/", 1) for token in line.split()))
    reference = Doc(nlp.vocab, words=words)
    write_gold_tags(reference, [parse_tags(cell) for cell in cells])
    return Example(Doc(nlp.vocab, words=words), reference)


def trained(factory: str = "set_valued_tagger", **config: Any) -> tuple[Language, Scored]:
    """A pipeline, and what it says of new and old sentences."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config={"features": FEATURES, "trainer": TRAINER, **config})
    examples = [read(nlp, line) for line in SENTENCES]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp, annotate(nlp, examples)


def annotate(nlp: Language, examples: list[Example]) -> Scored:
    new = [read(nlp, line) for line in [*SENTENCES, *NEW]]
    done = [Example(nlp.get_pipe(nlp.pipe_names[-1])(eg.predicted), eg.reference) for eg in new]
    words = frozenset(token.text for example in examples for token in example.reference)
    return Scored(done, [example.reference for example in examples], words)


def pairs(found: Scored) -> list[tuple[Any, Any]]:
    """Gold and predicted tokens."""
    return [pair for eg in found.examples for pair in zip(eg.reference, eg.predicted, strict=True)]


@pytest.mark.filterwarnings("ignore:.*CRFW468")  # of several gold tags, one is learned
def test_tags() -> None:
    nlp, found = trained("crf_tagger")
    measures = measure(nlp.get_pipe("crf_tagger"), found)
    tokens = pairs(found)
    assert measures.confusions == Counter((gold.tag_, token.tag_) for gold, token in tokens)
    assert measures.confusions["NEW", "N"] + measures.confusions["NEW", "V"] == 1
    unknown = [gold.tag_ == token.tag_ for gold, token in tokens if gold.text == "swimt"]
    known = [gold.tag_ == token.tag_ for gold, token in tokens if gold.text != "swimt"]
    assert measures.scores["tag_acc_known"] == np.mean(known)
    assert measures.scores["tag_acc_unknown"] == np.mean(unknown)
    right = [[gold.tag_ == token.tag_ for gold, token in zip(eg.reference, eg.predicted)] for eg in found.examples]
    assert measures.scores["tag_whole"] == np.mean([all(document) for document in right])
    assert measures.scores["tag_micro_f"] == pytest.approx(np.mean(known + unknown))
    assert measures.frequencies == Counter(token.tag_ for doc in found.trained for token in doc)
    assert not measures.curves


def test_a_comparison_tagger_has_the_measures_of_tags() -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("frequency_tagger")
    examples = [read(nlp, line) for line in SENTENCES]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    found = annotate(nlp, examples)
    tokens = pairs(found)
    measures = measure(pipe, found)  # type: ignore[arg-type]
    assert measures.confusions == Counter((gold.tag_, token.tag_) for gold, token in tokens)
    known = [gold.tag_ == token.tag_ for gold, token in tokens if gold.text in found.words]
    assert measures.scores["tag_acc_known"] == np.mean(known)
    untold = measure(pipe, Scored(found.examples))  # type: ignore[arg-type]
    assert "tag_acc_known" not in untold.scores and untold.confusions == measures.confusions


def test_fields_that_are_entities() -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("constrained_ner")
    words = ["Lee", ",", "Ropes", "."]
    gold = Doc(nlp.vocab, words=words, ents=["B-AUTHOR", "I-AUTHOR", "B-TITLE", "I-TITLE"])
    found = Doc(nlp.vocab, words=words, ents=["B-AUTHOR", "B-TITLE", "I-TITLE", "O"])
    measures = measure(pipe, Scored([Example(found, gold)], [], frozenset()))  # type: ignore[arg-type]
    pairs = {("AUTHOR", "AUTHOR"): 1, ("AUTHOR", "TITLE"): 1, ("TITLE", "TITLE"): 1, ("TITLE", "O"): 1}
    assert measures.confusions == Counter(pairs)
    assert measures.scores["field_micro_f"] == 0.5 and measures.scores["field_weighted_p"] == (1 + 1 / 2) / 2
    assert measures.scores["field_micro_f_words"] == 1 and measures.scores["field_whole"] == 0


def test_spans_add_nothing_and_strangers_neither() -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("crf_tagger", config={"target": "ent"})
    nothing = Scored([], [], frozenset())
    assert measure(pipe, nothing) == Findings()  # type: ignore[arg-type]
    assert measure(nlp.add_pipe("sentencizer"), nothing) == Findings()  # type: ignore[arg-type]


def test_other_components_register_their_own() -> None:
    class Other(Pipe):
        pass

    @measure.register
    def measure_other(pipe: Other, tested: Scored) -> Findings:
        return Findings({"words": float(len(tested.words))})

    assert measure(Other(), Scored([], [], frozenset("ab"))).scores == {"words": 2.0}


def test_sets() -> None:
    nlp, found = trained(decode="posterior")
    pipe: Any = nlp.get_pipe("set_valued_tagger")
    measures = measure(pipe, found)
    golds = [parse_tags(part.rsplit("/", 1)[1]) for line in [*SENTENCES, *NEW] for part in line.split()]
    rows = list(zip(golds, (token for _, token in pairs(found)), strict=True))
    n_labels = len(pipe.labels)

    def util(gold: dict[str, float], chosen: list[str], beta: float) -> float:
        share = sum(gold.get(tag, 0.0) for tag in chosen) / sum(gold.values())
        return share * (1 - (sum(tag not in gold for tag in chosen) / (n_labels - 1)) ** beta)

    def best_set(token: Any, beta: float) -> list[str]:
        ranked = sorted(token._.tag_probs.items(), key=lambda pair: -pair[1])
        values = [sum(p for _, p in ranked[:k]) * (1 - ((k - 1) / (n_labels - 1)) ** beta) for k in range(1, n_labels)]
        return [tag for tag, _ in ranked[: 1 + int(np.argmax(np.array(values) > max(values) - 1e-6))]]

    for beta in BETAS:
        sets = [(gold, best_set(token, beta)) for gold, token in rows]
        utilities = np.mean([util(gold, chosen, beta) for gold, chosen in sets])
        assert measures.curves["ml_util by beta"][beta] == pytest.approx(utilities)
        assert measures.curves["set_size by beta"][beta] == np.mean([len(chosen) for _, chosen in sets])
    for name, is_known in (("known", True), ("unknown", False)):
        own = [(gold, token) for gold, token in rows if (token.text != "swimt") == is_known]
        expected = {
            "ml_acc": np.mean([gold.get(token.tag_, 0.0) / sum(gold.values()) for gold, token in own]),
            "ml_util": np.mean([util(gold, token._.tag_set, 1.0) for gold, token in own]),
            "set_size": np.mean([len(token._.tag_set) for _, token in own]),
        }
        assert {key: measures.scores[f"{key}_{name}"] for key in expected} == pytest.approx(expected)
    assert 0 <= measures.scores["tag_ece"] <= 1
    assert "set_coverage_gap" not in measures.scores  # no tag has twenty tokens


def test_gaps_of_coverage_are_from_the_aim_of_the_method() -> None:
    nlp, found = trained(method="mass", coverage=0.6)
    many = Scored([*found.examples] * 20, found.trained, found.words)
    hits: dict[str, list[bool]] = {}
    for example in many.examples:
        for gold, token in zip(example.reference, example.predicted):
            weights = gold._.gold_tags
            best = [tag for tag, weight in weights.items() if weight == max(weights.values())]
            for tag in best:
                hits.setdefault(tag, []).append(any(one in token._.tag_set for one in best))
    expected = np.mean([abs(np.mean(own) - 0.6) for own in hits.values() if len(own) >= 20])
    assert measure(nlp.get_pipe("set_valued_tagger"), many).scores["set_coverage_gap"] == pytest.approx(expected)


def test_sets_with_one_tag_are_not_judged_where_there_are_none() -> None:
    nlp, found = trained(method="size", size=2)
    scores = measure(nlp.get_pipe("set_valued_tagger"), found).scores
    assert "tag_ece" in scores and "set_singletons_acc" not in scores


def test_tags_of_the_best_sequence_in_sets() -> None:
    """Whatever the tags of tokens are: with posterior decoding, these are in their sets by construction."""
    nlp, found = trained(decode="posterior")
    pipe: Any = nlp.get_pipe("set_valued_tagger")
    for example in found.examples:
        example.predicted._.tag_set = [["P"] if token.i % 2 else ["P", "V"] for token in example.predicted]
    share = measure(pipe, found).scores["viterbi_in_set"]
    pipe.cfg["decode"] = "viterbi"
    best = [token for eg in found.examples for token in pipe(Doc(nlp.vocab, words=[t.text for t in eg.predicted]))]
    expected = np.mean([token.tag_ == "P" or (token.i % 2 == 0 and token.tag_ == "V") for token in best])
    assert share == expected and 0 < share < 1


def test_without_gold_nothing_is_told_of_sets() -> None:
    """The share of sets with the tag of the best sequence was the only figure, and `crf evaluate` did not complain."""
    nlp, _ = trained()
    for text in ("ab", " "):
        doc = nlp(Doc(nlp.vocab, words=list(text)))
        without = Scored([Example(doc, Doc(nlp.vocab, words=[token.text for token in doc]))], [], frozenset())
        assert measure(nlp.get_pipe("set_valued_tagger"), without).scores == {}


@pytest.mark.filterwarnings("ignore:.*CRFW468")  # of several gold tags, one is learned
def test_sets_from_another_component() -> None:
    nlp, _ = trained("crf_tagger", marginals="probabilities")
    nlp.add_pipe("set_valued_tagger", name="sets", config={"source": "crf_tagger", "target": "tag"})
    examples = [Example(nlp(eg.predicted), eg.reference) for eg in (read(nlp, line) for line in NEW)]
    measures = measure(nlp.get_pipe("sets"), Scored(examples, [], frozenset()))  # type: ignore[arg-type]
    assert "viterbi_in_set" not in measures.scores and set(measures.curves["ml_util by beta"]) == set(BETAS)
    assert sum(measures.confusions.values()) == 5


def test_confusions_are_counted_over_units() -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser")
    gold = nlp.make_doc("1. Scope\n\nAll")
    write_elements(gold, "elements", Elements.of([(0, 2, "NR"), (3, 8, "SECTION_TITLE"), (10, 13, "TEXT_BLOCK")]), {})
    found = gold.copy()
    write_elements(found, "elements", Elements.of([(0, 2, "NR"), (3, 8, "TEXT_BLOCK"), (10, 13, "TEXT_BLOCK")]), {})
    confusions = measure(pipe, Scored([Example(found, gold)], [], frozenset())).confusions
    assert confusions == Counter(
        {
            ("NR", "NR"): 1,
            ("SECTION_TITLE", "TEXT_BLOCK"): 1,
            ("TEXT_BLOCK", "TEXT_BLOCK"): 1,
            ("NEWLINE", "NEWLINE"): 1,
        }
    )


def test_intervals_of_trees_are_by_the_spans_of_the_component() -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser", config={"sections_key": "others"})
    doc = nlp.make_doc("Scope\nAll\nTerms\nNone")
    write_sections(doc, "others", SectionTree([SectionNode(0, len(doc.text), 1)]))
    gold = doc.copy()
    gold.spans["others"] = [gold[:3], gold[4:]]  # corrected: the spans count, not the tree that is stored
    examples = [Example(doc, gold), Example(doc, doc)]
    _, tally = make_tallies(pipe, Scored(examples))  # type: ignore[arg-type]
    told = pipe.score(examples)  # type: ignore[attr-defined]
    assert 0 < told["parseval_f"] < 1
    assert tally.total() == pytest.approx({name: told[name] for name in tally.total()})

"""`set_valued_tagger`: what it learns from, and the sets that it writes."""

import copy
import gc
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import make_examples
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_crf.annotation.documents import write_doc_name
from spacy_crf.annotation.extensions import write_known
from spacy_crf.annotation.gold import GOLD_POS, GOLD_TAGS, read_gold_tags, write_gold_tags
from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.labels import TagSet
from spacy_crf.core.sets.conformal import Score
from spacy_crf.core.sets.predict import error_controlled_sets, make_utility, top_k_sets, utility_optimal_sets
from spacy_crf.tagsets.gold import copies, gold_weights, to_gold
from spacy_crf.tagsets.guarantee import conformal_sets, held_out_tokens, risk_control

TEMPLATES = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "SUFFIX2[-1..1]"]}
METHODS = ["utility", "mass", "size"]
TAGS = TagSet(("A", "B", "C"), "none")


def build(**config: Any) -> Language:
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.3}
    nlp.add_pipe("set_valued_tagger", config={"features": TEMPLATES, "trainer": trainer, **config})
    return nlp


def trained(nlp: Language, examples: list[Example] | None = None) -> Language:
    examples = make_examples(nlp) if examples is None else examples
    fix_random_seed(0)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def ambiguous(nlp: Language) -> list[Example]:
    """`wen` is KON or KOUS; the first reading is twice as likely."""
    found = []
    for words, rows in [
        (["he", "wen", "se"], [{"P": 1.0}, {"KON": 2 / 3, "KOUS": 1 / 3}, {"P": 1.0}]),
        (["se", "wen", "he"], [{"P": 1.0}, {"KON": 2 / 3, "KOUS": 1 / 3}, {"P": 1.0}]),
        (["se", "kumt"], [{"P": 1.0}, {"V": 1.0}]),
    ]:
        doc = Doc(nlp.vocab, words=words)
        write_gold_tags(doc, rows)
        found.append(Example(Doc(nlp.vocab, words=words), doc))
    return found


def test_a_factory_without_an_import() -> None:
    assert type(spacy.blank("en").add_pipe("set_valued_tagger")).__name__ == "SetValuedTagger"


@pytest.mark.parametrize("method", METHODS)
def test_sets_are_those_of_the_rule(method: str) -> None:
    own = {"mass": {"coverage": 0.8}, "size": {"size": 3}}
    nlp = trained(build(method=method, alpha=0.7, beta=0.5, **own.get(method, {})))
    pipe = nlp.get_pipe("set_valued_tagger")
    for doc in nlp.pipe([eg.reference.text for eg in make_examples(nlp)]):
        values = np.asarray(doc._.tag_probs["values"])
        rules = {
            "utility": lambda m: utility_optimal_sets(m, make_utility("g", 0.7, 0.5).values(m.shape[1])),
            "mass": lambda m: error_controlled_sets(m, 0.2),
            "size": lambda m: top_k_sets(m, 3),
        }
        members = rules[method](values).members
        for token, row in zip(doc, members):
            expected = {pipe.tags.tags[k] for k in np.flatnonzero(row)}
            assert set(token._.tag_set) == expected and len(token._.tag_set) == len(expected)
            probabilities = [token._.tag_probs[tag] for tag in token._.tag_set]
            assert probabilities == sorted(probabilities, reverse=True)


def test_knobs_may_be_turned_after_loading(tmp_path: Path) -> None:
    nlp = trained(build())
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    pipe = loaded.get_pipe("set_valued_tagger")
    text = make_examples(nlp)[0].reference.text
    assert [token._.tag_set for token in loaded(text)] == [token._.tag_set for token in nlp(text)]
    pipe.cfg["method"], pipe.cfg["coverage"] = "mass", 1.0
    assert all(len(tags) == len(pipe.labels) for tags in loaded(text)._.tag_set)
    pipe.cfg["method"], pipe.cfg["utility"] = "utility", "precision"
    assert all(len(tags) == 1 for tags in loaded(text)._.tag_set)
    pipe.cfg.update(tag_set="crf_test_set", sequences=2, tag_sequences="crf_test_sequences")
    doc = loaded(text)
    assert [len(token._.crf_test_set) for token in doc] == [1] * len(doc) and len(doc._.crf_test_sequences) == 1
    other = spacy.load(tmp_path, config={"components": {"set_valued_tagger": {"method": "size", "size": 2}}})
    assert all(len(tags) == 2 for tags in other(text)._.tag_set)


def test_more_coverage_never_makes_smaller_sets() -> None:
    nlp = trained(build(method="mass"))
    pipe, text = nlp.get_pipe("set_valued_tagger"), make_examples(nlp)[1].reference.text
    sizes = []
    for coverage in (0.3, 0.6, 0.9, 0.99):
        pipe.cfg["coverage"] = coverage
        sizes.append([len(tags) for tags in nlp(text)._.tag_set])
    assert all(a <= b for low, high in zip(sizes, sizes[1:]) for a, b in zip(low, high))


@pytest.mark.filterwarnings("ignore:.*CRFW401.*KOUS")  # which "best" never shows
@pytest.mark.parametrize("learn_from", ["soft", "marginal", "best", "augmented"])
def test_what_weighted_gold_teaches(learn_from: str) -> None:
    nlp = build(learn_from=learn_from, trainer={"@misc": "spacy_crf.LBFGS.v1", "c2": 0.0001})
    examples = ambiguous(nlp)
    trained(nlp, examples)
    nlp.update(examples)
    assert nlp.get_pipe("set_valued_tagger").labels == ("KON", "KOUS", "P", "V")
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["he", "wen", "se"])])
    probabilities = doc[1]._.tag_probs
    both = probabilities["KON"] + probabilities["KOUS"]
    assert both > 0.98
    expected = {"soft": 2 / 3, "best": 1.0, "augmented": 1 / 2}
    if learn_from in expected:
        assert probabilities["KON"] == pytest.approx(expected[learn_from], abs=0.02)


@pytest.mark.filterwarnings("ignore:.*CRFW401.*KOUS")  # which "best" never shows
@pytest.mark.parametrize("learn_from", ["soft", "marginal", "best", "augmented"])
def test_the_loss_is_that_of_what_is_learned(learn_from: str) -> None:
    nlp = build(learn_from=learn_from, sequences=100, sequence_mass=0.999999)
    examples = ambiguous(nlp)
    trained(nlp, examples)
    pipe, expected = nlp.get_pipe("set_valued_tagger"), 0.0
    for doc in nlp.pipe([example.predicted.copy() for example in examples]):
        (found,) = doc._.tag_sequences
        logs = dict(zip(map(tuple, found["labels"]), np.log(found["probabilities"])))
        first, second = (logs[("P", tag, "P") if len(doc) == 3 else ("P", "V")] for tag in ("KON", "KOUS"))
        several = {
            "soft": 2 / 3 * first + second / 3,
            "marginal": np.logaddexp(first, second),
            "best": first,
            "augmented": first + second,
        }
        expected -= several[learn_from] if len(doc) == 3 else first
    docs = [example.predicted for example in examples]
    assert pipe.get_loss(examples, pipe.predict(docs)) == pytest.approx(expected, rel=1e-5)


def test_weighted_parts_of_speech_teach_the_same_wherever_they_are() -> None:
    """CoNLL-U has a place of its own for them."""
    found = []
    for name in (GOLD_TAGS, GOLD_POS):
        nlp = build(target="pos", learn_from="augmented")
        doc = Doc(nlp.vocab, words=["he", "wen"], pos=["PRON", "CCONJ"])
        write_gold_tags(doc, [{"PRON": 1.0}, {"CCONJ": 2 / 3, "SCONJ": 1 / 3}], name)
        tagged = trained(nlp, [Example(Doc(nlp.vocab, words=["he", "wen"]), doc)])("he wen")
        found.append(tagged[1]._.tag_probs)
    assert found[0] == found[1]


@pytest.mark.parametrize("trainer", ["Perceptron", "PassiveAggressive", "AROW"])
def test_learning_from_mistakes_takes_the_greatest_weight(trainer: str) -> None:
    nlp = build(learn_from="soft", trainer={"@misc": f"spacy_crf.{trainer}.v1"})
    examples = []
    for _ in range(40):
        doc = Doc(nlp.vocab, words=["a"])
        write_gold_tags(doc, [{"X": 0.1, "Y": 0.9}])
        examples.append(Example(Doc(nlp.vocab, words=["a"]), doc))
    nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples)
    with pytest.warns(CRFWarning, match="CRFW403"):
        doc = nlp(Doc(nlp.vocab, words=["a"]))
    assert doc[0].tag_ == "Y" and doc[0]._.tag_probs["Y"] > 0.6


def test_gold_of_the_extension_stands_before_the_tag() -> None:
    nlp = build()
    reference = Doc(nlp.vocab, words=["a", "b", "c"], tags=["A", "B", ""])
    write_gold_tags(reference, [{"B": 1.0, "C": 1.0}, {}, {}])
    example = Example(Doc(nlp.vocab, words=["a", "b", "c"]), reference)
    assert gold_weights(example, "tag", "gold_tags") == [{"B": 1.0, "C": 1.0}, {"B": 1.0}, {}]


def test_gold_of_tokens_that_differ_is_left_out() -> None:
    nlp = build()
    reference = Doc(nlp.vocab, words=["ab", "c"], spaces=[True, False])
    write_gold_tags(reference, [{"A": 1.0, "B": 1.0}, {"C": 0.5, "B": 0.5}])
    example = Example(Doc(nlp.vocab, words=["a", "b", "c"], spaces=[False, True, False]), reference)
    assert gold_weights(example, "tag", "gold_tags") == [{}, {}, {"C": 0.5, "B": 0.5}]


def test_rows_become_gold() -> None:
    rows = [{"B": 1.0}, {"A": 0.25, "C": 0.75}, {}, {"A": 1.0, "B": 1.0}]
    soft, marginal, best = (to_gold(rows, TAGS, how) for how in ("soft", "marginal", "best"))
    np.testing.assert_allclose(soft.dense(), [[0, 1, 0], [0.25, 0, 0.75], [1, 1, 1], [0.5, 0.5, 0]])
    np.testing.assert_allclose(marginal.dense(), [[0, 1, 0], [1, 0, 1], [1, 1, 1], [1, 1, 0]])
    np.testing.assert_allclose(best.dense(), [[0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]])


def test_copies_show_every_tag() -> None:
    nlp = spacy.blank("xx")
    doc = Doc(nlp.vocab, words=["a", "b", "c", "d"])
    write_gold_tags(doc, [{"A": 1.0}, {"A": 0.2, "B": 0.3, "C": 0.5}, {}, {"B": 0.6, "A": 0.4}])
    found = [[next(iter(row), None) for row in read_gold_tags(copy)] for copy in copies(doc, "tag", "gold_tags")]
    assert found == [["A", "C", None, "B"], ["A", "B", None, "A"], ["A", "A", None, "A"]]
    assert [token.tag_ for token in doc] == ["A", "C", "", "B"]
    plain = Doc(nlp.vocab, words=["a"])
    assert copies(plain, "tag", "gold_tags") == [plain]


def test_scores_of_sets_and_weighted_gold() -> None:
    nlp = build(method="size", size=2)
    examples = ambiguous(nlp)
    trained(nlp, examples)
    scores = nlp.evaluate(examples)
    # best tags: wen is KON twice, with a weight of 2/3; all sets have two tags, so one of them is wrong but for wen
    assert scores["ml_acc"] == pytest.approx((6 + 2 * 2 / 3) / 8)
    g = make_utility("g").values(4)
    assert scores["ml_util"] == pytest.approx((6 * g[1] + 2 * g[0]) / 8)
    assert scores["set_size"] == 2 and scores["set_coverage"] == 1 and scores["set_singletons"] == 0
    assert scores["tag_acc"] == 1


def test_sets_survive_a_docbin_and_other_processes() -> None:
    nlp = trained(build(sequences=8))
    texts = [eg.reference.text for eg in make_examples(nlp)][:4]
    docs = list(nlp.pipe(texts))
    stored = DocBin(store_user_data=True, docs=docs).to_bytes()
    for doc, again in zip(docs, DocBin().from_bytes(stored).get_docs(nlp.vocab)):
        assert [list(token._.tag_set) for token in again] == [token._.tag_set for token in doc]
    for doc, again in zip(docs, nlp.pipe(texts, n_process=2)):
        assert [token._.tag_set for token in again] == [token._.tag_set for token in doc]
        assert again._.tag_sequences == doc._.tag_sequences


def test_sequence_sets_have_the_mass_or_say_that_they_have_not() -> None:
    nlp = trained(build(sequences=500, sequence_mass=0.3))
    doc = nlp(make_examples(nlp)[0].reference.text)
    (found,) = doc._.tag_sequences
    assert found["complete"] and found["mass"] >= 0.3 and (found["start"], found["end"]) == (0, len(doc))
    assert found["mass"] == pytest.approx(sum(found["probabilities"]))
    assert found["mass"] - found["probabilities"][-1] < 0.3
    assert found["labels"][0] == [token.tag_ for token in doc]
    nlp.get_pipe("set_valued_tagger").cfg.update(sequences=1, sequence_mass=0.999999)
    (short,) = nlp(make_examples(nlp)[0].reference.text)._.tag_sequences
    assert not short["complete"] and len(short["labels"]) == 1


def test_empty_documents() -> None:
    nlp = trained(build(sequences=4))
    empty, _ = nlp.pipe(["", "Ada"])
    assert empty._.tag_set == []


@pytest.mark.parametrize(
    "setting, value",
    [("coverage", 1.5), ("size", 0), ("sequences", -1), ("sequence_mass", 1.0)],
)
def test_settings_that_make_no_sense_are_named(setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"CRF408.*{setting}"):
        build(**{setting: value})


@pytest.mark.parametrize("setting, value, code", [("alpha", 1.5, "CRF802"), ("utility", "u99", "CRF801")])
def test_utilities_that_make_no_sense_are_named(setting: str, value: Any, code: str) -> None:
    with pytest.raises(ValueError, match=code):
        build(**{setting: value})


def test_a_method_without_its_promise_says_how_to_make_one() -> None:
    nlp = trained(build())
    nlp.get_pipe("set_valued_tagger").cfg["method"] = "guarantee"
    with pytest.raises(ValueError, match="CRF415.*crf guarantee"):
        nlp("Ada met Bo .")


def test_a_tag_that_the_labels_lack_names_the_document() -> None:
    nlp = build()
    examples = ambiguous(nlp)
    nlp.get_pipe("set_valued_tagger").initialize(lambda: examples, nlp=nlp, labels=["P", "V"])
    with pytest.raises(ValueError, match="CRF403.*KON.*he wen se"):
        nlp.update(examples)


@pytest.mark.parametrize("learn_from", ["soft", "marginal", "best", "augmented"])
@pytest.mark.parametrize("pair", [["P", "V"], ["KON", "P"]])
def test_gold_that_a_forbidden_pair_rules_out_names_the_document(pair: list[str], learn_from: str) -> None:
    nlp = build(forbidden=[pair], learn_from=learn_from)
    examples = ambiguous(nlp)
    nlp.initialize(lambda: examples)
    if pair == ["KON", "P"] and learn_from in ("soft", "marginal"):
        nlp.update(examples)  # the other tag is left
        return
    before, after = pair
    with pytest.raises(ValueError, match=f"CRF411.*{'se kumt' if after == 'V' else 'wen'}.*'{after}' after '{before}'"):
        nlp.update(examples)


def test_gold_of_several_tags_that_forbidden_pairs_rule_out_names_the_document() -> None:
    nlp = build(forbidden=[["KON", "P"], ["KOUS", "P"]])
    examples = ambiguous(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match="CRF411.*he wen se.*'P' after 'KON|KOUS'"):
        nlp.update(examples)


def test_copies_are_gone_with_their_documents() -> None:
    nlp = build(learn_from="augmented")
    examples = ambiguous(nlp)
    trained(nlp, examples)
    pipe = nlp.get_pipe("set_valued_tagger")
    assert len(pipe._augmented) == 2
    del examples
    gc.collect()
    assert not pipe._augmented
    nlp.update(ambiguous(nlp))  # a new run, not other examples in the old one


def test_copies_follow_gold_that_is_corrected() -> None:
    nlp = build(learn_from="augmented")
    examples = ambiguous(nlp)
    trained(nlp, examples)
    for example in examples:
        write_gold_tags(example.reference, [{"V": 1.0} for _ in example.reference])
    with pytest.warns(UserWarning, match="CRFW401.*: KON, KOUS, P"):
        nlp.update(examples)
    assert [token.tag_ for token in nlp(Doc(nlp.vocab, words=["he", "wen", "se"]))] == ["V"] * 3


def test_a_component_that_trains_on_copies_can_be_pickled() -> None:
    nlp = build(learn_from="augmented")
    examples = ambiguous(nlp)
    trained(nlp, examples)
    pipe = nlp.get_pipe("set_valued_tagger")
    for again in (pickle.loads(pickle.dumps(pipe)), copy.deepcopy(pipe)):
        assert again.to_bytes() == pipe.to_bytes() and len(again._augmented) == 0


def test_weights_hold_beside_tokens_without_gold() -> None:
    nlp = build(trainer={"@misc": "spacy_crf.LBFGS.v1", "c2": 0.0001})
    examples = ambiguous(nlp)
    for example in examples[:2]:
        write_gold_tags(example.reference, [{"P": 1.0}, {"KON": 2 / 3, "KOUS": 1 / 3}, {}])
    trained(nlp, examples)
    for _ in range(3):
        nlp.update(examples)
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["he", "wen", "se"])])
    probabilities = doc[1]._.tag_probs
    assert [probabilities[tag] for tag in ("KON", "KOUS")] == pytest.approx([2 / 3, 1 / 3], abs=0.02)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0, "1", None, 10**400])
def test_weights_that_are_none_name_the_document(weight: Any) -> None:
    nlp = build()
    examples = ambiguous(nlp)
    write_known(examples[0].reference, "gold_tags", [{"P": 1.0}, {"KON": weight, "KOUS": 0.4}, None])
    with pytest.raises(ValueError, match=r"CRF449.*he wen se.*'wen'.*KON"):
        nlp.initialize(lambda: examples)


@pytest.mark.parametrize("gold", [5, {1: 1.0}, {"": 1.0}, {"KON": 0.0}, {"KON": 1e308, "KOUS": 1e308}])
def test_gold_that_is_no_weights_of_tags_is_refused(gold: Any) -> None:
    nlp = build()
    doc = Doc(nlp.vocab, words=["he"])
    write_gold_tags(doc, [{}])
    write_known(doc, "gold_tags", [gold])
    with pytest.raises(ValueError, match=r"CRF449.*'he'"):
        read_gold_tags(doc)


@pytest.mark.parametrize("learn_from", ["soft", "marginal", "best", "augmented"])
def test_a_tag_without_weight_is_no_gold(learn_from: str) -> None:
    losses = []
    for weights in ({"KON": 1.0, "KOUS": 0.0}, {"KON": 1.0}):
        nlp = build(learn_from=learn_from)
        examples = ambiguous(nlp)
        for example in examples[:2]:
            write_gold_tags(example.reference, [{"P": 1.0}, weights, {"P": 1.0}])
        nlp.initialize(lambda own=examples: own)
        losses.append([nlp.update(examples)["set_valued_tagger"] for _ in range(2)])
    assert losses[0] == losses[1]


def test_promises_are_for_components_that_give_sets() -> None:
    nlp = spacy.blank("xx")
    with pytest.raises(ValueError, match="CRF475.*'crf_tagger'"):
        held_out_tokens(nlp.add_pipe("crf_tagger"), [])
    held_out = held_out_tokens(trained(build()).get_pipe("set_valued_tagger"), make_examples(nlp))
    with pytest.raises(ValueError, match="CRF819.*unit.*'word'"):
        risk_control(held_out, 0.2, unit="word")


def test_scores_of_sets_have_names() -> None:
    nlp = spacy.blank("xx")
    held_out = held_out_tokens(trained(build()).get_pipe("set_valued_tagger"), make_examples(nlp) * 20)
    assert conformal_sets(held_out, 0.2, score="aps").sets == conformal_sets(held_out, 0.2, score=Score("aps")).sets
    for unknown in ("apz", None):
        with pytest.raises(ValueError, match=f"CRF819.*kind.*{unknown}.*'lac' or 'aps' or 'raps'"):
            conformal_sets(held_out, 0.2, score=unknown)  # type: ignore[arg-type]


def test_what_is_wrong_with_weights_is_told_with_document_and_token() -> None:
    nlp = trained(build())
    tagger = nlp.get_pipe("set_valued_tagger")
    for name, shown in (("letters/1425", "letters/1425"), ("", "he wen se ")):
        examples = make_examples(nlp)[:1] * 2 + [example_of(nlp, [{"P": 1.0}, {"KON": 0.5, "V": 0.2}, {}], name)]
        for measure in (partial(held_out_tokens, tagger), tagger.score):
            with pytest.raises(ValueError, match=rf"CRF812\] Token 1 of document '{shown}' has the gold weights"):
                measure(examples)


def example_of(nlp: Language, rows: list[dict[str, float]], name: str) -> Example:
    doc = write_doc_name(Doc(nlp.vocab, words=["he", "wen", "se"]), name)
    write_gold_tags(doc, rows)
    return Example(nlp(Doc(nlp.vocab, words=["he", "wen", "se"])), doc)

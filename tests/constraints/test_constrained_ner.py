"""constrained_ner: what it writes, keeps, explains and refuses."""

import math
import pickle
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.citations import MINE, RULES, SETTINGS, build, make_examples, new_docs, pipe_of, tags_of, train
from helpers.folders import accept_edits
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse, parse_all
from spacy_crf.core.constraints.problem import Trellis, violations
from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.learning.model import get_weights

HARD = [*RULES, "exactly(VOLUME, 1)"]  # which references do not all keep
METHODS = ["auto", "lagrangian", "automaton", "ilp"]
SOFT = [
    "at_most(TITLE, 1) cost=2",
    "requires(VOLUME, JOURNAL) cost=1.5",
    "ends_with(DATE) cost=3",
    "at_least(VOLUME, 1) cost=4",
]


@pytest.fixture(scope="module")
def plain() -> Language:
    """A pipeline without constraints; tests that give it some take them away again."""
    return train()


@pytest.fixture
def nlp(plain: Language) -> Language:
    pipe = pipe_of(plain)
    before = dict(pipe.cfg)
    yield plain
    pipe.cfg.update(before)
    pipe.set_constraints([])


@pytest.mark.parametrize("target", ["ent", "spans", "tag"])
@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "none"])
def test_constraints_hold_in_what_is_written(target: str, scheme: str) -> None:
    if target == "tag" and scheme != "none":
        return
    nlp = train(target=target, scheme=scheme, constraints=RULES)
    for doc in nlp.pipe(new_docs(nlp)):
        if target == "tag":
            runs = [t.tag_ for i, t in enumerate(doc) if not i or doc[i - 1].tag_ != t.tag_]
        else:
            runs = [span.label_ for span in (doc.ents if target == "ent" else doc.spans["sc"])]
        assert runs.count("TITLE") <= 1 and runs[-1] == "DATE"
        assert "JOURNAL" in runs or "VOLUME" not in runs
        info = doc._.decode_info
        assert info["certified"] and not info["violated"] and not info["relaxed"]


def test_without_constraints_the_answer_is_that_of_viterbi(nlp: Language) -> None:
    tagger = spacy.blank("xx", vocab=nlp.vocab)
    tagger.add_pipe("crf_tagger", config={**SETTINGS, "target": "ent"})
    examples = make_examples(tagger)
    tagger.initialize(lambda: examples)
    tagger.update(examples)
    for own, other in zip(nlp.pipe(new_docs(nlp)), tagger.pipe(new_docs(tagger))):
        assert tags_of(own) == tags_of(other)
        info = own._.decode_info
        assert (info["method"], info["gap"], info["score"]) == ("viterbi", 0.0, info["viterbi_score"])
    with pytest.raises(ValueError, match="CRF902|CRF441"):
        pipe_of(nlp).set_constraints(["at_most(TITEL, 1)"])


@pytest.mark.filterwarnings("ignore:.*CRFW902")
@pytest.mark.parametrize("rules", [HARD, SOFT])
def test_all_methods_give_the_same_objective_and_only_viterbi_breaks_what_is_hard(
    nlp: Language, rules: list[str]
) -> None:
    pipe = pipe_of(nlp)
    pipe.set_constraints(rules)
    found: dict[str, list[dict[str, Any]]] = {}
    for method in [*METHODS, "viterbi"]:
        pipe.cfg["decoder"] = method
        found[method] = [doc._.decode_info for doc in nlp.pipe(new_docs(nlp))]
    for auto, *others in zip(*(found[method] for method in METHODS)):
        assert auto["certified"] and auto["gap"] <= 1e-6 * max(1, abs(auto["score"]))
        for other in others:
            if other["certified"]:
                assert other["objective"] == pytest.approx(auto["objective"], abs=1e-6)
    assert sum(info["certified"] for info in found["automaton"]) == len(found["auto"])
    assert any(info["violated"] for info in found["viterbi"])
    assert [i["viterbi_violated"] for i in found["auto"]] == [i["violated"] for i in found["viterbi"]]
    assert {info["method"] for info in found["viterbi"]} == {"viterbi"}
    assert all(info["milliseconds"] > 0 for info in found["auto"])


def test_objective_is_score_minus_the_costs_of_what_is_violated(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.set_constraints(SOFT)
    fields, constraints = Fields(pipe.tags), parse_all(SOFT)
    costs = dict(zip(SOFT, (c.cost for c in constraints)))
    for doc in nlp.pipe(new_docs(nlp)):
        info, path = doc._.decode_info, [pipe.tags.number[tag] for tag in tags_of(doc)]
        broken = violations(constraints, Labelling(path, fields, UnitPredicates(len(path))))
        assert {SOFT[index]: times for index, times in broken.items()} == {
            next(text for text in SOFT if name.startswith(text.split(" cost")[0])): times
            for name, times in info["violated"].items()
        }
        paid = sum(costs[SOFT[index]] * times for index, times in broken.items())
        assert info["objective"] == pytest.approx(info["score"] - paid)
        assert info["score"] <= info["viterbi_score"] + 1e-9


@pytest.mark.filterwarnings("ignore:.*CRFW902")
def test_step_rules_and_objectives_are_run_time_settings(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.set_constraints(SOFT)
    pipe.cfg["decoder"] = "lagrangian"
    iterations = {}
    for rule in ("polyak", "harmonic"):
        pipe.cfg["step_rule"] = rule
        iterations[rule] = [doc._.decode_info["iterations"] for doc in nlp.pipe(new_docs(nlp))]
    assert iterations["polyak"] != iterations["harmonic"]
    pipe.cfg.update(decoder="ilp", step_rule="polyak")
    costs = {}
    for tau in (1.0, 1e-9):  # the nearer to 0, the more score may be given up to break less
        pipe.cfg.update(objective="violations", tau=tau)
        infos = [doc._.decode_info for doc in nlp.pipe(new_docs(nlp))]
        costs[tau] = sum(info["score"] - info["objective"] for info in infos)
        least = np.log(tau) - 1e-5
        assert all(info["score"] - info["viterbi_score"] >= least for info in infos)
    assert costs[1e-9] < costs[1.0]


@pytest.mark.parametrize("temperature", [0.25, 1, 4])
def test_tau_compares_the_probabilities_that_the_component_gives(temperature: float) -> None:
    nlp = spacy.blank("xx")
    rules = {"constraints": ["at_most(A, 0) cost=1"], "objective": "violations", "tau": 0.5}
    config = {**SETTINGS, "target": "tag", "marginals": "told", "temperature": temperature, **rules}
    nlp.add_pipe("constrained_ner", config=config)
    gold = [Doc(nlp.vocab, words=["x"], tags=[tag]) for tag in "AAAAB"]
    examples = [Example(Doc(nlp.vocab, words=["x"]), doc) for doc in gold]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    doc = nlp(Doc(nlp.vocab, words=["x"]))
    told = doc[0]._.told
    assert told["A"] > told["B"]
    assert doc[0].tag_ == ("B" if told["B"] >= 0.5 * told["A"] else "A") == ("B" if temperature == 4 else "A")


@pytest.mark.parametrize("rules", [HARD, SOFT, ["exactly(VOLUME, 1)", "exactly(JOURNAL, 1)", "at_most(TITLE, 1)"]])
def test_explanations_stand_the_test_of_decoding_again(nlp: Language, rules: list[str]) -> None:
    pipe = pipe_of(nlp)
    pipe.cfg["changes"] = "constraint_changes"
    pipe.set_constraints([])
    before = [tags_of(doc) for doc in nlp.pipe(new_docs(nlp))]
    pipe.set_constraints(rules)
    docs = list(nlp.pipe(new_docs(nlp)))
    reasons: dict[tuple[str, ...], list[tuple[int, int, str]]] = {}
    for number, (doc, old) in enumerate(zip(docs, before)):
        changes = {change["token"]: change for change in doc._.constraint_changes}
        assert set(changes) == {i for i, (a, b) in enumerate(zip(old, tags_of(doc))) if a != b}
        for token, change in changes.items():
            assert (change["from"], change["to"]) == (old[token], doc[token].ent_type_)
            for reason in change["because"]:
                reasons.setdefault(tuple(reason), []).append((number, token, change["from"]))
    assert reasons
    for reason, places in reasons.items():
        kept = [one for one in pipe.constraints if one not in parse_all(reason)]
        assert len(kept) == len(rules) - len(reason)
        pipe.set_constraints(kept)
        again = [tags_of(doc) for doc in nlp.pipe(new_docs(nlp))]
        assert all(again[number][token] == label for number, token, label in places)
        pipe.set_constraints(rules)


def test_changes_are_not_written_unless_asked_for(nlp: Language) -> None:
    pipe_of(nlp).set_constraints(RULES)
    (doc,) = nlp.pipe(new_docs(nlp, count=1))
    assert not Doc.has_extension("constraint_changes") or doc._.constraint_changes is None


def test_probabilities_are_those_of_the_crf(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    Span.set_extension("cited", default=None, force=True)
    pipe.cfg["scores"] = "cited"
    pipe.set_constraints(["at_most(TITLE, 1)", "ends_with(DATE)"])
    for doc in nlp.pipe(new_docs(nlp, count=5)):
        asked = pipe.span_probabilities(new_docs(nlp, count=1)[0], [])
        assert len(asked.label) == 0
        for ent in doc.ents:
            assert 0 <= ent._.cited["label"] <= ent._.cited["boundaries"] + 1e-6 <= 1 + 2e-6
            assert ent._.cited["label"] <= ent._.cited["covered"] + 1e-6
    pipe.cfg["scores"] = None


def test_probabilities_under_constraints_are_one_where_a_constraint_decides(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.cfg["probabilities"] = "constrained"
    pipe.set_constraints(["ends_with(DATE)", "at_most(TITLE, 1)"])
    docs = new_docs(nlp, count=5)
    found = pipe.token_probabilities(docs)
    last = pipe.tags.number["DATE"]
    for doc, own in zip(docs, found):
        assert own.sum(axis=1) == pytest.approx(1, abs=1e-5) and own[-1, last] == pytest.approx(1, abs=1e-5)
        scores = pipe.span_probabilities(doc, [Span(doc, len(doc) - 1, len(doc), label="DATE")])
        assert scores.covered[0] == pytest.approx(1, abs=1e-5) and scores.label[0] <= scores.boundaries[0] + 1e-9
    pipe.set_constraints([])
    free = pipe.token_probabilities(docs)
    pipe.cfg["probabilities"] = "chain"
    for own, expected in zip(free, pipe.token_probabilities(docs)):
        assert own == pytest.approx(expected, abs=1e-3)


def test_scores_of_written_spans_are_under_constraints_if_asked_for(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    Span.set_extension("cited", default=None, force=True)
    pipe.cfg.update(scores="cited", probabilities="constrained")
    pipe.set_constraints(["exactly(AUTHOR, 1)", "starts_with(AUTHOR)", "ends_with(DATE)"])
    for doc in nlp.pipe(new_docs(nlp, count=5)):
        first, last = doc.ents[0], doc.ents[-1]
        assert (first.label_, last.label_) == ("AUTHOR", "DATE")
        assert first._.cited["label"] == pytest.approx(first._.cited["boundaries"], abs=1e-4)
    pipe.cfg["scores"] = None


def test_impossible_documents_have_the_probabilities_of_the_chain_and_a_warning(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.cfg["probabilities"] = "constrained"
    pipe.set_constraints(["at_least(TITLE, 1)", "at_least(DATE, 1)"])
    docs = [Doc(nlp.vocab, words=["Lund"]), Doc(nlp.vocab, words=["tides", "1999"])]
    with pytest.warns(CRFWarning, match="CRFW456.*Lund"):
        impossible, found = pipe.token_probabilities(docs)
    pipe.cfg["probabilities"] = "chain"
    assert impossible == pytest.approx(pipe.token_probabilities(docs)[0], abs=1e-3)
    assert found[0, pipe.tags.number["TITLE"]] + found[1, pipe.tags.number["TITLE"]] == pytest.approx(1, abs=1e-3)


def test_too_many_states_are_told(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.cfg.update(probabilities="constrained", max_states=1)
    pipe.set_constraints(["at_most(TITLE, 1)", "excludes(JOURNAL, VOLUME) each cost=1"])
    with pytest.warns(CRFWarning, match="CRFW455"):
        (found,) = pipe.token_probabilities(new_docs(nlp, count=1))
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-5)


# -- training under constraints --------------------------------------------------------------------------------------


def objective(nlp: Language, examples: list[Example]) -> float:
    """What training under constraints minimises: -log likelihood of gold under them, and the penalty of the weights."""
    pipe = pipe_of(nlp)
    columns, found = pipe.distribution([example.predicted for example in examples])
    chains, gold = found.chains.astype(np.float64), pipe.gold(examples, columns.lengths).labels
    sequences = zip(chains.batch.segments.split(chains.batch.rows), chains.batch.segments.split(gold))
    score = sum(Trellis.of(chains, rows).score(labels) for rows, labels in sequences)
    weights = get_weights(pipe.model).flat.astype(np.float64)
    return float(found.log_z.sum()) - score + pipe.settings.trainer.c2 * float(weights @ weights)


def trained(steps: int, **config: Any) -> tuple[Language, list[Example]]:
    nlp = build(**config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples)
    return nlp, examples


def test_training_under_constraints_has_the_better_objective_under_constraints() -> None:
    config = {"constraints": RULES, "probabilities": "constrained"}
    config["trainer"] = {**SETTINGS["trainer"], "c2": 0.01}
    free, examples = trained(4, **config)
    bound, same = trained(4, **config, train_constrained=True)
    assert objective(bound, same) < objective(free, examples) - 0.01


def test_gold_that_breaks_a_hard_constraint_is_learned_without_it() -> None:
    with pytest.warns(CRFWarning, match="CRFW457"):
        nlp, _ = trained(3, constraints=["at_most(VOLUME, 0)"], probabilities="constrained", train_constrained=True)
    pipe = pipe_of(nlp)
    pipe.set_constraints([])
    assert "VOLUME" in {ent.label_ for doc in nlp.pipe(new_docs(nlp)) for ent in doc.ents}


def test_training_under_constraints_takes_batches_that_arrive_one_by_one() -> None:
    config = {"constraints": RULES, "probabilities": "constrained", "train_constrained": True}
    nlp, _ = trained(3, **config)
    other = build(**config)
    same = make_examples(other)
    other.initialize(lambda: same)
    for _ in range(3):
        for part in (same[:15], same[15:]):
            pipe_of(other).update(part)
        pipe_of(other).finish_update(None)
    found, expected = (pipe_of(one).token_probabilities(new_docs(one)) for one in (other, nlp))
    assert np.concatenate(found) == pytest.approx(np.concatenate(expected), abs=1e-3)


def test_other_trainers_and_other_probabilities_are_refused() -> None:
    with pytest.raises(CRFError, match="CRF408.*probabilities"):
        build(train_constrained=True)
    trainer = {"@misc": "spacy_crf.AdaGrad.v1"}
    with pytest.raises(CRFError, match="CRF458"):
        trained(1, trainer=trainer, probabilities="constrained", train_constrained=True)


def test_constraints_that_are_mined_hold_in_training_too(tmp_path: Path) -> None:
    nlp, _ = trained(3, mine=MINE, probabilities="constrained", train_constrained=True)
    assert pipe_of(nlp).constraints
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    docs = new_docs(nlp, count=5)
    for own, expected in zip(pipe_of(again).token_probabilities(docs), pipe_of(nlp).token_probabilities(docs)):
        assert own == pytest.approx(expected, abs=1e-6)


# -- odd documents ---------------------------------------------------------------------------------------------------


def test_documents_of_no_token_one_and_five_thousand(nlp: Language) -> None:
    pipe_of(nlp).set_constraints(["at_most(AUTHOR, 3)", "ends_with(DATE)", "order(AUTHOR, TITLE) cost=1"])
    pipe_of(nlp).cfg["budget"] = None
    words = [token.text for doc in new_docs(nlp) for token in doc]
    long = (words * (5000 // len(words) + 1))[:5000]
    texts = [[], ["Lund"], long]
    empty, one, many = nlp.pipe(Doc(nlp.vocab, words=words) for words in texts)
    assert empty._.decode_info["certified"] and empty._.decode_info["method"] == "viterbi"
    assert tags_of(one) == ["DATE"] and one._.decode_info["certified"]
    found = [ent.label_ for ent in many.ents]
    assert found.count("AUTHOR") <= 3 and found[-1] == "DATE"


def test_constraints_that_cannot_hold_in_one_document_are_relaxed_there_alone(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.set_constraints(["at_least(AUTHOR, 1)", "at_least(TITLE, 1) priority=3"])
    texts = [["Lund"], ["Lund", ".", "ropes", "."]]
    with pytest.warns(UserWarning, match=r"CRFW901.*'Lund '.*at_least\(AUTHOR, 1\)"):
        bad, good = nlp.pipe(Doc(nlp.vocab, words=words) for words in texts)
    assert bad._.decode_info["relaxed"] == ["at_least(AUTHOR, 1)"] and bad._.decode_info["certified"]
    assert good._.decode_info["relaxed"] == []
    assert tags_of(bad) == ["TITLE"]


@pytest.mark.filterwarnings("ignore:.*CRFW901")
def test_violations_of_relaxed_constraints_are_all_counted(nlp: Language) -> None:
    rule = "boundary(comma) each unit"  # which no labelling of words without commas keeps
    pipe_of(nlp).set_constraints([rule])
    info = nlp("ropes tides winds")._.decode_info
    assert info["relaxed"] == [rule] and info["viterbi_violated"] == {rule: 2} and not info["violated"]
    scores = nlp.evaluate([Example(nlp.make_doc("ropes tides winds"), nlp.make_doc("ropes tides winds"))])
    assert (scores["violations"], scores["violations_before"]) == (1, 2)


def test_a_bad_document_does_not_take_the_others_down() -> None:
    Token.set_extension("weight", default=0.5, force=True)
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "_.weight"]}
    nlp = train(features=features, constraints=RULES)
    docs = new_docs(nlp, count=6)
    docs[2][0]._.weight = math.nan
    told: list[str] = []
    nlp.set_error_handler(lambda name, proc, docs, error: told.append(str(error)))
    assert len(list(nlp.pipe(docs))) == 5
    assert len(told) == 1 and docs[2].text[:20] in told[0]
    Token.remove_extension("weight")


def test_sentences_are_decoded_each_for_itself(nlp: Language) -> None:
    pipe_of(nlp).set_constraints(["ends_with(DATE)", "at_most(DATE, 1)"])
    parts = [[t.text for t in doc] for doc in new_docs(nlp, count=2)]
    starts = [i == 0 for words in parts for i in range(len(words))]
    doc = nlp(Doc(nlp.vocab, words=parts[0] + parts[1], sent_starts=starts))
    alone = [nlp(Doc(nlp.vocab, words=words)) for words in parts]
    assert tags_of(doc) == tags_of(alone[0]) + tags_of(alone[1])
    infos = [one._.decode_info for one in alone]
    assert doc._.decode_info["objective"] == pytest.approx(sum(info["objective"] for info in infos))


# -- facts ------------------------------------------------------------------------------------------------------------


def test_fields_may_be_bound_to_marks_words_and_custom_attributes(nlp: Language) -> None:
    Token.set_extension("ends_field", default=False, force=True)
    own = {"mark": [".", ","], "flagged": "_.ends_field"}
    trained = train(
        predicates=own, constraints=["boundary(flagged, TITLE)", "state_change(comma, AUTHOR, TITLE) implied"]
    )
    words = ["Lund", ",", "ropes", "tides", "winds", "1999", "."]
    doc = Doc(trained.vocab, words=words)
    for place in (1, 4):
        doc[place]._.ends_field = True
    doc = trained(doc)
    ends = {ent.end - 1 for ent in doc.ents if ent.label_ == "TITLE"} | {
        ent.start - 1 for ent in doc.ents if ent.label_ == "TITLE" and ent.start
    }
    assert ends <= {1, 4, 6} and doc._.decode_info["certified"]
    Token.remove_extension("ends_field")
    with pytest.raises(ValueError, match="CRF445.*ends_field"):
        trained(Doc(trained.vocab, words=words))


def test_annotation_that_is_there_can_be_fixed(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.set_constraints(["fixed()"])
    doc = new_docs(nlp, count=1)[0]
    doc.set_ents([Span(doc, 0, 2, label="VOLUME")], default="missing")
    doc = nlp(doc)
    assert tags_of(doc)[:2] == ["VOLUME", "VOLUME"] and tags_of(doc)[2] not in ("VOLUME", "")
    assert not doc._.decode_info["violated"]


@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "none"])
def test_annotation_that_is_there_counts_among_what_constraints_allow(scheme: str) -> None:
    nlp = train(scheme=scheme, constraints=["at_most(DATE, 1)"])
    for doc in new_docs(nlp):
        doc.set_ents([Span(doc, 2, 3, label="DATE")], default="missing")
        doc = nlp(doc)
        assert [(ent.start, ent.end) for ent in doc.ents if ent.label_ == "DATE"] == [(2, 3)]
        assert doc._.decode_info["certified"] and not doc._.decode_info["violated"]


@pytest.mark.parametrize("scheme", ["BIO", "none"])
def test_spans_that_a_threshold_leaves_out_are_missed(scheme: str) -> None:
    nlp = train(scheme=scheme, constraints=["exactly(VOLUME, 1)"])
    pipe = pipe_of(nlp)
    whole = list(nlp.pipe(new_docs(nlp)))
    assert all(doc._.decode_info["certified"] for doc in whole)
    pipe.cfg["threshold"] = 0.6
    missed = 0
    for full, doc in zip(whole, nlp.pipe(new_docs(nlp))):
        kept = [ent.label_ for ent in doc.ents]
        broken = {} if kept.count("VOLUME") == 1 else {"exactly(VOLUME, 1)": 1}
        assert doc._.decode_info["violated"] == broken
        assert doc._.decode_info["certified"] == (len(kept) == len(full.ents))
        missed += bool(broken)
    assert missed


def test_changes_are_those_that_are_written() -> None:
    nlp = train(constraints=["at_least(VOLUME, 2)"], changes="crf_test_written_changes")
    pipe = pipe_of(nlp)
    decided = [doc._.crf_test_written_changes for doc in nlp.pipe(new_docs(nlp))]
    pipe.cfg["threshold"] = 0.6
    n_left_out = 0
    for before, doc in zip(decided, nlp.pipe(new_docs(nlp))):
        told = doc._.crf_test_written_changes
        written = [token.ent_iob_ + (f"-{token.ent_type_}" if token.ent_type_ else "") for token in doc]
        assert told == [change for change in before if written[change["token"]] == change["to"]]
        n_left_out += len(before) - len(told)
    assert n_left_out


def test_the_same_word_can_be_asked_to_have_the_same_label(nlp: Language) -> None:
    pipe_of(nlp).set_constraints(["same_surface()"])
    doc = nlp(Doc(nlp.vocab, words=["Lund", ".", "ropes", "tides", ".", "ropes", ",", "12", "1999", "."]))
    labels = {}
    for token in doc:
        if token.text.isalnum():
            labels.setdefault(token.lower_, set()).add(token.ent_type_)
    assert all(len(found) == 1 for found in labels.values())


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config, message",
    [
        ({"constraints": ["at_most(TITLE"]}, "CRF901"),
        ({"constraints": ["at_most(TITLE, -1)"]}, "CRF904|CRF910"),
        ({"constraints": [{"kind": "at_mots", "a": ["TITLE"]}]}, "CRF903.*at_most"),
        ({"constraints": ["boundary(nowhere)"]}, "CRF906.*nowhere.*comma"),
        ({"decoder": "simplex"}, "decoder"),
        ({"max_iterations": 0}, "CRF922.*max_iterations"),
        ({"tau": 0.0}, "CRF922.*tau"),
        ({"step_rule": "newton"}, "step_rule"),
        ({"objective": "beauty"}, "objective"),
        ({"max_states": 0}, "CRF922.*max_states"),
        ({"time_limit": 0.0}, "CRF922.*time_limit"),
        ({"budget": 0.0}, "CRF922.*budget"),
        ({"decoder": "automaton", "objective": "violations"}, "CRF922.*objective.*automaton"),
        ({"changes": "decode_info"}, "CRF408.*changes"),
        ({"predicates": {"odd": "words"}}, "CRF444.*odd"),
        ({"decoder": "ilp", "solver": "abacus"}, "CRF924.*abacus"),
        ({"decoder": "auto", "solver": "higsh"}, "CRF924.*higsh"),
        ({"mine": {"@misc": "spacy_crf.Mining.v1", "folds": 1}}, "CRF932.*folds"),
        ({"mine": {"@misc": "spacy_crf.Mining.v1", "marks": ["brace"]}}, "CRF408.*brace"),
        ({"model": {"@architectures": "spacy_crf.LinearChain.v1", "order": 2}}, "CRF436"),
    ],
)
def test_settings_that_make_no_sense_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**config)


def test_a_missing_solver_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy_crf.core.constraints.ilp.available_solvers", lambda: ())
    with pytest.raises(ValueError, match="CRF923.*pip install highspy"):
        build(decoder="ilp")
    assert build(decoder="auto") and build(decoder="auto", solver="highs") and build(decoder="auto", solver="GUROBI")


@pytest.mark.parametrize(
    "rules, message",
    [
        (["at_most(TITEL, 1)"], "CRF441.*CRF902.*TITEL.*TITLE"),
        (["starts_with(AUTHOR)", "starts_with(TITLE)"], "CRF441.*CRF909.*starts_with"),
    ],
)
def test_constraints_are_checked_against_the_labels(rules: list[str], message: str) -> None:
    nlp = build(constraints=rules)
    with pytest.raises(ValueError, match=message):
        nlp.initialize(lambda: make_examples(nlp))


def test_constraints_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("# of references\nat_most(TITLE, 1)\n\nends_with(DATE) cost=2\n", encoding="utf8")
    nlp = build(constraints=str(path))
    nlp.initialize(lambda: make_examples(nlp))
    expected = parse_all(["at_most(TITLE, 1)", "ends_with(DATE) cost=2"])
    assert pipe_of(nlp).constraints == expected
    path.write_text('["at_most(TITLE, 1)", {"kind": "ends_with", "a": ["DATE"], "cost": 2}]', encoding="utf8")
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe_of(nlp).constraints == expected
    path.write_text("[1,", encoding="utf8")
    with pytest.raises(ValueError, match="CRF440.*rules.txt"):
        nlp.initialize(lambda: make_examples(nlp))
    path.unlink()
    with pytest.raises(ValueError, match="CRF440.*rules.txt"):
        nlp.initialize(lambda: make_examples(nlp))


# -- storage and processes --------------------------------------------------------------------------------------------


def test_a_model_is_the_same_after_each_way_to_store_it(tmp_path: Path) -> None:
    nlp = train(constraints=RULES)
    expected = [(tags_of(doc), doc._.decode_info["objective"]) for doc in nlp.pipe(new_docs(nlp))]
    nlp.to_disk(tmp_path / "model")
    data = nlp.to_bytes()
    with pytest.warns(UserWarning, match="CRFW994"):
        assert pipe_of(build().from_bytes(data)).constraints == pipe_of(nlp).constraints
    copies = [
        spacy.load(tmp_path / "model"),
        build(constraints=RULES).from_bytes(data),
        pickle.loads(pickle.dumps(nlp)),
    ]
    for copy in copies:
        assert pipe_of(copy).constraints == pipe_of(nlp).constraints
        found = [(tags_of(doc), doc._.decode_info["objective"]) for doc in copy.pipe(new_docs(copy))]
        assert [tags for tags, _ in found] == [tags for tags, _ in expected]
        np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], rtol=1e-5)
        copy.to_disk(tmp_path / "again")
        folder, saved = tmp_path / "again" / "constrained_ner", tmp_path / "model" / "constrained_ner"
        assert {f.name: f.read_bytes() for f in folder.iterdir()} == {f.name: f.read_bytes() for f in saved.iterdir()}


def test_an_edited_file_is_what_holds(tmp_path: Path) -> None:
    nlp = train(constraints=RULES)
    nlp.to_disk(tmp_path)
    path = tmp_path / "constrained_ner" / "constraints.json"
    content = path.read_text(encoding="utf8")
    assert content.count("\n") == len(RULES) + 2
    path.write_text(content.replace('"DATE"', '"VOLUME"'), encoding="utf8")
    with pytest.raises(ValueError, match=r"CRF426.*constraints.json is not as it was written.*write null"):
        spacy.load(tmp_path)
    accept_edits(path.parent)
    edited = spacy.load(tmp_path)
    assert all(tags_of(doc)[-1] == "VOLUME" for doc in edited.pipe(new_docs(edited)))
    path.write_text('["ends_with(AUTHOR) cost=1e3"]', encoding="utf8")
    edited = spacy.load(tmp_path)
    assert all(tags_of(doc)[-1] == "AUTHOR" for doc in edited.pipe(new_docs(edited)))
    for broken, message in (("{}", "CRF440"), ("[", "CRF440"), ('["at_most(TITEL, 1)"]', "CRF441.*CRF902")):
        path.write_text(broken, encoding="utf8")
        with pytest.raises(ValueError, match=message):
            spacy.load(tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match="CRF404"):
        spacy.load(tmp_path)


def test_other_constraints_in_the_config_hold_beside_mined_ones(tmp_path: Path) -> None:
    nlp = train(constraints=RULES)
    pipe = pipe_of(nlp)
    mined = '{"kind": "at_most", "a": ["TITLE"], "k": 1, "cost": 0.5, "about": {"origin": "mined"}}'
    nlp.to_disk(tmp_path)
    path = tmp_path / "constrained_ner" / "constraints.json"
    path.write_text(path.read_text(encoding="utf8").replace("\n]", f",\n{mined}\n]"), encoding="utf8")
    accept_edits(path.parent)
    own = {"components": {"constrained_ner": {"constraints": ["ends_with(AUTHOR)"]}}}
    for _ in range(2):
        loaded = spacy.load(tmp_path, config=own)
        assert [str(one) for one in pipe_of(loaded).constraints] == ["ends_with(AUTHOR)", "at_most(TITLE, 1) cost=0.5"]
        assert all(tags_of(doc)[-1] == "AUTHOR" for doc in loaded.pipe(new_docs(loaded)))
        loaded.to_disk(tmp_path)
    for given, kept in ((None, ["ends_with(AUTHOR)"]), ([], [])):
        none = {"components": {"constrained_ner": {"constraints": given}}}
        with pytest.warns(UserWarning, match=r"\[CRFW994\] .*'constrained_ner'") if kept else nullcontext():
            loaded = spacy.load(tmp_path, config=none)
        assert [str(one) for one in pipe_of(loaded).constraints] == [*kept, "at_most(TITLE, 1) cost=0.5"]
    for given in (
        "at_most(TITLE, 1) cost=2.0",
        {"kind": "at_most", "a": ["TITLE"], "cost": 3, "about": {"origin": "mined"}},
    ):
        loaded = spacy.load(tmp_path, config={"components": {"constrained_ner": {"constraints": [given]}}})
        (entry,) = pipe_of(loaded).constraint_entries  # the mined one is not paid for beside it
        assert entry.constraint == parse(given) and not entry.is_mined
    pipe.set_constraints(["at_most(DATE, 1)"])
    nlp.to_disk(tmp_path)
    assert pipe_of(spacy.load(tmp_path)).constraints == pipe.constraints
    with pytest.raises(ValueError, match="CRF408.*as it was when the component was made"):
        pipe.cfg["constraints"] = []


def test_worker_processes(nlp: Language) -> None:
    pipe = pipe_of(nlp)
    pipe.set_constraints(RULES)
    alone = [tags_of(doc) for doc in nlp.pipe(new_docs(nlp))]
    found = list(nlp.pipe(new_docs(nlp), n_process=2, batch_size=7))
    assert [tags_of(doc) for doc in found] == alone
    assert all(doc._.decode_info["certified"] for doc in found)


@pytest.mark.parametrize(
    "rule, found",
    [
        ("adjacency(AMOUNT, UNIT)", ["cups UNIT", "flour FOOD"]),
        ("adjacency(AMOUNT, UNIT|O)", ["2 AMOUNT", "cups UNIT", "flour FOOD"]),
        ("ends_with(FOOD)", ["2 AMOUNT", "cups UNIT", "flour . FOOD"]),
        ("ends_with(FOOD|O)", ["2 AMOUNT", "cups UNIT", "flour FOOD"]),
    ],
)
def test_words_outside_of_entities_are_segments_too(rule: str, found: list[str]) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("constrained_ner", config={"target": "ent", "mine": None})
    examples = []
    for _ in range(10):
        gold = Doc(nlp.vocab, words=["add", "2", "large", "cups", "of", "flour", "."])
        places = {"AMOUNT": 1, "UNIT": 3, "FOOD": 5}
        gold.set_ents([Span(gold, place, place + 1, label=label) for label, place in places.items()])
        examples.append(Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    pipe.set_constraints([rule])
    doc = nlp(examples[0].predicted.copy())
    assert [f"{entity.text} {entity.label_}" for entity in doc.ents] == found

"""Constraints mined in training: when, from what, and at which costs."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.citations import MINE, SETTINGS, build, make_examples, new_docs, pipe_of, tags_of, train
from helpers.tagged import ONLINE, TRAINER_CONFIGS
from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, Token
from spacy.training import Example
from thinc.api import Adam

from spacy_crf.constraints.component import ConstrainedNER
from spacy_crf.constraints.mining import splits
from spacy_crf.constraints.table import table_rows
from spacy_crf.core.errors import CRFWarning


@pytest.mark.parametrize(
    "costs",
    [{"costs": "likelihood"}, {"costs": "perceptron", "step": 0.5}, {"costs": "rate"}, {"costs": "rate", "scale": 0.5}],
)
def test_mined_constraints_stand_beside_given_ones(costs: dict[str, Any]) -> None:
    nlp = train(mine={**MINE, **costs}, constraints=["at_most(TITLE, 1)", "ends_with(DATE) cost=2"])
    entries = pipe_of(nlp).constraint_entries
    given = [entry for entry in entries if not entry.about]
    mined = [entry for entry in entries if entry.about]
    assert len(given) == 2 and given == entries[:2]
    assert {entry.about["origin"] for entry in mined} <= {"mined"}
    assert all(0 < entry.constraint.cost < 20 for entry in mined)
    texts = [row[-1] for row in table_rows(entries)]
    assert len(set(texts)) == len(texts)  # what is given is not mined again
    if costs.get("scale"):
        assert mined
        for entry in mined:
            assert entry.constraint.cost == pytest.approx(-0.5 * np.log(entry.about["rate"]))
            assert entry.about["support"] >= MINE["min_support"]
    assert all(doc._.decode_info["certified"] for doc in nlp.pipe(new_docs(nlp)))


def test_nothing_is_mined_before_the_first_step_and_nothing_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    mine = ConstrainedNER.before_training
    monkeypatch.setattr(ConstrainedNER, "before_training", lambda self, *given: (calls.append(1), mine(self, *given)))
    nlp = build(mine=MINE)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert not calls and not pipe_of(nlp).constraints
    nlp.update(examples)
    found = pipe_of(nlp).constraints
    nlp.update(examples)
    assert len(calls) == 1 and pipe_of(nlp).constraints == found
    again = build(mine=MINE).from_bytes(nlp.to_bytes())
    again.resume_training()
    again.update(make_examples(again))
    assert len(calls) == 1 and pipe_of(again).constraints == found


def test_the_same_seed_finds_the_same() -> None:
    assert train(mine=MINE).to_bytes() == train(mine=MINE).to_bytes()


@pytest.mark.parametrize("trainer", ["Minibatch", ONLINE[0]])
def test_any_trainer_will_do(trainer: str) -> None:
    nlp = build(mine=MINE, trainer=TRAINER_CONFIGS[trainer])
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.05)
    for _ in range(3):
        for low in range(0, len(examples), 10):
            nlp.update(examples[low : low + 10], sgd=optimizer)
    docs = list(nlp.pipe(new_docs(nlp)))
    assert all(doc._.decode_info["certified"] and tags_of(doc)[0] for doc in docs)


def test_documents_with_gaps_in_their_gold_are_passed_over() -> None:
    nlp = build(mine={**MINE, "costs": "rate", "scale": 1.0}, scheme="BIO")
    examples = make_examples(nlp)
    for example in examples[:10]:
        example.reference.set_ents([], missing=[example.reference[0:1]], default="outside")
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert max(entry.about["support"] for entry in pipe_of(nlp).constraint_entries) == 30
    for example in examples:
        example.reference.set_ents([], missing=[example.reference[0:1]], default="outside")
    nlp.initialize(
        lambda: examples,
    )
    with pytest.raises(ValueError, match="CRF447"):
        nlp.update(examples)


def test_folds_part_the_examples() -> None:
    nlp = build()
    examples = make_examples(nlp, count=7)
    found = splits(examples, 3, 0)
    assert sorted(len(own) for _, own in found) == [2, 2, 3]
    assert sorted(id(eg) for _, own in found for eg in own) == sorted(map(id, examples))
    for others, own in found:
        assert len(others) + len(own) == 7 and not {id(eg) for eg in others} & {id(eg) for eg in own}
    assert len(splits(examples[:2], 5, 0)) == 2


def test_what_was_mined_is_stored_to_be_read(tmp_path: Path) -> None:
    nlp = train(mine={**MINE, "costs": "rate", "scale": 1.0})
    nlp.to_disk(tmp_path)
    records = json.loads((tmp_path / "constrained_ner" / "constraints.json").read_text(encoding="utf8"))
    assert {"origin", "support", "broken", "rate", "precision"} == set(records[0]["about"])
    again = spacy.load(tmp_path)
    assert pipe_of(again).constraint_entries == pipe_of(nlp).constraint_entries
    assert [d._.decode_info["objective"] for d in again.pipe(new_docs(again))] == pytest.approx(
        [d._.decode_info["objective"] for d in nlp.pipe(new_docs(nlp))], rel=1e-5
    )
    assert isinstance(again("Lund . ropes . 1999 ."), Doc)


def test_what_was_mined_stays_with_a_component_that_starts_from_it(tmp_path: Path) -> None:
    begun = pipe_of(train(mine=MINE, constraints=["at_most(TITLE, 1)", "ends_with(DATE)"]))
    begun.to_disk(tmp_path / "begun")
    mined = [str(entry.constraint) for entry in begun.constraint_entries if entry.is_mined]
    assert mined
    for mine, given in ((None, ["at_most(VOLUME, 1)"]), (MINE, [])):
        nlp = build(mine=mine, constraints=given)
        examples = make_examples(nlp, seed=3)
        pipe_of(nlp).initialize(lambda own=examples: own, start=str(tmp_path / "begun"))
        assert list(map(str, pipe_of(nlp).constraints)) == [*given, *([] if mine else mined)]
        nlp.update(examples)
        found = [str(entry.constraint) for entry in pipe_of(nlp).constraint_entries if entry.is_mined]
        assert (found == mined) is (mine is None)
        nlp.initialize(lambda own=examples: own)
        assert list(map(str, pipe_of(nlp).constraints)) == given


@pytest.mark.parametrize("times", [1, 3])
def test_mining_sees_what_training_shows(times: int) -> None:
    """What annotating components set, in examples that the corpus makes anew; and examples that stand there twice."""
    Token.set_extension("field", default="", force=True)

    @Language.component("fields")
    def annotate(doc: Doc) -> Doc:
        for token in doc:
            token._.field = known[doc.text][token.i]
        return doc

    nlp = spacy.blank("xx")
    nlp.add_pipe("fields")
    config = {**SETTINGS, "features": {"templates": ["_.field[0]"]}, "mine": {**MINE, "kinds": ["at_most"]}}
    pipe = nlp.add_pipe("constrained_ner", config=config)
    nlp.config["training"]["annotating_components"] = ["fields"]
    references = [example.reference for example in make_examples(nlp)]
    known = {doc.text: tags_of(doc) for doc in references}
    nlp.initialize(lambda: make_examples(nlp) * times)
    nlp.update(make_examples(nlp), annotates=["fields"])
    annotated = list(pipe.constraint_entries)

    def shown() -> list[Example]:
        return [Example(annotate(example.predicted), example.reference) for example in make_examples(nlp)] * times

    nlp.config["training"]["annotating_components"] = []
    nlp.initialize(shown)
    nlp.update(shown()[: len(references)])
    assert annotated == list(pipe.constraint_entries)
    Token.remove_extension("field")


@Language.component("own_sentences")
def own_sentences(doc: Doc) -> Doc:
    """Finds sentences, which no `assigns` tells."""
    return Sentencizer()(doc)


def test_mined_rules_about_documents_are_told_of_where_other_texts_have_sentences() -> None:
    """A rule such as at_least(PLAINTIFF, 1) asks each sentence for one."""

    def told(annotating: list[str], **config: Any) -> list[str]:
        nlp = build(**config)
        nlp.add_pipe("sentencizer", first=True)
        nlp.config["training"]["annotating_components"] = annotating
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            nlp.initialize(lambda: make_examples(nlp))
        return [str(one.message) for one in found if "CRFW458" in str(one.message)]

    (message,) = told([], mine=MINE)
    assert "'sentencizer'" in message
    assert not told(["sentencizer"], mine=MINE) and not told([], mine=MINE, sequence="doc")
    assert not told([], constraints=["at_most(DATE, 1)"])


@pytest.mark.parametrize("config", [{"mine": MINE}, {"constraints": ["at_most(DATE, 1)"]}])
def test_rules_about_sentences_are_told_of_where_other_texts_have_none(config: dict[str, Any]) -> None:
    """Their scores are for sentences, and the same rule takes away all but one date of a whole text."""
    nlp = build(**config)
    examples = []
    made = make_examples(nlp)
    for first, second in zip(made[::2], made[1::2]):
        docs = [Doc.from_docs([getattr(one, side) for one in (first, second)]) for side in ("x", "y")]
        for doc in docs:
            for token in doc:
                token.is_sent_start = token.i in (0, len(first.x))
        examples.append(Example(*docs))
    with pytest.warns(CRFWarning, match="CRFW477.*sentencizer"):
        nlp.initialize(lambda: examples)
    for told in ({**config, "sequence": "doc"}, {"constraints": []}):
        build(**told).initialize(lambda: examples)
    for finder in ("sentencizer", "own_sentences"):
        nlp = build(**config)
        nlp.add_pipe(finder, first=True)
        nlp.initialize(lambda: examples)

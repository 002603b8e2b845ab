"""`[initialize.components.NAME] start`: begin with what a saved component has learned."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.networks import learn, model
from helpers.tagged import build, clean_docs, make_examples, read_target, train
from helpers.weights import flat_weights, vector_weights
from spacy.language import Language

from spacy_crf.core.errors import CRFWarning
from spacy_crf.learning.model import get_layout

FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "SUFFIX2", "B:LOWER[0]"]}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The folder of a trained component without vectors."""
    nlp = train(features=FEATURES)
    nlp.get_pipe("crf_tagger").to_disk(tmp_path / "saved")
    return tmp_path / "saved"


def begin(saved: Path, trainer: str = "AdaGrad", labels: list[str] | None = None, **config: Any) -> Language:
    nlp = build(trainer, **{"features": FEATURES, **config})
    examples = make_examples(nlp)
    nlp.config["initialize"]["components"]["crf_tagger"] = {"start": str(saved), "labels": labels}
    nlp.initialize(lambda: examples)
    return nlp


def tags(nlp: Language) -> list[Any]:
    return [read_target(doc, "tag") for doc in nlp.pipe(clean_docs(nlp))]


@pytest.mark.parametrize("config", [{}, {"model": model()}], ids=["features", "vectors"])
def test_it_predicts_at_once_and_learns_on(saved: Path, config: dict[str, Any]) -> None:
    reference = build("LBFGS", features=FEATURES)
    reference.get_pipe("crf_tagger").from_disk(saved)
    nlp = begin(saved, **config)
    assert tags(nlp) == tags(reference)
    pipe = nlp.get_pipe("crf_tagger")
    before = flat_weights(pipe.model)
    examples = make_examples(nlp)
    learn(nlp, examples, epochs=3)
    assert not np.array_equal(flat_weights(pipe.model)[: len(before)], before)
    if config:
        assert vector_weights(pipe.model).any()
    gold = [read_target(example.reference, "tag") for example in examples]
    assert sum(a == b for a, b in zip(tags(nlp), gold, strict=True)) >= len(gold) - 2


FITTED = {
    "templates": ["CLASS3[-1..1]", "LOWER|COMMON2", "SUFFIX2|RARE2", "NORMAL"],
    "classes": {"@misc": "spacy_crf.InducedClasses.v1", "min_count": 1},
    "spelling": {"@misc": "spacy_crf.Spelling.v1", "lengths": [2], "ratio": 1},
}


def test_what_was_fitted_to_words_stays_with_the_weights(tmp_path: Path) -> None:
    features = {"@misc": "spacy_crf.Features.v1", **FITTED}
    reference = build("LBFGS", features=features)
    first = make_examples(reference)[:10]
    reference.initialize(lambda: first)
    reference.update(first)
    old = reference.get_pipe("crf_tagger")
    old.to_disk(tmp_path / "saved")
    alone, begun = (build("AdaGrad", features=features) for _ in range(2))
    begun.config["initialize"]["components"]["crf_tagger"] = {"start": str(tmp_path / "saved")}
    for nlp in (alone, begun):
        nlp.initialize(lambda nlp=nlp: make_examples(nlp)[10:])
    fitted = [nlp.get_pipe("crf_tagger").features.resources.to_data() for nlp in (reference, begun, alone)]
    assert set(fitted[0]) == {"lists", "spelling", "word_counts", "word_classes"}
    assert fitted[1] == fitted[0] and all(fitted[2][key] != fitted[0][key] for key in fitted[0] if key != "lists")
    assert tags(begun) == tags(reference)
    learn(begun, make_examples(begun)[10:], epochs=1)


def test_a_given_table_of_normal_forms_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("mil\tmill\n", encoding="utf8")
    spelling = {"@misc": "spacy_crf.Spelling.v1", "table": str(path)}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["NORMAL"], "spelling": spelling}
    nlp = train(features=features)
    nlp.get_pipe("crf_tagger").to_disk(tmp_path / "saved")
    path.write_text("mil\tmill\nmyll\tmill\n", encoding="utf8")
    begun = begin(tmp_path / "saved", features=features)
    assert [token.tag_ for token in begun("the myll")] == [token.tag_ for token in nlp("the mill")]
    assert "myll" in str(begun.get_pipe("crf_tagger").features.resources.to_data())


@pytest.mark.parametrize("changes", [{"rules": "free_spelling"}, {"lengths": [3]}])
def test_normal_forms_that_stay_are_those_that_the_config_asks_for(changes: dict[str, Any], tmp_path: Path) -> None:
    spelling = {"@misc": "spacy_crf.Spelling.v1", "lengths": [2], "ratio": 1}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["NORMAL", "REWRITTEN"], "spelling": spelling}
    nlp = train(features=features)
    nlp.get_pipe("crf_tagger").to_disk(tmp_path / "saved")
    with pytest.raises(ValueError, match=f"CRF327.*{next(iter(changes))}"):
        begin(tmp_path / "saved", features={**features, "spelling": {**spelling, **changes}})
    begun = begin(tmp_path / "saved", features={**features, "spelling": {**spelling, "table": None, **changes}})
    assert begun.get_pipe("crf_tagger").features.resources.to_data()["spelling"]["table"] == []
    begun.get_pipe("crf_tagger").to_disk(tmp_path / "without")
    with pytest.raises(ValueError, match="CRF327.*table"):
        begin(tmp_path / "without", features={**features, "spelling": {**spelling, **changes}})


def test_labels_of_the_data_come_behind(saved: Path) -> None:
    plain, more = begin(saved), begin(saved, labels=["NEW", "NN"])
    known = plain.get_pipe("crf_tagger").labels
    pipe = more.get_pipe("crf_tagger")
    assert pipe.labels == (*known, "NEW")
    assert tags(more) == tags(plain)
    before = get_layout(plain.get_pipe("crf_tagger").model).n_labels
    assert get_layout(pipe.model).n_labels == before + 1
    learn(more, make_examples(more), epochs=1)


def test_other_templates_are_an_error(saved: Path) -> None:
    with pytest.raises(ValueError, match=r"CRF406.*LOWER\[-1\]"):
        begin(saved, features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]})


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CRF404.*nowhere"):
        begin(tmp_path / "nowhere")


def test_a_model_with_vectors_is_no_start(saved: Path, tmp_path: Path) -> None:
    begin(saved, model=model()).get_pipe("crf_tagger").to_disk(tmp_path / "vectors")
    with pytest.raises(ValueError, match="CRF404.*vectors"):
        begin(tmp_path / "vectors")


@pytest.mark.parametrize("theirs, ours", [(True, False), (False, True)])
def test_starts_and_ends_are_those_of_the_config(theirs: bool, ours: bool, tmp_path: Path) -> None:
    def chain(boundary: bool) -> dict[str, Any]:
        return {"@architectures": "spacy_crf.LinearChain.v1", "boundary": boundary}

    nlp = train(features=FEATURES, model=chain(theirs))
    nlp.get_pipe("crf_tagger").to_disk(tmp_path / "saved")
    with pytest.warns(CRFWarning, match="CRFW418.*boundary") if theirs and not ours else nullcontext():
        begun = begin(tmp_path / "saved", model=chain(ours))
    layout = get_layout(begun.get_pipe("crf_tagger").model)
    state = get_layout(nlp.get_pipe("crf_tagger").model)
    assert layout.boundary == ours and len(layout.state_cells) <= len(state.state_cells)
    weights = flat_weights(begun.get_pipe("crf_tagger").model)
    assert len(weights) == layout.size
    if ours:
        assert not weights[-2 * layout.n_labels :].any()
    learn(begun, make_examples(begun), epochs=1)


@pytest.mark.parametrize(
    "theirs, ours",
    [
        ({"target": "ent", "scheme": "BIO"}, {"target": "ent", "scheme": "BILUO"}),
        ({"target": "ent", "scheme": "BILUO"}, {"target": "ent", "scheme": "BIO"}),
        ({"target": "ent"}, {"target": "tag"}),
    ],
)
def test_another_scheme_or_target_is_an_error(theirs: dict[str, Any], ours: dict[str, Any], tmp_path: Path) -> None:
    nlp = train(features=FEATURES, **theirs)
    nlp.get_pipe("crf_tagger").to_disk(tmp_path / "saved")
    with pytest.raises(ValueError, match="CRF418.*target"):
        begin(tmp_path / "saved", **ours)


def test_a_component_that_has_learned_nothing_is_no_start(tmp_path: Path) -> None:
    build("LBFGS", features=FEATURES).get_pipe("crf_tagger").to_disk(tmp_path / "saved")
    with pytest.raises(ValueError, match="CRF418"):
        begin(tmp_path / "saved")


def test_features_that_are_made_otherwise_are_an_error(saved: Path) -> None:
    with pytest.raises(ValueError, match="CRF313.*padding"):
        begin(saved, features={**FEATURES, "padding": False})

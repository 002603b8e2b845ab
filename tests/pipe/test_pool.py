"""Pools of trained components: products of the members' probabilities, to the power of their exponents."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.networks import model
from helpers.tagged import build, fit, make_examples, train
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Adam

from spacy_crf import CRFWarning
from spacy_crf.pipe.component import ChainPipe
from spacy_crf.pipe.pool import pool, trained_on
from spacy_crf.tagging.component import CRFTagger

NAME = "crf_tagger"
WORDS = ["Ada", "met", "Port"]

MEMBERS: dict[str, dict[str, Any]] = {
    "words": {"features": {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]", "BIAS[0]", "B:SHAPE[0]"]}},
    "affixes": {
        "features": {"@misc": "spacy_crf.Features.v1", "templates": ["SUFFIX2[0]", "LOWER[-1]|SHAPE[0]", "BIAS"]},
        "model": {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False, "all_states": True},
    },
    "network": {
        "features": {"@misc": "spacy_crf.Features.v1", "templates": ["BIAS"]},
        "model": model(),
        "trainer": "Minibatch",
    },
}


def member(name: str, **config: Any) -> Language:
    return train(target="ent", **{**MEMBERS[name], **config})


def get_pipe(nlp: Language) -> ChainPipe:
    pipe = nlp.get_pipe(NAME)
    assert isinstance(pipe, ChainPipe)
    return pipe


def chances(nlp: Language) -> dict[tuple[int, ...], float]:
    """The probability of every labelling of a short text."""
    _, chain = get_pipe(nlp).distribution([Doc(nlp.vocab, words=WORDS)])
    (paths,) = chain.n_best(5 ** len(WORDS))
    return {tuple(tags.tolist()): float(chance) for tags, chance in zip(paths.labels, paths.probabilities)}


@pytest.mark.parametrize("names", [("words", "affixes"), ("words", "network", "affixes"), ("words", "words")])
@pytest.mark.parametrize("exponents", [(0.5, 0.5, 0.5), (1.0, 0.25, 0.4)])
def test_a_pool_is_the_product_of_its_members(names: tuple[str, ...], exponents: tuple[float, ...]) -> None:
    members = [member(name) for name in names]
    own = [chances(nlp) for nlp in members]
    exponents = exponents[: len(names)]
    pooled = pool(members, [NAME] * len(names), exponents)
    assert len(own[0]) > 30
    product = {labels: np.prod([chance[labels] ** power for chance, power in zip(own, exponents)]) for labels in own[0]}
    total = sum(product.values())
    found = chances(pooled)
    assert found.keys() == product.keys()
    for labels, chance in product.items():
        assert found[labels] == pytest.approx(chance / total, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("names", [("words", "affixes"), ("affixes", "words"), ("affixes", "affixes")])
def test_a_pool_is_saved_and_loaded_whichever_member_learns_starts_and_ends(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    pooled = pool([member(name) for name in names], [NAME] * 2, [0.5, 0.5])
    pooled.to_disk(tmp_path)
    again = chances(spacy.load(tmp_path))
    assert again == pytest.approx(chances(pooled), rel=1e-3)


@pytest.mark.parametrize("temperatures", [(1.0, 3.0), (3.0, 1.0), (0.5, 2.0)])
@pytest.mark.parametrize("exponents", [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)])
def test_members_count_at_their_own_temperature(temperatures: tuple[float, ...], exponents: tuple[float, ...]) -> None:
    members = [member(name, temperature=each) for name, each in zip(("words", "affixes"), temperatures)]
    get_pipe(members[0]).cfg["temperature"] = temperatures[0] * 2  # it may change at any time
    own = [chances(nlp) for nlp in members]
    product = {labels: np.prod([chance[labels] ** power for chance, power in zip(own, exponents)]) for labels in own[0]}
    found = chances(pool(members, [NAME] * 2, exponents))
    for labels, chance in product.items():
        assert found[labels] == pytest.approx(chance / sum(product.values()), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("is_sourced", [False, True])
def test_a_pool_has_the_settings_that_were_assigned_to_its_first_member(is_sourced: bool) -> None:
    members = [member("words"), member("affixes")]
    if is_sourced:
        other = spacy.blank("xx")
        other.add_pipe(NAME, source=members[0])
        members[0] = other
    assigned = {"decode": "posterior", "overwrite": True, "temperature": 2.0}
    get_pipe(members[0]).cfg.update(assigned)
    pooled = pool(members, [NAME] * 2, [0.5, 0.5])
    assert assigned.items() <= get_pipe(pooled).cfg.items()
    assert assigned.items() <= pooled.config["components"][NAME].items()


@pytest.mark.parametrize("is_fitted", [True, False])
def test_a_threshold_that_data_decide_is_fitted_anew_to_the_pool(tmp_path: Path, is_fitted: bool) -> None:
    """Until then, it is that of the first member."""
    members = [member(name, decode="spans", threshold="auto") for name in ("words", "affixes")]
    examples = make_examples(members[0])
    if is_fitted:
        get_pipe(members[0]).cfg.fit("threshold", 0.45)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*CRFW408", CRFWarning)
        pool(members, [NAME, NAME], [0.5, 0.5]).to_disk(tmp_path)
    pipe = get_pipe(spacy.load(tmp_path))
    assert pipe.cfg["threshold"] == (0.45 if is_fitted else "auto")
    assert isinstance(pipe, CRFTagger)
    assert pipe.cfg.assignable["threshold"] == "auto"
    pipe.cfg["threshold"] = "auto"  # as `crf calibrate` does
    pipe.calibrate(examples)
    assert pipe.cfg["threshold"] == pytest.approx(pipe.best_threshold(examples)) != pytest.approx(0.45)


def test_what_a_member_forbids_is_forbidden_in_the_pool() -> None:
    forbidden = [["B-LOC", "B-PER"]], [["I-PER", "B-LOC"], ["B-LOC", "B-PER"]]
    members = [member("words"), *(member("words", forbidden=pairs) for pairs in forbidden)]
    pooled = pool(members, [NAME] * 3, [0.5, 0.5, 0.0])
    number = get_pipe(pooled).tags.number
    pairs = {pair for labels in chances(pooled) for pair in zip(labels, labels[1:])}
    assert (number["B-PER"], number["B-LOC"]) in pairs
    assert not pairs & {(number[one], number[other]) for one, other in forbidden[1]}


def test_scores_that_are_no_probabilities_are_pooled_with_their_like_or_calibrated() -> None:
    def learned(trainer: str, temperature: float = 1.0) -> Language:
        return train(trainer, target="ent", temperature=temperature)

    for trainers in (("LBFGS", "Perceptron"), ("Perceptron", "LBFGS")):
        with pytest.raises(ValueError, match=r"CRF648.*calibrate"):
            pool([learned(name) for name in trainers], [NAME] * 2, [0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chances(pool([learned("LBFGS"), learned("Perceptron", 4.0)], [NAME] * 2, [0.5, 0.5]))
        chances(pool([learned("Perceptron", 4.0), learned("LBFGS")], [NAME] * 2, [0.5, 0.5]))
    with pytest.warns(CRFWarning, match="CRFW403"):
        chances(pool([learned("Perceptron"), learned("Perceptron")], [NAME] * 2, [0.5, 0.5]))


def test_a_fold_says_nothing_of_labels_that_it_lacks() -> None:
    """And nothing is done to the filters of warnings, which other threads share: here, a warning is an error."""
    pipe = get_pipe(train())
    fold = trained_on(pipe, make_examples(spacy.blank("xx"))[:2], 10)
    assert fold.labels == pipe.labels


def test_every_member_has_a_name_and_a_finite_exponent() -> None:
    members = [member("words"), member("affixes")]
    for names, exponents in ((1, [0.5, 0.5]), (2, [1.0]), (2, [0.5, 0.5, 0.5]), (2, [float("nan"), 1.0])):
        with pytest.raises(ValueError, match="CRF450"):
            pool(members, [NAME] * names, exponents)
    with pytest.raises(ValueError, match="CRF450"):
        pool([], [], [])


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ({"target": "ent"}, {"target": "ent", "scheme": "BILUO"}, "scheme"),
        ({"target": "ent", "scheme": "BILUO"}, {"target": "ent"}, "scheme"),
        ({"target": "ent"}, {"target": "spans"}, "target"),
        ({"target": "ent"}, {"target": "ent", "sequence": "doc"}, "sequence"),
    ],
)
def test_members_that_mean_other_things_by_the_same_labels(
    one: dict[str, Any], other: dict[str, Any], what: str
) -> None:
    with pytest.raises(ValueError, match=f"CRF648.*{what}"):
        pool([train(**one), train(**other)], [NAME] * 2, [0.5, 0.5])


def test_a_pool_is_stored_and_trained_on(tmp_path: Path) -> None:
    pooled = pool([member("words"), member("network")], [NAME] * 2, [0.5, 0.5])
    pooled.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert chances(loaded) == pytest.approx(chances(pooled), rel=1e-5)
    assert "LOWER[0]=ada" in get_pipe(loaded).features.state.names()
    assert [str(one) for one in get_pipe(loaded).feature_config.parsed] == ["LOWER[0]", "BIAS[0]", "B:SHAPE[0]"]
    before = chances(loaded)
    loaded.update(make_examples(loaded), sgd=Adam(0.01))
    assert chances(loaded) != before


def test_scores_of_a_member_are_not_those_of_the_pool(tmp_path: Path) -> None:
    members = [member("words"), member("affixes")]
    for nlp in members:
        nlp.meta["performance"] = {"ents_f": 0.25}
    pool(members, [NAME] * 2, [0.5, 0.5]).to_disk(tmp_path)
    assert not spacy.load(tmp_path).meta.get("performance")


def test_what_cannot_be_pooled_is_refused() -> None:
    words, other = member("words"), train(target="tag")
    with pytest.raises(ValueError, match=r"CRF648.*labels"):
        pool([words, other], [NAME] * 2, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"CRF648.*tok2vec"):
        pool([member("network"), member("network")], [NAME] * 2, [0.5, 0.5])
    untrained = build(target="ent")
    with pytest.raises(ValueError, match=r"CRF648.*none"):
        pool([untrained, untrained], [NAME] * 2, [0.5, 0.5])
    hashed = {**MEMBERS["words"]["features"], "max_features": 100}
    with pytest.raises(ValueError, match=r"CRF648.*buckets"):
        pool([words, member("words", features=hashed)], [NAME] * 2, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"CRF648.*order 2"):
        second = member("words", model={"@architectures": "spacy_crf.LinearChain.v1", "order": 2})
        pool([words, second], [NAME] * 2, [0.5, 0.5])
    dictionary = spacy.blank("xx")
    dictionary.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"CRF648.*linear chain"):
        pool([dictionary], ["sentencizer"], [1.0])


def test_lists_that_differ_are_refused(tmp_path: Path) -> None:
    pipelines = []
    for value in ("PLACE", "TOWN"):
        path = tmp_path / f"{value}.tsv"
        path.write_text(f"Delft\t{value}\n", encoding="utf8")
        features = {"@misc": "spacy_crf.Features.v1", "templates": ["LIST(place)"], "lists": {"place": str(path)}}
        nlp = build(target="ent", features=features)
        fit(nlp, make_examples(nlp))
        pipelines.append(nlp)
    with pytest.raises(ValueError, match=r"CRF648.*place"):
        pool(pipelines, [NAME] * 2, [0.5, 0.5])

"""Calibrated marks in the component: what they change, what they do not, and how they are stored and fitted."""

import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.punctuated import BARE, TEXTS, build, make_examples, train, trained
from helpers.weights import flat_weights, set_flat_weights
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from spacy_crf.core.calibration import DirichletMap
from spacy_crf.punctuation.block import NONE
from spacy_crf.punctuation.calibration import (
    MarkCalibration,
    Marked,
    best_thresholds,
    calibrate_marks,
    held_out,
    precise_thresholds,
)
from spacy_crf.punctuation.labels import LabelTable

SHARES = {"well": 0.75, "home": 0.25}


def doubting(pipe) -> MarkCalibration:
    """A map that makes all probabilities flatter, and marks less probable."""
    marks = pipe.label_table.marks
    return MarkCalibration(marks, DirichletMap(np.eye(len(marks)) / 2, np.array([float(m == NONE) for m in marks])))


def calibrated(folder: Path, **config):
    nlp = trained(folder, **config)
    pipe = nlp.get_pipe("punctuation_restorer")
    pipe.calibration = doubting(pipe)
    return nlp, pipe


def test_a_map_of_another_temperature_is_left_out(folder: Path) -> None:
    nlp, pipe = calibrated(folder, probabilities=True)
    pipe.cfg["temperature"] = 2.0
    with pytest.warns(UserWarning, match="CRFW978.*punctuation_restorer"):
        own = nlp(BARE)[0]._.punct_probs
    plain = trained(folder, probabilities=True, temperature=2.0)
    assert own == pytest.approx(plain(BARE)[0]._.punct_probs, abs=1e-6)
    pipe.cfg["temperature"] = 1.0
    assert pipe.calibration is not None


@pytest.mark.parametrize("has_case", [False, True])
def test_probabilities_of_marks_go_through_the_map(folder: Path, has_case: bool) -> None:
    plain = trained(folder, has_case)
    nlp, pipe = calibrated(folder, has_case=has_case)
    before, after = plain(BARE), nlp(BARE)
    names = [mark.replace(NONE, "", 1) if mark == NONE else mark for mark in pipe.label_table.marks]
    rows = np.array([[token._.punct_probs[name] for name in names] for token in before])
    expected = pipe.calibration.map(rows)
    ours = np.array([[token._.punct_probs[name] for name in names] for token in after])
    np.testing.assert_allclose(ours, expected, atol=1e-4)
    assert np.abs(ours - rows).max() > 0.05
    assert nlp("")._.restored == ""
    streamed = [word.probability for word in pipe.stream(BARE.split(), lag=50)]
    taken = [token._.punct_probs[token._.punct_after] for token in after]
    np.testing.assert_allclose(streamed, taken, atol=1e-5)


def test_labels_of_a_mark_keep_their_shares() -> None:
    table = LabelTable(["O|lower", "O|Title", "PERIOD|lower", "PERIOD|Title"])
    calibration = MarkCalibration(table.marks, DirichletMap(np.eye(2) * 0.5, np.array([0.0, 1.0])))
    marginals = np.array([[0.6, 0.2, 0.15, 0.05], [0.0, 0.0, 1.0, 0.0]])
    found = calibration.apply(marginals, table)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[0, 0] / found[0, 1], 3)
    np.testing.assert_allclose(found[0, 2] / found[0, 3], 3)
    np.testing.assert_allclose(found[1], [0, 0, 1, 0])
    assert found.dtype == marginals.dtype


def test_labellings_and_their_probabilities_are_those_of_the_chain(folder: Path) -> None:
    plain, (nlp, _) = trained(folder, n_best=3), calibrated(folder, n_best=3)
    before, after = plain(BARE), nlp(BARE)
    assert after._.restored == before._.restored and after._.restorations == before._.restorations


def test_thresholds_look_at_calibrated_probabilities(folder: Path) -> None:
    nlp, _ = calibrated(folder, thresholds={"COMMA": 0.4})
    doc = nlp(BARE)
    assert [t._.punct_after == "COMMA" for t in doc] == [t._.punct_probs["COMMA"] >= 0.4 for t in doc]
    plain = [t._.punct_probs["COMMA"] for t in trained(folder)(BARE)]
    between = [(ours._.punct_probs["COMMA"] + was) / 2 for ours, was in zip(doc, plain)]
    nlp.get_pipe("punctuation_restorer").cfg["thresholds"] = {"COMMA": max(between)}
    assert not any(token._.punct_after for token in nlp(BARE))


def test_given_marks_stay_certain(folder: Path) -> None:
    nlp, _ = calibrated(folder, existing="keep")
    doc = nlp("well, what did she say she said that the mill was sold")
    assert doc[0]._.punct_probs["COMMA"] == 1 and doc[1]._.punct_after == ""
    assert 0 < doc[5]._.punct_probs["QUESTION"] < 1


def test_it_is_stored_with_the_model_and_forgotten_by_training_anew(folder: Path, tmp_path: Path) -> None:
    nlp, pipe = calibrated(folder)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    loaded = again.get_pipe("punctuation_restorer")
    assert loaded.calibration.to_data() == pipe.calibration.to_data() and again.to_bytes() == nlp.to_bytes()
    assert again(BARE)[0]._.punct_probs == nlp(BARE)[0]._.punct_probs
    loaded.add_label("COLON")
    assert loaded.calibration is None and set(again(BARE)[0]._.punct_probs) >= {"COLON"}
    examples = make_examples(again, folder)
    again.initialize(lambda: examples)
    assert loaded.calibration is None and loaded.cfg["calibration"] is None


def noisy(nlp, seed: int) -> list[Example]:
    """Texts in which "well" has a comma three times out of four, and "home" a period once out of four."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(60):
        words = rng.choice(["so", "then", "well", "she", "went", "home"], 40).tolist()
        marks = [{"well": ",", "home": "."}.get(word, "") * (rng.random() < SHARES.get(word, 0)) for word in words]
        punctuated = " ".join(word + mark for word, mark in zip(words, marks))
        found.append(Example(nlp.make_doc(" ".join(words)), nlp.make_doc(punctuated)))
    return found


@pytest.fixture(scope="module")
def overconfident():
    """Knows how often marks follow words, and believes it three times as much as it should."""
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]"]})
    data = noisy(nlp, 0)
    nlp.initialize(lambda: data)
    nlp.update(data)
    model = nlp.get_pipe("punctuation_restorer").model
    set_flat_weights(model, flat_weights(model) * 3)
    return nlp


def test_the_fit_undoes_overconfidence_and_predicts_what_thresholds_do(overconfident) -> None:
    pipe = overconfident.get_pipe("punctuation_restorer")
    fitted = calibrate_marks(pipe, noisy(overconfident, 1))
    assert fitted.after.error < 0.02 < 0.04 < fitted.before.error
    assert pipe.calibration is None
    chain = held_out(pipe, noisy(overconfident, 2))
    later = Marked(chain.marks, fitted.calibration.map(chain.probabilities), chain.labels)
    for mark, share in (("COMMA", 0.75), ("PERIOD", 0.25)):
        expected, found = later.scores(mark, 0.2)
        assert expected.precision == pytest.approx(share, abs=0.04) == found.precision
        assert expected.recall > 0.9 and found.recall == pytest.approx(expected.recall, abs=0.03)
        promised, _ = chain.scores(mark, 0.01)
        assert abs(promised.precision - share) > 0.08
    pipe.calibration = fitted.calibration
    again = calibrate_marks(pipe, noisy(overconfident, 1))
    assert again.before.error < 0.02
    pipe.calibration = None


def test_a_few_words_are_warned_of_and_none_are_refused(overconfident) -> None:
    pipe = overconfident.get_pipe("punctuation_restorer")
    with pytest.warns(UserWarning, match="CRFW972.*80 words"):
        calibrate_marks(pipe, noisy(overconfident, 3)[:2])
    with pytest.raises(ValueError, match="CRF990"):
        calibrate_marks(pipe, [])


def test_thresholds_of_a_wish() -> None:
    probabilities = np.array([[0.1, 0.8, 0.1], [0.4, 0.4, 0.2], [0.7, 0.25, 0.05], [0.98, 0.01, 0.01]])
    words = Marked((NONE, "COMMA", "PERIOD"), probabilities, np.array([1, 1, 0, 0]))
    assert words.told == ["COMMA", "PERIOD"]
    best = best_thresholds(words)
    assert best["COMMA"] == best["PERIOD"] == pytest.approx(1.2 / (2 + 1.82))
    with pytest.warns(UserWarning, match="CRFW973.*PERIOD.*60%"):
        assert precise_thresholds(words, 0.6) == {"COMMA": 0.4, "PERIOD": 1.0}


def test_mixed_batches_of_gold_are_read_in_order(folder: Path) -> None:
    nlp = train(folder)
    pipe = nlp.get_pipe("punctuation_restorer")
    lines = TEXTS.strip().splitlines()
    words = held_out(pipe, [Example(nlp.make_doc(line), nlp.make_doc(line)) for line in [*lines, ""]])
    assert len(words.labels) == len(words.probabilities) == sum(len(line.split()) for line in lines)
    assert (words.probabilities.argmax(axis=1) == words.labels).mean() > 0.95


def test_further_training_drops_the_calibration(folder: Path) -> None:
    nlp, pipe = calibrated(folder)
    examples = make_examples(nlp, folder)
    pipe.update(examples)
    assert pipe.calibration is not None
    with pytest.warns(UserWarning, match="CRFW974.*punctuation_restorer"):
        pipe.finish_update(None)
    assert pipe.calibration is None
    pipe.finish_update(None)


def with_dev(folder: Path, n_lines: int) -> Language:
    """A restorer that asks for a calibration, and so many sentences of another writer to calibrate it by."""
    nlp = train(folder, temperature="auto")
    rng, sentences = np.random.default_rng(0), re.split(r"(?<=[.?!])\s", TEXTS.strip())
    lines = [one.replace("?", ".") if rng.random() < 0.3 else one for one in rng.choice(sentences, n_lines).tolist()]
    path = folder / "dev.txt"
    path.write_text("\n".join(lines), encoding="utf8")
    reader = {"@readers": "spacy_crf.PunctuationCorpus.v1", "path": str(path), "unit": "line"}
    nlp.config["corpora"] = {"train": reader, "dev": reader}
    return nlp


def test_training_fits_the_map_when_it_saves(folder: Path, tmp_path: Path) -> None:
    nlp = with_dev(folder, 500)
    pipe = nlp.get_pipe("punctuation_restorer")
    assert pipe.calibration is None
    examples = list(registry.resolve(nlp.config["corpora"])["dev"](nlp))
    expected = calibrate_marks(pipe, examples)
    registry.resolve(nlp.config["training"])["before_to_disk"](nlp).to_disk(tmp_path)
    loaded = spacy.load(tmp_path).get_pipe("punctuation_restorer")
    np.testing.assert_allclose(loaded.calibration.map.weights, expected.calibration.map.weights, atol=1e-8)
    assert expected.after.error < expected.before.error / 2
    pipe.finish_update(None)  # without a warning: it will be fitted again
    assert pipe.calibration is None
    with pytest.warns(UserWarning, match="CRFW408"):
        nlp.to_disk(tmp_path)


def test_training_fits_no_map_to_a_few_words(folder: Path) -> None:
    nlp = with_dev(folder, 10)
    with pytest.warns(UserWarning, match="CRFW977.*words.*punctuation_restorer"):
        registry.resolve(nlp.config["training"])["before_to_disk"](nlp)
    assert nlp.get_pipe("punctuation_restorer").calibration is None


@pytest.mark.parametrize("settings", [{"threshold": 0.2}, {"thresholds": {"QUESTION": 0.1}}, {"existing": "keep"}])
def test_a_long_lag_gives_what_the_whole_text_gives(folder: Path, settings: dict[str, object]) -> None:
    nlp, pipe = calibrated(folder, has_case=True, **settings)
    text = f"{BARE}, {BARE}"
    streamed = pipe.stream(text.split(), lag=100, block=3)
    assert "".join(word.restored for word in streamed) == nlp(text)._.restored

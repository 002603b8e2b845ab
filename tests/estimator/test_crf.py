"""The estimator as Python and scikit-learn see it."""

import copy
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from spacy_crf import CRFWarning
from spacy_crf.estimator import CRF, NotFittedError


@pytest.fixture(scope="module")
def fitted(data):
    return CRF(c2=0.3).fit(*data)


def test_needs_neither_spacy_nor_scikit_learn():
    code = "import sys, spacy_crf.estimator; sys.exit(bool({'spacy', 'thinc', 'sklearn', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_parameters():
    crf = CRF("pa", c=0.5, verbose=True)
    assert crf.get_params()["c"] == 0.5 and crf.get_params()["c2"] is None
    assert crf.set_params(c=2.0, algorithm="ap") is crf and (crf.c, crf.algorithm) == (2.0, "ap")
    with pytest.raises(ValueError, match="CRF712"):
        crf.set_params(unheard_of=1)
    assert repr(CRF(c1=0.1)) == "CRF(c1=0.1)" and repr(CRF()) == "CRF()"
    assert CRF(**crf.get_params()).get_params() == crf.get_params()


@pytest.mark.parametrize("name", ["predict", "predict_marginals", "predict_single"])
def test_methods_of_an_unfitted_estimator(name):
    with pytest.raises(NotFittedError, match="CRF707"):
        getattr(CRF(), name)([])


@pytest.mark.parametrize(
    "name", ["classes_", "attributes_", "state_features_", "transition_features_", "transitions_", "training_log_"]
)
def test_an_unfitted_estimator_has_no_results(name, fitted):
    assert not hasattr(CRF(), name) and hasattr(fitted, name)


def test_pickle_and_copy(fitted, data):
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert twin.predict(data[0]) == fitted.predict(data[0])
        assert twin.state_features_ == fitted.state_features_ and twin.get_params() == fitted.get_params()
        assert twin.training_log_.iterations == fitted.training_log_.iterations


def test_the_same_data_give_the_same_bytes(fitted, data):
    again = CRF(c2=0.3, n_threads=1).fit(*data)
    assert pickle.dumps(again._chain) == pickle.dumps(fitted._chain)
    fitted.predict(data[0])  # what prediction caches is not stored
    assert pickle.dumps(again._chain) == pickle.dumps(fitted._chain)


def test_forms_of_items_are_equivalent(data):
    X, y = data
    strings = [[[f"w:{item['w']}", f"q:{item['sub']['q']}"] for item in sequence] for sequence in X]
    dicts = [[{"w": item["w"], "q": item["sub"]["q"]} for item in sequence] for sequence in X]
    pairs = [[[(string, 1.0) for string in item] for item in sequence] for sequence in strings]
    weights = [CRF(c2=0.3).fit(form, y).state_features_ for form in (strings, dicts, pairs)]
    assert weights[0] == weights[1] == weights[2]


def test_empty_input_and_unknown_attributes(fitted):
    assert fitted.predict([]) == [] and fitted.predict_marginals([]) == []
    assert fitted.predict([[], [{}]])[0] == [] and len(fitted.predict([[], [["never seen"]]])[1]) == 1
    row = fitted.predict_marginals_single([["never seen"]])[0]
    assert sum(row.values()) == pytest.approx(1) and list(row) == fitted.classes_


def test_many_sequences_are_decoded_part_by_part(fitted, data, monkeypatch):
    X = [*data[0], [], *data[0][:3]]
    whole, marginals = fitted.predict(X), fitted.predict_marginals(X)
    monkeypatch.setattr("spacy_crf.estimator.preparation.UNITS_PER_PART", 7)
    assert fitted.predict(X) == whole
    np.testing.assert_allclose(
        [list(row.values()) for rows in fitted.predict_marginals(X) for row in rows],
        [list(row.values()) for rows in marginals for row in rows],
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("X", "y", "code"), [([], [], "CRF705"), ([[], []], [[], []], "CRF705"), ([[["a"]]], [["x"], []], "CRF704")]
)
def test_nothing_to_learn_from(X, y, code):
    with pytest.raises(ValueError, match=code):
        CRF().fit(X, y)


def test_dev_data_come_in_pairs(data):
    with pytest.raises(ValueError, match="CRF706"):
        CRF().fit(*data, X_dev=data[0])


def test_dev_labels_that_training_lacks_count_as_errors():
    crf = CRF().fit([[["a"], ["b"]]] * 5, [["x", "y"]] * 5, [[["a"], ["b"]]], [["x", "z"]])
    assert crf.training_log_.last_iteration["item_accuracy_float"] == 0.5


def test_one_label_is_enough():
    crf = CRF().fit([[["a"], ["b"]]], [["x", "x"]])
    assert crf.predict([[["c"]]]) == [["x"]] and crf.predict_marginals([[["c"]]]) == [[{"x": 1.0}]]


def test_running_out_of_iterations_is_told(data):
    with pytest.warns(CRFWarning, match="CRFW701"):
        crf = CRF(max_iterations=2, c2=0.3).fit(*data)
    assert len(crf.training_log_.iterations) == 2 and "max_iterations" in crf.training_log_.reason


def test_verbose_shows_the_iterations(data, capsys):
    CRF(c2=0.3).fit(*data)
    assert capsys.readouterr().out == ""
    crf = CRF(c2=0.3, verbose=True).fit(*data)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(crf.training_log_.iterations) + 1
    assert lines[0].startswith("num 1 ") and "loss" in lines[0] and crf.training_log_.reason in lines[-1]


def test_threads_show_their_own_iterations(data, capsys):
    with ThreadPoolExecutor(2) as pool:
        fitted = list(pool.map(lambda verbose: CRF(c2=0.3, verbose=verbose).fit(*data), [True, False, True]))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(len(crf.training_log_.iterations) + 1 for crf in fitted if crf.verbose)


@pytest.mark.parametrize("algorithm", ["ap", "averaged-perceptron", "pa", "arow", "lbfgs"])
def test_marginals_of_scores_that_are_no_probabilities_warn(algorithm: str) -> None:
    crf = CRF(algorithm=algorithm, max_iterations=50).fit([[["a"], ["b"]]], [["x", "y"]])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        crf.predict_marginals([[["a"]]])
    assert ["CRFW702" in str(one.message) for one in found] == ([] if algorithm == "lbfgs" else [True])

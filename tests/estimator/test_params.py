"""Every parameter of sklearn_crfsuite.CRF is honoured or refused by name."""

import inspect

import numpy as np
import pytest

from spacy_crf.estimator import CRF
from spacy_crf.estimator.training import DEFAULTS, VALUES, read_settings


def settings(**params):
    return read_settings(CRF(**params).get_params())


def test_defaults_are_those_of_crfsuite():
    pycrfsuite = pytest.importorskip("pycrfsuite")
    names = {"minfreq": "min_freq", "type": "pa_type"}
    for algorithm, ours in DEFAULTS.items():
        trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
        theirs = {name.replace("feature.", "").replace(".", "_"): value for name, value in trainer.get_params().items()}
        theirs = {names.get(name, name.replace("possible", "all_possible")): value for name, value in theirs.items()}
        assert theirs == ours


def test_the_constructor_is_that_of_sklearn_crfsuite():
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    theirs = inspect.signature(sklearn_crfsuite.CRF.__init__).parameters
    ours = inspect.signature(CRF.__init__).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in theirs)


def test_each_parameter_has_a_test_of_its_values():
    own = {"algorithm", "verbose", "model_filename", "keep_tempfiles", "trainer_cls", "linesearch", "max_linesearch"}
    assert set(CRF().get_params()) == set(VALUES) | own


@pytest.mark.parametrize("algorithm", DEFAULTS)
def test_parameters_of_other_algorithms_are_refused(algorithm):
    everything = {name: value for defaults in DEFAULTS.values() for name, value in defaults.items()}
    for name, value in everything.items():
        if name in DEFAULTS[algorithm]:
            assert settings(algorithm=algorithm, **{name: value})[name] == value
        else:
            with pytest.raises(ValueError, match="CRF709") as error:
                settings(algorithm=algorithm, **{name: value})
            assert name in str(error.value)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"algorithm": "sgd"}, "CRF708"),
        ({"c2": -1}, "CRF710"),
        ({"c2": "1"}, "CRF710"),
        ({"c1": float("nan")}, "CRF710"),
        ({"max_iterations": 0}, "CRF710"),
        ({"max_iterations": 1.5}, "CRF710"),
        ({"all_possible_states": 2}, "CRF710"),
        ({"algorithm": "pa", "pa_type": 3}, "CRF710"),
        ({"algorithm": "l2sgd", "calibration_rate": 1.0}, "CRF710"),
        ({"random_state": -1}, "CRF710"),
        ({"model_filename": "model.crfsuite"}, "CRF711"),
        ({"keep_tempfiles": True}, "CRF711"),
        ({"trainer_cls": dict}, "CRF711"),
        ({"linesearch": "StrongBacktracking"}, "CRF711"),
        ({"linesearch": "Backtracking"}, "CRF711"),
        ({"max_linesearch": 5}, "CRF711"),
    ],
)
def test_what_cannot_be_honoured_is_refused(params, code):
    with pytest.raises(ValueError, match=code) as error:
        CRF(**params).fit([[["a"]]], [["x"]])
    assert list(params)[-1] in str(error.value)


def test_long_names_and_the_line_search_of_owlqn():
    assert settings(algorithm="passive-aggressive")["algorithm"] == "pa"
    assert settings(c1=0.1, linesearch="Backtracking")["linesearch"] == "Backtracking"


def test_numbers_of_numpy_are_numbers():
    """As a grid of `np.arange` gives them."""
    values = {"max_iterations": np.int64(5), "c2": np.float32(0.5), "c1": np.int64(0)}
    found = settings(**values)
    assert {name: type(found[name]) for name in values} == {"max_iterations": int, "c2": float, "c1": int}

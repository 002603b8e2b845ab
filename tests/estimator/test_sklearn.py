"""The estimator as scikit-learn, and users of sklearn-crfsuite, know one."""

import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.exceptions
import sklearn.metrics
import sklearn.model_selection
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.utils.multiclass
import sklearn_crfsuite
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from spacy_crf import CRF, NotFittedError, metrics


class RowCRF(ClassifierMixin, CRF, BaseEstimator):
    """A CRF whose sequences are the rows of a table, one item each: scikit-learn's checks know tables only."""

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        sklearn.utils.multiclass.check_classification_targets(y)
        self.rows_, numbers = np.unique(y, return_inverse=True)
        return super().fit(_items(X), [[str(number)] for number in numbers])

    def predict(self, X):
        check_is_fitted(self)
        labels = super().predict(_items(validate_data(self, X, reset=False)))
        return self.rows_[[int(label) for (label,) in labels]]

    score = ClassifierMixin.score

    @property
    def classes_(self):
        check_is_fitted(self)
        return self.rows_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def _items(X):
    return [[{"bias": 1.0, **{f"x{column}": float(value) for column, value in enumerate(row)}}] for row in X]


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    """All that there are for classifiers; those of tables are passed over for the estimator itself."""
    assert {one["status"] for one in check_estimator(CRF())} == {"passed"}
    found = check_estimator(RowCRF(max_iterations=100), on_skip=None)
    assert len(found) > 40 and {one["check_name"] for one in found if one["status"] != "passed"} <= {
        "check_array_api_input"  # asks for a variable of the environment
    }


def test_what_the_checks_of_tables_ask_holds_for_sequences(data):
    X, y = data
    before = pickle.dumps((X, y))
    crf = CRF(c2=0.3)
    assert crf.fit(X, y) is crf and pickle.dumps((X, y)) == before
    first, marginals = crf.predict(X), crf.predict_marginals(X)
    assert crf.fit(X, y).predict(X) == first
    order = np.random.default_rng(0).permutation(len(X)).tolist()
    assert crf.predict([X[i] for i in order]) == [first[i] for i in order]
    assert [crf.predict_single(sequence) for sequence in X] == first
    assert [crf.predict([sequence]) for sequence in X] == [[labels] for labels in first]
    np.testing.assert_allclose(_table(crf.predict_marginals(X[:5])), _table(marginals[:5]), atol=1e-12)
    assert crf.set_params(c2=100.0).predict(X) == first


def _table(marginals):
    return [list(item.values()) for sequence in marginals for item in sequence]


def test_cross_validation_and_searches(data):
    X, y = data
    crf = CRF(c2=0.3)
    assert sklearn.base.clone(crf).get_params() == crf.get_params()
    scores = sklearn.model_selection.cross_val_score(crf, X, y, cv=3)
    halves = sklearn.model_selection.KFold(3).split(X)
    expected = [
        CRF(c2=0.3).fit([X[i] for i in train], [y[i] for i in train]).score([X[i] for i in test], [y[i] for i in test])
        for train, test in halves
    ]
    assert scores.tolist() == pytest.approx(expected)
    grid = {"c2": [0.1, 100.0], "algorithm": ["lbfgs"]}
    search = sklearn.model_selection.RandomizedSearchCV(
        crf, grid, n_iter=2, cv=2, random_state=0, error_score="raise"
    ).fit(X, y)
    assert search.best_params_["c2"] == 0.1 and search.predict(X) == search.best_estimator_.predict(X)


def test_pipelines(data):
    X, y = data
    steps = sklearn.pipeline.make_pipeline(sklearn.preprocessing.FunctionTransformer(), CRF())
    assert steps.set_params(crf__c2=0.3).fit(X, y).predict(X) == CRF(c2=0.3).fit(X, y).predict(X)
    assert pickle.loads(pickle.dumps(steps)).score(X, y) == steps.score(X, y)
    sklearn.utils.validation.check_is_fitted(steps)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        sklearn.utils.validation.check_is_fitted(CRF())


@pytest.mark.parametrize("lengths", ["ragged", "alike"])
def test_predictions_of_folds_are_joined(data, lengths):
    X, y = data if lengths == "ragged" else ([each[:1] for each in part] for part in data)
    found = sklearn.model_selection.cross_val_predict(CRF(c2=0.3), X, y, cv=3)
    assert found.shape == (len(X),)
    for train, test in sklearn.model_selection.KFold(3).split(X):
        crf = CRF(c2=0.3).fit([X[i] for i in train], [y[i] for i in train])
        assert found[test].tolist() == crf.predict([X[i] for i in test])
    assert np.array(crf.predict(X[:4])).shape == np.array(crf.predict_marginals(X[:4])).shape == (4,)
    assert np.array(crf.predict([])).shape == (0,)


def test_searches_with_scores_of_items(data):
    X, y = data
    scorer = sklearn.metrics.make_scorer(metrics.flat_f1_score, average="weighted", labels=["B", "I"])
    search = sklearn.model_selection.GridSearchCV(CRF(), {"c2": [0.1, 100.0]}, scoring=scorer, cv=2).fit(X, y)
    assert search.best_params_ == {"c2": 0.1}
    assert search.best_score_ > search.cv_results_["mean_test_score"][1]


def test_an_unfitted_estimator_raises_the_error_of_scikit_learn(data):
    for call in (lambda crf: crf.predict(data[0]), lambda crf: crf.score(*data), lambda crf: crf.classes_):
        with pytest.raises(sklearn.exceptions.NotFittedError, match="CRF707") as error:
            call(CRF())
        assert isinstance(error.value, NotFittedError) and error.value.code == "CRF707"
        twin = pickle.loads(pickle.dumps(error.value))  # as it comes out of another process
        assert isinstance(twin, sklearn.exceptions.NotFittedError) and str(twin) == str(error.value)


WITHOUT = """
import pickle, sys
sys.modules["sklearn"] = None
from spacy_crf import CRF, CRFError, NotFittedError, metrics
try:
    CRF().predict([])
except NotFittedError as error:
    assert all(isinstance(error, kind) for kind in (CRFError, ValueError, AttributeError))
    assert pickle.loads(pickle.dumps(error)).code == "CRF707"
assert CRF(c1=0.5)._repr_html_() == "<pre>CRF(c1=0.5)</pre>"
assert metrics.sequence_accuracy_score([["a"], ["b"]], [["a"], ["a"]]) == 0.5
try:
    metrics.flat_accuracy_score([["a"]], [["a"]])
except CRFError as error:
    assert error.code == "CRF713" and "accuracy_score" in str(error)
else:
    sys.exit("no error")
"""


def test_without_scikit_learn():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


def test_the_diagram_of_notebooks(data):
    assert "CRF" in CRF(c1=0.25)._repr_html_() and "0.25" in CRF(c1=0.25)._repr_html_()
    assert "CRF" in sklearn.pipeline.make_pipeline(CRF(c1=0.25))._repr_html_()


# -- what the tests of sklearn-crfsuite ask, of both ----------------------------------------------------------

RUNS = [
    *(("lbfgs", {}), ("lbfgs", {"c1": 0.1}), ("lbfgs", {"min_freq": 2, "all_possible_transitions": True})),
    *(("l2sgd", {"c2": 0.1}), ("l2sgd", {"max_iterations": 20})),
    *(("ap", {}), ("pa", {"pa_type": 0}), ("pa", {"c": 0.5, "averaging": False}), ("arow", {"gamma": 0.5})),
]


@pytest.mark.filterwarnings("ignore::spacy_crf.CRFWarning")
@pytest.mark.parametrize(("algorithm", "params"), RUNS)
def test_every_algorithm_works_as_that_of_the_peer(algorithm, params, data):
    X, y = data[0][:50], data[1][:50]
    ours, theirs = (one(algorithm, **params).fit(X, y) for one in (CRF, sklearn_crfsuite.CRF))
    assert sorted(ours.classes_) == sorted(theirs.classes_)
    assert set(ours.attributes_) <= set(theirs.attributes_)
    assert ours.num_attributes_ == len(ours.attributes_) and ours.state_features_ and ours.transition_features_
    assert ours.score(X, y) > theirs.score(X, y) - 0.05
    assert np.shape(ours.predict(X)) == (len(X),)
    for crf in (ours, theirs):
        row = crf.predict_marginals_single(X[0])[0]
        assert set(row) == set(ours.classes_) and sum(row.values()) == pytest.approx(1)
    assert pickle.loads(pickle.dumps(ours)).predict(X) == ours.predict(X)


def test_generators_and_tuples_will_do(data):
    X, y = data
    once = CRF(c2=0.3).fit((iter(sequence) for sequence in X), (tuple(labels) for labels in y))
    assert once.state_features_ == CRF(c2=0.3).fit(X, y).state_features_
    assert once.predict(iter(X)) == once.predict(X)


def test_the_peer_and_ours_agree_on_weights_and_marginals(data):
    X, y = data
    params = {"c2": 0.3, "epsilon": 1e-9, "delta": 1e-12}
    ours, theirs = (one(**params).fit(X, y) for one in (CRF, sklearn_crfsuite.CRF))
    assert ours.predict(X) == [list(labels) for labels in theirs.predict(X)]
    for names in ("state_features_", "transition_features_"):
        found, expected = getattr(ours, names), getattr(theirs, names)
        assert set(found) == set(expected)
        assert [found[key] for key in expected] == pytest.approx(list(expected.values()), abs=2e-3)
    pairs = zip(itertools.chain(*ours.predict_marginals(X)), itertools.chain(*theirs.predict_marginals(X)))
    assert all(row == pytest.approx(expected, abs=1e-3) for row, expected in pairs)

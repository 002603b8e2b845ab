"""CRFsuite's binary models are read by our own reader; anything else is refused."""

import pickle
import random
import struct

import numpy as np
import pytest

from spacy_crf.estimator import CRF
from spacy_crf.estimator.crfsuite import read_crfsuite

pycrfsuite = pytest.importorskip("pycrfsuite")


def make_data(count=60, seed=3):
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(count):
        labels = [rng.choice(["B-é", "I-é", "O"]) for _ in range(rng.randint(1, 7))]
        X.append([[f"w={rng.choice('xyz')}{label}", f"p={rng.choice('aé:=|')}", "bias"] for label in labels])
        y.append(labels)
    return X, y


def train(path, algorithm="lbfgs", **params):
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False, params=params)
    for items, labels in zip(*make_data()):
        trainer.append(items, labels)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


@pytest.fixture(
    scope="module", params=[("lbfgs", {"c2": 0.1}), ("lbfgs", {"c1": 1.0}), ("ap", {}), ("arow", {})], ids=str
)
def trained(request, tmp_path_factory):
    """(path, tagger) of a model."""
    path = tmp_path_factory.mktemp("model") / "model.crfsuite"
    algorithm, params = request.param
    return path, train(path, algorithm, **params)


def test_all_that_the_file_holds(trained):
    path, tagger = trained
    model, info = read_crfsuite(path), tagger.info()
    assert model.labels == tagger.labels()
    assert model.attributes == sorted(info.attributes, key=lambda name: int(info.attributes[name]))
    crf = CRF.from_crfsuite(path)
    assert crf.state_features_ == pytest.approx(info.state_features, abs=1e-6)  # the dump has six digits
    assert crf.transition_features_ == pytest.approx(info.transitions, abs=1e-6)


def test_the_estimator_decides_like_crfsuite(trained):
    path, tagger = trained
    crf = CRF.from_crfsuite(path)
    X = [*make_data()[0], *make_data(seed=8)[0], [["unknown"], ["w=xO", "unknown"]]]
    for items, labels, marginals in zip(X, crf.predict(X), crf.predict_marginals(X)):
        assert labels == tagger.tag(items)
        for position, row in enumerate(marginals):
            for label, probability in row.items():
                assert probability == pytest.approx(tagger.marginal(label, position), abs=1e-6)
    assert pickle.loads(pickle.dumps(crf)).predict(X) == crf.predict(X)


def test_parameters_of_the_estimator(trained):
    assert CRF.from_crfsuite(trained[0], c2=0.5).c2 == 0.5


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.crfsuite"
    train(path)
    return path.read_bytes()


def refuse(tmp_path, data):
    path = tmp_path / "broken.crfsuite"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="CRF721") as error:
        read_crfsuite(path)
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("data", [b"", b"lCRF", b"PK\x03\x04" + bytes(100), b"\x80\x04\x95" + bytes(200)])
def test_foreign_files(tmp_path, data):
    refuse(tmp_path, data)


def test_truncated_files(tmp_path, content):
    for length in range(0, len(content), max(1, len(content) // 200)):
        refuse(tmp_path, content[:length])
    # a file that was cut off and whose header says so
    for length in range(48, len(content), max(1, len(content) // 50)):
        refuse(tmp_path, content[:4] + struct.pack("<I", length) + content[8:length])


def test_another_version_and_a_wrong_kind(tmp_path, content):
    assert "version 7" in refuse(tmp_path, content[:12] + struct.pack("<I", 7) + content[16:])
    refuse(tmp_path, content[:8] + b"XXXX" + content[12:])


def test_damaged_bytes_never_lead_out_of_the_file(tmp_path, content):
    """Whatever is changed, the file is refused or read to finite weights of labels and attributes that exist."""
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.crfsuite"
    for _ in range(400):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            model = read_crfsuite(path)
        except ValueError as error:
            assert "CRF721" in str(error)
            continue
        assert np.isfinite(model.weights.flat).all()
        assert model.weights.layout.state_cells.max() < len(model.attributes) * len(model.labels)


def test_a_weight_that_is_not_finite(tmp_path, content):
    offset = struct.unpack_from("<I", content, 28)[0] + 12 + 12
    assert "finite" in refuse(tmp_path, content[:offset] + struct.pack("<d", float("nan")) + content[offset + 8 :])


def test_strings_that_are_not_utf8_stay_apart(tmp_path):
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([[b"\xe9"], [b"\xe8"]], ["x", "y"])
    trainer.train(str(tmp_path / "latin"))
    assert len(set(read_crfsuite(tmp_path / "latin").attributes)) == 2

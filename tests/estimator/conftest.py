"""Made-up sequences, and CRFsuite trained on them."""

import random
from collections.abc import Callable
from typing import Any

import pytest

LABELS = ["B", "I", "O", "é"]


def make_data(count: int = 120, seed: int = 1) -> tuple[list[list[dict[str, Any]]], list[list[str]]]:
    """Sequences of dicts of every kind of value, and labels that their words hint at."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(count):
        labels = [rng.choice(LABELS) for _ in range(rng.randint(1, 8))]
        X.append([_item(rng, label) for label in labels])
        y.append(labels)
    return X, y


def _item(rng: random.Random, label: str) -> dict[str, Any]:
    word = f"{rng.choice('xyz')}{label if rng.random() < 0.6 else '?'}"
    nested = {"q": label if rng.random() < 0.4 else "-", "l": ["u", "v"]}
    return {"w": word, "up": rng.random() < 0.5, "n": round(rng.random(), 2), "sub": nested}


@pytest.fixture(scope="session")
def data() -> tuple[list[Any], list[Any]]:
    return make_data()


@pytest.fixture(scope="session")
def strings(data: tuple[list[Any], list[Any]]) -> list[list[list[str]]]:
    """The string values of the items, as lists of strings; a word implies its first letter."""
    return [
        [[f"w={item['w']}", f"q={item['sub']['q']}", f"p={item['w'][0]}", "bias"] for item in sequence]
        for sequence in data[0]
    ]


@pytest.fixture(scope="session")
def train_crfsuite(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """A function that trains CRFsuite: (algorithm, parameters, X, y, held-out X, y) -> (trainer, tagger, path)."""
    pycrfsuite = pytest.importorskip("pycrfsuite")

    def train(algorithm: str, params: dict[str, Any], X: Any, y: Any, X_dev: Any = (), y_dev: Any = ()) -> Any:
        trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
        trainer.set_params(params)
        for items, labels in zip(X, y):
            trainer.append(items, labels)
        for items, labels in zip(X_dev, y_dev):
            trainer.append(items, labels, 1)
        path = tmp_path_factory.mktemp("crfsuite") / "model.crfsuite"
        trainer.train(str(path), holdout=1 if X_dev else -1)
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        return trainer, tagger, path

    return train

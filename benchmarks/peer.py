"""Jobs of python-crfsuite: what is measured of the peer, each in a fresh process.

python -m benchmarks.peer WORK --task TASK --data DIR --models DIR
"""

from collections.abc import Iterable
from pathlib import Path

import pycrfsuite

from benchmarks.data import Sentence
from benchmarks.measure import (
    Clock,
    Settings,
    count_tokens,
    enough_iterations,
    peak_mebibytes,
    read,
    run_job,
    score,
    weigh,
)
from benchmarks.summary import PEER, Numbers


def new_trainer(settings: Settings, sentences: Iterable[Sentence] = ()) -> pycrfsuite.Trainer:
    """Make a trainer that holds sentences: L-BFGS with the L2 penalty of the task, all else at CRFsuite's defaults."""
    task, trainer = settings.task, pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": task.c2, "max_iterations": settings.iterations})
    for sentence in sentences:
        trainer.append(task.features(sentence), task.labels(sentence))
    return trainer


def open_tagger(path: str | Path) -> pycrfsuite.Tagger:
    """Load a model."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def train(settings: Settings) -> Numbers:
    """Train with the stages timed apart, then score the model, weigh it and load it.

    `train` is `Trainer.train` alone, which also writes the model.
    """
    task, path = settings.task, settings.model_path(PEER)
    sentences = read(settings, "train")
    with Clock() as features:
        items = [task.features(sentence) for sentence in sentences]
    trainer = new_trainer(settings)
    with Clock() as append:
        for item, sentence in zip(items, sentences):
            trainer.append(item, task.labels(sentence))
    with Clock() as learning:
        trainer.train(str(path))
    tagger = open_tagger(path)
    return {
        **features.seconds("features"),
        **append.seconds("append"),
        **learning.seconds("train"),
        "total_wall": features.wall + learning.wall,
        "objective": trainer.logparser.last_iteration["loss"],
        "iterations": trainer.logparser.last_iteration["num"],
        "features": trainer.logparser.featgen_num_features,
        **score(settings, lambda sentences: [tagger.tag(task.features(sentence)) for sentence in sentences]),
        **weigh(path, lambda: open_tagger(path)),
    }


def fit(settings: Settings) -> Numbers:
    """`Trainer.train` alone, from features that it holds already."""
    trainer = new_trainer(settings, read(settings, "train"))
    with Clock() as learning:
        trainer.train(str(settings.models / f"{settings.task.name}.{PEER}.fit"))
    return {**learning.seconds("fit"), "objective": trainer.logparser.last_iteration["loss"]}


def memory(settings: Settings) -> Numbers:
    """Peak memory of learning, fed sentence by sentence so that no Python features are kept.

    RETURNS (Numbers): MiB before the first sentence, with all data fed, and at the peak.
    """
    task, trainer = settings.task, new_trainer(settings)
    trainer.set("max_iterations", enough_iterations(settings))
    before = peak_mebibytes()
    for sentence in task.read(settings.data, "train"):
        trainer.append(task.features(sentence), task.labels(sentence))
    fed = peak_mebibytes()
    trainer.train(str(settings.models / f"{task.name}.{PEER}.memory"))
    return {
        "before_mebibytes": before,
        "fed_mebibytes": fed,
        "peak_mebibytes": peak_mebibytes(),
        "iterations": trainer.logparser.last_iteration["num"],
    }


def decode(settings: Settings) -> Numbers:
    """Decoding alone, from prepared item sequences and from lists of attributes."""
    sentences, tagger = read(settings, "test"), open_tagger(settings.model_path(PEER))
    lists = [settings.task.features(sentence) for sentence in sentences]
    prepared = [pycrfsuite.ItemSequence(items) for items in lists]
    with Clock() as from_prepared:
        for sequence in prepared:
            tagger.set(sequence)
            tagger.tag()
    with Clock() as from_lists:
        for items in lists:
            tagger.tag(items)
    tokens = count_tokens(sentences)
    return {**from_prepared.speed(tokens), "from_lists_tokens_per_second": tokens / from_lists.wall}


def marginals(settings: Settings) -> Numbers:
    """All marginals from prepared item sequences; the peer answers one label and token per call."""
    sentences, tagger = read(settings, "test"), open_tagger(settings.model_path(PEER))
    prepared = [pycrfsuite.ItemSequence(settings.task.features(sentence)) for sentence in sentences]
    labels = tagger.labels()
    with Clock() as clock:
        for sequence in prepared:
            tagger.set(sequence)
            for position in range(len(sequence)):
                for label in labels:
                    tagger.marginal(label, position)
    return clock.speed(count_tokens(sentences))


def end_to_end(settings: Settings) -> Numbers:
    """From words to labels, features made in Python, sentence by sentence."""
    sentences, tagger = read(settings, "test"), open_tagger(settings.model_path(PEER))
    with Clock() as clock:
        for sentence in sentences:
            tagger.tag(settings.task.features(sentence))
    return clock.speed(count_tokens(sentences))


if __name__ == "__main__":
    run_job(train, fit, memory, decode, marginals, end_to_end)

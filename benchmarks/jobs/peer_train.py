"""python-crfsuite: train from Python features, then score the model, weigh it and load it."""

from statistics import median

import pycrfsuite

from benchmarks.data import accuracy, score_chunks
from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.peer import ENGINE, new_trainer, open_tagger
from benchmarks.summary import Numbers

LOADS = 5


def train(settings: Settings) -> Numbers:
    """Train with the stages timed apart; `train` is Trainer.train alone, which also writes the model.

    settings (Settings): settings of the job.
    RETURNS (Numbers): seconds by stage, objective, iterations, number of features.
    """
    task = settings.task
    sentences = list(task.read(settings.data, "train"))
    with Clock() as features:
        items = [task.features(sentence) for sentence in sentences]
    trainer = new_trainer(settings)
    with Clock() as append:
        for item, sentence in zip(items, sentences):
            trainer.append(item, task.labels(sentence))
    with Clock() as learning:
        trainer.train(str(settings.model_path(ENGINE)))
    return {
        **features.seconds("features"),
        **append.seconds("append"),
        **learning.seconds("train"),
        "total_wall": features.wall + learning.wall,
        "objective": trainer.logparser.last_iteration["loss"],
        "iterations": trainer.logparser.last_iteration["num"],
        "features": trainer.logparser.featgen_num_features,
    }


def score(settings: Settings, tagger: pycrfsuite.Tagger) -> Numbers:
    """Score the model on each split of the task.

    settings (Settings): settings of the job.
    tagger (pycrfsuite.Tagger): the trained model.
    RETURNS (Numbers): accuracy by split, and chunk scores where labels are chunks.
    """
    task = settings.task
    result: Numbers = {}
    for split in task.splits:
        sentences = list(task.read(settings.data, split))
        gold = [task.labels(sentence) for sentence in sentences]
        predicted = [tagger.tag(task.features(sentence)) for sentence in sentences]
        result[f"{split}_accuracy"] = accuracy(gold, predicted)
        if task.target == "chunks":
            chunks = score_chunks(gold, predicted)
            result |= {f"{split}_{name}": value for name, value in chunks._asdict().items()}
    return result


def weigh(settings: Settings) -> Numbers:
    """Measure the size of the model and the time to load it.

    settings (Settings): settings of the job.
    RETURNS (Numbers): `model_bytes` and `load_wall`.
    """
    path = settings.model_path(ENGINE)
    seconds = []
    for _ in range(LOADS):
        with Clock() as loading:
            open_tagger(path)
        seconds.append(loading.wall)
    return {"model_bytes": path.stat().st_size, "load_wall": median(seconds)}


def main() -> None:
    """Train, score, weigh; print the numbers."""
    settings = read_settings()
    trained = train(settings)
    scored = score(settings, open_tagger(settings.model_path(ENGINE)))
    report({**trained, **scored, **weigh(settings)})


if __name__ == "__main__":
    main()

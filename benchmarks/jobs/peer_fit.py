"""python-crfsuite: `Trainer.train` alone, from features that it holds already."""

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.peer import ENGINE, new_trainer
from benchmarks.summary import Numbers


def fit(settings: Settings) -> Numbers:
    """Train on features handed over beforehand.

    settings (Settings): settings of the job.
    RETURNS (Numbers): wall and CPU seconds, and the objective at the end.
    """
    task, trainer = settings.task, new_trainer(settings)
    for sentence in task.read(settings.data, "train"):
        trainer.append(task.features(sentence), task.labels(sentence))
    with Clock() as learning:
        trainer.train(str(settings.models / f"{task.name}.{ENGINE}.fit"))
    return {**learning.seconds("fit"), "objective": trainer.logparser.last_iteration["loss"]}


if __name__ == "__main__":
    report(fit(read_settings()))

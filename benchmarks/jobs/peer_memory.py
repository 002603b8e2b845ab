"""python-crfsuite: peak memory of learning, fed sentence by sentence so that no Python features are kept."""

from benchmarks.measure import Settings, peak_mebibytes, read_settings, report
from benchmarks.peer import ENGINE, new_trainer
from benchmarks.summary import Numbers

# The buffers of L-BFGS are full after its memory of six steps: a longer run has the same peak.
ENOUGH_ITERATIONS = 20


def learn(settings: Settings) -> Numbers:
    """Train for a few iterations and measure.

    settings (Settings): settings of the job.
    RETURNS (Numbers): MiB before the first sentence, with all data fed, and at the peak.
    """
    task = settings.task
    trainer = new_trainer(settings)
    trainer.set("max_iterations", min(settings.iterations, ENOUGH_ITERATIONS))
    before = peak_mebibytes()
    for sentence in task.read(settings.data, "train"):
        trainer.append(task.features(sentence), task.labels(sentence))
    fed = peak_mebibytes()
    trainer.train(str(settings.models / f"{task.name}.{ENGINE}.memory"))
    return {
        "before_mebibytes": before,
        "fed_mebibytes": fed,
        "peak_mebibytes": peak_mebibytes(),
        "iterations": trainer.logparser.last_iteration["num"],
    }


if __name__ == "__main__":
    report(learn(read_settings()))

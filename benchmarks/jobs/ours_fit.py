"""spacy_crf: `estimator.CRF.fit` on the peer's lists of attribute strings, encoding included."""

from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.summary import Numbers
from spacy_crf.estimator import CRF


def fit(settings: Settings) -> Numbers:
    """Encode and train.

    settings (Settings): settings of the job.
    RETURNS (Numbers): wall and CPU seconds of the whole, seconds of training alone, and the objective at the end.
    """
    task = settings.task
    sentences = list(task.read(settings.data, "train"))
    items, labels = (
        [task.features(sentence) for sentence in sentences],
        [task.labels(sentence) for sentence in sentences],
    )
    estimator = CRF(algorithm="lbfgs", c1=0.0, c2=task.c2, max_iterations=settings.iterations)
    with Clock() as fitting:
        estimator.fit(items, labels)
    objective = estimator.objective_
    assert objective is not None
    return {
        **fitting.seconds("fit"),
        "training_wall": estimator.training_log_.training_seconds,
        "objective": objective,
        "iterations": len(estimator.training_log_.iterations),
    }


if __name__ == "__main__":
    report(fit(read_settings()))

"""spacy_crf: train, score, weigh. The chunker's stages are timed apart; the taggers go through `spacy train`."""

import resource
import subprocess
import sys
import time
from statistics import median

from benchmarks.data import accuracy, score_chunks
from benchmarks.measure import Clock, Settings, read_settings, report
from benchmarks.ours import (
    CONFIG,
    ENGINE,
    NAME,
    folder_bytes,
    load,
    make_examples,
    new_chunker,
    predicted_labels,
    read,
    save_corpus,
)
from benchmarks.summary import Numbers
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS
from spacy_crf.learning.model import get_weights, set_weights

LOADS = 5
CORPUS_SUFFIX = ".encoded.npz"


def train_chunker(settings: Settings) -> Numbers:
    """Docs to features, then the core alone.

    settings (Settings): settings of the job.
    RETURNS (Numbers): seconds by stage, objective, iterations, number of weights.
    """
    nlp = new_chunker(settings)
    pipe = nlp.get_pipe(NAME)
    examples = make_examples(nlp, read(settings, "train"))
    nlp.initialize(lambda: examples)
    learner = pipe.learner
    with Clock() as features:
        sample = pipe.make_sample(examples)
        learner.grow([sample])
        corpus = learner.encode(sample)
        learner.add_weights(corpus)
    weights = get_weights(pipe.model)
    layout = weights.layout
    save_corpus(settings.models / f"{settings.task.name}{CORPUS_SUFFIX}", corpus, layout)
    with Clock() as learning:
        objective = FullBatchObjective(corpus, layout, settings.task.c2)
        optimizer = LBFGS(objective, objective.basis.start(weights.flat))
        optimizer.run(settings.iterations)
        set_weights(pipe.model, objective.weights(optimizer.x))
    nlp.to_disk(settings.model_path(ENGINE))
    return {
        **features.seconds("features"),
        **learning.seconds("train"),
        "total_wall": features.wall + learning.wall,
        "objective": optimizer.value,
        "iterations": optimizer.iterations,
        "evaluations": optimizer.evaluations,
        "features": layout.size,
    }


def train_tagger(settings: Settings) -> Numbers:
    """The whole `spacy train` command on raw CoNLL-U, as a user would run it.

    settings (Settings): settings of the job.
    RETURNS (Numbers): wall and CPU seconds and peak memory of the command.
    """
    folder = settings.data / settings.task.folder
    train = next(folder.glob("*-train.conllu*"))
    dev = next(folder.glob("*-dev.conllu*"))
    command = [sys.executable, "-m", "spacy", "train", str(CONFIG), "--output", str(settings.model_path(ENGINE))]
    command += ["--paths.train", str(train), "--paths.dev", str(dev)]
    if settings.task.target == "upos":
        command += ["--components.crf_tagger.target", "pos"]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "total_wall": time.perf_counter() - started,
        "total_cpu": usage.ru_utime + usage.ru_stime,
        "peak_mebibytes": usage.ru_maxrss / 1024,
    }


def score(settings: Settings) -> Numbers:
    """Score the saved pipeline on each split of the task."""
    nlp = load(settings)
    result: Numbers = {}
    for split in settings.task.splits:
        sentences = read(settings, split)
        gold = [settings.task.labels(sentence) for sentence in sentences]
        predicted = predicted_labels(nlp, settings, sentences)
        result[f"{split}_accuracy"] = accuracy(gold, predicted)
        if settings.task.target == "chunks":
            result |= {f"{split}_{name}": value for name, value in score_chunks(gold, predicted)._asdict().items()}
    return result


def weigh(settings: Settings) -> Numbers:
    """Size of the component's folder and time to load the pipeline."""
    path = settings.model_path(ENGINE)
    path = path / "model-best" if (path / "model-best").exists() else path
    seconds = []
    for _ in range(LOADS):
        with Clock() as loading:
            load(settings)
        seconds.append(loading.wall)
    return {"model_bytes": folder_bytes(path / NAME), "load_wall": median(seconds)}


def main() -> None:
    """Train, score, weigh; print the numbers."""
    settings = read_settings()
    trained = train_chunker(settings) if settings.task.target == "chunks" else train_tagger(settings)
    report({**trained, **score(settings), **weigh(settings)})


if __name__ == "__main__":
    main()

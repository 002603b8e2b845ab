"""The two trainers of Agrawal & Shah (2014): a perceptron and stochastic gradient steps, over sentences.

    python benchmarks/punctuation_paper.py --data DIR --out FILE.json talks [--trainers NAME ..] [--sentences 10000 0]
    python benchmarks/punctuation_paper.py --data DIR --out FILE.json rates [--trainers NAME ..]
    python benchmarks/punctuation_paper.py --data DIR --out FILE.json movie [--trainers NAME ..]
    python benchmarks/punctuation_paper.py --data DIR --out FILE.json ours

`DIR` holds `iwslt_punct`, `movie_punct` and `ud_english_ewt`. Features, parts of speech and early stopping are those of
`paper_trainers.py` and of the tagger of `punctuation.py`; sentences are given, as in the paper. `talks` learns from the
first sentences of `ted_train` (0: all), stops by word accuracy on the first sentences of `dev2012` and scores the
sentences of `test2011` once with the weights of the best epoch. `rates` is the paper's way to a learning rate: the
change of the norm of the weights from epoch to epoch on 10,000 sentences. `movie` cross-validates on the utterances of
`movie_punct`, `ours` the features of `configs/punctuation_restorer_speech.cfg`; a tenth of each training part is held
out to stop early. Rows are added to the file.
"""

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from benchmarks import punctuation
from benchmarks.machine import describe
from benchmarks.measure import Clock, new_parser
from benchmarks.paper_trainers import (
    EPOCHS,
    MEASURES,
    PATIENCE,
    SEED,
    VOCAB,
    Restorer,
    Scores,
    Trainer,
    fit,
    full_batch,
    gradient,
    mean_seconds,
    perceptron,
)
from benchmarks.punctuation import FOLDER, NAME, add_tags, train_tagger
from spacy_crf.punctuation.reader import PunctuationCorpus, TextUnit

FOLDS, DEV, SUBSET, CONVERGED = 5, 3000, 10_000, 0.01
SENTENCES = (10_000, 30_000, 45_000, 0)
RATES = (1e-1, 1e-2, 1e-3, 1e-4)
TRAINERS: dict[str, Trainer] = {
    "perceptron": perceptron,
    "lbfgs": full_batch(1.0),
    **{f"gradient_{rate:g}": gradient(rate) for rate in RATES},
}
OURS: dict[str, dict[str, Any]] = {
    "features of the speech config, AdaGrad": {},
    "the same and parts of speech": {"features": {"templates": ["@speech_tags"]}},
}
Row = dict[str, Any]


def read(path: Path, tagger: Language, limit: int = 0, unit: TextUnit = "sentence") -> list[Example]:
    """The first sentences, or documents, of a file, with parts of speech."""
    examples = list(PunctuationCorpus(path, unit=unit, limit=limit, least_marks=0.0)(Language(VOCAB)))
    add_tags(tagger, examples)
    return examples


def run_talks(data: Path, trainers: list[str], counts: list[int], patience: int) -> Iterator[Row]:
    """Rows of the trainers on talks, the curves of early stopping among them."""
    tagger, _ = train_tagger(data)
    train = read(data / FOLDER / "ted_train.tsv.gz", tagger, 0 if 0 in counts else max(counts))
    restorer = Restorer(train)
    sentences = restorer.encode(train)
    dev = restorer.encode(read(data / FOLDER / "dev2012.tsv.gz", tagger, DEV))
    test = restorer.encode(read(data / FOLDER / "test2011.tsv", tagger))
    for part, scored in (("dev", dev), ("test", test)):
        yield {"data": "talks", "part": part, "baselines": scored.baselines()}
    for count in counts:
        chosen = sentences.first(count)
        for key in trainers:
            for name, row in fit(TRAINERS[key], chosen, dev, patience, test=test).items():
                size = len(chosen.corpus.lengths)
                yield {"data": "talks", "name": name, "sentences": size, "patience": patience, **row}


def run_rates(data: Path, trainers: list[str]) -> Iterator[Row]:
    """Learning rates on a subset: the change of the norm of the weights in each epoch, and where the accuracy ends.

    Training goes on for all epochs. `converged` is the first epoch in which the norm changes by less than 0.01.
    """
    tagger, _ = train_tagger(data)
    examples = read(data / FOLDER / "ted_train.tsv.gz", tagger, SUBSET)
    restorer = Restorer(examples)
    train = restorer.encode(examples)
    dev = restorer.encode(read(data / FOLDER / "dev2012.tsv.gz", tagger, DEV))
    for key in trainers:
        for name, row in fit(TRAINERS[key], train, dev, patience=EPOCHS).items():
            small = [number for number, step in enumerate(row["norm_steps"], 1) if step < CONVERGED]
            yield {"data": "rates", "name": name, "sentences": SUBSET, "converged": (small or [0])[0], **row}


def folds(count: int) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Numbers to train on, to stop by and to score, of each fold."""
    order = np.random.default_rng(SEED).permutation(count)
    for part in np.array_split(np.arange(count), FOLDS):
        others = np.delete(order, part)
        held_out = len(others) // 10
        yield others[held_out:].tolist(), others[:held_out].tolist(), order[part].tolist()


def mean_row(name: str, rows: list[Row]) -> Row:
    """Means over folds of seconds and scores, and the deviation of scores."""
    columns = {measure: [row["test"][measure] for row in rows] for measure in MEASURES}
    return {
        "data": "movie",
        "name": name,
        "epochs": [row["epoch"] for row in rows],
        "cpu_seconds_per_epoch": float(np.mean([row["cpu_seconds_per_epoch"] for row in rows])),
        "test": {measure: float(np.mean(values)) for measure, values in columns.items()},
        "deviation": {measure: float(np.std(values, ddof=1)) for measure, values in columns.items()},
    }


def run_movie(data: Path, trainers: list[str]) -> Iterator[Row]:
    """Cross-validation of the trainers on dialogues."""
    examples = read(data / "movie_punct" / "train.tsv", train_tagger(data)[0], unit="document")
    restorer = Restorer(examples)
    everything = restorer.encode(examples)
    yield {"data": "movie", "part": "all folds", "baselines": everything.baselines()}
    for key in trainers:
        found: dict[str, list[Row]] = {}
        for numbers in folds(len(examples)):
            train, dev, test = (everything.take(np.array(part)) for part in numbers)
            for name, row in fit(TRAINERS[key], train, dev, test=test).items():
                found.setdefault(name, []).append(row)
        yield from (mean_row(name, rows) for name, rows in found.items())


def fit_ours(changes: dict[str, Any], train: list[Example], dev: list[Example], test: list[Example]) -> Row:
    """The speech config, stopped early in the same way: best epoch, seconds per epoch, scores on test."""
    fix_random_seed(SEED)
    nlp = punctuation.build(changes, train, VOCAB)
    best, epoch, kept, clocks = -1.0, 0, b"", []
    for number in range(1, EPOCHS + 1):
        with Clock() as clock:
            punctuation.train(nlp, train, 1, SEED + number)
        clocks.append(clock)
        accuracy = score(nlp, dev)["word_acc"]
        if accuracy > best:
            best, epoch, kept = accuracy, number, nlp.to_bytes()
        elif number - epoch >= PATIENCE:
            break
    return {"epoch": epoch, **mean_seconds(clocks), "test": score(nlp.from_bytes(kept), test)}


def score(nlp: Language, examples: list[Example]) -> Scores:
    """Measures of examples, whose predicted sides are left as they are."""
    pipe: Any = nlp.get_pipe(NAME)
    scored = [Example(example.predicted.copy(), example.reference) for example in examples]
    for _ in pipe.pipe((example.predicted for example in scored), batch_size=1000):
        pass
    found = pipe.score(scored)
    return {name: found[name] for name in MEASURES}


def run_ours(data: Path) -> Iterator[Row]:
    """Cross-validation of our own features on dialogues."""
    examples = read(data / "movie_punct" / "train.tsv", train_tagger(data)[0], unit="document")
    for name, changes in OURS.items():
        rows = []
        for numbers in folds(len(examples)):
            train, dev, test = ([examples[number] for number in part] for part in numbers)
            rows.append(fit_ours(changes, train, dev, test))
        yield mean_row(name, rows)


def main() -> None:
    """Run what was asked for, and add the rows to the file."""
    parser = new_parser(__doc__)
    parser.add_argument("what", choices=["talks", "rates", "movie", "ours"])
    parser.add_argument("--trainers", nargs="+", choices=TRAINERS, default=list(TRAINERS))
    parser.add_argument(
        "--sentences", type=int, nargs="+", default=SENTENCES, help="of the talks to learn from; 0: all"
    )
    parser.add_argument("--patience", type=int, default=PATIENCE, help="epochs without a better one, on talks")
    options = parser.parse_args()
    runs = {
        "talks": partial(run_talks, options.data, options.trainers, options.sentences, options.patience),
        "rates": partial(run_rates, options.data, options.trainers),
        "movie": partial(run_movie, options.data, options.trainers),
        "ours": partial(run_ours, options.data),
    }
    machine = describe()
    for row in runs[options.what]():
        known = json.loads(options.out.read_text(encoding="utf8"))["rows"] if options.out.exists() else []
        print(json.dumps(row), flush=True)
        text = json.dumps({"machine": machine, "rows": [*known, row]}, indent=1)
        options.out.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    main()

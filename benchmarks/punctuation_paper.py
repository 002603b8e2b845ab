"""The two trainers of Agrawal & Shah (2014): a perceptron and stochastic gradient steps, over sentences.

    python benchmarks/punctuation_paper.py --data DIR --out FILE.json [--sentences 10000 30000] [--movie]

`DIR` holds `iwslt_punct` and `movie_punct`. The features are theirs: one for each part of speech and pair of adjacent
marks, START and STOP among them; parts of speech are those of the tagger of `punctuation.py`. Sentences are given, as
there. On talks, training ends early by word accuracy on the first sentences of `dev2012`; `--movie` cross-validates on
the dialogues, in five folds, after the number of epochs that was best on the talks.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import SGD, Optimizer

from benchmarks.machine import describe
from benchmarks.measure import Clock, new_parser
from benchmarks.punctuation import FOLDER, NAME, add_tags, train_tagger
from spacy_crf.corpora.punctuation import PunctuationCorpus, TextUnit

EPOCHS, PATIENCE, FOLDS, DEV = 15, 3, 5, 3000
LEARN_RATE = 0.001  # theirs
MEASURES = ("word_acc", "word_acc_none", "punct_p", "punct_r", "punct_f", "punct_f_inner")
TRAINERS: dict[str, dict[str, Any]] = {
    "perceptron, last weights": {"@misc": "spacy_crf.Perceptron.v1", "averaging": False},
    "perceptron, averaged": {"@misc": "spacy_crf.Perceptron.v1"},
    "gradient steps": {"@misc": "spacy_crf.Minibatch.v1"},
}
FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["B:TAG", "TAG|BOS", "EOS"]}


VOCAB = Vocab()  # of all examples and pipelines, so that tags mean the same


def read(path: Path, limit: int = 0, unit: TextUnit = "sentence") -> list[Example]:
    """The first sentences, or documents, of a file."""
    corpus = PunctuationCorpus(path, unit=unit, limit=limit, least_marks=0.0)
    return list(corpus(Language(VOCAB)))


def build(trainer: dict[str, Any]) -> Language:
    """An untrained restorer with their features."""
    nlp = Language(VOCAB)
    nlp.add_pipe(NAME, config={"features": FEATURES, "trainer": trainer, "probabilities": False})
    return nlp


def measure(nlp: Language, examples: list[Example]) -> dict[str, float]:
    """Scores of examples, whose predicted sides are left as they are."""
    pipe = nlp.get_pipe(NAME)
    scored = [Example(example.predicted.copy(), example.reference) for example in examples]
    for _ in pipe.pipe((example.predicted for example in scored), batch_size=1000):
        pass
    scores = pipe.score(scored)
    return {name: scores[name] for name in MEASURES}


def train_epoch(nlp: Language, examples: list[Example], optimizer: Optimizer) -> None:
    """Show every sentence once. Steps of the gradient are those of single sentences."""
    pipe = nlp.get_pipe(NAME)
    size = 1 if type(pipe.trainer).__name__ == "MinibatchTrainer" else 100
    for low in range(0, len(examples), size):
        pipe.update(examples[low : low + size])
        pipe.finish_update(optimizer)


def fit(trainer: dict[str, Any], train: list[Example], dev: list[Example], epochs: int) -> dict[str, Any]:
    """Train until the accuracy on held-out sentences has not risen for some epochs; the row of the best one."""
    nlp, rng = build(trainer), random.Random(0)
    nlp.get_pipe(NAME).initialize(lambda: train, nlp=nlp)
    optimizer = SGD(LEARN_RATE, L2=0.0, grad_clip=0.0)
    best: dict[str, Any] = {"epoch": 0, "dev": {"word_acc": 0.0}}
    curve, norms, seconds = [], [0.0], []
    for epoch in range(1, epochs + 1):
        rng.shuffle(train)
        with Clock() as clock:
            train_epoch(nlp, train, optimizer)
        seconds.append(clock.wall)
        pipe = nlp.get_pipe(NAME)
        norms.append(float(np.linalg.norm(np.concatenate([pipe.model.get_param(name) for name in ("state", "edges")]))))
        found = measure(nlp, dev)
        curve.append(found["word_acc"])
        if found["word_acc"] > best["dev"]["word_acc"]:
            best = {"epoch": epoch, "dev": found, "train": measure(nlp, train[:DEV])}
        elif epoch - best["epoch"] >= PATIENCE:
            break
    steps = [abs(after - before) for before, after in zip(norms, norms[1:])]
    return {**best, "curve": curve, "norm_steps": steps, "seconds_per_epoch": float(np.mean(seconds))}


def cross_validate(trainer: dict[str, Any], examples: list[Example], epochs: int) -> dict[str, Any]:
    """Mean scores over folds after a number of epochs."""
    parts = np.array_split(np.random.default_rng(0).permutation(len(examples)), FOLDS)
    found = []
    for part in parts:
        held_out = set(part.tolist())
        train = [example for number, example in enumerate(examples) if number not in held_out]
        nlp, rng = build(trainer), random.Random(0)
        nlp.get_pipe(NAME).initialize(lambda train=train: train, nlp=nlp)
        optimizer = SGD(LEARN_RATE, L2=0.0, grad_clip=0.0)
        for _ in range(epochs):
            rng.shuffle(train)
            train_epoch(nlp, train, optimizer)
        found.append(measure(nlp, [examples[number] for number in part.tolist()]))
    return {name: float(np.mean([scores[name] for scores in found])) for name in MEASURES}


def main() -> None:
    """Run everything, and write the rows."""
    parser = new_parser(__doc__)
    parser.add_argument("--sentences", type=int, nargs="*", default=[10_000, 30_000, 45_000])
    parser.add_argument("--movie", action="store_true", help="cross-validate on dialogues as well")
    options = parser.parse_args()
    tagger, _ = train_tagger(options.data)
    dev = read(options.data / FOLDER / "dev2012.tsv.gz", DEV)
    talks = read(options.data / FOLDER / "ted_train.tsv.gz", max(options.sentences, default=0) or 1)
    movie = read(options.data / "movie_punct" / "train.tsv", unit="document")
    add_tags(tagger, [*dev, *talks, *movie])
    rows = []
    for name, trainer in TRAINERS.items():
        epochs = EPOCHS
        for count in options.sentences:
            row = {"name": name, "sentences": count, **fit(trainer, talks[:count], dev, EPOCHS)}
            epochs = row["epoch"]
            rows.append(row)
            print(json.dumps(row), flush=True)
        if options.movie:
            rows.append({"name": name, "movie": cross_validate(trainer, movie, epochs), "epochs": epochs})
            print(json.dumps(rows[-1]), flush=True)
        options.out.write_text(json.dumps({"machine": describe(), "rows": rows}, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()

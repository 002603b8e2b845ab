"""Memory and time of training from an encoded corpus on disk, by the size of the corpus.

    python -m benchmarks.large --data DIR [--millions 1 10] [--iterations 10] [--noise 0.01] [--cache DIR]

The text is that of CoNLL-2000 again and again, with its 19 templates and 22 labels; a share of all words is replaced by
others of the corpus, so that new bigrams keep coming. Each size runs in a process of its own, with some thousand Docs
in memory at a time. Seconds are of CPU, on all threads, unless they are called wall.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import spacy
from spacy.tokens import Token
from spacy.training import Example
from spacy.util import minibatch

from benchmarks.data import Sentence
from benchmarks.measure import Clock, peak_mebibytes, run_apart
from benchmarks.ours import CHUNKER, NAME, TARGET, make_examples
from benchmarks.tasks import TASKS

DOCS = 1000


def noisy(sentences: list[Sentence], n_tokens: int, noise: float) -> Iterator[Sentence]:
    """Sentences of so many tokens in all, whose words are replaced by others with a probability."""
    rng, words = random.Random(0), [word for sentence in sentences for word in sentence.words]
    for sentence in cycle(sentences):
        if n_tokens <= 0:
            return
        n_tokens -= len(sentence.words)
        yield sentence._replace(words=[rng.choice(words) if rng.random() < noise else w for w in sentence.words])


def measure(options: argparse.Namespace, millions: float) -> dict[str, float]:
    """Train in this process, and say what it took."""
    if not Token.has_extension(TARGET):
        Token.set_extension(TARGET, default=None)
    sentences, nlp = list(TASKS["chunking"].read(options.data, "train")), spacy.blank("en")
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        trainer = {"@misc": "spacy_crf.LBFGS.v1", "cache": folder, "iterations_per_step": 1, "period": 0}
        pipe = nlp.add_pipe(NAME, config={**CHUNKER, "trainer": trainer})

        def examples() -> Iterator[Example]:
            for batch in minibatch(noisy(sentences, int(millions * 1e6), options.noise), DOCS):
                yield from make_examples(nlp, batch)

        first = make_examples(nlp, sentences[:1])
        nlp.initialize(examples)
        with Clock() as preparation:  # with the first iteration
            nlp.update(first)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        with Clock() as training:
            for _ in range(options.iterations):
                nlp.update(first)
    tokens = millions * 1e6
    return {
        "million_tokens": millions,
        "peak_mebibytes": round(peak_mebibytes()),
        "features": len(pipe.features.state),
        "weights": pipe.trainer.optimizer.x.size,
        "bytes_on_disk_per_token": round(size / tokens, 1),
        "preparation_seconds_per_million_tokens": round(preparation.cpu / millions, 2),
        "microseconds_per_token_and_iteration": round(1e6 * training.cpu / tokens / options.iterations, 3),
        "wall_microseconds_per_token_and_iteration": round(1e6 * training.wall / tokens / options.iterations, 3),
    }


def main() -> None:
    """Measure each size; print one line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--millions", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--cache", type=Path, help="where there is room; else the folder for temporary files")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for millions in options.millions:
        alone = (*sys.argv[1:], "--in-process", "--millions", str(millions))
        found = measure(options, millions) if options.in_process else run_apart("benchmarks.large", *alone)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()

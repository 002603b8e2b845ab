"""Peak memory of training on a stream of sentences in which new words never cease.

    python -m benchmarks.streaming [--sentences N ...] [--trainer Perceptron] [--max-features 65536] [--keep-words]

Each length runs in a process of its own. Features are hashed to a fixed number of buckets, each of which has a weight
for every label from the beginning (`all_states`): else weights would come with new pairs of bucket and label, until
there are all of them. Every batch is made and learned inside `nlp.memory_zone()`, which takes new words out of spaCy's
Vocab and StringStore again; `--keep-words` goes without it and shows what they cost: about 350 bytes each. `spacy
train` has no such zones; where that matters, train in a loop as in `train` below, in which no Doc outlives its zone.
"""

import argparse
import json
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks.measure import peak_mebibytes, run_apart

TEMPLATES = [
    "The/DT {n}/NN {v}/VBZ the/DT {a}/JJ {n}/NN ./.",
    "{p}/NNP {v}/VBZ in/IN {p}/NNP ./.",
    "A/DT {a}/JJ {n}/NN and/CC a/DT {n}/NN {v}/VBZ slowly/RB ./.",
    "{p}/NNP and/CC {p}/NNP saw/VBD the/DT {n}/NN of/IN {p}/NNP ./.",
]
ENDINGS = {"n": "ion", "v": "es", "a": "ous", "p": ""}
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
NEW = 0.2  # share of open-class words that were never drawn before
BATCH = 100


def sentences(count: int, seed: int) -> Iterator[list[list[str]]]:
    """Sentences as [words, tags]; open classes grow by a new word every few sentences.

    count (int): number of sentences. seed (int): of the draws.
    """
    rng, made = random.Random(seed), 0
    for _ in range(count):
        words, tags = [], []
        for token in rng.choice(TEMPLATES).split():
            form, _, tag = token.rpartition("/")
            if form.startswith("{"):
                made += rng.random() < NEW
                number = made if rng.random() < NEW else rng.randrange(min(made + 1, 2000))
                form = spell(number, form[1])
            words.append(form)
            tags.append(tag)
        yield [words, tags]


def spell(number: int, word_class: str) -> str:
    """The word of a class with a given number; different numbers give different words."""
    stem = ""
    while number or not stem:
        number, digit = divmod(number, len(SYLLABLES))
        stem += SYLLABLES[digit]
    word = stem + ENDINGS[word_class]
    return word.capitalize() if word_class == "p" else word


def build(trainer: str, max_features: int) -> Language:
    """A tagger with all its labels."""
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"], "max_features": max_features}
    # every weight that there may be is there from the beginning, so that none comes later
    model = {"@architectures": "spacy_crf.LinearChain.v1", "all_states": True, "all_transitions": True}
    config = {"trainer": {"@misc": f"spacy_crf.{trainer}.v1"}, "features": features, "model": model}
    nlp.add_pipe("crf_tagger", config=config)
    tags = sorted({token.rpartition("/")[2] for template in TEMPLATES for token in template.split()})
    nlp.get_pipe("crf_tagger").initialize(lambda: [], nlp=nlp, labels=tags)
    return nlp


def train(nlp: Language, count: int, keeps_words: bool) -> float:
    """Train on a stream.

    RETURNS (float): accuracy on the last batch, before it was learned.
    """
    stream, accuracy = sentences(count, seed=0), 0.0
    for first in range(0, count, BATCH):
        zone: AbstractContextManager[object] = nullcontext() if keeps_words else nlp.memory_zone()
        with zone:
            batch = [next(stream) for _ in range(min(BATCH, count - first))]
            examples = [_example(nlp, words, tags) for words, tags in batch]
            if first + BATCH >= count:
                accuracy = nlp.evaluate(examples)["tag_acc"]
                examples = [_example(nlp, words, tags) for words, tags in batch]
            nlp.update(examples)
            del examples
    return accuracy


def _example(nlp: Language, words: list[str], tags: list[str]) -> Example:
    return Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags))


def measure(count: int, trainer: str, max_features: int, keeps_words: bool) -> dict[str, float]:
    """Train in this process and say what it took."""
    nlp = build(trainer, max_features)
    accuracy = train(nlp, count, keeps_words)
    return {
        "sentences": count,
        "peak_mebibytes": round(peak_mebibytes(), 1),
        "accuracy": round(accuracy, 4),
        "lexemes": len(nlp.vocab),
        "strings": len(nlp.vocab.strings),
        "features": len(nlp.get_pipe("crf_tagger").features.state),
    }


def run(count: int, trainer: str, max_features: int, keeps_words: bool) -> dict[str, float]:
    """The same in a process of its own."""
    options = ["--in-process", "--sentences", str(count), "--trainer", trainer, "--max-features", str(max_features)]
    found: dict[str, float] = run_apart("benchmarks.streaming", *options, *["--keep-words"] * keeps_words)
    return found


def main() -> None:
    """Measure each length; print one line of JSON for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--trainer", default="Perceptron")
    parser.add_argument("--max-features", type=int, default=1 << 16)
    parser.add_argument("--keep-words", action="store_true", help="no memory zones")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    work = measure if arguments.in_process else run
    for count in arguments.sentences:
        result = work(count, arguments.trainer, arguments.max_features, arguments.keep_words)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()

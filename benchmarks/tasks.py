"""What is learnt and measured: the tasks that all engines share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import CONLL2000, EWT, REN, Sentence, read_conll2000, read_ewt, read_ren
from benchmarks.templates import chunking_features, historical_features, tagging_features


@dataclass(frozen=True)
class Task:
    """A corpus, the column to learn, the peer's features, and how to train.

    name (str): name on the command line and in the results.
    folder (str): folder of the corpus.
    read (Callable[[Path, str], Iterator[Sentence]]): reader of a split.
    target (str): the column of Sentence to learn.
    features (Callable[[Sentence], list[list[str]]]): attributes of each token, as strings.
    splits (tuple[str, ...]): the splits to score, besides "train".
    c2 (float): weight of the squared norm in the objective.
    max_iterations (int): limit of L-BFGS iterations.
    """

    name: str
    folder: str
    read: Callable[[Path, str], Iterator[Sentence]]
    target: str
    features: Callable[[Sentence], list[list[str]]]
    splits: tuple[str, ...]
    c2: float
    max_iterations: int

    def labels(self, sentence: Sentence) -> list[str]:
        """Give the labels to learn.

        sentence (Sentence): a sentence of this task's corpus.
        RETURNS (list[str]): one label per token.
        """
        return list(getattr(sentence, self.target))


def _chunking(sentence: Sentence) -> list[list[str]]:
    return chunking_features(sentence.words, sentence.xpos)


def _tagging(sentence: Sentence) -> list[list[str]]:
    return tagging_features(sentence.words)


def _historical(sentence: Sentence) -> list[list[str]]:
    return historical_features(sentence.words)


TASKS = {
    task.name: task
    for task in (
        Task("chunking", CONLL2000, read_conll2000, "chunks", _chunking, ("test",), 1.0, 500),
        Task("xpos", EWT, read_ewt, "xpos", _tagging, ("test", "dev"), 0.5, 100),
        Task("upos", EWT, read_ewt, "upos", _tagging, ("test", "dev"), 0.5, 100),
        Task("historical", REN, read_ren, "xpos", _historical, ("dev",), 1.0, 120),
    )
}

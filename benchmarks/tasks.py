"""What is learnt and measured: the tasks that all engines share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import CONLL2000, EWT, REN, Sentence, read_conll2000, read_ewt, read_ren
from projects.attributes import FEATURES


@dataclass(frozen=True)
class Task:
    """A corpus, the column to learn, the peer's features, and how to train.

    name (str): Name on the command line and in the results.
    folder (str): Folder of the corpus.
    read (Callable[[Path, str], Iterator[Sentence]]): Reader of a split.
    target (str): The column of Sentence to learn.
    attributes (str): Name of the peer's features, which are strings.
    splits (tuple[str, ...]): The splits to score, besides "train".
    c2 (float): Weight of the squared norm in the objective.
    max_iterations (int): Limit of L-BFGS iterations.
    """

    name: str
    folder: str
    read: Callable[[Path, str], Iterator[Sentence]]
    target: str
    attributes: str
    splits: tuple[str, ...]
    c2: float
    max_iterations: int

    def labels(self, sentence: Sentence) -> list[str]:
        """Return the labels to learn."""
        return list(getattr(sentence, self.target))

    def features(self, sentence: Sentence) -> list[list[str]]:
        """Return the peer's attributes of each token."""
        return FEATURES[self.attributes](sentence.words, sentence.xpos)


TASKS = {
    task.name: task
    for task in (
        Task("chunking", CONLL2000, read_conll2000, "chunks", "chunking", ("test",), 1.0, 500),
        Task("xpos", EWT, read_ewt, "xpos", "tagging", ("test", "dev"), 0.5, 100),
        Task("upos", EWT, read_ewt, "upos", "tagging", ("test", "dev"), 0.5, 100),
        Task("historical", REN, read_ren, "xpos", "historical", ("dev",), 1.0, 120),
    )
}

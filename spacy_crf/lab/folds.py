"""Parts of a corpus for cross-validation, as a reader around another one."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Config

from ..core.errors import CoreErrors, CRFError
from .errors import LabErrors

Part = Literal["train", "held_out"]


@registry.readers("spacy_crf.Fold.v1")
def make_fold(
    corpus: Callable[[Language], Iterable[Example]], folds: int, fold: int, part: Part, seed: int = 0
) -> "FoldCorpus":
    """One part of one fold of a corpus. The settings are those of FoldCorpus.

    RETURNS (FoldCorpus): The reader.
    """
    return FoldCorpus(corpus, folds, fold, part, seed)


class FoldCorpus:
    """Reads the documents of a fold, or those outside of it. Readers with the same settings make the same folds.

    The documents are read once for each pipeline and kept in memory.
    """

    def __init__(
        self, corpus: Callable[[Language], Iterable[Example]], folds: int, fold: int, part: Part, seed: int = 0
    ) -> None:
        """Check the settings; nothing is read yet.

        corpus (Callable): The reader of all documents, the same number in the same order whenever it is called; an
            augmenter would put copies of a document into other folds.
        folds (int): Number of folds, of about the same number of documents, drawn at random.
        fold (int): Number of the fold, from 0.
        part (str): "held_out" for its documents, "train" for those of all other folds.
        seed (int): Of the draw.
        RAISES (ValueError): For a number of folds below 2, or a fold that there is not.
        """
        for name, value, wrong, expected in (
            ("folds", folds, folds < 2, "at least 2"),
            ("fold", fold, not 0 <= fold < folds, f"from 0 to {folds - 1}"),
        ):
            if wrong:
                raise CRFError(CoreErrors.CRF549.format(name=name, value=value, expected=expected))
        self.corpus, self.folds, self.fold, self.part, self.seed = corpus, folds, fold, part, seed
        self._read: tuple[Vocab, list[Example]] | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of the part, each with a predicted side of its own.

        nlp (Language): The current pipeline.
        YIELDS (Example): In the order of the corpus.
        RAISES (ValueError): Where there are fewer documents than folds.
        """
        if self._read is None or self._read[0] is not nlp.vocab:
            self._read = nlp.vocab, self._choose(list(self.corpus(nlp)))
        for example in self._read[1]:
            yield Example(example.predicted.copy(), example.reference)

    def _choose(self, examples: list[Example]) -> list[Example]:
        if len(examples) < self.folds:
            raise CRFError(LabErrors.CRF551.format(folds=self.folds, found=len(examples)))
        drawn = np.random.default_rng(self.seed).permutation(len(examples))
        is_held_out = np.zeros(len(examples), dtype=bool)
        is_held_out[drawn[self.fold :: self.folds]] = True
        wanted = is_held_out if self.part == "held_out" else ~is_held_out
        return [examples[number] for number in np.flatnonzero(wanted).tolist()]


def with_fold(config: Config, folds: int, fold: int, seed: int) -> Config:
    """A config that trains on the training corpus without a fold, and evaluates on the fold.

    config (Config): In which variables may stand as they are. Its dev corpus is not read; it only says whether
        punctuation is scored, see `historical`.
    folds (int), fold (int), seed (int): See `FoldCorpus`.
    RETURNS (Config): A changed copy.
    RAISES (ValueError): For a training corpus with an augmenter.
    """
    config, training = config.copy(), config.interpolate()["training"]
    names = {"train": training["train_corpus"], "held_out": training["dev_corpus"]}
    corpus = _block(config, names["train"])
    if corpus.get("augmenter") is not None:
        raise CRFError(LabErrors.CRF550.format(name=names["train"]))
    corpora = {"train": corpus, "held_out": _scored_as(_block(config, names["held_out"]), corpus)}
    for part, name in names.items():
        *path, last = name.split(".")
        settings = {"corpus": dict(corpora[part]), "folds": folds, "fold": fold, "part": part, "seed": seed}
        _block(config, ".".join(path))[last] = {"@readers": "spacy_crf.Fold.v1", **settings}
    return config


def _scored_as(dev: dict[str, Any], corpus: dict[str, Any]) -> dict[str, Any]:
    """A corpus whose punctuation has gold if that of another has; documents and tokens stay the same."""
    texts = corpus.get("text") or {}, dev.get("text") or {}
    ours, theirs = (text.get("punctuation", "gold") for text in texts)
    if all(texts) and {ours, theirs} == {"gold", "context"}:
        return {**corpus, "text": {**texts[0], "punctuation": theirs}}
    return corpus


def _block(config: dict[str, Any], name: str) -> dict[str, Any]:
    for part in name.split("."):
        config = config[part]
    return config

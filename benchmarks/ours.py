"""What our jobs share: the chunker on the peer's templates, its Docs, and encoded corpora."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from benchmarks.data import Sentence
from benchmarks.measure import Settings
from benchmarks.runner import ROOT
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.weights import Layout

ENGINE = "ours"
NAME = "crf_tagger"
TARGET = "chunk_tag"  # plain tags without a scheme's mask, as the peer learns them
# the 19 templates and BOS/EOS of the peer; a template that reaches over the edge yields nothing
CHUNKER: dict[str, Any] = {
    "target": TARGET,
    "scheme": "none",
    "overwrite": True,
    "model": {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False},
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@chunking"], "padding": False},
}
CONFIG = ROOT / "configs" / "crf_tagger.cfg"


def new_chunker(settings: Settings) -> Language:
    """A blank pipeline with an untrained chunker.

    settings (Settings): settings of the job; the penalty comes from its task.
    RETURNS (Language): the pipeline.
    """
    nlp = spacy.blank("en")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": settings.task.c2}
    nlp.add_pipe(NAME, config={**CHUNKER, "trainer": trainer})
    return nlp


def load(settings: Settings) -> Language:
    """The pipeline that this task's train job left."""
    if not Token.has_extension(TARGET):
        Token.set_extension(TARGET, default=None)
    path = settings.model_path(ENGINE)
    return spacy.load(path / "model-best" if (path / "model-best").exists() else path)


def read(settings: Settings, split: str) -> list[Sentence]:
    """Sentences of a split."""
    return list(settings.task.read(settings.data, split))


def make_docs(nlp: Language, sentences: Sequence[Sentence]) -> list[Doc]:
    """Pre-tokenized Docs, one for each sentence, with the part of speech where it is input."""
    docs = []
    for sentence in sentences:
        tags = sentence.xpos if sentence.chunks else None
        starts = [position == 0 for position in range(len(sentence.words))]
        docs.append(Doc(nlp.vocab, words=sentence.words, tags=tags, sent_starts=starts))
    return docs


def make_examples(nlp: Language, sentences: Sequence[Sentence]) -> list[Example]:
    """Examples of the chunker: input tags on both sides, chunk tags on the reference."""
    examples = []
    for predicted, reference, sentence in zip(make_docs(nlp, sentences), make_docs(nlp, sentences), sentences):
        for token, chunk in zip(reference, sentence.chunks):
            token._.set(TARGET, chunk)
        examples.append(Example(predicted, reference))
    return examples


def predicted_labels(nlp: Language, settings: Settings, sentences: Sequence[Sentence]) -> list[list[str]]:
    """Labels of the sentences, by the trained pipeline."""
    docs = nlp.pipe(make_docs(nlp, sentences))
    if settings.task.target == "chunks":
        return [[token._.get(TARGET) for token in doc] for doc in docs]
    if settings.task.target == "upos":
        return [[token.pos_ for token in doc] for doc in docs]
    return [[token.tag_ for token in doc] for doc in docs]


def save_corpus(path: Path, corpus: EncodedCorpus, layout: Layout) -> None:
    """Keep an encoded corpus for the memory job, which must not know spaCy."""
    np.savez(
        path,
        lengths=corpus.lengths,
        indptr=corpus.features.indptr,
        indices=corpus.features.indices,
        labels=corpus.gold.labels,
        slots=corpus.slots,
        sizes=np.array([layout.n_features, layout.n_labels]),
        state_cells=layout.state_cells,
        transition_cells=layout.transition_cells,
    )


def folder_bytes(path: Path) -> int:
    """Size of all files below a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())

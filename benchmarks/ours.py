"""Jobs of spacy_crf, each in a fresh process, and the chunker on the peer's templates, which other benchmarks use too.

python -m benchmarks.ours WORK --task TASK --data DIR --models DIR
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from benchmarks.data import Sentence
from benchmarks.measure import ROOT, Clock, Settings, count_tokens, read, run_job, score, weigh
from benchmarks.summary import OURS, Numbers
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.potentials import ChainPotentials, observe, potentials
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS
from spacy_crf.core.threads import available_threads, run_parallel
from spacy_crf.core.weights import Layout
from spacy_crf.estimator import CRF
from spacy_crf.features.extract import Keys
from spacy_crf.learning.model import get_weights, set_weights
from spacy_crf.tagging.component import CRFTagger

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
BATCH = 1000


# -- the chunker and its Docs ------------------------------------------------------------------------------------


def new_chunker(settings: Settings) -> Language:
    """Return a blank pipeline with an untrained chunker; the penalty comes from the task."""
    nlp = spacy.blank("en")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": settings.task.c2}
    nlp.add_pipe(NAME, config={**CHUNKER, "trainer": trainer})
    return nlp


def make_docs(nlp: Language, sentences: Sequence[Sentence]) -> list[Doc]:
    """Return pre-tokenized Docs, one for each sentence, with the part of speech where it is input."""
    docs = []
    for sentence in sentences:
        tags = sentence.xpos if sentence.chunks else None
        starts = [position == 0 for position in range(len(sentence.words))]
        docs.append(Doc(nlp.vocab, words=sentence.words, tags=tags, sent_starts=starts))
    return docs


def make_examples(nlp: Language, sentences: Sequence[Sentence]) -> list[Example]:
    """Return Examples of the chunker: input tags on both sides, chunk tags on the reference."""
    examples = []
    for predicted, reference, sentence in zip(make_docs(nlp, sentences), make_docs(nlp, sentences), sentences):
        for token, chunk in zip(reference, sentence.chunks):
            token._.set(TARGET, chunk)
        examples.append(Example(predicted, reference))
    return examples


def predicted_labels(nlp: Language, settings: Settings, sentences: Sequence[Sentence]) -> list[list[str]]:
    """Return the labels of sentences, by the trained pipeline."""
    docs = nlp.pipe(make_docs(nlp, sentences))
    if settings.task.target == "chunks":
        return [[token._.get(TARGET) for token in doc] for doc in docs]
    if settings.task.target == "upos":
        return [[token.pos_ for token in doc] for doc in docs]
    return [[token.tag_ for token in doc] for doc in docs]


# -- training ----------------------------------------------------------------------------------------------------


def train(settings: Settings) -> Numbers:
    """Train, score, weigh. The chunker's stages are timed apart; the taggers go through `spacy train`."""
    trained = train_chunker(settings) if settings.task.target == "chunks" else train_tagger(settings)
    scores = score(settings, partial(predicted_labels, load(settings), settings))
    return {**trained, **scores, **weigh(model_folder(settings) / NAME, partial(load, settings))}


def train_chunker(settings: Settings) -> Numbers:
    """Docs to features, then the core alone: seconds by stage, objective, iterations, number of weights."""
    nlp = new_chunker(settings)
    pipe = nlp.get_pipe(NAME)
    examples = make_examples(nlp, read(settings, "train"))
    nlp.initialize(lambda: examples)
    with Clock() as features:
        corpus = encode(pipe, examples)
    weights = get_weights(pipe.model)
    layout = weights.layout
    save_corpus(settings.models / f"{settings.task.name}.encoded.npz", corpus, layout)
    with Clock() as learning:
        objective = FullBatchObjective(corpus, layout, settings.task.c2)
        optimizer = LBFGS(objective, objective.basis.start(weights.flat))
        optimizer.run(settings.iterations)
        set_weights(pipe.model, objective.weights(optimizer.x))
    nlp.to_disk(settings.model_path(OURS))
    return {
        **features.seconds("features"),
        **learning.seconds("train"),
        "total_wall": features.wall + learning.wall,
        "objective": optimizer.value,
        "iterations": optimizer.iterations,
        "evaluations": optimizer.evaluations,
        "features": layout.size,
    }


def encode(pipe: Any, examples: list[Example]) -> EncodedCorpus:
    """Return Examples as a component learns from them, which then has a weight for all that they show."""
    sample = pipe.make_sample(examples)
    pipe.learner.grow(sample)
    corpus: EncodedCorpus = pipe.learner.encode(sample)
    pipe.learner.add_weights(corpus)
    return corpus


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


def train_tagger(settings: Settings) -> Numbers:
    """The whole `spacy train` command on raw CoNLL-U, as a user would run it: seconds and peak memory."""
    folder = settings.data / settings.task.folder
    train, dev = (next(folder.glob(f"*-{split}.conllu*")) for split in ("train", "dev"))
    command = [sys.executable, "-m", "spacy", "train", str(CONFIG), "--output", str(settings.model_path(OURS))]
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


def fit(settings: Settings) -> Numbers:
    """`estimator.CRF.fit` on the peer's lists of attribute strings, encoding included."""
    task, sentences = settings.task, read(settings, "train")
    items, labels = ([make(sentence) for sentence in sentences] for make in (task.features, task.labels))
    estimator = CRF(algorithm="lbfgs", c1=0.0, c2=task.c2, max_iterations=settings.iterations)
    with Clock() as fitting:
        estimator.fit(items, labels)
    assert estimator.objective_ is not None
    return {
        **fitting.seconds("fit"),
        "training_wall": estimator.training_log_.training_seconds,
        "objective": estimator.objective_,
        "iterations": len(estimator.training_log_.iterations),
    }


# -- with the trained model --------------------------------------------------------------------------------------


def model_folder(settings: Settings) -> Path:
    """Return the pipeline that the job "train" of this task has left."""
    path = settings.model_path(OURS)
    return path / "model-best" if (path / "model-best").exists() else path


def load(settings: Settings) -> Language:
    """Load that pipeline."""
    if not Token.has_extension(TARGET):
        Token.set_extension(TARGET, default=None)
    return spacy.load(model_folder(settings))


def prepare(settings: Settings) -> tuple[list[Callable[[], ChainPotentials]], int]:
    """Make the feature keys of the test sentences: what decoding and marginals start from.

    RETURNS (tuple[list[Callable], int]): Work for the threads, in about equal shares: each looks its keys up, as the
        peer's prepared items are strings, too, and gives its potentials. And the number of tokens.
    """
    nlp = load(settings)
    pipe = nlp.get_pipe(NAME)
    assert isinstance(pipe, CRFTagger)
    extractor = pipe.features.extractor
    columns = extractor.read(make_docs(nlp, read(settings, "test")), nlp.vocab)
    parts = columns.split(available_threads())
    keys = [extractor.keys(part, extractor.state_templates) for part in parts]
    _ = pipe.scores  # made at the first use: part of loading
    return [partial(look_up, pipe, part.lengths, own) for part, own in zip(parts, keys)], len(columns.orths)


def look_up(pipe: CRFTagger, lengths: Any, keys: Keys) -> ChainPotentials:
    """Return the potentials of feature keys."""
    weights = pipe.scores.weights
    return potentials(observe(lengths, pipe.features.state.encode(keys)), weights.dense, weights.layout)


def decode(settings: Settings) -> Numbers:
    """Decoding alone, from feature keys to labels, on all threads."""
    parts, tokens = prepare(settings)
    for _ in range(2):
        with Clock() as clock:
            run_parallel(lambda part: viterbi(part()), parts, 0)
    return clock.speed(tokens)


def marginals(settings: Settings) -> Numbers:
    """All marginals in double precision: from feature keys, and from Docs by the component."""
    parts, tokens = prepare(settings)
    for _ in range(2):
        with Clock() as clock:
            run_parallel(lambda part: node_marginals(forward_backward(part().astype(np.float64))), parts, 0)
    Doc.set_extension("crf_marginals", default=None)
    nlp = load(settings)
    nlp.get_pipe(NAME).cfg["marginals"] = "crf_marginals"
    _, warm = time_docs(nlp, read(settings, "test"))
    return {**clock.speed(tokens), "from_docs_tokens_per_second": tokens / warm.wall}


def end_to_end(settings: Settings) -> Numbers:
    """From pre-tokenized Docs to labels with `nlp.pipe`, loading not counted."""
    nlp, sentences = load(settings), read(settings, "test")
    cold, warm = time_docs(nlp, sentences)
    tokens = count_tokens(sentences)
    return {"cold_tokens_per_second": tokens / cold.wall, **warm.speed(tokens)}


def time_docs(nlp: Language, sentences: list[Sentence]) -> list[Clock]:
    """Run a pipeline twice: cold, when every word form is new to the feature cache, and warm as in a long run."""
    clocks = []
    for _ in range(2):
        docs = make_docs(nlp, sentences)
        with Clock() as clock:
            list(nlp.pipe(docs, batch_size=BATCH))
        clocks.append(clock)
    return clocks


if __name__ == "__main__":
    run_job(train, fit, decode, marginals, end_to_end)

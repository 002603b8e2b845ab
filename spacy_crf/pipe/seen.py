"""What a component of a pipeline sees: Docs and examples, and those of a training, as `spacy train` shows them."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, takewhile
from math import inf
from typing import Any, TypeAlias

import numpy as np
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry, resolve_dot_names

from ..core.errors import CRFError, CRFWarning
from ..learning.encoder import Sample, Trainer, sample_batches
from ..learning.errors import LearningErrors
from .block import Settings
from .errors import PipeWarnings

Get: TypeAlias = Callable[[], Iterable[Example]]
NEEDED = ("train_corpus", "eval_frequency", "max_epochs", "max_steps", "patience")  # settings that end a training


def run_before(nlp: Language, name: str, docs: Iterable[Doc]) -> Iterator[Doc]:
    """Yield Docs as a component of the pipeline sees them."""
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(name)]):
        yield from nlp.pipe(docs)


def as_seen(nlp: Language, name: str, plain: Iterable[Doc], examples: Iterable[Example]) -> list[Example]:
    """Return examples as a component of a pipeline saw them; as they were annotated, where that has changed tokens.

    plain (Iterable[Doc]): copies of their predicted sides before they were annotated.
    """
    found = []
    for doc, example in zip(run_before(nlp, name, plain), examples):
        is_same = np.array_equal(doc.to_array(ORTH), example.predicted.to_array(ORTH))
        found.append(Example(doc, example.reference) if is_same else example)
    return found


def annotated(nlp: Language, name: str, examples: Iterable[Example]) -> Iterator[Example]:
    """Yield examples whose predicted side a component of the pipeline sees."""
    yield from _run(nlp, nlp.pipe_names[: nlp.pipe_names.index(name)], examples)


def _run(nlp: Language, names: list[str], examples: Iterable[Example]) -> Iterator[Example]:
    """Yield examples with annotated copies of their predicted sides, which others may see later."""
    with nlp.select_pipes(enable=names):
        pairs = ((example.predicted.copy(), example.reference) for example in examples)
        for doc, reference in nlp.pipe(pairs, as_tuples=True):
            yield Example(doc, reference)


def seen_in_training(nlp: Language | None, name: str, get_examples: Get) -> list[Example]:
    """Return examples as `spacy train` shows them to a component, with what earlier ones annotate in training.

    One that comes twice is two of their own: L-BFGS, by which models of folds are trained, takes each once.
    """
    examples, known = list[Example](), set[int]()
    for example in get_examples():
        is_new = id(example.reference) not in known
        known.add(id(example.reference))
        examples.append(Example(example.predicted, example.reference if is_new else example.reference.copy()))
    return list(_seen(nlp, name, examples))


def _seen(nlp: Language | None, name: str, examples: Iterable[Example]) -> Iterable[Example]:
    """Return examples with what earlier components annotate in training, without reading all of them."""
    if nlp is None or name not in nlp.pipe_names:
        return examples
    annotating = nlp.config.interpolate()["training"].get("annotating_components", [])
    before = [other for other in nlp.pipe_names[: nlp.pipe_names.index(name)] if other in annotating]
    return _run(nlp, before, examples) if before else examples


def whole_corpus(pipe: Any, nlp: Language | None, get_examples: Get) -> Get:
    """Return what reads all examples of a training, where the trainer has a cache, or else what is given.

    spaCy gives but the first examples of a stream to what is initialised. The model of a fold, which is no component of
    the pipeline, learns from the examples of its fold alone.
    """
    if nlp is None or all(own is not pipe for _, own in nlp.components):
        return get_examples
    config = nlp.config.interpolate()
    training = config.get("training", {})
    if pipe.settings.trainer.cache is None:
        if (training.get("batcher") or {}).get("cached"):
            raise CRFError(LearningErrors.CRF677.format(name=pipe.name))
        return get_examples
    if training.get("max_epochs") != -1:
        return get_examples
    (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
    return partial(corpus, nlp)


def make_trainer(pipe: Any, nlp: Language | None, get_examples: Get) -> Trainer:
    """Make the trainer of a component; one with a cache reads samples of all examples, as training shows them."""

    def read() -> Iterator[Sample]:
        for batch in sample_batches(_seen(nlp, pipe.name, get_examples())):
            yield pipe.make_sample(pipe.shown(batch))

    if nlp is not None and any(own is pipe for _, own in nlp.components):
        _warn_of_one_evaluation(nlp, get_examples)
        _warn_of_kept_tags(pipe, nlp)
    trainer: Trainer = pipe.settings.trainer.make(pipe.model, nlp)
    if trainer.settings.cache is not None:
        trainer.read = read
    return trainer


def _warn_of_kept_tags(pipe: Any, nlp: Language) -> None:
    """Warn where an earlier component sets the tags that one learns: they stay, so that nobody sees what it finds.

    Not where it gives sets of tags beside them.
    """
    target = pipe.cfg.get("target")
    if target not in ("tag", "pos") or "tag_set" in pipe.cfg or pipe.cfg.get("overwrite") or pipe.cfg.get("given"):
        return
    for other, theirs in takewhile(lambda one: one[1] is not pipe, nlp.pipeline):
        settings = getattr(theirs, "settings", None)
        own = getattr(settings, "target", None) if isinstance(settings, Settings) else None
        if own == target or (own is None and f"token.{target}" in nlp.get_pipe_meta(other).assigns):
            warned = PipeWarnings.CRFW421.format(name=pipe.name, other=other, target=target)
            warnings.warn(warned, CRFWarning, stacklevel=2)


def _warn_of_one_evaluation(nlp: Language, get_examples: Get) -> None:
    """Warn where `spacy train` evaluates once only, so that it keeps the model of the first update.

    It evaluates behind the first update and then behind each `eval_frequency`-th one; a text of few batches may have
    fewer. Not where `max_steps` has set the end, nor where the pipeline has no corpus, or not all settings that
    `spacy train` needs, as in a loop of one's own.
    """
    config = nlp.config.interpolate()
    training = config.get("training", {})
    if any(training.get(name) is None for name in NEEDED) or not _has_batcher(training):
        return
    corpus = config.get("corpora", {}).get(training["train_corpus"].removeprefix("corpora."), {})
    if not corpus or corpus.get("path", "") is None:
        return
    frequency, epochs, patience = (training[name] for name in ("eval_frequency", "max_epochs", "patience"))
    by_patience = patience + 1 if patience > 0 else inf
    by_epochs = epochs * _count_batches(training, get_examples, frequency // epochs + 1) if epochs > 0 else inf
    updates = min(by_patience, by_epochs)
    if 1 < updates <= frequency and not 0 < training["max_steps"] < updates:
        reason = f"patience = {patience}" if by_patience < by_epochs else f"max_epochs = {epochs}"
        warned = PipeWarnings.CRFW771.format(reason=reason, updates=updates, frequency=frequency)
        warnings.warn(warned, CRFWarning, stacklevel=2)


def _has_batcher(training: dict[str, Any]) -> bool:
    """Whether the batcher of a config is known here: the code that registers it may be that of the training alone."""
    return registry.has("batchers", (training.get("batcher") or {}).get("@batchers", ""))


def _count_batches(training: dict[str, Any], get_examples: Get, most: int) -> int:
    """Return how many batches an epoch has, or `most`, without reading more."""
    batcher = registry.resolve({"batcher": training["batcher"]})["batcher"]
    return sum(1 for _ in islice(batcher(get_examples()), most))

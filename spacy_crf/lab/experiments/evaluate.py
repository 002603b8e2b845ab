"""Annotates the test parts of a split with the pipeline that was trained on it, and scores them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.training import Example

from ...core.arrays import Indices
from ...core.errors import CRFError
from ..errors import LabErrors
from ..measures import Scored, measure
from .documents import by_document
from .layout import Part, Split
from .results import DocumentScores, PartResult
from .training import System


def evaluate_split(
    system: System, nlp: Language, split: Split, trained: Indices, seconds: float
) -> Iterator[PartResult]:
    """Score all test parts of a split.

    nlp (Language): the trained pipeline. trained: numbers of the sentences it was trained on. seconds (float): it took.
    YIELDS (PartResult): one for each test part.
    RAISES (ValueError): where the component's scorer has nothing to say of a test part.
    """
    pool = system.source.read(nlp)
    examples = [example for _, example in pool.take(trained)]
    words = frozenset(token.text for example in examples for token in example.predicted)
    pipe: Any = nlp.get_pipe(system.component)
    for part in split.tests:
        tested = _annotate(nlp, pool.take(part.sentences))
        alone = [example for _, example in tested]
        tokens = [token.text for example in alone for token in example.predicted]
        yield PartResult(
            split=split.name,
            test=part.name,
            series=split.series,
            fraction=split.fraction,
            train_tokens=pool.layout.tokens(trained),
            test_tokens=pool.layout.tokens(part.sentences),
            labels=len(getattr(pipe, "labels", ())),
            unknown_words=sum(token not in words for token in tokens) / len(tokens),
            scores=_score_part(pipe, alone, system.component, part),
            documents=[
                DocumentScores(pool.layout.names[number], sum(map(_size, own)), scores)
                for number, own in by_document(tested).items()
                if (scores := _score(pipe, own))  # none without gold
            ],
            found=measure(pipe, Scored(alone, [example.reference for example in examples], words)),
            seconds=seconds,
            draw=split.draw,
        )


def _annotate(nlp: Language, pieces: Sequence[tuple[int, Example]]) -> list[tuple[int, Example]]:
    """Copies of examples, annotated by the whole pipeline."""
    docs = nlp.pipe(example.predicted.copy() for _, example in pieces)
    return [(number, Example(doc, example.reference)) for doc, (number, example) in zip(docs, pieces)]


def _score_part(pipe: Pipe, examples: Sequence[Example], name: str, part: Part) -> dict[str, float]:
    scores = _score(pipe, examples)
    if not scores:
        raise CRFError(LabErrors.CRF623.format(name=name, test=part.name))
    return scores


def _score(pipe: Pipe, examples: Sequence[Example]) -> dict[str, float]:
    """The scores that are numbers."""
    found: Mapping[str, Any] = pipe.score(examples)
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}


def _size(example: Example) -> int:
    return len(example.reference)

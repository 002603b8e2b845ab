"""`python -m spacy crf score`: scores of a pipeline on any corpus that a component reads, beside a baseline."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.tokens import Doc
from wasabi import table

from ..constraints.component import ConstraintDecoder
from ..lab.baselines.component import ComparisonTagger
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets, LabelsTokens
from .data import Data, DataOptions
from .options import Loaded, Pipe, command

OURS = (LabelsTokens, ChainPipe | GivesSets | ConstraintDecoder | ComparisonTagger)
FIRST = "the first crf_tagger, or else the first of ours,"
COUNTS = ("set_size", "violations", "violations_before")  # scores that are no shares of 1
HIDDEN = ("speed", "crf_score")


@command("score", "Nothing was scored")
def score(
    loaded: Annotated[Loaded, Pipe("crf_tagger", OURS, first=FIRST)],
    data: Annotated[Data, DataOptions("DATA", "Corpus in any format that a component reads")],
    baseline: Annotated[
        Path | None, typer.Option(help="Training corpus: also score the most frequent tag of each word")
    ] = None,
) -> None:
    """Score a pipeline on Docs that have the corpus's own tokens and sentences."""
    rows = list(score_rows(loaded.nlp.evaluate(data.examples(loaded.nlp, loaded.name))))
    target = getattr(loaded.component, "target", None)
    if baseline is not None and target in ("tag", "pos"):
        train, gold = (one.docs(spacy.blank("xx")) for one in (data.at(baseline), data))
        accuracy = most_frequent(train, gold, target)
        rows.append((f"{target}_acc of the most frequent tag of each word", f"{100 * accuracy:.2f}"))
    typer.echo(table(rows, aligns=("l", "r")))


def score_rows(scores: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Shares as percentages; token scores say nothing where tokens are given."""
    for name, value in scores.items():
        if isinstance(value, float) and name not in HIDDEN and not name.startswith("token_"):
            yield name, f"{value:.2f}" if name in COUNTS else f"{100 * value:.2f}"


def most_frequent(train: Iterable[Doc], dev: Iterable[Doc], target: str) -> float:
    """Accuracy of the most frequent tag of each word; unknown words get that of words seen once.

    train (Iterable[Doc]), dev (Iterable[Doc]): Gold Docs. target (str): "tag" or "pos".
    RETURNS (float): Share of the dev tokens with gold that are right.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in tagged_words(train, target):
        counts[word][tag] += 1
    once = Counter(next(iter(tags)) for tags in counts.values() if tags.total() == 1)
    fallback = once.most_common(1)[0][0] if once else ""
    best = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    results = [best.get(word, fallback) == tag for word, tag in tagged_words(dev, target)]
    return sum(results) / max(1, len(results))


def tagged_words(docs: Iterable[Doc], target: str) -> Iterator[tuple[str, str]]:
    """Words with the tags that they have."""
    for doc in docs:
        for token in doc:
            tag = token.tag_ if target == "tag" else token.pos_
            if tag:
                yield token.text, tag

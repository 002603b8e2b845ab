"""`python -m spacy crf score`: scores of a pipeline on any corpus that the reader knows, beside a baseline."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import spacy
import typer
from spacy.tokens import Doc
from spacy.vocab import Vocab
from wasabi import msg, table

from ..corpora.reader import Corpus
from ..tagging.component import CRFTagger
from .app import app
from .tag import find_tagger

Target = Literal["tag", "pos"]


@app.command("score")
def score_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Corpus: .spacy, CoNLL-U or CoNLL columns")],
    format: Annotated[str | None, typer.Option(help="Format of DATA; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    input: Annotated[str | None, typer.Option(help="Columns that are input, not gold, e.g. tag")] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="Training corpus: also score the most frequent tag of each word")
    ] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
) -> None:
    """Score a pipeline on Docs that have the corpus's own tokens and sentences."""
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        tagger = nlp.get_pipe(find_tagger(nlp, pipe))
        assert isinstance(tagger, CRFTagger)
        layout = {"format": format, "columns": _names(columns) or None}
        corpus = Corpus(data, **layout, input=_names(input))  # type: ignore[arg-type]
        rows = list(_rows(nlp.evaluate(list(corpus(nlp)))))
        if baseline is not None and tagger.target in ("tag", "pos"):
            known, gold = (Corpus(path, **layout).read_docs(Vocab()) for path in (baseline, data))  # type: ignore[arg-type]
            accuracy = most_frequent(known, gold, tagger.target)  # type: ignore[arg-type]
            rows.append((f"{tagger.target}_acc of the most frequent tag of each word", f"{100 * accuracy:.2f}"))
    except (ValueError, OSError) as error:
        msg.fail("Nothing was scored", str(error), exits=1)
    typer.echo(table(rows, aligns=("l", "r")))


def _rows(scores: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Scores between 0 and 1 as percentages; token scores say nothing where tokens are given."""
    for name, value in scores.items():
        if isinstance(value, float) and name not in ("speed", "crf_score") and not name.startswith("token_"):
            yield name, f"{value:.2f}" if name == "set_size" else f"{100 * value:.2f}"


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def most_frequent(train: Iterable[Doc], dev: Iterable[Doc], target: Target) -> float:
    """Accuracy of the most frequent tag of each word; unknown words get that of words seen once.

    train (Iterable[Doc]), dev (Iterable[Doc]): gold Docs. target (str): "tag" or "pos".
    RETURNS (float): share of the dev tokens with gold that are right.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in _pairs(train, target):
        counts[word][tag] += 1
    once = Counter(next(iter(tags)) for tags in counts.values() if tags.total() == 1)
    fallback = once.most_common(1)[0][0] if once else ""
    best = {word: tags.most_common(1)[0][0] for word, tags in counts.items()}
    results = [best.get(word, fallback) == tag for word, tag in _pairs(dev, target)]
    return sum(results) / max(1, len(results))


def _pairs(docs: Iterable[Doc], target: Target) -> Iterable[tuple[str, str]]:
    for doc in docs:
        for token in doc:
            tag = token.tag_ if target == "tag" else token.pos_
            if tag:
                yield token.text, tag

"""`python -m spacy crf guarantee`: sets of tags with a promise, made on data that the tagger was not trained on."""

from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config
from wasabi import msg

from ..components.guarantee import HeldOutTokens, conformal_sets, held_out_tokens, risk_control
from ..components.probabilities import GivesSets
from ..components.set_rules import Guarantee, guarantee_data
from ..core.sets.conformal import Condition, ConformalSets, Fallback
from ..core.sets.risk import Loss, Unit
from ..core.sets.scores import Kind, Score
from ..corpora.reader import Corpus
from .app import app
from .calibrate import annotated
from .score import _names
from .tag import find_tagger


@app.command("guarantee")
def guarantee_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[Path, typer.Argument(metavar="FILE", help="Data that neither training nor its settings have seen")],
    output: Annotated[Path | None, typer.Option(help="Folder for the pipeline with the promise in its config")] = None,
    level: Annotated[float, typer.Option(help="Share that may miss the gold tag")] = 0.05,
    unit: Annotated[
        Unit, typer.Option(help="What is exchangeable: documents, sentences, or tokens one by one")
    ] = "document",
    loss: Annotated[Loss, typer.Option(help="What is bounded for a document or sentence")] = "share",
    conformal: Annotated[bool, typer.Option("--conformal", help="Split conformal sets of tokens, not risk")] = False,
    score: Annotated[Kind, typer.Option(help="How tags are compared, with --conformal")] = "lac",
    penalty: Annotated[float, typer.Option(help="Of the score raps")] = 0.0,
    k_reg: Annotated[int, typer.Option(help="Of the score raps")] = 0,
    by_tag: Annotated[bool, typer.Option("--by-tag", help="With --conformal: a promise for each gold tag")] = False,
    full: Annotated[bool, typer.Option("--full", help="Rare tags get all tags, with --by-tag")] = False,
    format: Annotated[str | None, typer.Option(help="Format of FILE; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    input: Annotated[str | None, typer.Option(help="Columns that are input, not gold")] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first set_valued_tagger without")] = None,
) -> None:
    """Make the smallest sets that keep a promise, and say what is promised.

    By default the expected share of a document's tokens whose gold tag is not in their set is bounded. Tokens of one
    document are alike, so that a promise about tokens holds only for tokens of the same documents.
    """
    try:
        source = Path(model) if Path(model).exists() else model
        nlp = spacy.load(source)
        name = find_tagger(nlp, pipe, GivesSets)
        layout = {"format": format, "columns": _names(columns) or None, "input": _names(input)}
        examples = list(Corpus(data, **layout)(nlp))  # type: ignore[arg-type]
        held_out = _held_out(nlp, name, examples)
        promise: Guarantee
        if conformal:
            chosen = Score(score, penalty=penalty, k_reg=k_reg)
            condition: Condition = "label" if by_tag else "marginal"
            fallback: Fallback = "full" if full else "pooled"
            promise = conformal_sets(held_out, level, chosen, condition, fallback)
        else:
            promise = risk_control(held_out, level, unit, loss)
        _tell(promise, held_out, nlp, name)
        if output is not None:
            nlp.to_disk(output)
            _write_config(output, name, promise)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was promised", str(error), exits=1)
    if output is not None:
        msg.good(f"Wrote {output}")


def _write_config(folder: Path, name: str, promise: Guarantee) -> None:
    """Let a saved pipeline keep the promise from now on."""
    path = folder / "config.cfg"
    config = load_config(path)
    config["components"][name].update(method="guarantee", guarantee=guarantee_data(promise))
    config.to_disk(path)


def _held_out(nlp: Language, name: str, examples: list[Example]) -> HeldOutTokens:
    return held_out_tokens(cast(GivesSets, nlp.get_pipe(name)), annotated(nlp, name, examples))


def _tell(promise: Guarantee, held_out: HeldOutTokens, nlp: Language, name: str) -> None:
    """The promise, the size of the sets that it takes, and what it does not cover."""
    labels = cast(GivesSets, nlp.get_pipe(name)).labels
    typer.echo(promise.promise)
    sizes = promise.predict(held_out.marginals).sum(axis=1)
    typer.echo(f"Mean size of the sets of FILE: {sizes.mean():.2f} of {len(labels)} tags")
    if held_out.unknown:
        msg.warn(f"{held_out.unknown} tokens were left out: the tagger knows none of their gold tags")
    if isinstance(promise, ConformalSets) and promise.small:
        rare = ", ".join(f"{labels[tag]} ({n})" for tag, n in promise.small.items())
        fate = "share the quantile of all tokens, without a promise" if promise.fallback == "pooled" else "get all tags"
        msg.warn(f"Too few tokens for a promise of their own; these tags {fate}: {rare}")

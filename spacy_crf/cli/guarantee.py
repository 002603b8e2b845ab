"""`python -m spacy crf guarantee`: sets of tags with a promise, made on data that the tagger was not trained on."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import spacy
import typer
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config
from spacy.vocab import Vocab
from wasabi import msg

from ..core.errors import CRFError
from ..core.sets.conformal import Condition, Fallback, Kind, Score
from ..core.sets.risk import Loss, Unit
from ..corpora.reader import Corpus
from ..pipe.probabilities import GivesSets
from ..pipe.strata import SequenceLength, Strata, UnknownWords
from ..tagsets.guarantee import HeldOutTokens, conformal_sets, held_out_tokens, risk_control
from ..tagsets.promise import ConformalPromise
from ..tagsets.rules import Guarantee, guarantee_data, guarantee_rule
from .app import app
from .calibrate import annotated
from .errors import CommandErrors
from .score import _names
from .tag import find_tagger
from .tune import parse_numbers

By = Literal["unknown", "length"]


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
    by: Annotated[
        By | None, typer.Option(help="With --conformal: a promise for known and unknown words, or by sequence length")
    ] = None,
    train: Annotated[Path | None, typer.Option(help="Training data, whose words are known, with --by unknown")] = None,
    min_count: Annotated[int, typer.Option(min=1, help="How often a known word occurs in it, at least")] = 1,
    edges: Annotated[
        str | None, typer.Option(help="Greatest lengths but the last, e.g. 10,20, with --by length")
    ] = None,
    randomised: Annotated[
        bool, typer.Option("--randomised", help="With --score aps or raps: smaller sets; same text, same sets")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of --randomised, kept with the promise")] = 0,
    full: Annotated[
        bool, typer.Option("--full", help="Rare tags or groups get all tags, with --by-tag or --by")
    ] = False,
    format: Annotated[str | None, typer.Option(help="Format of FILE; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    input: Annotated[str | None, typer.Option(help="Columns that are input, not gold")] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first set_valued_tagger without")] = None,
) -> None:
    """Make the smallest sets that keep a promise, and say what is promised.

    By default the expected share of a document's tokens whose gold tag is not in their set is bounded. Tokens of one
    document are alike, so that a promise about tokens holds only for tokens of the same documents. There is no --by
    document: a document that the promise has not seen would have no quantile.
    """
    try:
        source = Path(model) if Path(model).exists() else model
        nlp = spacy.load(source)
        name = find_tagger(nlp, pipe, GivesSets)
        check_options(conformal, by, by_tag, train, min_count, edges, randomised)
        layout = {"format": format, "columns": _names(columns) or None, "input": _names(input)}
        examples = list(Corpus(data, **layout)(nlp))  # type: ignore[arg-type]
        held_out = _held_out(nlp, name, examples)
        promise: Guarantee
        if conformal:
            chosen = Score(score, randomised=randomised, penalty=penalty, k_reg=k_reg)
            strata = make_strata(by, train, min_count, edges, layout)
            condition: Condition = "group" if strata else "label" if by_tag else "marginal"
            fallback: Fallback = "full" if full else "pooled"
            promise = conformal_sets(held_out, level, chosen, condition, fallback, strata, seed)
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


def check_options(
    conformal: bool,
    by: By | None,
    by_tag: bool,
    train: Path | None,
    min_count: int,
    edges: str | None,
    randomised: bool,
) -> None:
    """Refuse options that would do nothing.

    RAISES (ValueError): names the option and what it belongs to.
    """
    checks = [
        ("--by", by is not None and not conformal, "--conformal"),
        ("--by-tag", by_tag and not conformal, "--conformal"),
        ("--randomised", randomised and not conformal, "--conformal"),
        ("--by", by is not None and by_tag, "promises for all tags together, without --by-tag,"),
        ("--by unknown", by == "unknown" and train is None, "--train"),
        ("--train", train is not None and by != "unknown", "--by unknown"),
        ("--min-count", min_count > 1 and by != "unknown", "--by unknown"),
        ("--by length", by == "length" and edges is None, "--edges"),
        ("--edges", edges is not None and by != "length", "--by length"),
    ]
    for setting, is_wrong, owner in checks:
        if is_wrong:
            raise CRFError(CommandErrors.CRF639.format(setting=setting, owner=owner))


def make_strata(
    by: By | None, train: Path | None, min_count: int, edges: str | None, layout: dict[str, Any]
) -> Strata | None:
    """The groups that options ask for.

    layout (dict): how the training data are read.
    """
    if by == "unknown" and train is not None:
        counts = Counter(token.text for doc in Corpus(train, **layout).read_docs(Vocab()) for token in doc)
        # a word with ${ would be taken for a variable of the config
        return UnknownWords(tuple(sorted(word for word, n in counts.items() if n >= min_count and "${" not in word)))
    if by == "length" and edges is not None:
        return SequenceLength(tuple(int(edge) for edge in parse_numbers("edges", edges)))
    return None


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
    sizes = guarantee_rule(promise)(held_out.marginals, held_out.tokens).sum(axis=1)
    typer.echo(f"Mean size of the sets of FILE: {sizes.mean():.2f} of {len(labels)} tags")
    if held_out.unknown:
        msg.warn(f"{held_out.unknown} tokens were left out: the tagger knows none of their gold tags")
    if isinstance(promise, ConformalPromise) and promise.sets.small:
        small, is_pooled = promise.sets.small, promise.sets.fallback == "pooled"
        rare = ", ".join(f"{promise.describe(stratum, labels)} ({n})" for stratum, n in small.items())
        fate = "share the quantile of all tokens, without a promise" if is_pooled else "get all tags"
        kind = "tags" if promise.by is None else "groups"
        msg.warn(f"Too few tokens for a promise of their own; these {kind} {fate}: {rare}")

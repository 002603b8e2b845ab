"""`python -m spacy crf sets`: what the tag sets of a pipeline are worth, and what they save an annotator."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.training import Example
from spacy.vocab import Vocab
from wasabi import msg, table

from ..corpora.reader import Corpus
from ..pipe.probabilities import GivesSets
from ..tagsets.report import SetReport, report_sets
from .app import app
from .score import _names
from .tag import find_tagger


@app.command("sets")
def sets_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Gold documents: a file or a folder")],
    train: Annotated[Path | None, typer.Option(help="Training data: tells known words from unknown ones")] = None,
    format: Annotated[str | None, typer.Option(help="Format of DATA and of --train; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first set_valued_tagger without")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON")] = False,
) -> None:
    """Measure tag sets on gold documents, and the tokens that need not be looked at."""
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        tagger = cast(GivesSets, nlp.get_pipe(find_tagger(nlp, pipe, GivesSets)))
        layout = {"format": format, "columns": _names(columns) or None}
        examples = list(Corpus(data, **layout)(nlp))  # type: ignore[arg-type]
        words = set()
        if train is not None:
            words = {token.text for doc in Corpus(train, **layout).read_docs(Vocab()) for token in doc}  # type: ignore[arg-type]
        done = nlp.pipe(example.predicted for example in examples)
        found = report_sets(tagger, [Example(doc, eg.reference) for doc, eg in zip(done, examples)], words)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was measured", str(error), exits=1)
    typer.echo(json.dumps(_as_data(found), indent=2) if as_json else format_report(found))


def format_report(found: SetReport) -> str:
    """Two tables: the measures, and the sets by size."""
    rows = [
        ("tokens with gold", f"{found.tokens:,}"),
        ("tags known to the tagger", f"{found.labels}"),
        ("unknown words", _percent(found.unknown_words)),
        ("ml-acc of the best tag", _percent(found.ml_acc)),
        ("  known words", _percent(found.ml_acc_known)),
        ("  unknown words", _percent(found.ml_acc_unknown)),
        ("ml-util of the sets", _percent(found.ml_util)),
        ("coverage", _percent(found.coverage)),
        ("mean size", f"{found.size:.2f}"),
        ("tokens with one tag", _percent(found.singletons)),
        ("  ml-acc of these", _percent(found.singletons_right)),
        (f"CovGap of tags, from {_percent(found.target)}", _percent(found.gap_tags)),
        ("CovGap of documents", _percent(found.gap_documents)),
        ("calibration error (ECE)", _percent(found.ece)),
        ("  classwise", _percent(found.classwise_ece)),
    ]
    sizes = found.by_size
    strata = zip(sizes.strata.tolist(), sizes.counts.tolist(), sizes.coverages.tolist())
    by_size = [(f"{size}", f"{count:,}", _percent(coverage)) for size, count, coverage in strata]
    header = ("tags", "tokens", "covered")
    shown = [row for row in rows if row[1]]
    return f"{table(shown, aligns=('l', 'r'))}\n{table(by_size, header=header, divider=True, aligns=('r', 'r', 'r'))}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def _as_data(found: SetReport) -> dict[str, object]:
    sizes = found.by_size
    by_size = [
        {"size": int(size), "tokens": int(count), "coverage": float(coverage)}
        for size, count, coverage in zip(sizes.strata, sizes.counts, sizes.coverages)
    ]
    return {**asdict(found), "by_size": by_size}

"""`python -m spacy crf tag`, `review`: tags with their probabilities, and what a tagger is least certain of."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import tee
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..cli.data import TO_ANNOTATE, Data
from ..cli.options import (
    TRAIN_WITH_OLD,
    Loaded,
    Pipe,
    annotating,
    command,
    refuse_idle,
    table,
    tell_written,
    write_result,
)
from ..cli.surface import check_argument, tell_warning, with_values
from ..core.arrays import Floats
from ..core.labels import UNKNOWN, TagSet
from ..corpora.docs import make_doc
from ..corpora.errors import CorpusWarnings
from ..corpora.reader import refuse_gold
from ..pipe.block import MOST_LISTED
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets, LabelsTokens, labels_of
from ..pipe.seen import run_before
from ..pipe.span_sets import PromisesSpans, read_span_set
from ..reading.files import decode
from .ranking import Order
from .review import By, review, target_kind, write_json, write_rows

EXTENSION = "crf_marginals"
STDIN = Path("standard input")
ListFormat = Literal["tsv", "jsonl"]
LIKE_A_FILE = re.compile(r"\S+[/\\]\S*|\S+\.(?:txt|text|md|tsv|csv|conllu?|spacy|jsonl?|xml|xmi|xlsx)(?:\.gz)?")
LEAST = 0.005  # a less probable second tag is not shown


@command("tag", "Nothing was tagged", "training/model-best 'The letters came late.'")
def tag(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (LabelsTokens, GivesSets))],
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT|FILE]...", help="Texts, files and folders; standard input without"),
    ] = None,
    as_text: Annotated[bool, typer.Option("--text", help="All are texts, even where a file is called so")] = False,
    format: Annotated[str | None, typer.Option(help=TO_ANNOTATE.told)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write a line of JSON for each text")] = False,
    given: Collection[str] = (),
) -> None:
    """Tag texts and show how sure the tagger is of each token.

    Tags are those that the pipeline sets: under its constraints, and with its entities or chunks as BIO tags. Each line
    of standard input is a text of its own where no texts are given. Spans that a promise takes stand below.

    What names a file or a folder is read: raw text, with a text or a word on each line, or any format that training
    reads.
    """
    files = [] if as_text else list(filter(is_path, texts or ()))
    refuse_idle(given, ("format", bool(files), "files"))
    component = loaded.component
    if not isinstance(component, GivesSets):
        component.cfg["marginals"] = EXTENSION
    for doc in loaded.nlp.pipe(read_texts(loaded.nlp, texts, files, format, as_text)):
        rows = tagged_tokens(doc, component)
        if as_json:
            tokens = [{name: value for name, value in asdict(row).items() if value is not None} for row in rows]
            typer.echo(json.dumps({"text": doc.text, "tokens": tokens}, ensure_ascii=False))
        else:
            typer.echo(format_tags(rows))
        if not as_json and isinstance(component, PromisesSpans) and component.settings.guarantee is not None:
            typer.echo(format_span_set(doc, component.settings.sets_key))


def read_texts(
    nlp: Language, texts: Sequence[str] | None, files: Collection[str], format: str | None, as_text: bool
) -> Iterator[Doc]:
    """Docs of texts, and of those that name files; of standard input where there are none."""
    if not texts:
        for number, piped in enumerate(typer.get_binary_stream("stdin")):
            line = decode(STDIN, piped, number).removeprefix("\ufeff").rstrip("\r\n")
            if line.strip():
                yield make_doc(nlp, line)
    for text in texts or ():
        if text in files:
            yield from (doc for doc, _ in Data(Path(text), format).raw(nlp))
            continue
        if not as_text and LIKE_A_FILE.fullmatch(text):
            tell_warning(CorpusWarnings.CRFW846.format(text=text))
        yield make_doc(nlp, check_argument(text))


def is_path(text: str) -> bool:
    """Whether there is a file or folder of this name; a text may be too long for one, or have characters of none."""
    try:
        return text != "" and Path(text).exists()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class TaggedToken:
    """A token, its tag and how probable that is; None for a token of a kind that training has not shown.

    set (list | None): The tags of its set. other (str | None), other_probability (float | None): Without sets, the most
    probable tag but one, if it is worth showing.
    """

    token: str
    start: int
    tag: str | None = None
    probability: float | None = None
    set: list[str] | None = None
    other: str | None = None
    other_probability: float | None = None


def tagged_tokens(doc: Doc, component: Any) -> list[TaggedToken]:
    """Return the tokens of a Doc with the tags that they have, how probable these are, and their sets or others."""
    has_sets = isinstance(component, GivesSets)
    stored = doc._.get(component.tag_probs if has_sets else EXTENSION)
    tags = component.tags if isinstance(component, ChainPipe) else TagSet(tuple(stored["tags"]), "none")
    rows = []
    for token, label, values in zip(doc, labels_of(Example(doc, doc), component, tags), np.asarray(stored["values"])):
        row = TaggedToken(token.text, token.idx)
        if label != UNKNOWN and values.any():  # white space that was left out lies outside of spans, and has no tag
            row = replace(row, tag=tags.tags[label], probability=round(float(values[label]), 4))
            if has_sets:
                row = replace(row, set=list(doc._.get(component.cfg["tag_set"])[token.i]))
            else:
                row = with_other(row, values, label, tags)
        rows.append(row)
    return rows


def format_span_set(doc: Doc, key: str) -> str:
    """The spans of the set that keeps a promise, with their probabilities."""
    rows = [(doc[one.start : one.end].text, one.label, f"{one.probability:.2f}") for one in read_span_set(doc, key)]
    return table(rows, ("spans in the set", "label", "prob."), "llr", width=60)


def with_other(row: TaggedToken, values: Floats, label: int, tags: TagSet) -> TaggedToken:
    """Add the most probable tag but one, if it is worth showing. values ((L,)): probabilities of all."""
    others = np.where(np.arange(len(values)) == label, -1.0, values)
    best = int(others.argmax())
    if others[best] < LEAST:
        return row
    return replace(row, other=tags.tags[best], other_probability=round(float(others[best]), 4))


def format_tags(rows: Sequence[TaggedToken]) -> str:
    """Tokens with their tags, how probable these are, and sets or the most probable other tags."""
    cells = []
    for row in rows:
        other = "" if row.other is None else f"{row.other} {row.other_probability:.2f}"
        more = other if row.set is None else " ".join(row.set)
        cells.append((row.token, row.tag or "", "" if row.probability is None else f"{row.probability:.2f}", more))
    has_sets = any(row.set is not None for row in rows)
    return table(cells, ("token", "tag", "prob.", "set" if has_sets else "or"), "llrl")


@command(
    "review",
    "Nothing was listed",
    "training/model-best texts.txt --limit 50 --output check.tsv",
    renamed={"--source": "--format", "--format": with_values("--to", *get_args(ListFormat))},
)
def review_texts(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (LabelsTokens,))],
    data: Annotated[Data, TO_ANNOTATE],
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many sentences or documents to list; all without")
    ] = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, max=MOST_LISTED, help="How many labellings of each sequence to list")
    ] = 3,
    order: Annotated[
        Order, typer.Option(help="Measure of certainty; utility: of sets; gain: of uncertain words that are frequent")
    ] = "least-confidence",
    by: Annotated[By, typer.Option(help="What is listed together")] = "sentence",
    per_token: Annotated[
        bool, typer.Option("--per-token", help="Take the length of sequences out of the measure")
    ] = False,
    to: Annotated[ListFormat, typer.Option(help="Format of the list")] = "tsv",
    output: Annotated[Path | None, typer.Option(help="File for the list; standard output without")] = None,
    prefill: Annotated[bool, typer.Option("--prefill", help="Put the tagger's own tags into the gold column")] = False,
    given: Collection[str] = (),
) -> None:
    """List the sequences that a tagger is least certain of, with its best labellings and their probabilities.

    Whoever knows better fills in the column "gold", in full or in part. The file is then read like any other corpus: a
    token with a gold tag is trained on, one without is unknown and summed over.
    """
    refuse_idle(given, ("per_token", order != "gain", "orders other than gain, which is for each token,"))
    if output is not None:
        refuse_gold(output, loaded.nlp.vocab)
    ours, others = tee(annotating(data.raw(loaded.nlp)))
    docs = run_before(loaded.nlp, loaded.name, (doc for doc, _ in ours))
    places = (place for _, place in others)
    found = review(loaded.component, docs, order, per_token, limit, n_best, places, by)
    kind = target_kind(loaded.component)
    inputs = [name for name in data.inputs(loaded.nlp) if name != kind]
    write = write_rows if to == "tsv" else write_json
    write_result("".join(f"{line}\n" for line in write(found, kind, order, inputs, prefill)), output)
    tell_written(output, f"{len(found)} sequences", f"fill in the column gold, then {TRAIN_WITH_OLD}")

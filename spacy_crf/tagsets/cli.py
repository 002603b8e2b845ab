"""`python -m spacy crf sets`, `annotate`, `guarantee`: sets of tags measured, written, and with a promise."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import count, groupby
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from wasabi import msg

from ..annotation.documents import read_doc_name
from ..cli.data import TO_ANNOTATE, Data, DataOptions
from ..cli.options import (
    Loaded,
    Pipe,
    annotating,
    command,
    make_folders,
    parse_numbers,
    refuse_idle,
    table,
    tell_written,
)
from ..core.errors import CRFError
from ..core.sets.conformal import Condition, Kind, Score
from ..core.sets.risk import Loss, Unit
from ..corpora.cas import TYPE_SYSTEM, write_cas_json, write_types, write_xmi
from ..corpora.conllu import rewrite_conllu, write_conllu
from ..corpora.errors import CorpusErrors
from ..corpora.exchange import ExchangeDocument, Place, PredictedTags, copy_checked
from ..corpora.files import number_name
from ..corpora.reader import tell_format
from ..corpora.tables import write_tsv, write_xlsx
from ..corpora.tasks import write_doccano, write_label_studio
from ..corpora.webanno import write_webanno
from ..pipe.calibration import annotated
from ..pipe.probabilities import GivesSets
from .guarantee import (
    ConformalPromise,
    Guarantee,
    HeldOutTokens,
    SequenceLength,
    Strata,
    UnknownWords,
    conformal_sets,
    guarantee_data,
    held_out_tokens,
    risk_control,
)
from .report import SIZES, SetReport, render_page, report_sets
from .rules import guarantee_rule

SETS = Pipe("set_valued_tagger", (GivesSets,))
TOLD = "Format of DATA and of --train; otherwise picked by file"
GOLD = DataOptions("DATA", "Gold documents: a file or a folder", told=TOLD)


@command("sets", "Nothing was measured", "training/model-best dev.tsv --train train.tsv")
def sets(
    loaded: Annotated[Loaded, SETS],
    data: Annotated[Data, GOLD],
    train: Annotated[Path | None, typer.Option(help="Training data: tells known words from unknown ones")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON")] = False,
) -> None:
    """Measure tag sets on gold documents, and the tokens that need not be looked at."""
    examples = data.examples(loaded.nlp)
    words = set() if train is None else set(word_counts(data.at(train), loaded.nlp))
    done = list(loaded.nlp.pipe(example.predicted for example in annotating(examples)))
    whole = data.with_punctuation(loaded.nlp)
    pairs = None if whole is None else list(map(Example, done, whole))
    found = report_sets(loaded.component, [Example(doc, eg.reference) for doc, eg in zip(done, examples)], words, pairs)
    rows = [{"size": size, "tokens": count, "coverage": coverage} for size, count, coverage in found.sizes()]
    told = {**asdict(found), "by_size": rows}
    typer.echo(json.dumps(told, indent=2) if as_json else format_report(found))


def word_counts(data: Data, nlp: Language) -> Counter[str]:
    """How often a corpus has each form. nlp (Language): The pipeline whose way of reading it is."""
    return Counter(token.text for doc in data.docs(nlp) for token in doc)


def format_report(found: SetReport) -> str:
    """Two tables: the measures, and the sets by size."""
    return f"{table(found.rows(), aligns='lr')}\n{table(found.size_rows(), SIZES, 'r')}"


# -- annotate ----------------------------------------------------------------------------------------------------


Write = Callable[[Sequence[ExchangeDocument]], bytes]


Layout = Literal["tsv", "conllu", "webanno", "xmi", "cas-json", "label-studio", "doccano", "xlsx", "html"]


@dataclass(frozen=True)
class LayoutKind:
    """How files of annotated documents are written.

    write (Callable | None): None for those that take more than what goes out. is_one (bool): Whether a file holds one
    document.
    """

    suffix: str
    write: Write | None = None
    is_one: bool = False


LAYOUTS: dict[Layout, LayoutKind] = {
    "tsv": LayoutKind("tsv", write_tsv),
    "conllu": LayoutKind("conllu"),
    "webanno": LayoutKind("tsv", write_webanno, is_one=True),
    "xmi": LayoutKind("xmi", write_xmi, is_one=True),
    "cas-json": LayoutKind("json", write_cas_json, is_one=True),
    "label-studio": LayoutKind("json", write_label_studio),
    "doccano": LayoutKind("jsonl", write_doccano),
    "xlsx": LayoutKind("xlsx", write_xlsx),
    "html": LayoutKind("html"),
}


@command(
    "annotate",
    "Nothing more was written",
    "training/model-best texts --to xlsx --output to_check",
    renamed={"--source": "--format", "--layout": "--to"},
)
def annotate(
    loaded: Annotated[Loaded, SETS],
    data: Annotated[Data, TO_ANNOTATE],
    output: Annotated[Path, typer.Option(help="Folder for the files, which are called as those that are read")],
    to: Annotated[
        Layout,
        typer.Option(
            help="tsv and xlsx: form, tags, checked; conllu: sets in MISC; webanno, xmi, cas-json: for INCEpTION; "
            "label-studio; doccano; html: to read"
        ),
    ] = "tsv",
) -> None:
    """Tag documents and write them with their tag sets, for people to correct and to check.

    All formats but html are read again as training data, told by their first lines. Only what is marked as checked is
    gold then; what is marked in the files that are read stays as it is, and is written again.
    """
    output.mkdir(parents=True, exist_ok=True)
    tagged = loaded.nlp.pipe(annotating(data.raw(loaded.nlp)), as_tuples=True)
    written: set[Path] = set()
    n_documents, kind = 0, LAYOUTS[to]
    for (file, document), group in groupby(tagged, lambda pair: (pair[1].file, _document(pair[0], kind))):
        own = list(group)
        path = _free_path(output, document or file, kind.suffix, written)
        if own[0][1].path is not None and path.resolve() == own[0][1].path.resolve():
            raise CRFError(CorpusErrors.CRF579.format(path=path))
        content, count = file_content(own, loaded.component, to)
        make_folders(path)
        path.write_bytes(content)
        n_documents += count
        if to == "xmi":
            path.with_name(TYPE_SYSTEM).write_bytes(write_types())
    then = "" if to == "html" else "correct the files, mark what is checked, and train with --paths.train {}"
    tell_written(output, f"{n_documents} documents in {len(written)} files", then)


def _document(doc: Doc, kind: LayoutKind) -> str:
    """The document that a file is for; "" where a file is for all of those of a file."""
    return read_doc_name(doc) if kind.is_one else ""


def _free_path(folder: Path, name: str, suffix: str, written: set[Path]) -> Path:
    """A path below a folder for what has a name, which no other one has; it is remembered."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")] or ["document"]
    base = folder.joinpath(*parts)
    names = (base.with_name(f"{number_name(base.name, k)}.{suffix}") for k in count(1))
    path = next(path for path in names if path not in written)
    written.add(path)
    return path


def file_content(tagged: Sequence[tuple[Doc, Place]], tagger: GivesSets, layout: Layout) -> tuple[bytes, int]:
    """The content of a file for Docs, and how many documents it has."""
    docs, predictions = (
        [doc for doc, _ in tagged],
        PredictedTags(tagger.cfg["tag_set"], tagger.tag_probs, tagger.target),
    )
    if layout == "html":
        page = render_page(docs, predictions.tag_set, predictions.tag_probs)
        return page.encode(), len({read_doc_name(doc) for doc in docs})
    for doc, place in tagged:
        if place.reference is not None and len(place.reference) == len(doc):
            copy_checked(place.reference, doc, tagger.target)
    documents = [ExchangeDocument.of(list(own), predictions) for _, own in groupby(docs, read_doc_name)]
    write, source = LAYOUTS[layout].write, tagged[0][1].path
    if write is not None:
        return write(documents), len(documents)
    if source is not None and tell_format(source) == "conllu":
        return rewrite_conllu(source, documents, tagger.target), len(documents)
    return write_conllu(documents, tagger.target), len(documents)


# -- guarantee ---------------------------------------------------------------------------------------------------

By = Literal["unknown", "length"]


@command("guarantee", "Nothing was promised", "training/model-best held_out.tsv --level 0.05 --output promised")
def guarantee(
    loaded: Annotated[Loaded, SETS],
    data: Annotated[Data, DataOptions("FILE", "Data that neither training nor its settings have seen")],
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
    given: Collection[str] = (),
) -> None:
    """Make the smallest sets that keep a promise, and say what is promised.

    By default the expected share of a document's tokens whose gold tag is not in their set is bounded. Tokens of one
    document are alike, so that a promise about tokens holds only for tokens of the same documents. There is no --by
    document: a document that the promise has not seen would have no quantile.
    """
    refuse_idle(
        given,
        ("unit", not conformal, "promises without --conformal, which is about tokens,"),
        ("loss", not conformal, "promises without --conformal, which is about tokens,"),
        ("score", conformal, "--conformal"),
        ("penalty", conformal and score == "raps", "--conformal --score raps"),
        ("k_reg", conformal and score == "raps", "--conformal --score raps"),
        ("by", conformal, "--conformal"),
        ("by", not by_tag, "promises for all tags together, without --by-tag,"),
        ("by", by != "unknown" or train is not None, "--train"),
        ("by", by != "length" or edges is not None, "--edges"),
        ("by_tag", conformal, "--conformal"),
        ("train", by == "unknown", "--by unknown"),
        ("min_count", by == "unknown", "--by unknown"),
        ("edges", by == "length", "--by length"),
        ("randomised", conformal, "--conformal"),
        ("seed", randomised, "--randomised"),
        ("full", by_tag or by is not None, "--by-tag or --by"),
    )
    held_out = held_out_tokens(
        loaded.component, annotated(loaded.nlp, loaded.name, annotating(data.examples(loaded.nlp)))
    )
    promise: Guarantee
    if conformal:
        groups = (
            known_words(word_counts(data.at(train), loaded.nlp), min_count)
            if train
            else sequence_lengths(edges)
            if edges
            else None
        )
        condition: Condition = "group" if groups else "label" if by_tag else "marginal"
        chosen = Score(score, randomised=randomised, penalty=penalty, k_reg=k_reg)
        promise = conformal_sets(held_out, level, chosen, condition, "full" if full else "pooled", groups, seed)
    else:
        promise = risk_control(held_out, level, unit, loss)
    tell_promise(promise, held_out, loaded.component.labels)
    if output is not None:
        stored = guarantee_data(promise, loaded.component)
        loaded.component.cfg.update(method="guarantee", guarantee=stored)
        loaded.nlp.to_disk(output)
    tell_written(output, then="python -m spacy crf sets {} DATA")


def known_words(counts: Counter[str], min_count: int) -> Strata:
    """Groups of known and unknown words."""
    return UnknownWords.of_words(word for word, n in counts.items() if n >= min_count)


def sequence_lengths(edges: str) -> Strata:
    """Groups of tokens by the length of their sequence."""
    return SequenceLength(tuple(parse_numbers("edges", edges, int)))


def tell_promise(promise: Guarantee, held_out: HeldOutTokens, labels: tuple[str, ...]) -> None:
    """Tell a promise, the size of the sets that it takes, and what it does not cover."""
    typer.echo(promise.promise)
    sizes = guarantee_rule(promise)(held_out.marginals, held_out.tokens).sum(axis=1)[held_out.weights.any(axis=1)]
    typer.echo(f"Mean size of the sets of FILE: {sizes.mean():.2f} of {len(labels)} tags")
    if held_out.unknown:
        msg.warn(f"{held_out.unknown} tokens are missed whatever their sets: the tagger knows none of their gold tags")
    if isinstance(promise, ConformalPromise) and promise.sets.small:
        small, is_pooled = promise.sets.small, promise.sets.fallback == "pooled"
        rare = ", ".join(f"{promise.describe(stratum, labels)} ({n})" for stratum, n in small.items())
        fate = "share the quantile of all tokens, without a promise" if is_pooled else "get all tags"
        kind = "tags" if promise.by is None else "groups"
        msg.warn(f"Too few tokens for a promise of their own; these {kind} {fate}: {rare}")

"""`python -m spacy crf sets`, `annotate`: sets of tags measured, and written for people to check."""

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

from ..annotation.documents import document_numbers, read_doc_name
from ..cli.data import TO_ANNOTATE, Data, DataOptions
from ..cli.options import (
    TRAIN_WITH_OLD,
    Loaded,
    Pipe,
    annotating,
    command,
    make_folders,
    refuse_idle,
    table,
    tell_written,
)
from ..core.errors import CRFError
from ..corpora.cas import TYPE_SYSTEM, write_cas_json, write_types, write_xmi
from ..corpora.conllu import rewrite_conllu, write_conllu
from ..corpora.errors import CorpusErrors
from ..corpora.exchange import ExchangeDocument, Place, PredictedTags, copy_checked, name_line
from ..corpora.files import number_name, refuse_own
from ..corpora.formats import tell_format
from ..corpora.reader import refuse_gold
from ..corpora.tables import write_tsv, write_xlsx
from ..corpora.tasks import write_doccano, write_label_studio
from ..corpora.webanno import write_webanno
from ..pipe.probabilities import GivesSets
from ..pipe.span_sets import GoldSpans, PromisesSpans, SpanSetReport, read_span_set, report_span_sets
from ..reading.files import write_whole
from .report import SIZES, percent, render_page, report_sets

SETS = Pipe("set_valued_tagger", (GivesSets,))
ALL_SETS = Pipe("set_valued_tagger", (GivesSets, PromisesSpans))
TOLD = "Format of DATA and of --train; otherwise picked by file"
GOLD = DataOptions("DATA", "Gold documents: a file or a folder", told=TOLD)


@command("sets", "Nothing was measured", "training/model-best dev.tsv --train train.tsv")
def sets(
    loaded: Annotated[Loaded, ALL_SETS],
    data: Annotated[Data, GOLD],
    train: Annotated[Path | None, typer.Option(help="Training data: tells known words from unknown ones")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON")] = False,
    given: Collection[str] = (),
) -> None:
    """Measure sets on gold documents: of tags, and what need not be looked at, or of spans with a promise."""
    if not isinstance(loaded.component, GivesSets):
        refuse_idle(given, ("train", False, "components that give sets of tags"))
        found_spans = measure_span_sets(loaded, data)
        typer.echo(json.dumps(found_spans._asdict(), indent=2) if as_json else format_span_report(found_spans))
        return
    examples = data.examples(loaded.nlp)
    words = set() if train is None else set(word_counts(data.at(train), loaded.nlp))
    done = list(loaded.nlp.pipe(example.predicted for example in annotating(examples)))
    whole = data.with_punctuation(loaded.nlp)
    pairs = None if whole is None else list(map(Example, done, whole))
    found = report_sets(loaded.component, [Example(doc, eg.reference) for doc, eg in zip(done, examples)], words, pairs)
    rows = [{"size": size, "tokens": count, "coverage": coverage} for size, count, coverage in found.sizes()]
    told = {**asdict(found), "by_size": rows}
    typer.echo(
        json.dumps(told, indent=2)
        if as_json
        else (f"{table(found.rows(), aligns='lr')}\n{table(found.size_rows(), SIZES, 'r')}")
    )


def word_counts(data: Data, nlp: Language) -> Counter[str]:
    """How often a corpus has each form. nlp (Language): The pipeline whose way of reading it is."""
    return Counter(token.text for doc in data.docs(nlp) for token in doc)


def measure_span_sets(loaded: Loaded, data: Data) -> SpanSetReport:
    """Measure the sets of spans that keep the promise of a component; a coded error where it has none."""
    pipe, nlp = loaded.component, loaded.nlp
    key = pipe.span_sets().key
    examples = data.examples(nlp)
    done = list(nlp.pipe(example.predicted for example in annotating(examples)))
    pairs = map(Example, done, (example.reference for example in examples))
    gold = (GoldSpans.of(pipe.annotation, pair, pipe.tags) for pair in pairs)
    sets = ((read_span_set(doc, key), own) for doc, own in zip(done, gold))
    return report_span_sets(sets, document_numbers(examples))


def format_span_report(found: SpanSetReport) -> str:
    """A table of the measures of sets of spans."""
    rows = [
        ("documents with gold spans", f"{found.documents:,}"),
        ("gold spans", f"{found.spans:,}"),
        ("coverage", percent(found.coverage)),
        ("spans in the set of a document", f"{found.size:.2f}"),
        ("without a rival in the set", percent(found.alone)),
        ("  right of these", percent(found.alone_right)),
    ]
    return table(rows, aligns="lr")


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
    refuse_own(data.path, output)
    output.mkdir(parents=True, exist_ok=True)
    tagged = loaded.nlp.pipe(annotating(data.raw(loaded.nlp)), as_tuples=True)
    written: set[Path] = set()
    n_documents, kind = 0, LAYOUTS[to]
    for (file, document), group in groupby(tagged, lambda pair: (pair[1].file, _document(pair[0], kind))):
        own = list(group)
        path = _free_path(output, document or file, kind.suffix, written)
        if own[0][1].path is not None and path.resolve() == own[0][1].path.resolve():
            raise CRFError(CorpusErrors.CRF579.format(path=path))
        if to != "html":
            refuse_gold(path, loaded.nlp.vocab)
        content, count = file_content(own, loaded.component, to)
        make_folders(path)
        write_whole(path, content)
        n_documents += count
        if to == "xmi":
            write_whole(path.with_name(TYPE_SYSTEM), write_types())
    # where the config names the format of the old data, all files are taken for that
    mixed = "" if to == "tsv" else " --corpora.train.format null"
    then = "" if to == "html" else f"correct the files, mark what is checked, and {TRAIN_WITH_OLD}{mixed}"
    tell_written(output, f"{n_documents} documents in {len(written)} files", then)


def _document(doc: Doc, kind: LayoutKind) -> str:
    """The document that a file is for; "" where a file is for all of those of a file."""
    return read_doc_name(doc) if kind.is_one else ""


def _free_path(folder: Path, name: str, suffix: str, written: set[Path]) -> Path:
    """A path below a folder for what has a name, which no other one has; it is remembered."""
    parts = [part for part in PurePosixPath(name_line(name)).parts if part not in ("/", "..")] or ["document"]
    base = folder.joinpath(*parts)
    names = (base.with_name(f"{number_name(base.name, k)}.{suffix}") for k in count(1))
    path = next(path for path in names if path not in written)
    written.add(path)
    return path


def file_content(tagged: Sequence[tuple[Doc, Place]], tagger: GivesSets, layout: Layout) -> tuple[bytes, int]:
    """The content of a file for Docs, and how many documents it has."""
    docs = [doc for doc, _ in tagged]
    predictions = PredictedTags(tagger.cfg["tag_set"], tagger.tag_probs, tagger.target)
    if layout == "html":
        page = render_page(docs, predictions.tag_set, predictions.tag_probs)
        return page.encode(), len({read_doc_name(doc) for doc in docs})
    for doc, place in tagged:
        if place.reference is not None:
            copy_checked(place.reference, doc, tagger.target)
    documents = [ExchangeDocument.of(list(own), predictions) for _, own in groupby(docs, read_doc_name)]
    write, source = LAYOUTS[layout].write, tagged[0][1].path
    if write is not None:
        return write(documents), len(documents)
    if source is not None and tell_format(source) == "conllu":
        return rewrite_conllu(source, documents, tagger.target), len(documents)
    return write_conllu(documents, tagger.target), len(documents)

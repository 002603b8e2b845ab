"""`python -m spacy crf convert`: corpora in text formats to spaCy's binary format."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc, DocBin
from wasabi import msg

from ..core.errors import CRFError
from ..corpora.reader import Corpus, Format
from ..corpora.sentence import Group
from .app import app
from .errors import CommandErrors

SHOWN_LABELS = 10


@dataclass
class Summary:
    """What was converted.

    docs (int): Number of documents.
    sentences (int): Number of sentences.
    tokens (int): Number of tokens.
    labels (dict[str, Counter[str]]): How often each label occurs, by kind ("tag", "ner", "spans:KEY" ...).
    """

    docs: int = 0
    sentences: int = 0
    tokens: int = 0
    labels: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, doc: Doc) -> None:
        """Count in one document.

        doc (Doc): The document.
        """
        self.docs += 1
        self.sentences += int((doc.to_array("SENT_START") == 1).sum())
        self.tokens += len(doc)
        self._count("tag", (token.tag_ for token in doc))
        self._count("pos", (token.pos_ for token in doc))
        self._count("ner", (entity.label_ for entity in doc.ents))
        for key, group in doc.spans.items():
            self._count(f"spans:{key}", (span.label_ for span in group))

    def _count(self, kind: str, labels: Iterable[str]) -> None:
        counts = Counter(label for label in labels if label)
        if counts:
            self.labels.setdefault(kind, Counter()).update(counts)


@app.command("convert")
def convert_cli(
    input_path: Annotated[Path, typer.Argument(metavar="IN", help="File or folder to read, gzip or plain")],
    output_path: Annotated[Path, typer.Argument(metavar="OUT", help="File to write, ending in .spacy")],
    format: Annotated[
        str | None,
        typer.Option(help="spacy, conllu, columns, conll2000, conll2002 or conll2003; otherwise picked by file"),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag,chunk")
    ] = None,
    group: Annotated[
        str, typer.Option(help="What becomes a document: auto, document, sentence or a number of sentences")
    ] = "auto",
    separator: Annotated[
        str | None, typer.Option(help="What separates columns, \\t for a tab; otherwise picked by file")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language code of the documents")] = "en",
) -> None:
    """Convert CoNLL-U or column files to a .spacy file.

    The reader spacy_crf.Corpus.v1 also reads the text formats themselves. spaCy's own reader and "spacy evaluate"
    read .spacy files only, and tokenize the text anew unless they are given --gold-preproc.
    """
    try:
        summary = convert(
            input_path,
            output_path,
            format=format,  # type: ignore[arg-type]
            columns=[name.strip() for name in columns.split(",")] if columns else None,
            group=int(group) if group.isdecimal() else group,  # type: ignore[arg-type]
            separator=separator.replace("\\t", "\t") if separator else None,
            lang=lang,
        )
    # spaCy raises ImportError for an unknown language.
    except (ValueError, OSError, ImportError) as err:
        msg.fail("Nothing was converted", str(err), exits=1)
    msg.good(f"Wrote {output_path}")
    for line in _describe(summary):
        msg.text(line)


def convert(
    input_path: Path | str,
    output_path: Path | str,
    *,
    format: Format | None = None,
    columns: list[str] | None = None,
    group: Group = "auto",
    separator: str | None = None,
    lang: str = "en",
) -> Summary:
    """Convert files to one `.spacy` file. If anything goes wrong, the output is left as it was.

    input_path (Path | str): A file or a folder. For the other settings see `spacy_crf.corpora.Corpus`.
    output_path (Path | str): The file to write; its folder is made if necessary.
    lang (str): The language of the vocab the documents are read with.
    RETURNS (Summary): What was converted.
    """
    output_path = Path(output_path)
    if output_path.suffix != ".spacy":
        raise CRFError(CommandErrors.CRF601.format(path=output_path))
    corpus = Corpus(input_path, format=format, columns=columns, group=group, separator=separator)
    summary = Summary()
    doc_bin = DocBin(store_user_data=True)
    for doc in corpus.read_docs(spacy.blank(lang).vocab):
        doc_bin.add(doc)
        summary.add(doc)
    _write(output_path, doc_bin.to_bytes())
    return summary


def _write(path: Path, data: bytes) -> None:
    """Write a file in one go: under another name first, so that a full disk leaves no half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _describe(summary: Summary) -> Iterator[str]:
    yield f"{summary.docs:,} documents, {summary.sentences:,} sentences, {summary.tokens:,} tokens"
    for kind, counts in summary.labels.items():
        shown = ", ".join(f"{label} {count:,}" for label, count in counts.most_common(SHOWN_LABELS))
        more = f" and {len(counts) - SHOWN_LABELS} more" if len(counts) > SHOWN_LABELS else ""
        yield f"{kind}: {counts.total():,} with {len(counts)} labels: {shown}{more}"

"""`python -m spacy crf convert`: corpora in any format that a component reads to spaCy's binary format."""

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
from .data import FORMATS, Data
from .errors import CommandErrors
from .options import command, split_names

SHOWN_LABELS = 10


@command("convert", "Nothing was converted")
def convert_files(
    input_path: Annotated[Path, typer.Argument(metavar="IN", help="File or folder to read, gzip or plain")],
    output_path: Annotated[Path, typer.Argument(metavar="OUT", help="File to write, ending in .spacy")],
    format: Annotated[str | None, typer.Option(help=f"One of: {', '.join(FORMATS)}; otherwise picked by file")] = None,
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
    """Convert a corpus to a .spacy file, with its gold.

    The readers of the components also read the formats themselves. spaCy's own reader and "spacy evaluate" read .spacy
    files only, and tokenize the text anew unless they are given --gold-preproc. Of punctuated text and subtitles, words
    and marks are written, with white space made even.
    """
    settings = {
        **({} if group == "auto" else {"group": int(group) if group.isdecimal() else group}),
        **({"separator": separator.replace("\\t", "\t")} if separator else {}),
    }
    summary = convert(Data(input_path, format, split_names(columns), settings=settings), output_path, lang)
    msg.good(f"Wrote {output_path}")
    for line in summary.lines():
        msg.text(line)


@dataclass
class Summary:
    """Counts of what was converted. labels (dict[str, Counter[str]]): By kind ("tag", "ner", "spans:KEY" ...)."""

    docs: int = 0
    sentences: int = 0
    tokens: int = 0
    labels: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, doc: Doc) -> None:
        """Count in one document."""
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

    def lines(self) -> Iterator[str]:
        """The counts in words."""
        yield f"{self.docs:,} documents, {self.sentences:,} sentences, {self.tokens:,} tokens"
        for kind, counts in self.labels.items():
            shown = ", ".join(f"{label} {count:,}" for label, count in counts.most_common(SHOWN_LABELS))
            more = f" and {len(counts) - SHOWN_LABELS} more" if len(counts) > SHOWN_LABELS else ""
            yield f"{kind}: {counts.total():,} with {len(counts)} labels: {shown}{more}"


def convert(data: Data, path: Path, lang: str = "en") -> Summary:
    """Write a corpus to one `.spacy` file. If anything goes wrong, the file is left as it was.

    data (Data): The corpus. path (Path): The file; its folder is made if necessary. lang (str): Of its documents.
    """
    if path.suffix != ".spacy":
        raise CRFError(CommandErrors.CRF601.format(path=path))
    summary, doc_bin = Summary(), DocBin(store_user_data=True)
    for doc in data.docs(spacy.blank(lang)):
        doc_bin.add(doc)
        summary.add(doc)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")  # so that a full disk leaves no half of it
    try:
        partial.write_bytes(doc_bin.to_bytes())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return summary

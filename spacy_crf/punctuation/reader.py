"""Reader of punctuated text for `punctuation_restorer`: it strips the marks, which become labels."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from ..core.errors import CoreErrors, CRFError, CRFWarning
from ..corpora.docbin import read_docbin
from ..corpora.errors import CorpusErrors
from ..corpora.files import data_suffix, read_blocks, read_lines
from .block import NONE
from .docs import register_punctuation, write_gold, write_pauses, write_truncated
from .errors import PunctuationErrors, PunctuationWarnings
from .passages import (
    Anomalies,
    Passage,
    labelled_passage,
    make_passage,
    spoken_cues,
    spoken_passage,
    text_of_json,
    texts_of_lines,
)
from .words import ABBREVIATIONS, BY_SIGN, SIGNS

PunctuationFormat = Literal["text", "jsonl", "spacy", "subtitles", "labels"]
TextUnit = Literal["document", "paragraph", "line", "sentence"]
SUFFIXES: dict[str, PunctuationFormat] = {
    ".txt": "text",
    ".md": "text",
    ".jsonl": "jsonl",
    ".spacy": "spacy",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".tsv": "labels",
    ".conll": "labels",
}


@registry.readers("spacy_crf.PunctuationCorpus.v1")
@dataclass
class PunctuationCorpus:
    """A reader of training examples from punctuated text: what the pipeline sees are the words alone.

    Plain text, JSONL, `.spacy`, subtitles (SRT, WebVTT) and columns `word<TAB>mark`, in which a blank line ends a
    document, all plain or compressed with gzip. Both sides of what is read from subtitles have `token._.pause`, the
    seconds between cues, at the last word of each. anomalies (Anomalies): what the last reading left out.

    path (Path | str | list | None): a file, a folder that is searched with its subfolders, or several of them.
    format (str | None): of all files; None to tell it from each suffix.
    unit (str): "document"; of plain text, where a file is one, also "paragraph" (blank lines end it) or "line".
        "sentence" takes the sentences of documents of any format apart, as Agrawal & Shah do: each has a true start
        and end then, which tell the model much that it would have to find out in running text.
    window (int): cut documents into runs of about so many words; 0 keeps them whole. A run that is cut out has no
        true start or end where it is cut.
    text_key (str): where a line of JSONL has its text.
    lower (bool): show words to the pipeline in lower case.
    least_marks (float): texts of 100 words and more with a smaller share of words with a mark are left out.
    limit (int): number of examples to read at most; 0 for all.
    abbreviations (list[str] | None): lower-case words whose period is a part of them, as in the block `marks` of
        the component; English ones without.
    """

    path: Path | str | list[Path | str] | None
    format: PunctuationFormat | None = None
    unit: TextUnit = "document"
    window: int = 0
    text_key: str = "text"
    lower: bool = True
    least_marks: float = 0.01
    limit: int = 0
    abbreviations: list[str] | None = None

    def __post_init__(self) -> None:
        """Check the settings; nothing is read yet.

        RAISES (ValueError): for a path that there is not, or a setting that has no meaning.
        """
        if self.path is None or self.path == []:
            raise CRFError(CorpusErrors.CRF501)
        self.paths = [Path(one) for one in ([self.path] if isinstance(self.path, Path | str) else self.path)]
        for one in self.paths:
            if not one.exists():
                raise CRFError(CorpusErrors.CRF502.format(path=one))
        for name, value, known in (("format", self.format, PunctuationFormat), ("unit", self.unit, TextUnit)):
            if value is not None and value not in get_args(known):
                raise CRFError(CoreErrors.CRF549.format(name=name, value=value, expected=" or ".join(get_args(known))))
        for name in ("window", "limit", "least_marks"):
            if getattr(self, name) < 0:
                raise CRFError(CoreErrors.CRF549.format(name=name, value=getattr(self, name), expected="0 or above"))
        self.anomalies = Anomalies()

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of the corpus.

        nlp (Language): the current pipeline.
        YIELDS (Example): bare words in `predicted`; in `reference` as they were spelt, with their marks.
        RAISES (ValueError): for a file that cannot be read, or if nothing was worth reading.
        """
        register_punctuation()
        self.anomalies = Anomalies()
        texts = self._read(nlp.vocab)
        if self.unit == "sentence":
            texts = (sentence for text in texts for sentence in text.sentences())
        passages = (part for text in texts for part in text.windows(self.window))
        for passage in islice(passages, self.limit or None):
            yield self._make_example(nlp.vocab, passage)
        found = {"path": ", ".join(map(str, self.paths)), "dropped": self.anomalies}
        if not self.anomalies.read:
            raise CRFError(PunctuationErrors.CRF981.format(**found))
        if self.anomalies.dropped:
            warnings.warn(PunctuationWarnings.CRFW971.format(**found), CRFWarning, stacklevel=2)

    def _read(self, vocab: Vocab) -> Iterator[Passage]:
        for path in self.paths:
            for file in _find(path):
                for passage in self._read_file(file, vocab):
                    if self.anomalies.check(passage, self.least_marks):
                        yield passage

    def _read_file(self, file: Path, vocab: Vocab) -> Iterator[Passage]:
        format = self.format or SUFFIXES.get(data_suffix(file))
        if format is None:
            raise CRFError(PunctuationErrors.CRF982.format(path=file, known=", ".join(SUFFIXES)))
        abbreviations = frozenset(ABBREVIATIONS if self.abbreviations is None else self.abbreviations)
        if format == "labels":
            yield from self._read_labels(file)
            return
        if format == "subtitles":
            yield spoken_passage(list(spoken_cues(read_lines(file))), abbreviations)
            return
        for text in self._texts(file, format, vocab):
            yield make_passage(text, abbreviations)

    def _texts(self, file: Path, format: PunctuationFormat, vocab: Vocab) -> Iterator[str]:
        if format == "text":
            yield from texts_of_lines(read_lines(file), self.unit)
        elif format == "spacy":
            yield from (doc.text for doc in read_docbin(file, vocab))
        else:
            for number, line in enumerate(read_lines(file), 1):
                if line.strip():
                    text = text_of_json(line, self.text_key)
                    if not isinstance(text, str):
                        raise CRFError(PunctuationErrors.CRF983.format(path=file, line=number, key=self.text_key))
                    yield text

    def _read_labels(self, file: Path) -> Iterator[Passage]:
        """Yield documents of words with their marks; a row without a word, or whose word is a mark, is left out."""
        for first, lines in read_blocks(file):
            rows = []
            for number, line in enumerate(lines, first):
                word, _, label = line.partition("\t")
                mark = _mark(label.strip())
                if mark is None:
                    raise CRFError(
                        PunctuationErrors.CRF984.format(path=file, line=number, label=label, known=", ".join(SIGNS))
                    )
                word = word.strip()
                if word and word not in BY_SIGN:
                    rows.append((word, mark))
                else:
                    self.anomalies.dropped.update(["rows without a word"])
            yield labelled_passage(rows)

    def _make_example(self, vocab: Vocab, passage: Passage) -> Example:
        reference = Doc(vocab, words=passage.words)
        seen = [word.lower() for word in passage.words] if self.lower else passage.words
        predicted = Doc(vocab, words=seen)
        write_gold(reference, passage.marks, passage.openings, passage.closings, passage.following)
        for doc in (reference, predicted):
            write_truncated(doc, passage.truncated)
            write_pauses(doc, passage.pauses)
        return Example(predicted, reference)


def _mark(label: str) -> str | None:
    """Return the name of a mark from its label or its sign; "" for none, None for an unknown label."""
    if label in ("", NONE):
        return ""
    return label if label in SIGNS else BY_SIGN.get(label)


def _find(path: Path) -> list[Path]:
    """Return the files to read: the file itself, or those of a folder with a known suffix."""
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and data_suffix(file) in SUFFIXES]
    found = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not found:
        raise CRFError(CorpusErrors.CRF503.format(path=path, suffixes=", ".join(SUFFIXES)))
    return found

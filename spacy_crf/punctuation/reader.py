"""Reader of punctuated text for `punctuation_restorer`: it strips the marks, which become labels."""

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from ..annotation.documents import read_doc_name, register_doc_name, write_doc_name
from ..core.errors import CoreErrors, CRFError, CRFWarning, require_numbers
from ..corpora.docbin import read_docbin
from ..corpora.docs import admit, count_characters, make_doc
from ..corpora.errors import CorpusErrors
from ..corpora.files import check_paths, data_suffix, name_files, number_name, visible_files, warn_of_unread
from ..reading.files import first_line, read_blocks, read_lines, read_text
from ..reading.records import read_json_lines
from .block import NONE, SIGNS, LabelScheme
from .docs import (
    CONFIDENCE,
    PAUSE,
    WordView,
    read_confidences,
    read_pauses,
    read_truncated,
    register_punctuation,
    write_following,
    write_gold,
    write_speech,
    write_truncated,
)
from .errors import PunctuationErrors, PunctuationWarnings
from .labels import Label
from .passages import Anomalies, Passage, common_signs, make_passage, spoken_passage
from .restore import restore
from .subtitles import OPENING_LINES, spoken_words
from .transcripts import looks_like, read_transcript
from .words import BY_SIGN, is_mark

PunctuationFormat = Literal["text", "jsonl", "spacy", "subtitles", "whisper", "ctm", "labels"]
TextUnit = Literal["document", "paragraph", "line", "sentence"]
SUFFIXES: dict[str, PunctuationFormat] = {
    ".txt": "text",
    ".md": "text",
    ".jsonl": "jsonl",
    ".spacy": "spacy",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".sbv": "subtitles",
    ".json": "whisper",
    ".ctm": "ctm",
    ".tsv": "labels",
    ".conll": "labels",
}
LABELLED: tuple[PunctuationFormat, ...] = ("labels", "spacy")  # that say which mark a word has
ANNOTATION = ("spans", "ents", "entities", "label", "labels", "tokens")  # in lines of JSON, of which none is read
SURE = (".jsonl", ".spacy", ".srt", ".vtt", ".sbv", ".ctm")  # suffixes of files that hold nothing else


@registry.readers("spacy_crf.PunctuationCorpus.v1")
@dataclass
class PunctuationCorpus:
    """A reader of training examples from punctuated text: what the pipeline sees are the words alone.

    Plain text, JSONL, `.spacy`, subtitles (SRT, WebVTT, SBV), transcripts (Whisper's JSON and what is like it, CTM) and
    columns `word<TAB>mark`, in which a blank line ends a document, all plain or compressed with gzip. Subtitles and
    transcripts are known by how they open, too, whatever their suffix. Both sides of what is read from them have
    `token._.pause`, the seconds behind a word, or between cues at the last word of each, and `token._.confidence`, as
    far as these are told. Documents of `.spacy` have the marks that they are annotated with,
    `doc._.punctuation`, or else those of their text. Parts of a document have its name, `doc._.doc_name`. Each
    character of Chinese and Japanese is a word. Thai, Lao, Khmer and Burmese cannot be read, for no white space parts
    their words; a semicolon is one in Greek too, where it asks a question (U+037E is known as a question mark).
    anomalies (Anomalies): what the last reading left out.

    path (Path | str | list | None): a file, a folder that is searched with its subfolders, or several of them; plain
        text in a folder is left out beside words with marks, unless `format` is given.
    format (str | None): of all files; None to tell it from each suffix, and of plain text from how it opens.
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
        the component; those of the language, or English ones, without.
    language (str | None): as in the block `marks` of the component.

    >>> import spacy
    >>> from spacy_crf import PunctuationCorpus
    >>> example = next(PunctuationCorpus("corpus/punctuation_restorer/dev")(spacy.blank("en")))
    >>> example.predicted[:5].text
    'hello and welcome to the'
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
    language: str | None = None

    def __post_init__(self) -> None:
        """Check the settings; nothing is read yet."""
        require_numbers(self)
        self.paths = check_paths(self.path)
        for name, value, known in (("format", self.format, PunctuationFormat), ("unit", self.unit, TextUnit)):
            if value is not None and value not in get_args(known):
                raise CRFError(CoreErrors.CRF549.format(name=name, value=value, expected=" or ".join(get_args(known))))
        for name in ("window", "limit", "least_marks"):
            if getattr(self, name) < 0:
                raise CRFError(CoreErrors.CRF549.format(name=name, value=getattr(self, name), expected="0 or above"))
        self.anomalies = Anomalies()

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield examples with bare words in `predicted`, and in `reference` as they were spelt, with their marks.

        nlp (Language): The pipeline, of which the vocabulary is used; `nlp.max_length` grows to the longest document.
        RAISES (ValueError): for a file that cannot be read, or if nothing was worth reading.
        """
        register_doc_name()
        for passage in self.passages(nlp.vocab):
            example = self._make_example(nlp.vocab, passage)
            admit(nlp, count_characters(example.reference))
            yield example

    def passages(self, vocab: Vocab) -> Iterator[Passage]:
        """Yield what the examples are made of: runs of words with the marks around them."""
        register_punctuation()  # which stored Docs are asked for
        self.anomalies = Anomalies()
        texts = self._read(vocab)
        if self.unit == "sentence":
            texts = (sentence for text in texts for sentence in text.sentences())
        yield from islice((part for text in texts for part in text.windows(self.window)), self.limit or None)
        if not self.anomalies.read:
            raise CRFError(PunctuationErrors.CRF981.format(path=self._paths_told(), dropped=self.anomalies))
        self._tell_dropped()

    def _tell_dropped(self) -> None:
        if self.anomalies.dropped:
            message = PunctuationWarnings.CRFW971.format(path=self._paths_told(), dropped=self.anomalies)
            warnings.warn(message, CRFWarning, stacklevel=3)

    def _paths_told(self) -> str:
        return ", ".join(map(str, self.paths))

    def read_texts(self, nlp: Language) -> Iterator[Doc]:
        """Yield Docs whose texts have the marks, and whose tokens the pauses; the format "spacy" reads the same."""
        scheme = self._scheme()
        for example in self(nlp):
            words = WordView.of(example.reference, scheme)
            marks, *_, signs = words.marked()
            spelt = common_signs(Counter((mark, sign) for mark, sign in zip(marks, signs) if mark))
            labels = [label or Label() for label in words.labels(scheme)]
            doc = make_doc(nlp, restore(words.forms, labels, scheme, signs=spelt))
            write_doc_name(doc, read_doc_name(example.reference))
            write_truncated(doc, read_truncated(example.reference))
            view = WordView.of(doc, scheme)
            places = view.last_tokens.tolist()
            if view.marked().marks != marks:  # no text tells unknown ones, and those behind signs and abbreviations
                columns: list[dict[int, Any]] = [dict(zip(places, column)) for column in words.marked()]
                rows = [[column.get(place, "") for place in range(len(doc))] for column in columns]
                write_gold(doc, rows[0], rows[1], rows[2], rows[3])
            write_following(doc, words.following)
            told = [(name, token._.get(name)) for name in (PAUSE, CONFIDENCE) for token in example.reference]
            for place, (name, value) in zip(places * 2, told if 2 * len(places) == len(told) else ()):
                if value is not None:
                    doc[place]._.set(name, value)
            yield doc

    def read_raw(self, nlp: Language) -> Iterator[Doc]:
        """Yield Docs without gold: words alone for a pipeline that restores marks, and whole texts for any other, those
        of JSON lines as they are, the rest as `read_texts` does."""
        if any(nlp.get_pipe_meta(name).factory == "punctuation_restorer" for name in nlp.pipe_names):
            yield from (example.predicted for example in self(nlp))
            return
        files = [(file, path) for path in self.paths for file in self._files(path)]
        if any((self.format or SUFFIXES.get(data_suffix(file))) != "jsonl" for file, _ in files):
            yield from self.read_texts(nlp)
            return
        self.anomalies = Anomalies()
        for file, name in name_files(files, self.paths):
            for number, text in enumerate(self._read_json(file), 1):
                yield write_doc_name(make_doc(nlp, text), number_name(name, number))
        self._tell_dropped()

    def _scheme(self) -> LabelScheme:
        """Return all that the reader tells of words."""
        return LabelScheme(list(SIGNS), pairs=True, abbreviations=self.abbreviations, language=self.language)

    def _read(self, vocab: Vocab) -> Iterator[Passage]:
        found = ((file, path) for path in self.paths for file in self._files(path))
        for file, name in name_files(found, self.paths):
            format = self.format or SUFFIXES.get(data_suffix(file))
            if self.format is None and format in (None, "text"):
                format = self._recognised(file, format)
            if format is None:
                raise CRFError(PunctuationErrors.CRF982.format(path=file, known=", ".join(SUFFIXES)))
            for number, passage in enumerate(self._read_file(file, format, name, vocab), 1):
                if self.anomalies.check(passage, self.least_marks):
                    part = 1 if format == "text" else number  # a plain text is one document, whatever its units
                    yield replace(passage, name=passage.name or number_name(name, part))

    def _files(self, path: Path) -> list[Path]:
        """Return the files to read; beside words with labels plain text is left out, such as a README.txt."""
        found = _find(path)
        texts = [file for file in found if SUFFIXES.get(data_suffix(file)) == "text"]
        if self.format is not None or all(SUFFIXES.get(data_suffix(file)) not in LABELLED for file in found):
            return found
        warn_of_unread(path, texts)
        return [file for file in found if file not in texts]

    def _recognised(self, file: Path, format: PunctuationFormat | None) -> PunctuationFormat | None:
        """Return the format of subtitles and transcripts by how they open, or else the one that the suffix tells."""
        opening = "\n".join(islice(read_lines(file), OPENING_LINES))
        found = looks_like(opening, str(file))
        return format if found == "text" else found

    def _read_file(self, file: Path, format: PunctuationFormat, name: str, vocab: Vocab) -> Iterator[Passage]:
        abbreviations = self._scheme().abbreviated
        if format == "labels":
            yield from self._read_labels(file)
        elif format == "subtitles":
            lines = (f"{line}\n" for line in read_lines(file))
            yield spoken_passage([word.heard for word in spoken_words(lines) if word.is_spoken], abbreviations)
        elif format == "whisper" or format == "ctm":
            texts = read_transcript(read_text(file), format, str(file)).texts()
            yield from (spoken_passage(heard, abbreviations) for heard in texts)
        elif format == "spacy":
            yield from map(self._stored_passage, read_docbin(file, vocab, name=name))
        else:
            found = self._read_text(file) if format == "text" else self._read_json(file)
            yield from (make_passage(text, abbreviations) for text in found)

    def _stored_passage(self, doc: Doc) -> Passage:
        view = WordView.of(doc, self._scheme())
        pauses, confidences = read_pauses(view), read_confidences(view)
        return Passage(
            view.forms,
            *view.marked(),
            truncated=read_truncated(doc),
            following=view.following,
            pauses=pauses if any(pause is not None for pause in pauses) else (),
            confidences=confidences if any(sure is not None for sure in confidences) else (),
            name=read_doc_name(doc),
        )

    def _read_text(self, file: Path) -> Iterator[str]:
        if self.unit == "line":
            return read_lines(file)
        if self.unit == "paragraph":
            return ("\n".join(lines) for _, lines in read_blocks(file))
        return iter(["\n".join(read_lines(file))])

    def _read_json(self, file: Path) -> Iterator[str]:
        for number, found in read_json_lines(file):
            text = found.get(self.text_key) if isinstance(found, dict) else None
            if not isinstance(text, str):
                raise CRFError(PunctuationErrors.CRF983.format(path=file, line=number, key=self.text_key))
            self.anomalies.dropped.update(f"lists of {key!r}" for key in ANNOTATION if found.get(key))
            yield text

    def _read_labels(self, file: Path) -> Iterator[Passage]:
        """Yield documents of words with their marks; a row without a word, or whose word is a mark, is left out."""
        for first, lines in read_blocks(file):
            words, signs = [], []
            marks: list[str | None] = []
            for number, line in enumerate(lines, first):
                word, tab, label = line.partition("\t")
                if not tab or len(word.split()) > 1:
                    raise CRFError(PunctuationErrors.CRF494.format(path=file, line=number, row=line))
                name = label.strip() if label.strip() != NONE else ""
                mark = name if name in ("", *SIGNS) else BY_SIGN.get(name)
                if mark is None:
                    told = {"path": file, "line": number, "label": label, "known": ", ".join(SIGNS)}
                    raise CRFError(PunctuationErrors.CRF984.format(**told))
                word = word.strip()
                if word and not is_mark(word):
                    words.append(word)
                    marks.append(mark)
                    signs.append(name if name in SIGNS.get(mark, ())[1:] else "")
                else:
                    self.anomalies.dropped.update(["rows without a word"])
            none = [""] * len(words)
            yield Passage(words, marks, none, none, signs)

    def _make_example(self, vocab: Vocab, passage: Passage) -> Example:
        reference = Doc(vocab, words=passage.words)
        seen = [word.lower() for word in passage.words] if self.lower else passage.words
        predicted = Doc(vocab, words=seen)
        columns = passage.marks, passage.openings, passage.closings, passage.signs
        write_gold(reference, *columns, following=passage.following)
        write_doc_name(reference, passage.name)
        for doc in (reference, predicted):
            write_truncated(doc, passage.truncated)
            write_speech(doc, passage.pauses, passage.confidences)
        return Example(predicted, reference)


def fitting_format(path: Path, wanted: PunctuationFormat | None) -> PunctuationFormat | None:
    """Return a format if the files at a path may have it, by their suffixes and what they hold, else None: each file
    tells its own."""
    return wanted if wanted is not None and all(_may_have(file, wanted) for file in _find(path)) else None


def _may_have(file: Path, format: PunctuationFormat) -> bool:
    suffix = data_suffix(file)
    if suffix in SURE:
        return SUFFIXES[suffix] == format
    if format == "labels":
        word, tab, _ = first_line(file).partition("\t")
        return bool(tab) or len(word.split()) == 1
    return SUFFIXES.get(suffix) != "labels"


def _find(path: Path) -> list[Path]:
    """Return the files to read: the file itself, or those of a folder with a known suffix."""
    found = visible_files(path, SUFFIXES) if path.is_dir() else [path]
    if not found:
        raise CRFError(CorpusErrors.CRF503.format(path=path, suffixes=", ".join(SUFFIXES)))
    return found

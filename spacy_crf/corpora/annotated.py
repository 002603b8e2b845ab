"""Annotated documents as files, and as rows of tokens: JSON lines, CoNLL-U, `.spacy`, Parquet and data frames."""

import io
import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, cast

import numpy as np
import spacy
from spacy.attrs import DEP, HEAD, IDX, LEMMA, LENGTH, MORPH, POS, SENT_START, TAG
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.util import filter_spans

from ..annotation.documents import DOC_NAME, read_doc_name, write_doc_name
from ..annotation.extensions import custom_names, read_value, register, stored_names, stored_values, user_data
from ..annotation.white_space import Places, leave_out, values_by_words
from ..core.errors import CRFError, CRFWarning, required
from ..core.labels import OUTSIDE
from .conllu import NO_SPACE, UNKNOWN, WIDTH
from .docs import COMMENTS, SURFACES, make_doc, read_kind
from .errors import CorpusErrors, CorpusWarnings
from .exchange import check_line
from .sentence import bio_tags

To = Literal["jsonl", "conllu", "spacy", "parquet"]
Rows = dict[str, list[Any]]
ATTRIBUTES = {"lemma": LEMMA, "pos": POS, "tag": TAG, "morph": MORPH, "dep": DEP}
CELLS = ("lemma", "pos", "tag", "morph", "head", "dep")
NUMBERS = ("unit", "sentence", "token", "start", "end", "head")
COLUMNS = (
    *("doc", "unit", "sentence", "token", "start", "end", "word", "lemma", "pos", "tag", "morph", "head", "dep"),
    *("entity", "spans", "values", "document"),
)
ENDS = ("\t", "\n", "\r")  # of cells and lines of CoNLL-U
SEPARATORS = {"entity": ("|",), "spans": (",", r"\|")}  # of what stands in MISC
SCHEMA = ", ".join(f"`{name}` {'int' if name in NUMBERS else 'string'}" for name in COLUMNS)  # as Spark spells it


class Annotator:
    """A pipeline at work: a document that a component fails on is put aside, with what the component said."""

    def __init__(self, nlp: Language):
        self.nlp = nlp
        self._failed: list[tuple[Doc, str]] = []
        nlp.set_error_handler(cast(Any, self._put_aside))  # which spaCy's types want never to return

    def annotate(self, docs: Iterable[Doc]) -> tuple[list[Doc], list[tuple[Doc, str]]]:
        """Return the Docs with what all components write, and those that failed, with messages."""
        done = list(self.nlp.pipe(docs))
        failed, self._failed = self._failed, []
        return done, failed

    def _put_aside(self, name: str, component: Any, docs: list[Doc], error: Exception) -> None:
        self._failed += [(doc, f"{name}: {error}") for doc in docs]


# -- rows --------------------------------------------------------------------------------------------------------


def token_rows(doc: Doc, unit: int) -> Rows:
    """Return columns of `COLUMNS`, with a row for each token but those of white space.

    `unit` is a number for the Doc, `token` counts the tokens of a sentence from 1, as `head` does, 0 for the root.
    `entity` is a BIO tag, `spans` one for each group, as "key:B-LABEL|other:I-LABEL", or several where spans of a group
    overlap, those of the longest first; a "|" in a key or label is "\\|". `values` are the custom attributes of a token
    as JSON, `document` those of the Doc, beside its first token: what they tell of tokens by places, by rows. What is
    not known is None.
    """
    array = doc.to_array([IDX, LENGTH, HEAD, SENT_START, *ATTRIBUTES.values()]).reshape(len(doc), 4 + len(ATTRIBUTES))
    words = [token.text for token in doc]
    places = Places.of(doc)
    kept, shown = places.words, leave_out(doc, places)
    opens = array[:, 3] == 1
    opens[:1] = True
    sentences = np.cumsum(opens)[kept]
    firsts = np.searchsorted(sentences, sentences)
    numbers = np.arange(len(kept)) - firsts + 1
    starts = array[kept, 0].astype(np.int64)
    rows: Rows = {"doc": [read_doc_name(doc)] * len(kept), "unit": [unit] * len(kept)}
    rows |= {"sentence": sentences.tolist(), "token": numbers.tolist(), "start": starts.tolist()}
    rows |= {"end": (starts + array[kept, 1].astype(np.int64)).tolist(), "word": [words[k] for k in kept]}
    lookup = doc.vocab.strings
    for column, name in enumerate(ATTRIBUTES, 4):
        known = {number: lookup[number] or None for number in set(array[:, column].tolist())}
        rows[name] = [known[number] for number in array[kept, column].tolist()]
    rows["head"] = _heads(array[:, 2].astype(np.int64), kept, firsts) if doc.has_annotation(DEP) else [None] * len(kept)
    rows["entity"] = [entity or None for entity in read_kind(shown[:], "ner")]
    rows["spans"] = _spans(shown)
    rows["values"] = _values(doc, kept)
    rows["document"] = [None] * len(kept)
    own = {name: value for name, value in values_by_words(doc, places).items() if name != DOC_NAME}
    if own and len(kept):
        rows["document"][0] = _json(own)
    return {name: rows[name] for name in COLUMNS}


def _heads(offsets: Any, kept: Any, firsts: Any) -> list[int]:
    place = np.full(len(offsets), -1)
    place[kept] = np.arange(len(kept))
    heads = place[kept + offsets[kept]]
    return np.where((offsets[kept] == 0) | (heads < 0), 0, heads - firsts + 1).tolist()


def _spans(doc: Doc) -> list[str | None]:
    tagged = [(key, tags) for key in sorted(doc.spans) for tags in _layers(doc, key)]
    named = [[f"{key}:{tag}".replace("|", r"\|") if tag != OUTSIDE else "" for tag in tags] for key, tags in tagged]
    return ["|".join(filter(None, own)) or None for own in zip(*named)] or [None] * len(doc)


def _layers(doc: Doc, key: str) -> Iterator[list[str]]:
    """BIO tags of the spans of a group; those that overlap a longer one have tags of their own."""
    left: list[Span] = list(dict.fromkeys(doc.spans[key]))
    while left:
        shown = filter_spans(left)
        yield bio_tags(shown, [OUTSIDE] * len(doc))
        left = [span for span in left if span not in {*shown}]


def _values(doc: Doc, kept: Any) -> list[str | None]:
    named = {name: stored_values(doc, name) for name in sorted(stored_names(doc))}
    found = ({name: values[k] for name, values in named.items() if values[k] is not None} for k in kept)
    return [_json(own) if own else None for own in found]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# -- files -------------------------------------------------------------------------------------------------------


class DocWriter(ABC):
    """Makes a file of annotated documents, one after the other."""

    def __init__(self) -> None:
        self.n_docs = 0

    def add(self, doc: Doc) -> None:
        """Take in a Doc. RAISES (ValueError): for one that the format cannot hold."""
        self._take(doc)
        self.n_docs += 1

    @abstractmethod
    def _take(self, doc: Doc) -> None:
        """Take in a Doc, or nothing of it."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the content of the file."""


class LinesWriter(DocWriter):
    """Makes a file of lines."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []

    def to_bytes(self) -> bytes:
        return "".join(f"{line}\n" for line in self._lines).encode("utf8")


class JsonLinesWriter(LinesWriter):
    """A line of JSON for each Doc, as `doc.to_json` makes it, with all custom attributes under "_"."""

    def _take(self, doc: Doc) -> None:
        names = custom_names(doc)
        for name in names:
            if read_value(doc, name) is not None:
                register(Doc, name)
        self._lines.append(_json(doc.to_json(underscore=names)))


class ConlluWriter(LinesWriter):
    """CoNLL-U, with entities and groups of spans in MISC, as `NER=B-PER` and `Spans=key:B-LABEL`.

    Comments of sentences and multiword tokens of a file of CoNLL-U stay where sentences and tokens are as they were.
    Custom attributes are left out, and named.
    """

    _name: str | None = None  # of the last document
    _left_out: frozenset[str] = frozenset()

    def _take(self, doc: Doc) -> None:
        name, rows, text = read_doc_name(doc), token_rows(doc, 0), doc.text
        if not rows["token"]:
            return
        _check_cell("name", name, name)
        lines = [] if name and name == self._name else [f"# newdoc id = {name}" if name else "# newdoc"]
        openings = [k for k, token in enumerate(rows["token"]) if token == 1]
        comments = {(start, end): value for start, end, value in user_data(doc).get(COMMENTS, ())}
        surfaces = _find_surfaces(doc, rows)
        rows["glued"] = [end == start for end, start in zip(rows["end"], [*rows["start"][1:], None])]
        for first, end in zip(openings, [*openings[1:], len(rows["token"])]):
            lines += comments.get((rows["start"][first], rows["end"][end - 1]), ())
            lines += [*_sentence_lines(text, rows, range(first, end), surfaces, name), ""]
        self._lines += lines
        self._name = name
        self._left_out |= {*custom_names(doc)} - {DOC_NAME}

    def to_bytes(self) -> bytes:
        if names := ", ".join(sorted(self._left_out)):
            warnings.warn(CorpusWarnings.CRFW486.format(names=names), CRFWarning, stacklevel=2)
        return super().to_bytes()


def _find_surfaces(doc: Doc, rows: Rows) -> dict[int, tuple[int, str]]:
    """Multiword tokens that begin and end with tokens of one sentence: by the first one, the last one and the form."""
    starts, ends = ({character: k for k, character in enumerate(rows[key])} for key in ("start", "end"))
    found = ((starts.get(start, -1), ends.get(end, -1), form) for start, end, form in user_data(doc).get(SURFACES, ()))
    numbers = rows["sentence"]
    return {k: (last, form) for k, last, form in found if 0 <= k <= last and numbers[k] == numbers[last]}


def _sentence_lines(
    text: str, rows: Rows, sentence: range, surfaces: dict[int, tuple[int, str]], name: str
) -> list[str]:
    """The text of a sentence, and the lines of its tokens. name (str): of its document."""
    lines, own, place, free = list[str](), "", rows["start"][sentence[0]], 0
    for k in sentence:
        if k in surfaces:  # which says what is behind it, in the place of the tokens before `free`
            last, form = surfaces[k]
            own, place, free = own + text[place : rows["start"][k]] + form, rows["end"][last], last + 1
            id, note = f"{rows['token'][k]}-{rows['token'][last]}", NO_SPACE if rows["glued"][last] else UNKNOWN
            lines.append("\t".join((id, form, *[UNKNOWN] * (WIDTH - 3), note)))
        lines.append(_conllu_row(rows, k, k >= free and rows["glued"][k], name))
    own += text[place : rows["end"][sentence[-1]]]
    return [f"# text = {' '.join(own.split())}", *lines]


def _conllu_row(rows: Rows, k: int, is_glued: bool, name: str) -> str:
    """The line of a token. is_glued (bool): whether no space is behind it. name (str): of its document."""
    cells = [rows[key][k] for key in CELLS]
    for key in ("entity", "spans", *CELLS):
        _check_cell(key, str(rows[key][k]), name)
    notes = [NO_SPACE] if is_glued else []
    notes += [f"NER={rows['entity'][k]}"] if rows["entity"][k] not in (None, "O") else []
    notes += [f"Spans={rows['spans'][k].replace('|', ',')}"] if rows["spans"][k] else []
    for key, cell in zip(CELLS, cells):
        if cell == UNKNOWN and not (key == "lemma" and rows["word"][k] == UNKNOWN):
            raise CRFError(CorpusErrors.CRF490.format(what=key, value=cell, word=rows["word"][k], document=name))
    filled = [UNKNOWN if cell in (None, "") else str(cell) for cell in cells]
    word = check_line(rows["word"][k], rows["start"][k], name)
    return "\t".join((str(rows["token"][k]), word, *filled, UNKNOWN, "|".join(notes) or UNKNOWN))


def _check_cell(what: str, value: str, name: str) -> None:
    if any(sign in value for sign in (*ENDS, *SEPARATORS.get(what, ()))):
        raise CRFError(CorpusErrors.CRF682.format(what=what, value=value, document=name))


class DocBinWriter(DocWriter):
    """`.spacy`: all that a Doc holds."""

    def __init__(self) -> None:
        super().__init__()
        self._docs = DocBin(store_user_data=True)

    def _take(self, doc: Doc) -> None:
        self._docs.merge(DocBin(store_user_data=True, docs=[doc]))  # `add` may fail half-way

    def to_bytes(self) -> bytes:
        return self._docs.to_bytes()


class ParquetWriter(DocWriter):
    """Parquet with the rows of `token_rows`."""

    def __init__(self) -> None:
        super().__init__()
        told = {"kind": "Files of Parquet", "package": "pyarrow", "extra": "parquet"}
        with required(CorpusErrors.CRF576.format(**told)):
            import pyarrow as arrow
            from pyarrow import parquet
        self._rows: Rows = {name: [] for name in COLUMNS}
        types = {name: arrow.int32() if name in NUMBERS else arrow.string() for name in COLUMNS}
        self._table = lambda: arrow.table(self._rows, schema=arrow.schema(types))
        self._write = parquet.write_table

    def _take(self, doc: Doc) -> None:
        for name, values in token_rows(doc, self.n_docs + 1).items():
            self._rows[name] += values

    def to_bytes(self) -> bytes:
        buffer = io.BytesIO()
        self._write(self._table(), buffer, compression="zstd")
        return buffer.getvalue()


WRITERS: dict[To, type[DocWriter]] = {
    "jsonl": JsonLinesWriter,
    "conllu": ConlluWriter,
    "spacy": DocBinWriter,
    "parquet": ParquetWriter,
}


# -- data frames -------------------------------------------------------------------------------------------------


def annotate_partitions(model: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that annotates the partitions of a table, for `mapInPandas` of Spark.

    It takes data frames of pandas with a column `text` and, if there are names, `doc`, and yields ones with a row for
    each token, whose schema is the attribute `schema` of the function; see `token_rows`. A text that a component fails
    on has one row, whose `document` tells the error.

    model (str): package or folder of a pipeline, where each worker finds it.

    >>> from spacy_crf import annotate_partitions
    >>> annotate = annotate_partitions("model/model-best")
    >>> annotate.schema.split(", ")[:3]
    ['`doc` string', '`unit` int', '`sentence` int']

    With Spark: `texts.mapInPandas(annotate, annotate.schema)`.
    """

    def annotate(frames: Iterable[Any]) -> Iterator[Any]:
        import pandas

        annotator = Annotator(spacy.load(model))  # anew for each partition: workers live longer than files of pipelines
        for frame in frames:
            names = frame["doc"] if "doc" in frame else [""] * len(frame)
            yield pandas.DataFrame(annotate_texts(annotator, frame["text"], names), columns=list(COLUMNS))

    annotate.schema = SCHEMA  # type: ignore[attr-defined]
    return annotate


def annotate_texts(annotator: Annotator, texts: Iterable[str], names: Iterable[str]) -> Rows:
    """Return the rows of texts, numbered from 1, with the names of their documents."""
    rows: Rows = {name: [] for name in COLUMNS}
    with annotator.nlp.memory_zone():
        docs = [write_doc_name(make_doc(annotator.nlp, str(text)), str(name)) for text, name in zip(texts, names)]
        failed = {id(doc): message for doc, message in annotator.annotate(docs)[1]}
        for unit, doc in enumerate(docs, 1):
            if (message := failed.get(id(doc))) is None:
                own = token_rows(doc, unit)
            else:
                empty: Rows = {name: [None] for name in COLUMNS}
                own = {**empty, "doc": [read_doc_name(doc)], "unit": [unit], "document": [_json({"error": message})]}
            for name, values in own.items():
                rows[name] += values
        del docs
    return rows

"""From sentences to Docs with gold annotation, and the names of Docs.

`doc._.doc_name` says which document a Doc is, or is a part of. A file that marks no documents is one document, whatever
Docs it is read as; so all of its sentences bear its name. In a folder, the name is the path of the file below it,
without the suffix. Of several documents in a file, the second one and those after it have a number. A Doc that has a
name keeps it, as `DocBin(store_user_data=True)` stores it.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import cast

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, POS, SENT_START, TAG
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab
from thinc.types import Ints2d

from ..annotation.extensions import read_value, register, register_stored, write_known, write_value
from ..annotation.gold import partial_extension
from ..core.labels import OUTSIDE
from .kinds import ENTITIES, EXTENSION_PREFIX, bio_tags, decode_spans, extension_name, spans_key
from .sentence import Sentence

ATTRIBUTES = {"lemma": LEMMA, "pos": POS, "tag": TAG, "morph": MORPH}
UNTYPED_ENTITY = "ENTITY"
DOC_NAME = "doc_name"


class _Ids(dict[str, int]):
    """Numbers of strings, looked up once per string."""

    def __init__(self, add: Callable[[str], int]) -> None:
        super().__init__()
        self.add = add

    def __missing__(self, value: str) -> int:
        self[value] = self.add(value)
        return self[value]


class DocMaker:
    """Makes Docs of the sentences of one file, with sentence starts on every token.

    A kind of annotation that is unknown for all tokens is left unset. For a span group that is known for some tokens
    only, these have a BIO tag in a custom attribute, see `annotation.gold`; unknown morphology is empty. The dependency
    tree is kept if all sentences have one. The attributes are set with one array instead of by the constructor of Doc,
    which takes three times as long.
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        self.strings = _Ids(vocab.strings.add)
        self.morphs = _Ids(vocab.morphology.add)

    def __call__(self, sentences: Sequence[Sentence]) -> Doc:
        """The gold-standard Doc of at least one sentence; all have the same columns."""
        columns = {
            kind: list(chain.from_iterable(sentence.columns[kind] for sentence in sentences))
            for kind in sentences[0].columns
        }
        known = {kind: values for kind, values in columns.items() if any(values)}
        doc = self._make_tokens(sentences, known)
        for kind, values in known.items():
            key, name = spans_key(kind), extension_name(kind)
            if kind == ENTITIES:
                missing = [doc[i : i + 1] for i, value in enumerate(values) if not value]
                doc.set_ents(self._make_spans(doc, kind, sentences, UNTYPED_ENTITY), missing=missing)
            elif key:
                doc.spans[key] = self._make_spans(doc, kind, sentences, key)
                partial = partial_extension("spans", key) or ""
                if "" in values and f"{EXTENSION_PREFIX}{partial}" not in known:
                    register_stored(partial)
                    write_known(doc, partial, bio_tags(doc.spans[key], values))
            elif name:
                write_known(doc, name, values)
        return doc

    def _make_tokens(self, sentences: Sequence[Sentence], known: dict[str, list[str]]) -> Doc:
        attributes: list[int | str] = [SENT_START]
        columns = [_mark_starts(sentences)]
        for kind, values in known.items():
            if kind in ATTRIBUTES:
                attributes.append(ATTRIBUTES[kind])
                ids = self.morphs if kind == "morph" else self.strings
                columns.append(np.fromiter(map(ids.__getitem__, values), np.uint64, len(values)))
        if all(sentence.heads and sentence.deps for sentence in sentences):
            trees = self._join_trees(sentences)
            doc = _fill_doc(self._make_words(sentences), [*attributes, HEAD, DEP], [*columns, *trees])
            # spaCy derives sentence starts from heads, and gives up on trees with too many crossing arcs.
            if np.array_equal(doc.to_array(SENT_START), columns[0]):
                return doc
        return _fill_doc(self._make_words(sentences), attributes, columns)

    def _make_words(self, sentences: Sequence[Sentence]) -> Doc:
        words = list(chain.from_iterable(sentence.words for sentence in sentences))
        return Doc(self.vocab, words=words, spaces=_join_spaces(sentences))

    def _join_trees(self, sentences: Sequence[Sentence]) -> list[npt.NDArray[np.uint64]]:
        offsets = [head - i for sentence in sentences for i, head in enumerate(sentence.heads or ())]
        deps = chain.from_iterable(sentence.deps or () for sentence in sentences)
        return [_as_unsigned(offsets), np.fromiter(map(self.strings.__getitem__, deps), np.uint64, len(offsets))]

    def _make_spans(self, doc: Doc, kind: str, sentences: Sequence[Sentence], untyped: str) -> list[Span]:
        spans: list[Span] = []
        offset = 0
        for sentence in sentences:
            tags = sentence.columns[kind]
            if tags.count(OUTSIDE) < len(tags):
                for start, end, label in decode_spans(tags, untyped=untyped):
                    spans.append(Span(doc, offset + start, offset + end, label=self.strings[label]))
            offset += len(tags)
        return spans


def _fill_doc(doc: Doc, attributes: list[int | str], columns: Sequence[npt.NDArray[np.uint64]]) -> Doc:
    return doc.from_array(attributes, cast(Ints2d, np.stack(columns, axis=1)))


def _mark_starts(sentences: Sequence[Sentence]) -> npt.NDArray[np.uint64]:
    lengths = [len(sentence.words) for sentence in sentences]
    starts = np.full(sum(lengths), -1)
    starts[np.cumsum([0, *lengths[:-1]])] = 1
    return _as_unsigned(starts)


def _as_unsigned(values: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Negative numbers in the way spaCy keeps them."""
    return np.array(values, dtype=np.int64).astype(np.uint64)


def _join_spaces(sentences: Sequence[Sentence]) -> list[bool] | None:
    spaces: list[bool] = []
    for sentence in sentences:
        if sentence.spaces is None:
            return None
        spaces.extend(sentence.spaces)
    return spaces


def register_doc_name() -> None:
    """Make `doc._.doc_name` available, which is "" for a Doc without a name."""
    register(Doc, DOC_NAME, default="")


def read_doc_name(doc: Doc) -> str:
    """The name of the document that a Doc is, or is a part of (str); "" if it has none."""
    return str(read_value(doc, DOC_NAME) or "")


def write_doc_name(doc: Doc, name: str) -> Doc:
    """Give a Doc the name of the document that it is, or is a part of, and return it."""
    write_value(doc, DOC_NAME, name)
    return doc

"""Docs of a corpus: with the gold annotation of sentences, as the pipeline gets to see them, and their names.

`doc._.doc_name` says which document a Doc is, or is a part of. A file that marks no documents is one document, whatever
Docs it is read as; so all of its sentences bear its name. In a folder, the name is the path of the file below it,
without the suffix. Of several documents in a file, the second one and those after it have a number. A Doc that has a
name keeps it, as `DocBin(store_user_data=True)` stores it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, IDS, LEMMA, MORPH, ORTH, POS, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans
from spacy.vocab import Vocab
from thinc.types import Ints2d

from ..annotation.documents import DOC_NAME, TEXT_SETTINGS, copy_truncated
from ..annotation.extensions import (
    copy_values,
    read_value,
    register_stored,
    user_data,
    write_known,
    write_value,
    write_values,
)
from ..annotation.gold import write_partial
from ..annotation.white_space import is_white_space
from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from ..reading.files import read_blocks, read_lines
from ..reading.joining import join_lines
from .errors import CorpusErrors
from .sentence import ENTITIES, MISSING, Sentence, bio_tags, extension_name, join_sentences, settle_spans, spans_key
from .tagsets import CHECKED, CHECKED_COLUMN

ATTRIBUTES = {"lemma": LEMMA, "pos": POS, "tag": TAG, "morph": MORPH}
ENTITY_ATTRIBUTES = [IDS[name] for name in ("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")]
UNTYPED_ENTITY = "ENTITY"
# keys of `doc.user_data`: lists of [first character, end, what a file of CoNLL-U has beside the words there]: comments
# of a sentence, and the form of words that are written as one
COMMENTS, SURFACES = "spacy_crf.comments", "spacy_crf.surfaces"


class DocMaker:
    """Makes Docs of the sentences of one file, with sentence starts on every token.

    A kind of annotation that is unknown for all tokens is left unset. Where spans are known for some tokens only, these
    have a BIO tag in a custom attribute, see `annotation.gold`, and spans one of whose ends is unknown are found there
    alone. Unknown morphology is empty. The dependency tree is kept if all sentences have one. The attributes are set
    with one array instead of by the constructor of Doc, which takes three times as long.
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        # each string is looked up once
        self.strings, self.morphs = cache(vocab.strings.add), cache(vocab.morphology.add)

    def __call__(self, sentences: Sequence[Sentence]) -> Doc:
        """The gold-standard Doc of at least one sentence; all have the same columns."""
        whole = join_sentences(sentences)
        for name in filter(None, map(extension_name, whole.columns)):
            register_stored(name)
        known = {kind: values for kind, values in whole.columns.items() if any(values) or kind == CHECKED_COLUMN}
        doc = self._make_tokens(sentences, whole, known)
        for kind, values in known.items():
            key, extension = spans_key(kind), extension_name(kind)
            if kind == ENTITIES:
                spans, bio = self._read_spans(doc, kind, sentences, UNTYPED_ENTITY)
                inside = {i for span in spans for i in range(span.start, span.end)}
                unknown = [i for i, tag in enumerate(bio) if tag != OUTSIDE and i not in inside]
                doc.set_ents(spans, missing=[doc[i : i + 1] for i in unknown])
                if any(bio[i] for i in unknown):  # which `doc.ents` cannot tell
                    write_partial(doc, "ent", "", bio)
            elif key:
                doc.spans[key], bio = self._read_spans(doc, kind, sentences, key)
                if MISSING in bio:
                    write_partial(doc, "spans", key, bio)
            elif kind == CHECKED_COLUMN:
                write_values(doc, CHECKED, [value or False for value in values])  # also where nobody has seen a token
            elif extension:
                write_known(doc, extension, values)
        _write_beside(doc, sentences)
        return doc

    def _make_tokens(self, sentences: Sequence[Sentence], whole: Sentence, known: dict[str, list[str]]) -> Doc:
        lengths = [len(sentence.words) for sentence in sentences]
        starts = np.full(sum(lengths), -1)
        starts[np.cumsum([0, *lengths[:-1]])] = 1
        columns = {SENT_START: starts.astype(np.uint64)}  # negative numbers in the way spaCy keeps them
        for kind in filter(ATTRIBUTES.__contains__, known):
            ids = map(self.morphs if kind == "morph" else self.strings, known[kind])
            columns[ATTRIBUTES[kind]] = np.fromiter(ids, np.uint64, len(starts))
        if all(sentence.heads and sentence.deps for sentence in sentences):
            offsets = [head - i for sentence in sentences for i, head in enumerate(sentence.heads or ())]
            deps = map(self.strings, chain.from_iterable(sentence.deps or () for sentence in sentences))
            heads = np.array(offsets, dtype=np.int64).astype(np.uint64)
            doc = self._fill(whole, {**columns, HEAD: heads, DEP: np.fromiter(deps, np.uint64, len(starts))})
            # spaCy derives sentence starts from heads, and gives up on trees with too many crossing arcs.
            if np.array_equal(doc.to_array(SENT_START), columns[SENT_START]):
                return doc
        return self._fill(whole, columns)

    def _fill(self, whole: Sentence, columns: dict[int, npt.NDArray[np.uint64]]) -> Doc:
        doc = Doc(self.vocab, words=whole.words, spaces=whole.spaces)
        return doc.from_array(list(columns), cast(Ints2d, np.stack(list(columns.values()), axis=1)))

    def _read_spans(
        self, doc: Doc, kind: str, sentences: Sequence[Sentence], untyped: str
    ) -> tuple[list[Span], list[str]]:
        """The spans of a kind whose both ends are known, and BIO tags of all tokens, "" where they are unknown."""
        spans: list[Span] = []
        bio: list[str] = []
        for tags in (sentence.columns[kind] for sentence in sentences):
            first = len(bio)
            if tags.count(OUTSIDE) == len(tags):  # most have none
                bio += tags
                continue
            found, own = settle_spans(tags, untyped=untyped)
            spans += [Span(doc, first + start, first + end, label=self.strings(label)) for start, end, label in found]
            bio += own
        return spans, bio


def _write_beside(doc: Doc, sentences: Sequence[Sentence]) -> None:
    """Keep what a file has beside the words of sentences, by the characters of these."""
    first = 0
    for sentence in sentences:
        whole = [(0, len(sentence.words), list(sentence.comments))] if sentence.comments else []
        for key, found in ((COMMENTS, whole), (SURFACES, sentence.surfaces)):
            for start, end, value in found:
                words = doc[first + start : first + end]
                user_data(doc).setdefault(key, []).append([words.start_char, words.end_char, value])
        first += len(sentence.words)


def copy_text_notes(doc: Doc, other: Doc, *, first: bool = True, last: bool = True) -> None:
    """Give another Doc, or a part of a Doc, the name, how the text was prepared, and whether it goes on.

    first, last (bool): Whether it has the first and the last token.
    """
    for name in (DOC_NAME, TEXT_SETTINGS):
        if (value := read_value(doc, name)) is not None:
            write_value(other, name, value)
    copy_truncated(doc, other, first=first, last=last)


def copy_sentences(doc: Doc, other: Doc) -> None:
    """Give another Doc without sentences those of a Doc with the same tokens, or the same ones but for white space."""
    is_same, known = len(doc) == len(other), doc.has_annotation("SENT_START")
    own, theirs = (np.flatnonzero(is_same | ~is_white_space(one)) for one in (doc, other))
    if known and not other.has_annotation("SENT_START") and len(own) == len(theirs):
        starts = np.full(len(other), -1).astype(np.uint64)
        starts[theirs] = doc.to_array(SENT_START)[own]
        other.from_array([SENT_START], cast(Ints2d, starts))


# -- the predicted side of a training example ----------------------------------------------------------------


def admit(nlp: Language, length: int) -> None:
    """Let a pipeline take a text of so many characters: its `max_length` grows to that.

    The limit is for what spaCy's parser needs of memory. But `nlp.evaluate` also refuses a longer Doc that was made
    already, since it has the texts of all references tokenized once more, for its clock.
    """
    nlp.max_length = max(nlp.max_length, length)


def make_doc(nlp: Language, text: str) -> Doc:
    """Make a Doc of a text of any length, as `nlp.make_doc` does up to `nlp.max_length`."""
    admit(nlp, len(text))
    return nlp.make_doc(text)


RawFormat = Literal["text", "prose", "words"]
CJK_MARKS = re.compile("[\u3001\u3002\uff01\uff0c\uff1b\uff1f]")  # in lines that have no spaces, yet are no words


def holds_words(path: Path) -> bool:
    """Whether a file has one word on each of several lines; most others tell so by their first line."""
    n_words = 0
    for line in filter(None, map(str.strip, read_lines(path))):
        if len(line.split()) > 1 or CJK_MARKS.search(line):
            return False
        n_words += 1
    return n_words > 1


def read_raw(nlp: Language, path: Path, format: RawFormat) -> Iterator[tuple[int, Doc]]:
    """Yield Docs of a file without annotation, with the line where each begins, from 1.

    format (str): "text", a Doc for each line; "words", a word on each line and an empty line behind each sentence;
        "prose", paragraphs between empty lines, whose sentences end at their marks unless the pipeline finds them.
    """
    if format == "text":
        yield from ((number, make_doc(nlp, line)) for number, line in enumerate(read_lines(path), 1) if line.strip())
        return
    assigned = {name for pipe in nlp.pipe_names for name in nlp.get_pipe_meta(pipe).assigns}
    cut = Sentencizer() if not assigned & {"doc.sents", "token.is_sent_start", "token.sent_start"} else None
    for first, lines in read_blocks(path):
        if format == "words":
            if wrong := next((number for number, line in enumerate(lines, first) if len(line.split()) > 1), None):
                raise CRFError(CorpusErrors.CRF845.format(path=path, line=wrong))
            starts: list[bool | int | None] = [number == 0 for number in range(len(lines))]
            yield first, Doc(nlp.vocab, words=[line.strip() for line in lines], sent_starts=starts)
        else:
            doc = make_doc(nlp, join_lines(lines))
            yield first, cut(doc) if cut else doc


def count_characters(doc: Doc) -> int:
    """The length of `doc.text`, which itself takes long to make."""
    return doc[-1].idx + len(doc[-1].text_with_ws) if len(doc) else 0


def copy_tokens(reference: Doc, kinds: Sequence[str]) -> Doc:
    """The predicted Doc: the file's own tokens and sentence starts. kinds (Sequence[str]): Annotation to copy too."""
    # Arrays, as a Token object for each word takes most of the time.
    words, spaces = reference.to_array(ORTH).tolist(), reference.to_array(SPACY).astype(bool).tolist()
    doc = Doc(reference.vocab, words=words, spaces=None if reference.has_unknown_spaces else spaces)
    attributes = [SENT_START, *(ATTRIBUTES[kind] for kind in kinds if kind in ATTRIBUTES)]
    attributes += ENTITY_ATTRIBUTES if ENTITIES in kinds else ()
    doc.from_array(attributes, cast(Ints2d, reference.to_array(attributes)))
    for key in filter(None, map(spans_key, kinds)):
        if key in reference.spans:
            doc.spans[key] = reference.spans[key].copy(doc=doc)
    copy_values(reference, doc, filter(None, map(extension_name, kinds)))
    copy_truncated(reference, doc)
    user_data(doc).update(
        {key: user_data(reference)[key] for key in (COMMENTS, SURFACES) if key in reference.user_data}
    )
    return doc


def align_annotation(example: Example, kinds: Sequence[str]) -> None:
    """Copy kinds of annotation to the predicted Doc of an example, which has other tokens, as far as these agree."""
    predicted, reference = example.predicted, example.reference
    for kind in kinds:
        key, name = spans_key(kind), extension_name(kind)
        if kind in ATTRIBUTES:
            for token, value in zip(predicted, example.get_aligned(kind.upper(), as_string=True)):
                if value and kind == "morph":
                    cast(Any, token).set_morph(value)  # missing from spaCy's type stubs
                elif value:
                    setattr(token, f"{kind}_", value)
        elif kind == ENTITIES:
            entities, tags = example.get_aligned_ents_and_ner()
            predicted.set_ents(entities, missing=[predicted[i : i + 1] for i, tag in enumerate(tags) if tag is None])
        elif key and key in reference.spans:
            predicted.spans[key] = example.get_aligned_spans_y2x(reference.spans[key], allow_overlap=True)
        elif name:
            for token, indices in zip(predicted, example.alignment.x2y):
                values = {reference[int(i)]._.get(name) for i in indices}
                if len(values) == 1:
                    token._.set(name, values.pop())


def read_kind(span: Span, kind: str) -> list[str]:
    """One kind of annotation of a part of a Doc such as "tag" or "spans:sc", as text formats spell it.

    Spans are BIO tags, as far as they lie in the part; "" is unknown.
    """
    key, name = spans_key(kind), extension_name(kind)
    if name:
        return ["" if token._.get(name) is None else str(token._.get(name)) for token in span]
    if kind in ATTRIBUTES:
        return [str(token.morph) if kind == "morph" else getattr(token, f"{kind}_") for token in span]
    found = span.doc.ents if kind == ENTITIES else span.doc.spans.get(key or "", ())
    tags = [MISSING if kind == ENTITIES and not token.ent_iob else OUTSIDE for token in span]
    inside = [other for other in found if span.start <= other.start and other.end <= span.end]
    return bio_tags(filter_spans(inside), tags, span.start)

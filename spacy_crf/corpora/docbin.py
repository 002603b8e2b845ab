"""spaCy's binary format: documents stored with DocBin."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

import numpy as np
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.tokens.doc import DOCBIN_ALL_ATTRS
from spacy.vocab import Vocab
from thinc.types import Ints2d

from ..annotation.documents import read_doc_name, write_doc_name
from ..annotation.extensions import (
    copy_values,
    note_whole,
    register,
    register_stored,
    stored_names,
    write_known,
)
from ..annotation.gold import partial_extension, partial_tags
from ..annotation.span_targets import without_overlaps
from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from ..reading.files import check_unpacking, read_bytes
from .docs import copy_text_notes
from .errors import CorpusErrors
from .files import number_name
from .sentence import MISSING, Group, bio_tags

ATTRIBUTES: list[int | str] = list(DOCBIN_ALL_ATTRS)
ENTITY_COLUMNS = [ATTRIBUTES.index(name) for name in ("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")]
CROSSING = -1  # the number of a span that lies in more than one part


def read_docbin(path: Path, vocab: Vocab, group: Group = "auto", name: str = "") -> Iterator[Doc]:
    """Yield the documents of a `.spacy` file, or parts of them with their name; those without tokens are left out.

    group (Group): "sentence" or a number to split documents after so many sentences; they are never joined.
    name (str): Of the file, for documents that were stored without a name.
    """
    for number, doc in enumerate(_read_stored(path, vocab), 1):
        if len(doc) == 0:
            continue
        for extension in stored_names(doc):
            register(Token, extension, default="")
        own = read_doc_name(doc) or number_name(name, number)
        write_doc_name(doc, own)
        if group in ("auto", "document"):
            yield doc
        elif not doc.has_annotation("SENT_START"):
            raise CRFError(CorpusErrors.CRF521.format(path=path, number=number, group=group))
        else:
            starts = [sentence.start for sentence in doc.sents]
            for part in cut_doc(doc, starts[:: group if isinstance(group, int) else 1]):
                yield write_doc_name(part, own)


def _read_stored(path: Path, vocab: Vocab) -> Iterator[Doc]:
    data = read_bytes(path)
    try:
        check_unpacking(path, data)
        yield from DocBin().from_bytes(data).get_docs(vocab)
    except CRFError:
        raise
    # Damaged data fails anywhere between zlib, msgpack, numpy and Doc, with whatever error they have.
    except Exception as err:
        raise CRFError(CorpusErrors.CRF517.format(path=path, reason=err)) from err


def cut_doc(doc: Doc, starts: list[int], asks_whole: bool = False) -> Iterator[Doc]:
    """Cut a document before given tokens.

    starts (list[int]): Where parts begin, ascending, from 0 on; at beginnings of sentences, if it has any.
    asks_whole (bool): Whether what computes custom attributes of a part's tokens looks at all of the document.
    YIELDS (Doc): One part, with annotation, span groups and custom attributes of tokens, its name, and how its text was
        prepared. Of a span that lies in more than one part, nothing is known in any of them.
    """
    array = np.asarray(doc.to_array(ATTRIBUTES), dtype=np.uint64)
    for entity in _place_spans(doc.ents, starts)[CROSSING]:
        array[entity.start : entity.end, ENTITY_COLUMNS] = 0
    groups = {key: _place_spans(group, starts) for key, group in doc.spans.items()}
    gold = _partial_gold(doc, groups, starts)
    extensions = stored_names(doc) - set(gold)
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(doc)])):
        words = [token.text for token in doc[start:end]]
        spaces = [bool(token.whitespace_) for token in doc[start:end]]
        part = Doc(doc.vocab, words=words, spaces=None if doc.has_unknown_spaces else spaces)
        part.from_array(ATTRIBUTES, cast(Ints2d, array[start:end]))
        for key, placed in groups.items():
            tags = gold.get(partial_extension("spans", key) or "")
            if tags is None or any(tags[start:end]):
                part.spans[key] = [
                    Span(part, one.start - start, one.end - start, label=one.label, kb_id=one.kb_id, span_id=one.id)
                    for one in placed[number]
                ]
        copy_values(doc, part, extensions, range(start, end))
        for name, tags in gold.items():
            register_stored(name)
            write_known(part, name, tags[start:end])
        copy_text_notes(doc, part, first=start == 0, last=end == len(doc))
        if asks_whole:
            note_whole(part, doc, range(start, end))
        yield part


def _place_spans(group: Iterable[Span], starts: list[int]) -> defaultdict[int, list[Span]]:
    """The spans that lie in each part, by the number of the part; those that lie in more than one as `CROSSING`."""
    placed: defaultdict[int, list[Span]] = defaultdict(list)
    for span in group:
        number = bisect_right(starts, span.start) - 1
        is_inside = number == bisect_right(starts, max(span.start, span.end - 1)) - 1
        placed[number if is_inside else CROSSING].append(span)
    return placed


def _partial_gold(doc: Doc, groups: Mapping[str, Mapping[int, list[Span]]], starts: list[int]) -> dict[str, list[str]]:
    """The BIO tags that parts need to tell what is known of their spans, by the names of their attributes."""
    found = {("ent", ""): partial_tags(doc, "ent", "")}
    for key, placed in groups.items():
        has_tags = partial_tags(doc, "spans", key)
        found["spans", key] = has_tags or (_tag_spans(doc, doc.spans[key]) if CROSSING in placed else None)
    tags = {partial_extension(*own) or "": own_tags for own, own_tags in found.items() if own_tags}
    return {name: _forget_crossing(own_tags, starts) for name, own_tags in tags.items()}


def _tag_spans(doc: Doc, group: Iterable[Span]) -> list[str]:
    """BIO tags of a span group; "" where spans overlap."""
    spans = [span for span in group if len(span)]
    tags = [OUTSIDE] * len(doc)
    for span in spans:
        tags[span.start : span.end] = [MISSING] * len(span)
    return bio_tags(without_overlaps(spans), tags)


def _forget_crossing(tags: list[str], starts: list[int]) -> list[str]:
    """BIO tags without those of spans that go on, or may go on, behind a cut."""
    known = list(tags)
    for start in starts[1:]:
        low = high = start
        while high < len(known) and known[high].startswith("I"):
            high += 1
        if high == start and known[start]:
            continue
        while low > 0 and known[low - 1].startswith("I"):
            low -= 1
        low -= low > 0 and known[low - 1].startswith("B")
        known[low:high] = [MISSING] * (high - low)
    return known

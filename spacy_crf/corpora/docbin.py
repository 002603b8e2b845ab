"""spaCy's binary format: documents stored with DocBin."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import numpy as np
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.tokens.doc import DOCBIN_ALL_ATTRS
from spacy.vocab import Vocab
from thinc.types import Ints2d

from ..annotation.extensions import copy_values, register, stored_names
from ..core.errors import CRFError
from ..reading.files import check_unpacking, read_bytes
from .docs import read_doc_name, write_doc_name
from .errors import CorpusErrors
from .files import number_name
from .sentence import Group

# How spaCy numbers the values of ENT_IOB.
INSIDE, BEGIN = 1, 3
ATTRIBUTES: list[int | str] = list(DOCBIN_ALL_ATTRS)
ENT_IOB_COLUMN = ATTRIBUTES.index("ENT_IOB")


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


def cut_doc(doc: Doc, starts: list[int]) -> Iterator[Doc]:
    """Cut a document before given tokens.

    starts (list[int]): Where parts begin, ascending, from 0 on; at beginnings of sentences, if it has any.
    YIELDS (Doc): One part, with annotation, span groups and custom attributes of tokens. A span in a group that lies in
        more than one part is in none.
    """
    array = np.asarray(doc.to_array(ATTRIBUTES), dtype=np.uint64)
    # An entity that reaches into the next part is cut in two.
    entity_iob = array[starts, ENT_IOB_COLUMN]
    array[starts, ENT_IOB_COLUMN] = np.where(entity_iob == INSIDE, BEGIN, entity_iob)
    extensions = stored_names(doc)
    groups = {key: _place_spans(group, starts) for key, group in doc.spans.items()}
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(doc)])):
        words = [token.text for token in doc[start:end]]
        spaces = [bool(token.whitespace_) for token in doc[start:end]]
        part = Doc(doc.vocab, words=words, spaces=None if doc.has_unknown_spaces else spaces)
        part.from_array(ATTRIBUTES, cast(Ints2d, array[start:end]))
        for key, placed in groups.items():
            part.spans[key] = [
                Span(part, one.start - start, one.end - start, label=one.label, kb_id=one.kb_id, span_id=one.id)
                for one in placed[number]
            ]
        copy_values(doc, part, extensions, start)
        yield part


def _place_spans(group: Iterable[Span], starts: list[int]) -> defaultdict[int, list[Span]]:
    """The spans that lie in each part, by the number of the part."""
    placed: defaultdict[int, list[Span]] = defaultdict(list)
    for span in group:
        number = bisect_right(starts, span.start) - 1
        if number == bisect_right(starts, span.end - 1) - 1:
            placed[number].append(span)
    return placed

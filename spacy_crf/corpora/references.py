"""References with tagged fields as gold: each token has the label of its field."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from spacy.util import registry

from ..annotation.extensions import register_stored
from ..core.errors import CoreErrors, CRFError
from .kinds import ENTITIES, EXTENSION_PREFIX, SPANS_PREFIX
from .reference_markup import LETTER_OR_DIGIT, Field, read_markup
from .sentence import Sentence
from .spans import MISSING
from .tokenizer import TOKEN

CORA = (
    *("author", "booktitle", "date", "editor", "institution", "journal", "location", "note", "pages", "publisher"),
    *("tech", "title", "volume"),
)
ANYSTYLE = (
    *("citation-number", "collection-number", "collection-title", "container-title", "director", "doi", "edition"),
    *("genre", "isbn", "medium", "producer", "source", "translator", "url"),
)
FIELDS = frozenset(name.upper() for name in (*CORA, *ANYSTYLE))
GAP = "gap"


@dataclass(frozen=True)
class ReferenceSettings:
    """What becomes of tagged references. See `make_reference_settings` for the settings."""

    punctuation: bool = True
    ents: bool = False
    spans_key: str | None = None
    fields: frozenset[str] = FIELDS


@registry.misc("spacy_crf.References.v1")
def make_reference_settings(
    punctuation: bool = True, ents: bool = False, spans_key: str | None = None, fields: list[str] | None = None
) -> ReferenceSettings:
    """How tagged references are read: the block `references` of spacy_crf.Corpus.v1.

    punctuation (bool): Whether punctuation marks are tokens. If not, each token has the marks between the token before
        and itself, as they are printed, in `token._.gap`; give the reader `input = ["ext:gap"]` to let components see
        them. The marks behind the last token, and the offsets in the printed text, are then lost.
    ents (bool): Whether each field is also an entity of `doc.ents`.
    spans_key (str | None): Where each field is also a span, `doc.spans[spans_key]`; null for nowhere.
    fields (list[str] | None): The names of the fields; null for those of Cora, ParsCit and AnyStyle. References with
        other fields are left out with a warning.
    RETURNS (ReferenceSettings): The settings.
    RAISES (ValueError): For names that are empty.
    """
    if spans_key == "":
        raise CRFError(CoreErrors.CRF549.format(name="spans_key", value=spans_key, expected="null or a name"))
    if fields is not None and not all(fields):
        raise CRFError(CoreErrors.CRF549.format(name="fields", value=fields, expected="null or names of fields"))
    known = FIELDS if fields is None else frozenset(name.upper() for name in fields)
    return ReferenceSettings(punctuation, ents, spans_key, known)


class _Token(NamedTuple):
    """A token of a reference: its offsets in the text, and the number of its field."""

    start: int
    end: int
    field: int


def read_references(path: Path, settings: ReferenceSettings | None = None) -> Iterator[Sentence]:
    """Yield tagged references, each of which is one document and one sequence.

    A token is a maximal run of letters and digits, or one other character. Runs of white space count as one space, so
    the text of the Doc is that of the reference. Tokens outside of fields have no gold.

    path (Path): A text file or an XML file, see `reference_markup`.
    settings (ReferenceSettings | None): What becomes of the references; None for the defaults.
    YIELDS (Sentence): With labels in "tag", and as settings ask in "ner", "spans:KEY" and "ext:gap".
    RAISES (ValueError): For a file that cannot be decoded, or malformed XML; faulty references are left out with a
        warning.
    """
    settings = settings or ReferenceSettings()
    if not settings.punctuation:
        register_stored(GAP)
    for _, fields in read_markup(path, settings.fields):
        sentence = _make_sentence(fields, settings)
        if sentence.words:
            yield sentence


def _make_sentence(fields: Sequence[Field], settings: ReferenceSettings) -> Sentence:
    text = "".join(field.text for field in fields)
    tokens = list(_tokenize(fields))
    if not settings.punctuation:
        tokens = [token for token in tokens if LETTER_OR_DIGIT.match(text, token.start)]
    words = [text[token.start : token.end] for token in tokens]
    gaps = [text[before.end : token.start] for before, token in itertools.pairwise(tokens)]
    # marks that are left out leave a space
    spaces = [gap != "" for gap in gaps] + [False] * bool(tokens)
    columns = {"tag": [fields[token.field].label for token in tokens]}
    if settings.ents or settings.spans_key:
        spans = _tag_fields(fields, tokens)
        columns |= {ENTITIES: spans} if settings.ents else {}
        columns |= {f"{SPANS_PREFIX}{settings.spans_key}": spans} if settings.spans_key else {}
    if not settings.punctuation:
        lead = text[: tokens[0].start] if tokens else ""
        columns[f"{EXTENSION_PREFIX}{GAP}"] = [" ".join(gap.split()) for gap in (lead, *gaps)]
    return Sentence(words, columns, spaces, starts_document=True)


def _tokenize(fields: Sequence[Field]) -> Iterator[_Token]:
    offset = 0
    for number, field in enumerate(fields):
        for match in TOKEN.finditer(field.text):
            yield _Token(offset + match.start(), offset + match.end(), number)
        offset += len(field.text)


def _tag_fields(fields: Sequence[Field], tokens: Sequence[_Token]) -> list[str]:
    """BIO tags: a span begins where its field does, whatever is before; "" outside of fields."""
    tags, before = [], -1
    for token in tokens:
        label = fields[token.field].label
        tags.append(f"{'I' if token.field == before else 'B'}-{label}" if label else MISSING)
        before = token.field
    return tags

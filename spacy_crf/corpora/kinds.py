"""The kinds of annotation a corpus can hold, and the names they have in the settings."""

from collections.abc import Sequence

from ..core.errors import CRFError
from .errors import CorpusErrors

WORD = "word"
SKIPPED = "_"
TOKEN_KINDS = ("lemma", "pos", "tag", "morph")
ENTITIES = "ner"
CHUNKS = "chunk"
SPANS_PREFIX = "spans:"
EXTENSION_PREFIX = "ext:"
ANNOTATIONS = (*TOKEN_KINDS, ENTITIES, CHUNKS, f"{SPANS_PREFIX}KEY", f"{EXTENSION_PREFIX}NAME")


def spans_key(kind: str) -> str | None:
    """The key in `doc.spans` that a kind of annotation is written to.

    kind (str): A column name, e.g. "chunk" or "spans:sc".
    RETURNS (str | None): The key; None if the kind is not a span group.
    """
    if kind == CHUNKS:
        return "chunks"
    return kind.removeprefix(SPANS_PREFIX) if kind.startswith(SPANS_PREFIX) else None


def extension_name(kind: str) -> str | None:
    """The custom token attribute that a kind of annotation is written to.

    kind (str): A column name, e.g. "ext:case".
    RETURNS (str | None): The name behind `token._.`; None if the kind is not a custom attribute.
    """
    return kind.removeprefix(EXTENSION_PREFIX) if kind.startswith(EXTENSION_PREFIX) else None


def validate_columns(columns: Sequence[str]) -> None:
    """Raise an error unless the names describe the columns of a file.

    columns (Sequence[str]): The setting `columns`.
    """
    for name in columns:
        if name not in (WORD, SKIPPED) and not _is_annotation(name):
            known = (WORD, *ANNOTATIONS, SKIPPED)
            raise CRFError(CorpusErrors.CRF508.format(setting="columns", name=name, known=", ".join(known)))
    named = [name for name in columns if name != SKIPPED]
    if WORD not in named or len(set(named)) != len(named):
        raise CRFError(CorpusErrors.CRF509.format(columns=", ".join(columns)))


def validate_input(kinds: Sequence[str]) -> None:
    """Raise an error unless all names are annotations that can be given to the pipeline as input.

    kinds (Sequence[str]): The setting `input`.
    """
    for name in kinds:
        if not _is_annotation(name):
            raise CRFError(CorpusErrors.CRF508.format(setting="input", name=name, known=", ".join(ANNOTATIONS)))


def _is_annotation(name: str) -> bool:
    return name in (*TOKEN_KINDS, ENTITIES, CHUNKS) or bool(spans_key(name) or extension_name(name))

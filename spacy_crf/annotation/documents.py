"""The names of documents, by which Docs that are parts of one belong together."""

from collections.abc import Iterable

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..core.arrays import Indices
from .extensions import read_value, register, write_value

DOC_NAME = "doc_name"


def register_doc_name() -> None:
    """Make `doc._.doc_name` available, which is "" for a Doc without a name."""
    register(Doc, DOC_NAME, default="")


def read_doc_name(doc: Doc) -> str:
    """The name of the document that a Doc is, or is a part of; "" if it has none."""
    return str(read_value(doc, DOC_NAME) or "")


def write_doc_name(doc: Doc, name: str) -> Doc:
    """Give a Doc the name of the document that it is, or is a part of, and return it."""
    write_value(doc, DOC_NAME, name)
    return doc


def number_documents(names: Iterable[str]) -> Indices:
    """((D,)): numbers of the documents that Docs are, or are parts of, by their names; "" is a document of its own."""
    numbers: dict[str | int, int] = {}
    return np.array([numbers.setdefault(name or k, len(numbers)) for k, name in enumerate(names)], dtype=np.intp)


def document_numbers(examples: Iterable[Example]) -> Indices:
    """((D,)): the same for examples whose references are of one document, by their names."""
    return number_documents(read_doc_name(example.reference) for example in examples)

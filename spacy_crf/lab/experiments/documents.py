"""The documents of a corpus as examples, and parts of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...core.arrays import Indices
from ...core.errors import CRFError
from ...corpora.docbin import cut_doc
from ...corpora.docs import read_doc_name
from ..errors import LabErrors
from .layout import Layout

Reader = Callable[[Language], Iterable[Example]]


@dataclass(frozen=True)
class Pool:
    """Examples in the order of their documents.

    layout (Layout): their sentences. examples (tuple[Example, ...]): E of them, none empty.
    owners (tuple[int, ...]): the document of each. starts (tuple[list[int], ...]): tokens at which the sentences of
        each begin.
    """

    layout: Layout
    examples: tuple[Example, ...]
    owners: tuple[int, ...]
    starts: tuple[list[int], ...]

    def take(self, sentences: Indices) -> list[tuple[int, Example]]:
        """Some sentences, as few examples as possible: whole ones as they are, runs of sentences cut out.

        sentences: their numbers, ascending.
        RETURNS (list): number of the document and example, in order.
        RAISES (ValueError): for a part of a document that the pipeline has tokenized otherwise than its gold.
        """
        chosen = np.zeros(len(self.layout.lengths), dtype=bool)
        chosen[sentences] = True
        found: list[tuple[int, Example]] = []
        first = 0
        for owner, example, starts in zip(self.owners, self.examples, self.starts):
            own = chosen[first : first + len(starts)]
            first += len(starts)
            if own.all():
                found.append((owner, example))
            elif own.any():
                parts = self._cut(owner, example, starts, own.tolist())
                found += [(owner, part) for part in parts]
        return found

    def _cut(self, owner: int, example: Example, starts: list[int], chosen: Sequence[bool]) -> list[Example]:
        reference, predicted = example.reference, example.predicted
        if not np.array_equal(reference.to_array(ORTH), predicted.to_array(ORTH)):
            raise CRFError(LabErrors.CRF616.format(document=self.layout.names[owner]))
        runs = [(next(run)[0], is_chosen) for is_chosen, run in groupby(zip(starts, chosen), key=lambda pair: pair[1])]
        borders = [start for start, _ in runs]
        pairs = zip(cut_doc(predicted, borders), cut_doc(reference, borders), runs)
        return [Example(seen, gold) for seen, gold, (_, is_chosen) in pairs if is_chosen]


def read_pool(nlp: Language, readers: Sequence[Reader]) -> Pool:
    """Read corpora.

    Docs of one corpus that have the same name (`doc._.doc_name`) are parts of one document; one without a name is a
    document of its own. A Doc without sentence boundaries is one sentence.

    nlp (Language): the pipeline that is to see the examples. readers (Sequence): the corpora, as in a config.
    RETURNS (Pool): documents in the order in which they come.
    RAISES (ValueError): where there is no example with a token.
    """
    numbers: dict[tuple[int, str], int] = {}
    read: list[tuple[int, Example]] = []
    for source, reader in enumerate(readers):
        for example in reader(nlp):
            if len(example.reference) and len(example.predicted):
                name = read_doc_name(example.reference) or f"document {len(numbers) + 1}"
                read.append((numbers.setdefault((source, name), len(numbers)), example))
    if not read:
        raise CRFError(LabErrors.CRF617)
    read.sort(key=lambda pair: pair[0])
    owners, examples = zip(*read)
    starts = tuple(_find_starts(example.reference) for example in examples)
    lengths = [np.diff([*own, len(example.reference)]) for own, example in zip(starts, examples)]
    documents = np.repeat(owners, [len(own) for own in starts])
    layout = Layout(_distinct(list(numbers)), documents.astype(np.intp), np.concatenate(lengths).astype(np.intp))
    return Pool(layout, examples, owners, starts)


def _find_starts(doc: Doc) -> list[int]:
    return [sentence.start for sentence in doc.sents] if doc.has_annotation("SENT_START") else [0]


def _distinct(keys: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Names, with the number of the corpus where two corpora have the same."""
    names = [name for _, name in keys]
    return tuple(name if names.count(name) == 1 else f"{name} (corpus {source + 1})" for source, name in keys)


def by_document(pieces: Sequence[tuple[int, Example]]) -> dict[int, list[Example]]:
    """Examples of each document.

    pieces (Sequence): numbers of documents, ascending, and examples.
    """
    return {number: [example for _, example in own] for number, own in groupby(pieces, key=lambda piece: piece[0])}

"""The documents of a corpus as examples, parts of them for spaCy's training, how far apart they are, and other labels
for their gold.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Literal
from uuid import uuid4

import numpy as np
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import dot_to_object, resolve_dot_names
from thinc.api import Config

from ..annotation.documents import read_doc_name
from ..annotation.gold import partial_tags, write_partial
from ..core.arrays import Doubles, Indices, Numbered, Segments, dense_rows
from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from ..corpora.docbin import cut_doc
from .block import SELECTIONS, Reader
from .errors import LabErrors
from .sampling import CorpusLayout
from .training import scored_texts

Grams = Literal["characters", "words"]
Purpose = Literal["training", "scores"]
Labels = Mapping[str, str]
VECTORS = ["doc.tensor"]  # what a component assigns that gives vectors alone


@dataclass(frozen=True)
class Pool:
    """Examples in the order of their documents.

    layout (CorpusLayout): their sentences. examples (tuple[Example, ...]): E of them, none empty.
    owners (tuple[int, ...]): the document of each. starts (tuple[list[int], ...]): tokens at which the sentences of
        each begin.
    asks_whole (bool): whether what computes custom attributes of tokens looks at whole Docs, also where they are cut;
        not in pipelines of several components, as the first ones write to parts alone what the others look at.
    """

    layout: CorpusLayout
    examples: tuple[Example, ...]
    owners: tuple[int, ...]
    starts: tuple[list[int], ...]
    asks_whole: bool = False

    def take(self, sentences: Indices) -> list[tuple[int, Example]]:
        """Return some sentences as few examples, with the number of their document: whole ones, or runs of them."""
        chosen = np.zeros(len(self.layout.lengths), dtype=bool)
        chosen[sentences] = True
        found: list[tuple[int, Example]] = []
        each = Segments.of(self.starts).split(chosen)
        for owner, example, starts, own in zip(self.owners, self.examples, self.starts, each):
            if own.all():
                found.append((owner, example))
            elif own.any():
                found += [(owner, part) for part in self._cut(owner, example, starts, own.tolist())]
        return found

    def _cut(self, owner: int, example: Example, starts: list[int], chosen: Sequence[bool]) -> list[Example]:
        reference, predicted = example.reference, example.predicted
        if not np.array_equal(reference.to_array(ORTH), predicted.to_array(ORTH)):
            raise CRFError(LabErrors.CRF616.format(document=self.layout.names[owner]))
        runs = [(next(run)[0], is_chosen) for is_chosen, run in groupby(zip(starts, chosen), key=lambda pair: pair[1])]
        borders = [start for start, _ in runs]
        pairs = zip(cut_doc(predicted, borders, self.asks_whole), cut_doc(reference, borders), runs)
        return [Example(seen, gold) for seen, gold, (_, is_chosen) in pairs if is_chosen]


def read_pool(nlp: Language, readers: Sequence[Reader]) -> Pool:
    """Read corpora for a pipeline, in the order in which their documents come.

    Docs of one corpus that have the same name (`doc._.doc_name`) are parts of one document; one without a name is a
    document of its own. A Doc without sentence boundaries is one sentence. There must be an example with a token.
    """
    numbers = Numbered[tuple[int, str]]()
    read: list[tuple[int, Example]] = []
    for source, reader in enumerate(readers):
        for example in reader(nlp):
            if len(example.reference) and len(example.predicted):
                name = read_doc_name(example.reference) or f"document {len(numbers) + 1}"
                read.append((numbers.number((source, name)), example))
    if not read:
        raise CRFError(LabErrors.CRF617)
    read.sort(key=lambda pair: pair[0])
    owners, examples = zip(*read)
    docs = [example.reference for example in examples]
    starts = tuple([s.start for s in doc.sents] if doc.has_annotation("SENT_START") else [0] for doc in docs)
    lengths = [np.diff([*own, len(doc)]) for own, doc in zip(starts, docs)]
    documents = np.repeat(owners, [len(own) for own in starts])
    shared = Counter(name for _, name in numbers)
    names = tuple(name if shared[name] == 1 else f"{name} (corpus {source + 1})" for source, name in numbers)
    layout = CorpusLayout(names, documents.astype(np.intp), np.concatenate(lengths).astype(np.intp))
    annotating = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).assigns != VECTORS]
    return Pool(layout, examples, owners, starts, asks_whole=len(annotating) == 1)


def by_document(pieces: Sequence[tuple[int, Example]]) -> dict[int, list[Example]]:
    """Group examples by document."""
    return {number: [example for _, example in own] for number, own in groupby(pieces, key=lambda piece: piece[0])}


# -- parts for training ------------------------------------------------------------------------------------------


class Source:
    """The corpora of a complete config, read once for each pipeline that asks, as a Doc belongs to one vocabulary; and
    once more to be scored, where the dev corpus says otherwise whether punctuation is."""

    def __init__(self, config: Config, with_dev: bool = False):
        training = config["training"]
        names = [training["train_corpus"], *([training["dev_corpus"]] if with_dev else [])]
        plain = config.interpolate()
        self._readers: dict[Purpose, list[Reader]] = {"training": list(resolve_dot_names(plain, names))}
        for name, reader in zip(names, self._readers["training"]):
            if getattr(reader, "augmenter", None) is not None:
                raise CRFError(LabErrors.CRF550.format(name=name))
        if changes := scored_texts(plain):
            dot_to_object(plain, names[0]).update(changes)
            self._readers["scores"] = list(resolve_dot_names(plain, names))
        self._read: dict[Purpose, tuple[Language, Pool]] = {}

    def read(self, nlp: Language, purpose: Purpose = "training") -> Pool:
        """Return the documents, as a pipeline sees them."""
        purpose = purpose if purpose in self._readers else "training"
        if purpose not in self._read or self._read[purpose][0] is not nlp:
            self._read[purpose] = nlp, read_pool(nlp, self._readers[purpose])
        return self._read[purpose][1]


@contextmanager
def selected(source: Source, sentences: Indices, purpose: Purpose) -> Iterator[dict[str, str]]:
    """Hold some sentences for spaCy's own training, which asks for corpora by name, and yield the reader's block."""
    key = uuid4().hex
    SELECTIONS[key] = lambda nlp: [example for _, example in source.read(nlp, purpose).take(sentences)]
    try:
        yield {"@readers": "spacy_crf.Selection.v1", "key": key}
    finally:
        del SELECTIONS[key]


# -- distances ---------------------------------------------------------------------------------------------------


def count_grams(words: Iterable[str], grams: Grams = "characters", size: int = 3) -> Counter[str]:
    """Count n-grams of a document, in lower case.

    grams (str): "characters" of each word between blanks, which mark its ends, so that spellings of one word share
        most of theirs; or whole "words", of which `size` is not asked.
    size (int): characters of an n-gram; a word with fewer is one.
    """
    counts: Counter[str] = Counter()
    for word, times in Counter(word.lower() for word in words).items():
        text = f" {word} "
        pieces = [word] if grams == "words" else [text[i : i + size] for i in range(max(1, len(text) - size + 1))]
        for piece in pieces:
            counts[piece] += times
    return counts


def jensen_shannon(counts: Sequence[Counter[str]]) -> Doubles:
    """Return distances ((D, D)) of all pairs of documents. O(D^2 V) for V n-grams.

    The square root of the Jensen-Shannon divergence to base 2, a metric (Endres and Schindelin 2003): 0 for equal
    distributions, 1 for documents that share nothing.

    counts (Sequence[Counter]): of the D documents; one without n-grams is at distance 1 from all others.
    """
    from scipy.spatial.distance import pdist, squareform

    number = {gram: column for column, gram in enumerate(sorted(set().union(*counts)))}
    distances = np.zeros((len(counts), len(counts)))
    if len(counts) > 1:
        distances = squareform(pdist(dense_rows(counts, number), "jensenshannon")) / np.sqrt(np.log(2))
    # infinite for a document without n-grams, and NaN where rounding makes the divergence of near equals negative
    return np.minimum(np.nan_to_num(distances, nan=0.0, posinf=1.0), 1.0)


# -- labels that count as others ---------------------------------------------------------------------------------


def replace_labels(doc: Doc, labels: Labels, target: str, spans_key: str) -> None:
    """Replace the labels of a Doc, where a target has them. Spans of a sentence that touch, and have become of one
    label, are joined, also with one whose other end is not known; those that count as O, for outside, are left out.

    target (str): "ent", "spans" or "tag". spans_key (str): of the group, for "spans".
    RAISES (ValueError): for another target.
    """
    tags = _join_tags(doc, partial_tags(doc, target, spans_key) or [], labels)
    if tags:
        write_partial(doc, target, spans_key, tags)
    if target == "ent":
        left_out = [span for span in doc.ents if labels.get(span.label_) == OUTSIDE]
        joined = _join(doc, doc.ents, labels)
        whole = [span for span in joined if _is_whole(span, tags)]
        partly = [span for span in joined if not _is_whole(span, tags)]
        doc.set_ents(whole, outside=left_out, missing=partly, default="unmodified")
    elif target == "spans":
        if spans_key in doc.spans:  # without the group, nothing is known
            joined = _join(doc, doc.spans[spans_key], labels)
            doc.spans[spans_key] = [span for span in joined if _is_whole(span, tags)]
    elif target == "tag":
        for token in doc:
            token.tag_ = labels.get(token.tag_, token.tag_)
    else:
        raise CRFError(LabErrors.CRF668.format(target=target))


def _join(doc: Doc, spans: Iterable[Span], labels: Labels) -> list[Span]:
    """Rename spans; those that touch stay apart where they were of one label before."""
    found: list[Span] = []
    before = ""
    for span in sorted(spans):
        label = labels.get(span.label_, span.label_)
        if labels.get(span.label_) == OUTSIDE:
            continue
        is_apart = before == span.label_ or doc[span.start].is_sent_start
        if not is_apart and found and (found[-1].end, found[-1].label_) == (span.start, label):
            found[-1] = Span(doc, found[-1].start, span.end, label=label)
        else:
            found.append(Span(doc, span.start, span.end, label=label))
        before = span.label_
    return found


def _join_tags(doc: Doc, tags: Sequence[str], labels: Labels) -> list[str]:
    """The same for BIO tags, "" where unknown."""
    found: list[str] = []
    for token, before, tag in zip(doc, ["", *tags], tags):
        label = labels.get(tag[2:], tag[2:])
        is_apart = before[2:] == tag[2:] or token.is_sent_start
        is_joined = bool(found) and not is_apart and found[-1][2:] == label
        is_outside = label in ("", OUTSIDE)
        found.append((tag and OUTSIDE) if is_outside else f"{'I' if is_joined else tag[0]}-{label}")
    return found


def _is_whole(span: Span, tags: Sequence[str]) -> bool:
    """Whether BIO tags of the tokens, where there are any, do not go on with a span on either side."""
    return not any(tag[:1] == "I" for at in (span.start, span.end) for tag in tags[at : at + 1])

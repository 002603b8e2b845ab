"""Constraints over the probabilities that another component has found: nothing is learned here."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from ..annotation.extensions import register, register_marginals
from ..annotation.target import Decoded, Target
from ..annotation.targets import target_of
from ..core.arrays import Floats
from ..core.batch import pack
from ..core.chain.potentials import ChainPotentials
from ..core.constraints.families import Constraint
from ..core.errors import CRFError, excerpt
from ..core.labels import Scheme, TagSet
from ..features.columns import ColumnReader
from ..features.resources import Resources
from ..pipe.inference import Inference, Prediction, decode_chains
from ..pipe.isolation import IsolatesFailures
from ..pipe.reading import FirstOrderReading
from ..pipe.source import ProbabilitySource
from ..pipe.storage import readable
from .decode_info import constraint_changes, decode_info
from .errors import ConstraintErrors
from .sequence_facts import Annotation, sequence_facts
from .settings import check_predicates, constrained_decoder
from .table import FILE, Entry, Given, check_entries, from_bytes, read_given, to_bytes
from .token_predicates import FactReader

LEAST = float(np.finfo(np.float32).tiny)  # a probability of 0 is one that was rounded


class ConstraintDecoder(IsolatesFailures, Pipe):
    """Labels tokens or spans with the labels of greatest probability that keep constraints.

    nlp (Language): the pipeline. name (str): of the component. constraints (Given): of the config.
    settings (dict): see `decoder_factory.make_constraint_decoder`; kept in `cfg`, and read for each batch.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        *,
        constraints: Given,
        settings: dict[str, Any],
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        self.vocab, self.name, self.scorer, self._nlp = nlp.vocab, name, scorer, nlp
        self.cfg: dict[str, Any] = settings
        if (settings["source"] is None) == (settings["marginals"] is None):
            where = {"source": settings["source"], "marginals": settings["marginals"]}
            raise CRFError(ConstraintErrors.CRF443.format(name=name, **where))
        self._facts = FactReader(settings["predicates"], name)
        self._reader = ColumnReader([], Resources(), settings["sequence"])
        self._entries: list[Entry] = []
        self._checked: TagSet | None = None
        # a trained pipeline brings its constraints along, wherever the file is
        self._missing = constraints if isinstance(constraints, str) and not Path(constraints).exists() else None
        if self._missing is None:
            self._take(read_given(name, constraints))
        self._register_extensions()

    def _register_extensions(self) -> None:
        for name in (self.cfg["info"], self.cfg["changes"]):
            register(Doc, name)
        self.annotation.register()
        register_marginals(self.cfg["marginals"])

    @property
    def annotation(self) -> Target:
        """What is written, under the present settings."""
        return target_of(self.cfg["target"], self.cfg["spans_key"], overwrite=self.cfg["overwrite"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the source; none where the pipeline has no such component."""
        source = self.cfg["source"]
        return () if source is None else ProbabilitySource(self._nlp, self.name, source).labels

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints in force."""
        return [entry.constraint for entry in self._entries]

    @property
    def constraint_entries(self) -> list[Entry]:
        """The same, with what is known of them."""
        return list(self._entries)

    def _take(self, entries: list[Entry]) -> None:
        check_predicates(self.name, (entry.constraint for entry in entries), self.cfg["predicates"])
        self._entries, self._checked, self._missing = entries, None, None

    def predict(self, docs: Sequence[Doc]) -> tuple[TagSet, list[Prediction]]:
        """Decode Docs without changing them.

        RETURNS (tuple): the tags, and a prediction for each Doc.
        RAISES (ValueError): where there are no probabilities, or constraints that name what is not there.
        """
        if self._missing is not None:
            self._take(read_given(self.name, self._missing))
        columns = self._reader.read(docs, self.vocab, self.annotation.reads)
        tags, probabilities = self._probabilities(docs)
        if not len(columns.orths):
            return tags, [Prediction.empty(len(tags)) for _ in docs]
        if self._checked != tags:
            check_entries(self.name, self._entries, tags)
            self._checked = tags
        batch = pack(columns.lengths)
        transitions, start, end = (np.where(allowed, 0.0, -np.inf) for allowed in tags.legal())
        emissions = np.log(np.maximum(np.concatenate(probabilities).astype(np.float64), LEAST))
        chains = ChainPotentials(batch, emissions[batch.units], transitions, start, end)
        annotation = Annotation(self.annotation, tags)
        where = docs, columns.orths, columns.lengths, self.vocab
        facts = sequence_facts(*where, self.constraints, self._facts, annotation)
        decoder = constrained_decoder(self.name, self.cfg, self.constraints)
        inference = Inference(spans=self.annotation.is_spans, constrained=decoder)
        return tags, decode_chains(columns, FirstOrderReading(chains, 1.0), tags, inference, facts)

    def set_annotations(self, docs: Iterable[Doc], found: tuple[TagSet, Sequence[Prediction]]) -> None:
        """Write labels, how they were found and, if asked for, what constraints changed."""
        self._register_extensions()
        tags, predictions = found
        target = self.annotation
        values = target.values(self.vocab.strings, tags.tags)
        for doc, prediction in zip(docs, predictions):
            if len(doc):
                target.write(doc, Decoded(prediction.tags, prediction.spans, present=prediction.extra), values)
            doc._.set(self.cfg["info"], decode_info(prediction.decided or [], self.constraints))
            if self.cfg["changes"] is not None:
                changes = constraint_changes(prediction.decided or [], self.constraints, tags)
                doc._.set(self.cfg["changes"], changes)

    def _probabilities(self, docs: Sequence[Doc]) -> tuple[TagSet, list[Floats]]:
        """Tags, and probabilities (n, L) of each Doc."""
        if self.cfg["source"] is not None:
            source = ProbabilitySource(self._nlp, self.name, self.cfg["source"])
            return self._tag_set(source.tags), source.predict(docs, len(source.tags))
        place, names = self.cfg["marginals"], None
        rows = []
        for doc in docs:
            stored = doc._.get(place)
            values = None if stored is None else np.asarray(stored["values"])
            if stored is None and not len(doc):
                values = np.zeros((0, 0))
            elif stored is not None:
                names = names or tuple(stored["tags"])
            if values is None or len(values) != len(doc) or (stored and tuple(stored["tags"]) != names):
                raise CRFError(ConstraintErrors.CRF442.format(name=self.name, place=place, document=excerpt(doc.text)))
            rows.append(values)
        width = len(names or ())
        return self._tag_set(names or ()), [values if len(values) else np.zeros((0, width)) for values in rows]

    def _tag_set(self, names: tuple[str, ...]) -> TagSet:
        scheme = self.cfg["scheme"]
        return TagSet(names, guess_scheme(names) if scheme == "auto" else scheme)

    # -- storage ---------------------------------------------------------------------------------------------

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The constraints, as bytes."""
        content: bytes = srsly.msgpack_dumps({} if FILE in exclude else {FILE: to_bytes(self._entries)})
        return content

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Restore from `to_bytes`."""
        if FILE not in exclude:
            with readable(self.name, "bytes"):
                content = srsly.msgpack_loads(bytes_data)[FILE]
            self._take(from_bytes(self.name, content, FILE))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the constraints to a folder."""
        Path(path).mkdir(exist_ok=True)
        if FILE not in exclude:
            (Path(path) / FILE).write_bytes(to_bytes(self._entries))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read the constraints of a folder that `to_disk` wrote, edited or not."""
        if FILE not in exclude:
            with readable(self.name, str(path)):
                content = (Path(path) / FILE).read_bytes()
            self._take(from_bytes(self.name, content, f"{path}/{FILE}"))
        return self


def guess_scheme(tags: Sequence[str]) -> Scheme:
    """BIO or BILUO for tags that are all O or have their prefixes, B- among them; else none."""
    prefixes = {tag[:2] for tag in tags if tag != "O"}
    if "B-" in prefixes and prefixes <= {"B-", "I-"}:
        return "BIO"
    return "BILUO" if "B-" in prefixes and prefixes <= {"B-", "I-", "L-", "U-"} else "none"

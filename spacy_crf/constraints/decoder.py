"""Constraints over the probabilities that another component has found: nothing is learned here."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import srsly
from spacy.language import Language
from spacy.tokens import Doc

from ..annotation.extensions import register_marginals
from ..annotation.target import Target
from ..annotation.targets import target_of
from ..core.arrays import Floats
from ..core.constraints.family import Constraint
from ..core.errors import CRFError, excerpt
from ..core.labels import Scheme, TagSet
from ..pipe.source import SourcePipe
from ..pipe.storage import readable
from .block import DecoderSettings
from .decoding import ConstrainedDecoder, check_predicates, decoding_arguments
from .errors import ConstraintErrors
from .table import FILE, ConstraintEntry, check_entries, from_bytes, read_given, to_bytes


class ConstraintDecoder(SourcePipe):
    """Labels tokens or spans with the labels of greatest probability that keep constraints. See `DecoderSettings`."""

    settings: DecoderSettings

    def __init__(self, nlp: Language, settings: DecoderSettings, name: str = "constraint_decoder"):
        super().__init__(nlp, settings, name)
        self._entries: list[ConstraintEntry] = []
        self._checked: TagSet | None = None
        # a trained pipeline brings its constraints along, wherever the file is
        given = settings.constraints
        self._missing = given if isinstance(given, str) and not Path(given).exists() else None
        if self._missing is None:
            self._take(read_given(name, given))
        register_marginals(settings.marginals)
        self.decoder(TagSet((), "none")).register()

    @property
    def annotation(self) -> Target:
        """What is written, under the present settings."""
        own = self.settings
        return target_of(own.target, own.spans_key, overwrite=own.overwrite)

    def decoder(self, tags: TagSet) -> ConstrainedDecoder:
        return ConstrainedDecoder(self.annotation, **decoding_arguments(self.name, self.settings, self.constraints))

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints in force."""
        return [entry.constraint for entry in self._entries]

    @property
    def constraint_entries(self) -> list[ConstraintEntry]:
        """The same, with what is known of them."""
        return list(self._entries)

    def _take(self, entries: list[ConstraintEntry]) -> None:
        check_predicates(self.name, (entry.constraint for entry in entries), self.settings)
        self._entries, self._checked, self._missing = entries, None, None

    def tag_set(self, tags: tuple[str, ...]) -> TagSet:
        scheme = guess_scheme(tags) if self.settings.scheme == "auto" else self.settings.scheme
        found = TagSet(tags, scheme)
        if self._missing is not None:
            self._take(read_given(self.name, self._missing))
        if tags and self._checked != found:
            check_entries(self.name, self._entries, found)
            self._checked = found
        return found

    def probabilities(self, docs: Sequence[Doc]) -> tuple[tuple[str, ...], list[Floats]]:
        """Tags, and their probabilities (n, L) for each Doc: those of the source, or of an attribute of Docs.

        RAISES (ValueError): where there are none.
        """
        place = self.settings.marginals
        if place is None:
            return super().probabilities(docs)
        found: list[Any] = [doc._.get(place) for doc in docs]
        names: tuple[str, ...] = next(
            (tuple(stored["tags"]) for stored in found if stored is not None and len(stored["values"])), ()
        )
        rows: list[Floats] = []
        for doc, stored in zip(docs, found):
            if not len(doc):
                rows.append(np.zeros((0, len(names))))
                continue
            values = None if stored is None else np.asarray(stored["values"])
            if values is None or len(values) != len(doc) or tuple(stored["tags"]) != names:
                where = {"place": place, "document": excerpt(doc.text)}
                raise CRFError(ConstraintErrors.CRF442.format(name=self.name, **where))
            rows.append(values)
        return names, rows

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

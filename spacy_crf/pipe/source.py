"""Components that decode the probabilities of another component, and learn nothing of their own."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example

from ..annotation.documents import Preparation
from ..annotation.white_space import Places, is_white_space, leave_out
from ..core.arrays import Bools, Doubles, Floats, PackedBatch, pack
from ..core.chain.distribution import ChainDistribution
from ..core.chain.potentials import ChainPotentials
from ..core.errors import CRFError
from ..core.labels import TagSet
from ..features.block import SequenceMode
from ..features.columns import ColumnReader, Columns
from ..features.resources import Resources
from .block import Settings
from .decoding import Batch, Decoder, IsolatesFailures, Prediction
from .errors import PipeErrors
from .labels import OF_PREPARATION, PREPARATION, KeepsPreparation
from .live_settings import HasSettings, LiveSettings
from .probabilities import token_probabilities
from .setting_types import learned_values
from .storage import CFG, read_settings, readable, settings_bytes

LEAST = float(np.finfo(np.float32).tiny)  # a probability of 0 is one that was rounded


@dataclass(frozen=True)
class SourcedDistribution(ChainDistribution):
    """Labels, with probabilities (N, L) of a source, that depend on each other only by what a scheme rules out."""

    probabilities: Floats = None  # type: ignore[assignment]

    @property
    def marginals(self) -> Doubles:
        """((N, L)): the probabilities, as they were given."""
        return self.probabilities  # type: ignore[return-value]


def scheme_chains(batch: PackedBatch, emissions: Doubles, tags: TagSet) -> ChainPotentials:
    """Chains with emissions ((N, L)) in packed order, in which the scheme of the tags alone rules anything out."""
    transitions, start, end = (np.where(allowed, 0.0, -np.inf) for allowed in tags.legal())
    return ChainPotentials(batch, emissions, transitions, start, end)


class SourcePipe(HasSettings, IsolatesFailures, KeepsPreparation, Pipe):
    """Base of components over the probabilities of an earlier one, which is looked up in the pipeline when it is
    needed, or of an attribute of Docs. Where that one does not know how the texts of training were prepared, as spaCy's
    own do not, these do."""

    parts: ClassVar[tuple[str, ...]] = (CFG,)

    def __init__(self, nlp: Language, settings: Settings, name: str):
        settings.check(name)
        self.vocab, self.settings, self.name, self._nlp = nlp.vocab, settings, name, nlp
        self.scorer = settings.scorer  # type: ignore[attr-defined]
        self.live_settings = LiveSettings(name, settings, {PREPARATION: None})

    def join(self, nlp: Language) -> None:
        super().join(nlp)
        self._nlp = nlp

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None) -> None:
        """Look how the texts of training are prepared; nothing else is learned."""
        self.learn_preparation(example.reference for example in get_examples())

    @property
    def skips_white_space(self) -> bool:
        """Whether the source leaves tokens of white space out."""
        return bool(getattr(self._known_source(), "skips_white_space", False))

    @property
    def preparation(self) -> Preparation | None:  # type: ignore[override]
        """How the texts of training were prepared."""
        return Preparation.from_data(self.cfg[PREPARATION])

    def stored_files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        return {} if CFG in exclude else {CFG: settings_bytes(self.cfg)}

    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        stored = read_settings(files, self.name, path)
        if stored is not None:
            with readable(self.name, path):
                self.cfg.learn(**{PREPARATION: None, **learned_values(stored, OF_PREPARATION)})
            self.cfg.take(stored, alone)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read a folder that `to_disk` wrote; older versions wrote no settings, and perhaps no folder."""
        lacking = [] if any(Path(path).glob(f"{CFG}*")) else [CFG]
        return super().from_disk(path, exclude=[*exclude, *lacking])

    @abstractmethod
    def decoder(self, tags: TagSet) -> Decoder:
        """What chooses labels, and what is told beside, under the present settings."""
        raise NotImplementedError

    @property
    def source(self) -> str | None:
        """Name of the component with the probabilities."""
        source: str | None = self.settings.source  # type: ignore[attr-defined]
        return source

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the source; none where the pipeline has no such component."""
        return tuple(getattr(self._known_source(), "labels", ()))

    @property
    def source_tags(self) -> tuple[str, ...]:
        """What the source gives probabilities of, which may be tags of spans; none where there is no such component."""
        return _tags_of(self._known_source())

    def _known_source(self) -> Any:
        if self.source in (None, self.name):
            return None
        known = dict(self._nlp.components)  # disabled ones too: spaCy asks for labels whenever it writes its meta data
        return known.get(self.source)

    def probabilities(self, docs: Sequence[Doc]) -> tuple[tuple[str, ...], list[Floats]]:
        """Tags, and their probabilities (n, L) for each Doc, in single precision, as the source gives them."""
        source = self.find_source()
        if docs and docs[0].vocab is not self._nlp.vocab:
            raise CRFError(PipeErrors.CRF454.format(name=self.name, source=self.source))
        tags, asked = _tags_of(source), {"name": self.name, "source": self.source}
        try:
            rows = token_probabilities(source, docs)
        except (AttributeError, TypeError, ValueError) as error:  # other models give other things, or there is none
            if isinstance(error, CRFError):
                raise
            raise CRFError(PipeErrors.CRF417.format(**asked, found=repr(error))) from error
        for doc, values in zip(docs, rows):
            if values.shape != (len(doc), len(tags)):
                raise CRFError(PipeErrors.CRF417.format(**asked, found=f"an array of shape {values.shape}"))
        return tags, [values.astype(np.float32, copy=False) for values in rows]

    def find_source(self) -> Any:
        """The component with the probabilities; a coded error where none of that name comes before this one."""
        names = self._nlp.pipe_names
        before = names[: names.index(self.name)] if self.name in names else names
        if self.source not in before:
            raise CRFError(PipeErrors.CRF416.format(name=self.name, source=self.source, known=", ".join(before)))
        return self._nlp.get_pipe(self.source)

    def tag_set(self, tags: tuple[str, ...]) -> TagSet:
        """The tags that are decoded, with what their scheme rules out."""
        return TagSet(tags, "none")

    def read_columns(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """The tokens of Docs in their sequences. extra (int | None): attribute to read along."""
        mode: SequenceMode = getattr(self.settings, "sequence", "auto")
        return ColumnReader([], Resources(), mode).read(docs, self.vocab, extra)

    def predict(self, docs: Iterable[Doc]) -> tuple[TagSet, list[Prediction]]:
        """Decode Docs without changing them: the tags, and a prediction for each Doc."""
        docs = list(docs)
        names, rows = self.probabilities(docs)
        tags = self.tag_set(names)
        places = [Places.beside(_is_skipped(doc, own)) for doc, own in zip(docs, rows)]
        found = self._decode(list(map(leave_out, docs, places)), [own[at.words] for own, at in zip(rows, places)], tags)
        decoder = self.decoder(tags)
        return tags, [
            one if len(at.words) == at.n_tokens else decoder.spread(one, doc, at)
            for one, doc, at in zip(found, docs, places)
        ]

    def _decode(self, docs: Sequence[Doc], rows: Sequence[Floats], tags: TagSet) -> list[Prediction]:
        """Decode Docs with the probabilities (n, L) of each."""
        decoder = self.decoder(tags)
        if not any(len(doc) for doc in docs):
            return [decoder.empty(tags) for _ in docs]
        columns = self.read_columns(docs, decoder.reads)
        probabilities = np.concatenate(rows)
        batch = pack(columns.lengths)
        emissions = np.log(np.maximum(probabilities.astype(np.float64), LEAST))
        chains = scheme_chains(batch, emissions[batch.units], tags)
        distribution = SourcedDistribution(chains, 1.0, probabilities)
        return decoder(Batch(docs, columns, distribution, tags, self.unlabelled(docs, columns)))

    def unlabelled(self, docs: Sequence[Doc], columns: Columns) -> Bools | None:
        """Tokens (N,) that the source gives no label."""
        found = getattr(None if self.source is None else self.find_source(), "unlabelled", None)
        return super().unlabelled(docs, columns) if found is None else found(docs, columns)

    def set_annotations(self, docs: Iterable[Doc], found: tuple[TagSet, Sequence[Prediction]]) -> None:
        tags, predictions = found
        self.decoder(tags).write(docs, predictions, tags)

    def prediction_of(self, found: tuple[TagSet, Sequence[Prediction]], number: int) -> tuple[TagSet, list[Prediction]]:
        tags, predictions = found
        return tags, [predictions[number]]


def _is_skipped(doc: Doc, rows: Floats) -> Bools:
    """((n,)): tokens of white space that a source leaves out: it gives no label a probability."""
    is_skipped = np.asarray(~rows.any(axis=1))
    return is_skipped & is_white_space(doc) if is_skipped.any() else is_skipped


def _tags_of(source: Any) -> tuple[str, ...]:
    """What a component gives probabilities of: a chain's tags are not always its labels."""
    names = getattr(source, "tags", None)
    return tuple(getattr(source, "labels", ()) if names is None else names.tags)

"""A CRF whose labellings keep constraints: given ones, and ones that are mined from its training data."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.target import Target
from ..annotation.targets import target_of
from ..core.arrays import Segments
from ..core.constraints.costs import ScoredGold
from ..core.constraints.family import Constraint
from ..core.constraints.language import Spec, parse_all
from ..core.errors import CRFError
from ..core.gold import UNKNOWN
from ..pipe.component import ChainPipe
from ..pipe.decoding import SpanScores, label_decoder, resolve_scheme
from ..pipe.pool import trained_on
from ..pipe.probabilities import LabelsTokens, span_probabilities
from ..pipe.storage import NAMES
from .block import MiningSettings, NERSettings
from .decoding import ConstrainedDecoder, check_predicates, decoding_arguments
from .errors import ConstraintErrors
from .mining import mine_constraints
from .table import FILE, ConstraintEntry, check_entries, from_bytes, read_given, to_bytes
from .token_predicates import Annotation, SequencePredicates, TokenPredicates, sequence_predicates


@LabelsTokens.register
class ConstrainedNER(ChainPipe):
    """Labels spans or tokens under constraints. See `NERSettings`."""

    parts = (*NAMES, FILE)
    settings: NERSettings

    def __init__(self, vocab: Vocab, settings: NERSettings, name: str = "constrained_ner"):
        self._entries: list[ConstraintEntry] = []
        super().__init__(vocab, settings, name, resolve_scheme(settings))
        self.prepares = settings.mine is not None
        if settings.mine is not None:
            TokenPredicates(settings.predicates, name).require(settings.mine.predicates, name)
        if not isinstance(settings.constraints, str):  # files are read in `initialize`: a trained pipeline needs none
            self._take(read_given(name, settings.constraints))

    @property
    def annotation(self) -> Target:
        own = self.settings
        return target_of(own.target, own.spans_key, overwrite=own.overwrite, scores=own.scores)

    def decoder(self) -> ConstrainedDecoder:
        more = decoding_arguments(self.name, self.settings, self.constraints)
        return label_decoder(ConstrainedDecoder, self.settings, self.annotation, self.tags.tags, **more)

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Exact probabilities of any spans under the chain alone. See the function of that name."""
        return span_probabilities(self, doc, spans)

    # -- constraints -----------------------------------------------------------------------------------------

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints in force, given and mined ones."""
        return [entry.constraint for entry in self._entries]

    @property
    def constraint_entries(self) -> list[ConstraintEntry]:
        """The same, with where they come from and what the training data say of them."""
        return list(self._entries)

    def set_constraints(self, constraints: str | Iterable[Spec]) -> None:
        """Replace the constraints, in a pipeline that is loaded or trained as well.

        constraints (str | iterable): texts, JSON objects or Constraints; or one text with a constraint a line.
        RAISES (ValueError): for one that cannot be read, or names what is unknown, and for contradictions.
        """
        self._take([ConstraintEntry(constraint) for constraint in parse_all(constraints)])

    def _take(self, entries: list[ConstraintEntry]) -> None:
        check_predicates(self.name, (entry.constraint for entry in entries), self.settings)
        if self.labels:
            check_entries(self.name, entries, self.tags)
        self._entries = entries

    def write_files(self) -> dict[str, bytes]:
        return {FILE: to_bytes(self._entries)}

    def read_files(self, files: dict[str, bytes], path: str) -> None:
        if FILE in files:
            self._take(from_bytes(self.name, files[FILE], f"{path}/{FILE}"))

    # -- training --------------------------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        start: str | None = None,
    ) -> None:
        """Set labels, and read the given constraints. See `ChainPipe.initialize` for the arguments.

        Constraints are mined in the first step of training, from these examples.

        RAISES (ValueError): for constraints that name unknown labels or contradict each other, too.
        """
        super().initialize(get_examples, nlp=nlp, labels=labels, start=start)
        self._take(read_given(self.name, self.settings.constraints))

    def before_training(self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None) -> None:
        """Mine constraints, if the config asks for it."""
        config, examples = self.settings.mine, list(get_examples())
        if config is None:
            return
        docs = [example.predicted for example in examples]
        columns = self.read_columns(docs)
        gold, asked = self.gold(examples, columns.lengths).labels, self._asked(docs, config)
        known = [
            (gold[own], asked.units.at(np.arange(own.start, own.stop)))
            for own in Segments(columns.lengths).slices()
            if not (gold[own] == UNKNOWN).any()
        ]
        if not known:
            raise CRFError(ConstraintErrors.CRF447.format(name=self.name))

        def hold_out(others: Sequence[Example], own: Sequence[Example]) -> ScoredGold:
            return self._hold_out(others, own, nlp, config)

        found = mine_constraints(examples, known, self.tags, self.constraints, config, hold_out)
        self._take([*self._entries, *map(ConstraintEntry.of_mined, found)])

    def _hold_out(
        self, others: Sequence[Example], own: Sequence[Example], nlp: Language | None, config: MiningSettings
    ) -> ScoredGold:
        """Examples as a model sees them that was trained on others; sequences with unknown labels are left out."""
        fold = trained_on(self, others, config.iterations, nlp, constraints=None, mine=None)
        scored = fold.held_out(own)
        chains = scored.distribution.chains
        batch = chains.batch
        labels = scored.labels[batch.units]
        predicates = self._asked([example.predicted for example in own], config).units.at(batch.units)
        whole = ScoredGold(chains.astype(np.float64), labels, predicates)
        unknown = batch.sequence_sums((labels == UNKNOWN).astype(np.float64))
        return whole.select(np.flatnonzero(unknown == 0))

    def _asked(self, docs: Sequence[Doc], config: MiningSettings) -> SequencePredicates:
        """What constraints and mining ask of the sequences of Docs."""
        columns, known = self.read_columns(docs), TokenPredicates(self.settings.predicates, self.name)
        annotation = Annotation(self.annotation, self.tags)
        where = docs, columns.orths, columns.lengths, self.vocab
        return sequence_predicates(*where, self.constraints, known, annotation, config.predicates)

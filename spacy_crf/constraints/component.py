"""A CRF whose labellings keep constraints: given ones, and ones that are mined from its training data."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ..annotation.extensions import register
from ..core.constraints.families import Constraint
from ..core.constraints.language import Spec, parse_all
from ..core.constraints.learn import ScoredGold
from ..core.errors import CRFError
from ..core.gold import UNKNOWN
from ..features.block import FeatureSettings, SequenceMode
from ..features.columns import Columns
from ..learning.block import Trainer
from ..learning.model import ChainModel, LinearChain
from ..pipe.constrained import SequenceFacts
from ..pipe.dictionary.block import DictionarySettings
from ..pipe.folds import fold_trainer
from ..pipe.inference import Inference, Prediction
from ..pipe.orders import require_first_order
from ..pipe.storage import NAMES
from ..tagging.component import CRFTagger
from .decode_info import constraint_changes, decode_info
from .errors import ConstraintErrors
from .mining import MiningConfig, mine_constraints
from .sequence_facts import Annotation, sequence_facts
from .settings import check_predicates, constrained_decoder
from .table import FILE, Entry, Given, check_entries, from_bytes, read_given, to_bytes
from .token_predicates import FactReader


class ConstrainedNER(CRFTagger):
    """Labels spans or tokens under constraints. See `ner_factory.make_constrained_ner` for the settings.

    decoding (dict): run-time settings of `decoding_settings`. constraints (Given): of the config.
    mine (MiningConfig | None): whether and how constraints are mined.
    """

    parts = (*NAMES, FILE)

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "constrained_ner",
        *,
        features: FeatureSettings,
        trainer: Trainer,
        decoding: dict[str, Any],
        constraints: Given = None,
        mine: MiningConfig | None = None,
        target: str = "ent",
        scheme: Literal["auto", "BIO", "BILUO", "none"] = "auto",
        sequence: SequenceMode = "auto",
        spans_key: str = "sc",
        dictionary: DictionarySettings | None = None,
        forbidden: list[list[str]] | None = None,
        **settings: Any,
    ):
        require_first_order(name, model, "decoding under constraints")
        self._given, self._mining = constraints, mine
        self._entries: list[Entry] = []
        self._decoding, self._facts = decoding, FactReader(decoding["predicates"], name)
        self._to_mine: tuple[Callable[[], Iterable[Example]], Language | None] | None = None
        # what the models of folds share with this one
        self._shared: dict[str, Any] = {
            "features": features,
            "target": target,
            "scheme": scheme,
            "sequence": sequence,
            "spans_key": spans_key,
            "dictionary": dictionary,
            "forbidden": forbidden,
        }
        super().__init__(vocab, model, name, trainer=trainer, **self._shared, **settings)
        self.cfg.update(decoding)
        self._register_extensions()
        if mine is not None:
            self._facts.require(mine.marks, name)
        if not isinstance(constraints, str):  # files are read in `initialize`: a trained pipeline does not need them
            self._take(read_given(name, constraints))

    def _register_extensions(self) -> None:
        super()._register_extensions()
        names = {**self._decoding, **self.cfg}
        for place in (names["info"], names["changes"]):
            register(Doc, place)

    # -- constraints -----------------------------------------------------------------------------------------

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints in force, given and mined ones."""
        return [entry.constraint for entry in self._entries]

    @property
    def constraint_entries(self) -> list[Entry]:
        """The same, with where they come from and what the training data say of them."""
        return list(self._entries)

    def set_constraints(self, constraints: str | Iterable[Spec]) -> None:
        """Replace the constraints, in a pipeline that is loaded or trained as well.

        constraints (str | iterable): texts, JSON objects or Constraints; or one text with a constraint a line.
        RAISES (ValueError): for one that cannot be read, or names what is unknown, and for contradictions.
        """
        self._take([Entry(constraint) for constraint in parse_all(constraints)])

    def _take(self, entries: list[Entry]) -> None:
        check_predicates(self.name, (entry.constraint for entry in entries), self.cfg["predicates"])
        if self.labels:
            check_entries(self.name, entries, self.tags)
        self._entries = entries

    def _write_extra(self) -> dict[str, bytes]:
        return {FILE: to_bytes(self._entries)}

    def _read_extra(self, files: dict[str, bytes], path: str) -> None:
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
        self._take(read_given(self.name, self._given))
        self._to_mine = None if self._mining is None else (get_examples, nlp)

    def finish_update(self, sgd: Optimizer | None) -> None:
        """Let the trainer take its step. Before the first one, mine constraints, if the config asks for it."""
        if self._to_mine is not None and self._mining is not None:
            (get_examples, nlp), self._to_mine = self._to_mine, None
            self._mine(list(get_examples()), nlp, self._mining)
        super().finish_update(sgd)

    def __getstate__(self) -> dict[str, Any]:
        """Without the training examples, which stay in the process that trains."""
        return {**self.__dict__, "_to_mine": None}

    def _mine(self, examples: list[Example], nlp: Language | None, config: MiningConfig) -> None:
        given = self.constraints
        docs = [example.predicted for example in examples]
        columns = self._read(docs)
        gold, facts = self.gold(examples, columns.lengths).labels, self._facts_of(docs, columns, config.marks)
        ends = np.cumsum(columns.lengths).tolist()
        known = [
            (gold[low:high], facts.units.at(np.arange(low, high)))
            for low, high in pairwise([0, *ends])
            if not (gold[low:high] == UNKNOWN).any()
        ]
        if not known:
            raise CRFError(ConstraintErrors.CRF447.format(name=self.name))

        def hold_out(others: Sequence[Example], own: Sequence[Example]) -> ScoredGold:
            return self._hold_out(others, own, nlp, config)

        found = mine_constraints(examples, known, self.tags, given, config, hold_out)
        self._take([*self._entries, *map(Entry.of_mined, found)])

    def _hold_out(
        self, others: Sequence[Example], own: Sequence[Example], nlp: Language | None, config: MiningConfig
    ) -> ScoredGold:
        """Examples as a model sees them that was trained on others; sequences with unknown labels are left out."""
        fold = CRFTagger(
            self.vocab,
            LinearChain(),
            self.name,
            trainer=fold_trainer(self.trainer, config.iterations),
            **self._shared,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that are missing in a fold
            fold.initialize(lambda: others, nlp=nlp, labels=list(self.labels))
            for _ in range(2):
                fold.update(others)
                fold.finish_update(None)
        scored = fold.held_out(own)
        batch, docs = scored.potentials.batch, [example.predicted for example in own]
        facts = self._facts_of(docs, self._read(docs), config.marks).units.at(batch.units)
        whole = ScoredGold(scored.potentials.astype(np.float64), scored.labels, facts)
        unknown = batch.sequence_sums((scored.labels == UNKNOWN).astype(np.float64))
        return whole.select(np.flatnonzero(unknown == 0))

    # -- prediction ------------------------------------------------------------------------------------------

    def facts(self, docs: Sequence[Doc], columns: Columns) -> SequenceFacts:
        return self._facts_of(docs, columns)

    def _facts_of(self, docs: Sequence[Doc], columns: Columns, predicates: Sequence[str] = ()) -> SequenceFacts:
        annotation = Annotation(self.annotation, self.tags)
        where = docs, columns.orths, columns.lengths, self.vocab
        return sequence_facts(*where, self.constraints, self._facts, annotation, predicates)

    def inference(self) -> Inference:
        return replace(super().inference(), constrained=constrained_decoder(self.name, self.cfg, self.constraints))

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Prediction]) -> None:
        """Write labels, how they were found and, if asked for, what constraints changed."""
        docs = list(docs)
        super().set_annotations(docs, predictions)
        for doc, prediction in zip(docs, predictions):
            if prediction.decided is not None:
                doc._.set(self.cfg["info"], decode_info(prediction.decided, self.constraints))
                if self.cfg["changes"] is not None:
                    changes = constraint_changes(prediction.decided, self.constraints, self.tags)
                    doc._.set(self.cfg["changes"], changes)

"""Components whose labels keep constraints: a CRF of its own, with given and with mined ones, and a decoder over the
probabilities that another component has found, which learns nothing.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.extensions import register_marginals
from ..annotation.span_targets import target_of
from ..annotation.target import SpanScores, Target
from ..annotation.white_space import is_white_space
from ..core.arrays import Bools, Floats, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.constraints.costs import ScoredGold
from ..core.constraints.family import Constraint
from ..core.constraints.language import Spec, parse_all
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.labels import UNKNOWN, Scheme, TagSet
from ..features.columns import Columns
from ..learning.encoder import Sample
from ..pipe.block import SPAN_TARGETS
from ..pipe.component import ChainPipe
from ..pipe.decoding import label_decoder, resolve_scheme
from ..pipe.labels import OF_TEXTS, PREPARATION, SKIPS_WHITE_SPACE, require_universal
from ..pipe.live_settings import as_stored
from ..pipe.pool import trained_on
from ..pipe.probabilities import LabelsTokens, span_probabilities
from ..pipe.scorer import target_scores
from ..pipe.source import SourcePipe
from ..pipe.span_sets import PromisesSpans
from ..pipe.storage import NAMES, Stored, read_settings
from .block import DecoderSettings, DecodingSettings, MiningSettings, NERSettings
from .decoding import ConstrainedDecoder, method_settings
from .errors import ConstraintErrors, ConstraintWarnings
from .mining import mine_constraints, warn_of_sentences
from .table import FILE, ConstraintEntry, beside_mined, check_entries, from_bytes, read_given, to_bytes
from .token_predicates import SequencePredicates, TokenPredicates, sequence_predicates

SETTING = "constraints"
TOLERANCE = 0.01  # by which sums of probabilities may differ from 1: these may be rounded


class KeepsConstraints(Stored):
    """The constraints of a component."""

    name: str
    settings: DecodingSettings
    _entries: list[ConstraintEntry]

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints in force, given and mined ones."""
        return [entry.constraint for entry in self._entries]

    @property
    def constraint_entries(self) -> list[ConstraintEntry]:
        """The same, with where they come from and what the training data say of them."""
        return list(self._entries)

    def _take(self, entries: list[ConstraintEntry], tags: TagSet | None = None) -> None:
        """Put constraints in force that name known predicates and, for the tags of a chain, known labels."""
        known = TokenPredicates(self.settings.predicates, self.name).names
        for entry in entries:
            entry.constraint.require_predicate(known, ", ".join(known))
        if tags is not None:
            check_entries(self.name, entries, tags)
        self._entries = entries

    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        """Put stored constraints in force too; or the given ones beside those that were mined, where the config of a
        pipeline gives others than it did when they were stored. Where it now gives none, warn: those stay."""
        super().restore(files, path, alone)  # type: ignore[safe-super]  # that of the component
        if FILE in files:
            self._take(from_bytes(self.name, files[FILE], f"{path}/{FILE}"))
        given, stored = self.settings.constraints, read_settings(files, self.name, path) or {}
        if alone or stored.get(SETTING, given) in (given, as_stored(given)):
            return
        if given is None:
            warnings.warn(ConstraintWarnings.CRFW994.format(name=self.name), CRFWarning, stacklevel=2)
            return
        self._take(beside_mined(read_given(self.name, given), self._entries))

    def _decoding_arguments(self) -> dict[str, Any]:
        """What a `ConstrainedDecoder` gets beside the arguments of a `Decoder`."""
        own = self.settings
        known = TokenPredicates(own.predicates, self.name)
        arguments = {"constraints": self.constraints, "method": method_settings(own), "known": known}
        constrained = getattr(own, "probabilities", "chain") == "constrained"
        return {**arguments, "name": self.name, "constrained": constrained, "info": own.info, "changes": own.changes}


@LabelsTokens.register
class ConstrainedNER(KeepsConstraints, PromisesSpans, ChainPipe):
    """Labels spans or tokens under constraints. See `NERSettings`.

    >>> import spacy
    >>> nlp = spacy.load("output/constrained_ner/model-best")  # `make demo` trains it
    >>> doc = nlp("Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.")
    >>> [ent.label_ for ent in doc.ents]
    ['AUTHOR', 'TITLE', 'PUBLISHER', 'DATE']
    """

    parts = (*NAMES, FILE)
    learned_settings = OF_TEXTS
    settings: NERSettings

    def __init__(self, vocab: Vocab, settings: NERSettings, name: str = "constrained_ner"):
        self._entries = []
        learned: dict[str, Any] = {PREPARATION: None, SKIPS_WHITE_SPACE: False}
        super().__init__(vocab, settings, name, resolve_scheme(settings), **learned)
        self.prepares = "" if settings.mine is None else "mined constraints"
        if settings.mine is not None:
            TokenPredicates(settings.predicates, name).require(settings.mine.predicates, name)
        if not isinstance(settings.constraints, str):  # files are read in `initialize`: a trained pipeline needs none
            self._take(read_given(name, settings.constraints))

    @property
    def annotation(self) -> Target:
        own = self.settings
        return target_of(own.target, own.spans_key, overwrite=own.overwrite, scores=own.scores)

    @property
    def measured(self) -> Sequence[str]:
        """What is told beside `segments_f` and the like, by spaCy's names."""
        own = self.settings
        return target_scores(own.target, own.spans_key) if own.target in SPAN_TARGETS else ()

    def decoder(self) -> ConstrainedDecoder:
        own, promised = self.settings, [] if self.settings.guarantee is None else [self.span_sets()]
        where = own, self.annotation, self.tags.tags
        return label_decoder(ConstrainedDecoder, *where, *promised, **self._decoding_arguments())

    def distribution(self, docs: Sequence[Doc], given: bool = True) -> tuple[Columns, ChainDistribution]:
        columns, found = super().distribution(docs, given)
        if self.settings.probabilities == "constrained" and len(columns.orths):
            found = self.decoder().distribution(docs, columns, found, self.tags, self.unlabelled(docs, columns))
        return columns, found

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Probabilities of any spans, as the setting `probabilities` says. See the function of that name."""
        return span_probabilities(self, doc, spans)

    # -- constraints -----------------------------------------------------------------------------------------

    def set_constraints(self, constraints: str | Iterable[Spec]) -> None:
        """Replace the constraints, in a pipeline that is loaded or trained as well.

        constraints (str | iterable): texts, JSON objects or Constraints; or one text with a constraint a line.
        RAISES (ValueError): for one that cannot be read, or names what is unknown, and for contradictions.
        """
        self._take([ConstraintEntry(constraint) for constraint in parse_all(constraints)])

    def _take(self, entries: list[ConstraintEntry], tags: TagSet | None = None) -> None:
        super()._take(entries, self.tags if self.labels else None)

    def write_files(self) -> dict[str, bytes]:
        return {FILE: to_bytes(self._entries)}

    # -- training --------------------------------------------------------------------------------------------

    def begin_with_files(self, files: dict[str, bytes], path: str) -> None:
        if self.settings.mine is None:
            self._entries = [entry for entry in from_bytes(self.name, files[FILE], f"{path}/{FILE}") if entry.is_mined]

    @wraps(ChainPipe.initialize, assigned=("__annotations__",))
    def initialize(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Set labels, and read the given constraints; others are mined in the first step of training, or were by the
        component that it starts with."""
        self._entries = []
        super().initialize(*args, **kwargs)
        self._take(beside_mined(read_given(self.name, self.settings.constraints), self._entries))
        warn_of_sentences(self.name, self.settings, *args, **kwargs)

    def before_training(self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None) -> None:
        """Mine constraints, if the config asks for it."""
        config, examples = self.settings.mine, self.word_examples(list(get_examples()))
        if config is None:
            return
        docs = [example.predicted for example in examples]
        columns = self.read_columns(docs)
        gold, asked = self.gold(examples, columns.lengths).labels, self._asked(docs, config)
        runs = [np.arange(own.start, own.stop) for own in Segments(columns.lengths).slices()]
        known = [(gold[own], asked.units.at(own)) for own in runs if not (gold[own] == UNKNOWN).any()]
        if not known:
            raise CRFError(ConstraintErrors.CRF447.format(name=self.name))
        hold_out = partial(self._hold_out, nlp, config)
        found = mine_constraints(examples, known, self.tags, self.constraints, config, hold_out)
        self._take([*self._entries, *map(ConstraintEntry.of_mined, found)])

    def make_sample(self, examples: Sequence[Example]) -> Sample:
        sample = super().make_sample(examples)
        if not self.settings.train_constrained:
            return sample
        if not self.trainer.learns_constrained:
            raise CRFError(ConstraintErrors.CRF458.format(name=self.name))
        docs = [example.predicted for example in self.word_examples(examples)]
        # constraints that are mined are known when it is asked for
        return replace(sample, paths=lambda: self.decoder().paths(docs, sample.columns, sample.gold.labels, self.tags))

    def _hold_out(
        self, nlp: Language | None, config: MiningSettings, others: Sequence[Example], own: Sequence[Example]
    ) -> ScoredGold:
        """Examples as a model sees them that was trained on others; sequences with unknown labels are left out."""
        free = {"constraints": None, "mine": None, "train_constrained": False, "probabilities": "chain"}
        fold = trained_on(self, others, config.iterations, nlp, **free)
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
        where, known = (docs, self.read_columns(docs)), TokenPredicates(self.settings.predicates, self.name)
        return sequence_predicates(*where, self.constraints, known, self.annotation, self.tags, config.predicates)


class ConstraintDecoder(KeepsConstraints, SourcePipe):
    """Labels tokens or spans with the labels of greatest probability that keep constraints. See `DecoderSettings`.

    >>> import spacy
    >>> nlp = spacy.load("output/crf_tagger/model-best")  # `make demo` trains it
    >>> config = {"source": "crf_tagger", "target": "tag", "constraints": ["at_most(NN, 1)"]}
    >>> decoder = nlp.add_pipe("constraint_decoder", config=config)
    >>> doc = nlp("The opener is in the house.")
    >>> [token.tag_ for token in doc].count("NN")
    1
    """

    parts = (FILE, *SourcePipe.parts)
    settings: DecoderSettings

    def __init__(self, nlp: Language, settings: DecoderSettings, name: str = "constraint_decoder"):
        super().__init__(nlp, settings, name)
        self._entries = []
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
        return ConstrainedDecoder(self.annotation, **self._decoding_arguments())

    def _take(self, entries: list[ConstraintEntry], tags: TagSet | None = None) -> None:
        super()._take(entries, tags)
        self._checked = self._missing = None

    def tag_set(self, tags: tuple[str, ...]) -> TagSet:
        scheme = guess_scheme(tags) if self.settings.scheme == "auto" else self.settings.scheme
        found = TagSet(tags, scheme)
        is_guess = self.settings.scheme == "auto" and self.settings.target in SPAN_TARGETS
        if lacks_beginnings(found) or (is_guess and scheme == "none" and has_prefixes(tags)):
            raise CRFError(ConstraintErrors.CRF453.format(name=self.name, tags=", ".join(tags)))
        if self._missing is not None:
            self._take(read_given(self.name, self._missing))
        if self.settings.target == "pos":
            require_universal(self.name, tags)
        if tags and self._checked != found:
            check_entries(self.name, self._entries, found)
            self._checked = found
        return found

    def probabilities(self, docs: Sequence[Doc]) -> tuple[tuple[str, ...], list[Floats]]:
        """Tags, and their probabilities (n, L) for each Doc: those of the source, or of an attribute of Docs."""
        place = self.settings.marginals
        if place is None:
            return super().probabilities(docs)
        stored = [doc._.get(place) or {"tags": (), "values": ()} for doc in docs]
        names: tuple[str, ...] = next((tuple(one["tags"]) for one in stored if len(one["values"])), ())
        rows: list[Floats] = []
        for doc, one in zip(docs, stored):
            values = np.asarray(one["values"]) if len(doc) else np.zeros((0, len(names)))
            if len(values) != len(doc) or (len(doc) and tuple(one["tags"]) != names):
                where = {"place": place, "document": excerpt(doc.text)}
                raise CRFError(ConstraintErrors.CRF442.format(name=self.name, **where))
            if problem := not_probable(names, values, is_white_space(doc)):
                where = {"place": place, "document": excerpt(doc.text), "problem": problem}
                raise CRFError(ConstraintErrors.CRF452.format(name=self.name, **where))
            rows.append(values)
        return names, rows

    # -- storage ---------------------------------------------------------------------------------------------

    def stored_files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        own = {} if FILE in exclude else {FILE: to_bytes(self._entries)}
        return {**own, **super().stored_files(exclude)}


def not_probable(tags: Sequence[str], values: Floats, are_spaces: Bools) -> str:
    """Say why an array is not that of the probabilities of some tags for each of n tokens, which are (n, L); rows of
    tokens of white space ((n,)) may be 0, where these were left out."""
    if len(set(tags)) < len(tags):
        return "a tag is named twice"
    if values.ndim != 2 or values.shape[1] != len(tags):
        return f"they have the shape {values.shape} for {len(tags)} tags"
    right = (values >= 0).all(axis=1) & (abs(values.sum(axis=1) - 1) <= TOLERANCE)
    wrong = np.flatnonzero(~(right | (are_spaces & ~values.any(axis=1))))
    return f"those of token {wrong[0]} are {excerpt(str(values[wrong[0]].tolist()))}" if len(wrong) else ""


def lacks_beginnings(tags: TagSet) -> bool:
    """Whether tags go on with spans that none can begin, and could therefore never be given."""
    going_on = tags.continues()
    return tags.scheme != "none" and any(
        (tags.members(label) & going_on).any() and not tags.members(label, "B").any() for label in tags.span_labels
    )


def has_prefixes(tags: Iterable[str]) -> bool:
    """Whether tags look like those of a scheme for spans, such as IOB1 or IOBES."""
    found = [tag[:1] if tag[1:2] == "-" else "" for tag in tags if tag != "O"]
    return "I" in found or "B" in found or (bool(found) and set(found) <= set("BILUSEM"))


def guess_scheme(tags: Sequence[str]) -> Scheme:
    """BIO or BILUO for tags that are all O or have their prefixes, B- among them; else none."""
    prefixes = {tag[:2] for tag in tags if tag != "O"}
    if "B-" in prefixes and prefixes <= {"B-", "I-"}:
        return "BIO"
    return "BILUO" if "B-" in prefixes and prefixes <= {"B-", "I-", "L-", "U-"} else "none"

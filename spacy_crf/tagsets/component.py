"""Sets of tags where the evidence is thin, from a chain of one's own or from the probabilities of another component."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.extensions import register_by_token
from ..annotation.white_space import Places
from ..core.arrays import Bools, Floats, Indices, Segments
from ..core.chain.temperature import HeldOut
from ..core.labels import Gold, TagSet
from ..core.sets.hierarchy import TagTree
from ..core.sets.predict import smallest_sequence_sets
from ..learning.model import get_layout
from ..pipe.component import ChainPipe
from ..pipe.decoding import Batch, Decoder, DocOutput, MarginalsOutput, Output, Prediction
from ..pipe.labels import OF_TEXTS, PREPARATION, SKIPS_WHITE_SPACE, require_allowed
from ..pipe.probabilities import LabelsTokens, WordTags, tag_words
from ..pipe.promises import KeepsPromise
from ..pipe.scorer import target_scores
from ..pipe.source import SourcePipe
from .block import SetSettings
from .gold import Augmenter, WeightedTags, gold_weights, to_gold, weighted_gold
from .rules import PARENTS, SetRule, set_rule, tag_tree

SetsAndNodes: TypeAlias = tuple[list[list[str]], list[str] | None]
"""The set of each token of a Doc and, for a tag tree, the node that it is below."""


@LabelsTokens.register
class SetValuedTagger(KeepsPromise, ChainPipe):
    """Tags with a set of tags for each token. See `SetSettings`.

    >>> import spacy
    >>> nlp = spacy.load("output/set_valued_tagger/model-best")  # `make demo` trains it
    >>> [token._.tag_set for token in nlp("uinen sawzel")]
    [['ART', 'CARD'], ['NA']]
    """

    learned_settings: ClassVar = {PARENTS: list[tuple[str, str]], **OF_TEXTS}
    settings: SetSettings

    def __init__(self, vocab: Vocab, settings: SetSettings, name: str = "set_valued_tagger"):
        self._augmented = Augmenter()
        learned: dict[str, Any] = {PARENTS: [], PREPARATION: None, SKIPS_WHITE_SPACE: False}
        super().__init__(vocab, settings, name, **learned)

    @property
    def annotation(self) -> WeightedTags:
        own = self.settings
        return WeightedTags(own.target, own.overwrite, own.gold_tags)

    @property
    def tag_probs(self) -> str:
        return self.settings.tag_probs

    @property
    def measured(self) -> Sequence[str]:
        return target_scores(self.target)

    def decoder(self) -> Decoder:
        own, tags = self.settings, self.tags.tags
        likely = SequencesOutput(own.tag_sequences, own.sequence_mass, own.sequences)
        outputs = (*set_outputs(self.name, own, self.cfg[PARENTS], tags), likely)
        return Decoder(self.annotation, outputs, own.decode)

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        self.check_promise()
        return super().predict(docs)

    def tag_words(self, texts: Sequence[Sequence[str]]) -> list[WordTags]:
        """Tag texts that are split into words, without Docs. See `tag_words`."""
        return tag_words(self, texts)

    def rebuild(self) -> None:
        self._augmented = Augmenter()
        super().rebuild()

    def set_labels(self, labels: Iterable[str]) -> None:
        """Take labels, and the tag tree from its file, which must have them."""
        if self.settings.hierarchy is not None:
            self.cfg.learn(**{PARENTS: self.settings.hierarchy.read_parents()})
        super().set_labels(labels)
        if self.settings.method == "hierarchy":
            tag_tree(self.name, self.settings, self.cfg[PARENTS], self.labels)

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        where = self.target, self.settings.gold_tags
        gold = weighted_gold(self.name, examples, *where, self.tags, self.settings.learn_from)
        require_allowed(self.name, gold, examples, lengths, self.tags, get_layout(self.model))
        return gold

    def held_out(self, examples: Sequence[Example]) -> HeldOut:
        """See `ChainPipe.held_out`. Tokens with several gold tags have them all, as learning does."""
        examples, own = self.word_examples(examples), self.settings
        rows = [row for example in examples for row in gold_weights(example, self.target, own.gold_tags)]
        known = [{tag: weight for tag, weight in row.items() if tag in self.tags.number} for row in rows]
        missed = np.array([bool(row) and not found for row, found in zip(rows, known)], dtype=bool)
        gold = to_gold(known, self.tags, "soft" if own.learn_from == "augmented" else own.learn_from)
        return super().held_out(examples)._replace(labels=gold.labels, missed=missed, several=gold)

    def shown(self, examples: list[Example]) -> list[Example]:
        """Return a batch, or copies of its documents if `learn_from` is "augmented"."""
        if self.settings.learn_from != "augmented":
            return examples
        where = self.target, self.settings.gold_tags
        return [copy for example in examples for copy in self._augmented.copies(example, *where)]


class SourcedSetTagger(KeepsPromise, SourcePipe):
    """Gives sets of tags to tokens that an earlier component has tagged; it has nothing to learn of its own."""

    settings: SetSettings

    def __init__(self, nlp: Language, settings: SetSettings, name: str = "set_valued_tagger"):
        super().__init__(nlp, settings, name)
        self.decoder(TagSet((), "none")).register()

    @property
    def target(self) -> str:
        """What the source has tagged: "tag" or "pos"."""
        return self.settings.target

    @property
    def tag_probs(self) -> str:
        return self.settings.tag_probs

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that sets are made of: those of spans, such as B-LOC, where the source labels spans."""
        return self.source_tags

    def decoder(self, tags: TagSet) -> Decoder:
        return Decoder(None, tuple(set_outputs(self.name, self.settings, [], tags.tags)))

    def predict(self, docs: Iterable[Doc]) -> tuple[TagSet, list[Prediction]]:
        self.check_promise()
        return super().predict(docs)

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Those of the source, as it is now: (n, L) for each Doc, in single precision."""
        return self.probabilities(docs)[1]


def set_outputs(name: str, settings: SetSettings, parents: list[list[str]], tags: Sequence[str]) -> list[Output]:
    """What a tagger with sets tells: probabilities, sets and, for a tag tree, their nodes."""
    where = name, settings, parents, tags
    make_tree = partial(tag_tree, *where) if settings.method == "hierarchy" else None
    sets = TagSetOutput(settings.tag_set, tags, partial(set_rule, *where), settings.tag_nodes, make_tree)
    return [MarginalsOutput(settings.tag_probs, tags), sets]


@dataclass(frozen=True)
class TagSetOutput:
    """The set of each token, the most probable tag first, and the node of a tag tree that it is below."""

    key: str
    tags: Sequence[str]
    make_rule: Callable[[], SetRule]
    node_key: str
    make_tree: Callable[[], TagTree] | None

    def read(self, batch: Batch) -> list[SetsAndNodes]:
        members = self.make_rule()(batch.marginals, batch.columns)
        nodes = None if self.make_tree is None else np.array(self.make_tree().names_of(members), dtype=object)
        if batch.unlabelled is not None:
            members = members & ~batch.unlabelled[:, None]
            nodes = None if nodes is None else np.where(batch.unlabelled, "", nodes)
        names, split = np.array(self.tags, dtype=object), batch.by_doc.split
        sets = [list_members(own, values, names) for own, values in zip(split(members), split(batch.marginals))]
        return list(zip(sets, [None] * len(sets) if nodes is None else [own.tolist() for own in split(nodes)]))

    def empty(self) -> SetsAndNodes:
        return [], None if self.make_tree is None else []

    def spread(self, value: SetsAndNodes, places: Places) -> SetsAndNodes:
        sets, nodes = value
        return places.spread_list(sets, []), None if nodes is None else places.spread_list(nodes, "")

    def write(self, doc: Doc, value: SetsAndNodes) -> None:
        sets, nodes = value
        doc._.set(self.key, sets)
        if nodes is not None:
            doc._.set(self.node_key, nodes)

    def register(self) -> None:
        register_by_token(self.key)
        register_by_token(self.node_key)


@dataclass(frozen=True)
class SequencesOutput(DocOutput):
    """The fewest labellings of each sequence, up to a cap (0: none), that together have a given probability; those that
    differ in tokens without a label alone are one."""

    mass: float
    cap: int

    def read(self, batch: Batch) -> list[list[dict[str, Any]] | None]:
        if not self.cap:
            return [None] * len(batch.docs)
        found = smallest_sequence_sets(batch.labellings, self.mass, self.cap)

        def told(number: int) -> dict[str, Any]:
            own = found[number]
            return {**batch.listed(own.paths, own.probabilities), "mass": own.mass, "complete": own.complete}

        return [[{**place, **told(number)} for number, place in own] for own in batch.numbered_sequences()]

    def empty(self) -> list[dict[str, Any]] | None:
        return [] if self.cap else None

    def spread(self, value: list[dict[str, Any]] | None, places: Places) -> list[dict[str, Any]] | None:
        return None if value is None else list(map(places.spread_sequence, value))


def list_members(members: Bools, marginals: Floats, names: Any) -> list[list[str]]:
    """The tags of each set of tokens, the most probable one first. members ((n, L)), marginals ((n, L))."""
    tokens, tags = np.nonzero(members)
    order = np.lexsort((-marginals[tokens, tags], tokens))
    flat = names.take(tags[order]).tolist()
    return [flat[own] for own in Segments(members.sum(axis=1)).slices()]

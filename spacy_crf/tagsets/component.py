"""Sets of tags where the evidence is thin, from a chain of one's own or from the probabilities of another component."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ..core.arrays import Floats, Indices
from ..core.gold import Gold
from ..core.labels import TagSet
from ..pipe.component import ChainPipe
from ..pipe.decoding import Decoder, Marginals, Output
from ..pipe.probabilities import LabelsTokens
from ..pipe.source import SourcePipe
from .block import SetSettings
from .gold import Augmenter, WeightedTags, weighted_gold
from .outputs import LikelySequences, TagSets
from .rules import PARENTS, set_rule, tag_tree


@LabelsTokens.register
class SetValuedTagger(ChainPipe):
    """Tags with a set of tags for each token. See `SetSettings`."""

    learned_settings = (PARENTS,)
    settings: SetSettings

    def __init__(self, vocab: Vocab, settings: SetSettings, name: str = "set_valued_tagger"):
        self._augmented = Augmenter()
        learned: dict[str, Any] = {PARENTS: []}
        super().__init__(vocab, settings, name, **learned)

    @property
    def annotation(self) -> WeightedTags:
        own = self.settings
        return WeightedTags(own.target, own.overwrite, own.gold_tags)

    @property
    def tag_probs(self) -> str:
        """Name of the custom attribute with the probabilities."""
        return self.settings.tag_probs

    def decoder(self) -> Decoder:
        own, tags = self.settings, self.tags.tags
        likely = LikelySequences(own.tag_sequences, own.sequence_mass, own.sequences, tags)
        outputs = (*set_outputs(self.name, own, self.cfg[PARENTS], tags), likely)
        return Decoder(self.annotation, outputs, posterior=own.decode == "posterior")

    def _begin(self) -> None:
        self._augmented = Augmenter()
        super()._begin()

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        start: str | None = None,
    ) -> None:
        """Set labels, and read word lists and the tag tree. See `ChainPipe.initialize` for the arguments."""
        if self.settings.hierarchy is not None:
            self.cfg[PARENTS] = self.settings.hierarchy.read_parents()
        super().initialize(get_examples, nlp=nlp, labels=labels, start=start)
        if self.settings.method == "hierarchy":
            tag_tree(self.name, self.settings, self.cfg[PARENTS], self.labels)  # a label that the file lacks shows now

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        where = self.target, self.settings.gold_tags
        return weighted_gold(self.name, examples, *where, self.tags, self.settings.learn_from)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Take in a batch, in copies if `learn_from` is "augmented"; the weights change in `finish_update`."""
        examples = list(examples)
        if self.settings.learn_from == "augmented":
            where = self.target, self.settings.gold_tags
            examples = [copy for example in examples for copy in self._augmented.copies(example, *where)]
        return super().update(examples, drop=drop, sgd=sgd, losses=losses)


class SourcedSetTagger(SourcePipe):
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
        """Name of the custom attribute with the probabilities."""
        return self.settings.tag_probs

    def decoder(self, tags: TagSet) -> Decoder:
        return Decoder(None, tuple(set_outputs(self.name, self.settings, [], tags.tags)))

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Those of the source, as it is now.

        RETURNS (list of (n, L)): for each Doc, in single precision.
        RAISES (ValueError): where there is no source, or it has no probabilities of each label.
        """
        return self.probabilities(docs)[1]


def set_outputs(name: str, settings: SetSettings, parents: list[list[str]], tags: Sequence[str]) -> list[Output]:
    """What a tagger with sets tells: probabilities, sets and, for a tag tree, their nodes.

    name (str): of the component. parents (list): pairs of the tag tree. tags (Sequence[str]): of the chain.
    """
    where = name, settings, parents, tags
    make_tree = partial(tag_tree, *where) if settings.method == "hierarchy" else None
    sets = TagSets(settings.tag_set, tags, partial(set_rule, *where), settings.tag_nodes, make_tree)
    return [Marginals(settings.tag_probs, tags), sets]

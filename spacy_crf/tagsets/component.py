"""A CRF tagger that gives a set of tags where the evidence is thin."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ..annotation.extensions import register, register_by_token
from ..core.arrays import Bools, Indices
from ..core.errors import CRFError
from ..core.gold import Gold
from ..features.block import FeatureSettings, SequenceMode
from ..learning.block import Trainer
from ..learning.model import ChainModel
from ..pipe.dictionary.block import DictionarySettings
from ..pipe.inference import Inference, Prediction
from ..pipe.orders import check_order
from ..pipe.settings import Decode
from ..pipe.uncertainty import SequenceChoice
from ..tagging.component import CRFTagger
from .augment import Augmenter
from .errors import TagSetErrors
from .gold import collect_weighted_labels, describe_weighted_gold, weighted_gold
from .rules import LearnFrom, Method, check_set_settings, set_rule
from .tag_tree import PARENTS, TreeSettings, tag_tree


class SetValuedTagger(CRFTagger):
    """Tags with a set of tags for each token. See `set_factory.make_set_valued_tagger` for the settings."""

    learned_settings = (PARENTS,)

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "set_valued_tagger",
        *,
        features: FeatureSettings,
        trainer: Trainer,
        target: Literal["tag", "pos"] = "tag",
        sequence: SequenceMode = "auto",
        overwrite: bool = False,
        method: Method = "utility",
        utility: str = "g",
        alpha: float = 1.0,
        beta: float = 1.0,
        coverage: float = 0.95,
        size: int = 2,
        guarantee: dict[str, Any] | None = None,
        hierarchy: TreeSettings | None = None,
        learn_from: LearnFrom = "soft",
        sequences: int = 0,
        sequence_mass: float = 0.9,
        decode: Decode = "viterbi",
        temperature: float = 1.0,
        forbidden: list[list[str]] | None = None,
        dictionary: DictionarySettings | None = None,
        tag_set: str = "tag_set",
        tag_probs: str = "tag_probs",
        tag_sequences: str = "tag_sequences",
        tag_nodes: str = "tag_nodes",
        gold_tags: str = "gold_tags",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        self._set_settings: dict[str, Any] = {
            "method": method,
            "utility": utility,
            "alpha": alpha,
            "beta": beta,
            "coverage": coverage,
            "size": size,
            "guarantee": guarantee,
            "hierarchy": None if hierarchy is None else asdict(hierarchy),
            PARENTS: [],
            "learn_from": learn_from,
            "sequences": sequences,
            "sequence_mass": sequence_mass,
            "tag_set": tag_set,
            "tag_sequences": tag_sequences,
            "tag_nodes": tag_nodes,
            "gold_tags": gold_tags,
        }
        check_set_settings(name, self._set_settings)
        check_order(name, model, trainer, self._set_settings)
        if learn_from == "augmented" and dictionary is not None and dictionary.has_feature:
            raise CRFError(TagSetErrors.CRF434.format(name=name))
        super().__init__(
            vocab,
            model,
            name,
            features=features,
            trainer=trainer,
            target=target,
            scheme="none",
            sequence=sequence,
            overwrite=overwrite,
            marginals=tag_probs,
            decode=decode,
            temperature=temperature,
            forbidden=forbidden,
            dictionary=dictionary,
            scorer=scorer,
        )
        self.cfg.update(self._set_settings)
        self._register_extensions()

    def _register_extensions(self) -> None:
        super()._register_extensions()
        names = {**self._set_settings, **self.cfg}
        register_by_token(names["tag_set"])
        register_by_token(names["tag_nodes"])
        register(Doc, names["tag_sequences"])

    @property
    def tag_probs(self) -> str:
        """Name of the custom attribute with the probabilities."""
        return str(self.cfg["marginals"])

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
        if self.cfg["hierarchy"] is not None:
            self.cfg[PARENTS] = TreeSettings(**self.cfg["hierarchy"]).read_parents()
        super().initialize(get_examples, nlp=nlp, labels=labels, start=start)
        if self.cfg["method"] == "hierarchy":
            tag_tree(self.name, self.cfg, self.labels)  # a label that the file lacks shows before training

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        return collect_weighted_labels(references, self.target, self.cfg["gold_tags"])

    def describe_gold(self) -> str:
        return describe_weighted_gold(self.target, self.cfg["gold_tags"])

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        where = self.target, self.cfg["gold_tags"]
        return weighted_gold(self.name, examples, *where, self.tags, self.cfg["learn_from"])

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
        if self.cfg["learn_from"] == "augmented":
            where = self.target, self.cfg["gold_tags"]
            examples = [copy for example in examples for copy in self._augmented.copies(example, *where)]
        return super().update(examples, drop=drop, sgd=sgd, losses=losses)

    def inference(self) -> Inference:
        cap = self.cfg["sequences"]
        likely = SequenceChoice(self.cfg["sequence_mass"], cap) if cap else None
        rule = set_rule(self.name, self.cfg, self.tags.tags)
        return replace(super().inference(), marginals=True, sets=rule, sequences=likely)

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Prediction]) -> None:
        """Write tags, tag sets and probabilities. Tags that are there stay, unless `overwrite` is set."""
        docs = list(docs)
        super().set_annotations(docs, predictions)
        names = np.array(self.tags.tags, dtype=object)
        tree = tag_tree(self.name, self.cfg, self.tags.tags) if self.cfg["method"] == "hierarchy" else None
        for doc, prediction in zip(docs, predictions):
            if prediction.members is not None and prediction.marginals is not None:
                doc._.set(self.cfg["tag_set"], listed(prediction.members, prediction.marginals, names))
                if tree is not None:
                    doc._.set(self.cfg["tag_nodes"], tree.names_of(prediction.members))
            if prediction.sequences is not None and self.cfg["sequences"]:
                found = [likely.to_data(self.tags.tags) for likely in prediction.sequences]
                doc._.set(self.cfg["tag_sequences"], found)


def listed(members: Bools, marginals: Any, names: Any) -> list[list[str]]:
    """The tags of each set, the most probable one first.

    members ((n, L)), marginals ((n, L)): of the tokens of a Doc. names ((L,)): the tags.
    """
    tokens, tags = np.nonzero(members)
    order = np.lexsort((-marginals[tokens, tags], tokens))
    flat = names.take(tags[order]).tolist()
    ends = np.cumsum(members.sum(axis=1)).tolist()
    return [flat[low:high] for low, high in zip([0, *ends], ends)]

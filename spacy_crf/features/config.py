"""The `features` block of a component's config."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy import registry
from spacy.language import Language

from ..core.arrays import Bools
from ..core.errors import CRFError
from .attributes import COUNTED, INDUCED, Attribute
from .buckets import BucketIndex
from .columns import SequenceMode
from .errors import FeatureErrors
from .extract import FeatureExtractor, Reader
from .index import FeatureIndex
from .induced import ClassConfig, Texts, WordClasses
from .lexicon import Lexicon, WordCounts
from .lists import WordList
from .normalise import Spelling
from .resources import Resources
from .rewrite import Rewriter
from .spelling import Speller, SpellingConfig
from .templates import Template, parse_templates


@dataclass(frozen=True)
class FeatureConfig:
    """What a component sees of the text.

    templates (list[Template]): parsed templates.
    min_count (int), min_edge_count (int): frequency cut-offs of state and edge features.
    lists (dict[str, str]): paths of word lists, read by `initialize` and saved with the model.
    padding (bool): whether positions outside the sequence have values of their own.
    max_features (int): buckets that features are hashed to; 0: each feature has a number of its own.
    spelling (SpellingConfig | None): where normal forms of words come from.
    classes (ClassConfig | None): how classes of words are induced.
    """

    templates: list[Template]
    min_count: int = 1
    min_edge_count: int = 1
    lists: dict[str, str] = field(default_factory=dict)
    padding: bool = True
    max_features: int = 0
    spelling: SpellingConfig | None = None
    classes: ClassConfig | None = None

    def make_resources(
        self,
        nlp: Language | None,
        count: Callable[[], Mapping[str, int]] = dict[str, int],
        texts: Texts = list[list[str]],
    ) -> Resources:
        """Read word lists and rules from their files, and fit what is to be fitted.

        nlp (Language | None): splits the phrases of word lists.
        count (Callable): how often each form of the training corpus occurs; called only where it is needed.
        texts (Callable): the words of its texts; likewise.
        """
        lists = {name: WordList.read(name, Path(path), nlp) for name, path in sorted(self.lists.items())}
        speller = None if self.spelling is None else self.spelling.make(count)
        thresholds, sizes = self._numbers(COUNTED), self._numbers([INDUCED])
        counts = WordCounts.of(count(), thresholds) if thresholds else None
        classes = self.classes.make(texts, sizes) if self.classes is not None and sizes else None
        return Resources(lists, Lexicon(speller, counts, classes))

    def empty_resources(self) -> Resources:
        """What there is before `make_resources`: lists and tables without entries."""
        lists = {name: WordList(name, []) for name in self.lists}
        speller = None if self.spelling is None else Speller(Rewriter(()), Spelling({}))
        counts = WordCounts({}) if self._numbers(COUNTED) else None
        sizes = self._numbers([INDUCED])
        return Resources(lists, Lexicon(speller, counts, WordClasses([], {n: [] for n in sizes}) if sizes else None))

    def make_reader(self, resources: Resources) -> Reader | None:
        """What reads columns; None for the reader of tokens."""
        return None

    def _numbers(self, names: Collection[str]) -> list[int]:
        """Numbers with which templates ask for some attributes."""
        attributes = [atom.attribute for template in self.templates for atom in template.atoms]
        return [attribute.number for attribute in attributes if attribute.name in names]


@registry.misc("spacy_crf.Features.v1")
def make_features(
    templates: list[str],
    min_count: int = 1,
    min_edge_count: int = 1,
    lists: dict[str, str] | None = None,
    padding: bool = True,
    max_features: int = 0,
    spelling: SpellingConfig | None = None,
    classes: ClassConfig | None = None,
) -> FeatureConfig:
    """Templates and what belongs to them.

    templates (list[str]): in the language of `spacy_crf.features.templates`.
    min_count (int): state features seen less often in training are left out.
    min_edge_count (int): the same for edge features, of which there is one for each pair of labels.
    lists (dict[str, str] | None): word lists by name: paths of TSV files, `word or phrase<TAB>value`.
    padding (bool): give positions outside the sequence values of their own instead of none.
    max_features (int): hash state features, and edge features, to at most so many buckets, for streams of ever new
        words; features in one bucket share their weights, and inspection sees numbers only. 0: grow without bound.
    spelling (SpellingConfig | None): normal forms of words, for templates that ask for them.
    classes (ClassConfig | None): spacy_crf.InducedClasses.v1, for templates such as CLASS50.
    RETURNS (FeatureConfig): the parsed block.
    """
    parsed = parse_templates(templates)
    if not parsed:
        raise CRFError(FeatureErrors.CRF310)
    for template in parsed:
        for atom in template.atoms:
            _check_resource(template, atom.attribute, lists or {}, spelling, classes)
    if max_features < 0:
        raise CRFError(FeatureErrors.CRF312.format(value=max_features))
    return FeatureConfig(parsed, min_count, min_edge_count, dict(lists or {}), padding, max_features, spelling, classes)


def _check_resource(
    template: Template,
    attribute: Attribute,
    lists: Mapping[str, str],
    spelling: SpellingConfig | None,
    classes: ClassConfig | None,
) -> None:
    """Raise a coded error for a template that asks for what the features do not have."""
    if attribute.is_of_units:
        raise CRFError(FeatureErrors.CRF966.format(template=str(template)))
    if attribute.name == "LIST" and attribute.key not in lists:
        raise CRFError(FeatureErrors.CRF305.format(template=str(template), name=attribute.key))
    if attribute.is_spelt and spelling is None:
        raise CRFError(FeatureErrors.CRF323.format(template=str(template)))
    if attribute.is_induced and classes is None:
        raise CRFError(FeatureErrors.CRF976.format(template=str(template)))


class Features:
    """The extractor and the indices of one component: everything between Docs and integers.

    config (FeatureConfig): its block. sequence (str): what a sequence is.
    resources (Resources | None): word lists and the like; empty ones until they are made or loaded.
    """

    def __init__(self, config: FeatureConfig, sequence: SequenceMode, resources: Resources | None = None):
        self.config, self.sequence = config, sequence
        self.resources = config.empty_resources() if resources is None else resources
        reader = config.make_reader(self.resources)
        self.extractor = FeatureExtractor(config.templates, self.resources, sequence, config.padding, reader)
        self.state = self._index(self.extractor.state_templates, config.min_count)
        self.edge = self._index(self.extractor.edge_templates, config.min_edge_count)

    def _index(self, templates: list[Template], min_count: int) -> FeatureIndex:
        n_buckets = self.config.max_features
        return BucketIndex(templates, min_count, n_buckets) if n_buckets else FeatureIndex(templates, min_count)

    def to_data(self, kept: tuple[Bools, Bools] | None = None) -> dict[str, Any]:
        """Indices and resources as arrays and lists.

        kept (tuple | None): which state features (F,) and edge features (E,) to write; None: all.
        """
        state, edge = self.state, self.edge
        if kept is not None:
            state, edge = state.keep(kept[0]), edge.keep(kept[1])
        return {
            "templates": [str(template) for template in self.config.templates],
            "max_features": self.config.max_features,
            "padding": self.config.padding,
            "state": state.to_data(),
            "edge": edge.to_data(),
            **self.resources.to_data(),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any], config: FeatureConfig, sequence: SequenceMode) -> "Features":
        """Restore from `to_data`.

        RAISES (ValueError): where the config hashes features otherwise.
        """
        features = cls(config, sequence, Resources.from_data(data))
        features.take_indices(data)
        return features

    def take_indices(self, data: dict[str, Any]) -> None:
        """Number features as those were from which `to_data` made the data; resources stay as they are.

        RAISES (ValueError): where the config hashes or pads features otherwise.
        """
        for setting in ("max_features", "padding"):
            ours = getattr(self.config, setting)
            theirs = data.get(setting, ours if setting == "padding" else 0)
            if theirs != ours:
                raise CRFError(FeatureErrors.CRF313.format(setting=setting, theirs=theirs, ours=ours))
        self.state.from_data(data["state"])
        self.edge.from_data(data["edge"])

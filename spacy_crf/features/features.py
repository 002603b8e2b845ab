"""Everything between Docs and sparse rows: the extractor and the indices of one component."""

from typing import Any

from ..core.arrays import Bools
from ..core.errors import CRFError
from .block import FeatureSettings, SequenceMode
from .errors import FeatureErrors
from .extract import FeatureExtractor
from .index import BucketIndex, FeatureIndex
from .resources import Resources
from .templates import Template


class Features:
    """The extractor and the indices of one component.

    config (FeatureSettings): its block. sequence (str): what a sequence is.
    resources (Resources | None): word lists and the like; empty ones until they are made or loaded.
    """

    def __init__(self, config: FeatureSettings, sequence: SequenceMode, resources: Resources | None = None):
        self.config, self.sequence = config, sequence
        self.resources = config.empty_resources() if resources is None else resources
        reader = config.make_reader(self.resources)
        self.extractor = FeatureExtractor(config.parsed, self.resources, sequence, config.padding, reader)
        self.state = self._index(self.extractor.state_templates, config.min_count)
        self.edge = self._index(self.extractor.edge_templates, config.min_edge_count)

    def _index(self, templates: list[Template], min_count: int) -> FeatureIndex:
        n_buckets = self.config.max_features
        return BucketIndex(templates, min_count, n_buckets) if n_buckets else FeatureIndex(templates, min_count)

    def to_data(self, kept: tuple[Bools, Bools] | None = None) -> dict[str, Any]:
        """Return indices and resources as arrays and lists.

        kept (tuple | None): which state features (F,) and edge features (E,) to write; None: all.
        """
        state, edge = self.state, self.edge
        if kept is not None:
            state, edge = state.keep(kept[0]), edge.keep(kept[1])
        return {
            "templates": [str(template) for template in self.config.parsed],
            "max_features": self.config.max_features,
            "padding": self.config.padding,
            "state": state.to_data(),
            "edge": edge.to_data(),
            **self.resources.to_data(),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any], config: FeatureSettings, sequence: SequenceMode) -> "Features":
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

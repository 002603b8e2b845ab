"""What a component over a chain knows: features, weights and tags that belong together, and how they are stored."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from spacy.vocab import Vocab

from ..core.arrays import Bools
from ..core.errors import CRFError
from ..core.labels import TagSet
from ..core.weights import ChainWeights
from ..features.block import FeatureSettings, SequenceMode
from ..features.features import Features
from ..learning.block import LinearChain
from ..learning.encoder import ChainLearner, Trainer
from ..learning.model import (
    PARAMS,
    ChainModel,
    copy_tok2vec,
    get_layout,
    get_weights,
    load_bytes,
    rounded_weights,
    set_masks,
    set_weights,
    weight_arrays,
    weight_bytes,
)
from ..learning.scores import Emissions
from .block import ChainSettings
from .dictionary.valid_tags import ValidTags
from .errors import PipeErrors
from .labels import HasLabels
from .storage import Parts, Stored, check_templates, read_folder, readable


class Start(NamedTuple):
    """What a component begins with: labels, features as `Features.to_data` gives them, and weights of a saved one."""

    labels: list[str]
    features: dict[str, Any]
    model: ChainModel


class StoresChain(HasLabels, Stored):
    """What a component over a chain knows, and how it is stored.

    learned_settings (tuple[str, ...]): what of `cfg` comes from data, not from the config, beside the labels.
    settings_of_weights (tuple[str, ...]): what of it holds for the weights alone that it was learned with.
    """

    learned_settings: ClassVar[tuple[str, ...]] = ()
    settings_of_weights: ClassVar[tuple[str, ...]] = ()

    vocab: Vocab
    model: ChainModel
    trainer: Trainer
    settings: ChainSettings
    cfg: Any
    make_tags: Callable[[tuple[str, ...]], TagSet]
    _features: Features
    _valid_tags: ValidTags
    _known: tuple[list[Any], Emissions] | None

    @property
    def feature_config(self) -> FeatureSettings:
        """The block of the features."""
        return self.settings.features

    @property
    def sequence(self) -> SequenceMode:
        """What a sequence of the chain is."""
        mode: SequenceMode = getattr(self.settings, "sequence", "doc")
        return mode

    def _begin(self) -> None:
        """Tie features, model and tags together after one of them was replaced."""
        tags = self.make_tags(self.labels)
        if self.labels and get_layout(self.model).n_labels == len(tags):
            set_masks(self.model, self._allowed(tags))
        self._learner = ChainLearner(self.name, self.labels, tags, self._features, self.model, self.vocab)
        self._forget_scores()

    def _allowed(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        """Transitions (L, L), starts (L,) and ends (L,) that the scheme and the user allow."""
        transitions, starts, ends = tags.legal()
        for pair in getattr(self.settings, "forbidden", ()):
            if len(pair) != 2:
                problem = {"setting": "forbidden", "value": pair, "expected": "a list of pairs [from, to]"}
                raise CRFError(PipeErrors.CRF408.format(name=self.name, **problem))
            for tag in pair:
                if tag not in tags.number:
                    raise CRFError(PipeErrors.CRF410.format(name=self.name, tag=tag, tags=", ".join(tags.tags)))
            transitions[tags.number[pair[0]], tags.number[pair[1]]] = False
        return transitions, starts, ends

    @property
    def scores(self) -> Emissions:
        """Scores under the present weights, made anew when one was replaced (training, `use_params`, loading)."""
        arrays = weight_arrays(self.model)
        if self._known is None or any(old is not new for old, new in zip(self._known[0], arrays, strict=True)):
            self._known = arrays, Emissions(self._features, get_weights(self.model), self.name)
        return self._known[1]

    def _forget_scores(self) -> None:
        self._known = None

    def take_over(self, trained: "StoresChain", features: Features, weights: ChainWeights) -> None:
        """Have learned what another component has, with other features and weights.

        trained (StoresChain): whose labels, learned settings and tok2vec layer it gets; no calibration.
        features (Features): with their indices. weights (ChainWeights): for them.
        """
        kept = [name for name in ("labels", *self.learned_settings) if name not in self.settings_of_weights]
        self.cfg.update({name: trained.cfg[name] for name in kept})
        self._features = features
        set_weights(self.model, weights)
        copy_tok2vec(self.model, trained.model)
        self.trainer.reset()
        self._begin()

    def _parts(self, exclude: Iterable[str]) -> Parts:
        """What to store: without weights of 0 and features that have no others, as scores do not need them.

        The component itself keeps them, for training may go on. Features and model are pruned together or not at all.
        """
        if not all(map(self.model.has_param, PARAMS)):
            features = {**self._features.to_data(), **self._valid_tags.to_data()}
            return Parts(dict(self.cfg), self.model.to_bytes(), features, self._write_extra())
        kept = None
        try:
            weights = rounded_weights(self.model)
            if not {"features", "model"} & set(exclude):
                pruned = weights.pruned()  # rounded as they are: what becomes 0 in a file is left out as well
                weights, kept = pruned.weights, (pruned.features, pruned.edge_features)
            model = weight_bytes(self.model, weights)
        except OverflowError as error:
            raise CRFError(PipeErrors.CRF414.format(name=self.name, value=error.args[0])) from error
        features = {**self._features.to_data(kept), **self._valid_tags.to_data()}
        return Parts(dict(self.cfg), model, features, self._write_extra())

    def _write_extra(self) -> dict[str, bytes]:
        """Contents of the files that only this kind of component has."""
        return {}

    def _read_extra(self, files: dict[str, bytes], path: str) -> None:
        """Take over the contents of such files, those that were not excluded."""

    def _restore(self, files: dict[str, bytes], path: str) -> None:
        """Take over what was stored; run-time settings stay those of the config, only what was learned is taken."""
        parts = Parts.parse(files, self.name, path)
        if parts.features is not None:
            check_templates(self.name, self.feature_config, parts.features)
            self._valid_tags.require(parts.features)
        with readable(self.name, path):
            if parts.cfg is not None:
                self.cfg["labels"] = [str(label) for label in parts.cfg["labels"]]
                self.cfg.update({name: parts.cfg[name] for name in self.learned_settings if name in parts.cfg})
            if parts.features is not None:
                self._features = Features.from_data(parts.features, self.feature_config, self.sequence)
                self._valid_tags.from_data(parts.features)
            if parts.model is not None:
                load_bytes(self.model, parts.model)
        if get_weights(self.model).order > self.model.attrs["order"]:
            raise CRFError(PipeErrors.CRF438.format(name=self.name, path=path))
        self.trainer.reset()
        self._check_sizes(path)
        self._begin()
        self._read_extra(parts.extra, path)
        if get_layout(self.model).n_labels:
            _ = self.scores  # now, not at the first Doc: dense weights take as long as thousands of tokens

    def _read_start(self, path: str) -> Start:
        """What another component of this kind has learned.

        RAISES (ValueError): where it has learned nothing, or something else than this one is to learn.
        """
        parts = Parts.parse(read_folder(Path(path), (), self.name), self.name, path)
        cfg, features, model = parts.cfg or {}, parts.features or {}, LinearChain()
        check_templates(self.name, self.feature_config, features)
        with readable(self.name, path):
            labels = tuple(str(label) for label in cfg["labels"])
            load_bytes(model, parts.model or b"")
        ours, theirs = self.cfg.get("target"), cfg.get("target")
        actual, expected = get_layout(model).n_labels, len(self.make_tags(labels))
        if not labels or ours != theirs or actual != expected:
            found = {"theirs": theirs, "actual": actual, "ours": ours, "expected": expected}
            raise CRFError(PipeErrors.CRF418.format(name=self.name, path=path, **found))
        return Start(list(labels), features, model)

    def _check_sizes(self, path: str) -> None:
        actual, expected = get_layout(self.model).n_labels, len(self.make_tags(self.labels))
        if actual and actual != expected:
            raise CRFError(PipeErrors.CRF412.format(name=self.name, actual=actual, expected=expected))
        if get_layout(self.model).n_features != len(self._features.state):
            problem = "the features and the model do not belong together"
            raise CRFError(PipeErrors.CRF404.format(name=self.name, path=path, error=problem))

"""Labels, settings, features and weights of a component over a linear chain, and how they are stored."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.vocab import Vocab

from ..core.arrays import Bools
from ..core.errors import CRFError
from ..core.labels import Scheme, TagSet
from ..core.weights import ChainWeights
from ..features.block import FeatureSettings, SequenceMode
from ..features.features import Features
from ..learning.block import Trainer
from ..learning.encoder import ChainLearner
from ..learning.model import (
    PARAMS,
    ChainModel,
    LinearChain,
    copy_tok2vec,
    get_layout,
    get_weights,
    load_bytes,
    resize_labels,
    rounded_weights,
    set_masks,
    set_weights,
    weight_arrays,
    weight_bytes,
)
from ..learning.scores import Emissions
from .dictionary.block import DictionarySettings
from .dictionary.valid_tags import ValidTags
from .errors import PipeErrors
from .labels import HasLabels
from .storage import Parts, Stored, check_templates, read_folder, readable

# settings that only chains of order 1 can serve, and what they ask for
FIRST_ORDER_SETTINGS = {
    "threshold": "the setting `threshold`",
    "scores": "the setting `scores`",
    "n_best": "the setting `n_best`",
    "sequences": "the setting `sequences`",
}


def check_order(name: str, model: ChainModel, trainer: Trainer, settings: Mapping[str, Any]) -> None:
    """Raise a coded error for a trainer or a setting that a model of order 2 cannot have.

    name (str): of the component. settings (Mapping): its run-time settings.
    """
    weights = get_weights(model)
    if weights.order > 1 and not trainer.learns_trigrams:
        raise CRFError(PipeErrors.CRF435.format(name=name, trainer=type(trainer).__name__))
    asked = [what for setting, what in FIRST_ORDER_SETTINGS.items() if settings.get(setting)]
    if settings.get("target") == "spans":
        asked.append("target 'spans', which takes probabilities of spans,")
    for what in asked:
        weights.require_first_order(name, what)


class Start(NamedTuple):
    """What a component begins with: labels, features as `Features.to_data` gives them, and weights of a saved one."""

    labels: list[str]
    features: dict[str, Any]
    model: ChainModel


class ChainState(HasLabels, Stored, TrainablePipe):
    """What a component knows, apart from how it learns and predicts. See `ChainPipe` for the arguments.

    learned_settings (tuple[str, ...]): what of `cfg` comes from data, not from the config, beside the labels.
    settings_of_weights (tuple[str, ...]): what of it holds for the weights alone that it was learned with.
    """

    learned_settings: tuple[str, ...] = ()
    settings_of_weights: tuple[str, ...] = ()

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str,
        *,
        features: FeatureSettings,
        trainer: Trainer,
        sequence: SequenceMode,
        scheme: Scheme,
        forbidden: list[list[str]],
        scorer: Callable[..., dict[str, Any]] | None,
        settings: dict[str, Any],
        dictionary: DictionarySettings | None = None,
    ):
        self.vocab, self.model, self.name, self.scorer, self.trainer = vocab, model, name, scorer, trainer
        self.feature_config, self.sequence, self.scheme, self.forbidden = features, sequence, scheme, forbidden
        self.cfg: dict[str, Any] = {**settings, "labels": []}
        self._features = Features(features, sequence)
        self._valid_tags = ValidTags(name, dictionary, features)
        self._scores: tuple[list[Any], Emissions] | None = None
        self._begin()

    @abstractmethod
    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        """The tags of the chain for the component's labels."""
        raise NotImplementedError

    @property
    def features(self) -> Features:
        """The extractor and the indices of the features."""
        return self._features

    @property
    def has_dictionary(self) -> bool:
        """Whether a tag dictionary rules tags out."""
        return self._valid_tags.config is not None

    # -- labels ----------------------------------------------------------------------------------------------

    @property
    def tags(self) -> TagSet:
        """Tags of the chain, in the order of its label indices."""
        return self._learner.tags

    def add_label(self, label: str) -> int:
        """Add a label behind the present ones; trained weights stay.

        RETURNS (int): 1 if the label is new, else 0.
        """
        self.check_label(label)
        if label in self.labels:
            return 0
        self.cfg["labels"] = [*self.cfg["labels"], label]
        self.vocab.strings.add(label)
        if get_layout(self.model).n_labels:
            resize_labels(self.model, len(self.make_tags(self.labels)))
        self.trainer.reset()
        self._begin()
        return 1

    # -- state -----------------------------------------------------------------------------------------------

    def take_over(self, trained: "ChainState", features: Features, weights: ChainWeights) -> None:
        """Have learned what another component has, with other features and weights.

        trained (ChainState): whose labels, learned settings and tok2vec layer it gets; no calibration.
        features (Features): with their indices. weights (ChainWeights): for them.
        """
        kept = [name for name in ("labels", *self.learned_settings) if name not in self.settings_of_weights]
        self.cfg.update({name: trained.cfg[name] for name in kept})
        self._features = features
        set_weights(self.model, weights)
        copy_tok2vec(self.model, trained.model)
        self.trainer.reset()
        self._begin()

    def _begin(self) -> None:
        """Tie features, model and tags together after one of them was replaced."""
        tags = self.make_tags(self.labels)
        if self.labels and get_layout(self.model).n_labels == len(tags):
            set_masks(self.model, self._allowed(tags))
        self._learner = ChainLearner(self.name, self.labels, tags, self._features, self.model, self.vocab)
        self._scores = None

    def _allowed(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        transitions, starts, ends = tags.legal()
        for pair in self.forbidden:
            if len(pair) != 2:
                problem = {"setting": "forbidden", "value": pair, "expected": "a list of pairs [from, to]"}
                raise CRFError(PipeErrors.CRF408.format(name=self.name, **problem))
            for tag in pair:
                if tag not in tags.number:
                    raise CRFError(PipeErrors.CRF410.format(name=self.name, tag=tag, tags=", ".join(tags.tags)))
            transitions[tags.number[pair[0]], tags.number[pair[1]]] = False
        return transitions, starts, ends

    def _emissions(self) -> Emissions:
        """Scores under the present weights, made anew when one was replaced (training, `use_params`, loading)."""
        arrays = weight_arrays(self.model)
        if self._scores is None or any(old is not new for old, new in zip(self._scores[0], arrays)):
            self._scores = (arrays, Emissions(self._features, get_weights(self.model), self.name))
        return self._scores[1]

    def _parts(self, exclude: Iterable[str]) -> Parts:
        """What to store: without weights of 0 and features that have no others, as scores do not need them.

        The component itself keeps them, for training may go on. Features and model are pruned together or not at all.
        """
        if not all(map(self.model.has_param, PARAMS)):
            features = {**self._features.to_data(), **self._valid_tags.to_data()}
            return Parts(self.cfg, self.model.to_bytes(), features, self._write_extra())
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
        return Parts(self.cfg, model, features, self._write_extra())

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
            self._emissions()  # now, not at the first Doc: dense weights take as long as thousands of tokens

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

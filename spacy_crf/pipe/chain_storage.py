"""What a component over a chain knows: features, weights and tags that belong together, and how they are stored."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.documents import Preparation, read_doc_name
from ..annotation.span_targets import SpanTarget
from ..annotation.target import Target
from ..core.arrays import Bools
from ..core.errors import CRFError, CRFWarning
from ..core.labels import OUTSIDE, Scheme, TagSet
from ..core.weights import ChainWeights
from ..features.block import FeatureSettings, SequenceMode
from ..features.features import LEARNED_WITH, Features
from ..features.resources import Lexicon
from ..learning.block import LinearChain
from ..learning.encoder import ChainLearner, Trainer, release_memory
from ..learning.model import (
    PARAMS,
    ChainModel,
    copy_tok2vec,
    get_layout,
    get_weights,
    load_bytes,
    made_with,
    resize_labels,
    rounded_weights,
    set_masks,
    set_weights,
    take_weights,
    weight_bytes,
)
from ..learning.resuming import usable
from .block import ChainSettings
from .dictionary.valid_tags import ValidTags
from .errors import PipeErrors, PipeWarnings
from .labels import PREPARATION, SKIPS_WHITE_SPACE, HasLabels, KeepsPreparation
from .setting_types import learned_values
from .storage import RUN, Parts, Run, Stored, check_templates, read_folder, readable, settings_of_run, warn_of_settings


class Start(NamedTuple):
    """What a component begins with: labels, what else its `cfg` has learned, features as `Features.to_data` gives them,
    weights, the lexicon that the features mean, and files of its own, of a saved one (path); and the run of training
    that goes on, if one does."""

    path: str
    labels: list[str]
    learned: dict[str, Any]
    features: dict[str, Any]
    model: ChainModel
    lexicon: Lexicon
    files: dict[str, bytes]
    run: Run | None = None


class StoresChain(HasLabels, KeepsPreparation, Stored):
    """What a component over a chain knows, and how it is stored.

    learned_settings: what of `cfg` comes from data beside the labels, with its type; settings_of_weights: what of that
    holds for the weights alone that it was learned with.
    """

    learned_settings: ClassVar[Mapping[str, Any]] = {}
    settings_of_weights: ClassVar[tuple[str, ...]] = ()

    vocab: Vocab
    model: ChainModel
    trainer: Trainer
    settings: ChainSettings
    cfg: Any
    features: Features
    tags: Any
    valid_tags: ValidTags
    learner: ChainLearner
    scheme: Scheme
    scores: Any
    forget_scores: Callable[[], None]
    prepares: str

    @property
    @abstractmethod
    def annotation(self) -> Target:
        """What is learned and written, under the present settings."""
        raise NotImplementedError

    @property
    def feature_config(self) -> FeatureSettings:
        """The block of the features."""
        return self.settings.features

    @property
    def target(self) -> str:
        """Name of what is learned and written."""
        return str(self.settings.target)  # type: ignore[attr-defined]

    @property
    def sequence(self) -> SequenceMode:
        """What a sequence of the chain is."""
        mode: SequenceMode = getattr(self.settings, "sequence", "doc")
        return mode

    def learn_preparation(self, references: Iterable[Doc]) -> None:
        """Take it from the gold Docs of training; refuse what order 2 cannot decode."""
        super().learn_preparation(references)
        own = Preparation.from_data(self.cfg[PREPARATION])
        hides = own is not None and own.punctuation == "context"
        if hides and self.model.attrs["order"] == 2 and getattr(self.settings, "decode", "") == "viterbi":
            raise CRFError(PipeErrors.CRF471.format(name=self.name))

    def learn_texts(self, get_examples: Callable[[], Iterable[Example]]) -> None:
        """Take from the examples of training what the component keeps of how texts are."""
        if PREPARATION in self.learned_settings:
            self.learn_preparation(self.references(get_examples))
        if SKIPS_WHITE_SPACE in self.learned_settings:
            self.learn_white_space(get_examples(), self.annotation)

    def rebuild(self) -> None:
        """Tie features, model and tags together after one of them was replaced."""
        tags = self.make_tags(self.labels)
        if self.labels and get_layout(self.model).n_labels == len(tags):
            set_masks(self.model, self.allowed_pairs(tags))
        self.apply_preparation(self.features.extractor)
        self.learner = ChainLearner(self.name, self.labels, tags, self.features, self.model, read_doc_name)
        self.forget_scores()

    def allowed_pairs(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        """Transitions (L, L), starts (L,) and ends (L,) that the scheme and the user allow."""
        transitions, starts, ends = tags.legal()
        for pair in getattr(self.settings, "forbidden", ()):
            if len(pair) != 2:
                problem = {"setting": "forbidden", "value": pair, "expected": "a list of pairs [from, to]"}
                raise CRFError(PipeErrors.CRF408.format(name=self.name, **problem))
            for tag in filter(None, pair):
                if tag not in tags.number:
                    raise CRFError(PipeErrors.CRF410.format(name=self.name, tag=tag, tags=", ".join(tags.tags)))
            before, after = (tags.number.get(tag, slice(None)) for tag in pair)
            if not pair[0]:
                starts[after] = False
            elif not pair[1]:
                ends[before] = False
            else:
                transitions[before, after] = False
        return transitions, starts, ends

    @property
    def has_plain_spans(self) -> bool:
        """Whether the tags of spans are their labels; then O is a label where the training data have it."""
        return self.annotation.is_spans and self.scheme == "none"

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        """The tags of the chain for the component's labels."""
        if self.scheme != "none" and labels and self.annotation.is_spans:
            return TagSet.of_spans(labels, self.scheme)
        return TagSet(labels, self.scheme)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        """Labels that occur in gold Docs, sorted."""
        target = self.annotation
        if not (isinstance(target, SpanTarget) and self.has_plain_spans):
            return target.labels(references)
        found: set[str] = set()
        for doc in references:
            found |= target.labels_of(doc)
            found |= {OUTSIDE} if target.has_outside(doc) else set()
        labels = sorted(found - {"", OUTSIDE})
        return [OUTSIDE, *labels] if labels and OUTSIDE in found else labels

    def add_label(self, label: str) -> int:
        """Add a label behind the present ones, and return 1, or 0 if it is there; trained weights stay."""
        self.check_label(label)
        if label in self.labels:
            return 0
        self.cfg.learn(labels=[*self.cfg["labels"], label])
        self.vocab.strings.add(label)
        if get_layout(self.model).n_labels:
            resize_labels(self.model, len(self.make_tags(self.labels)))
        self.trainer.reset()
        self.rebuild()
        return 1

    def take_over(self, trained: "StoresChain", features: Features, weights: ChainWeights) -> None:
        """Have learned what another component has, apart from its calibration, with other features and weights."""
        kept = [name for name in ("labels", *self.learned_settings) if name not in self.settings_of_weights]
        self.cfg.learn(**{name: trained.cfg[name] for name in kept})
        self.features = features
        set_weights(self.model, weights)
        copy_tok2vec(self.model, trained.model)
        self.trainer.reset()
        self.rebuild()

    def stored_files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """Contents of the files: without weights of 0 and features that have no others, as scores do not need them.

        The component itself keeps them, for training may go on. Features and model are pruned together or not at all.
        """
        release_memory()  # of an evaluation before: files are made beside all that training holds
        kept = None
        if all(map(self.model.has_param, PARAMS)):
            try:
                weights = rounded_weights(self.model)
                if not {"features", "model"} & set(exclude):
                    pruned = weights.pruned()  # rounded as they are: what becomes 0 in a file is left out as well
                    weights, kept = pruned.weights, (pruned.features, pruned.edge_features)
                model = weight_bytes(self.model, weights)
            except OverflowError as error:
                raise CRFError(PipeErrors.CRF414.format(name=self.name, value=error.args[0])) from error
            except ArithmeticError as error:
                raise CRFError(PipeErrors.CRF429.format(name=self.name)) from error
        else:
            model = self.model.to_bytes()
        features = {**self.features.to_data(kept), **self.valid_tags.to_data()}
        return Parts(self.cfg.to_data(), model, features, {**self.write_files(), **self._run_files()}).files(exclude)

    def _run_files(self) -> dict[str, bytes]:
        """What training needs to go on, where it is to be kept: features and weights are all there, and not rounded."""
        state = self.trainer.state(self.learner) if self.settings.trainer.resumable else None
        if state is None:
            return {}
        run = Run(self._run_settings(), self.features.indices_to_data(), self.model.to_bytes(), state)
        return {RUN: run.to_bytes()}

    def _run_settings(self) -> dict[str, Any]:
        own = {"labels": list(self.labels), "scheme": self.scheme, "sequence": self.sequence}
        return {**own, **settings_of_run(self.settings, self.feature_config)}

    def write_files(self) -> dict[str, bytes]:
        """Contents of the files that only this kind of component has."""
        return {}

    def read_files(self, files: dict[str, bytes], path: str) -> None:
        """Take over the contents of such files, those that were not excluded."""

    def begin_with_files(self, files: dict[str, bytes], path: str) -> None:
        """Take over what training need not learn anew of such files of the component that it starts with."""

    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        parts = Parts.parse(files, self.name, path)
        if parts.features is not None:
            check_templates(self.name, self.feature_config, parts.features)
            if not alone:  # else the settings of the config were not asked for with these files in mind
                warn_of_settings(self.name, self.feature_config, parts.features)
            self.valid_tags.require(parts.features)
        asked = made_with(self.model)
        with readable(self.name, path):
            if parts.cfg is not None:
                self.cfg.learn(labels=[str(label) for label in parts.cfg["labels"]])
                self.cfg.learn(**learned_values(parts.cfg, self.learned_settings))
                self.cfg.take(parts.cfg, alone)
            if parts.features is not None:
                self.features = Features.from_data(parts.features, self.feature_config, self.sequence)
                self.valid_tags.load(parts.features)
            if parts.model is not None:
                load_bytes(self.model, parts.model)
        if not alone:
            self._check_made_with(asked, path)
        for label in self.labels:
            self.check_label(label)  # the target may be another one than in training
        self._check_sizes(path)
        self.trainer.reset()
        self.rebuild()
        self.read_files(parts.extra, path)
        if get_layout(self.model).n_labels:
            _ = self.scores  # now, not at the first Doc: dense weights take as long as thousands of tokens

    def read_start(self, path: str) -> Start:
        """What another component of this kind has learned; a coded error where it is nothing, or something else."""
        files = read_folder(Path(path), (), self.name, self.parts)
        parts = Parts.parse(files, self.name, path)
        cfg, features, model = parts.cfg or {}, parts.features or {}, LinearChain()
        check_templates(self.name, self.feature_config, features)
        with readable(self.name, path):
            labels = tuple(str(label) for label in cfg["labels"])
            load_bytes(model, parts.model or b"")
            lexicon = Lexicon.from_data(features)
            learned = learned_values(cfg, self.learned_settings)
        run = Run.read(path, files, self.name) if self.settings.trainer.resumable else None
        if run is not None:
            with usable(self.name):
                features |= {name: run.features[name] for name in ("state", "edge", "rare")}
                load_bytes(model, run.model)
                Features.from_data(features, self.feature_config, self.sequence)
        elif self.settings.trainer.resumable:
            warnings.warn(PipeWarnings.CRFW405.format(name=self.name, path=path), CRFWarning, stacklevel=3)
        ours, theirs = self.cfg.get("target"), cfg.get("target")
        actual, expected = get_layout(model).n_labels, len(self.make_tags(labels))
        if not labels or ours != theirs or actual != expected:
            found = {"theirs": theirs, "actual": actual, "ours": ours, "expected": expected}
            raise CRFError(PipeErrors.CRF418.format(name=self.name, path=path, **found))
        return Start(path, list(labels), learned, features, model, lexicon, parts.extra, run)

    def fitted(self, labels: Sequence[str] | None, begun: Start | None) -> list[str]:
        """What is fitted to the examples of `initialize`, given labels or a component that training begins with."""
        own = self.preparation
        others = {
            "labels": labels is None,
            "signs that are words": own is not None and own.punctuation != "gold",
            "the tag dictionary": self.valid_tags.needs_gold,
            self.prepares: bool(self.prepares),
        }
        names = self.feature_config.fitted if begun is None else []
        return [*names, *(name for name, holds in others.items() if holds)]

    def begin_with(self, begun: Start) -> None:
        """Take over features and weights of another component; if there is a run, the trainer goes on with it."""
        theirs, layout = get_weights(begun.model), get_layout(self.model)
        lost = {"boundary": theirs.layout.boundary > layout.boundary, "order": theirs.order > self.model.attrs["order"]}
        for setting in (name for name, is_lost in lost.items() if is_lost and begun.run is None):  # a run is checked
            message = PipeWarnings.CRFW418.format(name=self.name, path=begun.path, setting=setting)
            warnings.warn(message, CRFWarning, stacklevel=4)
        self.features.take_indices(begun.features)
        kept = self.feature_config.kept_of(begun.features.get(LEARNED_WITH) or {})
        self.features.learned_with = {**self.feature_config.learned_with, **kept}
        warn_of_settings(self.name, self.feature_config, {LEARNED_WITH: self.features.learned_with})
        take_weights(self.model, begun.model, len(self.make_tags(self.labels)))
        self.begin_with_files(begun.files, begun.path)
        if begun.run is not None:
            if SKIPS_WHITE_SPACE in self.learned_settings:  # older runs do not know of it
                self.cfg.learn(**{SKIPS_WHITE_SPACE: begun.learned.get(SKIPS_WHITE_SPACE, False)})
            begun.run.check(self._run_settings(), self.name)
            self._check_sizes(begun.run.path)
            self.trainer.resume(begun.run.state)

    def _check_made_with(self, asked: dict[str, bool | int], path: str) -> None:
        for setting, theirs in made_with(self.model).items():
            if theirs != asked[setting]:
                told = {"setting": setting, "theirs": theirs, "ours": asked[setting]}
                raise CRFError(PipeErrors.CRF438.format(name=self.name, path=path, **told))

    def _check_sizes(self, path: str) -> None:
        actual, expected = get_layout(self.model).n_labels, len(self.make_tags(self.labels))
        if actual and actual != expected:
            raise CRFError(PipeErrors.CRF412.format(name=self.name, actual=actual, expected=expected))
        layout, features = get_layout(self.model), self.features
        if (layout.n_features, layout.n_edge_features) != (len(features.state), len(features.edge)):
            problem = "the features and the model do not belong together"
            raise CRFError(PipeErrors.CRF404.format(name=self.name, path=path, error=problem))

"""Configs of a search space: the given one with some of its settings, templates and corpora replaced."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from ..core.errors import CRFError
from .errors import LabErrors
from .space import SearchSpace, Value

FEATURES = {"@misc": "spacy_crf.Features.v1"}


class Candidates:
    """Makes configs from values.

    config (Config): with variables as they are. space (SearchSpace): what is searched.
    component (str | None): whose templates groups of templates are; None for the first that has some.
    RAISES (ValueError): where there is no such component, or a key that the config does not have.
    """

    def __init__(self, config: Config, space: SearchSpace, component: str | None = None):
        self._config, self._space = config, space
        self._filled = load_model_from_config(config, auto_fill=True).config
        self.component = self._find_component(component) if space.has_templates else None
        self._always = space.always
        if self.component is not None and self._always is None:
            features = self._filled.interpolate()["components"][self.component]["features"]
            self._always = tuple(features["templates"])

    def make(self, values: Mapping[str, Value]) -> Config:
        """Return the config under values of all parameters, with variables as they are."""
        changed, change = self._config.copy(), self._space.changes(values)
        for key, value in change.settings.items():
            self._set(changed, key, value)
        if self.component is not None:
            features = changed["components"][self.component].setdefault("features", dict(FEATURES))
            features["templates"] = list(dict.fromkeys([*(self._always or ()), *change.templates]))
        return changed

    def check(self, folds: int = 0) -> None:
        """Resolve configs with every option and with the ends of all ranges, so that a slip shows now, not at night.

        folds (int): of cross-validation, for which the dev corpus need not exist; 0 for none.
        RAISES (ValueError): for a key that does not exist, and for a value that its owner refuses.
        """
        for values in self._space.corners():
            config = self.make(values)
            config = with_fold(config, folds, 0, 0) if folds else config
            nlp = load_model_from_config(config, auto_fill=True, validate=True)
            config = nlp.config.interpolate()
            training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
            resolve_dot_names(config, [training["train_corpus"], training["dev_corpus"]])

    def _find_component(self, name: str | None) -> str:
        known = self._filled["nlp"]["pipeline"]
        having = [other for other in known if "features" in self._filled["components"].get(other, {})]
        if (name is None and not having) or (name is not None and name not in having):
            raise CRFError(LabErrors.CRF635.format(name=name, known=", ".join(having) or "none"))
        return name or having[0]

    def _set(self, config: dict[str, Any], key: str, value: Any) -> None:
        """Set a value; blocks that the config leaves to defaults are written out."""
        *path, last = key.split(".")
        block, filled = config, self._filled
        for name in path:
            filled = filled.get(name, {}) if isinstance(filled, dict) else {}
            block = block.setdefault(name, deepcopy(filled)) if isinstance(block, dict) else block
        is_known = isinstance(block, dict) and (last in block or last in filled or any(n[:1] == "@" for n in block))
        if not is_known:
            raise CRFError(LabErrors.CRF632.format(key=key))
        block[last] = deepcopy(value)


def with_fold(config: Config, folds: int, fold: int, seed: int) -> Config:
    """Return a config that trains on the training corpus without a fold, and evaluates on the fold.

    config (Config): in which variables may stand as they are. Its dev corpus is not read; it only says whether
        punctuation is scored, see `historical`.
    folds (int), fold (int), seed (int): see `FoldCorpus`.
    RAISES (ValueError): for a training corpus with an augmenter.
    """
    config, training = config.copy(), config.interpolate()["training"]
    names = {"train": training["train_corpus"], "held_out": training["dev_corpus"]}
    corpus = _block(config, names["train"])
    if corpus.get("augmenter") is not None:
        raise CRFError(LabErrors.CRF550.format(name=names["train"]))
    corpora = {"train": corpus, "held_out": _scored_as(_block(config, names["held_out"]), corpus)}
    for part, name in names.items():
        parent, _, last = name.rpartition(".")
        settings = {"corpus": dict(corpora[part]), "folds": folds, "fold": fold, "part": part, "seed": seed}
        _block(config, parent)[last] = {"@readers": "spacy_crf.Fold.v1", **settings}
    return config


def _scored_as(dev: dict[str, Any], corpus: dict[str, Any]) -> dict[str, Any]:
    """Return a corpus whose punctuation has gold if that of another has; documents and tokens stay the same."""
    texts = corpus.get("text") or {}, dev.get("text") or {}
    ours, theirs = (text.get("punctuation", "gold") for text in texts)
    if all(texts) and {ours, theirs} == {"gold", "context"}:
        return {**corpus, "text": {**texts[0], "punctuation": theirs}}
    return corpus


def _block(config: dict[str, Any], name: str) -> dict[str, Any]:
    for part in name.split("."):
        config = config[part]
    return config

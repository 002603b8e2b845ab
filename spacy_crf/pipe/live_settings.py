"""Settings of a component that may be changed while it is used, as its `cfg`, and how they outlive it.

A pipeline's config says what holds, for whoever reads `nlp.config` or loads its folder. So what is assigned through
`cfg` is told to the config, and a component that a pipeline loads takes from its own files what was learned, and no
settings but those that were fitted because the config asks for it ("auto").
"""

import warnings
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import srsly
from spacy.language import Language
from spacy.util import load_config
from thinc.util import convert_recursive

from ..core.errors import CRFWarning
from ..reading.records import single_dollars
from .block import Settings, default_config, refused
from .errors import PipeWarnings
from .storage import Stored, is_alone


class LiveSettings(dict[str, Any]):
    """Settings of a component as `pipe.cfg`: a dict, as spaCy asks for, that checks values when they are assigned.

    Assignments change the settings of its block, and the config of the pipeline that made the component.
    learned (dict): what comes from data, such as labels.
    """

    FITTED: ClassVar[str] = "fitted"  # where files have settings that were fitted, with what was asked for

    def __init__(self, name: str, settings: Settings, learned: Mapping[str, Any]):
        self._name, self._settings, self._learned = name, settings, tuple(learned)
        self._held = {one.name for one in fields(settings) if one.metadata.get("fixed")}
        shown = [one.name for one in fields(settings) if one.metadata.get("shown", one.name not in self._held)]
        self._asked: dict[str, Any] = {}  # in place of what was fitted
        self._pipeline: weakref.ref[Language] | None = None
        super().__init__({**{one: getattr(settings, one) for one in shown}, **learned})

    def __reduce__(self) -> tuple[Any, ...]:
        learned = {key: self[key] for key in self._learned}
        return LiveSettings, (self._name, self._settings, learned), {"_asked": self._asked}

    @property
    def assignable(self) -> dict[str, Any]:
        """The settings that may be assigned, as a config says them."""
        own = {key: value for key, value in self.items() if key not in (*self._learned, *self._held)}
        return {**own, **self._asked}

    def to_data(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {**self, self.FITTED: self._asked} if self._asked else dict(self)

    def learn(self, **values: Any) -> None:
        """Set what comes from data."""
        super().update(values)

    def fit(self, key: str, value: Any) -> None:
        """Set what a setting asked to have fitted, in the digits of files; the config goes on asking."""
        asked = self._asked.get(key, self[key])
        self._set({key: as_stored(value)})
        self._asked[key] = asked

    def forget_fits(self) -> None:
        """Set what was fitted back to what was asked for."""
        self._set(self._asked)
        self._asked = {}

    @property
    def pipeline(self) -> Language | None:
        """The pipeline that made the component; None where that is gone, or in another process."""
        return None if self._pipeline is None else self._pipeline()

    def tell(self, nlp: Language) -> None:
        """Have the config of a pipeline told what is assigned from now on. nlp (Language): made the component."""
        self._pipeline = weakref.ref(nlp)

    def take(self, stored: Mapping[str, Any], alone: bool) -> None:
        """Assign settings that were stored with the component, with a warning where others had been given.

        alone (bool): whether no config of a pipeline says what holds. Where one does, only files of older versions tell
            of settings that were assigned, with what the config said then.
        """
        own, old, asked = self.assignable, stored.get("changed", {}), stored.get(self.FITTED, {})
        rounded = as_stored(own)
        said = {**stored, **asked}
        kept = [key for key in own if key in said and (alone or (key in old and own[key] == old[key]))]
        found = {key: said[key] for key in kept if said[key] not in (own[key], rounded[key])}
        self.update(found)
        for key in asked.keys() & own.keys():
            if self[key] == asked[key]:
                self.fit(key, stored[key])
        usual = default_config(type(self._settings)) if alone else {}
        if told := [key for key in found if key not in usual or own[key] != usual[key]]:
            changes = ", ".join(f"{key} = {found[key]!r} (was {own[key]!r})" for key in told)
            warnings.warn(PipeWarnings.CRFW411.format(name=self._name, changes=changes), CRFWarning, stacklevel=2)

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def pop(self, key: str, *default: Any) -> Any:
        raise refused(self._name, key, self.get(key), "assigned: settings cannot be removed")

    def clear(self) -> None:
        self.pop(next(iter(self)))

    def update(self, *others: Any, **values: Any) -> None:
        """Assign several settings, or none of them if they have no meaning together.

        RAISES (CRFError): CRF408 and others, for a setting that does not exist, is fixed, or has no meaning, and for
            what is learned.
        """
        changed = _plain(dict(*others, **values))
        for key, value in list(changed.items()):
            if key not in self:
                near = ", ".join(get_close_matches(key, list(self), n=3)) or ", ".join(self)
                raise refused(self._name, key, value, f"one of the settings it has: {near}")
            if key in self._held or key in self._learned:
                if value != self[key]:
                    when = "learned" if key in self._learned else "when the component was made"
                    raise refused(self._name, key, value, f"{self[key]!r}, as it was {when}")
                del changed[key]
        is_other = changed.get("temperature", self.get("temperature")) != self.get("temperature")
        if is_other and "threshold" in self._asked.keys() - changed.keys():
            told = {"name": self._name, "threshold": self["threshold"]}
            warnings.warn(PipeWarnings.CRFW681.format(**told), CRFWarning, stacklevel=3)
        self._set(changed)
        self._asked = {key: asked for key, asked in self._asked.items() if key not in changed}
        self._tell_config(changed)

    def _set(self, values: dict[str, Any]) -> None:
        if values:
            replace(self._settings, **values).check(self._name)
        for key, value in values.items():
            setattr(self._settings, key, value)
        super().update(values)

    def _tell_config(self, changed: dict[str, Any]) -> None:
        nlp = self.pipeline
        if nlp is None or not changed:
            return
        for name, pipe in nlp.components:
            if getattr(pipe, "cfg", None) is self:
                nlp.get_pipe_config(name).update(changed)


def as_stored(value: Any) -> Any:
    """A value as it is read from a file again, which has ten digits of a number."""
    return srsly.json_loads(srsly.json_dumps(value))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Settings as a config can hold them: numbers of numpy are no JSON."""
    found: dict[str, Any] = convert_recursive(lambda one: isinstance(one, np.generic), lambda one: one.item(), values)
    return found


class HasSettings(Stored):
    """A component whose run-time settings, and what is learned beside the weights, are its `cfg`."""

    live_settings: LiveSettings

    @property
    def cfg(self) -> LiveSettings:
        """The settings; values without meaning are refused."""
        return self.live_settings

    @cfg.setter
    def cfg(self, values: Any) -> None:
        self.live_settings.update(values)  # `spacy find-threshold` assigns all of them

    def join(self, nlp: Language) -> None:
        """Know the pipeline that it is in from now on, which may have taken it from another one."""
        self.cfg.tell(nlp)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the files to a folder. The config.cfg of a pipeline, which spaCy has written beside, is corrected where
        it was not told what was assigned, as that of a pipeline that took the component from another one."""
        super().to_disk(path, exclude=exclude)
        config = Path(path).parent / "config.cfg"
        if not is_alone(exclude) and config.is_file():
            _correct(config, Path(path).name, self.cfg.assignable)


def join_all(nlp: Language | None) -> None:
    """Have components know their pipeline. Where a config says that one is taken from another pipeline, both have one
    vocabulary, and nothing else tells them that what they ask or tell is not that of the pipeline that is trained."""
    for _, pipe in nlp.components if nlp is not None else ():
        if isinstance(pipe, HasSettings):
            pipe.join(nlp)


def warn_of_shared(nlp: Language, name: str, settings: Settings) -> None:
    """Warn where an earlier component of the pipeline writes the same attribute of Docs."""
    asked = dict(settings.told())
    earlier = [(other, getattr(pipe, "settings", None)) for other, pipe in (nlp.components if asked else ())]
    for other, theirs in earlier:
        for attribute in asked.keys() & dict(theirs.told() if isinstance(theirs, Settings) else ()).keys():
            setting = asked[attribute]
            remedy = f"Give it another name in the setting {setting!r}." if setting else "Put them in two pipelines."
            where = {"name": name, "other": other, "attribute": attribute, "remedy": remedy}
            warnings.warn(PipeWarnings.CRFW406.format(**where), CRFWarning, stacklevel=3)


def warn_of_idle(name: str, settings: Settings) -> None:
    """Warn of settings that were set and have no effect beside the others, which may be changed later."""
    features, dictionary = (getattr(settings, one, None) for one in ("features", "dictionary"))
    for block in filter(None, (settings, features, dictionary)):
        usual = {one.name: one.default for one in fields(block)}
        for setting, owner in block.idle():
            is_looked_up = setting == "spelling" and dictionary is not None and dictionary.look_up != "form"
            if (value := getattr(block, setting)) != usual[setting] and not is_looked_up:
                told = {"name": name, "setting": setting, "value": value, "owner": owner}
                warnings.warn(PipeWarnings.CRFW887.format(**told), CRFWarning, stacklevel=3)


def _correct(path: Path, name: str, settings: dict[str, Any]) -> None:
    """Write settings to the block of a component in the file of a config, where it says otherwise."""
    config = load_config(path)
    said = single_dollars(dict(config.interpolate().get("components", {}).get(name, settings)))
    wrong = {key: value for key, value in settings.items() if said.get(key) != value}
    if wrong:
        config["components"][name].update(wrong)
        config.to_disk(path)

"""Settings of a component that may be changed while it is used, as its `cfg`, and how they outlive it.

A pipeline's config says what holds, for whoever reads `nlp.config` or loads its folder. So what is assigned through
`cfg` is told to the config, and a component that a pipeline loads takes from its own files what was learned, and no
settings but those that were fitted because the config asks for it ("auto").
"""

import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import srsly
from spacy.language import Language
from spacy.util import load_config, registry
from thinc.api import Model
from thinc.util import convert_recursive

from ..core.errors import CRFWarning
from ..learning.block import TrainerSettings
from ..reading.records import single_dollars
from .block import Settings, block_class, default_config, refused
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


# -- types ------------------------------------------------------------------------------------------------------------


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has a type, as far as configs can hold it; what lists and dicts contain is not looked at."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    if hint is Any:
        return True
    return isinstance(value, origin or hint)


def fits_within(value: Any, hint: Any) -> bool:
    """Whether a value from JSON has a type, with all that its lists and tables contain; a tuple is a list there."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits_within(value, one) for one in inner)
    if is_typeddict(hint):
        fields = get_type_hints(hint)
        is_whole = isinstance(value, dict) and hint.__required_keys__ <= value.keys() <= fields.keys()
        return is_whole and all(fits_within(one, fields[name]) for name, one in value.items())
    if origin is tuple:
        return isinstance(value, list) and len(value) == len(inner) and all(map(fits_within, value, inner))
    if origin is list:
        return isinstance(value, list) and all(fits_within(one, inner[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits_within(one, inner[1]) for one in value.values())
    return fits(value, hint)


def learned_values(stored: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """The values of some names that were stored, as far as they were; TypeError for one that has not its type."""
    found = {name: stored[name] for name in types if name in stored}
    for name in (name for name, value in found.items() if not fits_within(value, types[name])):
        raise TypeError(f"{name!r} has another form than what is learned")
    return found


def describe_type(hint: Any) -> str:
    """A type as people who write configs name it."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(describe_type(one) for one in get_args(hint))
    if origin is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if origin is Callable:
        return "a block with @scorers"
    if hint is Model:
        return 'a block with @architectures = "spacy_crf.LinearChain.v1"'
    if block := block_class(hint):
        made = registry.misc.get_all().items()
        known = sorted(name for name, one in made if isinstance(one, type) and issubclass(one, block))
        word = "'auto' or " if block is TrainerSettings else ""
        return f"{word}a block with @misc = {' or '.join(map(repr, known))}"
    names = {str: "a string", int: "an integer", float: "a number", bool: "true or false", NoneType: "null"}
    names |= {list: "a list", dict: "a table"}
    return names.get(origin or hint, str(hint))

"""A space of configs, written down in TOML: which settings and templates are tried, in which ranges; and its configs.

    [settings]                                        # dotted keys of the config
    "components.crf_tagger.trainer.c2" = { low = 0.01, high = 10.0, log = true }
    "components.crf_tagger.features.min_count" = { low = 1, high = 5 }
    "components.crf_tagger.decode" = ["viterbi", "posterior"]

    [alternatives.trainer]                            # several keys at once, or whole blocks: c2 counts in lbfgs alone
    lbfgs = { "components.crf_tagger.trainer" = { "@misc" = "spacy_crf.LBFGS.v1" }, "training.patience" = 5 }
    arow = { "components.crf_tagger.trainer" = { "@misc" = "spacy_crf.AROW.v1" }, "training.patience" = 500 }

    [templates]                                       # of one component, behind `always`
    always = ["LOWER[0]"]                             # without it: those of the config
    prefixes = ["LPREFIX1", "LPREFIX2"]               # on or off
    suffixes = ["SUFFIX2|RARE{rare}", "SUFFIX3|RARE{rare}"]
    words = { "-1..1" = ["LOWER[-1]", "LOWER[1]"], "none" = [] }  # one of these

    [numbers]                                         # that stand in templates, here SUFFIX3|RARE{rare}
    rare = { low = 2, high = 100, log = true }

    [start]                                           # what is tried first; the rest of it is drawn
    words = "none"

TOML, as keys with dots may be quoted, numbers and strings are told apart, and nothing is interpolated: `${..}` and
`@..` are those of the config that a value is put into. The standard library reads it.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from ..core.errors import CRFError
from ..reading.files import read_text
from ..reading.records import parse_toml
from .errors import LabErrors
from .training import check_source, has_effect, spelt, with_fold

TABLES = ("settings", "alternatives", "templates", "numbers", "start")
ALWAYS = "always"
OFF, ON = "off", "on"
FEATURES = {"@misc": "spacy_crf.Features.v1"}
Value: TypeAlias = str | int | float
_NUMBER = re.compile(r"\{([^{}]*)\}")  # in a template


@dataclass(frozen=True)
class ConfigChange:
    """What one value of a parameter does to a config.

    settings (dict[str, Any]): values by dotted key. templates (tuple[str, ...]): that are added.
    numbers (dict[str, Value]): that stand in templates, by name.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    templates: tuple[str, ...] = ()
    numbers: Mapping[str, Value] = field(default_factory=dict)

    def numbered(self, templates: Iterable[str]) -> list[str]:
        """Return distinct templates with the numbers in the place of their names."""
        texts = (_NUMBER.sub(lambda found: str(self.numbers[found[1]]), text) for text in templates)
        return list(dict.fromkeys(texts))


@dataclass(frozen=True)
class Number:
    """A numeric setting: its dotted key, and the ends of its range, which belong to it; whole numbers if both are.

    log (bool): draw its logarithm evenly.
    """

    name: str
    low: int | float
    high: int | float
    log: bool

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def ends(self) -> tuple[Value, ...]:
        return self.low, self.high

    def holds(self, value: Any) -> bool:
        is_number = isinstance(value, int if self.is_whole else int | float) and not isinstance(value, bool)
        return is_number and self.low <= value <= self.high

    def change(self, value: Value) -> ConfigChange:
        return ConfigChange({self.name: value})


@dataclass(frozen=True)
class TemplateNumber(Number):
    """A whole number that stands in templates, by its name in braces."""

    def change(self, value: Value) -> ConfigChange:
        return ConfigChange(numbers={self.name: value})


@dataclass(frozen=True)
class Choice:
    """One of several things, under a dotted key, or the name of alternatives or of a group of templates.

    options (dict[str, ConfigChange]): by the name that tables show.
    """

    name: str
    options: Mapping[str, ConfigChange]

    def ends(self) -> tuple[Value, ...]:
        """Return the values that are enough to check all of them: here each option, for a number its extremes."""
        return tuple(self.options)

    def holds(self, value: Any) -> bool:
        """Tell whether a value is one of its own."""
        return isinstance(value, str) and value in self.options

    def change(self, value: Value) -> ConfigChange:
        return self.options[str(value)]


Parameter: TypeAlias = Number | Choice


@dataclass(frozen=True)
class SearchSpace:
    """What is searched.

    parameters (dict[str, Parameter]): by name, in the order of the file.
    has_templates (bool): whether any of them is a group of templates, or a number in one.
    always (tuple[str, ...] | None): templates that are always there; None for those of the config.
    start (dict[str, Value]): values of the first trial.
    """

    parameters: Mapping[str, Parameter]
    has_templates: bool
    always: tuple[str, ...] | None
    start: Mapping[str, Value]

    def changes(self, values: Mapping[str, Value]) -> ConfigChange:
        """Return what values of all parameters, by name, do together; of two that set one key, the later one counts."""
        changes = [self.parameters[name].change(value) for name, value in values.items()]
        settings = {key: value for change in changes for key, value in change.settings.items()}
        numbers = ConfigChange(numbers={name: value for change in changes for name, value in change.numbers.items()})
        templates = numbers.numbered(text for change in changes for text in change.templates)
        return ConfigChange(settings, tuple(templates), numbers.numbers)

    def corners(self) -> Iterator[dict[str, Value]]:
        """Yield few points that between them have all options and ends of ranges, to check a space with."""
        ends = {name: parameter.ends() for name, parameter in self.parameters.items()}
        for number in range(max(map(len, ends.values()))):
            yield {name: values[min(number, len(values) - 1)] for name, values in ends.items()}


def read_space(path: Path) -> SearchSpace:
    """Read a space from a TOML file, or raise a coded error if it is none, or anything in it has no meaning."""
    try:
        return parse_space(parse_toml(read_text(path), path.name))
    except (CRFError, _Malformed) as error:
        raise CRFError(LabErrors.CRF631.format(path=path, problem=error)) from error


class _Malformed(Exception):
    """What is wrong with a space."""


def parse_space(data: Mapping[str, Any]) -> SearchSpace:
    """Make a space from the content of a TOML file."""
    for name, table in data.items():
        if name not in TABLES or not isinstance(table, dict):
            _refuse(name, f"is not one of the tables {', '.join(TABLES)}")
    templates = dict(data.get("templates", {}))
    always = _strings(f"templates.{ALWAYS}", templates.pop(ALWAYS)) if ALWAYS in templates else None
    found: list[Parameter] = [_setting(key, value) for key, value in data.get("settings", {}).items()]
    found += [_alternatives(name, table) for name, table in data.get("alternatives", {}).items()]
    found += [_group(name, group) for name, group in templates.items()]
    numbers = [_template_number(name, value) for name, value in data.get("numbers", {}).items()]
    _check_names([*(always or ()), *_texts(found)], [number.name for number in numbers])
    found += numbers
    parameters = {parameter.name: parameter for parameter in found}
    if not parameters:
        raise _Malformed("it has no settings, no alternatives and no groups of templates to choose from")
    if len(parameters) < len(found):
        names = [parameter.name for parameter in found]
        _refuse(next(name for name in names if names.count(name) > 1), "is the name of two parameters")
    choices = {name for name, parameter in parameters.items() if isinstance(parameter, Choice)}
    start = {name: _shown(own) if name in choices else own for name, own in data.get("start", {}).items()}
    for name, value in start.items():
        if name not in parameters or not parameters[name].holds(value):
            _refuse(f"start.{name}", f"is {value!r}, which is no value of a parameter of that name")
    return SearchSpace(parameters, bool(templates or numbers), always, start)


def _setting(key: str, value: Any) -> Parameter:
    if isinstance(value, list):
        return Choice(key, _options(key, ((_shown(one), ConfigChange({key: one})) for one in value)))
    if not isinstance(value, dict) or not {"low", "high"} <= set(value) <= {"low", "high", "log"}:
        _refuse(key, "must be a list of values, or have low, high and perhaps log")
    low, high, log = value["low"], value["high"], value.get("log", False)
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
            _refuse(key, f"ends at {end!r}, which is not a number")
    if low >= high or not isinstance(log, bool) or (log and low <= 0):
        _refuse(key, "must have a low below its high, and a low above 0 if log is true")
    return Number(key, low, high, log)


def _alternatives(name: str, table: Any) -> Parameter:
    if not isinstance(table, dict) or not all(isinstance(settings, dict) for settings in table.values()):
        _refuse(f"alternatives.{name}", "must be a table of options, each a table of dotted keys and values")
    return Choice(name, _options(name, ((option, ConfigChange(settings)) for option, settings in table.items())))


def _group(name: str, group: Any) -> Parameter:
    where = f"templates.{name}"
    table = {OFF: [], ON: group} if isinstance(group, list) else group
    if not isinstance(table, dict):
        _refuse(where, "must be a list of templates, or a table of such lists")
    options = ((option, ConfigChange(templates=_strings(where, templates))) for option, templates in table.items())
    return Choice(name, _options(where, options))


def _template_number(name: str, value: Any) -> Parameter:
    where = f"numbers.{name}"
    found = _setting(where, value)
    if not isinstance(found, Number) or not found.is_whole:
        _refuse(where, "must have a low and a high that are whole numbers")
    return TemplateNumber(name, found.low, found.high, found.log)


def _texts(parameters: Iterable[Parameter]) -> Iterator[str]:
    """Yield the templates of groups."""
    groups = (parameter for parameter in parameters if isinstance(parameter, Choice))
    return (text for group in groups for change in group.options.values() for text in change.templates)


def _check_names(templates: Iterable[str], numbers: Sequence[str]) -> None:
    """Refuse templates with names in braces that are none of the numbers, and numbers that are in no template."""
    named = {name: text for text in templates for name in _NUMBER.findall(text)}
    for name, text in named.items():
        if name not in numbers:
            _refuse(f"{{{name}}} in the template {text!r}", "is not one of the numbers")
    for name in numbers:
        if name not in named:
            _refuse(f"numbers.{name}", f"is in no template of the space: write {{{name}}} there")


def _options(where: str, pairs: Iterable[tuple[str, ConfigChange]]) -> dict[str, ConfigChange]:
    listed = list(pairs)
    options = dict(listed)
    if len(options) < len(listed) or len(options) < 2:
        _refuse(where, "must have at least two options, each with a name of its own")
    return options


def _strings(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        _refuse(where, "must be a list of strings")
    return tuple(value)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _refuse(where: str, problem: str) -> NoReturn:
    raise _Malformed(f"{where} {problem}")


# -- configs -----------------------------------------------------------------------------------------------------


class Candidates:
    """Makes configs from values: the given one with some of its settings and templates replaced.

    config (Config): with variables as they are.
    component (str | None): whose templates groups of templates are; None for the first that has some.
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
        """Return the config under values of all parameters."""
        changed, change = self._config.copy(), self._space.changes(values)
        for key, value in sorted(change.settings.items(), key=lambda pair: pair[0].count(".")):
            if has_effect(key, change.settings):
                self._set(changed, key, value)
        if self.component is not None:
            features = changed["components"][self.component].setdefault("features", dict(FEATURES))
            own = features.get("templates") if self._space.always is None else None  # perhaps of a chosen block
            always = own if isinstance(own, list) else self._always or ()
            features["templates"] = change.numbered([*always, *change.templates])
        return changed

    def check(self, folds: int = 0) -> None:
        """Resolve configs with every option and with the ends of all ranges, so that a slip shows now, not at night.

        folds (int): of cross-validation, for which the dev corpus need not exist; 0 for none.
        """
        settings = [self._space.changes(values).settings for values in self._space.corners()]
        choices = (one for one in self._space.parameters.values() if isinstance(one, Choice))
        alone = [change.settings for one in choices for change in one.options.values()]
        for key in dict.fromkeys(chain(*settings)):
            is_known = any(key not in own or has_effect(key, own) for own in settings)
            if not (is_known and all(has_effect(key, own) for own in alone if key in own)):
                raise CRFError(LabErrors.CRF632.format(key=key))
        for values in self._space.corners():
            config = with_fold(self.make(values), folds, 0, 0) if folds else self.make(values)
            config = load_model_from_config(config, auto_fill=True, validate=True).config.interpolate()
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
        check_source(config, key)
        *path, last = key.split(".")
        block, filled = config, self._filled
        for name in path:
            filled = spelt(filled.get(name, {}) if isinstance(filled, dict) else {})
            if isinstance(block, dict):
                block[name] = spelt(block.get(name, deepcopy(filled)))
                block = block[name]
        is_known = isinstance(block, dict) and (last in block or last in filled or any(n[:1] == "@" for n in block))
        if not is_known:
            raise CRFError(LabErrors.CRF632.format(key=key))
        block[last] = deepcopy(value)

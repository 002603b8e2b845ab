"""Settings of a component that may be changed while it is used, as its `cfg`."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any, ClassVar

from .block import Settings, refused


class LiveSettings(dict[str, Any]):
    """Settings of a component as `pipe.cfg`: a dict, as spaCy asks for, that checks values when they are assigned.

    Assignments change the settings of its block; those that differ from what the config said are saved with the
    component. learned (dict): what comes from data, such as labels.

    configured (dict): what the config said of run-time settings.
    """

    CHANGED: ClassVar[str] = "changed"  # where files have settings that were assigned, with what the config said

    def __init__(self, name: str, settings: Settings, learned: Mapping[str, Any]):
        self._name, self._settings, self._learned = name, settings, tuple(learned)
        told = [one.name for one in fields(settings) if one.metadata.get("shown", not one.metadata.get("fixed"))]
        shown = {one: getattr(settings, one) for one in told}
        super().__init__({**shown, **learned})
        self.configured = deepcopy(shown)

    def __reduce__(self) -> tuple[Any, ...]:
        learned = {key: self[key] for key in self._learned}
        return LiveSettings, (self._name, self._settings, learned), {"configured": self.configured}

    def to_data(self) -> dict[str, Any]:
        """Return what a file keeps."""
        changed = {key: value for key, value in self.configured.items() if self[key] != value}
        return {**self, self.CHANGED: changed} if changed else dict(self)

    def take_changes(self, stored: Mapping[str, Any]) -> None:
        """Assign what was assigned before a saving, apart from what the config says otherwise since."""
        changed = dict(stored.get(self.CHANGED, {}))
        self.update({key: stored[key] for key, was in changed.items() if self.get(key) == was})

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

        RAISES (CRFError): CRF408 and others, for a setting that does not exist, is fixed, or has no meaning.
        """
        assigned = dict(*others, **values)
        changed = {key: value for key, value in assigned.items() if key not in self._learned}
        held = {one.name for one in fields(self._settings) if one.metadata.get("fixed")}
        for key, value in list(changed.items()):
            if key not in self:
                near = ", ".join(get_close_matches(key, list(self), n=3)) or ", ".join(self)
                raise refused(self._name, key, value, f"one of the settings it has: {near}")
            if key in held:
                if value != self[key]:
                    raise refused(self._name, key, value, f"{self[key]!r}, as it was when the component was made")
                del changed[key]
        if changed:
            replace(self._settings, **changed).check(self._name)
        for key, value in changed.items():
            setattr(self._settings, key, value)
        super().update(assigned)


class HasSettings:
    """A component whose run-time settings, and what is learned beside the weights, are its `cfg`."""

    live_settings: LiveSettings

    @property
    def cfg(self) -> LiveSettings:
        """The settings; values without meaning are refused."""
        return self.live_settings

    @cfg.setter
    def cfg(self, values: Any) -> None:
        self.live_settings.update(values)  # `spacy find-threshold` assigns all of them

"""Promises about sets of tags or spans: what a config keeps of them, and whether the model is still the same."""

import json
import warnings
from collections.abc import Mapping
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar

from spacy.language import Language
from thinc.api import Model

from ..core.errors import CRFError, CRFWarning
from .errors import PipeErrors, PipeWarnings
from .labels import PREPARATION
from .source import SourcePipe

SETTINGS = ("sequence", "scheme", "forbidden", "dictionary")
CANDIDATES = ("candidates", "max_candidates")  # of a chain of order 2
KIND, MODEL = "kind", "model"  # keys of a promise in a config; older ones have no fingerprint of their model
Promise = TypeVar("Promise")


def promise_data(kind: str, promise: Any, component: Any) -> dict[str, Any]:
    """What a config keeps of a promise, and of the component that it was made with."""
    return {KIND: kind, MODEL: fingerprint(component), **promise.to_data()}


def read_promise(name: str, data: Mapping[str, Any] | None, kinds: Mapping[str, type[Promise]]) -> Promise:
    """Read what `promise_data` has made. name (str): Component name, used in messages. kinds (Mapping): Classes."""
    kind = (data or {}).get(KIND)
    if data is None or kind not in (*kinds,):  # it may be a list
        raise CRFError(PipeErrors.CRF415.format(name=name, value=kind))
    read: Any = kinds[kind]
    try:
        promise: Promise = read.from_data({key: value for key, value in data.items() if key not in (KIND, MODEL)})
    except (KeyError, TypeError, ValueError) as error:
        raise CRFError(PipeErrors.CRF415.format(name=name, value=repr(error))) from error
    return promise


def fingerprint(component: Any) -> str | None:
    """Tell what the probabilities of a component follow from, its labels, features, weights, settings and the vectors
    that others of its pipeline make for it, in 16 hexadecimal digits: the same ones in memory and in files. None where
    that pipeline is not known, as in a worker process. O(size of the models)."""
    origin = _origin(component)
    makers = _makers_of_vectors(origin, component.cfg.pipeline)
    if makers is None:
        return None
    stored = origin.to_bytes(exclude=["vocab", "cfg", "trainer"]) if hasattr(origin, "to_bytes") else b""
    told = json.dumps([list(origin.labels), _temperature(origin), _fixed_settings(origin)], default=vars)
    vectors = b"".join(maker.model.to_bytes() for maker in makers)
    return blake2b(told.encode("utf8") + stored + vectors, digest_size=8).hexdigest()


class KeepsPromise:
    """Warns where sets are chosen by a promise, but of other probabilities than it was made with."""

    name: str
    settings: Any
    _checked: tuple[Any, Any, Any] = (None, None, None)

    def check_promise(self) -> None:
        """Warn once for each model, its settings and list of constraints. Weights of a source that is no component of
        this library, and of components that make vectors, are looked at once."""
        if not keeps_promise(self.settings):
            return
        origin, expected = _origin(self), (self.settings.guarantee or {}).get(MODEL)
        weights, constraints = getattr(origin, "scores", None), getattr(origin, "constraints", None)
        told = _temperature(origin), expected, constraints, _fixed_settings(origin)
        if self._checked[0] is origin and self._checked[1] is weights and self._checked[2] == told:
            return
        self._checked = origin, weights, told
        found = None if expected is None else fingerprint(self)
        if found not in (None, expected):
            warnings.warn(PipeWarnings.CRFW448.format(name=self.name), CRFWarning, stacklevel=3)


def keeps_promise(settings: Any) -> bool:
    """Whether sets are chosen by the promise of some settings: by their method of choosing, or by having one."""
    promise: Any = getattr(settings, "guarantee", None)
    return bool(getattr(settings, "method", "guarantee") == "guarantee" and promise is not None)


def _origin(component: Any) -> Any:
    """The component whose probabilities are taken."""
    return component.find_source() if isinstance(component, SourcePipe) else component


def _makers_of_vectors(origin: Any, nlp: Language | None) -> list[Any] | None:
    """The components of a pipeline that a component listens to; None where it listens in one that is not known."""
    model = getattr(origin, "model", None)
    listeners = [node for node in model.walk() if hasattr(node, "upstream_name")] if isinstance(model, Model) else []
    if nlp is None or not listeners:
        return None if listeners else []
    heard = [(pipe, [*chain(*getattr(pipe, "listener_map", {}).values())]) for _, pipe in nlp.components]
    return [pipe for pipe, theirs in heard if any(one is own for one in theirs for own in listeners)]


def _fixed_settings(component: Any) -> dict[str, Any]:
    """Settings that a config may change after training, and how texts were prepared."""
    if hasattr(component, "scored_by"):
        return dict(component.scored_by)
    settings, attrs = getattr(component, "settings", None), getattr(getattr(component, "model", None), "attrs", {})
    found = {name: getattr(settings, name, None) for name in SETTINGS}
    found |= {name: attrs.get(name) for name in CANDIDATES}
    if (kind := getattr(settings, "probabilities", "chain")) != "chain":  # older promises do not know of these
        own = getattr(settings, "predicates", {})
        found |= {"probabilities": kind} | ({"predicates": own} if own else {})
    return {**found, PREPARATION: getattr(component, "cfg", {}).get(PREPARATION)}


def _temperature(component: Any) -> float:
    return float(getattr(component, "temperature", 1.0))

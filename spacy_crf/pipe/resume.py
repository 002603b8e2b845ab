"""The file `trainer` of a component: what training needs to go on as if it had not been interrupted."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.errors import CRFError, excerpt
from ..features.block import FeatureSettings
from ..learning.model import get_layout
from ..learning.packed import dumps, loads, pack, unpack
from ..learning.resuming import usable
from .block import ChainSettings
from .errors import PipeErrors
from .storage import CHECKSUMS, read_folder

RUN = "trainer"  # the file
WITHOUT_EFFECT = ("n_threads",)  # on what is learned


@dataclass(frozen=True)
class Run:
    """A run of training that was interrupted.

    settings (dict): what has to be as it was, by name. features (dict), model (bytes): indices and weights, all of them
        and as they are. state (dict): the trainer's. path (str): of the folder.
    """

    settings: dict[str, Any]
    features: dict[str, Any]
    model: bytes
    state: dict[str, Any]
    path: str = ""

    def to_bytes(self) -> bytes:
        """Return the content of the file; the same bytes for the same run, given the same zlib."""
        kept = {name: value for name, value in vars(self).items() if name != "path"}
        return pack(dumps(kept))

    @classmethod
    def read(cls, path: str, files: Mapping[str, bytes], name: str) -> "Run | None":
        """Read the file of a folder, or None where its list of files has none. files (dict): those read before."""
        if RUN not in json.loads(files.get(CHECKSUMS, b"{}")):
            return None
        content = read_folder(Path(path), (), name, (RUN,))[RUN]
        with usable(name):
            run = cls(**loads(unpack(content), len(content)), path="")
            kinds = {"settings": dict, "features": dict, "model": bytes, "state": dict}
            if wrong := [one for one, kind in kinds.items() if not isinstance(getattr(run, one), kind)]:
                raise TypeError(f"{', '.join(wrong)}: of another kind")
        return replace(run, path=path)

    def check(self, settings: Mapping[str, Any], name: str) -> None:
        """Raise a coded error where a component has other settings than the run. name (str): of the component."""
        with usable(name):
            differing = [
                f"{one} is {excerpt(repr(settings.get(one)))} and was {excerpt(repr(self.settings.get(one)))}"
                for one in {**settings, **self.settings}
                if settings.get(one) != self.settings.get(one)
            ]
        if differing:
            raise CRFError(PipeErrors.CRF419.format(name=name, path=self.path, differing="; ".join(differing)))


def settings_of_run(settings: ChainSettings, features: FeatureSettings) -> dict[str, Any]:
    """What training depends on, by name, as data: of the trainer, the model and the features."""
    trainer, model = settings.trainer, settings.model
    values: dict[str, dict[str, Any]] = {
        "trainer": {name: value for name, value in vars(trainer).items() if name not in WITHOUT_EFFECT},
        "model": {name: value for name, value in model.attrs.items() if isinstance(value, bool | int | float)},
        "features": {name: getattr(features, name) for name in ("min_count", "min_edge_count")},
    }
    own = {"trainer": type(trainer).__name__, "model.boundary": get_layout(model).boundary}
    return own | {f"{block}.{name}": value for block, found in values.items() for name, value in found.items()}

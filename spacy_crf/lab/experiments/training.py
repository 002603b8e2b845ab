"""Trains the pipeline of a config on a part of its corpus, as `spacy train` does, and takes the best checkpoint."""

import io
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_model, load_model_from_config
from thinc.api import Config

from ...core.arrays import Indices
from ...core.errors import CRFError
from ..errors import LabErrors
from .draw import draw_test
from .layout import By, Layout, Split
from .selection import Source, selected

CORPORA = {"train_corpus": "experiment_train", "dev_corpus": "experiment_dev"}
LOGGER = {"@loggers": "spacy.ConsoleLogger.v1", "progress_bar": False}


@dataclass(frozen=True)
class System:
    """What is trained, again and again.

    name (str): for tables. config (Config): as for `spacy train`, with variables as they are.
    component (str): whose scores count. source (Source): its documents. layout (Layout): of these.
    """

    name: str
    config: Config
    component: str
    source: Source
    layout: Layout


def make_system(name: str, config: Config, component: str | None = None, with_dev: bool = False) -> System:
    """Check a config, and read its documents once.

    component (str | None): whose scores count; None for the last one that has a scorer.
    with_dev (bool): the dev corpus is split as well.
    RAISES (ValueError): where there is no such component.
    """
    nlp = load_model_from_config(config, auto_fill=True)
    scored = [known for known, pipe in nlp.pipeline if getattr(pipe, "scorer", None) is not None]
    if not scored or (component is not None and component not in scored):
        raise CRFError(LabErrors.CRF621.format(config=name, name=component, known=", ".join(scored) or "none"))
    source = Source(nlp.config, with_dev)
    return System(name, config, component or scored[-1], source, source.read(nlp).layout)


def hold_out(layout: Layout, split: Split, by: By, share: float, seed: int) -> tuple[Indices, Indices]:
    """Set a part of the training part aside, which takes the place of the dev corpus.

    by (str): what is drawn, see `draw.draw_test`. share (float): how much.
    RETURNS (tuple): what is left for training, and the part.
    """
    owners = layout.documents[split.train]
    present, numbers = np.unique(owners, return_inverse=True)
    names = tuple(layout.names[number] for number in present.tolist())
    unit: By = "sentence" if len(present) < 2 else by  # of one document, only a part can be set aside
    rng = np.random.default_rng([seed, len(split.train)])
    is_held = draw_test(Layout(names, numbers, layout.lengths[split.train]), unit, share, rng)
    return split.train[~is_held], split.train[is_held]


def train_on(system: System, sentences: Indices, dev: Indices | None) -> Language:
    """Train.

    sentences: of the training part. dev: what checkpoints are chosen by; None for the dev corpus of the config.
    RETURNS (Language): the best checkpoint, loaded from the disk as a user would.
    """
    config = system.config.copy()
    parts = {"train_corpus": sentences, **({} if dev is None else {"dev_corpus": dev})}
    with ExitStack() as stack:
        for setting, part in parts.items():
            config["corpora"][CORPORA[setting]] = stack.enter_context(selected(system.source, part))
            config["training"][setting] = f"corpora.{CORPORA[setting]}"
        config["training"]["logger"] = LOGGER
        folder = Path(stack.enter_context(TemporaryDirectory()))
        train(init_nlp(config), folder, stdout=io.StringIO(), stderr=io.StringIO())
        return load_model(folder / "model-best")

"""Probabilities that are as sure as they are right: fitted to data that a component was not trained on."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch, resolve_dot_names

from ..core.calibration import Reliability, reliability
from ..core.chain.distribution import ChainDistribution
from ..core.chain.temperature import HeldOut, Unit, fit_temperature
from ..core.errors import CRFError, CRFWarning
from ..features.columns import Columns
from ..learning.model import get_layout
from .block import AUTO, CALIBRATE
from .chain_storage import StoresChain
from .errors import PipeErrors, PipeWarnings
from .labels import join_gold
from .seen import annotated

BATCH_SIZE = 256  # of examples that a temperature is fitted to
BINS = 10  # of a reliability table
FITTED = ("temperature", "threshold")  # settings that may be "auto", in the order in which they are fitted
FEW = 200  # tokens with gold; with fewer, a temperature that is fitted for a component is no better than 1


class Calibrates(StoresChain):
    """A component over a chain whose probabilities are fitted to held-out data.

    Where the setting `temperature` is "auto", it is a number as long as the weights are those that it was fitted to.
    """

    read_distribution: Callable[[Sequence[Doc], bool], tuple[Columns, ChainDistribution]]

    given_temperature: float | str = 1.0  # that the component was initialised with

    @property
    def temperature(self) -> float:
        """What scores are divided by: 1 as long as "auto" has not been settled by a fit."""
        asked = self.settings.temperature
        return 1.0 if asked == AUTO else asked

    def begin_calibration(self, nlp: Language | None) -> None:
        """Note the temperature that training begins with; have one fitted if the settings ask for it."""
        self.given_temperature = self.settings.temperature
        if nlp is not None and self.asks_for:
            ask_for_calibration(nlp)

    @property
    def asks_for(self) -> list[str]:
        """Settings that data are to decide, by "auto"."""
        return [name for name in FITTED if getattr(self.settings, name, None) == AUTO]

    @property
    def awaits_calibration(self) -> bool:
        """Whether there are weights, and a setting is to be fitted to them."""
        return bool(self.asks_for) and get_layout(self.model).n_features > 0

    def held_out(self, examples: Sequence[Example]) -> HeldOut:
        """What the chain says of examples, with their gold; labels that the component lacks are missed."""
        examples = self.word_examples(examples)
        columns, found = self.read_distribution([example.predicted for example in examples], False)
        gold = [self.annotation.gold(example, self.tags, strict=False) for example in examples]
        names = [name for example in examples for name in self.annotation.names(example, self.tags)]
        missed = np.array([name is not None and name not in self.tags.number for name in names], dtype=bool)
        labels, _ = join_gold(gold, columns.lengths, self.annotation, self.tags)
        return HeldOut(found, labels, missed)

    def held_out_batches(self, examples: Iterable[Example]) -> list[HeldOut]:
        """What `held_out` tells, of any number of examples, some at a time."""
        return [self.held_out(batch) for batch in minibatch(examples, BATCH_SIZE)]

    def calibrate(self, examples: Iterable[Example]) -> None:
        """Set what the settings ask to have fitted to what fits examples."""
        examples = list(examples)
        for setting in self.asks_for:
            self.cfg.fit(setting, getattr(self, f"best_{setting}")(examples))

    def best_temperature(self, examples: Sequence[Example]) -> float:
        """The temperature that fits examples; 1, with a warning, where they are too few."""
        batches = self.held_out_batches(examples)
        found = sum(int(batch.known.sum()) for batch in batches)
        if found < FEW:
            few = PipeWarnings.CRFW409.format(name=self.name, found=found, few=FEW)
            warnings.warn(few, CRFWarning, stacklevel=2)
        return 1.0 if found < FEW else fit_temperature(batches)

    def forget_fits(self) -> None:
        """Ask for what was fitted to the weights anew; where training does not fit it, warn."""
        self.cfg.forget_fits()
        if self.settings.temperature not in (1.0, AUTO, self.given_temperature):
            stale = PipeWarnings.CRFW417.format(name=self.name, temperature=self.settings.temperature)
            warnings.warn(stale, CRFWarning, stacklevel=3)

    def stored_files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """Contents of the files, with a warning where nobody has fitted what is asked for."""
        if self.awaits_calibration:
            asked = " and ".join(f"{setting} = 'auto'" for setting in self.asks_for)
            warnings.warn(PipeWarnings.CRFW408.format(name=self.name, asked=asked), CRFWarning, stacklevel=4)
        return super().stored_files(exclude)


def ask_for_calibration(nlp: Language) -> None:
    """Have `spacy train` calibrate what it saves, if nothing else is to happen there."""
    training = nlp.config["training"]
    if training.get("before_to_disk") is None:
        training["before_to_disk"] = {"@callbacks": CALIBRATE}


def calibrate_pipeline(nlp: Language) -> Language:
    """Fit the temperatures that components ask for to the dev corpus of the config, and return the pipeline.

    Components that are frozen stay as they are. Scores in the meta data become those with the temperatures.
    """
    config = nlp.config.interpolate()
    training = config["training"]
    pipes: list[tuple[str, Any]] = [one for one in nlp.pipeline if one[0] not in training["frozen_components"]]
    asking = [(name, pipe) for name, pipe in pipes if isinstance(pipe, Calibrates) and pipe.awaits_calibration]
    if not asking:
        return nlp
    (corpus,) = resolve_dot_names(config, [training["dev_corpus"]])
    for name, pipe in asking:
        pipe.calibrate(annotated(nlp, name, corpus(nlp)))
    if told := nlp.meta.get("performance"):
        scores = nlp.evaluate(list(corpus(nlp)))
        told.update({name: scores[name] for name in told if name in scores})
    return nlp


class Calibration(NamedTuple):
    """Result of a fit.

    temperature (float): what scores are to be divided by.
    before (Reliability), after (Reliability): of each token's most probable tag, at the component's temperature so
        far and at the new one.
    """

    temperature: float
    before: Reliability
    after: Reliability


def calibrate(tagger: Calibrates, examples: Iterable[Example], unit: Unit = "token", n_bins: int = BINS) -> Calibration:
    """Fit a temperature; the component itself stays as it is, until its setting `temperature` is changed.

    tagger (CRFTagger): a trained component.
    examples (Iterable[Example]): with what the component needs to see on the predicted side. Tokens whose gold label
        is missing count for nothing; one that is unknown to the component counts as missed.
    unit (str): "token" or "sequence", whose gold is to become most probable.
    n_bins (int): of the reliability tables, with equal width.
    RETURNS (Calibration): the temperature, and reliability before and after.
    RAISES (ValueError): for a component without probabilities of its own, as one that takes those of a `source`.

    >>> import spacy
    >>> from spacy_crf import Corpus, calibrate
    >>> nlp = spacy.load("output/crf_tagger/model-best")  # `make demo` trains it
    >>> held_out = Corpus("corpus/crf_tagger/dev.conllu", limit=20)(nlp)
    >>> fitted = calibrate(nlp.get_pipe("crf_tagger"), held_out)
    >>> fitted.after.error < fitted.before.error
    True
    >>> nlp.get_pipe("crf_tagger").cfg["temperature"] = fitted.temperature
    """
    if not isinstance(tagger, Calibrates):
        source = getattr(tagger, "source", None)
        told = "" if source is None else f": it takes those of {source!r}"
        raise CRFError(PipeErrors.CRF470.format(name=getattr(tagger, "name", tagger), source=told))
    batches = tagger.held_out_batches(examples)
    temperature = fit_temperature(batches, unit)
    before, after = (_reliability(batches, value, n_bins) for value in (tagger.temperature, temperature))
    return Calibration(temperature, before, after)


def measure_reliability(tagger: Calibrates, examples: Iterable[Example]) -> Reliability:
    """Return the reliability of each token's most probable tag, at the temperature that the component has."""
    return _reliability(tagger.held_out_batches(examples), tagger.temperature, BINS)


def _reliability(batches: Sequence[HeldOut], temperature: float, n_bins: int) -> Reliability:
    confidences, right = [], []
    for batch in batches:
        marginals, judged = batch.distribution.at(temperature).marginals, batch.judged
        confidences.append(marginals.max(axis=1)[judged])
        right.append(batch.right(marginals.argmax(axis=1).astype(np.int32))[judged])
    return reliability(np.concatenate(confidences), np.concatenate(right), n_bins)

"""Calibrated probabilities of marks: what a restorer learns from data that its chain was not trained on."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Optimizer

from ..core.arrays import Floats, Segments
from ..core.calibration.dirichlet import DirichletMap
from ..core.errors import CRFWarning
from ..pipe.component import ChainPipe
from ..pipe.inference import Inference, Prediction
from .errors import PunctuationWarnings
from .labels import LabelTable

CALIBRATION = "calibration"


@dataclass(frozen=True)
class MarkCalibration:
    """A map of the probabilities of marks.

    marks (tuple[str, ...]): the columns it was fitted to, NONE among them. map (DirichletMap): for their rows.
    """

    marks: tuple[str, ...]
    map: DirichletMap

    def apply(self, marginals: Floats, table: LabelTable) -> Floats:
        """Probabilities of labels whose sums over each mark are calibrated; the labels of a mark keep their shares.

        What has no probability still has none, such as the other labels of a word whose mark is given.

        marginals ((n, L)): probabilities of labels. table (LabelTable): of the labels, with the same marks.
        RETURNS ((n, L)): rows that sum to 1.
        """
        sums = table.mark_probabilities(marginals.astype(np.float64))
        factors = np.divide(self.map(sums), sums, out=np.zeros_like(sums), where=sums > 0)
        return (marginals * factors[:, table.mark_of]).astype(marginals.dtype)

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return {"marks": list(self.marks), "weights": self.map.weights.tolist(), "bias": self.map.bias.tolist()}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "MarkCalibration":
        """The inverse of `to_data`."""
        weights, bias = (np.array(data[name], dtype=np.float64) for name in ("weights", "bias"))
        return cls(tuple(data["marks"]), DirichletMap(weights, bias))


class CalibratedPipe(ChainPipe):
    """A chain over words whose probabilities of marks go through a map, which `crf calibrate` fits.

    The map is kept in `cfg`, as the labels are: it is learned, no setting of the config. Labels that are decoded, the
    listed sequences and their probabilities are the chain's own.
    """

    @property
    def label_table(self) -> LabelTable:
        """The labels of the chain, and which mark each has."""
        return LabelTable(self.tags.tags)

    @property
    def calibration(self) -> MarkCalibration | None:
        """The map; None where none was fitted, or to other marks than those that the component knows by now."""
        data = self.cfg[CALIBRATION]
        if data is None or tuple(data["marks"]) != self.label_table.marks:
            return None
        return MarkCalibration.from_data(data)

    @calibration.setter
    def calibration(self, calibration: MarkCalibration | None) -> None:
        self.cfg[CALIBRATION] = calibration and calibration.to_data()

    def finish_update(self, sgd: Optimizer | None) -> None:
        """Let the trainer take its step; a map that was fitted to the weights before it is dropped, with a warning."""
        if self.cfg[CALIBRATION] is not None:
            warnings.warn(PunctuationWarnings.CRFW974.format(name=self.name), CRFWarning, stacklevel=2)
            self.calibration = None
        super().finish_update(sgd)

    def infer(self, docs: Sequence[Doc], inference: Inference, given: bool = True) -> list[Prediction]:
        """See `ChainPipe.infer`; marginals are calibrated: to be believed word by word, see `core.recalibration`."""
        predictions, calibration = super().infer(docs, inference, given), self.calibration
        rows = [prediction.marginals for prediction in predictions if prediction.marginals is not None]
        if calibration is None or not (inference.marginals and rows):
            return predictions
        calibrated = calibration.apply(np.concatenate(rows), self.label_table)
        for prediction, own in zip(predictions, Segments.of(rows).split(calibrated)):
            prediction.marginals = own
        return predictions

    def uncalibrated(self, docs: Sequence[Doc]) -> Floats:
        """((n, M)): probabilities of the marks of all words, as the chain has them.

        docs (sequence of Doc): bare words.
        """
        wanted = Inference(marginals=True, temperature=self.cfg["temperature"])
        found = [prediction.marginals for prediction in super().infer(docs, wanted, given=False)]
        none = np.zeros((0, len(self.tags)), dtype=np.float32)
        return self.label_table.mark_probabilities(np.concatenate([none, *(one for one in found if one is not None)]))

"""A chain over the words of Docs, not over their tokens: how it reads them, and how it learns."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Optimizer

from ..core.arrays import Bools, Floats, Indices, Segments
from ..core.errors import CRFWarning
from ..core.gold import UNKNOWN, Gold
from ..core.labels import TagSet
from ..features.columns import Columns
from ..learning.encoder import Sample
from ..learning.model import get_tok2vec
from ..learning.vectors import annotation_read
from ..pipe.component import ChainPipe
from ..pipe.inference import Inference, Prediction
from .block import LabelScheme
from .calibration import MarkCalibration
from .docs import WordView, bare_doc, gold_labels, is_bare, mixed_forms
from .errors import PunctuationWarnings
from .labels import Label, LabelTable, may_follow
from .words import case_of

MIXED, CALIBRATION = "mixed_forms", "calibration"


class WordPipe(ChainPipe):
    """Reads and learns the words of Docs: see `words`.

    Probabilities of marks go through a map, which `crf calibrate` fits. It is kept in `cfg`, as the labels are: it is
    learned, no setting of the config. Labels that are decoded, the listed sequences and their probabilities are the
    chain's own.

    A subclass sets `label_scheme` (LabelScheme), what labels tell, before it calls the constructor.
    """

    label_scheme: LabelScheme

    # -- words -----------------------------------------------------------------------------------------------

    def view(self, doc: Doc) -> WordView:
        """The words of a Doc, which the chain runs over."""
        return WordView.of(doc, self.label_scheme)

    def bare(self, doc: Doc) -> Doc:
        """A Doc of the words alone; the Doc itself if it is one."""
        return doc if is_bare(doc) else self._bare(self.view(doc))

    def _bare(self, view: WordView) -> Doc:
        extensions = [one.key for one in self._features.extractor.attributes if one.name == "_"]
        return bare_doc(view, self.vocab, self._annotation(), extensions)

    def _annotation(self) -> list[int]:
        """Attributes that other components set, and that features or vectors read."""
        read = self._features.extractor.attributes
        names = {one.name for one in read if one.is_annotation and one.name != "_"}
        tok2vec = get_tok2vec(self.model)
        return [IDS[name] for name in sorted(names.union(annotation_read(tok2vec) if tok2vec else ()))]

    def _read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        return super()._read([self.bare(doc) for doc in docs], extra)

    def _read_all(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        return super()._read_all([self.bare(doc) for doc in docs], extra)

    # -- calibration -----------------------------------------------------------------------------------------

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
        """See `ChainPipe.infer`; marginals are calibrated, to be believed word by word."""
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

    # -- training --------------------------------------------------------------------------------------------

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        return TagSet(labels, "none")

    def _allowed(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        transitions, starts, ends = super()._allowed(tags)
        labels = LabelTable(tags.tags).parsed
        fitting = [[may_follow(first, second, self.label_scheme) for second in labels] for first in labels]
        return transitions & np.array(fitting, dtype=bool).reshape(transitions.shape), starts, ends

    def describe_gold(self) -> str:
        return "a text with punctuation marks"

    def references(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[Doc]:
        """The gold sides of examples as bare words, which word lists and classes are fitted to."""
        for doc in super().references(get_examples):
            yield self.bare(doc)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        return list(self.labels)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        start: str | None = None,
    ) -> None:
        """Find labels and forms in mixed case in the data. See `ChainPipe.initialize` for the arguments.

        RAISES (ValueError): where no text has a mark.
        """
        found: set[str] = set(labels or ())
        mixed: list[str] = []
        for doc in super().references(get_examples):
            view = self.view(doc)
            if labels is None:
                found.update(map(str, view.labels(self.label_scheme)))
            mixed += [form for form in view.forms if case_of(form) == "mixed"] if self.label_scheme.case else []
        self.cfg[MIXED], self.calibration = mixed_forms(mixed), None
        super().initialize(get_examples, nlp=nlp, labels=sorted(found), start=start)

    def _sample(self, examples: Sequence[Example]) -> Sample:
        return super()._sample([Example(self.bare(eg.predicted), eg.reference) for eg in examples])

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        numbers: dict[Label | None, int] = {label: k for k, label in enumerate(self.label_table.parsed)}
        found = [numbers.get(one, UNKNOWN) for eg in examples for one in gold_labels(eg, self.label_scheme)]
        return Gold.known(np.array(found, dtype=np.int32), len(self.tags))

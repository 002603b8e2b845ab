"""Restores punctuation, case and sentence starts of bare text with a linear-chain CRF over its words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..core.arrays import Bools, Floats, Indices
from ..core.errors import CRFError
from ..features.block import FeatureSettings
from ..learning.block import Trainer
from ..learning.model import ChainModel, get_layout
from ..pipe.inference import Inference, Prediction, infer
from .block import LabelScheme, check_restoration
from .docs import WordView, given_marks, goes_on, register_punctuation
from .errors import PunctuationErrors
from .labels import Thresholds, choose, labels_beside_given, labels_beside_marks, settle_marks
from .restore import Restoration, RestorationWriter
from .stream import StreamedWord, components_before, stream_words
from .word_pipe import CALIBRATION, MIXED, WordPipe


@dataclass(frozen=True)
class Restored:
    """What was decoded for one Doc: its words, and what the chain says of them."""

    view: WordView
    prediction: Prediction


class PunctuationRestorer(WordPipe):
    """Labels words with the marks that follow them. See `factory.make_punctuation_restorer` for the settings.

    The chain runs over words, not over tokens: see `words`. Nothing that is written changes the Doc's words or text.
    """

    learned_settings = (MIXED, CALIBRATION)
    settings_of_weights = (CALIBRATION,)

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "punctuation_restorer",
        *,
        features: FeatureSettings,
        trainer: Trainer,
        marks: LabelScheme,
        settings: Mapping[str, Any],
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        check_restoration(name, settings, marks)
        told = {
            "marks": list(marks.marks),
            "collapse": dict(marks.collapse or {}),
            "ends": list(marks.end_marks),
            "abbreviations": sorted(marks.abbreviated),
        }
        self.label_scheme = marks
        super().__init__(
            vocab,
            model,
            name,
            features=features,
            trainer=trainer,
            sequence="doc",
            scheme="none",
            forbidden=[],
            scorer=scorer,
            settings={
                **settings,
                **told,
                "has_case": marks.case,
                "has_pairs": marks.pairs,
                MIXED: {},
                CALIBRATION: None,
            },
        )
        register_punctuation()

    def _thresholds(self) -> Thresholds:
        return Thresholds(self.cfg["threshold"], self.cfg["thresholds"])

    def inference(self) -> Inference:
        needed = bool(self.cfg["probabilities"] or self._thresholds())
        return Inference(marginals=needed, n_best=self.cfg["n_best"], temperature=self.cfg["temperature"])

    def infer(self, docs: Sequence[Doc], inference: Inference, given: bool = True) -> list[Prediction]:
        """See `WordPipe.infer`; values are those of words."""
        return super().infer([self.bare(doc) for doc in docs], inference, given)

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        if self.cfg["existing"] != "keep":
            return None
        marks = [mark for doc in docs for mark in given_marks(doc, self.label_scheme)]
        return labels_beside_given(marks, lengths, self.label_table, get_layout(self.model), self.label_scheme)

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Decode Docs without changing them.

        RETURNS (list[Restored]): one for each Doc.
        """
        views = [self.view(doc) for doc in docs]
        bare = [self._bare(view) for view in views]
        predictions = self.infer(bare, self.inference())
        self._settle(bare, predictions)
        return [Restored(view, prediction) for view, prediction in zip(views, predictions)]

    def _settle(self, docs: Sequence[Doc], predictions: Sequence[Prediction]) -> None:
        """Set marks by their thresholds, except for those that are kept."""
        table, thresholds, changed = self.label_table, self._thresholds(), []
        for doc, prediction in zip(docs, predictions):
            tags = prediction.tags
            if thresholds:
                tags = choose(cast(Floats, prediction.marginals), table, thresholds)
            if self.cfg["existing"] == "keep":
                tags = settle_marks(tags, given_marks(doc, self.label_scheme), table)
            if not np.array_equal(tags, prediction.tags):
                changed.append((doc, prediction))
            prediction.tags = tags
        if self.label_scheme.case or self.label_scheme.pairs:
            self._decode_again(changed)

    def _decode_again(self, changed: Sequence[tuple[Doc, Prediction]]) -> None:
        """Keep the marks; what else labels tell becomes the best for these.

        Otherwise the word behind an end mark that only a threshold sets would keep its small letter.
        """
        table, open_docs = self.label_table, []
        for doc, prediction in changed:
            possible = labels_beside_marks(prediction.tags, table, self.label_scheme, goes_on(doc))
            if possible.any(axis=1).all():
                open_docs.append((doc, prediction, possible))
        if not open_docs:
            return
        again, settled, masks = zip(*open_docs)
        found = infer(self._read_all(again), self._emissions(), self.tags, Inference(), np.concatenate(masks))
        for prediction, other in zip(settled, found):
            marks = [table.parsed[tag].mark for tag in prediction.tags.tolist()]
            prediction.tags = settle_marks(other.tags, marks, table)

    def restored(self, doc: Doc) -> Restoration:
        """What a Doc is restored to, without writing it."""
        (found,) = self.predict([doc])
        return self._writer().restoration(found.view, found.prediction)

    def stream(
        self,
        words: Iterable[str],
        lag: int = 20,
        block: int = 1,
        prepare: Callable[[Doc], Doc] | None = None,
        nlp: Language | None = None,
    ) -> Iterator[StreamedWord]:
        """Restore words as they come, with a bounded look-ahead. See `stream.RestorationStream`.

        words (iterable of str): of one text.
        lag (int): a word goes out when so many words have come behind it.
        block (int): words that are decoded at a time; more are faster and wait longer.
        prepare (Callable | None): annotates Docs whose annotation the features read, such as a tagger.
        nlp (Language | None): the pipeline, whose components before this one do so where there is no `prepare`.
        YIELDS (StreamedWord): text, restored, mark, probability.
        RAISES (ValueError): where features read annotation, and nothing is given that writes it.
        """
        if prepare is None and nlp is not None:
            prepare = components_before(nlp, self.name)
        if prepare is None and self._annotation():
            raise CRFError(PunctuationErrors.CRF992.format(name=self.name))
        return stream_words(self, words, lag, block, prepare)

    def _writer(self) -> RestorationWriter:
        return RestorationWriter(self.label_scheme, self.tags.tags, self.cfg, self.cfg[MIXED])

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Restored]) -> None:
        """Write marks, cases, probabilities, the restored text and its edits, and sentence starts."""
        register_punctuation()
        write = self._writer()
        for doc, restored in zip(docs, predictions):
            write(doc, restored.view, restored.prediction)

    def get_loss(self, examples: Iterable[Example], scores: Sequence[Any]) -> float:
        """Negative log-likelihood of gold under the present weights. See `ChainPipe.get_loss`."""
        return super().get_loss(examples, [restored.prediction for restored in scores])

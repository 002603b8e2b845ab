"""Restores punctuation, case and sentence starts of bare text with a linear-chain CRF over its words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ...core.gold import Gold
from ...core.labels import TagSet
from ...core.types import Bools, Floats, Indices
from ...errors import Errors
from ...features.columns import Columns
from ...features.config import FeatureConfig
from ...learner import Sample
from ...model import ChainModel, get_tok2vec
from ...punctuation.case import case_of
from ...punctuation.labels import LabelScheme, LabelTable
from ...trainers import Trainer
from ...vectors import annotation_read
from ..inference import Inference, Prediction, infer
from .annotation import register_punctuation
from .calibration import CALIBRATION, CalibratedPipe
from .decide import Thresholds, choose, labels_beside_marks
from .gold import gold_labels, label_numbers, mixed_forms
from .settings import check_restoration
from .stream import StreamedWord, components_before, stream_words
from .words import WordView, bare_doc, given_marks, is_bare
from .writer import Restoration, RestorationWriter

MIXED = "mixed_forms"


@dataclass(frozen=True)
class Restored:
    """What was decoded for one Doc: its words, and what the chain says of them."""

    view: WordView
    prediction: Prediction


class PunctuationRestorer(CalibratedPipe):
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
        features: FeatureConfig,
        trainer: Trainer,
        marks: LabelScheme,
        settings: Mapping[str, Any],
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        check_restoration(name, settings, marks)
        told = {
            "marks": list(marks.marks.marks),
            "collapse": dict(marks.marks.collapse),
            "ends": list(marks.marks.ends),
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

    # -- training --------------------------------------------------------------------------------------------

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        return TagSet(labels, "none")

    def _allowed(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        transitions, starts, ends = super()._allowed(tags)
        labels = LabelTable(tags.tags).parsed
        fitting = [[self.label_scheme.may_follow(first, second) for second in labels] for first in labels]
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
        table = LabelTable(self.tags.tags)
        numbers = {label: number for number, label in enumerate(table.parsed)}
        parts = [label_numbers(gold_labels(example, self.label_scheme), numbers) for example in examples]
        return Gold.known(np.concatenate([np.zeros(0, dtype=np.int32), *parts]), len(self.tags))

    # -- prediction ------------------------------------------------------------------------------------------

    def _thresholds(self) -> Thresholds:
        return Thresholds(self.cfg["threshold"], self.cfg["thresholds"])

    def inference(self) -> Inference:
        needed = bool(self.cfg["probabilities"] or self._thresholds())
        return Inference(marginals=needed, n_best=self.cfg["n_best"], temperature=self.cfg["temperature"])

    def infer(self, docs: Sequence[Doc], inference: Inference, given: bool = True) -> list[Prediction]:
        """See `CalibratedPipe.infer`; values are those of words."""
        return super().infer([self.bare(doc) for doc in docs], inference, given)

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        if self.cfg["existing"] != "keep":
            return None
        table = LabelTable(self.tags.tags)
        marks = [mark for doc in docs for mark in given_marks(doc, self.label_scheme)]
        return np.array([table.having(mark) for mark in marks], dtype=bool).reshape(len(marks), len(self.tags))

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Decode Docs without changing them.

        RETURNS (list[Restored]): one for each Doc.
        """
        views = [self.view(doc) for doc in docs]
        bare = [self._bare(view) for view in views]
        predictions = self.infer(bare, self.inference())
        if self._thresholds():
            self._choose_marks(bare, predictions)
        return [Restored(view, prediction) for view, prediction in zip(views, predictions)]

    def _choose_marks(self, docs: Sequence[Doc], predictions: Sequence[Prediction]) -> None:
        """Set marks by their thresholds; what else labels tell is the best for these marks.

        Without the second decoding, the word behind an end mark that only a threshold sets would keep its small letter.
        """
        table, thresholds, open_docs = LabelTable(self.tags.tags), self._thresholds(), []
        for doc, prediction in zip(docs, predictions):
            prediction.tags = choose(cast(Floats, prediction.marginals), table, thresholds)
            possible = labels_beside_marks(prediction.tags, table, self.label_scheme)
            if len(doc) and possible.any(axis=1).all() and (self.label_scheme.case or self.label_scheme.pairs):
                open_docs.append((doc, prediction, possible))
        if open_docs:
            again, settled, masks = zip(*open_docs)
            found = infer(self._read_all(again), self._emissions(), self.tags, Inference(), np.concatenate(masks))
            for prediction, other in zip(settled, found):
                prediction.tags = other.tags

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
            raise ValueError(Errors.CRF992.format(name=self.name))
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

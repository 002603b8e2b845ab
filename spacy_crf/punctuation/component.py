"""Restores punctuation, case and sentence starts of bare text with a linear-chain CRF over its words."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Optimizer

from ..core.arrays import Bools, Floats, Indices, Segments
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.labels import Gold, TagSet
from ..features.columns import Columns
from ..learning.encoder import Sample
from ..learning.model import annotation_read, get_layout, get_tok2vec
from ..pipe.chain_storage import Start
from ..pipe.component import ChainPipe
from ..pipe.errors import PipeErrors
from ..pipe.storage import readable
from .block import LabelScheme, RestorerSettings
from .calibration import CALIBRATION, CalibratesMarks, MarkCalibration, StoredCalibration, WordDecoder, WordPrediction
from .docs import (
    WordView,
    bare_doc,
    given_marks,
    gold_labels,
    is_bare,
    read_truncated,
    register_punctuation,
)
from .errors import PunctuationErrors, PunctuationWarnings
from .labels import (
    ANY,
    Label,
    LabelTable,
    Thresholds,
    choose,
    labels_beside_given,
    labels_beside_marks,
    may_follow,
    settle_marks,
)
from .languages import LANGUAGES
from .passages import Survey
from .restore import Editor, Restoration, RestorationWriter
from .stream import StreamedWord, components_before, stream_words
from .words import bare_form, split_words

MIXED, SIGNS = "mixed_forms", "signs"


class Restored(NamedTuple):
    """What was decoded for one Doc: its words, and what the chain says of them."""

    view: WordView
    prediction: WordPrediction


class PunctuationRestorer(CalibratesMarks, ChainPipe):
    """Labels words with the marks that follow them. See `RestorerSettings`.

    The chain runs over words, not over tokens: see `docs`. Nothing that is written changes the Doc's words or text.
    Probabilities of marks go through a map, which `crf calibrate` fits. It is kept in `cfg`, as the labels are: it is
    learned, no setting of the config. Labels that are decoded, the listed sequences and their probabilities are the
    chain's own.

    >>> import spacy
    >>> nlp = spacy.load("output/punctuation_restorer/model-best")  # `make demo` trains it
    >>> nlp("how is your sister")._.restored
    'How is your sister?'
    """

    labels_tokens = False
    learned_settings: ClassVar = {
        MIXED: dict[str, str],
        SIGNS: dict[str, str],
        CALIBRATION: StoredCalibration | None,
    }
    settings_of_weights = (CALIBRATION,)
    settings: RestorerSettings

    def __init__(self, vocab: Vocab, settings: RestorerSettings, name: str = "punctuation_restorer"):
        settings.check(name)
        marks = settings.marks
        if marks.language not in (None, *LANGUAGES):
            told = {"name": name, "language": marks.language, "known": ", ".join(LANGUAGES)}
            warnings.warn(PunctuationWarnings.CRFW980.format(**told), CRFWarning, stacklevel=2)
        kept: dict[str, Any] = {
            "marks": list(marks.marks),  # for scorers, as those below
            "collapse": dict(marks.collapse or {}),
            "ends": list(marks.end_marks),
            "abbreviations": sorted(marks.abbreviated),
            "has_case": marks.case,
            "has_pairs": marks.pairs,
            MIXED: {},  # learned, as the next ones
            SIGNS: {},
            CALIBRATION: None,
        }
        super().__init__(vocab, settings, name, **kept)

    @property
    def label_scheme(self) -> LabelScheme:
        """What labels tell."""
        return self.settings.marks

    @property
    def label_table(self) -> LabelTable:
        """The labels of the chain, and which mark each has."""
        return LabelTable(self.tags.tags)

    # -- words -----------------------------------------------------------------------------------------------

    def view(self, doc: Doc) -> WordView:
        """The words of a Doc, which the chain runs over."""
        return WordView.of(doc, self.label_scheme)

    def bare(self, doc: Doc) -> Doc:
        """A Doc of the words alone; the Doc itself if it is one."""
        return doc if is_bare(doc) else self._bare(self.view(doc))

    def _bare(self, view: WordView) -> Doc:
        extensions = [one.key for one in self.features.extractor.attributes if one.name == "_"]
        return bare_doc(view, self._annotation(), extensions)

    def _annotation(self) -> list[int]:
        """Attributes that other components set, and that features or vectors read."""
        read = self.features.extractor.attributes
        names = {one.name for one in read if one.is_annotation and one.name != "_"}
        tok2vec = get_tok2vec(self.model)
        return [IDS[name] for name in sorted(names.union(annotation_read(tok2vec) if tok2vec else ()))]

    def read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        return super().read([self.bare(doc) for doc in docs], extra)

    def read_columns(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        return super().read_columns([self.bare(doc) for doc in docs], extra)

    @property
    def has_probabilities(self) -> bool:
        return self.calibration is not None or super().has_probabilities

    def finish_update(self, sgd: Optimizer | None) -> None:
        """Let the trainer take its step; a map that was fitted to the weights before it is dropped."""
        self.drop_calibration()
        super().finish_update(sgd)

    def uncalibrated(self, docs: Sequence[Doc]) -> Floats:
        """((n, M)): probabilities of the marks of all words of bare Docs, as the chain has them."""
        found: list[Any] = self.decode(docs, WordDecoder(None, marginals=True), given=False)
        none = np.zeros((0, len(self.tags)), dtype=np.float32)
        return self.label_table.mark_probabilities(np.concatenate([none, *(one.marginals for one in found)]))

    # -- training --------------------------------------------------------------------------------------------

    def allowed_pairs(self, tags: TagSet) -> tuple[Bools, Bools, Bools]:
        transitions, starts, ends = super().allowed_pairs(tags)
        labels = LabelTable(tags.tags).parsed
        fitting = [[may_follow(first, second, self.label_scheme) for second in labels] for first in labels]
        return transitions & np.array(fitting, dtype=bool).reshape(transitions.shape), starts, ends

    def describe_gold(self) -> str:
        return "a text with punctuation marks"

    def references(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[Doc]:
        """The gold sides of examples as bare words, which word lists and classes are fitted to."""
        return map(self.bare, super().references(get_examples))

    def splitter(self, nlp: Language | None) -> Callable[[str], list[str]]:
        """Return what splits the phrases of word lists: into words, whatever the tokens of the pipeline are."""
        abbreviations = self.label_scheme.abbreviated
        return lambda text: [bare_form(text[word.start : word.end]) for word in split_words(text, abbreviations)]

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
        """Find labels, forms in mixed case and how marks are spelt in the data. See `ChainPipe.initialize`."""
        survey = Survey(self.label_scheme, map(self.view, super().references(get_examples)))
        survey.warn(self.name, self.label_scheme.marks)
        self.cfg.learn(**{MIXED: survey.mixed, SIGNS: survey.signs, CALIBRATION: None})
        found = survey.labels if labels is None else labels
        super().initialize(get_examples, nlp=nlp, labels=sorted(found), start=start)

    def begin_with(self, begun: Start) -> None:
        """Begin as `StoresChain` does; forms and spelling that were learned before stay beside those of new texts."""
        super().begin_with(begun)
        for name in (MIXED, SIGNS):
            self.cfg.learn(**{name: {**self.cfg[name], **begun.learned.get(name, {})}})

    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        super().restore(files, path, alone)
        with readable(self.name, path):
            if (found := self.cfg[CALIBRATION]) is not None:
                MarkCalibration.from_data(found)  # a damaged one is told now, not at the first Doc

    def fitted(self, labels: Sequence[str] | None, begun: Start | None) -> list[str]:
        return [*super().fitted(labels, begun), "forms in mixed case", "the spelling of marks"]

    @property
    def measured(self) -> Sequence[str]:
        return ("case_acc",) if self.label_scheme.case else ()

    def make_sample(self, examples: Sequence[Example]) -> Sample:
        return super().make_sample([Example(self.bare(eg.predicted), eg.reference) for eg in examples])

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        table, found = self.label_table, list[Label | None]()
        for example in examples:
            labels = gold_labels(example, self.label_scheme)
            for label in sorted(set(filter(None, labels)) - set(table.parsed)):
                told = {"name": self.name, "label": str(label), "document": excerpt(example.reference.text)}
                if label.mark not in table.marks:
                    raise CRFError(PipeErrors.CRF403.format(**told))
                if label.sentence != ANY:
                    warnings.warn(PunctuationWarnings.CRFW979.format(**told), CRFWarning, stacklevel=2)
            found += labels
        return table.gold(found)

    # -- prediction ------------------------------------------------------------------------------------------

    def decoder(self) -> WordDecoder:
        own, calibration = self.settings, self.calibration
        calibrate = None if calibration is None else partial(calibration.apply, table=self.label_table)
        marginals = bool(own.probabilities or own.threshold or own.thresholds)
        return WordDecoder(None, marginals=marginals, n_best=own.n_best, calibrate=calibrate)

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        by_doc = list(map(self._given, docs))
        if by_doc.count(None) == len(by_doc):
            return None
        marks = [mark for doc, own in zip(docs, by_doc) for mark in own or [None] * len(doc)]
        return labels_beside_given(marks, lengths, self.label_table, get_layout(self.model), self.label_scheme)

    def _given(self, doc: Doc) -> list[str | None] | None:
        return given_marks(self.bare(doc), self.label_scheme, self.settings.existing == "keep")

    def predict(self, docs: Iterable[Doc]) -> list[Restored]:
        """Decode Docs without changing them."""
        return self._predict([self.view(doc) for doc in docs])

    def _predict(self, views: list[WordView]) -> list[Restored]:
        bare = [self._bare(view) for view in views]
        predictions: list[Any] = self.decode(bare, self.decoder())
        self._settle(bare, predictions)
        return list(map(Restored, views, predictions))

    def _settle(self, docs: Sequence[Doc], predictions: Sequence[WordPrediction]) -> None:
        """Set marks by their thresholds, except for those that are kept."""
        own, table, changed = self.settings, self.label_table, []
        for doc, prediction in zip(docs, predictions):
            tags = prediction.tags
            if own.threshold or own.thresholds:
                tags = choose(cast(Floats, prediction.marginals), table, Thresholds(own.threshold, own.thresholds))
            given = self._given(doc)
            if given is not None:
                tags = settle_marks(tags, given, table)
            if not np.array_equal(tags, prediction.tags):
                changed.append((doc, prediction))
            prediction.tags = tags
        if self.label_scheme.case or self.label_scheme.pairs:
            self._decode_again(changed)

    def _decode_again(self, changed: Sequence[tuple[Doc, WordPrediction]]) -> None:
        """Keep the marks; what else labels tell becomes the best for these.

        Otherwise the word behind an end mark that only a threshold sets would keep its small letter.
        """
        table = self.label_table
        masks = [
            labels_beside_marks(found.tags, table, self.label_scheme, read_truncated(doc)[1]) for doc, found in changed
        ]
        open_docs = [(*one, mask) for one, mask in zip(changed, masks) if mask.any(axis=1).all()]
        if not open_docs:
            return
        again, settled, masks = map(list, zip(*open_docs))
        columns = self.read(again)
        chains = self.scores.distribution(columns, self.scores.look_up(columns)).given(np.concatenate(masks))
        for prediction, labels in zip(settled, Segments(columns.doc_lengths).split(chains.best())):
            marks = [table.parsed[tag].mark for tag in prediction.tags.tolist()]
            prediction.tags = settle_marks(labels, marks, table)

    def restored(self, doc: Doc, settled: Mapping[int, str]) -> Restoration:
        """What a Doc is restored to, without writing it. settled: marks by the characters at which their words end."""
        (found,) = self._predict([replace(self.view(doc), settled=settled)])
        return self._writer().restoration(*found)

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

    def sign_of(self, mark: str) -> str:
        """A mark as it is written behind a word, with the white space before it."""
        return Editor(self.label_scheme, signs=self.cfg[SIGNS]).spell(mark, "")

    def _writer(self) -> RestorationWriter:
        return RestorationWriter(self.label_scheme, self.tags.tags, self.cfg, self.cfg[MIXED], self.cfg[SIGNS])

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Restored]) -> None:
        """Write marks, cases, probabilities, the restored text and its edits, and sentence starts."""
        register_punctuation()
        write = self._writer()
        for doc, restored in zip(docs, predictions):
            write(doc, *restored)

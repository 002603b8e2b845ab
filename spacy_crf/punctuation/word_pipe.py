"""A chain over the words of Docs, not over their tokens: how it reads them, and how it learns."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..core.arrays import Bools, Indices
from ..core.gold import Gold
from ..core.labels import TagSet
from ..features.columns import Columns
from ..learning.encoder import Sample
from ..learning.model import get_tok2vec
from ..learning.vectors import annotation_read
from .calibration import CalibratedPipe
from .case import case_of
from .doc_words import WordView, bare_doc, is_bare
from .gold import gold_labels, label_numbers, mixed_forms
from .labels import LabelScheme, LabelTable

MIXED = "mixed_forms"


class WordPipe(CalibratedPipe):
    """Reads and learns the words of Docs: see `words`.

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

"""Labels of a component, as spaCy asks for them and as its config keeps them, and gold in them."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab

from ..annotation.documents import (
    AS_IT_IS,
    Preparation,
    Punctuation,
    StoredPreparation,
    preparation_of,
    read_doc_name,
)
from ..annotation.gold import find_violation, forget_crossing, read_gold_tags
from ..annotation.span_targets import GroupTarget, SpanTarget
from ..annotation.target import Target
from ..annotation.white_space import is_white_space, white_space, word_docs, word_examples
from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.labels import UNKNOWN, Gold, TagSet
from ..core.weights import Layout
from ..features.columns import Columns
from ..features.extract import FeatureExtractor, Stage
from ..features.templates import Template
from .block import SPAN_TARGETS
from .errors import PipeErrors, PipeWarnings

PREPARATION = "preparation"  # what of `cfg` says how the texts of training were prepared, see `Preparation`
SKIPS_WHITE_SPACE = "skips_white_space"  # what of `cfg` says that tokens of white space are no units of the chain
OF_PREPARATION: Mapping[str, Any] = {PREPARATION: StoredPreparation | None}
OF_TEXTS: Mapping[str, Any] = {**OF_PREPARATION, SKIPS_WHITE_SPACE: bool}
N_LOOKED_AT = 100  # examples that show whether there are such tokens
RARE = 0.01  # share of tokens: fewer teach a chain nothing
# what people call the targets that spaCy has a place for
_TARGETS = {
    "tag": ("tag", "tags", "tag_", "xpos"),
    "pos": ("pos", "pos_", "upos"),
    "ent": ("ent", "ents", "entity", "entities", "ner", "iob"),
    "spans": ("span", "spans", "spancat", "chunk", "chunks", "noun_chunks", "np"),
}


class HasLabels:
    """Keeps labels in `cfg`."""

    name: str
    vocab: Vocab
    cfg: Any

    @abstractmethod
    def describe_gold(self) -> str:
        """How messages name the annotation that the component learns from."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """Labels as `initialize` takes them back."""
        return list(self.cfg["labels"])

    def set_labels(self, labels: Iterable[str]) -> None:
        """Take labels in the order of their first occurrence; a coded error where there are none."""
        distinct = list(dict.fromkeys(labels))
        if not distinct:
            name = self.cfg.get("target")
            target = f"`target` (now {name!r}; near names: {', '.join(near_targets(name))}) and " if name else ""
            where = {"annotation": self.describe_gold(), "target": target}
            raise CRFError(PipeErrors.CRF402.format(name=self.name, **where))
        for label in distinct:
            self.check_label(label)
            self.vocab.strings.add(label)
        self.cfg.learn(labels=distinct)

    def check_label(self, label: str) -> None:
        """Raise a coded error for a label that the component could not write."""
        if not isinstance(label, str) or not label:
            raise CRFError(PipeErrors.CRF409.format(name=self.name, label=label))
        if self.cfg.get("target") == "pos":
            require_universal(self.name, [label])

    def references(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[Doc]:
        """The gold sides of examples, read once."""
        for example in get_examples():
            validate_examples([example], f"{type(self).__name__}.initialize")
            yield example.reference


class KeepsPreparation:
    """Keeps in `cfg` how the texts of training were prepared, and reads other texts accordingly."""

    name: str
    cfg: Any
    preparation: Preparation | None

    def learn_preparation(self, references: Iterable[Doc]) -> None:
        """Take it from the gold Docs of training."""
        found = Preparation.of(references)
        self.cfg.learn(**{PREPARATION: None if found is None else found.to_data()})

    def apply_preparation(self, extractor: FeatureExtractor) -> None:
        """Let sequences end where those of training did."""
        own = Preparation.from_data(self.cfg.get(PREPARATION))
        if own is not None and own.punctuation == "context" and self.cfg.get("target") in SPAN_TARGETS:
            own = replace(own, punctuation="gold")  # it loses its gold tag, but stays part of spans
        self.preparation = own
        extractor.end_sequences_behind(own.marks if own is not None and own.cuts else None)

    def learn_white_space(self, examples: Iterable[Example], target: Target) -> None:
        """Leave tokens of white space out from now on, if they are rare in the first examples and have no labels.

        Without examples nothing says so; weights of another library may.
        """
        shown = list(islice(examples, N_LOOKED_AT))
        found = sum(int(is_white_space(example.predicted).sum()) for example in shown)
        is_rare = bool(shown) and found <= RARE * sum(len(example.predicted) for example in shown)
        labelled = not target.is_spans and any(target.labels_of(white_space(one.reference)) - {""} for one in shown)
        self.cfg.learn(**{SKIPS_WHITE_SPACE: is_rare and not labelled})

    @property
    def skips_white_space(self) -> bool:
        """Whether tokens of white space are left out: training has shown few or none, and no labels of theirs."""
        return bool(self.cfg.get(SKIPS_WHITE_SPACE))

    def words(self, docs: Sequence[Doc]) -> Sequence[Doc]:
        """Docs of the tokens that the chain runs over."""
        return word_docs(docs) if self.skips_white_space else docs

    def word_examples(self, examples: Sequence[Example]) -> Sequence[Example]:
        """Examples of the tokens that the chain runs over."""
        return word_examples(examples) if self.skips_white_space else examples

    def compare_preparation(self, examples: Sequence[Example], columns: Columns, gold: Gold) -> None:
        """Warn of texts that were prepared otherwise than those that the component was initialised with, or that have
        gold (N units) for punctuation, which it gives no labels. Of several texts, one is asked."""
        if PREPARATION not in self.cfg or not examples:
            return
        own, theirs = self.preparation, preparation_of(examples[0].reference)
        told = Preparation.from_data(self.cfg[PREPARATION])
        first = AS_IT_IS if told is None else (told.punctuation, told.cuts)
        if theirs is None and own is not None and own.punctuation != "gold":
            marks = own.marks(columns.orths, examples[0].predicted.vocab.strings)
            differs = bool((gold.labels[marks] != UNKNOWN).any())
        else:
            differs = first != (theirs or first)
        if differs:
            ways = {"first": _told(*first), "now": _told(*(theirs or AS_IT_IS))}
            warnings.warn(PipeWarnings.CRFW416.format(name=self.name, **ways), CRFWarning, stacklevel=2)

    def unlabelled(self, docs: Sequence[Doc], columns: Columns) -> Bools | None:
        """Tokens (N,) that get no label, as training has shown nothing of theirs: punctuation, in prepared texts."""
        own = self.preparation
        if own is None or own.punctuation == "gold":
            return None
        marks = own.marks(columns.orths, docs[0].vocab.strings)
        if own.punctuation == "removed" and marks.any():
            document = excerpt(docs[int(Segments(columns.doc_lengths).owners[marks.argmax()])].text)
            warnings.warn(PipeWarnings.CRFW432.format(name=self.name, document=document), CRFWarning, stacklevel=2)
        return marks


def require_universal(name: str, labels: Iterable[str]) -> None:
    """Raise a coded error for a label that token.pos cannot have. name (str): of the component."""
    for label in labels:
        if label not in POS_IDS:
            raise CRFError(PipeErrors.CRF413.format(name=name, label=label))


def _told(punctuation: Punctuation, cuts: bool) -> str:
    return f'punctuation = "{punctuation}"' + ", cut_at_punctuation = true" * cuts


def read_gold(
    name: str, target: Target, examples: Sequence[Example], lengths: Indices, tags: TagSet, layout: Layout
) -> Gold:
    """Gold of the tokens of predicted Docs, one Doc after the other; pairs that the layout rules out are refused."""
    read = [_gold_tags(name, target, example, tags) for example in examples]
    labels, crossed = join_gold(read, lengths, target, tags)
    for number in np.unique(Segments.of(example.predicted for example in examples).owners[crossed]).tolist():
        _tell(PipeWarnings.CRFW420, name, examples[number].reference)
    gold = target.narrow(Gold.known(labels, len(tags)), examples, lengths, tags)
    require_allowed(name, gold, examples, lengths, tags, layout)
    return gold


def require_allowed(
    name: str, gold: Gold, examples: Sequence[Example], lengths: Indices, tags: TagSet, layout: Layout
) -> None:
    """Raise a coded error, with the document, for gold that the layout rules out. See `read_gold`."""
    violation = find_violation(gold, lengths, layout)
    if violation is None:
        return
    owners = Segments.of(example.predicted for example in examples).owners
    document = excerpt(examples[int(owners[violation.unit])].reference.text)
    sides = violation.before, violation.after
    before, after = ("|".join(tags.tags[tag] for tag in side) or "the edge of a sequence" for side in sides)
    where = {"name": name, "document": document, "scheme": tags.scheme}
    raise CRFError(PipeErrors.CRF411.format(before=excerpt(before), after=excerpt(after), **where))


def join_gold(labels: Iterable[Ints], lengths: Indices, target: Target, tags: TagSet) -> tuple[Ints, Indices]:
    """((N,)): gold of several Docs, without spans that cross from one sequence into the next; ((K,)): where they do."""
    joined = np.concatenate([np.zeros(0, dtype=np.int32), *labels])
    crossed = forget_crossing(joined, lengths, tags) if target.is_spans else np.zeros(0, dtype=np.intp)
    return joined, crossed


def _gold_tags(name: str, target: Target, example: Example, tags: TagSet) -> Ints:
    reference = example.reference
    if isinstance(target, GroupTarget) and target.has_overlaps(reference):
        _tell(PipeWarnings.CRFW402, name, reference)
    if isinstance(target, SpanTarget) and tags.scheme == "none" and target.has_touching(reference):
        _tell(PipeWarnings.CRFW440, name, reference)
    try:
        return target.gold(example, tags)
    except KeyError as error:
        document = excerpt(reference.text)
        raise CRFError(PipeErrors.CRF403.format(label=error.args[0], name=name, document=document)) from error


def _tell(warning: str, name: str, doc: Doc) -> None:
    warnings.warn(warning.format(name=name, document=excerpt(doc.text)), CRFWarning, stacklevel=3)


def tell_missing(name: str, missing: Mapping[str, Template], stage: Stage) -> None:
    """Warn of annotation that templates read and the first Docs lack. name (str): of the component."""
    warning = PipeWarnings.CRFW404 if stage == "training" else PipeWarnings.CRFW407
    for attribute, template in missing.items():
        told = {"name": name, "template": str(template), "attribute": attribute}
        warnings.warn(warning.format(**told), CRFWarning, stacklevel=3)


def tell_stream(name: str, nlp: Language | None, fitted: Sequence[str]) -> None:
    """Warn of what is fitted to the examples of `initialize`, where spaCy gives it but the first ones of a stream."""
    if nlp is not None and fitted and nlp.config.interpolate()["training"].get("max_epochs") == -1:
        message = PipeWarnings.CRFW415.format(name=name, fitted=", ".join(fitted))
        warnings.warn(message, CRFWarning, stacklevel=3)


def tell_several(name: str, extension: str, references: Iterable[Doc]) -> Iterator[Doc]:
    """Yield gold Docs, and warn behind them of tokens with several gold tags, of which one is learned.

    extension (str): custom token attribute that has them.
    """
    count, told = 0, dict[str, str]()
    for doc in references:
        several = [row for row in read_gold_tags(doc, extension) if len(row) > 1]
        if several and not count:
            told = {"tags": excerpt("|".join(several[0])), "document": read_doc_name(doc) or excerpt(doc.text)}
        count += len(several)
        yield doc
    if count:
        warnings.warn(PipeWarnings.CRFW468.format(name=name, count=count, **told), CRFWarning, stacklevel=3)


def near_targets(name: str) -> list[str]:
    """Targets that somebody may mean who writes another name; all of them for one of them, or where none is near."""
    if name in _TARGETS:
        return list(_TARGETS)
    owners = {word: target for target, words in _TARGETS.items() for word in words}
    return list(dict.fromkeys(owners[word] for word in get_close_matches(name.lower(), owners))) or list(_TARGETS)

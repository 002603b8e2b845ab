"""The `features` block of a component's config, and the blocks that belong into it."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal

from spacy import registry
from spacy.tokens import Doc

if TYPE_CHECKING:
    from .induced import WordClasses
    from .resources import Lexicon, Resources
    from .spelling import Speller
    from .templates import Template

# A sequence is a sentence where the Doc has sentence starts, and else the Doc ("auto"); the Doc; a sentence
SequenceMode = Literal["auto", "doc", "sents"]
Counts = Callable[[], Mapping[str, int]]
Texts = Callable[[], Iterable[Sequence[str]]]
Docs = Callable[[], Iterable[Doc]]
Splitter = Callable[[str], list[str]]
SPELLING, CLASSES = "spacy_crf.Spelling.v1", "spacy_crf.InducedClasses.v1"
FIT = "fit"  # the table of normal forms to the training corpus


@registry.misc(SPELLING)
@dataclass(frozen=True)
class SpellingSettings:
    """Normal forms of words, for templates with REWRITTEN, RPREFIX, RSUFFIX and NORMAL.

    rules (str | None): rewrite rules: a path of a file, or the name of those that come with the library.
    table (str | None): "fit" for a table fitted to the words of the training corpus; else the path of one, of lines
        `form<TAB>normal form`, as `python -m spacy crf spelling` writes it. Its forms are rewritten ones. null: none.
    lengths (list[int] | None): where one, two ... edits begin to be allowed, in letters of the shorter word; null: at
        4 and 8.
    ratio (float): a normal form is more than so many times as frequent as its variants.
    """

    rules: str | None = None
    table: str | None = FIT
    lengths: list[int] | None = None
    ratio: float = 10

    def __post_init__(self) -> None:
        from ..core.errors import CoreErrors, require, require_numbers

        require_numbers(self)
        lengths = self.lengths or []
        rises = lengths == sorted(lengths) and min(lengths, default=1) >= 1
        require(CoreErrors.CRF549, "ratio", self.ratio, 1 <= self.ratio < math.inf, "at least 1")
        require(CoreErrors.CRF549, "lengths", self.lengths, rises, "numbers from 1 on, rising")

    def make(self, count: Counts) -> "Speller":
        """Read rules and table, or fit the table to how often each form of the training corpus occurs."""
        from .spelling import LENGTHS, Rewriter, Speller, SpellingTable, fit_spelling, fold

        rewriter = Rewriter.read(self.rules) if self.rules else Rewriter(())
        lengths = LENGTHS if self.lengths is None else self.lengths
        if self.table == FIT:
            return Speller(rewriter, fit_spelling(rewriter.rewrite_counts(count()), lengths, self.ratio))
        table = SpellingTable.read(Path(self.table), lengths) if self.table else SpellingTable({}, lengths)
        if any(rewriter(form) != form for form in table.table):
            self._tell_idle(table.table, {fold(form): rewriter(form) for form in count()})
        return Speller(rewriter, table)

    def _tell_idle(self, table: Mapping[str, str], rewritten: Mapping[str, str]) -> None:
        """Warn of forms of a table that are words of training, but by the rules other ones."""
        from ..core.errors import CRFWarning, excerpt
        from .errors import FeatureWarnings

        idle = sorted(table.keys() & (rewritten.keys() - set(rewritten.values())))
        if idle:
            forms = excerpt(", ".join(f"{form} ({rewritten[form]})" for form in idle))
            told = FeatureWarnings.CRFW328.format(path=self.table, rules=self.rules, forms=forms)
            warnings.warn(told, CRFWarning, stacklevel=2)

    def kept(self, fitted: "Speller | None") -> "Speller | None":
        """Return what was fitted before, if it stays; a coded error where it is not what these settings ask for."""
        from ..core.errors import CRFError, excerpt
        from .errors import FeatureErrors
        from .spelling import LENGTHS, Rewriter

        if fitted is None or self.table != FIT:
            return None
        theirs, lengths = fitted.to_data(), list(LENGTHS if self.lengths is None else self.lengths)
        rules = [list(rule) for rule in Rewriter.read(self.rules).rules] if self.rules else []
        asked = {"rules": (rules, theirs["rules"]), "lengths": (lengths, theirs["lengths"])}
        asked["table"] = (bool(fitted.spelling.table), True)  # of one without a table, nothing can stay
        for setting, (own, found) in asked.items():
            if own != found:
                value = excerpt(str(getattr(self, setting)))
                raise CRFError(FeatureErrors.CRF327.format(setting=setting, value=value))
        return fitted


@registry.misc(CLASSES)
@dataclass(frozen=True)
class ClassSettings:
    """Word classes induced from the training text, for templates such as CLASS50; stored with the model.

    min_count (int): words seen less often share the class "rare".
    max_words (int): the most frequent ones at most.
    rounds (int): of the exchange algorithm over all words, at most.
    """

    min_count: int = 4
    max_words: int = 20_000
    rounds: int = 8

    def __post_init__(self) -> None:
        from ..core.errors import CRFError, require_numbers
        from .errors import FeatureErrors

        require_numbers(self)
        for name, value in vars(self).items():
            if not value >= 1:
                raise CRFError(FeatureErrors.CRF977.format(name=name, value=value))

    def make(self, texts: Texts, sizes: Iterable[int]) -> "WordClasses":
        """Induce so many classes, for each of the sizes, from the words of each text of the training corpus."""
        from .induced import WordClasses, count_bigrams, exchange_classes

        words, bigrams = count_bigrams(texts, self.min_count, self.max_words)
        classes = {size: exchange_classes(bigrams, size, self.rounds).tolist() for size in sorted(set(sizes))}
        return WordClasses(words, classes)


@registry.misc("spacy_crf.Features.v1")
@dataclass(frozen=True)
class FeatureSettings:
    """Templates and what belongs to them.

    templates (list[str]): in the language of `spacy_crf.features.templates`.
    min_count (int): state features seen less often in training are left out. Epochs do not count; for trainers that
        learn from batches, documents that are read anew in each epoch, as streams are, count each time.
    min_edge_count (int): the same for edge features, of which there is one for each pair of labels.
    lists (dict[str, str] | None): word lists by name: paths of TSV files, `word or phrase<TAB>value`. They are read by
        `initialize` and saved with the model.
    padding (bool): give positions outside the sequence values of their own instead of none.
    max_features (int): hash state features, and edge features, to at most so many buckets, for streams of ever new
        words; features in one bucket share their weights, and inspection sees numbers only. 0: grow without bound.
    spelling (SpellingSettings | None): spacy_crf.Spelling.v1, for templates that ask for normal forms of words.
    classes (ClassSettings | None): spacy_crf.InducedClasses.v1, for templates such as CLASS50.
    """

    templates: list[str]
    min_count: int = 1
    min_edge_count: int = 1
    lists: dict[str, str] | None = None
    padding: bool = True
    max_features: int = 0
    spelling: SpellingSettings | None = None
    classes: ClassSettings | None = None

    def __post_init__(self) -> None:
        """Check the settings: a coded error for templates that cannot be read or ask for what there is not."""
        from ..core.errors import CoreErrors, CRFError, require, require_blocks, require_numbers
        from .errors import FeatureErrors

        require_numbers(self)
        blocks = {"spelling": (SpellingSettings, SPELLING), "classes": (ClassSettings, CLASSES)}
        require_blocks(self, blocks)
        if not self.parsed:
            raise CRFError(FeatureErrors.CRF310)
        for template in self.parsed:
            self.check(template)
        if self.max_features < 0:
            raise CRFError(FeatureErrors.CRF312.format(value=self.max_features))
        for name in ("min_count", "min_edge_count"):
            require(CoreErrors.CRF549, name, getattr(self, name), getattr(self, name) >= 1, "at least 1")

    @cached_property
    def parsed(self) -> "list[Template]":
        """The templates, with ranges and presets expanded."""
        from .templates import parse_templates

        return parse_templates(self.templates)

    def check(self, template: "Template") -> None:
        """Raise a coded error for a template that asks for what the features do not have."""
        from ..core.errors import CRFError
        from .errors import FeatureErrors
        from .templates import INDUCED, SPELT

        for attribute in (atom.attribute for atom in template.atoms):
            if attribute.is_of_units:
                raise CRFError(FeatureErrors.CRF966.format(template=str(template)))
            if attribute.name == "LIST" and attribute.key not in (self.lists or {}):
                raise CRFError(FeatureErrors.CRF305.format(template=str(template), name=attribute.key))
            if attribute.name in SPELT and self.spelling is None:
                raise CRFError(FeatureErrors.CRF323.format(template=str(template)))
            if attribute.name == INDUCED and self.classes is None:
                raise CRFError(FeatureErrors.CRF976.format(template=str(template)))

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield what no template asks for, with what it goes with."""
        from .templates import INDUCED, SPELT

        asked = [atom.attribute for template in self.parsed for atom in template.atoms]
        names = {attribute.name for attribute in asked}
        for name in (self.lists or {}).keys() - {attribute.key for attribute in asked if attribute.name == "LIST"}:
            yield "lists", f"templates such as LIST({name})"
        if names.isdisjoint(SPELT):
            yield "spelling", "templates such as NORMAL"
        if INDUCED not in names:
            yield "classes", "templates such as CLASS50"

    def make_resources(self, split: Splitter, docs: Docs = tuple, fitted: "Lexicon | None" = None) -> "Resources":
        """Read word lists and rules from their files, and fit what is to be fitted to the Docs.

        split (Callable): makes units of the phrases of word lists.
        fitted (Lexicon | None): what was fitted before for the same templates, and stays: weights were learned with it.
        """
        from .resources import Lexicon, Resources, WordList, count_forms, kept_counts
        from .templates import COUNTED, INDUCED

        lists = {name: WordList.read(name, Path(path), split) for name, path in sorted((self.lists or {}).items())}
        own = fitted or Lexicon()
        thresholds, sizes = self._numbers(COUNTED), self._numbers([INDUCED])
        speller, counts, classes = None, own.counts, own.classes
        if self.spelling is not None:
            speller = self.spelling.kept(own.speller) or self.spelling.make(lambda: count_forms(docs()))
        if thresholds and counts is None:
            counts = kept_counts(count_forms(docs()), thresholds)
        if self.classes is not None and sizes and classes is None:
            classes = self.classes.make(lambda: ([token.text for token in doc] for doc in docs()), sizes)
        return Resources(lists, Lexicon(speller, counts, classes))

    @property
    def learned_with(self) -> dict[str, Any]:
        """Settings that a trained component is not asked for again, as it stores them; of paths the name, those of
        Windows too, which another system takes for a name."""
        lists = {name: PureWindowsPath(path).name for name, path in sorted((self.lists or {}).items())}
        blocks = {"spelling": self.spelling, "classes": self.classes}
        inner = {
            f"{block}.{name}": PureWindowsPath(value).name if isinstance(value, str) else value
            for block, settings in blocks.items()
            for name, value in (vars(settings).items() if settings is not None else ())
        }
        counts = {name: getattr(self, name) for name in ("min_count", "min_edge_count")}
        return {**counts, **{f"lists.{name}": file for name, file in lists.items()}, **inner}

    def kept_of(self, learned: Mapping[str, Any]) -> dict[str, Any]:
        """What of the `learned_with` of a component stays where training begins with it, as it is not learned anew."""
        names = [name for name in learned if name.startswith("classes.") and self.classes is not None]
        is_fitted = self.spelling is not None and self.spelling.table == FIT
        names += [name for name in learned if name == "spelling.ratio" and is_fitted]
        return {name: learned[name] for name in names}

    @property
    def fitted(self) -> list[str]:
        """What `make_resources` fits to Docs, by the names of settings."""
        from .templates import COUNTED, INDUCED

        own = self.spelling
        found = {
            "features.spelling": own is not None and own.table == FIT,
            "COMMON and RARE in features.templates": self._numbers(COUNTED),
            "features.classes": self.classes is not None and self._numbers([INDUCED]),
        }
        return [name for name, holds in found.items() if holds]

    def empty_resources(self) -> "Resources":
        """Return what there is before `make_resources`: lists and tables without entries."""
        from .induced import WordClasses
        from .resources import Lexicon, Resources, WordList
        from .spelling import Rewriter, Speller, SpellingTable
        from .templates import COUNTED, INDUCED

        lists = {name: WordList(name, []) for name in self.lists or ()}
        speller = None if self.spelling is None else Speller(Rewriter(()), SpellingTable({}))
        counts: dict[str, int] | None = {} if self._numbers(COUNTED) else None
        sizes = self._numbers([INDUCED])
        return Resources(lists, Lexicon(speller, counts, WordClasses([], {n: [] for n in sizes}) if sizes else None))

    def make_reader(self, resources: "Resources") -> Any:
        """Return a reader of columns; None for that of tokens."""
        return None

    def _numbers(self, names: Collection[str]) -> list[int]:
        """Return the numbers with which templates ask for some attributes."""
        attributes = [atom.attribute for template in self.parsed for atom in template.atoms]
        return [attribute.number for attribute in attributes if attribute.name in names]

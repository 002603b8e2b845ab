"""The tag dictionary at work in a component: features and masks from it, and how it is kept with the model."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ...annotation.documents import distinct_words
from ...core.arrays import Bools, Floats, Indices, Segments
from ...core.chain.evidence import Known, blocked_sequences
from ...core.errors import CRFError, CRFWarning, excerpt
from ...core.labels import Gold, TagSet
from ...core.weights import Layout
from ...features.block import FeatureSettings
from ...features.columns import Column, Columns
from ...features.errors import FeatureErrors
from ...features.spelling import Speller
from ...features.templates import VALID_TAGS, Attribute
from ..errors import PipeErrors, PipeWarnings
from .block import DictionarySettings
from .counts import Counted, CountTable, Shares, Words, known_shares
from .tag_dictionary import FOLDS, AmbiguityClasses, TagDictionary, count_shares, make_dictionary, read_dictionary

ATTRIBUTE = Attribute(VALID_TAGS)
GREATEST_DOUBT = 0.49  # a dictionary says something for what it finds valid, however often it is wrong


class ValidTags:
    """What a component knows of the valid tags of words; nothing without a dictionary."""

    def __init__(self, name: str, config: DictionarySettings | None, features: FeatureSettings):
        self.name, self.config = name, config
        self._settings = config or DictionarySettings()
        asking = [str(one) for one in features.parsed if any(atom.attribute == ATTRIBUTE for atom in one.atoms)]
        if bool(asking) != (config is not None and config.has_feature):
            raise CRFError(PipeErrors.CRF430.format(name=name, templates=", ".join(asking) or "none"))
        if self._settings.look_up != "form" and features.spelling is None:
            raise CRFError(PipeErrors.CRF439.format(name=name, value=self._settings.look_up))
        self.dictionary: TagDictionary | None = None
        self._tags: list[str] = []
        self._counted: Counted | None = None  # None: all that is learned from, each token alone
        self._class_column: Column | None = None
        self._measured = 0.0  # how often the right tag is not valid
        self._has_warned = False

    @property
    def needs_gold(self) -> bool:
        """Whether there is a dictionary to be made from training data, or something of it to be counted there."""
        own = self._settings
        counts = own.path is None or (own.masks and own.doubt is None) or (own.in_training and own.by_document)
        return self.config is not None and counts

    @property
    def doubt(self) -> float:
        """How often a mask is taken to leave out the right tag."""
        return self._measured if self._settings.doubt is None else self._settings.doubt

    def begin(self, tags: TagSet, speller: Speller | None, begun: dict[str, Any] | None) -> None:
        """Take the dictionary that training data are counted into, if there is one, or the table that the config names.

        speller (Speller | None): of the features. begun (dict | None): what a component has stored that training begins
        with, see `from_data`.
        """
        self.dictionary, self._counted, self._measured, self._class_column = None, None, 0.0, None
        if self.config is None:
            return
        if self.config.path is not None:
            dictionary = read_dictionary(self.config.path, self.config, tags, self.name, speller)
            self._set(dictionary, list(tags.tags), None)
        elif begun is not None:
            self.require(begun)
            self._check_counts(self.config, begun["dictionary"])
            self._check_keys(self.config, speller, begun)
            self.from_data(begun)

    def _check_counts(self, config: DictionarySettings, data: dict[str, Any]) -> None:
        """Raise a coded error for settings that stored counts do not go with."""
        theirs = {"fold": data["fold"], "look_up": data.get("look_up", config.look_up)}
        if config.by_document or "parts" in data:
            theirs["leave_out"] = "document" if "parts" in data else "token"
        for setting, value in theirs.items():
            if getattr(config, setting) != value:
                found = {"setting": setting, "value": getattr(config, setting), "theirs": value}
                raise CRFError(PipeErrors.CRF451.format(name=self.name, **found))

    def _check_keys(self, config: DictionarySettings, speller: Speller | None, begun: dict[str, Any]) -> None:
        """Raise a coded error where words are looked up by other forms than they were counted by."""
        ours, theirs = {} if speller is None else speller.to_data(), begun.get("spelling", {})
        parts = {"form": (), "rewritten": ("rules",), "normal": ("rules", "table", "lengths")}[config.look_up]
        for part in parts:
            if ours[part] != theirs[part]:
                raise CRFError(PipeErrors.CRF455.format(name=self.name, look_up=config.look_up, part=part))

    def fit(self, columns: Columns, gold: Gold, tags: TagSet, documents: Indices) -> None:
        """Count the words of training data, but for texts that were counted before, and how often the mask is wrong.
        Where all of these come again, all are counted anew, as they may have more gold by now, or other.

        columns (Columns), gold (Gold): of the tokens. documents ((D,)): number of the document that each Doc is of.
        """
        if self.config is None:
            return
        shares, words, before = known_shares(gold), self._words(columns), self._counted
        if not len(shares.units):
            raise CRFError(PipeErrors.CRF431.format(name=self.name))
        if before is not None and before.all_are_in(words):
            before, self.dictionary, self._measured = None, None, 0.0
        new = shares if before is None else shares.where(before.are_new(words)[shares.units])
        groups, first = documents if self.config.by_document else None, 0 if before is None else before.end
        counted = Counted.of(words, new, len(tags), groups, first)
        counted = counted if before is None else before.joined(counted)
        if self.config.path is None:
            table = count_shares(words.by_unit, new, len(tags), self.config.fold)
            if self.dictionary is not None:
                table = CountTable.merged([table, self.dictionary.words])
            self._set(make_dictionary(table, self.config, tags, self.name), list(tags.tags), counted)
        elif self.config.by_document:
            self._counted = counted
        if self.config.masks and self.config.doubt is None:
            self._measure(words, gold, new if self._measured else shares)

    def _measure(self, words: Words, gold: Gold, shares: Shares) -> None:
        """Measure which share of gold is not valid for words looked up as those of new text, given what was measured of
        texts that were counted before. shares (Shares): of the gold of the others."""
        assert self.dictionary is not None
        right = self._valid_in_training(words, gold).sets[shares.units, shares.labels]
        missed, total = float(shares.weights[~right].sum()), float(shares.weights.sum())
        if self._measured:
            before = float(self.dictionary.words.counts.sum()) - total
            missed, total = missed + max(self._measured * (before + 1) - 0.5, 0.0), total + before
        self._measured = min((missed + 0.5) / (total + 1), GREATEST_DOUBT)  # half a mistake where none was seen

    def _set(self, dictionary: TagDictionary, tags: list[str], counted: Counted | None) -> None:
        self.dictionary, self._tags, self._counted, self._class_column = dictionary, tags, counted, None

    def fill(self, columns: Columns) -> Columns:
        """Return columns with the feature, as for new text."""
        if self.dictionary is None or not self._settings.has_feature:
            return columns
        classes = self._classes(self.dictionary, columns)
        if self._class_column is None:
            self._class_column = self._column(classes.members)
        return _with(columns, self._class_column.take(classes.numbers))

    def fill_training(self, columns: Columns, gold: Gold) -> Columns:
        """Return columns with the feature as new text would have it, see `_valid_in_training`."""
        if self.dictionary is None or not self._settings.has_feature:
            return columns
        classes = self._valid_in_training(self._words(columns), gold)
        return _with(columns, self._column(classes.members).take(classes.numbers))

    def _valid_in_training(self, words: Words, gold: Gold) -> AmbiguityClasses:
        """The valid tags of tokens that are learned from: in texts that were counted, by the other occurrences of each
        word; a text that came later, in further training, is new to the dictionary."""
        assert self.dictionary is not None
        left_out = known_shares(gold) if self._counted is None else self._counted.left_out(words, gold)
        return self.dictionary.valid_elsewhere(words.by_unit, left_out)

    def mask(self, columns: Columns, n_labels: int) -> Bools | None:
        """((N, L) | None): tags that each token may have; those that are younger than the dictionary always."""
        if self.dictionary is None or not self._settings.masks:
            return None
        return _of_all_labels(self._classes(self.dictionary, columns), n_labels)

    def training_mask(self, columns: Columns, gold: Gold) -> Floats | None:
        """((N, L) | None): what the mask adds to scores in training; gold is not ruled out."""
        if self.dictionary is None or not self._settings.mask_training:
            return None
        classes = self._valid_in_training(self._words(columns), gold)
        mask = _of_all_labels(classes, gold.weights.shape[1])
        return self._log_likelihoods(mask if self.doubt else mask | (gold.dense() > 0))

    def _log_likelihoods(self, mask: Bools) -> Floats:
        """((N, L)): of a dictionary that finds the right tags valid but for the doubt, as far as they differ."""
        odds = np.log(self.doubt / (1 - self.doubt)) if self.doubt else -np.inf
        return np.where(mask, np.float32(0), np.float32(odds))

    def narrow(self, evidence: Bools | None, columns: Columns, layout: Layout) -> Known | None:
        """Add to evidence ((N, L) | None) what the mask says of tags, which rules out none where there is doubt; warn
        once where sequences had to go without a mask that does."""
        mask = self.mask(columns, layout.n_labels)
        if mask is None:
            return evidence
        if self.doubt:
            found = self._log_likelihoods(mask)
            return found if evidence is None else np.where(evidence, found, np.float32(-np.inf))
        allowed, blocked = narrow_evidence(mask, evidence, columns.lengths, layout)
        if len(blocked) and not self._has_warned:
            self._has_warned = True
            owners = Segments(columns.lengths).within(Segments(columns.doc_lengths)).owners
            own = Segments(columns.doc_lengths).slices()[int(owners[blocked[0]])]
            text = " ".join(columns.vocab.strings[orth] for orth in columns.orths[own].tolist())
            message = PipeWarnings.CRFW430.format(name=self.name, document=excerpt(text))
            warnings.warn(message, CRFWarning, stacklevel=2)
        return allowed

    def _classes(self, dictionary: TagDictionary, columns: Columns) -> AmbiguityClasses:
        words = self._words(columns)
        classes = dictionary.valid(words.distinct)
        return AmbiguityClasses(classes.members, classes.numbers[words.places])

    def _words(self, columns: Columns) -> Words:
        """Return the words of units as they are looked up."""
        forms, places = distinct_words(columns.orths, columns.vocab.strings)
        found = [self._settings.key(form, columns.lexicon.speller) for form in forms]
        return Words([FOLDS[self._settings.fold](word) for word in found], places, Segments(columns.doc_lengths))

    def _column(self, members: Bools) -> Column:
        """Return one value for each set of tags: their names."""
        names = np.array(self._tags, dtype=object)
        return Column.of_strings([" ".join(names[row]) for row in members])

    def to_data(self) -> dict[str, Any]:
        """Return what is stored with the features; nothing without a dictionary."""
        if self.dictionary is None:
            return {}
        measured = {"doubt": self._measured} if self._measured else {}
        counted = {} if self._counted is None else {**self._counted.to_data(), "look_up": self._settings.look_up}
        return {"dictionary": {"tags": self._tags, **measured, **counted, **self.dictionary.to_data()}}

    def require(self, features: dict[str, Any]) -> None:
        """Raise a coded error where the config has a dictionary, but the model was trained without."""
        if self.config is not None and "dictionary" not in features:
            raise CRFError(PipeErrors.CRF433.format(name=self.name))

    def load(self, features: dict[str, Any]) -> None:
        """As `from_data`, of a component as it was trained; a coded error for settings that have changed since."""
        self.from_data(features)
        if self.dictionary is None or self.config is None:
            return
        own, names, data = self.config, np.array(self._tags, dtype=object), features["dictionary"]
        rules = [sorted(set(rule)) for rule in own.rules or []]
        ours: dict[str, Any] = {name: getattr(own, name) for name in ("fold", "look_up", "min_count", "min_share")}
        theirs = {name: data.get(name, value) for name, value in ours.items()}
        ours["rules"] = rules
        stored = self.dictionary.rules[: len(rules) if own.similarity else None]  # those of alike tags come behind
        theirs["rules"] = [sorted(names[row]) for row in stored]
        if own.open_tags is not None:
            ours["open_tags"] = sorted(set(own.open_tags))
            theirs["open_tags"] = sorted(names[self.dictionary.open_labels])
        for setting, value in theirs.items():
            if value != ours[setting]:
                told = {"setting": f"dictionary.{setting}", "theirs": value, "ours": ours[setting]}
                raise CRFError(FeatureErrors.CRF313.format(**told))

    def from_data(self, features: dict[str, Any]) -> None:
        """Restore from what was stored with the features; without a block in the config, it is not wanted."""
        if self.config is not None:
            data = features["dictionary"]
            counted = Counted.from_data(data) if "texts" in data else None
            self._set(TagDictionary.from_data(data), list(data["tags"]), counted)
            self._measured = float(data.get("doubt", 0.0))


def _of_all_labels(classes: AmbiguityClasses, n_labels: int) -> Bools:
    """((N, L)): sets of the units; labels that are younger than the dictionary are valid."""
    missing = n_labels - classes.members.shape[1]
    return np.pad(classes.members, ((0, 0), (0, missing)), constant_values=True)[classes.numbers]


def _with(columns: Columns, column: Column) -> Columns:
    return replace(columns, by_attribute={**columns.by_attribute, ATTRIBUTE: column})


def narrow_evidence(mask: Bools, evidence: Bools | None, lengths: Indices, layout: Layout) -> tuple[Bools, Indices]:
    """Return the labels ((N, L)) that both a mask and evidence allow, or else evidence, and the sequences that go
    without the mask, as they would have no path."""
    allowed = mask
    if evidence is not None:
        allowed = np.where((mask & evidence).any(axis=1, keepdims=True), mask & evidence, evidence)
    blocked = blocked_sequences(lengths, allowed, layout)
    if len(blocked):
        units = np.isin(Segments(lengths).owners, blocked)[:, None]
        allowed = np.where(units, True if evidence is None else evidence, allowed)
    return allowed, blocked

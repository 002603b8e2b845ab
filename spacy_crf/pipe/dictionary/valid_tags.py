"""The tag dictionary at work in a component: features and masks from it, and how it is kept with the model."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.strings import StringStore
from spacy.tokens import Doc

from ...core.arrays import Bools, Floats, Hashes, Indices, Segments
from ...core.chain.evidence import Known, blocked_sequences
from ...core.errors import CRFError, CRFWarning, excerpt
from ...core.labels import Gold, TagSet
from ...core.stored import stored_integers
from ...core.weights import Layout
from ...features.block import FeatureSettings
from ...features.columns import Column, Columns
from ...features.hashing import mix, string_hashes
from ...features.spelling import Speller
from ...features.templates import VALID_TAGS, Attribute
from ..errors import PipeErrors, PipeWarnings
from .block import DictionarySettings
from .counts import known_shares
from .tag_dictionary import AmbiguityClasses, TagDictionary, count_words, make_dictionary, read_dictionary

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
        self._texts: Hashes | None = None  # those that were counted, ascending; None: all that are learned from
        self._class_column: Column | None = None
        self._measured = 0.0  # how often the right tag is not valid
        self._has_warned = False

    @property
    def needs_gold(self) -> bool:
        """Whether there is a dictionary to be made from training data, or its mistakes to be counted there."""
        own = self._settings
        return self.config is not None and (own.path is None or (own.masks and own.doubt is None))

    @property
    def doubt(self) -> float:
        """How often a mask is taken to leave out the right tag."""
        return self._measured if self._settings.doubt is None else self._settings.doubt

    def read(self, tags: TagSet, speller: Speller | None) -> None:
        """Take the dictionary from the table that the config names. speller (Speller | None): of the features."""
        if self._settings.path is not None:
            dictionary = read_dictionary(self._settings.path, self._settings, tags, self.name, speller)
            self._set(dictionary, list(tags.tags))

    def fit(self, columns: Columns, gold: Gold, strings: StringStore, tags: TagSet) -> None:
        """Count the words of training data, tokens and their gold, and how often the mask would be wrong there."""
        if self.config is None:
            return
        if not len(known_shares(gold).units):
            raise CRFError(PipeErrors.CRF431.format(name=self.name))
        words, places = self._words(columns, strings)
        if self.dictionary is None or self.config.path is None:
            table = count_words([words[place] for place in places.tolist()], gold, self.config.fold)
            self._set(make_dictionary(table, self.config, tags, self.name), list(tags.tags))
            if self.config.in_training:
                self._texts = np.unique(_text_hashes(words, places, columns))
        if self.config.masks and self.config.doubt is None:
            self._measured = self._mistakes(columns, gold, strings)

    def _mistakes(self, columns: Columns, gold: Gold, strings: StringStore) -> float:
        """The share of gold that is not valid for words looked up as those of new text."""
        shares = known_shares(gold)
        right = self._in_training(columns, gold, strings).sets[shares.units, shares.labels]
        missed, total = float(shares.weights[~right].sum()), float(shares.weights.sum())
        return min((missed + 0.5) / (total + 1), GREATEST_DOUBT)  # half a mistake where none was seen

    def _set(self, dictionary: TagDictionary, tags: list[str]) -> None:
        self.dictionary, self._tags, self._class_column, self._texts = dictionary, tags, None, None

    def fill(self, columns: Columns, strings: StringStore) -> Columns:
        """Return columns with the feature, as for new text."""
        if self.dictionary is None or not self._settings.has_feature:
            return columns
        classes = self._classes(self.dictionary, columns, strings)
        if self._class_column is None:
            self._class_column = self._column(classes.members)
        return _with(columns, self._class_column.take(classes.numbers))

    def fill_training(self, columns: Columns, gold: Gold, strings: StringStore) -> Columns:
        """Return columns with the feature as new text would have it, see `_in_training`."""
        if self.dictionary is None or not self._settings.has_feature:
            return columns
        classes = self._in_training(columns, gold, strings)
        return _with(columns, self._column(classes.members).take(classes.numbers))

    def _in_training(self, columns: Columns, gold: Gold, strings: StringStore) -> AmbiguityClasses:
        """The valid tags of tokens that are learned from: in texts that were counted, by the other occurrences of each
        word; a text that came later, in further training, is new to the dictionary."""
        assert self.dictionary is not None
        words, places = self._words(columns, strings)
        docs, counted = Segments(columns.doc_lengths).owners, known_shares(gold)
        if self._texts is not None:
            is_counted = np.isin(_text_hashes(words, places, columns), self._texts)
            counted = counted.where(is_counted[docs[counted.units]])
        groups = docs if self._settings.leave_out == "document" else None
        return self.dictionary.valid_elsewhere([words[place] for place in places.tolist()], counted, groups)

    def mask(self, columns: Columns, strings: StringStore, n_labels: int) -> Bools | None:
        """((N, L) | None): tags that each token may have; those that are younger than the dictionary always."""
        if self.dictionary is None or not self._settings.masks:
            return None
        return _of_all_labels(self._classes(self.dictionary, columns, strings), n_labels)

    def training_mask(self, columns: Columns, gold: Gold, strings: StringStore) -> Floats | None:
        """((N, L) | None): what the mask adds to scores in training; gold is not ruled out."""
        if self.dictionary is None or not self._settings.mask_training:
            return None
        mask = _of_all_labels(self._in_training(columns, gold, strings), gold.weights.shape[1])
        return self._log_likelihoods(mask if self.doubt else mask | (gold.dense() > 0))

    def _log_likelihoods(self, mask: Bools) -> Floats:
        """((N, L)): of a dictionary that finds the right tags valid but for the doubt, as far as they differ."""
        odds = np.log(self.doubt / (1 - self.doubt)) if self.doubt else -np.inf
        return np.where(mask, np.float32(0), np.float32(odds))

    def narrow(
        self, evidence: Bools | None, docs: Sequence[Doc], columns: Columns, strings: StringStore, layout: Layout
    ) -> Known | None:
        """Add to evidence ((N, L) | None) what the mask says of tags, which rules out none where there is doubt; warn
        once where sequences had to go without a mask that does."""
        mask = self.mask(columns, strings, layout.n_labels)
        if mask is None:
            return evidence
        if self.doubt:
            found = self._log_likelihoods(mask)
            return found if evidence is None else np.where(evidence, found, np.float32(-np.inf))
        allowed, blocked = narrow_evidence(mask, evidence, columns.lengths, layout)
        if len(blocked) and not self._has_warned:
            self._has_warned = True
            owners = Segments(columns.lengths).within(Segments(columns.doc_lengths)).owners
            doc = docs[int(owners[blocked[0]])]
            message = PipeWarnings.CRFW430.format(name=self.name, document=excerpt(doc.text))
            warnings.warn(message, CRFWarning, stacklevel=2)
        return allowed

    def _classes(self, dictionary: TagDictionary, columns: Columns, strings: StringStore) -> AmbiguityClasses:
        words, places = self._words(columns, strings)
        classes = dictionary.valid(words)
        return AmbiguityClasses(classes.members, classes.numbers[places])

    def _words(self, columns: Columns, strings: StringStore) -> tuple[list[str], Indices]:
        """Return the distinct forms as they are looked up, and for each unit the number of its form."""
        orths, places = np.unique(columns.orths, return_inverse=True)
        return [self._settings.key(strings[orth], columns.lexicon.speller) for orth in orths.tolist()], places

    def _column(self, members: Bools) -> Column:
        """Return one value for each set of tags: their names."""
        names = np.array(self._tags, dtype=object)
        return Column.of_strings([" ".join(names[row]) for row in members])

    def to_data(self) -> dict[str, Any]:
        """Return what is stored with the features; nothing without a dictionary."""
        if self.dictionary is None:
            return {}
        measured = {"doubt": self._measured} if self._measured else {}
        texts = {} if self._texts is None else {"texts": self._texts}
        return {"dictionary": {"tags": self._tags, **measured, **texts, **self.dictionary.to_data()}}

    def require(self, features: dict[str, Any]) -> None:
        """Raise a coded error where the config has a dictionary, but the model was trained without."""
        if self.config is not None and "dictionary" not in features:
            raise CRFError(PipeErrors.CRF433.format(name=self.name))

    def from_data(self, features: dict[str, Any]) -> None:
        """Restore from what was stored with the features; without a block in the config, it is not wanted."""
        if self.config is not None:
            data = features["dictionary"]
            self._set(TagDictionary.from_data(data), list(data["tags"]))
            self._measured = float(data.get("doubt", 0.0))
            if "texts" in data:
                self._texts = stored_integers("texts", data["texts"], (None,), 1 << 64).astype(np.uint64, copy=False)


def _text_hashes(words: Sequence[str], places: Indices, columns: Columns) -> Hashes:
    """((D,)): of the words of each Doc, n distinct ones with the place ((N,)) of each unit's. Case does not matter, as
    copies that are made for training may differ in it."""
    docs = Segments(columns.doc_lengths)
    by_unit = mix(string_hashes([word.lower() for word in words])[places], docs.positions.astype(np.uint64))
    sums = np.append(np.uint64(0), np.cumsum(by_unit, dtype=np.uint64))  # modulo 2^64
    return np.asarray(sums[docs.ends] - sums[docs.firsts])


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

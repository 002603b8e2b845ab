"""The `dictionary` block of a component's config, and a dictionary made by it."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from spacy import registry

from ...core.arrays import Bools
from ...core.errors import CRFError
from ...core.labels import TagSet
from ...features.spelling import Speller
from ..errors import PipeErrors
from .closure import FOLDS, Fold, TagDictionary, make_dictionary
from .counts import CountTable
from .table import read_table

Use = Literal["mask", "feature", "both"]
LeaveOut = Literal["token", "document"]
LookUp = Literal["form", "rewritten", "normal"]


@dataclass(frozen=True)
class DictionaryConfig:
    """What a component makes of its tag dictionary. See `make_tag_dictionary`."""

    use: Use
    min_count: float
    min_share: float
    open_tags: list[str] | None
    open_types: int
    rules: list[list[str]]
    similarity: float | None
    fold: Fold
    mask_training: bool
    leave_out: LeaveOut
    path: str | None
    look_up: LookUp = "form"

    @property
    def masks(self) -> bool:
        """Whether labels are ruled out."""
        return self.use != "feature"

    @property
    def has_feature(self) -> bool:
        """Whether templates can ask for VALID_TAGS."""
        return self.use != "mask"

    def key(self, word: str, speller: Speller | None) -> str:
        """What a word is looked up by, before it is folded.

        speller (Speller | None): of the features; there is one unless `look_up` is "form".
        """
        if self.look_up == "form" or speller is None:
            return word
        return speller.rewrite(word) if self.look_up == "rewritten" else speller.normalise(word)

    def read(self, path: str, name: str, tags: TagSet, speller: Speller | None = None) -> TagDictionary:
        """The dictionary of a table.

        path (str): of the table. name (str), tags (TagSet): of the component. speller (Speller | None): see `key`.
        RAISES (ValueError): as `make` and `read_table` do.
        """
        entries = read_table(Path(path))
        words = [FOLDS[self.fold](self.key(word, speller)) for word, _, _ in entries]
        numbers = np.array(_numbers([tag for _, tag, _ in entries], tags, f"{name}, {path}"), dtype=np.intp)
        counts = np.array([count for _, _, count in entries])
        return self.make(CountTable.build(words, numbers, counts, len(tags)), name, tags)

    def make(self, words: CountTable, name: str, tags: TagSet) -> TagDictionary:
        """The dictionary under these settings.

        words (CountTable): counts of words, folded, and tags. name (str), tags (TagSet): of the component.
        RAISES (ValueError): for a tag that the component does not have, or a setting out of its range.
        """
        open_labels = None if self.open_tags is None else _members([self.open_tags], tags, f"{name}, open_tags")[0]
        return make_dictionary(
            words,
            min_count=self.min_count,
            min_share=self.min_share,
            open_labels=open_labels,
            open_types=self.open_types,
            rules=_members(self.rules, tags, f"{name}, rules"),
            similarity=self.similarity,
            fold=self.fold,
        )


def _members(sets: list[list[str]], tags: TagSet, where: str) -> Bools:
    """((n, L)): sets of tags."""
    found = np.zeros((len(sets), len(tags)), dtype=bool)
    for row, members in zip(found, sets):
        row[_numbers(members, tags, where)] = True
    return found


def _numbers(names: Iterable[str], tags: TagSet, where: str) -> list[int]:
    numbers = []
    for name in names:
        if name not in tags.number:
            near = ", ".join(difflib.get_close_matches(name, tags.tags, n=3, cutoff=0.0))
            raise CRFError(PipeErrors.CRF432.format(where=where, tag=name, near=near))
        numbers.append(tags.number[name])
    return numbers


@registry.misc("spacy_crf.TagDictionary.v1")
def make_tag_dictionary(
    use: Use = "feature",
    min_count: float = 1,
    min_share: float = 0.0,
    open_tags: list[str] | None = None,
    open_types: int = 10,
    rules: list[list[str]] | None = None,
    similarity: float | None = None,
    fold: Fold = "lower",
    mask_training: bool = False,
    leave_out: LeaveOut = "token",
    path: str | None = None,
    look_up: LookUp = "form",
) -> DictionaryConfig:
    """A tag dictionary, made in `initialize` from the training data and stored with the model.

    use (str): "feature": the set of a word's valid tags is the attribute VALID_TAGS of templates. "mask": tags that are
        not valid for a word are never given to it. "both".
    min_count (float): occurrences that make a word known, so that only the tags that it was seen with are valid. A mask
        that is seldom wrong takes 10 or 20; the feature does well with 1.
    min_share (float): tags with a smaller share of a word's occurrences are not valid; its most frequent one always is.
    open_tags (list[str] | None): valid for words that are unknown or rare; null: learned.
    open_types (int): tags that were seen with so many distinct words are learned as open.
    rules (list[list[str]] | None): a word that may have one tag of a list may have the others too.
    similarity (float | None): makes a rule of each two tags whose Ruzicka similarity is at least this; null: of none.
        `python -m spacy crf dictionary TRAIN` lists them.
    fold (str): "none", or "lower" to look words up in lower case.
    mask_training (bool): rule tags out in training too. Gold is never ruled out: a gold tag that is not valid is valid
        there, and nothing is ruled out where gold is unknown.
    leave_out (str): whose counts a training token's VALID_TAGS do without, that it looks as a word of new text would:
        its own ("token"), or those of its whole document ("document"). The latter is for text whose documents differ in
        spelling, and for training data of many documents: words of one document only are unknown then.
    path (str | None): table to take the counts from, as the command writes it; null: from the training data. A table is
        taken to count the training data too, apart from what has no count.
    look_up (str): words by their form, or as the rules ("rewritten") or the table ("normal") of the features' block
        `spelling` leave them, so that spellings of one word share their tags.
    RETURNS (DictionaryConfig): the block.
    RAISES (ValueError): for `mask_training` without a mask.
    """
    if mask_training and use == "feature":
        raise CRFError(
            PipeErrors.CRF840.format(name="mask_training", value=True, expected="false where use = 'feature'")
        )
    return DictionaryConfig(
        use=use,
        min_count=min_count,
        min_share=min_share,
        open_tags=open_tags,
        open_types=open_types,
        rules=rules or [],
        similarity=similarity,
        fold=fold,
        mask_training=mask_training,
        leave_out=leave_out,
        path=path,
        look_up=look_up,
    )

"""The `dictionary` block of a component's config."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from spacy import registry

if TYPE_CHECKING:
    from ...features.spelling import Speller

Use = Literal["mask", "feature", "both"]
Fold = Literal["none", "lower"]
LeaveOut = Literal["token", "document"]
LookUp = Literal["form", "rewritten", "normal"]


@registry.misc("spacy_crf.TagDictionary.v1")
@dataclass(frozen=True)
class DictionarySettings:
    """A tag dictionary, made in `initialize` from the training data and stored with the model.

    use (str): "feature": the set of a word's valid tags is the attribute VALID_TAGS of templates. "mask": tags that are
        not valid for a word are less likely for it, as `doubt` says. "both".
    doubt (float | None): how often a mask leaves out the right tag, below 0.5: it multiplies the odds of tags that are
        not valid by doubt / (1 - doubt). null: as often as it does in training, where each token is looked up as
        `leave_out` says. 0: never; tags that are not valid are never given, and have the probability 0.
    min_count (float): occurrences that make a word known, so that only the tags that it was seen with are valid. A mask
        that is seldom wrong takes 10 or 20; the feature does well with 1.
    min_share (float): tags with a smaller share of a word's occurrences are not valid; its most frequent one always is.
    open_tags (list[str] | None): valid for words that are unknown or rare; null: learned.
    open_types (int): tags that were seen with so many distinct words are learned as open.
    rules (list[list[str]] | None): a word that may have one tag of a list may have the others too.
    similarity (float | None): makes a rule of each two tags whose Ruzicka similarity is at least this; null: of none.
        `python -m spacy crf dictionary TRAIN` lists them.
    fold (str): "none", or "lower" to look words up in lower case.
    mask_training (bool): mask in training too. With a doubt of 0, gold is never ruled out: a gold tag that is not valid
        is valid there, and nothing is ruled out where gold is unknown.
    leave_out (str): whose counts a training token's valid tags do without, that it looks as a word of new text would:
        its own ("token"), or those of its whole document ("document": what has one `doc._.doc_name`). The latter is for
        text whose documents differ in spelling: words of one document only are unknown then. Of a document with more
        than a fifth of the training data, a tenth of all data around the token is left out. Documents that were not
        counted, in further training of a saved pipeline, are looked up as new text.
    path (str | None): table to take the counts from, as the command writes it; null: from the training data. A table is
        taken to count all that is trained on too, apart from what has no count.
    look_up (str): words by their form, or as the rules ("rewritten") or the table ("normal") of the features' block
        `spelling` leave them, so that spellings of one word share their tags.
    """

    use: Use = "feature"
    doubt: float | None = None
    min_count: float = 1
    min_share: float = 0.0
    open_tags: list[str] | None = None
    open_types: int = 10
    rules: list[list[str]] | None = None
    similarity: float | None = None
    fold: Fold = "lower"
    mask_training: bool = False
    leave_out: LeaveOut = "token"
    path: str | None = None
    look_up: LookUp = "form"

    def __post_init__(self) -> None:
        from ...core.errors import CRFError, require_numbers
        from ..errors import PipeErrors

        require_numbers(self)
        checks = [
            ("min_count", self.min_count >= 1, "at least 1"),
            ("doubt", self.doubt is None or 0 <= self.doubt < 0.5, "at least 0 and below 0.5, or null"),
            ("open_types", self.open_types >= 1, "at least 1"),
            ("min_share", 0 <= self.min_share <= 1, "between 0 and 1"),
            ("similarity", self.similarity is None or 0 < self.similarity <= 1, "above 0 and at most 1, or null"),
            ("fold", self.fold in get_args(Fold), f"one of {', '.join(get_args(Fold))}"),
            ("open_tags", self.open_tags != [], "null, or a list of at least one tag"),
            ("mask_training", self.masks or not self.mask_training, "false where use = 'feature'"),
        ]
        for name, is_right, expected in checks:
            if not is_right:
                raise CRFError(PipeErrors.CRF840.format(name=name, value=getattr(self, name), expected=expected))

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield each setting that has no effect beside the others, with what it goes with."""
        if not self.masks:
            yield "doubt", "use = 'mask' or 'both'"
        if self.open_tags is not None:
            yield "open_types", "open_tags = null"

    @property
    def masks(self) -> bool:
        """Whether labels are ruled out, or less likely."""
        return self.use != "feature"

    @property
    def has_feature(self) -> bool:
        """Whether templates can ask for VALID_TAGS."""
        return self.use != "mask"

    @property
    def by_document(self) -> bool:
        """Whether counts of documents are kept apart."""
        return self.leave_out == "document"

    @property
    def in_training(self) -> bool:
        """Whether training depends on the valid tags of its tokens."""
        return self.has_feature or self.mask_training

    def key(self, word: str, speller: "Speller | None") -> str:
        """Return what a word is looked up by, before it is folded; with a speller unless `look_up` is "form"."""
        if self.look_up == "form" or speller is None:
            return word
        return speller.rewrite(word) if self.look_up == "rewritten" else speller.normalise(word)

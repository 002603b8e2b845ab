"""The blocks of a config that say how files are read, and the tokenizer that goes with tagged references."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args
from unicodedata import category

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import registry

from ..annotation.documents import Punctuation
from ..core.errors import CoreErrors, CRFError

FIELDS = (
    # Cora, ParsCit
    *("author", "booktitle", "date", "editor", "institution", "journal", "location", "note", "pages", "publisher"),
    *("tech", "title", "volume"),
    # AnyStyle
    *("citation-number", "collection-number", "collection-title", "container-title", "director", "doi", "edition"),
    *("genre", "isbn", "medium", "producer", "source", "translator", "url"),
    # journals, books and series alike; when an address was looked up
    *("container", "accessed"),
)
# Vowels and accents that are characters of their own, as in Hindi, pointed Hebrew and decomposed letters
COMBINING = "".join(sign for sign in map(chr, range(0x3000)) if category(sign)[0] == "M")
MARK = re.compile(rf"[^\w\s{COMBINING}]|_")
TOKEN = re.compile(rf"(?:(?!_)[\w{COMBINING}])+|{MARK.pattern}")


@registry.misc("spacy_crf.CoraXML.v1")
@dataclass(frozen=True)
class CoraSettings:
    """The block `cora` of spacy_crf.Corpus.v1: what is taken from CorA-XML, and what it means.

    tag (str): Element whose attribute `tag` is the tag.
    lemma (str): Element of the lemma; not every word needs it.
    morph (str): Element of the morphology; not every word needs it.
    with_case (bool): Write the case behind the tag, NA.Dat. Dat-Akk is left open: NA.Dat|NA.Akk, and "*" is any case.
    case_fields (dict[str, int] | None): Field of the case in the morphology, counted from 0, by the beginning of the
        tag; null for those of HiNTS.
    alternatives (dict[str, str] | None): Tags that stand for several, as cells of `tagsets`; null for that of HiNTS.
    borders (dict[str, list[str]] | None): Elements that end a segment behind their word, and their tags; no tags for
        any, null for those of the Reference Corpus Middle Low German.
    with_unchecked (bool): Take what words have that nobody has checked (checked="n") for gold. Without it, they have
        none: programs may have tagged them.
    """

    tag: str = "pos"
    lemma: str = "lemma"
    morph: str = "morph"
    with_case: bool = False
    case_fields: dict[str, int] | None = None
    alternatives: dict[str, str] | None = None
    borders: dict[str, list[str]] | None = None
    with_unchecked: bool = False

    def __post_init__(self) -> None:
        _take_tags(self, "alternatives", "borders", "case_fields")
        for name in ("tag", "lemma", "morph"):
            _check(name, getattr(self, name), bool(getattr(self, name)), "the name of an element")
        fields = self.case_fields
        _check("case_fields", fields, all(number >= 0 for number in (fields or {}).values()), "numbers from 0")


@registry.misc("spacy_crf.HistoricalText.v1")
@dataclass(frozen=True)
class HistoricalText:
    """The block `text` of spacy_crf.Corpus.v1: what a reader makes of historical text.

    Commands that measure a trained pipeline apply `untagged` and `punctuation` to gold in other formats as well, such
    as `.spacy`; `spacy evaluate` takes the gold of a file as it is.

    untagged (str): Gold tag of words without one, such as "OA"; "" leaves them without gold.
    punctuation (str): "gold": tokens like others. "context": kept, but without gold, so that nothing is learned about
        their tags, none is scored, and the trained model gives them none. "removed": not there at all. For a tagger
        that learns the tags of punctuation but is not scored by them, set "gold" for the training corpus and "context"
        for the dev corpus.
    punctuation_tags (list[str] | None): Gold tags of punctuation, such as ["$;"]. Without any, punctuation is what has
        only punctuation marks and symbols (Unicode's categories P and S), as a pipeline can tell without gold: "&" and
        "⁊" too.
    join_segments (bool): Forget the segments of the file; each of its documents is one segment, unless it is cut.
    cut_at_punctuation (bool): End a segment behind punctuation, which closes it. Segments of the file are cut further.
    cut_at_tags (list[str] | None): End a segment behind tokens with such a best gold tag, such as ["XY"].
    """

    untagged: str = ""
    punctuation: Punctuation = "gold"
    punctuation_tags: list[str] | None = None
    join_segments: bool = False
    cut_at_punctuation: bool = False
    cut_at_tags: list[str] | None = None

    def __post_init__(self) -> None:
        _take_tags(self, "untagged", "punctuation_tags", "cut_at_tags")
        expected = " or ".join(map(repr, get_args(Punctuation)))
        _check("punctuation", self.punctuation, self.punctuation in get_args(Punctuation), expected)
        for name in ("punctuation_tags", "cut_at_tags"):
            tags = getattr(self, name)
            _check(name, tags, all(tags or ()), "a list of tags that are not empty")


@registry.misc("spacy_crf.References.v1")
@dataclass(frozen=True)
class ReferenceSettings:
    """The block `references` of spacy_crf.Corpus.v1: what becomes of tagged references.

    punctuation (bool): Whether punctuation marks are tokens. If not, each token has the marks between the token before
        and itself, as they are printed, in `token._.gap`; give the reader `input = ["ext:gap"]` to let components see
        them. The marks behind the last token, and the offsets in the printed text, are then lost.
    ents (bool): Whether each field is also an entity of `doc.ents`.
    spans_key (str | None): Where each field is also a span, `doc.spans[spans_key]`; null for nowhere.
    fields (list[str] | None): Names of the fields; null for those of Cora, ParsCit and AnyStyle, CONTAINER and
        ACCESSED. References with other fields are left out with a warning.
    """

    punctuation: bool = True
    ents: bool = False
    spans_key: str | None = None
    fields: list[str] | None = None

    def __post_init__(self) -> None:
        _check("spans_key", self.spans_key, self.spans_key != "", "null or a name")
        _check("fields", self.fields, self.fields is None or all(self.fields), "null or names of fields")

    @property
    def known(self) -> frozenset[str]:
        """Names of the fields in upper case."""
        return frozenset(name.upper() for name in (FIELDS if self.fields is None else self.fields))


@registry.tokenizers("spacy_crf.ReferenceTokenizer.v1")
def make_reference_tokenizer() -> Callable[[Language], Tokenizer]:
    """A tokenizer for pipelines that label references, [nlp.tokenizer] in a config.

    It makes the tokens that the reader of tagged references makes, apart from those of white space, which it has only
    where the text has more than a space between two words.
    """
    return _make_tokenizer


def _make_tokenizer(nlp: Language) -> Tokenizer:
    prefix, suffix = re.compile(rf"^(?:{MARK.pattern})"), re.compile(rf"(?:{MARK.pattern})$")
    return Tokenizer(nlp.vocab, prefix_search=prefix.search, suffix_search=suffix.search, infix_finditer=MARK.finditer)


def _take_tags(settings: Any, *names: str) -> None:
    """Take settings with tags as they were meant; those of German begin with a dollar."""
    from ..reading.records import single_dollars

    for name in names:
        object.__setattr__(settings, name, single_dollars(getattr(settings, name)))


def _check(name: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise CRFError(CoreErrors.CRF549.format(name=name, value=value, expected=expected))

"""CorA-XML, the format of the annotation tool CorA and of corpora of historical German: words, tags, segments.

A `<token>` of the manuscript is annotated as one word or several: `<anno utf="..">`, in other corpora `<tok_anno>` or
`<mod>`, with elements such as `<pos tag=".."/>` inside. The parser is expat from the standard library, which knows the
line of each element.
"""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from ..annotation.gold import TagWeights
from ..core.errors import CRFError, CRFWarning
from ..reading.xml import XmlReader
from .block import CoraSettings
from .errors import CorpusErrors, CorpusWarnings
from .sentence import EXTENSION_PREFIX, Sentence
from .tagsets import TOLERANCE, make_sentence, parse_tags

WORDS = ("anno", "tok_anno", "mod")
SUGGESTIONS = "suggestions"  # of programs, not of a person
NOTHING = ("", "--")
# In the Reference Corpus Middle Low German, `Satz` and its parts and headings end a segment.
BORDERS = {"bound_sent": ["Satz", "Satzteil_I", "Satzteil_M", "Satzteil_F"], "bound_head": ["Ueberschrift"]}
# KO*: a conjunction, coordinating or subordinating (Barteld et al., HiNTS, LREC 2018).
ALTERNATIVES = {"KO*": "KON|KOUS"}
# Where the morphology of HiNTS has the case: the field, counted from 0, by the beginning of the tag.
CASE_FIELDS = {"ADJA": 2, "ADJN": 2, "ADJS": 2, "APPR": 0, "CARD": 1, "D": 1, "N": 1, "PPER": 3, "PRF": 2}
CASES = ("Nom", "Gen", "Dat", "Akk")
ANY_CASE = "*"


@dataclass
class _Word:
    """One annotated word: its form, the line it is on, tags by element, whether white space follows, and whether
    somebody has checked it, as far as the file says."""

    form: str
    line: int
    is_checked: bool
    tags: dict[str, str] = field(default_factory=dict)
    space: bool = False


def read_cora(path: Path, cora: CoraSettings | None = None) -> Iterator[Sentence]:
    """Yield the segments of a CorA-XML file; the file is one document.

    Words that the manuscript writes together have no space between them. Suggestions of programs are left out, and
    with a warning what words have that nobody has checked. The morphology is not of the form Name=Value that spaCy asks
    for, so it goes to the custom attribute `token._.cora_MORPH`, MORPH being its element.
    """
    settings = cora or CoraSettings()
    read = _CoraParser(path).read().words
    found = sorted({element for word in read for element in word.tags})
    if not read:
        raise CRFError(CorpusErrors.CRF537.format(path=path))
    if settings.tag not in found:
        raise CRFError(CorpusErrors.CRF536.format(path=path, element=settings.tag, known=", ".join(found) or "none"))
    kinds = {"lemma": settings.lemma, f"{EXTENSION_PREFIX}cora_{settings.morph}": settings.morph}
    segments = _split_segments(read, BORDERS if settings.borders is None else settings.borders)
    unchecked = [] if settings.with_unchecked else [word for word in read if not word.is_checked]
    if any(_value(word, settings.tag) for word in unchecked):
        message = CorpusWarnings.CRFW566.format(path=path, count=len(unchecked), words=len(read))
        warnings.warn(message, CRFWarning, stacklevel=2)
    for word in unchecked:
        word.tags.clear()
    for number, segment in enumerate(segments):
        words, spaces = [word.form for word in segment], [word.space for word in segment]
        tags = [_read_tags(path, word, settings) for word in segment]
        checked = [word.is_checked for word in segment] if unchecked else None
        sentence = make_sentence(words, tags, spaces, number == 0, checked)
        for kind, element in kinds.items():
            sentence.columns[kind] = [_value(word, element) for word in segment]
        yield sentence


class _CoraParser(XmlReader):
    """Collects the words of one file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.words: list[_Word] = []
        self.word: _Word | None = None
        self.is_suggested = False
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        line = self.expat.CurrentLineNumber
        if element in WORDS:
            form = attributes.get("utf", "").strip()
            if not form:
                raise CRFError(CorpusErrors.CRF535.format(path=self.path, line=line, element=element))
            self.word = _Word(form, line, attributes.get("checked") != "n")
            self.words.append(self.word)
        elif element == SUGGESTIONS:
            self.is_suggested = True
        elif self.word is not None and "tag" in attributes and not self.is_suggested:
            self.word.tags[element] = attributes["tag"].strip()

    def _end(self, element: str) -> None:
        if element in WORDS:
            self.word = None
        elif element == SUGGESTIONS:
            self.is_suggested = False
        elif element == "token" and self.words:
            self.words[-1].space = True


def _split_segments(words: Sequence[_Word], borders: Mapping[str, Sequence[str]]) -> list[Sequence[_Word]]:
    def ends(word: _Word) -> bool:
        return any((word.tags.get(name) in tags) if tags else _value(word, name) for name, tags in borders.items())

    bounds = [0, *(number for number, word in enumerate(words, 1) if ends(word)), len(words)]
    return [words[low:high] for low, high in pairwise(bounds) if low < high]


def _value(word: _Word, element: str) -> str:
    value = word.tags.get(element, "")
    return "" if value in NOTHING else value


def _read_tags(path: Path, word: _Word, settings: CoraSettings) -> TagWeights:
    tag = _value(word, settings.tag)
    alternatives = ALTERNATIVES if settings.alternatives is None else settings.alternatives
    if tag in alternatives:
        weights = parse_tags(alternatives[tag], f"{path}, line {word.line}, token {word.form!r}")
    else:
        weights = {tag: 1.0} if tag else {}
    if not settings.with_case:
        return weights
    case_fields = CASE_FIELDS if settings.case_fields is None else settings.case_fields
    cases = {tag: _read_cases(tag, _value(word, settings.morph), case_fields) for tag in weights}
    # Where all tags are correct, all their cases are.
    is_open = math.fsum(weights.values()) <= 1 + TOLERANCE
    return {
        f"{tag}.{case}" if case else tag: weight / len(cases[tag]) if is_open else weight
        for tag, weight in weights.items()
        for case in cases[tag]
    }


def _read_cases(tag: str, morph: str, case_fields: Mapping[str, int]) -> Sequence[str]:
    """The cases that are left open, [""] for a tag without case."""
    prefix = max((prefix for prefix in case_fields if tag.startswith(prefix)), key=len, default=None)
    fields = morph.split(".") if morph else []
    if prefix is None or case_fields[prefix] >= len(fields):
        return [""]
    case = fields[case_fields[prefix]]
    return CASES if case == ANY_CASE else list(dict.fromkeys(case.split("-")))

"""The column files of CoNLL: one token per line and one annotation per column, whose tags have a scheme."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from pathlib import Path

from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from ..reading.files import read_blocks
from .errors import CorpusErrors
from .exchange import read_mark
from .sentence import MISSING, SKIPPED, TAG_FORMS, WORD, RowChecker, Sentence, TagParts, is_spans, read_forms, split_tag
from .tagsets import CHECKED_COLUMN, YES

UNKNOWN = "_"
DOCUMENT_MARK = "-DOCSTART-"
# The layouts of each format. "columns" has those that only one kind of file is known to have: three columns
# may be CoNLL-2000 or CoNLL-2002.
LAYOUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "columns": (("word", "ner"), ("word", "tag", "chunk", "ner")),
    "conll2000": (("word", "tag", "chunk"),),
    "conll2002": (("word", "tag", "ner"), ("word", "ner")),
    "conll2003": (("word", "tag", "chunk", "ner"),),
}
# Only blanks and tabs separate columns; str.split() would also split at a no-break space inside a word.
NOT_BLANK = re.compile(r"[^ \t]+")
UNTAGGED = (OUTSIDE, MISSING)
PLAIN = ("B", "I")  # the letters that IOB1 has


def read_columns(
    path: Path, *, format: str = "columns", columns: Sequence[str] | None = None, separator: str | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a column file, whose columns `columns` or else the format names; see `Corpus`.

    Lines that begin with -DOCSTART- begin a document.
    """
    split: Callable[[str], list[str]] | None = None
    checker = RowChecker(path)
    schemes: dict[str, SpanScheme] = {}
    for first, lines, starts_document in _read_marked_blocks(path):
        if split is None:
            split = _make_splitter(lines[0], separator)
            columns = columns or _pick_layout(path, first, len(split(lines[0])), format)
            checker.check_titles(first, split(lines[0]))
        rows = [split(line) for line in lines]
        sentence = _parse_rows(first, rows, columns or (), starts_document, checker)
        for kind, values in sentence.columns.items():
            if is_spans(kind) and is_unsettled(values):
                if kind not in schemes:
                    schemes[kind] = SpanScheme.of(
                        path, kind, _read_column(path, split, list(columns or ()).index(kind))
                    )
                sentence.columns[kind] = schemes[kind].rewrite(values)
        yield sentence


def _read_column(path: Path, split: Callable[[str], list[str]], place: int) -> Iterator[list[str]]:
    """Yield the values that a column has in each sentence of a file; rows that are too short are left out."""
    for _, lines, _ in _read_marked_blocks(path):
        rows = map(split, lines)
        yield ["" if row[place] == UNKNOWN else row[place] for row in rows if len(row) > place]


def _read_marked_blocks(path: Path) -> Iterator[tuple[int, list[str], bool]]:
    """Yield each sentence's first line number, its lines, and whether a document mark precedes it."""
    marked = False
    for first, lines in read_blocks(path):
        for is_mark, run in groupby(enumerate(lines, first), lambda line: line[1].startswith(DOCUMENT_MARK)):
            if not is_mark:
                numbers, own = zip(*run)
                yield numbers[0], list(own), marked
            marked = is_mark


def _make_splitter(line: str, separator: str | None) -> Callable[[str], list[str]]:
    own = separator or ("\t" if "\t" in line else None)
    return NOT_BLANK.findall if own is None else lambda row: row.rstrip(" ").split(own)


def _pick_layout(path: Path, line: int, width: int, format: str) -> Sequence[str]:
    if own := [layout for layout in LAYOUTS[format] if len(layout) == width]:
        return own[0]
    known = " or ".join("(" + ", ".join(layout) + ")" for layout in LAYOUTS[format])
    raise CRFError(CorpusErrors.CRF506.format(path=path, line=line, width=width, format=format, known=known))


def _parse_rows(
    first: int, rows: list[list[str]], names: Sequence[str], starts_document: bool, checker: RowChecker
) -> Sentence:
    lines = range(first, first + len(rows))
    for line, row in zip(lines, rows):
        checker.check_width(line, row, names)
    sentence = Sentence([], starts_document=starts_document)
    for name, values in zip(names, zip(*rows)):
        if name == WORD:
            sentence.words = list(values)
        elif name != SKIPPED:
            known = ["" if value == UNKNOWN else value for value in values]
            if name == CHECKED_COLUMN:
                known = [YES * read_mark(mark, f"{checker.path}, line {line}") for mark, line in zip(known, lines)]
            checker.check(name, known, lines)
            sentence.columns[name] = known
    checker.check_words(sentence.words, lines)
    return sentence


# -- schemes of tags ------------------------------------------------------------------------------------------------


def is_unsettled(values: Iterable[str]) -> bool:
    """Whether span tags of a sentence do not tell alone what they mean."""
    values = list(values)
    return any(map(_is_ambiguous, set(values))) or any(map(_goes_on, pairwise(values)))


def _is_ambiguous(tag: str) -> bool:
    return len({*read_forms(tag)} - {None}) > 1


def _goes_on(pair: tuple[str, str]) -> bool:
    """Whether a tag I is behind an unknown one."""
    before, tag = pair
    return before == MISSING and (split_tag(tag) or UNTAGGED)[0] == "I"


@dataclass(frozen=True)
class SpanScheme:
    """The scheme of a column.

    form (int | None): Which of `TAG_FORMS` all tags with a label have; None for the first one that fits each.
    begins_inside (bool): Whether I may begin a span.
    """

    form: int | None
    begins_inside: bool

    @classmethod
    def of(cls, path: Path, kind: str, column: Iterable[Sequence[str]]) -> "SpanScheme":
        """Tell it from the tags of all sentences. path (Path), kind (str): For the message."""
        pairs = set(chain.from_iterable(pairwise((OUTSIDE, *values)) for values in column))
        form = _pick_form(path, kind, {tag for _, tag in pairs})
        return cls(form, _begins_inside([(_read(before, form), _read(tag, form)) for before, tag in pairs if before]))

    def rewrite(self, values: Sequence[str]) -> list[str]:
        """Write the tags of a sentence with the letter first; "" also for those that may begin a span or go on."""
        tags = [tag if tag in UNTAGGED else "-".join(filter(None, _read(tag, self.form))) for tag in values]
        if not self.begins_inside:
            return tags
        return [MISSING if _goes_on((before, tag)) else tag for before, tag in pairwise((OUTSIDE, *tags))]


def _read(tag: str, form: int | None) -> TagParts:
    by_form = None if form is None or tag in UNTAGGED else read_forms(tag)[form]
    return by_form or split_tag(tag) or (OUTSIDE, "")


def _pick_form(path: Path, kind: str, tags: Iterable[str]) -> int | None:
    """The form that fits all tags with a label, has letters that can make up spans, and leaves the fewest labels."""
    labelled = [tag for tag in tags if tag not in UNTAGGED and any(read_forms(tag)[:-1])]
    ambiguous = min(filter(_is_ambiguous, labelled), default=None)
    if ambiguous is None:
        return None
    costs: dict[int, tuple[bool, int]] = {}
    for form in range(len(TAG_FORMS) - 1):
        parts = [read_forms(tag)[form] for tag in labelled]
        if all(parts):
            letters, labels = map(set, zip(*filter(None, parts)))
            costs[form] = ("B" not in letters and letters != {"I"}, len(labels))
    best = [form for form, cost in costs.items() if cost == min(costs.values())]
    if len(best) != 1:
        readings = dict.fromkeys(filter(None, read_forms(ambiguous)))
        known = " or ".join(f"{letter} of {label!r}" for letter, label in readings)
        raise CRFError(CorpusErrors.CRF542.format(path=path, column=kind, value=ambiguous, readings=known))
    return best[0]


def _begins_inside(pairs: Sequence[tuple[TagParts, TagParts]]) -> bool:
    """Whether I may begin a span, by pairs of a tag that is known and the one behind it.

    It may where it does, and where nothing says that it may not: another letter, or a B where IOB1 has I.
    """
    letters = {letter for _, (letter, _) in pairs} - {OUTSIDE}
    beginnings = {own[0] for before, own in pairs if before[0] == OUTSIDE or before[1] != own[1]}
    return letters <= set(PLAIN) and ("I" in beginnings or "B" not in beginnings)

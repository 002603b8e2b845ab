"""Files that `python -m spacy crf review` has written and somebody has corrected: partial gold.

In both layouts each sequence comes with its tokens, and each token has the fields `gold` and `checked`. What is filled
in is known, what is empty or "_" is unknown, so that the label "_" has a backslash before it. A check mark without gold
says that the tagger's own tag, `best`, is right. Where the gold was filled in by the tagger ("prefilled"), it is known
only if it was checked or changed. Nothing else that may have been changed is read, apart from the words.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..annotation.gold import register_gold_tags
from ..core.errors import CRFError, CRFWarning
from ..core.labels import OUTSIDE
from ..reading.files import FILLED, first_line, read_blocks
from ..reading.records import read_json_lines
from .errors import CorpusErrors, CorpusWarnings
from .exchange import read_mark
from .sentence import EXTENSION_PREFIX, RowChecker, Sentence, find_spaces, is_spans, validate_input
from .tagsets import (
    BETWEEN,
    CHECKED_COLUMN,
    GOLD_COLUMN,
    GOLD_POS_COLUMN,
    YES,
    is_noted,
    make_sentence,
    parse_tags,
)

FORMAT = "spacy_crf review 1"
MARK = f"# {FORMAT}"  # first line of the tabular layout; in JSON lines each object says it
COLUMNS = ("word", "gold", "checked", "best", "probability", "alternatives")
UNMARKED = tuple(name for name in COLUMNS if name != "checked")  # of files without check marks
ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_BACK = {escape: character for character, escape in ESCAPES.items()}
_TABLE, _ESCAPED = str.maketrans(ESCAPES), re.compile(r"\\[\\tnr]")
UNKNOWN = ("", "_")
WEIGHTED = {"tag": GOLD_COLUMN, "pos": GOLD_POS_COLUMN}  # which say what the check marks of other files are about
_LIKE_UNKNOWN = re.compile(r"\\*_")  # labels that get a backslash, not to be taken for one that is unknown


@dataclass
class _Sequence:
    """One sequence of a file, the same for both layouts.

    gold (list[str]): what is known. best (list[str]): what the tagger has said. input: annotation that the pipeline was
        given, by kind. document (str): its name.
    """

    kind: str
    words: list[str]
    gold: list[str]
    best: Sequence[str]
    lines: Sequence[int]
    input: dict[str, list[str]] = field(default_factory=dict)
    text: str | None = None
    document: str = ""


def is_review(path: Path) -> bool:
    """Whether the first line of a file is that of either layout."""
    first = first_line(path)
    return first.removeprefix('"').startswith(MARK) or (first.startswith("{") and f'"{FORMAT}"' in first)


def read_review(path: Path) -> Iterator[Sentence]:
    """Yield the sequences of a file of `crf review`, TSV or JSON lines, that have gold for at least one token."""
    checker, kinds, is_empty, changed = RowChecker(path), None, True, list[int]()
    joined, has_joined = list[str](), False  # what looks like several tags: in gold, and among the tagger's own
    for sequence in _read_json(path) if first_line(path).startswith("{") else _read_rows(path, checker):
        own = (sequence.kind, *sequence.input)
        if own != (kinds or own):
            raise CRFError(CorpusErrors.CRF526.format(path=path, line=sequence.lines[0]))
        kinds = own
        if sequence.kind == "tag":
            has_joined = has_joined or any(BETWEEN in tag for tag in sequence.best)
            joined += [tag for tag in sequence.gold if BETWEEN in tag]
        if any(sequence.gold):
            is_empty = False
            changed += [sequence.lines[0]] if _is_changed(sequence) else []
            yield _make_sentence(sequence, checker)
    if is_empty:
        raise CRFError(CorpusErrors.CRF527.format(path=path))
    if changed:
        message = CorpusWarnings.CRFW588.format(path=path, line=changed[0], count=len(changed))
        warnings.warn(message, CRFWarning, stacklevel=2)
    if joined and not has_joined:
        message = CorpusWarnings.CRFW499.format(path=path, tag=joined[0], count=len(joined))
        warnings.warn(message, CRFWarning, stacklevel=2)


def _is_changed(sequence: _Sequence) -> bool:
    """Whether words are others than those of the text that they are from."""
    letters = "".join("".join(sequence.words).split())
    return sequence.text is not None and letters != "".join(sequence.text.split())


def _read_rows(path: Path, checker: RowChecker) -> Iterator[_Sequence]:
    header: dict[str, str] = {}
    for first, lines in read_blocks(path, is_checked=True):
        told = (line.partition("\t")[0] for line in lines if _is_comment(line))
        parts = (comment.removeprefix("# ").partition(" = ") for comment in told)
        comments = {name: value for name, _, value in parts}
        if "target" in comments:
            header = comments
        rows = {number: line for number, line in enumerate(lines, first) if not _is_comment(line)}
        if rows and not header:
            raise CRFError(CorpusErrors.CRF526.format(path=path, line=first))
        if rows:
            yield _parse_rows(checker, rows, header, comments)


def _is_comment(line: str) -> bool:
    """Whether a line is no token. That of a token "#" goes on behind a tab, with more than a filled mark."""
    before, _, after = line.partition("\t")
    return before.startswith(("# ", MARK)) and (not after or after.isspace() or bool(FILLED.fullmatch(f"\t{after}")))


def _parse_rows(
    checker: RowChecker, rows: dict[int, str], header: dict[str, str], comments: dict[str, str]
) -> _Sequence:
    kinds = [kind for kind in header.get("input", "").split(", ") if kind]
    own = COLUMNS if COLUMNS[2] in header.get("columns", "").split(", ") else UNMARKED
    names, text = (*own, *kinds), comments.get("text")
    cells = [line.split("\t") for line in rows.values()]
    for number, row in zip(rows, cells):
        checker.check_width(number, row, names)
    columns = dict(zip(names, zip(*cells)))
    marks = zip(rows, columns.get("checked", [""] * len(rows)))
    known = zip(columns["gold"], columns["best"], (read_mark(mark, f"{checker.path}, line {n}") for n, mark in marks))
    is_prefilled = "prefilled" in header
    return _Sequence(
        header["target"],
        [unescape(word) for word in columns["word"]],
        [_settle(unescape(gold), unescape(best), seen, is_prefilled) for gold, best, seen in known],
        columns["best"],
        list(rows),
        {kind: [_read_label(unescape(value)) for value in columns[kind]] for kind in kinds},
        None if text is None else unescape(text),
        unescape(comments.get("document", "")),
    )


def _settle(gold: str, best: str, is_checked: bool, is_prefilled: bool) -> str:
    """What is known of a token. best (str): the tag that the tagger has given it, as it is, not as gold is written."""
    label = _read_label(gold)
    if is_checked:
        return label or ("" if is_prefilled else best)
    return "" if is_prefilled and label == best else label


def _read_label(value: str) -> str:
    own = value.strip()
    return own[1:] if own != "_" and _LIKE_UNKNOWN.fullmatch(own) else "" if own in UNKNOWN else own


def _read_json(path: Path) -> Iterator[_Sequence]:
    for number, data in read_json_lines(path):
        try:
            yield _parse_object(data, number)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CRFError(CorpusErrors.CRF525.format(path=path, line=number, reason=repr(error))) from error


def _parse_object(data: dict[str, Any], line: int) -> _Sequence:
    if data["format"] != FORMAT:
        raise ValueError(f"format is {data['format']!r}, not {FORMAT!r}")
    tokens = data["tokens"]
    words = [token["text"] for token in tokens]
    marks = [token.get("checked", "") for token in tokens]
    gold = ["" if token["gold"] is None else token["gold"] for token in tokens]
    best, document = [token.get("best", "") for token in tokens], data.get("document_name", "")
    input = {kind: list(values) for kind, values in data["input"].items()}
    text = "" if data["text"] is None else data["text"]
    texts = [
        data["target"],
        text,
        document,
        *words,
        *gold,
        *best,
        *(value for values in input.values() for value in values),
    ]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("target, text, words, gold and input must be strings")
    if any(len(values) != len(words) for values in input.values()):
        raise ValueError("input must have a value for each token")
    seen = [read_mark(mark, f"line {line}") for mark in marks]
    known = [_settle(*own, bool(data.get("prefilled"))) for own in zip(gold, best, seen)]
    return _Sequence(data["target"], words, known, best, [line] * len(words), input, data["text"], document)


def _make_sentence(sequence: _Sequence, checker: RowChecker) -> Sentence:
    kind, words, lines = sequence.kind, sequence.words, sequence.lines
    validate_input([kind, *sequence.input])
    checker.check_words(words, lines)
    own, seen = {kind: sequence.gold}, list(map(bool, sequence.gold))
    if kind == GOLD_COLUMN:
        tags = [parse_tags(gold, f"{checker.path}, line {line}") for gold, line in zip(sequence.gold, lines)]
        own = make_sentence(words, tags, None, False, seen).columns
    elif weighted := WEIGHTED.get(kind):
        register_gold_tags(weighted.removeprefix(EXTENSION_PREFIX))
        own[weighted] = ["" if is_noted(gold) else gold for gold in sequence.gold]
        own[CHECKED_COLUMN] = [YES * known for known in seen]
    columns = {**sequence.input, **own}
    if is_spans(kind):
        columns[kind] = _with_white_space(words, sequence.gold)
    for name, values in columns.items():
        checker.check(name, values, lines)
    if is_spans(kind):
        _check_spans(sequence, checker.path)
    spaces = None if sequence.text is None else find_spaces(sequence.text, words)
    return Sentence(words, columns, spaces, document=sequence.document, predicted=tuple(own))


def _with_white_space(words: Sequence[str], gold: Sequence[str]) -> list[str]:
    """BIO tags in which white space, which nobody is asked about, lies in the span that goes on behind it, or in none;
    it is unknown only beside a word that is."""
    found, after = list(gold), OUTSIDE
    for place in reversed(range(len(words))):
        if words[place].isspace() and not gold[place]:
            found[place] = after if after[:2] == "I-" else OUTSIDE if after else ""
        after = found[place]
    before = OUTSIDE
    for place, word in enumerate(words):
        is_free = word.isspace() and not gold[place] and found[place] == OUTSIDE
        before = found[place] = "" if is_free and not before else found[place]
    return found


def _check_spans(sequence: _Sequence, path: Path) -> None:
    """Raise an error for a tag that is not BIO, or that no sequence of BIO tags can have behind the one before it, but
    for white space without a tag."""
    before = OUTSIDE
    for word, tag, line in zip(sequence.words, sequence.gold, sequence.lines):
        if word.isspace() and not tag:
            continue
        is_tag = not tag or tag == OUTSIDE or (tag[:2] in ("B-", "I-") and len(tag) > 2)
        if not is_tag or (tag[:2] == "I-" and before and before[1:] != tag[1:]):
            raise CRFError(CorpusErrors.CRF524.format(path=path, line=line, value=tag, before=before))
        before = tag


def escape(text: str) -> str:
    """A text on one line and in one column: backslashes, tabs and line ends are spelt out."""
    return text.translate(_TABLE)


def write_label(label: str) -> str:
    """A label as both layouts have it, "" for none."""
    return f"\\{label}" if _LIKE_UNKNOWN.fullmatch(label) else label


def unescape(text: str) -> str:
    """The text that was escaped; a backslash before any other character stays."""
    return _ESCAPED.sub(lambda match: _BACK[match[0]], text)

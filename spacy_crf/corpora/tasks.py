"""Tasks for Label Studio (JSON) and doccano (JSON lines): predicted tags go out as spans, and come back as gold.

Neither tool has tokens, so that the offsets of those go out beside the text, sentence by sentence, and must come back;
so do weights of several gold tags, which hold as long as a person leaves these tags.
Label Studio tells what a person has done with a prediction: what was changed or made anew is checked, and so are spans
with the choice "checked", and all spans of an annotation that is ground truth; of spans, those of the control "label"
count. In doccano, a span with the label "checked" lies over what a person has seen.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..core.errors import CRFError
from ..reading.files import first_line, read_lines, read_text
from ..reading.records import parse_json, read_json_lines
from .errors import CorpusErrors
from .exchange import ExchangeDocument, ExchangeToken, Mark, mark_tokens, place_tokens
from .sentence import Sentence
from .tagsets import CHECKED, NO_GOLD, parse_tags

MODEL = "spacy_crf"
GOLD = "gold"  # cells of checked tokens, where labels alone do not tell their weights
UNTAGGED = "untagged"  # offsets of tokens that a person has left without a tag, of which Label Studio has no span
LABEL, TEXT = "label", "text"  # names of the tags of Label Studio's labelling interface
SPANS, RELATION = "labels", "relation"  # types of what is in a result
UNTOUCHED = "prediction"  # origin of a span that a person has left as it was
HEAD = 20  # lines in which a list of tasks shows what it is


def _read_task(data: Any, where: str, read: Callable[[dict[str, Any], str], ExchangeDocument]) -> Iterator[Sentence]:
    """Yield the sentences of one task, which is one document. where (str): For messages."""
    try:
        yield from read(data, where).to_sentences()
    except CRFError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        path, _, place = where.partition(", ")
        told = {"path": path, "place": f", {place}", "problem": f"this is not a task with tokens ({error!r})"}
        raise CRFError(CorpusErrors.CRF577.format(**told)) from error


def _place(data: dict[str, Any]) -> tuple[str, str, list[list[ExchangeToken]]]:
    """Name, text and tokens of a task; in a doccano of today, what is no text or label is in "meta"."""
    own = {**(data.get("meta") or {}), **data}
    name, text = own.get("document", ""), own["text"]
    if not isinstance(text, str) or not isinstance(name, str):
        raise TypeError("text and document must be strings")
    return name, text, place_tokens(text, own["sentences"])


def _keep_weights(data: dict[str, Any], sentences: list[list[ExchangeToken]], where: str) -> list[list[ExchangeToken]]:
    """Give checked tokens the weights that they went out with, unless a person has given them other tags."""
    cells = iter({**(data.get("meta") or {}), **data}.get(GOLD) or ())
    known = [[(token, parse_tags(str(next(cells, "")), where)) for token in sentence] for sentence in sentences]
    return [
        [replace(token, gold=gold) if token.gold and token.gold.keys() == gold.keys() else token for token, gold in own]
        for own in known
    ]


def _offsets(document: ExchangeDocument) -> dict[str, Any]:
    """What of a document neither tool changes."""
    sentences = [[[token.start, token.end] for token in sentence] for sentence in document.sentences]
    gold = [token.cell if token.is_checked else NO_GOLD for token in _tokens(document)]
    weights = {GOLD: gold} if any(len(token.gold or ()) > 1 for token in _tokens(document)) else {}
    return {"text": document.text, "document": document.name, "sentences": sentences, **weights}


def _tokens(document: ExchangeDocument) -> list[ExchangeToken]:
    return [token for sentence in document.sentences for token in sentence]


def _check_span(start: Any, end: Any, text: str, shown: Any = None) -> None:
    if not (type(start) is type(end) is int and 0 <= start <= end <= len(text)):
        raise ValueError(f"the span from {start!r} to {end!r} is not in the text")
    if shown is not None and letters_of(shown) != letters_of(text[start:end]):
        raise ValueError(f"the text has {text[start:end]!r} at {start}, the span {shown!r}")


def _labels(found: Any) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(label, str | int) for label in found):
        raise ValueError(f"{found!r} are no labels")
    return list(map(str, found))


def letters_of(text: str) -> str:
    """A text without white space, which Label Studio may spell in another way."""
    return "".join(text.replace("\\n", " ").split())


# -- Label Studio ------------------------------------------------------------------------------------------------


def is_label_studio(path: Path) -> bool:
    """Whether a file begins as a list of tasks."""
    head = "".join(islice(read_lines(path), HEAD)).replace(" ", "")
    return head.startswith("[{") and any(f'"{key}":' in head for key in ("data", "annotations", "predictions"))


def read_label_studio(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of an export as JSON; where annotators differ, all of their tags are gold, A|B."""
    found = parse_json(read_text(path), str(path))
    tasks = found if isinstance(found, list) else [found]
    control = _find_control(path, tasks)
    for number, task in enumerate(tasks, 1):
        yield from _read_task(task, f"{path}, task {number}", partial(_parse_task, control=control))


def _find_control(path: Path, tasks: Sequence[Any]) -> str:
    """The control whose spans are tags: that called "label", or else the only one that has spans."""
    names: set[str] = set()
    with suppress(KeyError, TypeError, AttributeError):  # of what is no task, as is told where it is read
        annotations = (one for task in tasks for one, _ in _annotations(task))
        results = chain.from_iterable(annotation["result"] for annotation in annotations)
        names = {str(one.get("from_name", LABEL)) for one in results if one["type"] == SPANS}
    if len(names) > 1 and LABEL not in names:
        raise CRFError(CorpusErrors.CRF760.format(path=path, names=", ".join(sorted(names)), name=LABEL))
    return LABEL if LABEL in names or not names else names.pop()


def _annotations(task: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """What people have handed in, then predictions; and whether it is one."""
    yield from ((one, False) for one in task.get("annotations") or () if not one.get("was_cancelled"))
    yield from ((one, True) for one in task.get("predictions") or ())


def _parse_task(task: dict[str, Any], where: str, control: str) -> ExchangeDocument:
    name, text, sentences = _place(task["data"])
    results = (_parse_result(one, is_predicted, text, where, control) for one, is_predicted in _annotations(task))
    untagged = [Mark(start, end, {}, True) for start, end in task["data"].get(UNTAGGED) or ()]
    marked = mark_tokens(sentences, chain(untagged, *results))
    return ExchangeDocument(name, text, _keep_weights(task["data"], marked, where))


def _parse_result(
    annotation: dict[str, Any], is_predicted: bool, text: str, where: str, control: str
) -> Iterator[Mark]:
    """Yield the spans of an annotation, or of a prediction. control (str): whose spans these are."""
    found = [one for one in annotation["result"] if one["type"] != RELATION]
    chosen = {one.get("id") for one in found if CHECKED in one["value"].get("choices", ())}
    for one in found:
        value = one["value"]
        if one.get("from_name", control) != control or "choices" in value:
            continue
        if one["type"] != SPANS:
            raise ValueError(f"{control!r} has {one['type']}, not the spans of Labels over a Text")
        start, end, labels = value["start"], value["end"], _labels(value["labels"])
        _check_span(start, end, text, value.get("text"))
        is_own = one.get("origin", "manual") != UNTOUCHED or one.get("id") in chosen or annotation.get("ground_truth")
        is_checked = bool(is_own and not is_predicted)
        notes = (one.get("meta") or {}).get("text") or [""]
        weights = {} if is_checked else parse_tags(str(notes[0]), where)
        yield Mark(start, end, weights or {label: 1 / len(labels) for label in labels}, is_checked)


def write_label_studio(documents: Sequence[ExchangeDocument]) -> bytes:
    """Write tasks: each document is one, the best tags are predictions, and what is checked is an annotation."""
    return (json.dumps(list(map(_make_task, documents)), ensure_ascii=False, indent=1) + "\n").encode()


def _make_task(document: ExchangeDocument) -> dict[str, Any]:
    tokens = list(enumerate(_tokens(document), 1))
    checked = [_make_result(k, token, list(token.gold)) for k, token in tokens if token.gold]
    predicted = [_make_result(k, token, [token.tag]) for k, token in tokens if token.tag and not token.is_checked]
    untagged = [[token.start, token.end] for _, token in tokens if token.gold == {}]
    data = {**_offsets(document), **({UNTAGGED: untagged} if untagged else {})}
    task: dict[str, Any] = {"data": data, "predictions": [{"model_version": MODEL, "result": predicted}]}
    return {**task, "annotations": [{"result": checked}]} if checked else task


def _make_result(number: int, token: ExchangeToken, labels: list[str]) -> dict[str, Any]:
    value = {"start": token.start, "end": token.end, "text": token.word, "labels": labels}
    result = {"id": f"t{number}", "from_name": LABEL, "to_name": TEXT, "type": "labels", "value": value}
    if token.is_checked:
        return result
    return {**result, "score": round(1 - token.doubt, 4), "meta": {"text": [token.cell]}}


# -- doccano -----------------------------------------------------------------------------------------------------


def is_doccano(path: Path) -> bool:
    """Whether the first line of a file is a text with labels."""
    line = first_line(path)
    try:
        found = parse_json(line, str(path)) if line.startswith("{") else None
    except CRFError:
        return False
    return isinstance(found, dict) and "text" in found and any(key in found for key in ("label", "labels", "entities"))


def read_doccano(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of an export of sequence labels as JSON lines; each line is a document."""
    for line, data in read_json_lines(path):
        yield from _read_task(data, f"{path}, line {line}", _parse_line)


def _parse_line(data: dict[str, Any], where: str) -> ExchangeDocument:
    name, text, sentences = _place(data)
    spans = [
        *(data.get("label") or data.get("labels") or ()),
        *map(itemgetter("start_offset", "end_offset", "label"), data.get("entities") or ()),
    ]
    for start, end, _ in spans:
        _check_span(start, end, text)
    seen = mark_tokens(sentences, [Mark(start, end, {}, True) for start, end, label in spans if label == CHECKED])
    labels = [Mark(s, e, dict.fromkeys(_labels([label]), 1.0), True) for s, e, label in spans if label != CHECKED]
    tagged = mark_tokens(sentences, labels)
    cells = iter({**(data.get("meta") or {}), **data}.get("predicted") or ())
    found = [
        [_settle(token, own.is_checked, parse_tags(str(next(cells, "")), where)) for token, own in zip(*pair)]
        for pair in zip(tagged, seen)
    ]
    return ExchangeDocument(name, text, _keep_weights(data, found, where))


def _settle(token: ExchangeToken, is_checked: bool, predicted: dict[str, float]) -> ExchangeToken:
    labels = token.gold or {}
    return replace(token, gold=labels if is_checked else None, predicted=predicted or labels)


def write_doccano(documents: Sequence[ExchangeDocument]) -> bytes:
    """Write texts with the best tags as labels, one document on each line."""
    return "".join(f"{json.dumps(_make_line(document), ensure_ascii=False)}\n" for document in documents).encode()


def _make_line(document: ExchangeDocument) -> dict[str, Any]:
    tokens = _tokens(document)
    labels = [[t.start, t.end, tag] for t in tokens for tag in (t.gold if t.is_checked and t.gold else [t.tag]) if tag]
    cells = [NO_GOLD if token.is_checked else token.cell for token in tokens]
    return {**_offsets(document), "label": [*labels, *_checked_runs(tokens)], "predicted": cells}


def _checked_runs(tokens: Iterable[ExchangeToken]) -> Iterator[list[Any]]:
    for is_checked, run in groupby(tokens, lambda token: token.is_checked):
        own = list(run)
        if is_checked:
            yield [own[0].start, own[-1].end, CHECKED]

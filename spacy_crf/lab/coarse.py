"""Labels of a model and of gold that count as one: a model of many fields is measured on data that have fewer."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from spacy.tokens import Doc, Span

from ..core.errors import CRFError
from ..reading.files import read_lines
from .errors import LabErrors

Labels = Mapping[str, str]


def read_labels(path: Path) -> Labels:
    """Return what labels count as: lines `label<TAB>other label`; empty lines and lines with a "#" say nothing."""
    labels = {}
    for number, line in enumerate(read_lines(path), 1):
        if line.strip() and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) != 2 or not all(cells):
                raise CRFError(LabErrors.CRF669.format(path=path, line=number, text=line.strip()))
            labels[cells[0]] = cells[1]
    return labels


def replace_labels(doc: Doc, labels: Labels, target: str, spans_key: str) -> None:
    """Replace the labels of a Doc, where a target has them. Spans that touch, and have become of one label, are joined.

    target (str): "ent", "spans" or "tag". spans_key (str): of the group, for "spans".
    RAISES (ValueError): for another target.
    """
    if target == "ent":
        doc.set_ents(_join(doc, doc.ents, labels), default="unmodified")
    elif target == "spans":
        doc.spans[spans_key] = _join(doc, doc.spans.get(spans_key, ()), labels)
    elif target == "tag":
        for token in doc:
            token.tag_ = labels.get(token.tag_, token.tag_)
    else:
        raise CRFError(LabErrors.CRF668.format(target=target))


def _join(doc: Doc, spans: Iterable[Span], labels: Labels) -> list[Span]:
    found: list[Span] = []
    merged = set(labels.values())
    for span in spans:
        label = labels.get(span.label_, span.label_)
        if label in merged and found and (found[-1].end, found[-1].label_) == (span.start, label):
            found[-1] = Span(doc, found[-1].start, span.end, label=label)
        else:
            found.append(Span(doc, span.start, span.end, label=label))
    return found

"""What people have corrected, and models that learn from it beside the one that is served.

FOLDER/NAME/checked has a file for each checked document, FOLDER/NAME/1, 2 .. are models. A training begins with the
weights that are served, learns from four fifths of the checked text, and is judged on the rest, as is the model that is
served. It runs in a process of its own at the lowest priority. The new model takes the place of the old one when it is
saved and not worse; whatever happens otherwise, the old one stays, and /models tells why.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import spacy
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Span

from ..annotation.documents import Preparation, read_doc_name, register_doc_name, write_text_settings
from ..annotation.extensions import register_stored, write_values
from ..annotation.gold import TagWeights, write_gold_tags, write_partial
from ..core.labels import OUTSIDE
from ..corpora.reader import Corpus
from ..corpora.sentence import bio_tags
from ..corpora.tagsets import CHECKED as ATTRIBUTE
from ..corpora.tagsets import YES
from ..pipe.block import SPAN_TARGETS
from ..pipe.labels import PREPARATION
from ..pipe.probabilities import GivesSets
from ..reading.files import write_whole
from .errors import Refusal, ServiceErrors
from .models import ServedModel
from .training import FOLDS, keys_learned, learns, parts_of, tells, to_bytes, train_beside, write_parts

CHECKED = "checked"


@dataclass(frozen=True)
class CheckedDoc:
    """A Doc of which a person has said something.

    tags (Sequence): the tags of each token, all of which are right, or their weights; none where nothing is known.
    spans (Sequence): first token, token behind the last, and label. checked (Sequence[bool]): tokens that are known to
        be outside of spans where they are in none; all without.
    """

    doc: Doc
    tags: Sequence[Sequence[str] | TagWeights] = ()
    spans: Sequence[tuple[int, int, str]] = ()
    checked: Sequence[bool] = ()


class Learner:
    """Keeps corrections and starts trainings. folder (Path | None): where; nothing can be learned without."""

    def __init__(self, folder: Path | None = None):
        self.folder, self._lock = folder, Lock()

    def folder_of(self, model: ServedModel) -> Path:
        """Return the folder of a model; a coded error where it cannot learn."""
        if self.folder is None:
            raise Refusal(ServiceErrors.CRF745, 503)
        if learns(model) is None:
            raise Refusal(ServiceErrors.CRF747.format(name=model.name))
        return self.folder / model.name

    def require_rest(self, model: ServedModel) -> None:
        """Raise a coded error where a model is learning."""
        if model.learning.get("state") == "learning":
            raise Refusal(ServiceErrors.CRF744.format(name=model.name), 429, retry_after=10)

    def keep(self, model: ServedModel, kind: str, marked: CheckedDoc, key: str) -> None:
        """Write what is known of a document to its file, which is deleted where nothing is; a coded error where another
        component than the one that learns gives such answers. kind (str): of answers. key (str): of the file."""
        path, component = self._file(model, key), model.component(kind)
        if component is not (learning := learns(model)):
            told = {"name": model.name, "kind": kind, "component": component.name, "learning": learning.name}
            raise Refusal(ServiceErrors.CRF472.format(**told))
        doc = write_labels(component, marked)
        if tells(component, doc):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, to_bytes(doc))
        else:
            path.unlink(missing_ok=True)

    def forget(self, model: ServedModel, key: str) -> None:
        """Delete what is known of a document."""
        self._file(model, key).unlink(missing_ok=True)

    def forget_named(self, model: ServedModel, names: Collection[str]) -> None:
        """Delete all that is known of the documents with some names."""
        vocab = spacy.blank("xx").vocab
        for path in (self.folder_of(model) / CHECKED).glob("*.spacy"):
            if any(read_doc_name(doc) in names for doc in Corpus(path).read_docs(vocab)):
                path.unlink(missing_ok=True)

    def _file(self, model: ServedModel, key: str) -> Path:
        return self.folder_of(model) / CHECKED / f"{sha256(key.encode('utf8')).hexdigest()[:24]}.spacy"

    def start(self, model: ServedModel) -> None:
        """Start a training, unless there is too little to learn from."""
        with self._lock:
            folder = self.folder_of(model)
            self.require_rest(model)
            number = 1 + max((int(one.name) for one in folder.glob("*") if one.name.isdecimal()), default=0)
            parts = parts_of(learns(model), folder / CHECKED)
            if (found := len({key for key, _ in parts})) < FOLDS:
                message = ServiceErrors.CRF746.format(found=found, name=model.name, least=FOLDS)
                model.tell("waiting", message=message)
                return
            output = folder / str(number)
            output.mkdir(parents=True)
            write_parts(output, parts, keys_learned(folder))
            model.tell("learning", number=number, checked=found)
        Thread(target=self._learn, args=(model, output), daemon=True).start()

    def _learn(self, model: ServedModel, output: Path) -> None:
        """Wait for the process that trains, and serve its model if it is not worse than the one that is served."""
        try:
            told = train_beside(model, output)
            scores = {"score": told["new"], "score_before": told["old"]}
            if told["new"] < told["old"]:
                model.tell("kept", message=ServiceErrors.CRF749.format(**told), **scores)
                return
            path = str(output / "model-best")
            model.swap(spacy.load(path), path)
            model.tell("swapped", **scores)
        except Exception as error:  # whatever it is, the model that is served stays
            problem = " ".join(f"{type(error).__name__}: {error}".split())[:500]
            model.tell("failed", message=ServiceErrors.CRF748.format(error=problem))


def write_labels(component: Any, marked: CheckedDoc) -> Doc:
    """Give a Doc what is known of it, as the target of a component reads gold, and return it. Where it takes one tag,
    several say nothing; nor do spans that overlap."""
    register_doc_name()
    doc, target, has_sets = marked.doc, component.settings.target, isinstance(component, GivesSets)
    told = Preparation.from_data(component.cfg.get(PREPARATION))
    if told is not None:
        write_text_settings(doc, told.to_settings())
    if target in SPAN_TARGETS:
        _write_spans(doc, target, getattr(component.settings, "spans_key", ""), marked)
        return doc
    tags = marked.tags
    if told is not None and told.punctuation != "gold":  # of which nothing is learned
        marks = told.marks(np.array([token.orth for token in doc], np.uint64), doc.vocab.strings)
        tags = [() if is_mark else own for own, is_mark in zip(tags, marks)]
    if target in ("tag", "pos"):  # which words those are that nobody has looked at, for commands that measure
        register_stored(ATTRIBUTE)
        most = len(component.labels) if has_sets else 1
        write_values(doc, ATTRIBUTE, [YES if 0 < len({*own}) <= most else False for own in tags])
    if has_sets:
        rows = [own if isinstance(own, dict) else dict.fromkeys(own, 1.0) for own in tags]
        write_gold_tags(doc, rows, component.cfg["gold_tags"])
    else:
        for token, own in zip(doc, map(list, tags)):
            if len({*own}) != 1:
                continue
            if target == "tag":
                token.tag_ = own[0]
            elif target != "pos":
                token._.set(target, own[0])
            elif own[0] in IDS:
                token.pos_ = own[0]
    return doc


def _write_spans(doc: Doc, target: str, key: str, marked: CheckedDoc) -> None:
    tags = [OUTSIDE if is_known else "" for is_known in marked.checked or [True] * len(doc)]
    places = {span: range(*span[:2]) for span in marked.spans}
    covered = Counter(chain.from_iterable(places.values()))
    spans = [Span(doc, *span) for span, own in places.items() if all(covered[place] == 1 for place in own)]
    for place in covered:
        tags[place] = ""
    tags = bio_tags(spans, tags)
    if target == "ent":
        doc.set_ents(spans, missing=[doc[place : place + 1] for place, tag in enumerate(tags) if not tag])
        return
    if any(tags):
        doc.spans[key] = spans
    if "" in tags:
        write_partial(doc, target, key, tags)

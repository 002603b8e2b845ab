"""What people have corrected, and models that learn from it beside the one that is served.

FOLDER/NAME/checked has a file for each checked document, FOLDER/NAME/1, 2 .. are models. A training begins with the
weights that are served, learns from four fifths of the checked text, and is judged on the rest, as is the model that is
served. It runs in a process of its own at the lowest priority. The new model takes the place of the old one when it is
saved and not worse; whatever happens otherwise, the old one stays, and /models tells why.
"""

import json
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from signal import SIGTERM
from threading import Lock, Thread
from typing import Any

import numpy as np
import spacy
import srsly
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, DocBin, Span
from spacy.tokens.doc import DOCBIN_ALL_ATTRS
from spacy.util import registry
from thinc.api import Config

from ..annotation.documents import Preparation, read_doc_name, register_doc_name, write_text_settings
from ..annotation.extensions import register_stored, write_values
from ..annotation.gold import TagWeights, read_gold_tags, write_gold_tags, write_partial
from ..core.labels import OUTSIDE
from ..corpora.docbin import cut_doc
from ..corpora.reader import Corpus
from ..corpora.sentence import bio_tags
from ..corpora.tagsets import CHECKED as ATTRIBUTE
from ..corpora.tagsets import YES
from ..lab.training import train_config
from ..pipe.block import SPAN_TARGETS
from ..pipe.component import ChainPipe
from ..pipe.labels import PREPARATION
from ..pipe.probabilities import GivesSets
from ..reading.files import write_whole
from .errors import Refusal, ServiceErrors
from .models import ServedModel

FOLDS = 5  # one of which is held out
SCORED = 4  # times, at least, in a training, however few texts there are
LOWEST_PRIORITY = 19
CHECKED = "checked"
LEARNED, HELD_OUT, KEYS = "learned.spacy", "held_out.spacy", "learned.json"


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
        doc = write_gold(component, marked)
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


def learns(model: ServedModel) -> Any:
    """The component that learns from corrections; None where the pipeline has none."""
    for kind in ("sets", "tag", "entities"):
        if kind in model.kinds and isinstance(component := model.component(kind), ChainPipe):
            return component
    return None


def to_bytes(*docs: Doc) -> bytes:
    """A `.spacy` file."""
    return DocBin(DOCBIN_ALL_ATTRS, store_user_data=True, docs=docs).to_bytes()


def write_gold(component: Any, marked: CheckedDoc) -> Doc:
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


# -- training ----------------------------------------------------------------------------------------------------


def parts_of(component: Any, folder: Path) -> list[tuple[str, Doc]]:
    """What checked text is dealt in: documents, or their sentences where there are fewer documents, with a key that is
    the same for what several people have said of one text. Parts of which nobody has said anything are left out."""
    apart = spacy.blank("xx")  # the vocabulary of a model belongs to its thread
    docs = list(Corpus(folder, group="document").read_docs(apart.vocab)) if any(folder.glob("*.spacy")) else []
    parts = [(read_doc_name(doc), doc) for doc in docs]
    if len({key for key, _ in parts}) < FOLDS:
        parts = [part for key, doc in parts for part in _sentences(key, doc)]
    return [(key, doc) for key, doc in parts if tells(component, doc)]


def _sentences(key: str, doc: Doc) -> list[tuple[str, Doc]]:
    if not doc.has_annotation("SENT_START"):
        return [(key, doc)]
    parts = cut_doc(doc, [sentence.start for sentence in doc.sents])
    return [(f"{key}, sentence {number}", part) for number, part in enumerate(parts, 1)]


def tells(component: Any, doc: Doc) -> bool:
    """Whether a Doc that `write_gold` has written, or a part of it, has something to learn from."""
    target = component.settings.target
    if target == "ent":
        return any(token.ent_iob and not token.is_space for token in doc)  # an empty Doc has all annotation for spaCy
    if target in SPAN_TARGETS:
        return component.settings.spans_key in doc.spans
    if isinstance(component, GivesSets):
        return any(read_gold_tags(doc, component.cfg["gold_tags"]))
    return any(name is not None for name in component.annotation.present(doc, component.tags))


def keys_learned(folder: Path) -> set[str]:
    """Keys of all that earlier trainings have learned from, and of the documents that it is from."""
    return {key for path in folder.glob(f"*/{KEYS}") for key in json.loads(path.read_text("utf8"))}


def write_parts(folder: Path, parts: Sequence[tuple[str, Doc]], before: Collection[str]) -> None:
    """Write what is learned from, and what is held out: a training looks at them as they are now. What has been learned
    `before` is not held out where there is anything else: the model that is served would know it by heart."""
    order = sorted({key for key, _ in parts}, key=lambda key: (key in before, sha256(key.encode("utf8")).digest()))
    apart = {*order[: round(len(order) / FOLDS)]}
    for name, is_held_out in ((LEARNED, False), (HELD_OUT, True)):
        docs = (doc for key, doc in parts if (key in apart) == is_held_out)
        write_whole(folder / name, to_bytes(*docs))
    learned = {own for key, doc in parts if key not in apart for own in (key, read_doc_name(doc))}
    write_whole(folder / KEYS, json.dumps(sorted(learned)).encode("utf8"))


def training_config(model: ServedModel, output: Path) -> Config:
    """The config of a training that begins with a saved pipeline and learns from checked text; all components but the
    one that learns stay as they are. output (Path): folder with that text, and with the pipeline as "given"."""
    given, learning = str(output / "given"), learns(model).name
    config = model.config.copy()
    files = (("train", LEARNED), ("dev", HELD_OUT))
    config["corpora"] = {name: {"@readers": "spacy_crf.Corpus.v1", "path": str(output / file)} for name, file in files}
    training = config["training"]
    training.update(train_corpus="corpora.train", dev_corpus="corpora.dev", before_update=None)
    trainer, own = config["components"][learning].get("trainer", {}), config.interpolate()
    limits = {name: limit for name in ("max_steps", "max_epochs", "patience") if (limit := own["training"][name]) > 0}
    if "iterations_per_step" in trainer:  # scores stop L-BFGS before it forgets what few texts do not show
        count = own["components"][learning]["trainer"]["iterations_per_step"]
        training.update({name: limit * count for name, limit in limits.items()})
        trainer["iterations_per_step"] = 1
    # of few texts, an epoch is one update: scored more rarely, only the first one would be, and kept
    training["eval_frequency"] = min((own["training"]["eval_frequency"] * SCORED, *limits.values())) // SCORED or 1
    names = config["nlp"]["pipeline"]
    others = [name for name in names if name != learning]
    config["components"].update({name: {"source": given, "component": name} for name in others})
    training["frozen_components"] = others
    training["annotating_components"] = list(names[: names.index(learning)])
    config["initialize"].update(vectors=given if len(model.nlp.vocab.vectors) else None, init_tok2vec=None)
    config["initialize"].setdefault("components", {})[learning] = {"start": f"{given}/{learning}"}
    return config


def train_beside(model: ServedModel, output: Path) -> dict[str, float]:
    """Train in another process. RETURNS (dict): the scores of the "new" and the "old" model on what was held out."""
    given, config = output / "given", training_config(model, output)
    model.save(given)
    receiver, sender = get_context("spawn").Pipe(duplex=False)
    process = get_context("spawn").Process(target=_train, args=(config.to_str(), given, output, sender), daemon=True)
    process.start()
    sender.close()
    try:
        told: dict[str, Any] = receiver.recv()
    except EOFError as error:
        raise RuntimeError("the process that trained was ended") from error
    finally:
        process.join()
    if "error" in told:
        raise RuntimeError(told["error"])
    return told


def _end_with_service() -> None:
    if service := parent_process():
        service.join()
        os.kill(os.getpid(), SIGTERM)


def _train(text: str, given: Path, output: Path, sender: Connection) -> None:
    """Train, save and score, in a process of its own, and send the scores or the error."""
    os.nice(LOWEST_PRIORITY)
    Thread(target=_end_with_service, daemon=True).start()
    try:
        config = Config().from_str(text)
        train_config(config, output=output)
        keep_corpora(given, output / "model-best")
        sender.send({"new": score_of(output / "model-best", config), "old": score_of(given, config)})
    except Exception as error:
        sender.send({"error": str(error) or type(error).__name__})


def keep_corpora(given: Path, trained: Path) -> None:
    """Leave in the config of a trained pipeline how the files are read that the given one was made with: commands read
    other files in the same way."""
    old, new = (Config().from_disk(folder / "config.cfg", interpolate=False) for folder in (given, trained))
    new["corpora"] = old["corpora"]
    new["training"].update({name: old["training"][name] for name in ("train_corpus", "dev_corpus")})
    new.to_disk(trained / "config.cfg")


def score_of(path: Path, config: Config) -> float:
    """The score of a saved pipeline on what is held out, by a config; its card loses scores of nothing, spaCy's 0."""
    nlp = spacy.load(path)
    settings = config.interpolate()
    corpus = registry.resolve({"corpus": settings["corpora"]["dev"]})["corpus"]
    scores = nlp.evaluate(list(corpus(nlp)))
    told = {name: own for name, own in nlp.meta.get("performance", {}).items() if scores.get(name, own) is not None}
    srsly.write_json(path / "meta.json", nlp.meta | {"performance": told})
    weights = {name: weight for name, weight in settings["training"]["score_weights"].items() if weight}
    return float(sum(weight * (scores.get(name) or 0.0) for name, weight in weights.items()))

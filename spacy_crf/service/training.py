"""A training beside the service: what it learns from, its config, its process, and the score that judges it."""

import json
import os
from collections.abc import Collection, Sequence
from hashlib import sha256
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from signal import SIGTERM
from threading import Thread
from typing import Any

import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.tokens.doc import DOCBIN_ALL_ATTRS
from spacy.util import registry
from thinc.api import Config

from ..annotation.documents import read_doc_name
from ..annotation.gold import read_gold_tags
from ..corpora.docbin import cut_doc
from ..corpora.reader import Corpus
from ..lab.training import train_config
from ..pipe.block import SPAN_TARGETS
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets
from ..reading.files import write_whole
from .models import ServedModel

FOLDS = 5  # one of which is held out
SCORED = 4  # times, at least, in a training, however few texts there are
LOWEST_PRIORITY = 19
LEARNED, HELD_OUT, KEYS = "learned.spacy", "held_out.spacy", "learned.json"


def learns(model: ServedModel) -> Any:
    """The component that learns from corrections; None where the pipeline has none."""
    for kind in ("sets", "tag", "entities"):
        if kind in model.kinds and isinstance(component := model.component(kind), ChainPipe):
            return component
    return None


def to_bytes(*docs: Doc) -> bytes:
    """A `.spacy` file."""
    return DocBin(DOCBIN_ALL_ATTRS, store_user_data=True, docs=docs).to_bytes()


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
    """Whether a Doc that `write_labels` has written, or a part of it, has something to learn from."""
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
    rare_enough = [own["training"]["eval_frequency"], *(limit // SCORED for limit in limits.values())]
    training["eval_frequency"] = max(min(rare_enough), 1)
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

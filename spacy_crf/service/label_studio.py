"""The protocol of Label Studio's ML backends: predictions for tasks, and corrections that are kept and learned from.

The labelling interface says what is asked for: `Labels` or a `Taxonomy` with labeling="true" over a `Text` takes spans
or tags whose names it lists, several for a token where its choice is "multiple"; a `TextArea` takes restored text.
"""

from asyncio import Lock
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any
from xml.parsers import expat

from fastapi import APIRouter
from pydantic import BaseModel
from spacy.language import Language
from starlette.concurrency import run_in_threadpool

from ..annotation.documents import write_doc_name
from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from ..corpora.tasks import letters_of
from .answers import Answer, answer
from .errors import Refusal, ServiceErrors
from .models import Limits, Models, ServedModel
from .retraining import CheckedDoc, Learner

Value = Mapping[str, Any]
LABELS, TAXONOMY, TEXT_AREA = "Labels", "Taxonomy", "TextArea"
LISTED = {LABELS: "Label", TAXONOMY: "Choice"}  # elements that name a label of a control; choices stand in others
PLAIN = {"valueType": "text", "encoding": "none"}  # of a text that is in its task as it is
LABELLING = ("entities", "sets", "tag")
KEEPING = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
FORGETTING = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
TASKS_GONE = "TASKS_DELETED"  # with the numbers of tasks, and no annotations
LEARNING = "START_TRAINING"


class SetupRequest(BaseModel):
    """What Label Studio tells when it is connected; its `schema` is the labelling interface."""

    model_config = {"extra": "allow"}
    project: int | str = ""


class TaskRequest(BaseModel):
    """Tasks to predict. tasks: each with its `data`. label_config: the labelling interface."""

    model_config = {"extra": "allow"}
    tasks: list[dict[str, Any]]
    label_config: str = ""


class Webhook(BaseModel):
    """What has happened in Label Studio."""

    model_config = {"extra": "allow"}
    action: str
    annotation: dict[str, Any] = {}
    annotations: list[dict[str, Any]] = []
    task: dict[str, Any] = {}
    tasks: list[dict[str, Any]] = []
    project: Any = None


@dataclass
class Control:
    """A control of a labelling interface.

    kind (str): of its element. name (str), to_name (str): its own, and that of what is labelled. several (bool):
    whether it takes several labels for one place. places (bool): whether it labels parts of a text.
    listed (list): labels that it lists, each with its value and its path in results, whose last part is its own name:
        its alias, or its value.
    """

    kind: str
    name: str
    to_name: str
    several: bool = False
    places: bool = False
    listed: list[tuple[str, list[str]]] = field(default_factory=list)

    def paths_of(self, labels: Collection[str]) -> dict[str, list[str]]:
        """The paths of those labels that it lists, by their aliases or values."""
        known = [(path[-1] if path[-1] in labels else value, path) for value, path in self.listed]
        return {label: path for label, path in reversed(known) if label in labels}


class LabelConfig:
    """A labelling interface. controls (list[Control]): in order. texts (dict): keys of task data, by names of texts."""

    def __init__(self, text: str):
        self.controls: list[Control] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str, Control | None]] = []  # elements: their kinds, names and controls
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = lambda _: self._open.pop()
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(text.encode("utf8"), True)
        except expat.ExpatError as error:
            raise Refusal(ServiceErrors.CRF735.format(what="The labelling interface", problem=error)) from error

    @staticmethod
    def _refuse(*_: Any) -> None:
        raise Refusal(ServiceErrors.CRF735.format(what="The labelling interface", problem="it has a document type"))

    def _begin(self, element: str, given: dict[str, str]) -> None:
        value = given.get("value", "")
        name, control = given.get("alias") or value, self._open[-1][2] if self._open else None
        if control and element == LISTED.get(control.kind):
            above = [own for kind, own, _ in self._open if kind == element]
            control.listed.append((value, [*above, name]))
        elif element == "Text" and value.startswith("$") and PLAIN.items() <= (PLAIN | given).items():
            self.texts[given.get("name", "")] = value[1:]
        elif element in (LABELS, TAXONOMY, TEXT_AREA):
            several = given.get("choice") == "multiple" or (element == TAXONOMY and given.get("maxUsages") != "1")
            places = element == LABELS or given.get("labeling") == "true"
            control = Control(element, given.get("name", ""), given.get("toName", ""), several, places)
            self.controls.append(control)
        elif element != "View":  # another control has labels of its own
            control = None
        self._open.append((element, name, control))


@dataclass(frozen=True)
class Fit:
    """What fills a control. kind (str): of answers. key (str): of task data, for the text. paths (dict): of the labels
    of the model that the control lists. lists_all (bool): whether these are all."""

    control: Control
    kind: str
    key: str
    paths: Mapping[str, list[str]] = field(default_factory=dict)
    lists_all: bool = True

    @classmethod
    def find(cls, model: ServedModel, text: str) -> "Fit":
        """Find the first control that a model fills, by the labels of both; a coded error where there is none."""
        config = LabelConfig(text)
        for control in config.controls:
            if (key := config.texts.get(control.to_name)) is None:
                continue
            if control.kind == TEXT_AREA and "punctuate" in model.kinds:
                return cls(control, "punctuate", key)
            if control.places and (kind := _kind_of(model, control)):
                labels = model.component(kind).labels
                paths = control.paths_of(labels)
                return cls(control, kind, key, paths, {*paths, OUTSIDE}.issuperset(labels))
        names = [f"{one.kind} {one.name!r}" for one in config.controls]
        found = ", ".join(names) or "none of ours"
        problem = f"there are {found}, over texts of the tasks, and labels have to be named as the model's"
        raise Refusal(ServiceErrors.CRF743.format(name=model.name, problem=problem))


def _kind_of(model: ServedModel, control: Control) -> str:
    """What a model labels with most of the labels of a control; "" for nothing."""
    shared = {kind: len(control.paths_of(model.component(kind).labels)) for kind in LABELLING if kind in model.kinds}
    best = max(shared, key=shared.__getitem__, default="")
    return best if best and shared[best] else ""


def add_label_studio(router: APIRouter, models: Models, limits: Limits, learner: Learner) -> None:
    """Add the endpoints below /label-studio/NAME, which is the address to give to Label Studio."""
    backend = Backend(models, limits, learner)
    router.get("/label-studio/{name}/health")(backend.tell_backend)
    router.post("/label-studio/{name}/setup")(backend.set_up)
    router.post("/label-studio/{name}/predict")(backend.predict)
    router.post("/label-studio/{name}/webhook")(backend.take_webhook)


@dataclass
class Backend:
    """What Label Studio calls a machine learning backend.

    configs (dict[str, str]): the last labelling interface of each model: webhooks may come without. orders (dict[str,
    Lock]): of webhooks of a model: what forgets would pass what keeps, which waits for the model.
    """

    models: Models
    limits: Limits
    learner: Learner
    configs: dict[str, str] = field(default_factory=dict)
    orders: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))

    async def tell_backend(self, name: str) -> dict[str, str]:
        """Whether the model is there."""
        return {"status": "UP", "model_class": self.models[name].name}

    async def set_up(self, name: str, request: SetupRequest) -> dict[str, str]:
        """Check that the labelling interface has a control that the model fills."""
        model, text = self.models[name], str((request.model_extra or {}).get("schema") or "")
        if text:
            Fit.find(model, text)
            self.configs[name] = text
        return {"model_version": model.version}

    async def predict(self, name: str, request: TaskRequest) -> dict[str, Any]:
        """A prediction for each task."""
        model = self.models[name]
        self.configs[name] = request.label_config or self.configs.get(name, "")
        fit = Fit.find(model, self.configs[name])
        texts = [_text_of(task, fit.key) for task in request.tasks]
        self.limits.check_texts([text or "" for text in texts])

        def work(nlp: Language) -> list[dict[str, Any]]:
            known = [text for text in texts if text is not None]
            answers = iter(answer(fit.kind, nlp, model.component(fit.kind), known))
            return [prediction(fit, {} if text is None else next(answers), model.version) for text in texts]

        return {"results": await model.run(work, filter(None, texts))}

    async def take_webhook(self, name: str, event: Webhook) -> dict[str, Any]:
        """Keep a correction, forget one, or learn from those that are kept; what came before is done first."""
        model = self.models[name]
        async with self.orders[name]:
            if event.action == LEARNING:
                await run_in_threadpool(self.learner.start, model)
            elif event.action in FORGETTING:
                for one in event.annotations or [event.annotation]:
                    self.learner.forget(model, _key(one))
            elif event.action == TASKS_GONE:
                await run_in_threadpool(self.learner.forget_named, model, {_name(task) for task in event.tasks})
            elif event.action in KEEPING:
                await self._take_annotation(model, event)
        return {"status": "ok", "learning": model.learning}

    async def _take_annotation(self, model: ServedModel, event: Webhook) -> None:
        key = _key(event.annotation)
        if event.annotation.get("was_cancelled"):
            self.learner.forget(model, key)
            return
        try:
            own = event.project.get("label_config") if isinstance(event.project, dict) else None
            fit = Fit.find(model, str(own or self.configs.get(model.name, "")))
            text = _text_of(event.task, fit.key) or ""
            self.limits.check_texts([text])
            await model.run(lambda nlp: self.learner.keep(model, fit.kind, gold_of_task(nlp, fit, event), key), [text])
        except Exception:  # what the annotation said before, it does not say any more
            with suppress(CRFError, OSError):
                self.learner.forget(model, key)
            raise


def _key(annotation: Value) -> str:
    return f"label-studio {annotation.get('id')}"


def _name(task: Value) -> str:
    return f"label-studio task {task.get('id')}"


def _text_of(task: Value, key: str) -> str | None:
    data = task.get("data")
    text = data.get(key) if isinstance(data, dict) else None
    return text if isinstance(text, str) else None


# -- predictions -------------------------------------------------------------------------------------------------


def prediction(fit: Fit, told: Answer, version: str) -> dict[str, Any]:
    """The prediction of a task; one that failed has no results."""
    results = [] if not told or "error" in told else list(_results(fit, told))
    scores = [one["score"] for one in results if one["score"] is not None]
    found = {"result": results, "score": fmean(scores) if scores else 0.0, "model_version": version}
    return {**found, "error": told["error"]} if "error" in told else found


def _results(fit: Fit, told: Answer) -> Iterator[dict[str, Any]]:
    control = fit.control
    where = {"from_name": control.name, "to_name": control.to_name}
    if control.kind == TEXT_AREA:
        chances = [mark["probability"] for mark in told["marks"] if "probability" in mark]
        score = fmean(chances) if chances else None
        yield {"id": "text", **where, "type": "textarea", "value": {"text": [told["restored"]]}, "score": score}
        return
    for number, one in enumerate(told["entities"] if fit.kind == "entities" else told["tokens"]):
        best, chances = one.get("label", one.get("tag")), one.get("probabilities", {})
        labels = [label for label in one.get("set") or [best] if label in fit.paths]
        if labels := labels[: None if control.several else 1]:
            score = one.get("probability") if labels[0] == best else chances.get(labels[0])
            place = {"start": one["start"], "end": one["end"], "text": one["text"]}
            paths = [fit.paths[label] for label in labels]
            value = {"labels": [path[-1] for path in paths]} if control.kind == LABELS else {"taxonomy": paths}
            kind = control.kind.lower()
            yield {"id": f"r{number}", **where, "type": kind, "value": place | value, "score": score}


# -- corrections -------------------------------------------------------------------------------------------------


def gold_of_task(nlp: Language, fit: Fit, event: Webhook) -> CheckedDoc:
    """What an annotation says of the tokens of its task. Whoever submits one has looked at all of it: tokens without a
    span are outside of spans, unless they may be in one whose label the control does not list. Where spans begin or end
    inside of tokens, or have no label, these are unknown."""
    text = _text_of(event.task, fit.key)
    if text is None or fit.kind == "punctuate":
        problem = f"it has no text in {fit.key!r}" if text is None else "restored text is not learned from"
        raise Refusal(ServiceErrors.CRF735.format(what="The correction", problem=problem))
    doc = write_doc_name(nlp.make_doc(text), _name(event.task))
    tags: list[list[str]] = [[] for _ in doc]
    spans, checked = [], [fit.lists_all] * len(doc)
    for start, end, labels in _regions(fit, event.annotation, text):
        span = doc.char_span(start, end, alignment_mode="expand")
        if span is None or not len(span):
            continue
        if not labels or (span.start_char, span.end_char) != (start, end):
            checked[span.start : span.end] = [False] * len(span)
            continue
        spans += [(span.start, span.end, label) for label in labels]
        for token in span:
            tags[token.i] += labels
    return CheckedDoc(doc, spans=spans, checked=checked) if fit.kind == "entities" else CheckedDoc(doc, tags=tags)


def _regions(fit: Fit, annotation: Value, text: str) -> Iterator[tuple[int, int, list[str]]]:
    """The characters of the regions of a control, and the model's labels; a coded error for a region of another text:
    where its label belongs is not known, and tokens without one count as checked."""
    own = {path[-1]: label for label, path in fit.paths.items()}
    for one in _list(annotation.get("result")):
        value = one.get("value") if isinstance(one, dict) else None
        if not isinstance(value, dict) or one.get("from_name") != fit.control.name:
            continue
        found = _list(value.get("labels")) or [path[-1] for path in map(_list, _list(value.get("taxonomy"))) if path]
        start, end, shown = value.get("start"), value.get("end"), value.get("text")
        if not found and start is None:
            continue
        place = (start, end) if isinstance(start, int) and isinstance(end, int) else (0, 0)
        is_shown = not isinstance(shown, str) or letters_of(shown) == letters_of(text[slice(*place)])
        if not (is_shown and 0 <= place[0] < place[1] <= len(text)):
            problem = f"the region from {start!r} to {end!r}, {shown!r}, is not in the text of its task"
            raise Refusal(ServiceErrors.CRF735.format(what="The correction", problem=problem))
        yield *place, [own.get(str(name), str(name)) for name in found]


def _list(found: Any) -> list[Any]:
    """A list of a correction, empty for nothing; a coded error for another value."""
    if not isinstance(found or [], list):
        problem = f"{str(found)[:60]!r} stands where a list has to be"
        raise Refusal(ServiceErrors.CRF735.format(what="The correction", problem=problem))
    return found or []

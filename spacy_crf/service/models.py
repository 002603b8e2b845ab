"""Pipelines that are served: what each answers, and its thread, which does one piece of work after the other."""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import spacy
from spacy.language import Language

from ..constraints.component import KeepsConstraints
from ..core.errors import CRFError
from ..pipe.block import SPAN_TARGETS
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets, LabelsTokens
from ..punctuation.component import PunctuationRestorer
from ..reading.files import checksum_of_files
from ..sections.component import SectionParser
from .errors import Refusal, ServiceErrors

MARGINALS, CHANGES, SCORES = "served_marginals", "served_changes", "served_scores"  # custom attributes begin so
FIELDS = {"AUTHOR", "TITLE"}  # labels by which a model for references is known
MOST_WORDS = 4_000_000  # new ones, behind which a pipeline is loaded anew: spaCy keeps some 40 bytes of each for good
TOGETHER = 5000  # characters of texts that are processed at once, but for those of one request
A_SECOND = 1000  # characters by which a request waits as if it had come a second later; half the time limit at most
BUDGET = 1 / 3  # of the time limit, which a solver may take for a sequence, and again for the reasons of changes
MOST_MARKS = 2000  # in a row; of several rows, the root of the sum of their squares
MARKS = re.compile(r"(?:[^\w\s]\w{0,2}|_){100,}")  # `'s'` is a row, too
T = TypeVar("T")
log = logging.getLogger("spacy_crf.service")


@dataclass(frozen=True)
class _Asked:
    """Work that waits: see `ServedModel.gather`. size (int): characters. due (float): in whose order it is done."""

    kind: Any
    items: Sequence[Any]
    work: Callable[[Language, list[Any]], list[Any]]
    size: int
    due: float
    found: Future[list[Any]] = field(default_factory=Future)


@dataclass(frozen=True)
class Limits:
    """What requests may ask for.

    megabytes (float): of a request. texts (int), characters (int): in a request, the latter all together.
    seconds (float): for the work of a request. waiting (int): requests that wait for one model.
    """

    megabytes: float = 4
    texts: int = 100
    characters: int = 500_000
    seconds: float = 30
    waiting: int = 32

    def check_texts(self, texts: Sequence[str]) -> None:
        """Raise a coded error for too many texts, too long ones, or long rows of marks: tokenizers of spaCy take these
        off one by one, in time that is the square of their number."""
        if len(texts) > self.texts:
            raise Refusal(ServiceErrors.CRF726.format(found=len(texts), most=self.texts), 413)
        if (found := sum(map(len, texts))) > self.characters:
            raise Refusal(ServiceErrors.CRF727.format(found=f"{found:,}", most=f"{self.characters:,}"), 413)
        if sum(len(row) ** 2 for text in texts for row in {*MARKS.findall(text)}) > MOST_MARKS**2:
            raise Refusal(ServiceErrors.CRF483.format(most=f"{MOST_MARKS:,}"), 413)


def _labels_spans(pipe: Any) -> bool:
    settings = getattr(pipe, "settings", None)
    return isinstance(pipe, LabelsTokens | KeepsConstraints) and getattr(settings, "target", "") in SPAN_TARGETS


def _labels_references(pipe: Any) -> bool:
    labels: Sequence[str] = getattr(pipe, "labels", ())
    return isinstance(pipe, LabelsTokens) and {label.upper() for label in labels} >= FIELDS


# what a model can be asked for, and whether a component answers it
KINDS: dict[str, Callable[[Any], bool]] = {
    "tag": lambda pipe: isinstance(pipe, LabelsTokens | GivesSets) and not _labels_spans(pipe),
    "sets": lambda pipe: isinstance(pipe, GivesSets),
    "entities": _labels_spans,
    "cite": _labels_references,
    "sections": lambda pipe: isinstance(pipe, SectionParser),
    "punctuate": lambda pipe: isinstance(pipe, PunctuationRestorer),
}


class ServedModel:
    """A pipeline with a name, and a thread for it.

    name (str): that requests give. nlp (Language): the pipeline. source (str): where it is from.
    limits (Limits): how many requests may wait, and for how long.
    learning (dict): what became of the last training, empty for none.
    RAISES (ValueError): for a pipeline that answers nothing.
    """

    def __init__(self, name: str, nlp: Language, source: str = "", limits: Limits | None = None):
        self.name, self.source, self.limits = name, source, limits or Limits()
        self.learning: dict[str, Any] = {}
        self._thread = ThreadPoolExecutor(1, f"model-{name}")
        self._asked: list[_Asked] = []
        self._waiting, self._lock = 0, RLock()
        self.replace(nlp, source)

    def replace(self, nlp: Language, source: str) -> None:
        """Serve another pipeline; not while one is at work, see `swap`."""
        self.config = nlp.config.copy()  # before more is asked for
        ask_for_all(nlp)
        limit_solvers(nlp, BUDGET * self.limits.seconds)
        self.nlp, self.source, self._n_words = nlp, source, len(nlp.vocab)
        self._checksum = checksum_of_files(nlp.path)[:8]
        known = {kind: [pipe for _, pipe in nlp.pipeline if fits(pipe)] for kind, fits in KINDS.items()}
        self._components = {kind: found[-1 if kind == "cite" else 0] for kind, found in known.items() if found}
        if not self._components:
            raise CRFError(ServiceErrors.CRF737.format(model=source or self.name, names=", ".join(nlp.pipe_names)))

    @property
    def kinds(self) -> list[str]:
        """What it can be asked for."""
        return list(self._components)

    @property
    def version(self) -> str:
        """A name of what is served, which another pipeline of this name does not have, before or behind a restart."""
        return f"{self.name}-{self.nlp.meta.get('version', '')}-{self._checksum}"

    def component(self, kind: str) -> Any:
        """The component that answers; a coded error where none does."""
        if kind not in self._components:
            why = f"its components are {', '.join(self.nlp.pipe_names)}"
            raise Refusal(ServiceErrors.CRF732.format(name=self.name, kind=kind, why=why))
        return self._components[kind]

    def tell(self, state: str, **facts: Any) -> None:
        """Note what becomes of a training, for /models; its number stays until the next one."""
        self.learning = {"number": self.learning.get("number", 0), "state": state, **facts}

    def swap(self, nlp: Language, source: str) -> None:
        """Serve what a training has made as soon as what is being answered is answered."""
        self._thread.submit(self.replace, nlp, source).result()

    def save(self, folder: Path) -> None:
        """Save the pipeline, when its thread has time, with the settings that it came with."""

        def work() -> None:
            self.nlp.to_disk(folder)
            self.config.to_disk(folder / "config.cfg")

        self._thread.submit(work).result()

    def describe(self) -> dict[str, Any]:
        """What users are told of it."""
        meta = self.nlp.meta
        components = [
            {"name": name, "factory": self.nlp.get_pipe_meta(name).factory, "labels": list(getattr(pipe, "labels", ()))}
            for name, pipe in self.nlp.pipeline
        ]
        known = {key: meta.get(key) for key in ("lang", "name", "version", "description", "license")}
        scores = {key: value for key, value in meta.get("performance", {}).items() if isinstance(value, int | float)}
        return {
            **{"name": self.name, "answers": self.kinds, "components": components, "meta": known, "scores": scores},
            **{"source": self.source, "learning": self.learning},
        }

    async def run(self, work: Callable[[Language], T], texts: Iterable[str]) -> T:
        """Have work on texts done by the thread; see `gather`."""
        (found,) = await self.gather(object(), [None], lambda nlp, _: [work(nlp)], sum(map(len, texts)))
        return found

    async def gather(
        self, kind: Any, items: Sequence[Any], work: Callable[[Language, list[Any]], list[T]], size: int
    ) -> list[T]:
        """Have items processed by the thread, in a memory zone of the vocabulary, which forgets new words behind it.

        What waits for the same kind of work is done at once: many short texts take hardly longer than one. Long texts
        let short ones pass that come a little later.

        kind (Any): of the work. work (Callable): takes items and returns something for each. size (int): characters.
        RAISES (Refusal): where too many wait, or it takes too long; then it is done to its end for nobody.
        """
        asked = _Asked(kind, items, work, size, time.monotonic() + min(size / A_SECOND, self.limits.seconds / 2))
        with self._lock:
            if self._waiting >= self.limits.waiting:
                raise Refusal(ServiceErrors.CRF729.format(name=self.name), 503, retry_after=1)
            self._waiting += 1
            self._asked.append(asked)
        asked.found.add_done_callback(self._count_down)
        self._thread.submit(self._work)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked.found), self.limits.seconds)
        except TimeoutError as error:
            raise Refusal(ServiceErrors.CRF728.format(seconds=self.limits.seconds), 503, retry_after=5) from error

    def _work(self) -> None:
        """Do what is first of all that waits, and what follows of the same kind."""
        with self._lock:
            batch = list(self._take())
        if not batch:
            return
        nlp = self.nlp
        try:
            with nlp.memory_zone():
                found = iter(batch[0].work(nlp, [item for asked in batch for item in asked.items]))
        except BaseException as error:
            for asked in batch:
                asked.found.set_exception(error)
        else:
            for asked in batch:
                asked.found.set_result(list(islice(found, len(asked.items))))
        if len(nlp.vocab) - self._n_words > MOST_WORDS:  # the length of a vocabulary counts words that are forgotten
            self._renew()

    def _renew(self) -> None:
        """Load the pipeline again, where it is from a folder or package, and so forget what its vocabulary has kept."""
        self._n_words = len(self.nlp.vocab)
        if self.source:
            try:
                self.replace(spacy.load(self.source), self.source)
            except (OSError, ValueError, LookupError) as error:
                log.warning("The pipeline %s stays as it is: it cannot be loaded again", self.name, exc_info=error)

    def _take(self) -> Iterator["_Asked"]:
        room, kind = TOGETHER, None
        for asked in sorted(self._asked, key=lambda one: one.due):
            is_first = kind is None
            if is_first or (asked.kind == kind and asked.size <= room):
                self._asked.remove(asked)
                if asked.found.set_running_or_notify_cancel():  # nobody waits any more for what was cancelled
                    room, kind = room - asked.size, asked.kind
                    yield asked

    def _count_down(self, _: Future[Any]) -> None:
        with self._lock:
            self._waiting -= 1

    def close(self) -> None:
        """End the thread; what waits is left undone."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class Models(Mapping[str, ServedModel]):
    """The models that are served, by name."""

    def __init__(self, models: Sequence[ServedModel]):
        self._models: dict[str, ServedModel] = {}
        for model in models:
            if model.name in self._models:
                raise CRFError(ServiceErrors.CRF736.format(name=model.name))
            self._models[model.name] = model

    def __getitem__(self, name: str) -> ServedModel:
        if name not in self._models:
            raise Refusal(ServiceErrors.CRF730.format(name=name[:100], known=", ".join(self)), 404)
        return self._models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __contains__(self, name: object) -> bool:
        return name in self._models

    def choose(self, kind: str, name: str | None = None) -> ServedModel:
        """The model of a name, or the first one that answers what is asked for; a coded error where there is none."""
        if name is not None:
            return self[name]
        for model in self.values():
            if kind in model.kinds:
                return model
        raise Refusal(ServiceErrors.CRF732.format(name="No model", kind=kind, why=f"there are {', '.join(self)}"), 404)


def limit_solvers(nlp: Language, seconds: float) -> None:
    """Let no component of a pipeline look for a better labelling of a sequence for longer than some seconds."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, KeepsConstraints):
            for limit in ("budget", "time_limit"):
                pipe.cfg[limit] = min(pipe.cfg[limit] or seconds, seconds)


def ask_for_all(nlp: Language) -> None:
    """Have components tell what answers show beside labels: probabilities, and what constraints changed; each in an
    attribute of its own, but where the config names one, which others of the pipeline may read."""
    for name, pipe in nlp.pipeline:
        has_marginals = isinstance(pipe, LabelsTokens) and not isinstance(pipe, GivesSets)
        if has_marginals and isinstance(pipe, ChainPipe) and pipe.cfg["marginals"] is None:
            pipe.cfg["marginals"] = f"{MARGINALS}_{name}"
        if isinstance(pipe, KeepsConstraints) and pipe.cfg["changes"] is None:
            pipe.cfg["changes"] = f"{CHANGES}_{name}"
        if isinstance(pipe, ChainPipe) and _can_tell_scores(pipe):
            pipe.cfg["scores"] = f"{SCORES}_{name}"


def _can_tell_scores(pipe: ChainPipe) -> bool:
    """Whether a component can tell how probable its entities are, and is not asked for it."""
    if getattr(pipe.settings, "target", "") != "ent" or pipe.cfg.get("scores", "") is not None:
        return False
    return pipe.has_probabilities and pipe.model.attrs.get("order") != 2

"""The runner of experiments and searches: spaCy's own training loop, quiet, on a config or on folds of it, and what is
wrong with a config, in words."""

import errno
import io
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from difflib import get_close_matches
from hashlib import blake2b, file_digest
from inspect import signature
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import dot_to_object, registry
from thinc.api import Config, ConfigValidationError

from ..core.errors import CRFError
from ..learning.block import LBFGSSettings
from ..reading.errors import ReadingErrors
from .errors import LabErrors
from .statistics import single_figures

LOGGER, FOLD = "spacy_crf.trial_logger.v1", "spacy_crf.Fold.v1"
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
UNEXPECTED = re.compile(r"unexpected argument|(?i:extra (?:fields|inputs) (?:are )?not permitted)")
ConfigT = TypeVar("ConfigT", bound=Mapping[str, Any])
LogStep = Callable[[dict[str, Any] | None], None]


class Evaluation(NamedTuple):
    """What the training loop found on the dev corpus.

    step (int): of the training loop. score (float): by the `score_weights` of the config. scores (dict): all others.
    is_judged (bool): whether there is any score that has a weight; without, the weighted one is 0.
    """

    step: int
    score: float
    scores: dict[str, Any]
    is_judged: bool = True

    def get(self, name: str | None) -> Any:
        """Return one of the scores, None where it is not told; None names the weighted one."""
        if name is None:
            return self.score if self.is_judged else None
        return self.scores.get(name)

    def numbers(self) -> dict[str, float]:
        """Return the scores that are single numbers; speed is none."""
        return single_figures({name: value for name, value in self.scores.items() if name != "speed"})


class Listener(io.StringIO):
    """Takes what the training loop prints, and from the logger its evaluations, which it tells of."""

    def __init__(self, on_evaluation: Callable[[Evaluation], None]):
        super().__init__()
        self.on_evaluation = on_evaluation


def setup_logger(nlp: Language, stdout: IO[str], stderr: IO[str]) -> tuple[LogStep, Callable[[], None]]:
    """Return a logger that hands each evaluation to the `Listener` that spaCy's `train` has as stdout, if any."""

    def log_step(info: dict[str, Any] | None) -> None:
        if info is not None and isinstance(stdout, Listener):
            weights, scores = nlp.config["training"]["score_weights"], info["other_scores"]
            is_judged = any(name in scores for name, weight in weights.items() if weight) or not any(weights.values())
            stdout.on_evaluation(Evaluation(info["step"], info["score"], scores, is_judged))

    return log_step, lambda: None


def train_config(
    config: Config, on_evaluation: Callable[[Evaluation], None] | None = None, output: Path | None = None
) -> Evaluation:
    """Train from the beginning, as `spacy train` does, and return the evaluation of the model that it keeps.

    on_evaluation (Callable | None): told of each evaluation; what it raises ends the training.
    output (Path | None): folder for what `spacy train` writes.
    """
    quiet, found = config.copy(), list[Evaluation]()
    quiet["training"]["logger"] = {"@loggers": LOGGER}

    def tell(evaluation: Evaluation) -> None:
        found.append(evaluation)
        if on_evaluation is not None:
            on_evaluation(evaluation)

    listener, nlp = Listener(tell), init_nlp(quiet)
    train(nlp, output, stdout=listener, stderr=listener)
    return kept(found)


def kept(evaluations: list[Evaluation]) -> Evaluation:
    """Return the one whose model `spacy train` keeps: of the greatest score, the last of equal ones."""
    return max(evaluations, key=lambda evaluation: (evaluation.score, evaluation.step))


def with_fold(config: Config, folds: int, fold: int, seed: int) -> Config:
    """Return a config that trains on the training corpus without a fold, and evaluates on the fold; see `FoldCorpus`.

    config (Config): in which variables may stand as they are. Its dev corpus is not read; it only says whether
        punctuation is scored, see `historical`.
    """
    config, plain = config.copy(), config.interpolate()
    names = dict(zip(("train", "held_out"), _corpus_names(plain)))
    corpus = dot_to_object(config, names["train"])
    if corpus.get("augmenter") is not None:
        raise CRFError(LabErrors.CRF550.format(name=names["train"]))
    corpora = {"train": corpus, "held_out": {**corpus, **scored_texts(plain)}}
    for part, name in names.items():
        parent, _, last = name.rpartition(".")
        settings = {"corpus": dict(corpora[part]), "folds": folds, "fold": fold, "part": part, "seed": seed}
        dot_to_object(config, parent)[last] = {"@readers": FOLD, **settings}
    return config


def without_dev(config: Config) -> Config:
    """Return a config whose dev corpus is the training corpus, as that is scored, for what reads no other."""
    config, plain = config.copy(), config.interpolate()
    train, dev = _corpus_names(plain)
    parent, _, last = dev.rpartition(".")
    dot_to_object(config, parent)[last] = {**dot_to_object(config, train), **scored_texts(plain)}
    return config


def scored_texts(config: Config) -> dict[str, Any]:
    """Return the block `text` by which the training corpus is read to be scored, where it is another: its punctuation
    has gold if that of the dev corpus has. Documents and tokens stay the same."""
    ours, theirs = (dot_to_object(config, name).get("text") or {} for name in _corpus_names(config))
    punctuation = theirs.get("punctuation", "gold")
    if theirs and ours and {ours.get("punctuation", "gold"), punctuation} == {"gold", "context"}:
        return {"text": {**ours, "punctuation": punctuation}}
    return {}


def digest_data(config: Mapping[str, Any], storage: Path) -> str:
    """Return a digest of the files that a config names, of corpora and of components: scores with others are not to be
    compared.

    storage (Path): of the search, which changes; so do the files beside it whose names begin with its own.
    """
    digest, own = blake2b(digest_size=16), str(storage.resolve())
    for part, is_read in (("corpora", _is_corpus), ("components", _is_resource), ("initialize", _is_resource)):
        waiting = [config.get(part) or {}]
        while waiting:
            block = waiting.pop()
            waiting += [value for value in block.values() if isinstance(value, Mapping)]
            for path in (Path(text) for name, text in _texts(block) if is_read(name, text)):
                for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                    if file.is_file() and not str(file.resolve()).startswith(own):
                        with file.open("rb") as file_:
                            digest.update(file.name.encode(errors="surrogateescape"))
                            digest.update(file_digest(file_, "sha256").digest())
    return digest.hexdigest()


def _texts(block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the settings of a block that are texts, those of lists one by one, by their names."""
    for name, value in block.items():
        yield from ((name, one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))


def _is_corpus(name: str, text: str) -> bool:
    return name == "path"


def _is_resource(name: str, text: str) -> bool:
    """Tell whether a setting of a component names a file or a model; other folders, such as caches, may change."""
    is_model = os.path.isdir(text) and (name == "start" or os.path.isfile(os.path.join(text, "meta.json")))
    return is_model or os.path.isfile(text)


def spelt(block: Any) -> Any:
    """Return the block that "auto" stands for, which of those that have settings to search is L-BFGS."""
    return {"@misc": "spacy_crf.LBFGS.v1", **asdict(LBFGSSettings())} if block == "auto" else block


def check_source(config: ConfigT, *keys: str) -> ConfigT:
    """Return the config, unless one of the dotted keys is a setting of a component that comes from another pipeline:
    spaCy takes it with the settings that it has there, and does not look at others."""
    for part, name, *rest in (key.split(".") for key in keys if key.count(".") > 1):
        block = (config.get("components") or {}).get(name) if part == "components" else None
        taken = block.get("source") if isinstance(block, Mapping) and "factory" not in block else None
        if taken is not None and rest[0] not in ("factory", "source", "component", "replace_listeners"):
            raise CRFError(LabErrors.CRF881.format(name=name, source=taken, setting=".".join(rest)))
    return config


def has_effect(key: str, settings: Mapping[str, Any]) -> bool:
    """Tell whether a setting has an effect beside others, one of which may be the block that it is in.

    A block that calls a function has only settings that it takes. settings (Mapping): values by dotted key.
    """
    block, _, name = key.rpartition(".")
    if block not in settings:
        return True
    chosen = spelt(settings[block])
    if not isinstance(chosen, Mapping):
        return False
    called = ((part[1:], function) for part, function in chosen.items() if part[:1] == "@")
    functions = [registry.get(*pair) for pair in called if registry.has(*pair)]
    known = [one for function in functions for one in signature(function).parameters.values()]
    return not functions or any(one.name == name or one.kind is one.VAR_KEYWORD for one in known)


def _corpus_names(config: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the training and the dev corpus, which are spaCy's own where a config is silent."""
    training = config["training"]
    return training.get("train_corpus", "corpora.train"), training.get("dev_corpus", "corpora.dev")


def corpus_block(config: Config, name: str) -> dict[str, Any]:
    """Return a copy of the block of a corpus, of folds that of the corpus which is dealt out.

    Empty where there is none: one reader may have read all corpora of the config.
    """
    block: dict[str, Any] = {}
    with suppress(KeyError):
        block = dict(dot_to_object(config, name) or {})
    while block.get("@readers") == FOLD:
        block = dict(block["corpus"])
    return block


def told_problem(error: BaseException) -> str:
    """Return the message of an error: of the system, with the file; for settings that a config must not have, with the
    nearest names that there are.

    spaCy's own message shows the whole block. It checks a config before it asks a component, so this is for commands.
    """
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return ReadingErrors.CRF499.format(path=error.filename or "The output", reason=error.strerror)
    if isinstance(error, OSError) and error.filename:
        return ReadingErrors.CRF498.format(path=error.filename, reason=error.strerror)
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):  # of all files of a folder that is copied
        _, path, reason = error.args[0][0]
        return ReadingErrors.CRF498.format(path=path, reason=reason)
    if not isinstance(error, ConfigValidationError):
        return str(error)
    problems = [([str(part) for part in one["loc"]], str(one["msg"])) for one in error.errors or ()]
    wrong = [place[-1] for place, problem in problems if UNEXPECTED.search(problem)]
    known = [name for name in error.config or {} if name not in (*wrong, "nlp", "name") and not name.startswith("@")]
    told = []
    for (*block, name), problem in problems:
        where, near = ".".join(block), ", ".join(get_close_matches(name, known, n=3)) or ", ".join(known)
        message = ReadingErrors.CRF847.format(block=where, name=name, near=near)
        told.append(message if name in wrong and near else f"{where}.{name}: {problem}")
    return " ".join(told) or str(error)

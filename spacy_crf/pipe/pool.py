"""Components made of others: the log-linear pool of trained ones (`core.pool`), and one for a part of the data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np
from spacy.language import Language
from spacy.training import Example

from ..core.errors import CRFError
from ..core.learn.penalty import USUAL
from ..core.pool import Member, pool_weights
from ..features.features import Features
from ..features.resources import Resources
from ..learning.block import LBFGSSettings, LinearChain, TrainerSettings
from ..learning.model import get_layout, get_tok2vec, get_weights
from .block import AUTO
from .component import ChainPipe
from .errors import PipeErrors
from .labels import SKIPS_WHITE_SPACE
from .storage import NAMES

P = TypeVar("P", bound=ChainPipe)


def pool(pipelines: Sequence[Language], names: Sequence[str], exponents: Sequence[float]) -> Language:
    """Make one pipeline of several, by pooling a component of each.

    pipelines (sequence of Language): trained; one component at most may have a tok2vec layer.
    names (sequence of str): of the component in each. exponents (sequence of float): how much each counts, at its own
        temperature.
    RETURNS (Language): the pipeline whose component has a tok2vec layer, or else the first one, with the pool in the
        place of that component.
    RAISES (ValueError): for components that cannot be pooled: of different kinds, targets or tags, with word lists or
        classes that differ, two with networks, hashed features, chains of order 2, tag dictionaries, learned
        constraints; or where pipelines, names and exponents differ in number.

    >>> import spacy
    >>> from spacy_crf import pool
    >>> members = [spacy.load("output/crf_tagger/model-best") for _ in range(2)]  # in earnest, different ones
    >>> nlp = pool(members, ["crf_tagger", "crf_tagger"], [0.5, 0.5])
    >>> [token.tag_ for token in nlp("The boats")]
    ['DT', 'NNS']
    """
    if not len(pipelines) == len(names) == len(exponents) > 0 or not np.isfinite(exponents).all():
        counts = {"pipelines": len(pipelines), "names": len(names), "exponents": list(exponents)}
        raise CRFError(PipeErrors.CRF450.format(**counts))
    pipes = [_member(nlp, name) for nlp, name in zip(pipelines, names)]
    for name, pipe in zip(names, pipes):
        _check(name, pipe, pipes[0])
    with_vectors = [k for k, pipe in enumerate(pipes) if get_tok2vec(pipe.model) is not None]
    if len(with_vectors) > 1:
        raise _unfit(names[with_vectors[1]], "it has a tok2vec layer, as another one has")
    base = with_vectors[0] if with_vectors else 0
    resources = _resources(names, pipes)
    blocks = [nlp.config.interpolate()["components"][name] for nlp, name in zip(pipelines, names)]
    features_block = _features_block(pipes, [block["features"] for block in blocks])
    config = {**blocks[base], **pipes[base].cfg.assignable, "features": features_block}
    temperature = config["temperature"] = pipes[base].temperature
    if forbidden := dict.fromkeys(tuple(pair) for pipe in pipes for pair in getattr(pipe.settings, "forbidden", ())):
        config["forbidden"] = list(map(list, forbidden))
    if any(get_layout(pipe.model).boundary for pipe in pipes):  # which the pool then has, whatever the base has
        config["model"] = {**config["model"], "boundary": True}
    powers = [power * temperature / pipe.temperature for pipe, power in zip(pipes, exponents)]
    nlp, name = pipelines[base], names[base]
    nlp.meta.pop("performance", None)  # of one member
    made = cast(ChainPipe, nlp.replace_pipe(name, config.pop("factory"), config=config))
    features = Features(made.feature_config, made.sequence, resources)
    numbers = [(features.state.include(p.features.state), features.edge.include(p.features.edge)) for p in pipes]
    members = [Member(get_weights(pipe.model), k, *own) for pipe, k, own in zip(pipes, powers, numbers)]
    made.take_over(pipes[base], features, pool_weights(members, len(features.state), len(features.edge)))
    if config.get("threshold") == AUTO != pipes[base].cfg["threshold"]:  # as it was fitted, until it is fitted anew
        made.cfg.fit("threshold", pipes[base].cfg["threshold"])
    return nlp


def _member(nlp: Language, name: str) -> ChainPipe:
    pipe = nlp.get_pipe(name)
    if not isinstance(pipe, ChainPipe):
        raise _unfit(name, "it is no component over a linear chain")
    return pipe


def _check(name: str, pipe: ChainPipe, first: ChainPipe) -> None:
    """Raise a coded error for a component that cannot be a member."""
    if type(pipe) is not type(first):
        raise _unfit(name, f"it is a {type(pipe).__name__}, the first one a {type(first).__name__}")
    if not pipe.labels or pipe.labels != first.labels:
        raise _unfit(name, f"its labels are {', '.join(pipe.labels) or 'none'}, those of the first one differ")
    for what, own, other in _what_agrees(pipe, first):
        if own != other:
            raise _unfit(name, f"its {what} is {own!r}, that of the first one {other!r}")
    if _is_likelihood(pipe) != _is_likelihood(first):
        raise _unfit(name, "its scores or those of the first one are no probabilities: calibrate that one first")
    if get_weights(pipe.model).order > 1:
        raise _unfit(name, "it is of order 2")
    if pipe.has_dictionary or pipe.parts != NAMES:
        raise _unfit(name, "it has learned more than weights: a tag dictionary, constraints or a grammar")
    if pipe.feature_config.max_features or pipe.feature_config.padding != first.feature_config.padding:
        raise _unfit(name, "its features are hashed to buckets, or padded otherwise than those of the first one")


def _what_agrees(pipe: ChainPipe, first: ChainPipe) -> Iterator[tuple[str, Any, Any]]:
    """Yield what must be the same, beside the labels: its name, and what each of both has."""
    yield "target", getattr(pipe.settings, "target", None), getattr(first.settings, "target", None)
    yield "scheme", pipe.scheme, first.scheme
    yield "setting `sequence`", pipe.sequence, first.sequence
    for name in pipe.learned_settings:
        if name not in pipe.settings_of_weights:
            yield name, pipe.cfg[name], first.cfg[name]


def _is_likelihood(pipe: ChainPipe) -> bool:
    """Whether the scores of its chain are logarithms of probabilities, learned or calibrated as such."""
    return pipe.settings.trainer.gives_probabilities or pipe.temperature != 1


def _unfit(name: str, problem: str) -> CRFError:
    return CRFError(PipeErrors.CRF648.format(name=name, problem=problem))


def _features_block(pipes: Sequence[ChainPipe], blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The `features` block with the templates of all members, and what these ask for."""
    merged: dict[str, Any] = {}
    for block in blocks:
        merged |= {key: value for key, value in block.items() if value or key not in merged}
    templates = [str(template) for pipe in pipes for template in pipe.feature_config.parsed]
    return {**merged, "templates": list(dict.fromkeys(templates))}


def _resources(names: Sequence[str], pipes: Sequence[ChainPipe]) -> Resources:
    """Word lists, classes and the like of all members, which may not contradict each other."""
    merged: dict[str, Any] = {"lists": {}}
    for name, pipe in zip(names, pipes):
        data = pipe.features.resources.to_data()
        for held, found in ((merged["lists"], data.pop("lists")), (merged, data)):
            for key, value in found.items():
                if held.setdefault(key, value) != value:
                    raise _unfit(name, f"its {key.replace('_', ' ')} differ from those of another one")
    return Resources.from_data(merged)


def trained_on(pipe: P, examples: Sequence[Example], iterations: int, nlp: Language | None = None, **changed: Any) -> P:
    """Train a component like another one, but without its tok2vec layer and with some settings changed, by L-BFGS. Its
    units are those of the other one."""
    trainer = _fold_trainer(pipe.settings.trainer, iterations)
    settings = replace(pipe.settings, model=LinearChain(), trainer=trainer, **changed)
    fold = type(pipe)(pipe.vocab, settings, pipe.name)
    fold.initialize(lambda: examples, nlp=nlp, labels=list(pipe.labels))
    fold.cfg.learn(**{name: pipe.cfg[name] for name in {SKIPS_WHITE_SPACE}.intersection(pipe.learned_settings)})
    fold.trainer.warns_of_unseen = False  # initialize makes a trainer
    for _ in range(2):
        fold.update(examples)
        fold.finish_update(None)
    return fold


def _fold_trainer(trainer: TrainerSettings, iterations: int) -> LBFGSSettings:
    """L-BFGS in two steps: with the settings of a component's trainer if it is L-BFGS, but in memory; "auto" is the
    default here."""
    own = trainer if isinstance(trainer, LBFGSSettings) else LBFGSSettings()
    c2 = USUAL if own.c2 == "auto" else own.c2
    return replace(own, c2=c2, cache=None, iterations_per_step=max(1, (iterations + 1) // 2))

"""Promises about tag sets, made on data that the tagger was not trained on, and as a pipeline keeps them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from spacy.training import Example
from spacy.util import minibatch

from ..core.arrays import Bools, Doubles, Floats, Hashes, Indices
from ..core.errors import CRFError
from ..core.sets.conformal import LAC, Condition, ConformalSets, Fallback, Score, calibrate
from ..core.sets.measures import normalise
from ..core.sets.risk import Loss, RiskControl, Unit, control_risk
from ..pipe.probabilities import GivesSets
from ..pipe.strata import Strata, Tokens, read_strata, text_uniforms
from .errors import TagSetErrors
from .gold import gold_weights

BATCH_SIZE = 256


@dataclass(frozen=True)
class ConformalPromise:
    """Split conformal sets of the tokens of a pipeline.

    sets (ConformalSets): quantiles at one level.
    by (Strata | None): the groups of condition "group". seed (int | None): of randomised scores, see `text_uniforms`.
    """

    sets: ConformalSets
    by: Strata | None = None
    seed: int | None = None

    @property
    def level(self) -> float:
        """Share of tokens that may miss their gold tag."""
        return self.sets.level

    def predict(self, marginals: Floats, tokens: Tokens) -> Bools:
        """((N, L)): the labels in the set of each token.

        marginals ((N, L)): probabilities. tokens (Tokens): the same tokens.
        """
        groups = None if self.by is None else self.by.groups(tokens)
        return self.sets.predict(marginals, groups, _uniforms(tokens, self.seed))

    @property
    def promise(self) -> str:
        """What is promised of the sets, in plain words."""
        text = self.sets.promise
        if self.by is not None:
            text += f" The groups are: {', '.join(map(self.by.describe, self.sets.strata))}."
        if self.seed is not None:
            text += f" Sets are randomised by the words of their document and seed {self.seed}: they stay the same."
        return text

    def describe(self, group: int, tags: tuple[str, ...]) -> str:
        """What a group, or a tag, is called."""
        return tags[group] if self.by is None else self.by.describe(group)

    def to_data(self) -> dict[str, Any]:
        """As plain data that JSON can hold."""
        by = None if self.by is None else self.by.to_data()
        return {**self.sets.to_data(), "by": by, "seed": self.seed}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ConformalPromise":
        """What `to_data` wrote; "by" and "seed" may be missing."""
        own = dict(data)
        by, seed = own.pop("by", None), own.pop("seed", None)
        return cls(ConformalSets.from_data(own), None if by is None else read_strata(by), seed)


def _uniforms(tokens: Tokens, seed: int | None) -> Doubles | None:
    return None if seed is None else text_uniforms(tokens, seed)


# -- made on held-out data --------------------------------------------------------------------------------------------


class HeldOutTokens(NamedTuple):
    """Tokens of held-out documents that have gold, or not.

    marginals ((N, L)): as the tagger gives them. weights ((N, L)): gold; zeros where there is none.
    tokens (Tokens): what groups are told from.
    unknown (int): tokens left out because none of their gold tags is known to the tagger.
    """

    marginals: Floats
    weights: Doubles
    tokens: Tokens
    unknown: int = 0

    @property
    def sentences(self) -> Indices:
        """((N,)): number of each token's sentence."""
        return np.repeat(np.arange(len(self.tokens.lengths)), self.tokens.lengths)

    @property
    def documents(self) -> Indices:
        """((N,)): number of each token's document."""
        return np.repeat(np.arange(len(self.tokens.doc_lengths)), self.tokens.doc_lengths)


def held_out_tokens(tagger: GivesSets, examples: Iterable[Example]) -> HeldOutTokens:
    """Probabilities and gold of examples.

    tagger (GivesSets): the component.
    examples (Iterable[Example]): with what the component needs to see on the predicted side.
    """
    number, n_labels, unknown = {label: k for k, label in enumerate(tagger.labels)}, len(tagger.labels), 0
    nothing = np.zeros((0, n_labels))
    marginals: list[Floats] = [nothing.astype(np.float32)]
    weights: list[Doubles] = [nothing]
    orths: list[Hashes] = [np.zeros(0, dtype=np.uint64)]
    lengths: list[int] = []
    doc_lengths: list[int] = []
    for batch in minibatch(examples, BATCH_SIZE):
        docs = [example.predicted for example in batch]
        tokens = tagger.read_tokens(docs)
        # in the precision that sets are chosen in: a tie with the quantile must stay one
        marginals += tagger.token_probabilities(docs)
        rows = [row for eg in batch for row in gold_weights(eg, tagger.target, tagger.cfg["gold_tags"])]
        table = np.zeros((len(rows), n_labels))
        for token, row in enumerate(rows):
            known = {number[tag]: weight for tag, weight in row.items() if tag in number}
            unknown += bool(row) and not known
            table[token, list(known)] = list(known.values())
        weights.append(table)
        orths.append(tokens.orths)
        lengths += tokens.lengths.tolist()
        doc_lengths += tokens.doc_lengths.tolist()
    tokens = Tokens(np.concatenate(orths), np.array(lengths, dtype=np.intp), np.array(doc_lengths, dtype=np.intp))
    gold = normalise(_rescaled(np.concatenate(weights)))
    return HeldOutTokens(np.concatenate(marginals), gold, tokens, unknown)


def conformal_sets(
    held_out: HeldOutTokens,
    level: float,
    score: Score = LAC,
    condition: Condition = "marginal",
    fallback: Fallback = "pooled",
    by: Strata | None = None,
    seed: int = 0,
) -> ConformalPromise:
    """Sets that miss the gold tag of a token with a probability of at most `level`, if tokens are exchangeable.

    score (Score): if it is randomised, its numbers follow from the seed and the text, as a pipeline gives the same sets
        whenever it is asked. See `text_uniforms`.
    condition (str): "marginal", or "label" for each gold tag; with `by`, "group" for each of its groups.
    fallback (str): see `ConformalScores.at`.
    """
    tokens, own_seed = held_out.tokens, seed if score.randomised else None
    groups = None if by is None else by.groups(tokens)
    found = calibrate(held_out.marginals, held_out.weights, score, condition, groups, _uniforms(tokens, own_seed))
    return ConformalPromise(found.at(level, fallback), by, own_seed)


def risk_control(held_out: HeldOutTokens, level: float, unit: Unit = "sentence", loss: Loss = "share") -> RiskControl:
    """Sets whose expected loss on a token, sentence or document is at most `level`, if these are exchangeable."""
    units = {"token": None, "sentence": held_out.sentences, "document": held_out.documents}[unit]
    return control_risk(held_out.marginals, held_out.weights, level, unit, units, loss)


def _rescaled(weights: Doubles) -> Doubles:
    """Partial gold that has lost the share of unknown tags sums to 1 again; several right tags stay as they are."""
    totals = weights.sum(axis=1, keepdims=True)
    partial = (totals > 0) & (totals < 1)
    return np.divide(weights, totals, out=weights.copy(), where=partial)


# -- as the config has them -------------------------------------------------------------------------------------------

Guarantee: TypeAlias = ConformalPromise | RiskControl
GUARANTEES: dict[str, type[Guarantee]] = {"conformal": ConformalPromise, "risk": RiskControl}


def read_guarantee(name: str, data: Mapping[str, Any] | None) -> Guarantee:
    """Read what `python -m spacy crf guarantee` has written into the config.

    name (str): of the component, for messages.
    RAISES (ValueError): where there is nothing, or something else.
    """
    kind = (data or {}).get("kind")
    if data is None or kind not in GUARANTEES:
        raise CRFError(TagSetErrors.CRF415.format(name=name, value=kind))
    try:
        return GUARANTEES[kind].from_data({key: value for key, value in data.items() if key != "kind"})
    except (KeyError, TypeError, ValueError) as error:
        raise CRFError(TagSetErrors.CRF415.format(name=name, value=repr(error))) from error


def guarantee_data(guarantee: Guarantee) -> dict[str, Any]:
    """Return what the config stores."""
    kind = "conformal" if isinstance(guarantee, ConformalPromise) else "risk"
    return {"kind": kind, **guarantee.to_data()}

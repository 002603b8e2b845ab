"""Conformal sets as a pipeline keeps them: with the groups that they are calibrated in, and reproducible randomness."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.arrays import Bools, Doubles, Floats
from ..core.sets.conformal import LAC, Condition, ConformalSets, Fallback, Score, calibrate
from ..pipe.strata import Strata, Tokens, read_strata, text_uniforms


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

    def describe(self, stratum: int, tags: tuple[str, ...]) -> str:
        """What a group, or a tag, is called."""
        return tags[stratum] if self.by is None else self.by.describe(stratum)

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


def make_promise(
    marginals: Floats,
    weights: Doubles,
    tokens: Tokens,
    level: float,
    score: Score = LAC,
    condition: Condition = "marginal",
    fallback: Fallback = "pooled",
    by: Strata | None = None,
    seed: int = 0,
) -> ConformalPromise:
    """Sets that miss the gold tag of a token with a probability of at most `level`, if tokens are exchangeable.

    marginals ((N, L)), weights ((N, L)), tokens (Tokens): of held-out documents.
    condition (str): "marginal", or "label" for each gold tag; with `by`, "group" for each group.
    fallback (str): see `ConformalScores.at`. by (Strata | None): a predicate of tokens. seed (int): if scores are
        randomised.
    """
    own_seed = seed if score.randomised else None
    groups = None if by is None else by.groups(tokens)
    scores = calibrate(marginals, weights, score, condition, groups, _uniforms(tokens, own_seed))
    return ConformalPromise(scores.at(level, fallback), by, own_seed)


def _uniforms(tokens: Tokens, seed: int | None) -> Doubles | None:
    return None if seed is None else text_uniforms(tokens, seed)

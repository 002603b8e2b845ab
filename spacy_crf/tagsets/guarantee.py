"""Makes a promise about tag sets on data that the tagger was not trained on."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from spacy.training import Example
from spacy.util import minibatch

from ..core.arrays import Doubles, Floats, Hashes, Indices, Segments
from ..core.sets.conformal import LAC, Condition, Fallback, Score
from ..core.sets.measures import normalise
from ..core.sets.risk import Loss, RiskControl, Unit, control_risk
from ..pipe.probabilities import GivesSets
from ..pipe.strata import Strata, Tokens
from .gold import gold_weights
from .promise import ConformalPromise, make_promise

BATCH_SIZE = 256


class HeldOutTokens(NamedTuple):
    """Tokens of held-out documents that have gold, or not.

    marginals ((N, L)): as the tagger gives them. weights ((N, L)): gold; zeros where there is none.
    sentences ((N,)), documents ((N,)): numbers of each token's.
    unknown (int): tokens left out because none of their gold tags is known to the tagger.
    orths ((N,)): hashes of their forms.
    """

    marginals: Floats
    weights: Doubles
    sentences: Indices
    documents: Indices
    unknown: int
    orths: Hashes

    @property
    def tokens(self) -> Tokens:
        """What groups of tokens are told from."""
        return Tokens(self.orths, np.bincount(self.sentences), np.bincount(self.documents))


def held_out_tokens(tagger: GivesSets, examples: Iterable[Example]) -> HeldOutTokens:
    """Probabilities and gold of examples.

    tagger (GivesSets): the component.
    examples (Iterable[Example]): with what the component needs to see on the predicted side.
    """
    number, n_labels, unknown = {label: k for k, label in enumerate(tagger.labels)}, len(tagger.labels), 0
    marginals: list[Floats] = []
    weights: list[Doubles] = []
    sentences: list[int] = []
    documents: list[int] = []
    orths: list[Hashes] = [np.zeros(0, dtype=np.uint64)]
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
        sentences += tokens.lengths.tolist()
        documents += tokens.doc_lengths.tolist()
        orths.append(tokens.orths)
    shape = np.zeros((0, n_labels))
    return HeldOutTokens(
        np.concatenate([shape.astype(np.float32), *marginals]),
        normalise(_rescaled(np.concatenate([shape, *weights]))),
        Segments(np.array(sentences, dtype=np.intp)).owners,
        Segments(np.array(documents, dtype=np.intp)).owners,
        unknown,
        np.concatenate(orths),
    )


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
        whenever it is asked. See `strata.text_uniforms`.
    condition (str): "marginal", or "label" for each gold tag; with `by`, "group" for each of its groups.
    """
    found = held_out.marginals, held_out.weights, held_out.tokens
    return make_promise(*found, level, score, condition, fallback, by, seed)


def risk_control(held_out: HeldOutTokens, level: float, unit: Unit = "sentence", loss: Loss = "share") -> RiskControl:
    """Sets whose expected loss on a token, sentence or document is at most `level`, if these are exchangeable."""
    units = {"token": None, "sentence": held_out.sentences, "document": held_out.documents}[unit]
    return control_risk(held_out.marginals, held_out.weights, level, unit, units, loss)


def _rescaled(weights: Doubles) -> Doubles:
    """Partial gold that has lost the share of unknown tags sums to 1 again; several right tags stay as they are."""
    totals = weights.sum(axis=1, keepdims=True)
    partial = (totals > 0) & (totals < 1)
    return np.divide(weights, totals, out=weights.copy(), where=partial)

"""What somebody should check next: measures of uncertainty, and the expected gain of what is representative.

The measures are those of Settles and Craven (2008), https://aclanthology.org/D08-1112/. The gain takes a word that
somebody has checked for known half as badly wherever it occurs: uncertain words that are frequent come first, and each
not too often. Such a gain only falls while others are chosen, so that choosing greedily is nearly best (Nemhauser,
Wolsey and Fisher 1978).
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal

from ..core.arrays import Doubles
from ..core.chain.marginals import token_entropies
from ..core.sets.predict import Utility, utility_optimal_sets

Order = Literal["least-confidence", "margin", "entropy", "token-entropy", "utility", "gain"]
GROWS_WITH_CERTAINTY = ("least-confidence", "margin")
LEFT = 0.5  # share of the entropy of a word that is left where it was checked once more


def measure(
    probabilities: Doubles, entropy: float, token_doubts: Doubles, order: Order, per_token: bool = False
) -> float:
    """How certain, or for entropies and lost utility uncertain, a labelling is, from the probabilities ((K,)) of the
    best ones, best first, the entropy of all, and the doubts about the labels of the tokens ((n,)), see `doubts`."""
    length = max(1, len(token_doubts)) if per_token else 1
    if order == "entropy":
        return entropy / length
    if order in ("token-entropy", "utility"):
        return float(token_doubts.sum()) / length
    best = probabilities ** (1 / length)
    return float(best[0] - (best[1] if order == "margin" and len(best) > 1 else 0.0))


def doubts(marginals: Doubles, order: Order, utility: Utility) -> Doubles:
    """((N,)): the entropy of the label of each token, or for "utility" what the best set of labels is expected to lack
    of the utility of a right label alone. Both follow from marginals ((N, L)), whatever the order of the chain."""
    if order != "utility":
        return token_entropies(marginals)
    return 1 - utility_optimal_sets(marginals, utility.values(marginals.shape[1])).utilities


def rank_by_gain(groups: Sequence[Sequence[tuple[str, float]]], limit: int | None = None) -> list[tuple[int, float]]:
    """Numbers of groups of words, which are checked together, by what each tells beyond those before it.

    groups (Sequence): for each group its words, and the entropy of the tag of each. limit (int | None): how many
        groups to return at most.
    RETURNS (list): with the gain of each group, for each of its words.

    >>> rank_by_gain([[("rare", 0.6)], [("often", 0.5)], [("often", 0.5)], [("sure", 0.0)]])
    [(1, 0.5), (0, 0.3), (2, 0.25), (3, 0.0)]
    """
    words = [Counter(word for word, _ in group) for group in groups]
    unknown: defaultdict[str, float] = defaultdict(float)  # sums of the entropies of all occurrences
    for group in groups:
        for word, entropy in group:
            unknown[word] += entropy
    seen: Counter[str] = Counter()

    def gain(number: int) -> float:
        told = (unknown[word] * LEFT ** seen[word] * (1 - LEFT**count) for word, count in words[number].items())
        return sum(told) / max(1, words[number].total())

    pending = [(-gain(number), number) for number in range(len(groups))]
    heapq.heapify(pending)
    chosen: list[tuple[int, float]] = []
    while pending and len(chosen) < (len(groups) if limit is None else limit):
        _, number = heapq.heappop(pending)
        value = gain(number)
        if pending and value < -pending[0][0]:
            heapq.heappush(pending, (-value, number))
            continue
        chosen.append((number, value))
        seen.update(words[number])
    return chosen

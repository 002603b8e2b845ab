"""Why a token got its label: what each feature and transition contributes, against the runner-up.

The best labelling of the sequence is compared with the best one in which the token has its second most probable label.
Both scores are sums of weights, so that the differences of the weights sum up to the difference of the scores: nothing
is approximated. Where the runner-up asks for other labels around it (I-PER after B-PER), those tokens are part of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
from spacy.tokens import Doc

from ..annotation.parts import Markup, explanation, notebook
from ..annotation.white_space import Places, is_white_space, leave_out
from ..core.arrays import Floats, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.evidence import log_likelihoods
from ..core.chain.potentials import Observations, potentials
from ..core.errors import CRFError
from ..core.sparse import SparseRows
from ..learning.model import get_weights
from .component import ChainPipe
from .errors import PipeErrors

Kind = Literal["feature", "vector", "transition", "edge feature", "start", "end", "dictionary"]


@dataclass(frozen=True)
class Contribution:
    """What one part of the score adds to both labellings.

    token (int): of the document; for transitions, the one that they lead to.
    kind (str), name (str): "feature", "vector" (of the tok2vec layer), "transition", "edge feature", "start", "end"
        or "dictionary" (a mask of valid tags); the feature's text, or the kind again.
    labels (str), other_labels (str): what it scores in either labelling: a label, or "A > B" for a transition; ""
        stands for labels of tokens that get none.
    weight (float), other_weight (float): what it adds to the score of the chosen labelling, and of the other.
    """

    token: int
    kind: Kind
    name: str
    labels: str
    other_labels: str
    weight: float
    other_weight: float

    @property
    def difference(self) -> float:
        """How much it speaks for the chosen labelling."""
        return self.weight - self.other_weight


@dataclass(frozen=True)
class Explanation:
    """Why a token got its label.

    token (int), text (str): of the document. label (str), probability (float): the label that was chosen; "" for a
        token that gets none, punctuation or white space whose labels training has not shown, with no contributions.
    runner_up (str | None), runner_up_probability (float): the most probable other one; None where there is no other.
    difference (float): score of the chosen labelling less that of the best one with the runner-up.
    contributions (list[Contribution]): they sum up to the difference; the greatest come first.
    written (str): the label that the component sets: another one than the chain chose where constraints, a threshold,
        annotation that stays, or another `decode` than "viterbi" ask for it.
    """

    token: int
    text: str
    label: str
    probability: float
    runner_up: str | None
    runner_up_probability: float
    difference: float
    contributions: list[Contribution]
    written: str

    def _repr_html_(self) -> Markup:
        return notebook(explanation(asdict(self)))


def explain(pipe: ChainPipe, doc: Doc, tokens: Sequence[int] | None = None) -> list[Explanation]:
    """Explain the most probable labelling under the component's weights and settings, apart from constraints.

    pipe (ChainPipe): a trained component that labels tokens. doc (Doc): as the component sees it: annotated by those
        before it. tokens (Sequence[int] | None): which tokens; None: all.
    RETURNS (list[Explanation]): one for each of them. All together take O(N L^2) for N tokens and L labels, and the
        labels in which runner-ups differ.
    RAISES (ValueError): for a component without labels, or that labels other units than tokens, a model of order 2, or
        a token that the document does not have.

    >>> import spacy
    >>> from spacy_crf import explain
    >>> nlp = spacy.load("output/crf_tagger/model-best")  # `make demo` trains it
    >>> (why,) = explain(nlp.get_pipe("crf_tagger"), nlp("The boats were back by noon."), tokens=[1])
    >>> why.text, why.label, why.runner_up, why.contributions[0].name
    ('boats', 'NNS', 'NN', 'LSUFFIX1[0]=s')
    """
    if not pipe.labels_tokens:
        raise CRFError(PipeErrors.CRF742.format(name=pipe.name))
    pipe.require_labels()
    get_weights(pipe.model).require_first_order(pipe.name, "explaining labels")
    wanted = range(len(doc)) if tokens is None else tokens
    for token in wanted:
        if not 0 <= token < len(doc):
            raise CRFError(PipeErrors.CRF741.format(token=token, count=len(doc)))
    if not wanted:
        return []
    left_out = is_white_space(doc) if pipe.skips_white_space else np.zeros(len(doc), dtype=bool)
    places = Places.beside(left_out)
    if left_out[list(wanted)].all():
        return [_unlabelled(token, doc[token].text) for token in wanted]
    document, words = _Document(pipe, leave_out(doc, places)), np.cumsum(~left_out) - 1
    return [
        _unlabelled(token, doc[token].text) if left_out[token] else _placed(document.explain(int(words[token])), places)
        for token in wanted
    ]


def _unlabelled(token: int, text: str) -> Explanation:
    return Explanation(token, text, "", 1.0, None, 0.0, 0.0, [], "")


def _placed(found: Explanation, places: Places) -> Explanation:
    """What is told of a word as told of a token."""
    tokens = places.words.tolist()
    parts = [replace(part, token=tokens[part.token]) for part in found.contributions]
    return replace(found, token=tokens[found.token], contributions=parts)


class _ExplainedSequence:
    """A sequence with its best labelling, and the best ones in which a unit has another label.

    The greatest scores of what stands before and behind each label of each unit take O(T L^2), once. A rival takes as
    many steps as it differs in: where it meets the best labelling, both go on alike.
    """

    def __init__(self, observations: Observations, first: int, chain: ChainDistribution):
        self.observations, self.first = observations, first  # its first token
        self.best, self.marginals = chain.best().tolist(), chain.marginals
        self._chains, self._best_score = chain.chains, float(chain.best_scores[0])
        emissions, last = self._chains.emissions, len(self.best) - 1
        self._before, self._behind = np.empty_like(emissions), np.empty_like(emissions)
        self._before[0], self._behind[last] = self._chains.start + emissions[0], self._chains.end
        for position in range(1, last + 1):
            arriving = self._before[position - 1][:, None] + self._into(position)
            self._before[position] = arriving.max(axis=0) + emissions[position]
        for position in range(last, 0, -1):
            leaving = self._into(position) + (emissions[position] + self._behind[position])
            self._behind[position - 1] = leaving.max(axis=1)

    def lost(self, position: int, label: int) -> float:
        """The score of the best labelling less that of the best one in which a unit has a label."""
        return self._best_score - float(self._before[position, label] + self._behind[position, label])

    def rival(self, position: int, label: int) -> dict[int, int]:
        """Labels of the best labelling in which a unit has another label, at the positions where these differ."""
        found = {position: label}
        for at in range(position - 1, -1, -1):
            own = int((self._before[at] + self._into(at + 1)[:, found[at + 1]]).argmax())
            if own == self.best[at]:
                break
            found[at] = own
        for at in range(position + 1, len(self.best)):
            going_on = self._chains.emissions[at] + self._behind[at]
            own = int((self._into(at)[found[at - 1]] + going_on).argmax())
            if own == self.best[at]:
                break
            found[at] = own
        return dict(sorted(found.items()))

    def _into(self, position: int) -> Floats:
        """((L, L)): scores of the transitions into a unit."""
        return self._chains.into(slice(position, position + 1))[0]


class _Document:
    """A document under the weights of a component, in double precision."""

    def __init__(self, pipe: ChainPipe, doc: Doc):
        columns, weights = pipe.read([doc]), pipe.scores.weights.astype(np.float64)
        self._doc, self._tags, self._features = doc, pipe.tags.tags, pipe.features
        self._dense, self._layout, self._temperature = weights.dense, weights.layout, pipe.temperature
        self._sequences = Segments(columns.lengths)
        self._observations = pipe.observe(columns)
        unlabelled = pipe.unlabelled([doc], columns)
        self._unlabelled = np.zeros(len(doc), dtype=bool) if unlabelled is None else unlabelled
        known = pipe.known_tags([doc], columns)
        self._known = None if known is None else log_likelihoods(known)
        (found,) = pipe.decode([doc], pipe.decoder())
        self._current: tuple[int, _ExplainedSequence] | None = None
        self._written = pipe.annotation.written_names(doc, found.decoded, pipe.tags)

    def explain(self, token: int) -> Explanation:
        if self._unlabelled[token]:
            return _unlabelled(token, self._doc[token].text)
        sequence, position = self._sequence(int(self._sequences.owners[token])), int(self._sequences.positions[token])
        marginals, chosen = sequence.marginals[position], sequence.best[position]
        other, written = _runner_up(marginals, chosen), self._written[token]
        known = (token, self._doc[token].text, self._tags[chosen], float(marginals[chosen]))
        if other is None:
            return Explanation(*known, None, 0.0, 0.0, [], written)
        found = list(self._differences(sequence, sequence.rival(position, other)))
        found.sort(key=lambda part: -abs(part.difference))
        difference = sequence.lost(position, other)
        return Explanation(*known, self._tags[other], float(marginals[other]), difference, found, written)

    def _sequence(self, number: int) -> "_ExplainedSequence":
        """One sequence, which is decoded once for all tokens that are asked for one after the other."""
        if self._current is None or self._current[0] != number:
            units = self._sequences.slices()[number]
            observations, _ = self._observations.select(np.array([number]))
            chain = ChainDistribution(potentials(observations, self._dense, self._layout), self._temperature)
            known = None if self._known is None else self._known[units]
            self._current = number, _ExplainedSequence(observations, units.start, chain.given(known))
        return self._current[1]

    def _differences(self, sequence: "_ExplainedSequence", rival: Mapping[int, int]) -> Iterator[Contribution]:
        """What differs between the best labelling of a sequence and one with other labels at successive positions."""
        best, first, observations = sequence.best, sequence.first, sequence.observations
        for position in rival:
            yield from self._unit(observations, position, first + position, best[position], rival[position])
        for position in range(max(min(rival), 1), min(max(rival) + 2, len(best))):
            own = best[position - 1], best[position]
            others = rival.get(position - 1, own[0]), rival.get(position, own[1])
            yield from self._transition(observations, position, first + position, own, others)
        if self._layout.boundary:
            last = len(best) - 1
            yield from self._edge("start", first, self._dense.start, best[0], rival.get(0, best[0]))
            yield from self._edge("end", first + last, self._dense.end, best[last], rival.get(last, best[last]))

    def _unit(self, observations: Observations, row: int, token: int, a: int, b: int) -> Iterator[Contribution]:
        labels = self._name(token, a), self._name(token, b)
        for number, value in _row(observations.features, row):
            scores = value * self._dense.state[number, [a, b]]
            if scores.any():
                yield Contribution(token, "feature", self._features.state.name(number), *labels, *scores.tolist())
        if observations.scores is not None:
            scores = observations.scores[row, [a, b]].astype(np.float64)
            yield Contribution(token, "vector", "vector", *labels, *scores.tolist())
        if self._known is not None and self._known[token, a] != self._known[token, b]:
            yield Contribution(token, "dictionary", "dictionary", *labels, *self._known[token, [a, b]].tolist())

    def _transition(
        self, observations: Observations, row: int, token: int, a: tuple[int, int], b: tuple[int, int]
    ) -> Iterator[Contribution]:
        steps = ((self._name(token - 1, before), self._name(token, after)) for before, after in (a, b))
        labels, others = (f"{before} > {after}" for before, after in steps)
        table = self._dense.transitions
        yield Contribution(token, "transition", "transition", labels, others, float(table[a]), float(table[b]))
        if observations.edges is None:
            return
        cells = [before * len(self._tags) + after for before, after in (a, b)]
        for number, value in _row(observations.edges.features, int(observations.edges.groups[row])):
            scores = value * self._dense.edges[number, cells]
            if scores.any():
                name = self._features.edge.name(number)
                yield Contribution(token, "edge feature", name, labels, others, *scores.tolist())

    def _edge(self, kind: Kind, token: int, weights: Floats, a: int, b: int) -> Iterator[Contribution]:
        if a != b:
            labels = self._name(token, a), self._name(token, b)
            yield Contribution(token, kind, kind, *labels, float(weights[a]), float(weights[b]))

    def _name(self, token: int, label: int) -> str:
        return "" if self._unlabelled[token] else self._tags[label]


def _row(rows: SparseRows, number: int) -> Iterator[tuple[int, float]]:
    low, high = rows.indptr[number], rows.indptr[number + 1]
    values = [1.0] * int(high - low) if rows.values is None else rows.values[low:high].tolist()
    return zip(rows.indices[low:high].tolist(), values)


def _runner_up(marginals: Floats, chosen: int) -> int | None:
    """The most probable label but the chosen one, None if no other is possible."""
    others = np.where(np.arange(len(marginals)) == chosen, 0.0, marginals)
    best = int(others.argmax())
    return best if others[best] > 0 else None

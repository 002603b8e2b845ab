"""Promises about tag sets: the groups they hold for, how they are made on held-out data, and how a pipeline keeps them.

Groups are told from the text alone, with gold or without, so that they are the same when the promise is made and when
it is kept. The document that a token belongs to is no such group: sets of a document that nobody has seen would have no
quantile. What holds for documents is promised by risk control, with documents as units.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from spacy.training import Example
from spacy.util import minibatch

from ..annotation.documents import number_documents, read_doc_name
from ..core.arrays import Bools, Doubles, Floats, Hashes, Indices, Segments
from ..core.errors import CoreErrors, CRFError, require
from ..core.sets.conformal import LAC, Condition, ConformalSets, Fallback, Kind, Score, calibrate
from ..core.sets.risk import Loss, RiskControl, Unit, control_risk
from ..core.sparse import ABSENT
from ..features.columns import Columns
from ..features.hashing import mix, string_hashes
from ..pipe.probabilities import GivesSets
from ..pipe.promises import promise_data, read_promise
from .errors import TagSetErrors
from .gold import Weights, for_messages, gold_weights, weight_rows

BATCH_SIZE = 256
BITS = 53  # of a number between 0 and 1 in double precision
NO_TOKENS = Columns(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.uint64), {})


@dataclass(frozen=True)
class UnknownWords:
    """Words that are in a list, and those that are not. The promise keeps numbers for the words, for a config does not
    hold all lists of strings: it reads "$" and "$5", one behind the other, as one string.

    hashes (tuple[int, ...]): of the words of the list, ascending.
    """

    hashes: tuple[int, ...]
    kind: Literal["unknown"] = "unknown"

    @classmethod
    def of_words(cls, words: Iterable[str]) -> "UnknownWords":
        return cls(tuple(np.unique(string_hashes(list(words))).tolist()))

    def groups(self, tokens: Columns) -> Indices:
        """((N,)): 0 for words of the list, 1 for others. O(N log W)."""
        known = _sorted_hashes(self.hashes)
        places = np.searchsorted(known[:-1], tokens.orths)
        return (known[places] != tokens.orths).astype(np.intp)

    def describe(self, group: int) -> str:
        return ("known words", "unknown words")[group]

    def to_data(self) -> dict[str, Any]:
        return {"kind": self.kind, "hashes": list(self.hashes)}


@dataclass(frozen=True)
class SequenceLength:
    """Tokens by the length of their sequence, up to edges that ascend from 1; the last group has none."""

    edges: tuple[int, ...]
    kind: Literal["length"] = "length"

    def __post_init__(self) -> None:
        holds = self.edges and list(self.edges) == sorted({edge for edge in self.edges if edge > 0})
        require(CoreErrors.CRF819, "edges", list(self.edges), holds, "lengths in ascending order, at least one")

    def groups(self, tokens: Columns) -> Indices:
        return np.repeat(np.searchsorted(self.edges, tokens.lengths, side="left"), tokens.lengths)

    def describe(self, group: int) -> str:
        low = self.edges[group - 1] + 1 if group else 1
        return f"sequences of {low} " + (f"to {self.edges[group]}" if group < len(self.edges) else "or more")

    def to_data(self) -> dict[str, Any]:
        return {"kind": self.kind, "edges": list(self.edges)}


@lru_cache(maxsize=16)  # a promise is read for each batch, as settings may change at any time
def _sorted_hashes(hashes: tuple[int, ...]) -> Hashes:
    """Hashes of words, ascending, and a last one that no word has."""
    return np.append(np.sort(np.array(hashes, dtype=np.uint64)), ABSENT)


Strata: TypeAlias = UnknownWords | SequenceLength


def read_strata(data: Mapping[str, Any]) -> Strata:
    """What `to_data` wrote, or what it wrote once, with the words themselves; a KeyError or ValueError for something
    else."""
    if data["kind"] == "unknown" and "words" in data:
        return UnknownWords.of_words(data["words"])
    kind, key = {"unknown": (UnknownWords, "hashes"), "length": (SequenceLength, "edges")}[data["kind"]]
    return kind(tuple(data[key]))


def text_uniforms(tokens: Columns, seed: int) -> Doubles:
    """A number between 0 and 1 for each token, which follows from the seed, the words of its Doc and its place there.

    The same text has the same numbers whatever else is in its batch, and so the same sets. Over texts they are as good
    as independent and uniform, except that copies of a text share theirs. O(N).

    RETURNS ((N,)): numbers from [0, 1).
    """
    docs = Segments(tokens.doc_lengths[tokens.doc_lengths > 0])
    places = docs.positions.astype(np.uint64)
    # sums wrap around; places are mixed in, so that the order of words counts
    texts = np.add.reduceat(mix(tokens.orths, places), docs.firsts) if len(docs) else np.zeros(0, dtype=np.uint64)
    seeded = mix(texts, np.full(len(texts), seed % 2**64, dtype=np.uint64))
    mixed = mix(seeded[docs.owners], places)
    return (mixed >> np.uint64(64 - BITS)).astype(np.float64) / 2**BITS


@dataclass(frozen=True)
class ConformalPromise:
    """Split conformal sets of the tokens of a pipeline: quantiles at one level, by groups of condition "group", with a
    seed of randomised scores (see `text_uniforms`)."""

    sets: ConformalSets
    by: Strata | None = None
    seed: int | None = None

    @property
    def level(self) -> float:
        """Share of tokens that may miss their gold tag."""
        return self.sets.level

    def predict(self, marginals: Floats, tokens: Columns) -> Bools:
        """((N, L)): the labels in the set of each token. marginals ((N, L)): probabilities of the tokens."""
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
        return tags[group] if self.by is None else self.by.describe(group)

    def to_data(self) -> dict[str, Any]:
        by = None if self.by is None else self.by.to_data()
        return {**self.sets.to_data(), "by": by, "seed": self.seed}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ConformalPromise":
        """What `to_data` wrote; "by" and "seed" may be missing."""
        own = dict(data)
        by, seed = own.pop("by", None), own.pop("seed", None)
        return cls(ConformalSets.from_data(own), None if by is None else read_strata(by), seed)


def _uniforms(tokens: Columns, seed: int | None) -> Doubles | None:
    return None if seed is None else text_uniforms(tokens, seed)


class HeldOutTokens(NamedTuple):
    """Marginals ((N, L)) of held-out tokens, their gold ((N, W), zeros where there is none, tags that the tagger does
    not know behind the others), what groups are told from, and how many tokens have no gold tag that it knows.

    names (Sequence[str]): of the document that each Doc is, or is a part of; "" for one of its own.
    """

    marginals: Floats
    weights: Doubles
    tokens: Columns
    unknown: int = 0
    names: Sequence[str] = ()

    @property
    def sentences(self) -> Indices:
        return Segments(self.tokens.lengths).owners

    @property
    def documents(self) -> Indices:
        docs = Segments(self.tokens.doc_lengths).owners
        return number_documents(self.names)[docs] if self.names else docs


def held_out_tokens(tagger: GivesSets, examples: Iterable[Example]) -> HeldOutTokens:
    """Probabilities and gold of examples, with what the component needs to see on the predicted side.

    RAISES (ValueError): for a component that gives no sets of tags.

    >>> import spacy
    >>> from spacy_crf import Corpus, held_out_tokens
    >>> nlp = spacy.load("output/set_valued_tagger/model-best")  # `make demo` trains it
    >>> examples = Corpus("corpus/set_valued_tagger/dev", format="tagsets")(nlp)
    >>> held_out = held_out_tokens(nlp.get_pipe("set_valued_tagger"), examples)
    >>> held_out.marginals.shape == held_out.weights.shape
    True
    """
    if not isinstance(tagger, GivesSets):
        raise CRFError(TagSetErrors.CRF475.format(name=getattr(tagger, "name", tagger)))
    names, told = list[str](), list[tuple[str, int]]()
    marginals, gold, read = [np.zeros((0, len(tagger.labels)), dtype=np.float32)], list[Weights](), [NO_TOKENS]
    for batch in map(tagger.word_examples, minibatch(examples, BATCH_SIZE)):
        docs = [example.predicted for example in batch]
        names += [read_doc_name(example.reference) for example in batch]
        told += map(for_messages, batch)
        columns = tagger.read_columns(docs)
        hidden = tagger.unlabelled(docs, columns)
        read.append(replace(columns, by_attribute={}))  # what features see is not kept
        # in the precision that sets are chosen in: a tie with the quantile must stay one
        marginals += tagger.token_probabilities(docs)
        rows = [row for eg in batch for row in gold_weights(eg, tagger.target, tagger.cfg["gold_tags"])]
        # punctuation by its form gets no set from the pipeline, so that its gold, where it has some, is always missed
        gold += rows if hidden is None else [{"": 1.0} if row and no_set else row for row, no_set in zip(rows, hidden)]
    number = {tag: k for k, tag in enumerate(dict.fromkeys(chain(tagger.labels, *gold)))}
    weights = weight_rows(gold, number, told)
    unknown = sum(bool(row) and row.keys().isdisjoint(tagger.labels) for row in gold)
    doc_lengths, lengths = (np.concatenate([getattr(part, of) for part in read]) for of in ("doc_lengths", "lengths"))
    tokens = Columns(doc_lengths, lengths, np.concatenate([part.orths for part in read]), {})
    return HeldOutTokens(np.concatenate(marginals), weights, tokens, unknown, names)


def conformal_sets(
    held_out: HeldOutTokens,
    level: float,
    score: Score | Kind = LAC,
    condition: Condition = "marginal",
    fallback: Fallback = "pooled",
    by: Strata | None = None,
    seed: int = 0,
) -> ConformalPromise:
    """Sets that miss the gold tag of a token with a probability of at most `level`, if tokens are exchangeable.

    Gold tags that the tagger does not know are missed whatever the sets.

    score (Score | str): a `Score`, or its kind alone. If it is randomised, its numbers follow from the seed and the
        text, as a pipeline gives the same sets whenever it is asked. See `text_uniforms`.
    condition (str): "marginal", or "label" for each gold tag; with `by`, "group" for each of its groups.
    fallback (str): see `ConformalScores.at`.

    >>> import spacy
    >>> from spacy_crf import Corpus, conformal_sets, held_out_tokens
    >>> nlp = spacy.load("output/set_valued_tagger/model-best")  # `make demo` trains it
    >>> examples = Corpus("corpus/set_valued_tagger/dev", format="tagsets")(nlp)
    >>> promise = conformal_sets(held_out_tokens(nlp.get_pipe("set_valued_tagger"), examples), level=0.1)
    >>> promise.sets.level
    0.1
    """
    score = Score.read(score)
    tokens, own_seed = held_out.tokens, seed if score.randomised else None
    groups = None if by is None else by.groups(tokens)
    found = calibrate(held_out.marginals, held_out.weights, score, condition, groups, _uniforms(tokens, own_seed))
    return ConformalPromise(found.at(level, fallback), by, own_seed)


def risk_control(held_out: HeldOutTokens, level: float, unit: Unit = "sentence", loss: Loss = "share") -> RiskControl:
    """Sets whose expected loss on a token, sentence or document is at most `level`, if these are exchangeable.

    >>> import spacy
    >>> from spacy_crf import Corpus, held_out_tokens, risk_control
    >>> nlp = spacy.load("output/set_valued_tagger/model-best")  # `make demo` trains it
    >>> examples = Corpus("corpus/set_valued_tagger/dev", format="tagsets")(nlp)
    >>> promise = risk_control(held_out_tokens(nlp.get_pipe("set_valued_tagger"), examples), level=0.1)
    >>> promise.risk <= promise.level
    True
    """
    units = {"sentence": held_out.sentences, "document": held_out.documents}.get(unit)
    return control_risk(held_out.marginals, held_out.weights, level, unit, units, loss)


Guarantee: TypeAlias = ConformalPromise | RiskControl
GUARANTEES: dict[str, type[Guarantee]] = {"conformal": ConformalPromise, "risk": RiskControl}


def read_guarantee(name: str, data: Mapping[str, Any] | None) -> Guarantee:
    """Read what `python -m spacy crf guarantee` has written into the config. name (str): for messages."""
    return read_promise(name, data, GUARANTEES)


def guarantee_data(guarantee: Guarantee, tagger: GivesSets) -> dict[str, Any]:
    """What the config keeps of a promise, and of the tagger that it was made with."""
    (kind,) = (kind for kind, own in GUARANTEES.items() if isinstance(guarantee, own))
    return promise_data(kind, guarantee, tagger)

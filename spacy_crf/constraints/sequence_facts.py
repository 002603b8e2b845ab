"""What constraints ask about the tokens of Docs, and no more: predicates, surfaces, labels that are there already."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..annotation.target import Target
from ..core.arrays import Hashes, Indices, Ints
from ..core.constraints.families import Boundary, Constraint, Fixed, SameSurface, StateChange
from ..core.constraints.predicates import NOTHING, UnitFacts
from ..core.errors import excerpt
from ..core.labels import TagSet
from ..pipe.constrained import SequenceFacts
from .token_predicates import FactReader, surfaces


@dataclass(frozen=True)
class Annotation:
    """Where labels are that are there already.

    target (Target): what is annotated. tags (TagSet): of the chain.
    """

    target: Target
    tags: TagSet

    def fixed(self, docs: Sequence[Doc], lengths: Indices) -> Ints:
        """((N,)): the tag that each token has to have, NOTHING where it is open.

        lengths ((B,)): of the sequences that the Docs consist of.
        """
        allowed = self.target.evidence(docs, lengths, self.tags)
        one = (allowed.sum(axis=1) == 1) & (len(self.tags) > 1)
        return np.where(one, allowed.argmax(axis=1), NOTHING).astype(np.int32)


def sequence_facts(
    docs: Sequence[Doc],
    orths: Hashes,
    lengths: Indices,
    vocab: Vocab,
    constraints: Sequence[Constraint],
    reader: FactReader,
    annotation: Annotation,
    predicates: Sequence[str] = (),
) -> SequenceFacts:
    """What constraints ask for.

    orths ((N,)): word forms of the tokens, one Doc after the other. lengths ((B,)): of the sequences of the Docs.
    reader (FactReader): knows the predicates. annotation (Annotation): holds labels that are there already.
    predicates (sequence of str): more of them.
    RETURNS (SequenceFacts): sequences bear the names of their Docs.
    """
    asked = [one.at for one in constraints if isinstance(one, StateChange | Boundary)]
    wanted = dict.fromkeys([*asked, *predicates])
    facts = UnitFacts(
        len(orths),
        reader.predicates(docs, orths, vocab, list(wanted)),
        surfaces(orths, vocab) if any(isinstance(one, SameSurface) for one in constraints) else None,
        annotation.fixed(docs, lengths) if any(isinstance(one, Fixed) for one in constraints) else None,
    )
    ends = np.cumsum([len(doc) for doc in docs])
    owners = np.searchsorted(ends, np.cumsum(lengths)).tolist()
    names = [excerpt(doc.text) for doc in docs]
    return SequenceFacts(facts, [names[owner] for owner in owners])

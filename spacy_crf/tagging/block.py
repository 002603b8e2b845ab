"""The block of `crf_tagger`; settings that all chains share, and the check, are in `pipe.block`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from spacy.language import Language
from spacy.pipeline import Pipe

from ..pipe.block import MOST_LISTED, SPAN_TARGETS, Decode, LabelSettings, component, own_names

LEAST_PROBABLE = 0.01  # of the spans that are looked for: there are ever more that are less probable


@dataclass(kw_only=True)
class TaggerSettings(LabelSettings):
    """Settings of `crf_tagger`: a linear-chain CRF for tags, chunks and entities.

    decode (str): "viterbi" for the most probable sequence, "posterior" for the allowed one with the greatest expected
        number of right tags, which order 2 wants where punctuation is context. "spans", for targets of spans: of all
        spans whose exact probability is above `threshold`, those, no two of which overlap, with the greatest sum of
        probabilities above it. A low threshold finds more spans than the most probable sequence has, and half of the
        F that one expects gives the best F; it is at least 0.01.
    given (bool): whether annotation of the target that is there is evidence: tags and probabilities of the others are
        conditioned on it. Entities and blocked tokens are evidence, tokens outside of entities are not.
    n_best (int): how many of the best sequences to list, with their probabilities, at most 10,000; 0: none.
    n_best_key (str): name of the Doc extension that takes them.
    entropy (str | None): name of a Doc extension that takes the entropies of sequences and of tokens.
    """

    decode: Decode | Literal["spans"] = "viterbi"
    given: bool = False
    n_best: int = 0
    n_best_key: str = "n_best"
    entropy: str | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if not 0 <= self.n_best <= MOST_LISTED:
            yield "n_best", f"0, or the number of sequences to list, at most {MOST_LISTED:,}"
        if self.decode == "spans":
            if self.target not in SPAN_TARGETS or self.scheme == "none" or self.forbidden:
                yield "decode", "'viterbi' or 'posterior' for tokens, with scheme = 'none', and beside `forbidden`"
            if self.least_probability < LEAST_PROBABLE:
                yield "threshold", f"'auto', or from {LEAST_PROBABLE}, where decode = 'spans'"
        names = {"target": self.target, "marginals": self.marginals, "entropy": self.entropy}
        yield from own_names({**names, "n_best_key": self.n_best_key})

    def told(self) -> Iterator[tuple[str, str]]:
        yield from super().told()
        if self.n_best:
            yield self.n_best_key, "n_best_key"
        if self.entropy is not None:
            yield self.entropy, "entropy"

    def probabilistic(self) -> Iterator[str]:
        yield from super().probabilistic()
        yield from (f"the setting `{one}`" for one in ("n_best", "entropy") if getattr(self, one))
        if self.decode != "viterbi":
            yield f"decode = '{self.decode}'"


@component(
    "crf_tagger",
    TaggerSettings,
    assigns=["token.tag", "token.pos", "doc.ents", "token.ent_iob", "token.ent_type", "doc.spans"],
    scores={"crf_score": 1.0},  # those of the target are reported from `initialize` on
)
def make_crf_tagger(nlp: Language, name: str, settings: TaggerSettings) -> Pipe:
    """Construct a CRF tagger."""
    from .component import CRFTagger

    return CRFTagger(nlp.vocab, settings, name)

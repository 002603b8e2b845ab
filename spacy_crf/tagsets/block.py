"""The block of `set_valued_tagger`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.util import registry

from ..pipe.block import Decode, Scorer, TagSettings, component, fixed, nested, own_names

Method = Literal["utility", "mass", "size", "hierarchy", "guarantee"]
LearnFrom = Literal["soft", "marginal", "best", "augmented"]


@registry.misc("spacy_crf.TagTree.v1")
@dataclass(frozen=True)
class TreeSettings:
    """A tree of tags, for `method = "hierarchy"`.

    path (str | None): a TSV file `child<TAB>parent`, in which every tag has a parent, and parents may have some again;
        read by `initialize` and saved with the component. Empty lines, and those that begin with # and have no tab, are
        skipped.
    separator (str | None): instead of a file: with ".", NA.Dat and NA.Akk are below NA.*, and all tags below *.
    RAISES (ValueError): unless there is one of the two.
    """

    path: str | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        from ..core.errors import CRFError
        from .errors import TagSetErrors

        if bool(self.path) == bool(self.separator):
            raise CRFError(TagSetErrors.CRF554)

    def read_parents(self) -> list[list[str]]:
        """The pairs of the file, none without one."""
        from .rules import read_parents

        return [list(pair) for pair in read_parents(self.path).items()] if self.path else []


@dataclass(kw_only=True)
class SetSettings(TagSettings):
    """Settings of `set_valued_tagger`: a CRF tagger that gives each token the set of tags that suits its probabilities.

    source (str | None): name of an earlier component whose probabilities are taken: spaCy's tagger, a crf_tagger,
        frequency_tagger, hmm_tagger or memm_tagger. Then nothing is learned here, and none of the settings of training
        is read, nor are `learn_from` and `sequences`; `temperature`, `forbidden` and `dictionary` are those of the
        source, and refused here. It is looked up in the pipeline that this component was made in:
        do not take this component over from another pipeline, but make a new one. `target` must be what the source
        tags, or there are no scores; a morphologizer gives no tags, but features that no gold is compared with.
    target (str): "tag" (token.tag) or "pos" (token.pos): the single best tag, and what is learned where there is no
        weighted gold.
    method (str): how sets are chosen. "utility": of greatest expected utility. "mass": the smallest ones with a
        probability of at least `coverage`, if the probabilities are right. "size": the `size` most probable tags.
        "hierarchy": the tags below one node of a tag tree, the node of greatest expected utility.
        "guarantee": so that a promise holds that `python -m spacy crf guarantee` has made on held-out data.
    utility (str): "g", "precision", "recall", "f", "u65", "u80" or "reject" (see `core.sets.predict`).
    alpha (float): of the utility, from 0 to 1: smaller ones make larger sets.
    beta (float): of the utility, 0 or above: larger ones make larger sets.
    coverage (float): for "mass".
    size (int): for "size".
    guarantee (dict | None): for "guarantee". Vectors that come from another component, by a listener, are part of the
        model that the promise was made with, but that they change is not noticed.
    hierarchy (TreeSettings | None): for "hierarchy": a block spacy_crf.TagTree.v1, with a file of tags and their
        parents, or with the separator in the names of tags; where `source` is set, with a separator.
    learn_from (str): what weighted gold teaches. "soft": its weights, of which trainers that learn from mistakes
        (Perceptron, PassiveAggressive, AROW) take the greatest. "marginal": that one of its tags is right.
        "best": its best tag. "augmented": each of its tags in a copy of the document.
    sequences (int): the most whole tag sequences that `doc._.tag_sequences` may list for a sentence; 0: none are.
    sequence_mass (float): probability that the listed sequences of a sentence have together, if there are enough.
    decode (str): "viterbi" for the most probable sequence, "posterior" for the allowed one with the greatest expected
        number of right tags, which order 2 wants where punctuation is context.
    tag_set (str): name of the custom attribute of Docs and tokens for the sets.
    tag_probs (str): name of the one for the probabilities.
    tag_sequences (str): name of the one of Docs for whole sequences.
    tag_nodes (str): name of the one for the node of each token's set, for "hierarchy".
    gold_tags (str): name of the custom token attribute with weighted gold, a dict from tag to weight; for parts of
        speech without any there, `gold_pos` has that of CoNLL-U.
    """

    source: str | None = fixed(None)
    target: Literal["tag", "pos"] = fixed("tag", shown=True)
    method: Method = "utility"
    utility: str = "g"
    alpha: float = 1.0
    beta: float = 1.0
    coverage: float = 0.95
    size: int = 2
    guarantee: dict[str, Any] | None = None
    hierarchy: TreeSettings | None = fixed(None)
    learn_from: LearnFrom = "soft"
    sequences: int = 0
    sequence_mass: float = 0.9
    decode: Decode = "viterbi"
    tag_set: str = "tag_set"
    tag_probs: str = "tag_probs"
    tag_sequences: str = "tag_sequences"
    tag_nodes: str = "tag_nodes"
    gold_tags: str = "gold_tags"
    scorer: Scorer = nested("scorers", "spacy_crf.set_tagger_scorer.v1")

    def idle(self) -> Iterator[tuple[str, str]]:
        yield from super().idle()
        owners = {"coverage": "mass", "size": "size", "hierarchy": "hierarchy"}  # a promise may wait for its method
        yield from ((one, f"method = {method!r}") for one, method in owners.items() if method != self.method)
        if self.utility not in ("g", "reject"):
            yield "alpha", "utility = 'g' or 'reject'"
        if self.utility not in ("g", "f"):
            yield "beta", "utility = 'g' or 'f'"
        if not self.sequences:
            yield "sequence_mass", "sequences above 0"

    def told(self) -> Iterator[tuple[str, str]]:
        asked = {"tag_set": True, "tag_probs": True}
        asked |= {"tag_sequences": self.sequences > 0, "tag_nodes": self.method == "hierarchy"}
        yield from ((getattr(self, name), name) for name, is_told in asked.items() if is_told)

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        names = ("target", "tag_set", "tag_probs", "tag_sequences", "tag_nodes", "gold_tags")
        yield from own_names({name: getattr(self, name) for name in names})
        yield from own_names({"source": self.source})
        if not 0 <= self.coverage <= 1:
            yield "coverage", "from 0 to 1"
        if self.size < 1:
            yield "size", "at least 1"
        if self.sequences < 0:
            yield "sequences", "0, or the most sequences that a set may have"
        if not 0 < self.sequence_mass < 1:
            yield "sequence_mass", "between 0 and 1"
        if self.method == "hierarchy" and self.hierarchy is None:
            yield "hierarchy", "a block spacy_crf.TagTree.v1 for method = 'hierarchy'"
        if self.source is not None and self.hierarchy is not None and self.hierarchy.path is not None:
            yield "hierarchy.path", "left out where `source` is set"
        if self.source is not None:
            where = "where `source` is set: its probabilities hold. A saved pipeline has it in config.cfg"
            for setting, usual in (("temperature", 1.0), ("forbidden", []), ("dictionary", None)):
                if getattr(self, setting) != usual:
                    yield setting, f"{usual!r}, or left out, {where}"

    def probabilistic(self) -> Iterator[str]:
        yield "every tag set"

    def check(self, name: str) -> None:
        from ..core.errors import CRFError
        from ..core.sets.predict import make_utility
        from .errors import TagSetErrors

        super().check(name)
        make_utility(self.utility, self.alpha, self.beta)
        own = self.dictionary
        if self.learn_from == "augmented" and own is not None and own.in_training:
            raise CRFError(TagSetErrors.CRF434.format(name=name))


@component(
    "set_valued_tagger",
    SetSettings,
    assigns=["token.tag", "token.pos", "token._.tag_set", "token._.tag_probs"],
    scores={"ml_util": 0.5, "ml_acc": 0.5, **dict.fromkeys(("set_coverage", "set_size", "set_singletons"))},
)
def make_set_valued_tagger(nlp: Language, name: str, settings: SetSettings) -> Pipe:
    """Construct a set-valued tagger."""
    from .component import SetValuedTagger, SourcedSetTagger

    if settings.source is not None:
        return SourcedSetTagger(nlp, settings, name)
    return SetValuedTagger(nlp.vocab, settings, name)

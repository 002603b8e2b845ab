"""The block of `section_parser`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from spacy.language import Language
from spacy.pipeline import Pipe

from ..learning.block import LBFGSSettings
from ..pipe.block import ChainSettings, Scorer, component, empty, fixed, is_positive, nested
from .features.block import UnitFeatureSettings

Labeller = Literal["auto", "chain", "rules"]
Markup = Literal["trust", "prefer", "ignore"]
ParserKind = Literal["stack", "grammar"]


@dataclass(kw_only=True)
class SectionSettings(ChainSettings):
    """Settings of `section_parser`: it labels the layout elements of a document and nests its sections.

    It reads the text of a Doc, and the formatting that `attach_layout` gave it; of its tokens only where they begin, as
    no element begins within one. It needs no other component and no training: until it is trained, rules label the
    elements. Lines end with "\\n", and numberings have the figures 0 to 9: other line ends, a byte order mark and other
    figures are to be replaced before, as `read_layout` does with line ends and byte order marks.

    features (UnitFeatureSettings): spacy_crf.UnitFeatures.v1, what the chain sees of the elements, and word lists.
    labeller (str): what labels the elements: "chain", "rules", or "auto": rules until there is a trained chain.
    markup (str): how far it goes by the headings that Markdown, HTML, DOCX, LaTeX, Docling or bookmarks of PDF name.
        "trust": in a document that has some, they are the headings, and their levels the tree; no number opens a
        section by itself. "prefer": the same is evidence, which the labels and the tree overrule at a price. "ignore":
        they are lines as any others.
    roles (dict[str, str]): labels for "number", "title", "text" and "newline", if they are not NR, SECTION_TITLE,
        TEXT_BLOCK and NEWLINE. Other labels of the training data count as text for the tree.
    candidates_only (bool): only numbering candidates may have the label of numbers, which is as the rules have it; if
        not, the chain may give it to any element.
    joint (bool): labels are decided together with the tree, from their probabilities; if not, the tree is built from
        the labels of the chain.
    label_weight (float): what the log probabilities of labels are multiplied by where they are decided together with
        the tree: above 1, the tree overrules fewer labels.
    parser (str): what builds the tree: "stack", over stacks of open sections, or "grammar", by CYK, for documents of up
        to 500 elements. Each has weights of its own: the one that training has not seen goes by those set by hand.
    grammar (str): for that parser: "thesis" or "thesis_code", the grammars of Trompper's thesis, or the path of one. It
        is saved with the model.
    learn_tree (bool): learn the weights of the tree parser from the trees of the training examples, in the first step;
        if not, or without any tree, those set by hand, or written in the grammar, stay.
    tree_c2 (float): penalty on what the learned weights differ from these.
    max_states (int | None): stacks of open sections that the stack parser keeps at each heading; null keeps all, as
        long as a document takes no more than 1,000,000 moves between them, and then, with a warning, the best 100. The
        tree says whether it is certain to be the best of all (`exact`); probabilities are shares of the trees of the
        stacks that are kept.
    elements_key (str): key of doc.spans for elements.
    sections_key (str): key of doc.spans for sections. Of several section parsers in a pipeline, `doc._.section_tree` is
        the last one's, and so are the scores of trees.
    """

    full_batch: ClassVar[LBFGSSettings] = LBFGSSettings(c2=0.05)  # a Gaussian prior of variance 10
    features: UnitFeatureSettings = nested("misc", "spacy_crf.UnitFeatures.v1", templates=["@sections"])
    labeller: Labeller = "auto"
    markup: Markup = "prefer"
    roles: dict[str, str] = empty(dict, fixed=True)
    candidates_only: bool = True
    joint: bool = True
    label_weight: float = 1.0
    parser: ParserKind = "stack"
    grammar: str = fixed("thesis", shown=True)
    learn_tree: bool = True
    tree_c2: float = 0.05
    max_states: int | None = 24
    elements_key: str = "elements"
    sections_key: str = "sections"
    scorer: Scorer = nested("scorers", "spacy_crf.section_parser_scorer.v1")

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from super().problems()
        if not is_positive(self.label_weight):
            yield "label_weight", "a positive number"
        if not (is_positive(self.tree_c2) or self.tree_c2 == 0):
            yield "tree_c2", "0 or a positive number"
        if self.max_states is not None and self.max_states < 1:
            yield "max_states", "at least 1, or null for all stacks"
        if not self.grammar:
            yield "grammar", "the name of a grammar, or a path"
        if not self.elements_key:
            yield "elements_key", "a key of doc.spans"
        if self.sections_key in ("", self.elements_key):
            yield "sections_key", "a key of its own"

    def told(self) -> Iterator[tuple[str, str]]:
        yield "section_tree", ""

    def probabilistic(self) -> Iterator[str]:
        yield "every tree of sections"


@component(
    "section_parser",
    SectionSettings,
    assigns=["doc.spans", "doc._.section_tree"],
    scores={
        "elements_acc": 0.0,
        "elements_macro_f": 0.5,
        "elements_f_per_type": None,
        "parseval_p": 0.0,
        "parseval_r": 0.0,
        "parseval_f": 0.5,
    },
)
def make_section_parser(nlp: Language, name: str, settings: SectionSettings) -> Pipe:
    """Construct a section parser."""
    from .component import SectionParser

    return SectionParser(nlp.vocab, settings, name)

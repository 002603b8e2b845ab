"""Makes the section parser from a config."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from ..learning.block import Trainer
from ..learning.model import ChainModel
from .component import Labeller, ParserKind, SectionParser
from .features.block import UnitFeatureSettings

DEFAULT_CONFIG: dict[str, Any] = {
    "model": {"@architectures": "spacy_crf.LinearChain.v1"},
    "features": {"@misc": "spacy_crf.UnitFeatures.v1", "templates": ["@sections"]},
    # a Gaussian prior of variance 10
    "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.05},
    "labeller": "auto",
    "roles": {},
    "candidates_only": True,
    "temperature": 1.0,
    "joint": True,
    "label_weight": 1.0,
    "parser": "stack",
    "grammar": "thesis",
    "learn_tree": True,
    "tree_c2": 0.05,
    "max_states": 24,
    "elements_key": "elements",
    "sections_key": "sections",
    "scorer": {"@scorers": "spacy_crf.section_parser_scorer.v1"},
}
SCORE_WEIGHTS: dict[str, float | None] = {
    "elements_acc": 0.0,
    "elements_macro_f": 0.5,
    "elements_f_per_type": None,
    "parseval_p": 0.0,
    "parseval_r": 0.0,
    "parseval_f": 0.5,
}


@Language.factory(
    "section_parser",
    assigns=["doc.spans", "doc._.section_tree"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_section_parser(
    nlp: Language,
    name: str,
    model: ChainModel,
    features: UnitFeatureSettings,
    trainer: Trainer,
    labeller: Labeller,
    roles: dict[str, str],
    candidates_only: bool,
    temperature: float,
    joint: bool,
    label_weight: float,
    parser: ParserKind,
    grammar: str,
    learn_tree: bool,
    tree_c2: float,
    max_states: int | None,
    elements_key: str,
    sections_key: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> SectionParser:
    """Construct a section parser.

    It reads the text of a Doc, and the formatting that `layout.attach_layout` gave it, not its tokens. It needs
    no other component and no training: until it is trained, rules label the elements.

    model (Model): spacy_crf.LinearChain.v1, the chain over elements.
    features (UnitFeatureSettings): spacy_crf.UnitFeatures.v1, what the chain sees of them, and word lists.
    trainer (Trainer): spacy_crf.LBFGS.v1 (with the batcher spacy_crf.full_batch.v1) or any other.
    labeller (str): what labels the elements: "chain", "rules", or "auto": rules until there is a trained chain.
    roles (dict[str, str]): labels for "number", "title", "text" and "newline", if they are not NR, SECTION_TITLE,
        TEXT_BLOCK and NEWLINE. Other labels of the training data count as text for the tree.
    candidates_only (bool): only numbering candidates may have the label of numbers, which is as the rules have it; if
        not, the chain may give it to any element.
    temperature (float): scores of the chain are divided by it before they become probabilities.
    joint (bool): labels are decided together with the tree, from their probabilities; if not, the tree is built from
        the labels of the chain.
    label_weight (float): what the log probabilities of labels are multiplied by where they are decided together with
        the tree: above 1, the tree overrules fewer labels.
    parser (str): what builds the tree: "stack", over stacks of open sections, or "grammar", by CYK, for documents of up
        to 500 elements.
    grammar (str): for that parser: "thesis" or "thesis_code", the grammars of Trompper's thesis, or the path of one. It
        is saved with the model.
    learn_tree (bool): learn the weights of the tree parser from the trees of the training examples, in the first step;
        if not, or without any tree, those set by hand, or written in the grammar, stay.
    tree_c2 (float): penalty on what the learned weights differ from these.
    max_states (int | None): stacks of open sections that the stack parser keeps at each heading; null keeps all, which
        is exact, but may take long for long documents.
    elements_key (str), sections_key (str): keys of doc.spans for elements and sections.
    scorer (Callable | None): how it is evaluated.
    RETURNS (SectionParser): the component.
    """
    return SectionParser(
        nlp.vocab,
        model,
        name,
        features=features,
        trainer=trainer,
        labeller=labeller,
        roles=roles,
        candidates_only=candidates_only,
        temperature=temperature,
        joint=joint,
        label_weight=label_weight,
        parser=parser,
        grammar=grammar,
        learn_tree=learn_tree,
        tree_c2=tree_c2,
        max_states=max_states,
        elements_key=elements_key,
        sections_key=sections_key,
        scorer=scorer,
    )

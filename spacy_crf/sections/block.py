"""The block of `section_parser`, and of its features, whose units are layout elements."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from spacy import registry
from spacy.language import Language
from spacy.pipeline import Pipe

from ..core.errors import CRFError
from ..features.block import Docs, FeatureSettings, Splitter
from ..learning.block import LBFGSSettings
from ..pipe.block import ChainSettings, Scorer, component, empty, fixed, is_positive, nested

if TYPE_CHECKING:
    from ..features.resources import Lexicon, Resources
    from ..features.templates import Template
    from .features.reader import UnitReader

Labeller = Literal["auto", "chain", "rules"]
Markup = Literal["trust", "prefer", "ignore"]
ParserKind = Literal["stack", "grammar"]


@registry.misc("spacy_crf.UnitFeatures.v1")
@dataclass(frozen=True)
class UnitFeatureSettings(FeatureSettings):
    """Templates over layout elements (lines, numberings, titles) and the word lists that belong to them.

    templates (list[str]): in the language of `spacy_crf.features.templates`, with UNIT(name) for what is known of a
        unit; `@sections` is a ready-made set, `@headings` one nearly without words, for texts of any kind.
    min_count (int): state features seen less often in training are left out.
    min_edge_count (int): the same for edge features.
    languages (list[str] | None): built-in word lists, of "de", "en", "es", "fr", "it" and "nl"; None for all.
    lists (dict[str, str] | None): more word lists by name: paths of TSV files, `phrase<TAB>class`.
    newlines (bool): whether blank lines are units of the chain. If not, they are passed over and get their label
        without it, and features of the neighbours are those of what stands beside them.
    padding (bool): give positions outside the document values of their own instead of none.
    max_features (int): hash features to at most so many buckets; 0: each feature has a number of its own.
    RAISES (ValueError): for a template or a language that is not known.
    """

    templates: list[str]
    min_count: int = 1
    min_edge_count: int = 1
    languages: list[str] | None = None
    lists: dict[str, str] | None = None
    newlines: bool = True
    padding: bool = True
    max_features: int = 0
    spelling: None = field(default=None, init=False)
    classes: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        from .errors import SectionErrors
        from .features.text import LANGUAGES

        for language in self.languages or ():
            if language not in LANGUAGES:
                raise CRFError(SectionErrors.CRF968.format(language=language, known=", ".join(LANGUAGES)))
        super().__post_init__()

    @cached_property
    def parsed(self) -> "list[Template]":
        """The templates, with ranges and presets expanded."""
        from ..features.templates import parse_templates
        from .features.reader import PRESETS

        return parse_templates([part for text in self.templates for part in PRESETS.get(text.strip(), [text])])

    def check(self, template: "Template") -> None:
        """Raise a coded error for what no unit has. Classes of words are free: own lists may bring new ones."""
        from difflib import get_close_matches

        from .errors import SectionErrors
        from .features.reader import FEATURES
        from .features.text import RELATIONS

        for attribute in (atom.attribute for atom in template.atoms):
            name = attribute.key if attribute.is_of_units else attribute.name
            known = FEATURES if attribute.is_of_units else ("BIAS", "BOS", "EOS")
            is_of_list = attribute.is_of_units and " " in name and name.partition(" ")[0] in RELATIONS
            if name not in known and not is_of_list:
                near = ", ".join(get_close_matches(name, FEATURES, n=3, cutoff=0.4)) or "kind, words, case, is title"
                raise CRFError(SectionErrors.CRF965.format(template=template, attribute=attribute, near=near))

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield nothing: features of units ask for lists by other names."""
        yield from ()

    def make_resources(self, split: Splitter, docs: Docs = tuple, fitted: "Lexicon | None" = None) -> "Resources":
        """Word lists, the built-in ones and those of `lists`.

        RAISES (ValueError): for a file that cannot be read, or a line that is no entry.
        """
        from ..features.resources import Resources
        from .features.text import by_class, read_list

        own = {name: read_list(name, Path(path)) for name, path in sorted((self.lists or {}).items())}
        return Resources({**self.empty_resources().lists, **by_class(own)})

    def empty_resources(self) -> "Resources":
        """The built-in word lists: components that were never trained use them."""
        from ..features.resources import Resources
        from .features.text import LANGUAGES, built_in, by_class

        chosen = LANGUAGES if self.languages is None else self.languages
        return Resources(by_class({name: built_in(name) for name in chosen}))

    def make_reader(self, resources: "Resources") -> "UnitReader":
        """Make a reader of units, with the phrases of the word lists."""
        from .features.reader import UnitReader
        from .features.text import Phrases

        attributes = dict.fromkeys(atom.attribute for template in self.parsed for atom in template.atoms)
        return UnitReader(list(attributes), Phrases.of_lists(resources.lists.values()), self.newlines)


@dataclass(kw_only=True)
class SectionSettings(ChainSettings):
    """Settings of `section_parser`: it labels the layout elements of a document and nests its sections.

    It reads the text of a Doc, and the formatting that `attach_layout` gave it; of its tokens only where they begin, as
    no element begins within one. It needs no other component and no training: until it is trained, rules label the
    elements. Lines end with "\\n", and numberings have the figures 0 to 9: other line ends, a byte order mark and other
    figures are to be replaced before, as `read_layout` does with line ends and byte order marks.

    features (UnitFeatureSettings): spacy_crf.UnitFeatures.v1, what the chain sees of the elements, and word lists.
    labeller (str): what labels the elements: "chain", "rules", or "auto": rules until there is a trained chain. With
        "rules", texts to train on need no gold of sections: those that other components of the pipeline learn from.
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
        if not, or without any tree, those set by hand, or written in the grammar, stay. The stack parser also learns
        what the words of titles without numbers tell of their levels.
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

    def idle(self) -> Iterator[tuple[str, str]]:
        if self.parser == "stack":
            yield "grammar", "parser = 'grammar'"
        else:
            yield "max_states", "parser = 'stack'"
        if not self.learn_tree:
            yield "tree_c2", "learn_tree = true"
        if not self.joint:
            yield "label_weight", "joint = true"

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

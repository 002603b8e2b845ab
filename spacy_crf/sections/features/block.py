"""The `features` block of components whose units are layout elements."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from spacy import registry

from ...core.errors import CRFError
from ...features.block import Docs, FeatureSettings, Splitter

if TYPE_CHECKING:
    from ...features.resources import Lexicon, Resources
    from ...features.templates import Template
    from .reader import UnitReader


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
        from ..errors import SectionErrors
        from .text import LANGUAGES

        for language in self.languages or ():
            if language not in LANGUAGES:
                raise CRFError(SectionErrors.CRF968.format(language=language, known=", ".join(LANGUAGES)))
        super().__post_init__()

    @cached_property
    def parsed(self) -> "list[Template]":
        """The templates, with ranges and presets expanded."""
        from ...features.templates import parse_templates
        from .reader import PRESETS

        return parse_templates([part for text in self.templates for part in PRESETS.get(text.strip(), [text])])

    def check(self, template: "Template") -> None:
        """Raise a coded error for what no unit has. Classes of words are free: own lists may bring new ones."""
        from difflib import get_close_matches

        from ..errors import SectionErrors
        from .reader import FEATURES, RELATIONS

        for attribute in (atom.attribute for atom in template.atoms):
            name = attribute.key if attribute.is_of_units else attribute.name
            known = FEATURES if attribute.is_of_units else ("BIAS", "BOS", "EOS")
            is_of_list = attribute.is_of_units and " " in name and name.partition(" ")[0] in RELATIONS
            if name not in known and not is_of_list:
                near = ", ".join(get_close_matches(name, FEATURES, n=3, cutoff=0.4)) or "kind, words, case, is title"
                raise CRFError(SectionErrors.CRF965.format(template=template, attribute=attribute, near=near))

    def make_resources(self, split: Splitter, docs: Docs = tuple, fitted: "Lexicon | None" = None) -> "Resources":
        """Word lists, the built-in ones and those of `lists`.

        RAISES (ValueError): for a file that cannot be read, or a line that is no entry.
        """
        from ...features.resources import Resources
        from .text import by_class, read_list

        own = {name: read_list(name, Path(path)) for name, path in sorted((self.lists or {}).items())}
        return Resources({**self.empty_resources().lists, **by_class(own)})

    def empty_resources(self) -> "Resources":
        """The built-in word lists: components that were never trained use them."""
        from ...features.resources import Resources
        from .text import LANGUAGES, built_in, by_class

        chosen = LANGUAGES if self.languages is None else self.languages
        return Resources(by_class({name: built_in(name) for name in chosen}))

    def make_reader(self, resources: "Resources") -> "UnitReader":
        """Make a reader of units, with the phrases of the word lists."""
        from .reader import UnitReader
        from .text import Phrases

        attributes = dict.fromkeys(atom.attribute for template in self.parsed for atom in template.atoms)
        return UnitReader(list(attributes), Phrases.of_lists(resources.lists.values()), self.newlines)

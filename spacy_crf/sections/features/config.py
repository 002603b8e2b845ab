"""The `features` block of components whose units are layout elements."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spacy import registry
from spacy.language import Language

from ...core.errors import CRFError
from ...features.block import FeatureSettings, Texts
from ...features.errors import FeatureErrors
from ...features.resources import Resources, WordList
from ...features.templates import Template
from ..errors import SectionErrors
from . import catalogue
from .phrases import LANGUAGES, RELATIONS, Entries, Phrases, built_in, parse_list
from .presets import PRESETS
from .reader import UnitReader

_POSITIONAL = ("BIAS", "BOS", "EOS")


@dataclass(frozen=True)
class UnitFeatureSettings(FeatureSettings):
    """What a component sees of layout elements.

    languages (tuple[str, ...]): of the built-in word lists. newlines (bool): whether blank lines are units of the
        chain; if not, they get their label without it.
    """

    languages: tuple[str, ...] = LANGUAGES
    newlines: bool = True

    def check(self, template: Template) -> None:
        """Raise a coded error for what no unit has. Classes of words are free: own lists may bring new ones."""
        for atom in template.atoms:
            name = atom.attribute.key if atom.attribute.is_of_units else atom.attribute.name
            known = catalogue.names() if atom.attribute.is_of_units else _POSITIONAL
            is_of_list = atom.attribute.is_of_units and name.partition(" ")[0] in RELATIONS
            if name not in known and not (is_of_list and name not in ("is", "has")):
                near = difflib.get_close_matches(name, catalogue.names(), n=3, cutoff=0.4)
                found = {"template": str(template), "attribute": str(atom.attribute)}
                listed = ", ".join(near) or "kind, words, case, is title"
                raise CRFError(SectionErrors.CRF965.format(**found, near=listed))

    def make_resources(
        self,
        nlp: Language | None,
        count: Callable[[], Mapping[str, int]] = dict[str, int],
        texts: Texts = list[list[str]],
    ) -> Resources:
        """Word lists, the built-in ones and those of `lists`.

        RAISES (ValueError): for a file that cannot be read, or a line that is no entry.
        """
        lists = _by_class({name: built_in(name) for name in self.languages})
        lists |= _by_class({name: _read(name, Path(path)) for name, path in sorted((self.lists or {}).items())})
        return Resources(lists)

    def empty_resources(self) -> Resources:
        """The built-in word lists: components that were never trained use them."""
        return Resources(_by_class({name: built_in(name) for name in self.languages}))

    def make_reader(self, resources: Resources) -> UnitReader:
        """What reads units, with the phrases of the word lists."""
        attributes = dict.fromkeys(atom.attribute for template in self.parsed for atom in template.atoms)
        return UnitReader(list(attributes), to_phrases(resources), self.newlines)


@registry.misc("spacy_crf.UnitFeatures.v1")
def make_unit_features(
    templates: list[str],
    min_count: int = 1,
    min_edge_count: int = 1,
    languages: list[str] | None = None,
    lists: dict[str, str] | None = None,
    newlines: bool = True,
    padding: bool = True,
    max_features: int = 0,
) -> UnitFeatureSettings:
    """Templates over layout elements (lines, numberings, titles) and the word lists that belong to them.

    templates (list[str]): in the language of `spacy_crf.features.templates`, with UNIT(name) for what is known of a
        unit; `@sections` is a ready-made set.
    min_count (int): state features seen less often in training are left out.
    min_edge_count (int): the same for edge features.
    languages (list[str] | None): built-in word lists, of "en" and "nl"; None for both.
    lists (dict[str, str] | None): more word lists by name: paths of TSV files, `phrase<TAB>class`.
    newlines (bool): whether blank lines are units of the chain. If not, they are passed over, and features of the
        neighbours are those of what stands beside them.
    padding (bool): give positions outside the document values of their own instead of none.
    max_features (int): hash features to at most so many buckets; 0: each feature has a number of its own.
    RETURNS (UnitFeatureSettings): the parsed block.
    RAISES (ValueError): for a template or a language that is not known.
    """
    expanded = [part for text in templates for part in PRESETS.get(text.strip(), [text])]
    chosen = LANGUAGES if languages is None else tuple(languages)
    for language in chosen:
        if language not in LANGUAGES:
            raise CRFError(SectionErrors.CRF968.format(language=language, known=", ".join(LANGUAGES)))
    return UnitFeatureSettings(
        templates=expanded,
        min_count=min_count,
        min_edge_count=min_edge_count,
        lists=lists,
        padding=padding,
        max_features=max_features,
        languages=chosen,
        newlines=newlines,
    )


def to_phrases(resources: Resources) -> Phrases:
    """The phrases of all word lists of a component."""
    return Phrases(entry for each in resources.lists.values() for entry in each.entries)


def _by_class(lists: Mapping[str, Entries]) -> dict[str, WordList]:
    """A list for each class of each file, as a phrase may be in several classes."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, entries in lists.items():
        for words, value in entries:
            found.setdefault(f"{name}.{value}", []).append((words, value))
    return {name: WordList(name, entries) for name, entries in found.items()}


def _read(name: str, path: Path) -> Entries:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CRFError(FeatureErrors.CRF307.format(name=name, path=path, error=error)) from error
    try:
        return parse_list(text)
    except ValueError as error:
        line, found = error.args
        raise CRFError(SectionErrors.CRF967.format(path=path, line=line, text=found)) from error

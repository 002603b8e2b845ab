"""Answers, and what components have written to Docs, as HTML: for pages, and for notebooks."""

from collections.abc import Callable, Iterable
from typing import Literal, get_args

from spacy.tokens import Doc

from ..annotation import parts
from ..core.errors import CRFError, excerpt
from ..punctuation.docs import RESTORED
from .answers import Answer, place_of, tell_changes, tell_restored
from .errors import ServiceErrors

Style = Literal["sets", "changes", "sections", "marks"]
SECTION_TREE = "section_tree"


def show(kind: str, told: Answer, text: str) -> Answer:
    """An answer with its HTML for a page with a script. kind (str): what was asked for."""
    return {**told, "html": parts.failed(told["error"]) if "error" in told else OPENED[kind](told, text)}


Show = Callable[[Answer, str], str]
SHOWN: dict[str, Show] = {
    "tag": lambda told, text: parts.words(told["tokens"], text),
    "sets": lambda told, text: parts.words(told["tokens"], text),
    "entities": parts.spans,
    "cite": lambda told, text: parts.references(told),
    "sections": lambda told, text: parts.outline(told["tree"], text),
    "punctuate": lambda told, text: parts.restored(told),
}
OUTLINE = parts.element("nav", aria_label="Sections")  # which the script fills
# the same, each part of which can be opened: what its label is, a script shows
OPENED: dict[str, Show] = {
    **dict.fromkeys(("tag", "sets"), lambda told, text: parts.words(told["tokens"], text, active=True)),
    "entities": lambda told, text: parts.cells(told["cells"], text) + parts.change_list(told.get("changes")),
    "cite": SHOWN["cite"],
    "sections": lambda told, text: parts.beside(OUTLINE, parts.cells(told["cells"], text)),
    "punctuate": lambda told, text: parts.cells(told["cells"], told["restored"]),
}


def render(
    docs: Doc | Iterable[Doc],
    style: Style = "sets",
    *,
    tag_set: str = "tag_set",
    tag_probs: str = "tag_probs",
    changes: str = "constraint_changes",
    page: bool = False,
) -> parts.Markup:
    """Show what components have written to Docs, as displaCy shows entities: HTML, which notebooks display.

    docs (Doc | Iterable[Doc]): one or several. style (str): "sets" of tags above words; "changes" that constraints made
        to entities; "sections" as an outline beside the text; "marks" that were restored.
    tag_set (str), tag_probs (str), changes (str): names of the custom attributes, as in the config.
    page (bool): a whole page, not a part of one.
    RAISES (ValueError): for another style, or a Doc without what it shows.

    >>> import spacy
    >>> from spacy_crf import render
    >>> nlp = spacy.load("output/set_valued_tagger/model-best")  # `make demo` trains it
    >>> "ART | CARD" in render(nlp("uinen sawzel"))
    True
    """
    if style not in get_args(Style):
        raise CRFError(ServiceErrors.CRF585.format(style=style, known=", ".join(get_args(Style))))
    listed = [docs] if isinstance(docs, Doc) else list(docs)
    keys = {"sets": tag_set, "changes": changes, "sections": SECTION_TREE, "marks": RESTORED}
    shown = []
    for number, doc in enumerate(listed):
        if not doc.has_extension(keys[style]) or doc._.get(keys[style]) is None:
            raise CRFError(ServiceErrors.CRF586.format(document=excerpt(doc.text), style=style, name=keys[style]))
        if style == "sets":
            shown.append(parts.words(parts.words_of(doc, tag_set, tag_probs), doc.text))
        elif style == "changes":
            entities = [{**place_of(doc, e.start, e.end), "label": e.label_, "probability": None} for e in doc.ents]
            shown.append(parts.spans({"entities": entities, "changes": tell_changes(doc, changes)}, doc.text))
        elif style == "sections":
            shown.append(parts.outline(doc._.get(SECTION_TREE).to_json(), doc.text, f"d{number}s"))
        else:
            shown.append(parts.restored(tell_restored(None, doc)))
    content = "".join(shown)
    return parts.page(style, content) if page else parts.notebook(content)

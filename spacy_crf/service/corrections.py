"""What can be corrected on the start page, and the files of what a person has checked there.

What is corrected is a cell of the text: a token, a word with its mark, or a line. Cells have the places of their first
and last characters, "start" and "end"; "text" is shown, "at" a place in the text that is shown; "tags" say what a cell
is, as the model has it. A person says it anew, see `CheckMark`, and cells of which nobody has said so are unknown.
"""

import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict
from spacy.language import Language
from spacy.tokens import Doc

from ..annotation import parts
from ..annotation.documents import write_doc_name
from ..annotation.extensions import read_values
from ..annotation.gold import TagWeights, best_tag
from ..corpora.conllu import write_conllu
from ..corpora.exchange import ExchangeDocument, ExchangeToken, PredictedTags, as_weights
from ..corpora.tables import write_tsv
from ..pipe.probabilities import GivesSets
from ..punctuation.block import NONE
from ..punctuation.docs import COLUMNS, MARKS, PROBABILITIES, read_punctuation, write_gold
from ..punctuation.restore import with_ends_of_words
from ..punctuation.words import OPENERS, apply_case, is_code
from ..sections.layout import units_of
from ..sections.markup import name_sections, nest
from ..sections.segment import Kind, LayoutUnit
from ..sections.spans import Elements, write_elements, write_sections
from ..sections.tree import Element, SectionNode, SectionTree
from .answers import Answer, Teller, likely, tell_entities, tell_restored, tell_sections, tell_tags
from .errors import Refusal, ServiceErrors
from .retraining import CheckedDoc, write_labels
from .training import to_bytes

FileLayout = Literal["tsv", "conllu", "spacy"]
LEVEL = re.compile(r"\+{0,9}[1-9][0-9]?")  # of a section, behind a plus for each implied one that begins with it


def token_places(doc: Doc) -> dict[int, int]:
    """The numbers of tokens by their first characters; those of white space are left out."""
    return {token.idx: token.i for token in doc if not token.is_space}


def find(start: int, places: Mapping[int, int]) -> int:
    """The number of what begins at a character; a coded error where nothing does."""
    if start not in places:
        raise Refusal(ServiceErrors.CRF581.format(start=start))
    return places[start]


# -- cells -------------------------------------------------------------------------------------------------------


def _with_entity_cells(component: Any, doc: Doc) -> Answer:
    """Entities, and all tokens as cells; a span is said of all of its own."""
    cells = [
        {"text": token.text, "start": token.idx, "end": token.idx + len(token), "at": token.idx}
        for token in doc
        if not token.is_space
    ]
    hues = {label: parts.hue_of(label) for label in component.labels}
    return {**tell_entities(component, doc), "cells": cells, "labels": list(component.labels), "hues": hues}


def _with_mark_cells(component: Any, doc: Doc) -> Answer:
    """Restored text, and its words with all that stands around them as cells: tags are the mark and the form."""
    told, view, stored = tell_restored(component, doc), component.view(doc), read_punctuation(doc) or {}
    text, edits = told["restored"], told["edits"]
    _, closing = component.label_scheme.preset.pair("QUOTE")
    # where edits move a place to; what is put behind a word comes before what is put before the next one there
    order = [(start, int(start < end or (new[0] in OPENERS and new[0] not in closing))) for start, end, new in edits]
    moves = [0, *np.cumsum([len(new) - (end - start) for start, end, new in edits]).tolist()]
    forms = {(start, end): new for start, end, new in edits}
    columns, rows = stored.get(COLUMNS, ()), stored.get(PROBABILITIES)
    cells, last = [], view.last_tokens.tolist()
    own_marks, chances = [stored[MARKS][token] for token in last], dict[int, float | None]()
    if len({*last}) < len(last):  # a token of several words tells the mark of the last one alone
        found = component.restored(doc, {})
        own_marks = ["" if label.mark == NONE else label.mark for label in found.labels]
        chances = {k: found.probabilities[k] for k in range(len(last) - 1) if last[k] == last[k + 1]}
    for k, (word, token) in enumerate(zip(view.words, last)):
        low, high = (at + moves[bisect(order, (at, 0))] for at in (word.start, max(word.tail, word.mark_end)))
        form = forms.get((word.start, word.end), view.text[word.start : word.end])
        own: Answer = {"text": text[low:high], "start": word.start, "end": word.end, "at": low}
        own["tags"], own["begun"] = [own_marks[k], form], _begun(form)
        if k in chances:
            own["probability"] = chances[k]
        elif rows is not None:
            own["probabilities"] = likely(columns, rows[token])
            own["probability"] = own["probabilities"].get(own["tags"][0], 0.0)
        cells.append(own)
    scheme = component.label_scheme
    signs = {mark: component.sign_of(mark) for mark in scheme.marks}
    return {**told, "cells": cells, "signs": signs, "ends": [mark for mark in scheme.marks if scheme.is_end(mark)]}


def _begun(form: str) -> str:
    """A word as it begins a sentence; addresses, numbers and words that have a capital stay."""
    return form if is_code(form) or form != form.lower() else apply_case(form, "Title")


def _with_line_cells(component: Any, doc: Doc) -> Answer:
    """Sections, and all lines but blank ones as cells: tags are the label, and the level of a section that begins."""
    told = tell_sections(component, doc)
    sections, elements, levels = told["tree"]["sections"], told["tree"]["elements"], dict[int, tuple[str, Any]]()
    for node in sections:
        if node["heading"]:
            levels[node["heading"][0]] = f"{'+' * _implied(sections, node)}{node['level']}", node["probability"]
    names, cells = component.roles.names, []
    for place, (start, end, label, probability) in enumerate(elements):
        if label != names["newline"] and doc.text[start:end].strip():
            level, chance = levels.get(place, ("", None))
            own = {"text": doc.text[start:end], "start": start, "end": end, "at": start, "tags": [label, level]}
            cells.append({**own, "probability": probability, "section": chance})
    return {**told, "cells": cells, "labels": line_labels(component), "roles": names}


def line_labels(component: Any) -> list[str]:
    """The labels that lines may have, apart from blank ones."""
    return [label for label in component.labels or component.roles.labels if label != component.roles.newline]


def _implied(sections: Sequence[Answer], node: Answer) -> int:
    """How many implied sections begin with a section, around it."""
    count = 0
    while node["parent"] is not None and sections[node["parent"]]["virtual"]:
        start, node = node["start"], sections[node["parent"]]
        if node["start"] != start:
            break
        count += 1
    return count


PAGE_TELLERS: dict[str, Teller] = {
    **dict.fromkeys(("tag", "sets"), partial(tell_tags, whole=True)),
    "entities": _with_entity_cells,
    "sections": _with_line_cells,
    "punctuate": _with_mark_cells,
}


# -- files -------------------------------------------------------------------------------------------------------


class CheckMark(BaseModel):
    """What a person says of a part of a text, by its first character.

    tags: of a token; the label of a span, or none for tokens outside of all spans; the mark behind a word, "" for none,
        and the form of the word; the label of a line, and the level of the section that begins with it, "" for none:
        "2", or "+2" where an implied section of level 1 begins there, too.
    end: of a span, the place behind its last character.
    """

    model_config = ConfigDict(extra="forbid")
    start: int
    end: int | None = None
    tags: list[str]


def write_checked(
    nlp: Language,
    component: Any,
    kind: str,
    text: str,
    checked: Sequence[CheckMark],
    layout: FileLayout,
    name: str = "",
) -> bytes:
    """Write a text with what a person says of it as gold; the rest is unknown.

    kind (str): of answers. layout (str): "spacy", a Doc as the readers of the library take it; of tags also the tables
        of `crf annotate`, which have what was predicted besides. name (str): of the document.
    """
    if len({mark.start for mark in checked}) < len(checked):
        raise Refusal(ServiceErrors.CRF595.format(problem="two check marks begin at the same character"))
    if layout == "spacy":
        return to_bytes(write_doc_name(GOLD[kind](nlp, component, text, checked), name))
    target = getattr(component, "target", kind)  # restorers and section parsers have none
    if target not in ("tag", "pos"):
        raise Refusal(ServiceErrors.CRF583.format(target=target))
    tags = {mark.start: _known_tags(component, mark.tags) for mark in checked}
    tag_set = component.cfg["tag_set"] if isinstance(component, GivesSets) else ""
    where = PredictedTags(tag_set, _where_chances(component), target)
    doc = nlp(text)
    places = token_places(doc)
    for start in tags:
        find(start, places)
    read = ExchangeDocument.of([doc], where)
    mark = partial(_mark, tags, _known_chances(doc, component))
    document = replace(read, name=name, sentences=[list(map(mark, sentence)) for sentence in read.sentences])
    return write_tsv([document]) if layout == "tsv" else write_conllu([document], target)


def _where_chances(component: Any) -> str:
    return str(component.tag_probs if isinstance(component, GivesSets) else component.cfg.get("marginals"))


def _known_chances(doc: Doc, component: Any) -> dict[int, Mapping[str, float]]:
    """How probable the tags of tokens are, by their first characters."""
    return {token.idx: own or {} for token, own in zip(doc, read_values(doc, _where_chances(component)))}


def _known_tags(component: Any, tags: Sequence[str]) -> Sequence[str]:
    for tag in tags or [""]:
        if tag not in component.labels:
            raise Refusal(ServiceErrors.CRF582.format(name=component.name, tag=tag))
    return tags


def _mark(
    checked: Mapping[int, Sequence[str]], known: Mapping[int, Mapping[str, float]], token: ExchangeToken
) -> ExchangeToken:
    tags = checked.get(token.start)
    if tags is None:
        return token
    own = _weigh(tags, known[token.start])
    return replace(token, gold=own, tag=best_tag(own))


def _weigh(tags: Sequence[str], known: Mapping[str, float]) -> TagWeights:
    """Weights of checked tags; several are left open, by how probable they are. known (Mapping): that of tags."""
    return dict.fromkeys(tags, 1.0) if len(tags) < 2 else as_weights({tag: float(known.get(tag, 0.0)) for tag in tags})


def _tag_gold(nlp: Language, component: Any, text: str, checked: Sequence[CheckMark]) -> Doc:
    doc = nlp.make_doc(text)
    places, known = token_places(doc), _known_chances(nlp(text), component)
    tags: list[TagWeights] = [{} for _ in doc]
    for mark in checked:
        own = _weigh(_known_tags(component, mark.tags), known.get(mark.start, {}))
        tags[find(mark.start, places)] = {tag: weight / sum(own.values()) for tag, weight in own.items()}
    return write_labels(component, CheckedDoc(doc, tags))


def _entity_gold(nlp: Language, component: Any, text: str, checked: Sequence[CheckMark]) -> Doc:
    doc = nlp.make_doc(text)
    places, ends = token_places(doc), {token.idx + len(token): token.i + 1 for token in doc}
    seen, spans = [False] * len(doc), []
    for mark in checked:
        first, behind = find(mark.start, places), ends.get(mark.end or 0, 0)
        if behind <= first or any(seen[first:behind]) or len(mark.tags) > 1:
            problem = f"the span from {mark.start} to {mark.end} ends in no token, meets another, or has several labels"
            raise Refusal(ServiceErrors.CRF595.format(problem=problem))
        seen[first:behind] = [True] * (behind - first)
        spans += [(first, behind, label) for label in _known_tags(component, mark.tags)] if mark.tags else []
    return write_labels(component, CheckedDoc(doc, spans=spans, checked=seen))


def _mark_gold(nlp: Language, component: Any, text: str, checked: Sequence[CheckMark]) -> Doc:
    """What stands around a word, such as quotation marks, is as the model has it, and as it was shown."""
    doc = nlp(text)
    scheme, shown = component.label_scheme, component.restored(doc, {})
    gold = with_ends_of_words(doc, shown.view.words)  # a token has one mark
    view = component.view(gold)
    places, last = {word.start: number for number, word in enumerate(view.words)}, view.last_tokens.tolist()
    marks: list[str | None] = [""] * len(gold)
    for token in last:
        marks[token] = None
    pieces, end, starts = [], 0, dict[int, bool]()
    openings, closings = [""] * len(gold), [""] * len(gold)
    for own in sorted(checked, key=lambda mark: mark.start):
        number = find(own.start, places)
        word, token = view.words[number], last[number]
        mark, form = own.tags if len(own.tags) == 2 else ("", "")
        given = text[word.start : word.end]
        if mark not in ("", *scheme.marks) or len(form) != len(given) or form.lower() != given.lower():
            problem = f"{own.tags} is no mark of {component.name!r} and another spelling of {given!r}"
            raise Refusal(ServiceErrors.CRF595.format(problem=problem))
        marks[token], (_, _, openings[token], closings[token], _) = mark, shown.labels[number]
        starts[number + 1] = scheme.is_end(mark)
        pieces += [text[end : word.start], form]
        end = word.end
    spelt = "".join([*pieces, text[end:]])
    words = [spelt[token.idx : token.idx + len(token)] for token in gold]
    following = np.array([number for number in starts if number < len(last)], dtype=np.intp)
    begun = view.opening_tokens(following).tolist()
    gold = Doc(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in gold])
    write_gold(gold, marks, openings, closings)
    for number, token in zip(following.tolist(), begun):
        gold[token].is_sent_start = starts[number]
    return gold


def _line_gold(nlp: Language, component: Any, text: str, checked: Sequence[CheckMark]) -> Doc:
    """The tree is gold once all lines are checked: one of which nothing is known may begin another section."""
    doc, names = nlp.make_doc(text), component.roles.names
    units = units_of(doc)
    places = {unit.start: number for number, unit in enumerate(units) if unit.kind is not Kind.NEWLINE}
    tags = {}
    for mark in checked:
        number = find(mark.start, places)
        label, level = mark.tags if len(mark.tags) == 2 else ("", "")
        fits = (
            LEVEL.fullmatch(level)
            and level.count("+") < int(level.lstrip("+"))
            and label in (names["number"], names["title"])
            if level
            else not level
        )
        if not fits or label not in line_labels(component):
            problem = (
                f"{mark.tags} is no label of {component.name!r} and the level of a section that it begins, or none"
            )
            raise Refusal(ServiceErrors.CRF595.format(problem=problem))
        tags[number] = label, level
    elements = [Element(unit.start, unit.end, tags.get(k, (names["newline"], ""))[0]) for k, unit in enumerate(units)]
    known = [(elements[k].start, elements[k].end, tags[k][0]) for k in sorted(tags)]
    write_elements(doc, component.settings.elements_key, Elements.of(known), {})
    if len(tags) == len(places):
        tree = SectionTree(_sections(text, units, tags, names["title"]), elements, roles=names)
        write_sections(doc, component.settings.sections_key, tree)
    return doc


def _sections(
    text: str, units: Sequence[LayoutUnit], tags: Mapping[int, tuple[str, str]], title: str
) -> list[SectionNode]:
    """The sections that begin with lines. tags (Mapping): label and level of lines. title (str): the label of titles,
    which belong to the heading that they are right behind."""
    headings: list[list[int]] = []
    opened: list[tuple[int, int]] = []
    is_heading = False
    for number, (label, level) in sorted(tags.items()):
        if level:
            implied, depth = level.count("+"), int(level.lstrip("+"))
            opened += [(units[number].start, own) for own in range(depth - implied, depth + 1)]
            headings += [*([] for _ in range(implied)), [number]]
        elif is_heading and label == title:
            headings[-1].append(number)
        is_heading = bool(level) or (is_heading and label == title)
    sections = nest(opened, text)
    for node, heading in zip(SectionTree(sections).walk(), headings):
        node.heading, node.virtual = heading, not heading
    name_sections(sections, text, units)
    return sections


GOLD: dict[str, Callable[[Language, Any, str, Sequence[CheckMark]], Doc]] = {
    **dict.fromkeys(("tag", "sets"), _tag_gold),
    "entities": _entity_gold,
    "sections": _line_gold,
    "punctuate": _mark_gold,
}

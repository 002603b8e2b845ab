"""Invented references whose fields are hard to tell apart by their words alone, and pipelines trained on them."""

import random
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from spacy_crf.constraints.component import ConstrainedNER

NAMES = ["Lund", "Ito", "Mora", "Weiss", "Ada", "Bo"]
WORDS = ["ropes", "tides", "harbours", "studies", "letters", "notes", "winds", "sails"]
LABELS = ("AUTHOR", "DATE", "JOURNAL", "TITLE", "VOLUME")
SETTINGS: dict[str, Any] = {
    "scheme": "none",
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]", "SHAPE[0]"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 1.0, "iterations_per_step": 20},
}
MINE: dict[str, Any] = {"@misc": "spacy_crf.Mining.v1", "folds": 3, "iterations": 20, "epochs": 3, "min_support": 5}
# what holds in all of them
RULES = ["at_most(TITLE, 1)", "presence_precedence(AUTHOR, TITLE)", "requires(VOLUME, JOURNAL)", "ends_with(DATE)"]


def fields(seed: int, count: int) -> list[list[tuple[str, list[str]]]]:
    """So many references, each a list of (label, words)."""
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        found = [("AUTHOR", [rng.choice(NAMES), rng.choice(".,")])]
        found.append(("TITLE", [*rng.choices(WORDS, k=rng.randint(1, 4)), "."]))
        if rng.random() < 0.6:
            found.append(("JOURNAL", [*rng.choices(WORDS, k=rng.randint(1, 2)), ","]))
            found.append(("VOLUME", [str(rng.randint(1, 2020))]))
        found.append(("DATE", [str(rng.randint(1, 2020)), "."]))
        out.append(found)
    return out


def make_reference(nlp: Language, parts: list[tuple[str, list[str]]], target: str = "ent") -> Doc:
    """A Doc with gold."""
    doc = Doc(nlp.vocab, words=[word for _, words in parts for word in words])
    spans, start = [], 0
    for label, words in parts:
        spans.append(Span(doc, start, start + len(words), label=label))
        start += len(words)
    if target == "ent":
        doc.set_ents(spans)
    elif target == "spans":
        doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans)
    else:
        for span in spans:
            for token in span:
                token.tag_ = span.label_
    return doc


def make_examples(nlp: Language, seed: int = 0, count: int = 40, target: str = "ent") -> list[Example]:
    references = [make_reference(nlp, parts, target) for parts in fields(seed, count)]
    return [Example(Doc(nlp.vocab, words=[t.text for t in ref]), ref) for ref in references]


def build(**config: Any) -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("constrained_ner", config={**SETTINGS, **config})
    return nlp


def train(**config: Any) -> Language:
    nlp = build(**config)
    examples = make_examples(nlp, target=config.get("target", "ent"))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def pipe_of(nlp: Language) -> ConstrainedNER:
    pipe = nlp.get_pipe("constrained_ner")
    assert isinstance(pipe, ConstrainedNER)
    return pipe


def new_docs(nlp: Language, seed: int = 1, count: int = 20) -> list[Doc]:
    """References that were not trained on, without annotation."""
    return [example.predicted for example in make_examples(nlp, seed, count)]


def tags_of(doc: Doc) -> list[str]:
    return [token.ent_type_ for token in doc]

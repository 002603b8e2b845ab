"""A few punctuated texts, and a punctuation restorer that is trained on them."""

import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_crf.core.errors import CRFWarning
from spacy_crf.punctuation.block import LabelScheme
from spacy_crf.punctuation.docs import WordView
from spacy_crf.punctuation.labels import Label
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.punctuation.words import split_words

TEXTS = """
Well, the mill is old. Did you see the mill? I saw the mill, and I liked it.
Where is Ada Thorpe? She went to Port Wick. She took the iBoat, of course!
No, I did not see it. Did she go by boat? Yes, she did. The boat was old.
Where did they go? They went to the mill, and then they went home. What a day!
Is the iBoat new? Yes, the iBoat is new. The BBW said so. The mill was sold.
I like Port Wick, but Ada likes the mill. Did you go? No, I was at home.
Well, what did she say? She said that the mill, the old one, was sold.
Ada Thorpe went home. Then it was dark. Who was there? I was, of course.
The boat, which was old, went down. Did they see it? Yes, they saw it.
What is it? It is a boat. It is not new, but it is good. I like it!
"""
BARE = "well what did she say she said that the mill was sold"
FULL = "Well, what did she say? She said that the mill was sold."
MARKS = {"@misc": "spacy_crf.Marks.v1", "marks": ["COMMA", "PERIOD", "QUESTION"], "collapse": {"EXCLAMATION": "PERIOD"}}
CONFIG: dict[str, Any] = {
    "marks": MARKS,
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@punctuation"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.02, "iterations_per_step": 40},
}


def build(language: str = "en", **config: Any) -> Language:
    """A pipeline with an untrained restorer."""
    nlp = spacy.blank(language)
    nlp.add_pipe("punctuation_restorer", config={**CONFIG, **config})
    return nlp


def make_examples(nlp: Language, folder: Path, **settings: Any) -> list[Example]:
    """The texts as examples of bare words, one for each line."""
    path = folder / "texts.txt"
    path.write_text(TEXTS.strip(), encoding="utf8")
    return list(PunctuationCorpus(path, **{"unit": "line", **settings})(nlp))


def train(folder: Path, **config: Any) -> Language:
    """A pipeline that has learned the texts."""
    nlp = build(**config)
    examples = make_examples(nlp, folder)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


@cache
def trained_bytes(folder: Path, has_case: bool) -> bytes:
    """What a pipeline with or without case has learned, so that tests need not train one each."""
    return train(folder, marks={**MARKS, "case": has_case}).to_bytes()


def trained(folder: Path, has_case: bool = False, **config: Any) -> Language:
    """A fresh pipeline with other run-time settings that knows the texts."""
    nlp = build(**{"marks": {**MARKS, "case": has_case}, **config})
    cfg = nlp.get_pipe("punctuation_restorer").cfg
    own = cfg.assignable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CRFWarning)
        nlp.from_bytes(trained_bytes(folder, has_case))
    cfg.update(own)
    return nlp


class Stripped(NamedTuple):
    """A text without its punctuation."""

    words: list[str]
    labels: list[Label]


@cache
def blank() -> Language:
    return spacy.blank("xx")


def strip(text: str, scheme: LabelScheme) -> Stripped:
    """The words of a punctuated text, and their labels."""
    view = WordView(blank()(text), text, split_words(text, scheme.abbreviated))
    return Stripped(view.forms, view.labels(scheme))


def same_words(before: str, after: str) -> bool:
    """Whether two texts have the same words, but for their case, and apostrophes from which a mark parts them."""
    texts = ([text[word.start : word.end] for word in split_words(text)] for text in (before, after))
    first, second = ([*filter(None, (form.lower().rstrip("'’") for form in forms))] for forms in texts)
    return first == second

"""How many modules a Doc passes on its way, and an Example in the first step of training."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

import spacy_crf

PACKAGE = Path(spacy_crf.__file__).parent
SENTENCES = [("the dog barks", ["DET", "NOUN", "VERB"]), ("a cat sleeps", ["DET", "NOUN", "VERB"])]
MOST_OF_A_DOC, MOST_OF_AN_EXAMPLE = 22, 34


def modules_passed(call: Callable[[], Any]) -> list[str]:
    """Return the modules of the library in which functions are called."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(str(Path(name).relative_to(PACKAGE)) for name in seen if Path(name).is_relative_to(PACKAGE))


@pytest.fixture
def nlp() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger")
    return nlp


def test_a_doc_and_an_example_pass_few_modules(nlp: Language) -> None:
    examples = [Example.from_dict(nlp.make_doc(text), {"tags": tags}) for text, tags in SENTENCES]
    optimizer = nlp.initialize(lambda: examples)
    in_training = modules_passed(lambda: nlp.update(examples, sgd=optimizer))
    nlp("a dog")  # scores are made for the first Doc
    in_use = modules_passed(lambda: nlp("the dog sleeps"))
    assert len(in_training) <= MOST_OF_AN_EXAMPLE, in_training
    assert len(in_use) <= MOST_OF_A_DOC, in_use

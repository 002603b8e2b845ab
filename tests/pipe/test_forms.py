"""A text gets the same answer in whatever form it comes, under whatever settings: alone or beside others, in any order,
as a text or as a Doc that was stored, from the pipeline or from a copy of it that was stored."""

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from unittest.mock import patch

import pytest
import spacy
from contract.models import ENGLISH, LEAST, MODELS, plain
from helpers.folders import unpack_model
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.core.errors import CRFError

# Values of settings whose types leave more than a few; those that name what is written have two: none and a name.
VALUES: dict[str, Sequence[Any]] = {
    "alpha": (0.5, 1.0),
    "beta": (1.0, 2.0),
    "changes": (None, "form_changes"),
    "constraints": (["at_most(LOC, 1)"], ["at_most(AUTHOR, 1) cost=0.3", "order(TITLE, DATE)"], []),
    "coverage": (0.6, 0.99),
    "entropy": (None, "form_entropy"),
    "label_weight": (0.5, 2.0),
    "marginals": (None, "form_marginals"),
    "max_states": (2, 24, 4000),
    "n_best": (0, 1, 4),
    "scores": (None, "form_scores"),
    "sequence_mass": (0.3, 0.99),
    "sequences": (0, 1, 4),
    "size": (1, 3),
    "tau": (0.0, 1.0),
    "temperature": (0.4, 1.0, 3.0),
    "threshold": (0.0, 0.3, 0.9),
    "thresholds": ({}, {"COMMA": 0.9}),
    "utility": ("g", "fbeta", "accuracy"),
}
ROUNDING = LEAST + 2e-4  # of four digits; smaller probabilities are left out
BY_TIME = ("objective", "budget")  # what is answered within some seconds depends on the machine
PIECES = [
    "1. ",
    "(a) ",
    "\n",
    "\n\n",
    "  ",
    "\t",
    "2.3 One year.\n",
    "St. ",
    "🙂",
    "漢字",
    "1999.",
    "; ",
    "qwrtz ",
    "So. ",
]
Told = dict[str, Any] | str


@cache
def load(name: str) -> Language:
    return spacy.load(unpack_model(name, Path(tempfile.mkdtemp())))


def values_of(name: str, hint: Any) -> Sequence[Any]:
    """Some values of a setting; none for one that only names things, or that is not told by its type."""
    kinds = get_args(hint) if get_origin(hint) not in (None, Literal) else (hint,)
    if bool in kinds:
        return (False, True)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind) if word != "auto"]
    return words or VALUES.get(name, ())


@cache
def choices(name: str) -> dict[tuple[str, str], Sequence[Any]]:
    """Values of the settings of a saved pipeline that may change while it is used, by component and setting."""
    found = {}
    for component, pipe in load(name).pipeline:
        hints = get_type_hints(type(pipe.settings))
        for setting in pipe.cfg:
            values = values_of(setting, hints.get(setting, NoneType))
            if values and setting not in BY_TIME:
                found[component, setting] = values
    return found


def told(doc: Doc) -> dict[str, Any]:
    """What a Doc holds, by itself and in custom attributes."""
    custom = {str(key): plain(value) for key, value in doc.user_data.items()}
    groups = {key: plain(dict(group.attrs)) for key, group in doc.spans.items()}
    return {"doc": plain(doc.to_json()), "custom": custom, "groups": groups}


def answers(nlp: Language, asked: Sequence[str | Doc], **sizes: int) -> list[Told]:
    """What a pipeline tells of texts, or the code with which it refuses them."""
    found: list[Told] = [""] * len(asked)
    refused: dict[str, str] = {}

    def refuse(name: str, pipe: Any, docs: list[Doc], error: Exception) -> None:
        if not isinstance(error, CRFError):
            raise error
        refused.update({doc.text: error.code or "" for doc in docs})

    nlp.set_error_handler(refuse)
    for doc, place in nlp.pipe(((text, place) for place, text in enumerate(asked)), as_tuples=True, **sizes):
        found[place] = told(doc)
    texts = [text if isinstance(text, str) else text.text for text in asked]
    return [one or refused[text] for one, text in zip(found, texts, strict=True)]


def differences(found: Any, expected: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two answers are not the same, and what they are there. Floats are, and are left out of dicts, if they are
    so up to rounding: those under constraints depend on what is summed with them, in the fifth digit."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in found.keys() | expected.keys():
            other = found.get(key, expected.get(key))
            missing = 0.0 if isinstance(other, float) else None
            yield from differences(found.get(key, missing), expected.get(key, missing), f"{place}/{key}")
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, pair in enumerate(zip(found, expected)):
            yield from differences(*pair, f"{place}/{number}")
    elif isinstance(found, float) and isinstance(expected, float):
        if abs(found - expected) > ROUNDING * max(1.0, abs(expected)):
            yield place, found, expected
    elif found != expected:
        yield place, found, expected


def stored_docs(nlp: Language, texts: Sequence[str], other: Language | None = None) -> list[Doc]:
    """Docs of a pipeline as they are read again, by another one if there is one."""
    return [Doc((other or nlp).vocab).from_bytes(nlp.make_doc(text).to_bytes()) for text in texts]


def stored(nlp: Language) -> Language:
    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        return spacy.load(folder)


def stored_without_tokenizer(nlp: Language) -> Language:
    """A pipeline that was stored and loaded, in a third of the time, for Docs that another one has made."""
    with tempfile.TemporaryDirectory() as folder, patch.object(nlp.Defaults, "tokenizer_exceptions", {}):
        nlp.to_disk(folder, exclude=["tokenizer"])
        return spacy.load(folder, exclude=["tokenizer"])


Form = Callable[[Language, Sequence[str]], list[Told]]
FORMS: dict[str, Form] = {
    "in one batch": lambda nlp, texts: answers(nlp, texts, batch_size=1000),
    "in batches of two": lambda nlp, texts: answers(nlp, texts, batch_size=2),
    "backwards": lambda nlp, texts: answers(nlp, texts[::-1], batch_size=1000)[::-1],
    "twice": lambda nlp, texts: answers(nlp, [*texts, *texts], batch_size=1000)[len(texts) :],
    "stored Docs": lambda nlp, texts: answers(nlp, stored_docs(nlp, texts), batch_size=3),
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.promise
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=max(1, settings().max_examples // 3))  # each takes a tenth of a second
@given(st.data())
def test_the_form_of_a_text_changes_no_answer(name: str, data: st.DataObject) -> None:
    with under_any_settings(name, data) as nlp:
        texts = data.draw(texts_of(name), label="texts")
        form = data.draw(st.sampled_from(sorted(FORMS)), label="form")
        assert list(differences(FORMS[form](nlp, texts), [answers(nlp, [one])[0] for one in texts])) == []


@pytest.mark.promise
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=max(1, settings().max_examples // 10))
@given(st.data())
def test_a_stored_pipeline_gives_the_same_answers(name: str, data: st.DataObject) -> None:
    with under_any_settings(name, data) as nlp:
        texts = data.draw(texts_of(name), label="texts")
        if data.draw(st.integers(0, 9), label="with its tokenizer if 0"):
            other = stored_without_tokenizer(nlp)
            found = answers(other, stored_docs(nlp, texts, other))
        else:
            found = answers(stored(nlp), texts)
        assert list(differences(found, answers(nlp, texts))) == []


def texts_of(name: str) -> st.SearchStrategy[list[str]]:
    known = [*filter(None, [*ENGLISH, *MODELS[name].texts])]
    words = sorted({word for text in known for word in text.split(" ")})
    pieces = st.sampled_from([*PIECES, *(f"{word} " for word in words)])
    return st.lists(st.sampled_from(known) | st.lists(pieces, max_size=10).map("".join), min_size=2, max_size=6)


@contextmanager
def under_any_settings(name: str, data: st.DataObject) -> Iterator[Language]:
    """A saved pipeline, some of whose settings are other ones for the time being."""
    nlp = load(name)
    usual = {pipe: dict(nlp.get_pipe(pipe).cfg) for pipe, _ in choices(name)}
    try:
        for (pipe, setting), values in choices(name).items():
            if data.draw(st.integers(0, 3)) == 0:
                change(nlp, pipe, setting, data.draw(st.sampled_from(values), label=f"{pipe}.{setting}"))
        yield nlp
    finally:
        for pipe, values in usual.items():
            nlp.get_pipe(pipe).cfg.update(values)


def change(nlp: Language, pipe: str, setting: str, value: Any) -> None:
    """Assign a setting; one that has no meaning beside the others, or is fixed, is left as it is."""
    with suppress(CRFError):
        nlp.get_pipe(pipe).cfg[setting] = value


def test_all_kinds_of_settings_are_tried() -> None:
    tried = {setting for name in MODELS for _, setting in choices(name)}
    assert {"method", "decode", "markup", "existing", "n_best", "decoder", "labeller"} <= tried

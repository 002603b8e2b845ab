"""Labels turned into text and back: the round trip, and words that never change."""

import re
from collections import Counter
from itertools import filterfalse
from unicodedata import category

import numpy as np
import pytest
from helpers.punctuated import strip
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_crf.punctuation.block import NONE, SIGNS, LabelScheme
from spacy_crf.punctuation.labels import Label, LabelTable, may_follow, parse_label, tell_sentences
from spacy_crf.punctuation.languages import LANGUAGES
from spacy_crf.punctuation.restore import Editor, apply_edits, restore
from spacy_crf.punctuation.words import PAIRS, apply_case, case_of, is_emoticon, split_words

MARKS = LabelScheme([*SIGNS])
SCHEME = LabelScheme([*SIGNS], case=True, pairs=True)
MIXED = {"iphone": "iPhone", "mcadam": "McAdam", "o'brien": "O'Brien"}
# no abbreviations, whose period is a part of them
forms = st.from_regex(r"[b-hj-z][a-z]{1,6}('[a-z]|-[a-z]{2,4})?|[1-9]{2,4}|ßa|été", fullmatch=True)
forms = forms.filter(lambda form: form not in MARKS.abbreviated) | st.sampled_from(sorted(MIXED))
plain_marks = st.sampled_from([NONE, *SIGNS])


@st.composite
def labelled(draw) -> tuple[list[str], list[Label]]:
    """Bare words, and labels that a text can show."""
    words, labels = [], []
    for form in draw(st.lists(forms, max_size=8)):
        case = draw(st.sampled_from(["lower", "Title", "UPPER", "mixed"]))
        word = apply_case(form, case, MIXED)
        kind = draw(st.sampled_from(["", "QUOTE", "BRACKET"]))
        around = draw(st.sampled_from([(kind, ""), ("", kind), (kind, kind)]))
        words.append(form)
        labels.append(Label(draw(plain_marks), case_of(word), *around))
    return words, labels


@pytest.mark.promise
@given(labelled())
def test_stripping_what_was_restored_gives_words_and_labels_again(both: tuple[list[str], list[Label]]) -> None:
    words, labels = both
    text = restore(words, labels, SCHEME, MIXED)
    stripped = strip(text, SCHEME)
    assert [word.lower() for word in stripped.words] == words
    assert stripped.labels == labels


PIECES = [
    *("e.g.", "p.m.", "etc.", "mr.", "mr", "U.S.", "I.", "well", "Ada", "don't", "(so)", "3.5", "1–2", "🙂", "ΑΣ", '"'),
    *("–", "—", "-", ",", ".", "...", "?!", "\n", " ", "¿?", "¡", "¿qué", "«so»", "i", "état", "。"),
]
pieces = st.lists(st.sampled_from(PIECES), max_size=10)
texts = st.text(alphabet="aB é'’-.,?!;:—–…()“”\"¿ \n1👍ßİ漢ش", max_size=40)
texts |= pieces.map(" ".join) | pieces.map("".join)


@pytest.mark.promise
@given(texts, st.data(), st.sampled_from([None, *LANGUAGES]), st.booleans(), st.booleans())
def test_words_never_change(text: str, data: st.DataObject, language: str | None, keep: bool, capitalise: bool) -> None:
    assume(not re.search(r"[:;]-(?![()])", text))  # which a bracket that is restored makes an emoticon
    words = split_words(text)
    cases = st.sampled_from(["", "lower", "Title", "UPPER", "mixed"])
    kinds = st.sampled_from(["", *PAIRS])
    labels = [Label(data.draw(plain_marks), data.draw(cases), data.draw(kinds), data.draw(kinds)) for _ in words]
    scheme = LabelScheme([*SIGNS], case=True, pairs=True, language=language)
    edits = Editor(scheme, MIXED, keep, capitalise).edits(text, words, labels)
    assert all(one.end <= two.start for one, two in zip(edits, edits[1:]))
    after = apply_edits(text, edits)
    # folded, as the lower case of a Greek sigma depends on what is behind it
    letters = [c for c in after.casefold() if c.isalnum()]
    assert letters == [c for c in text.casefold() if c.isalnum()]
    # ";" behind a space may make an emoticon with a bracket behind it, and a bracket that is restored may be closed by
    # another's, but no sign of one goes
    before, behind = ([*filter(None, map(without_signs_around, bare(one)))] for one in (text, after))
    assert [*filterfalse(is_emoticon, before)] == [*filterfalse(is_emoticon, behind)]
    assert all(after.count(form) >= number for form, number in Counter(filter(is_emoticon, before)).items())
    places = {(word.start, word.end) for word in words}
    for edit in edits:
        if any(c.isalnum() for c in text[edit.start : edit.end] + edit.replacement):
            assert (edit.start, edit.end) in places
            assert text[edit.start : edit.end].lower() == edit.replacement.lower()


def without_signs_around(form: str) -> str:
    """A form, unless it is an emoticon, without signs at its ends, whose reading depends on those beside them: the
    period of "a." makes it an initial, and the apostrophe of "a,'" is one of "a" without the comma."""
    return form if is_emoticon(form) else form.strip("".join(c for c in form if category(c).startswith("P")))


def bare(text: str) -> list[str]:
    return [text[word.start : word.end].casefold() for word in split_words(text)]


@pytest.mark.promise
@given(texts)
def test_labels_of_the_text_itself_make_no_edits(text: str) -> None:
    words = split_words(text)
    assert not Editor(SCHEME, {text[w.start : w.end].lower(): text[w.start : w.end] for w in words}).edits(
        text, words, [label._replace(case="") for label in strip(text, SCHEME).labels]
    )


@pytest.mark.parametrize(
    "text, labels, expected",
    [
        ("so it is", ["COMMA|Title", "O|lower", "QUESTION|lower"], "So, it is?"),
        ("well — no", ["COMMA", "PERIOD"], "well, no."),
        ("well—no", ["O", "PERIOD"], "well no."),
        ("well—🙂 no", ["O", "O", "O"], "well 🙂 no"),
        ("well\n; no", ["O", "O"], "well\n no"),
        ("well\n— no", ["O", "O"], "well\n— no"),
        ("well—no", ["COMMA", "O"], "well, no"),
        ("well no", ["DASH", "O"], "well – no"),
        ("well ,“no", ["O", "O"], "well “no"),
        ("at 5 p.m.", ["O", "O", "PERIOD"], "at 5 p.m."),
        ("‘well,’ she said ‘no,’, ‘so?’", ["QUESTION", "O", "COMMA", "PERIOD", "O"], "‘well?’ she said, ‘no.’ ‘so’"),
        ("שלום.\u200f לא", ["COMMA", "O"], "שלום,\u200f לא"),
        ("e.g. –", ["PERIOD|Title"], "E.g."),
        ("e.g.,", ["PERIOD"], "e.g."),
        ("e.g. – so", ["PERIOD", "O"], "e.g. so"),
        ("1–:1", ["O", "O"], "1 :1"),
        ('1–"1', ["O", "O"], '1 "1'),
        ("1–)-", ["O"], "1 )-"),
        ("1…:)", ["O", "O"], "1 :)"),
        ("is it so!", ["O", "O", "QUESTION"], "is it so?"),
        ("he said (so) then", ["O", "O", "COMMA", "PERIOD"], "he said (so), then."),
        ("he said go", ["O|lower", "COMMA|lower", "PERIOD|lower|QUOTE<QUOTE>"], "he said, “go.”"),
    ],
)
def test_restored_texts(text: str, labels: list[str], expected: str) -> None:
    words = split_words(text)
    scheme = SCHEME if "|" in labels[0] else MARKS
    assert apply_edits(text, Editor(scheme).edits(text, words, [parse_label(label) for label in labels])) == expected


@pytest.mark.parametrize(
    "text, language, labels, expected",
    [
        ("漢.1", "fr", ["PERIOD|lower|QUOTE<QUOTE>", "O|lower"], "«\u202f漢».1"),
        ("漢¿:é", "es", ["O|lower", "O|lower"], "漢 :é"),
        ("-漢é–", "ja", ["O|lower|BRACKET<BRACKET>", "O|lower"], "-(漢)é"),
        ("so", "fr", ["O|lower|QUOTE<QUOTE>"], "«\u202fso\u202f»"),
    ],
)
def test_characters_that_are_words_stay_words(text: str, language: str, labels: list[str], expected: str) -> None:
    scheme = LabelScheme([*SIGNS], case=True, pairs=True, language=language)
    after = apply_edits(text, Editor(scheme).edits(text, split_words(text), [parse_label(label) for label in labels]))
    assert (after, bare(after)) == (expected, bare(text))


def test_what_is_there_is_kept() -> None:
    text = "Hello world; HELLO there"
    labels = [Label("COMMA", "lower"), Label("PERIOD", "lower"), Label("O", "lower"), Label("QUESTION", "Title")]
    words = split_words(text)
    kept = apply_edits(text, Editor(SCHEME, keep=True).edits(text, words, labels))
    assert kept == "Hello, world; HELLO There?"
    assert apply_edits(text, Editor(SCHEME).edits(text, words, labels)) == "hello, world. hello There?"


def test_marks_that_are_parted_by_spaces_go_together() -> None:
    text = "so . . . it ? ! is , – she . .\n. went"
    scheme = LabelScheme([mark for mark in SIGNS if mark != "DASH"])
    labels = [Label("COMMA"), Label(), Label(), Label("QUESTION"), Label()]
    assert apply_edits(text, Editor(scheme).edits(text, split_words(text), labels)) == "so, it is – she?\n. went"


def test_sentences_are_those_of_marks_that_are_kept() -> None:
    """Labels of one of the best labellings may tell other marks, where the chain knows none with all that are there."""
    text, labels = "so; it is. she went", [Label("PERIOD"), Label(), Label("COMMA"), Label(), Label()]
    edits = Editor(LabelScheme([*SIGNS]), keep=True, capitalise=True).edits(text, split_words(text), labels)
    assert apply_edits(text, edits) == "So; it is. She went"


def test_a_sentence_in_georgian_has_no_capital() -> None:
    text, labels = "ის აქ არის anna", [Label(), Label(), Label("PERIOD"), Label()]
    edits = Editor(MARKS, capitalise=True).edits(text, split_words(text), labels)
    assert apply_edits(text, edits) == "ის აქ არის. Anna"


def test_sentences_are_capitalised_by_rule() -> None:
    text, labels = "is it so it is McAdam", [Label(), Label(), Label("QUESTION"), Label(), Label(), Label("PERIOD")]
    edits = Editor(MARKS, capitalise=True).edits(text, split_words(text), labels)
    assert apply_edits(text, edits) == "Is it so? It is McAdam."


@pytest.mark.parametrize(
    "word, case",
    [
        *(("kent", "lower"), ("Kent", "Title"), ("NASA", "UPPER"), ("iPhone", "mixed"), ("McAdam", "mixed")),
        *(("I", "Title"), ("'Tis", "Title"), ("42", "lower"), ("3D", "UPPER"), ("漢", "lower"), ("ßA", "mixed")),
        *(("თბილისი", "lower"), ("ᲗᲑᲘᲚᲘᲡᲘ", "UPPER"), ("ᾨδή", "Title")),
    ],
)
def test_cases(word: str, case: str) -> None:
    assert case_of(word) == case
    assert apply_case(word.lower(), case, {word.lower(): word}) == word


@pytest.mark.promise
@given(st.text(min_size=1, max_size=12), st.sampled_from(["lower", "Title", "UPPER", "mixed", ""]))
def test_a_case_changes_no_letter(word: str, case: str) -> None:
    cased = apply_case(word, case)
    assert len(cased) == len(word) and cased.lower() == word.lower()


@pytest.mark.promise
@given(plain_marks, st.sampled_from(["", "lower"]), *[st.sampled_from(["", *PAIRS])] * 2, st.sampled_from(["", *SIGNS]))
def test_labels_are_spelt_and_parsed(mark: str, case: str, opening: str, closing: str, sentence: str) -> None:
    label = Label(mark, case, opening, closing, sentence)
    assert parse_label(str(label)) == label


@pytest.mark.parametrize("text", ["", "O|big", "O|lower|QUOTE", "O|QUOTE<x", "O|lower|lower", "O|BRACE<"])
def test_texts_that_are_no_labels(text: str) -> None:
    with pytest.raises(ValueError, match="CRF974"):
        parse_label(text)


def test_probabilities_of_marks_are_sums() -> None:
    table = LabelTable(["O|lower", "PERIOD|Title", "O|Title"])
    assert table.marks == ("O", "PERIOD")
    sums = table.mark_probabilities(np.array([[0.5, 0.2, 0.3]]))
    assert np.allclose(sums, [[0.8, 0.2]])


KINDS = LabelScheme([*SIGNS], kinds=["QUESTION"])


def test_labels_tell_what_sentence_they_are_in() -> None:
    labels = strip("So it is. Is it, then, so? Well", KINDS).labels
    assert [label.sentence for label in labels] == ["", "", "", "QUESTION", "QUESTION", "QUESTION", "", ""]
    assert tell_sentences(labels, KINDS, "QUESTION")[-1].sentence == "QUESTION"
    assert tell_sentences(labels, SCHEME, "QUESTION") == labels


@given(labelled(), st.sampled_from(["", "QUESTION", "PERIOD"]))
def test_labels_of_texts_may_follow_each_other(both: tuple[list[str], list[Label]], following: str) -> None:
    labels = tell_sentences(both[1], KINDS, following)
    assert all(may_follow(first, second, KINDS) for first, second in zip(labels, labels[1:]))
    assert all(not label.sentence for label in labels if MARKS.is_end(label.mark))


def test_a_sentence_is_of_one_kind() -> None:
    inside, plain = Label(sentence="QUESTION"), Label()
    assert not may_follow(inside, plain, KINDS) and not may_follow(plain, inside, KINDS)
    assert not may_follow(inside, Label("PERIOD"), KINDS) and not may_follow(plain, Label("QUESTION"), KINDS)
    assert may_follow(Label("PERIOD"), inside, KINDS) and may_follow(inside, Label("QUESTION"), KINDS)


def test_cases_are_those_of_the_restored_text() -> None:
    """A case that a word cannot have, or that no form is known of, is not that in which it is written."""
    text, cases = "12 & we met mcadam a@b.org", ["Title", "Title", "Title", "UPPER", "mixed", "UPPER"]
    labels = [Label(case=case) for case in cases]
    words = split_words(text)
    editor = Editor(SCHEME)
    after = apply_edits(text, editor.edits(text, words, labels))
    assert after == "12 & We MET Mcadam a@b.org"
    assert [*editor.cases(text, words, labels)] == [case_of(form) for form in after.split()]

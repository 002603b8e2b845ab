"""Habits of languages: closed classes of case, white space before marks, marks that open, signs of their own."""

from pathlib import Path

import pytest
from helpers.punctuated import MARKS, build, make_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.errors import CRFWarning
from spacy_crf.punctuation.block import LabelScheme
from spacy_crf.punctuation.labels import Label
from spacy_crf.punctuation.languages import LANGUAGES, preset_of
from spacy_crf.punctuation.restore import Editor, restore
from spacy_crf.punctuation.words import CASES, INVERTED, PAIRS, apply_edits, case_of, split_words

MARK_OF = {",": "COMMA", ".": "PERIOD", "?": "QUESTION", "!": "EXCLAMATION", ":": "COLON", ";": "SEMICOLON"}


def scheme(language: str, **settings: object) -> LabelScheme:
    return LabelScheme([*MARK_OF.values(), "DASH"], language=language, **{"case": True, **settings})


def write(language: str, text: str, **settings: object) -> str:
    """Restore a text whose words have ASCII marks and the case of titles or none."""
    words, labels = [], []
    for word in text.split():
        words.append(word.rstrip(",.?!:;").lower())
        labels.append(Label(MARK_OF.get(word[-1], "O"), case_of(word)))
    return restore(words, labels, scheme(language, **settings))


@pytest.mark.parametrize(
    "language, text, expected",
    [
        ("en", "Well, i'm in london, and I say it is january.", "Well, I'm in London, and I say it is January."),
        ("en", "So I’m here and i’ll go.", "So I’m here and I’ll go."),
        ("en", "Nasa and the Phd on tv may be Ok.", "NASA and the PhD on TV may be OK."),
        ("nl", "Maandag Is Het Mei In nederland.", "Maandag Is Het mei In Nederland."),
        ("de", "Am montag in köln.", "Am Montag in Köln."),
        ("fr", "Vraiment? Oui! Il dit: non; Janvier.", "Vraiment\u202f? Oui\u202f! Il dit\u00a0: non\u202f; janvier."),
        ("es", "Hola Juan, qué tal? Pero, por qué no? Qué bien!", "Hola Juan, ¿qué tal? Pero, ¿por qué no? ¡Qué bien!"),
        ("es", "Me ayudas, por favor? Sí, el Lunes.", "¿Me ayudas, por favor? Sí, el lunes."),
        ("zh", "我 很 好. 你 呢?", "我很好。你呢？"),
        ("ja", "はい, そう.", "はい、そう。"),
    ],
)
def test_what_is_written(language: str, text: str, expected: str) -> None:
    assert write(language, text) == expected


def test_quotation_marks() -> None:
    words, labels = ["il", "dit", "oui"], [Label(), Label("COLON"), Label("PERIOD", "", "QUOTE", "QUOTE")]
    assert restore(words, labels, scheme("fr", case=False, pairs=True)) == "il dit\u00a0: «\u202foui.\u202f»"


def edit(language: str, text: str, labels: list[Label], keep: bool = False) -> str:
    own = scheme(language)
    return apply_edits(text, Editor(own, keep=keep).edits(text, split_words(text, own.abbreviated), labels))


def test_marks_that_open_are_corrected_unless_they_are_kept() -> None:
    text = "¿vienes o no. ¡ven ya?"
    labels = [Label(), Label(), Label("PERIOD"), Label(), Label("QUESTION")]
    assert edit("es", text, labels) == "vienes o no. ¿ven ya?"
    assert edit("es", text, labels, keep=True) == text
    assert edit("es", "¿vienes tú?", [Label(), Label("QUESTION")]) == "¿vienes tú?"
    assert edit("es", "¿vienes ¿tú?", [Label(), Label("QUESTION")]) == "¿vienes tú?"


def test_a_question_mark_that_is_open_already() -> None:
    text, doubt = "nació en 1820 (¿?) en lima", [*[Label()] * 2, Label("QUESTION"), *[Label()] * 2]
    assert edit("es", text, [Label()] * 5) == "nació en 1820 () en lima"
    assert edit("es", text, [*[Label()] * 4, Label("QUESTION")]) == "¿nació en 1820 () en lima?"
    assert edit("es", text, doubt) == edit("es", text, [Label()] * 5, keep=True) == text


forms = st.lists(
    st.sampled_from(["hola", "qué", "I", "lunes", "¿tú", "oui ?", "no.", "así, ", "x!", "(¿?)", "«a»", "我"]),
    min_size=1,
)
marks = st.sampled_from(["O", *MARK_OF.values()])


@given(st.sampled_from(LANGUAGES), forms, st.data(), st.booleans())
def test_words_never_change(language: str, parts: list[str], data: st.DataObject, keep: bool) -> None:
    """Whatever the labels: the words are the same, and every mark that opens has one that ends its sentence."""
    text, own = " ".join(parts), scheme(language, pairs=True)
    words = split_words(text, own.abbreviated)
    kinds = st.sampled_from(["", *PAIRS])
    labels = [
        Label(data.draw(marks), data.draw(st.sampled_from(CASES)), data.draw(kinds), data.draw(kinds)) for _ in words
    ]
    edits = Editor(own, keep=keep).edits(text, words, labels)
    assert all(one.end <= two.start for one, two in zip(edits, edits[1:]))
    after = apply_edits(text, edits)
    assert [c for c in after.lower() if c.isalnum()] == [c for c in text.lower() if c.isalnum()]
    if language == "es" and not keep and "(¿?)" not in text:  # which stays where no word takes it for its mark
        wanted = sum(label.mark in ("QUESTION", "EXCLAMATION") for label in labels)
        assert sum(after.count(sign) for sign in INVERTED) == wanted


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_of_languages(language: str) -> None:
    preset = preset_of(language)
    assert all(form == key or form.lower() == key for key, form in preset.forms.items())
    assert preset.forms.keys().isdisjoint(preset.abbreviations)
    assert all(abbreviation == abbreviation.lower() for abbreviation in preset.abbreviations)


def test_cases_are_told_as_they_are_written(tmp_path: Path) -> None:
    nlp = build(marks={**MARKS, "case": True, "language": "en"})
    examples = make_examples(nlp, tmp_path)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    doc = nlp("and then i went to london with a phd")
    assert [word.strip(".,") for word in doc._.restored.split()][2::3] == ["I", "London", "PhD"]
    assert [token._.case for token in doc][2::3] == ["Title", "Title", "mixed"]


def test_unknown_languages_are_told() -> None:
    with pytest.warns(CRFWarning, match="CRFW980.*'xx'"):
        build(marks={**MARKS, "language": "xx"})

"""Texts cut into words and marks."""

import time
from unicodedata import normalize

import pytest
from helpers.punctuated import strip
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.errors import CRFError
from spacy_crf.punctuation.block import SIGNS, LabelScheme
from spacy_crf.punctuation.labels import Label
from spacy_crf.punctuation.restore import restore
from spacy_crf.punctuation.words import split_words, strongest, takes_no_mark

ALL = LabelScheme([*SIGNS])


def read(text: str) -> list[tuple[str, str]]:
    stripped = strip(text, ALL)
    return [(word, label.mark) for word, label in zip(*stripped)]


@pytest.mark.parametrize(
    "text, words",
    [
        ("Well, no.", [("Well", "COMMA"), ("no", "PERIOD")]),
        ("Don't go to well-known shops!", ["Don't", "go", "to", "well-known", ("shops", "EXCLAMATION")]),
        ("It cost 3.50, at 10:30.", ["It", "cost", ("3.50", "COMMA"), "at", ("10:30", "PERIOD")]),
        ("Dr. J. Hale met Mrs. Oake at 5 a.m.", ["Dr.", "J.", "Hale", "met", "Mrs.", "Oake", "at", "5", "a.m."]),
        ("А. С. Ге, Č. Žák. Γ. Ροΐδης", ["А.", "С.", ("Ге", "COMMA"), "Č.", ("Žák", "PERIOD"), "Γ.", "Ροΐδης"]),
        ("So did I. Really?!", ["So", "did", ("I", "PERIOD"), ("Really", "QUESTION")]),
        ("wait—no -- yes – or 1990–95", [("wait", "DASH"), ("no", "DASH"), ("yes", "DASH"), "or", "1990–95"]),
        ("Hm ... maybe… so...", [("Hm", "ELLIPSIS"), ("maybe", "ELLIPSIS"), ("so", "ELLIPSIS")]),
        ("a , b ; c : d", [("a", "COMMA"), ("b", "SEMICOLON"), ("c", "COLON"), "d"]),
        ("¿qué? ¡no!", [("qué", "QUESTION"), ("no", "EXCLAMATION")]),
        ("مرحبا، كيف؟", [("مرحبا", "COMMA"), ("كيف", "QUESTION")]),
        ("好。", [("好", "PERIOD")]),
        ("好吗？说：iPhone 3.5米。", ["好", ("吗", "QUESTION"), ("说", "COLON"), "iPhone", "3.5", ("米", "PERIOD")]),
        ("我…你——他、テレ", [("我", "ELLIPSIS"), ("你", "DASH"), ("他", "COMMA"), "テ", "レ"]),
        ("Τι είναι\u037e", ["Τι", ("είναι", "QUESTION")]),
        ("R&D & $5 = C++", ["R&D", "&", "$5", "=", "C++"]),
        ("👍. 🙂🙂", [("👍", "PERIOD"), "🙂🙂"]),
        ("see .net or .5 today", ["see", ".net", "or", ".5", "today"]),
        ("a. —b ?!... c", [("a", "PERIOD"), ("b", "QUESTION"), "c"]),
        ("- item\n- next", ["item", "next"]),
        ("a --> b <-- c ---> d-->e", ["a", "-->", "b", "<--", "c", "--->", "d-->e"]),
        ("a -- b ---c", [("a", "DASH"), ("b", "DASH"), "c"]),
        ("‘Well,’ said 'Mr. Hale!'", [("‘Well", "COMMA"), "said", "'Mr.", ("Hale", "EXCLAMATION")]),
        ("“‘No.’” ‘So—’ 'it...' is", [("‘No", "PERIOD"), ("‘So", "DASH"), ("'it", "ELLIPSIS"), "is"]),
        ("‘no’. dogs', well—’tis", [("‘no’", "PERIOD"), ("dogs'", "COMMA"), ("well", "DASH"), "’tis"]),
        ("他说‘好。’是", ["他", "说", "‘", ("好", "PERIOD"), "是"]),
        ("שלום.\u200f \u200f(מה…\u200f) לא ?\u200e", [("שלום", "PERIOD"), ("מה", "ELLIPSIS"), ("לא", "QUESTION")]),
        ("か\u3099。葛\U000e0100", [("か\u3099", "PERIOD"), "葛\U000e0100"]),
        ("... --", []),
        ("", []),
        (" \n\t", []),
    ],
)  # fmt: skip
def test_words_and_marks(text: str, words: list[str | tuple[str, str]]) -> None:
    assert read(text) == [word if isinstance(word, tuple) else (word, "O") for word in words]


@pytest.mark.parametrize(
    "text, around",
    [
        ("“So it is,” said Ann.", [("QUOTE", ""), ("", ""), ("", "QUOTE"), ("", ""), ("", "")]),
        ('"No" (he said).', [("QUOTE", "QUOTE"), ("BRACKET", ""), ("", "BRACKET")]),
        ("说：“我”（笑）「吧」。", [("", ""), ("QUOTE", "QUOTE"), ("BRACKET", "BRACKET"), ("QUOTE", "QUOTE")]),
        ("Er: »Ja«, ›nein‹.", [("", ""), ("QUOTE", "QUOTE"), ("QUOTE", "QUOTE")]),
        ("Lui « Oui », « non ».", [("", ""), ("QUOTE", "QUOTE"), ("QUOTE", "QUOTE")]),
        ("Lui: «Oui», ‹non›.", [("", ""), ("QUOTE", "QUOTE"), ("QUOTE", "QUOTE")]),
        ("one ( two ) three", [("", ""), ("BRACKET", "BRACKET"), ("", "")]),
    ],
)
def test_what_opens_and_closes(text: str, around: list[tuple[str, str]]) -> None:
    assert [(word.opening, word.closing) for word in split_words(text)] == around


@pytest.mark.promise
@given(st.text(alphabet="aB é'’-.,?!;:—…()“”\"¿ \n1👍ßİ漢ش", max_size=40))
def test_nothing_but_marks_and_space_is_outside_of_words(text: str) -> None:
    at, outside = 0, list[int]()
    for word in split_words(text):
        assert at <= word.start < word.end <= len(text) and not text[word.start].isspace()
        outside += range(at, word.start)
        at = word.end
        if word.mark:
            assert word.end <= word.mark_start < word.mark_end <= len(text)
        assert word.end <= word.tail <= len(text)
    outside += range(at, len(text))
    assert not any(text[place].isalnum() or text[place] == "👍" for place in outside)
    behind = (text[:place].rstrip("'’") for place in outside if text[place] in "'’")
    assert all(before[-1:] in {*'.,?!;:—…()“”"¿-'} for before in behind)  # a mark, or what closes


def test_the_strongest_mark_counts() -> None:
    assert strongest(["COMMA", "QUESTION", "EXCLAMATION"]) == "QUESTION"
    assert strongest([]) == ""


def test_marks_collapse() -> None:
    marks = LabelScheme(["COMMA", "PERIOD"], {"EXCLAMATION": "PERIOD", "COLON": "COMMA"})
    assert [marks.label(name) for name in ("EXCLAMATION", "COLON", "DASH", "COMMA", "")] == [
        *("PERIOD", "COMMA", "O", "COMMA", "O")
    ]
    assert marks.is_end("PERIOD") and not marks.is_end("COMMA") and not marks.is_end("O")


@pytest.mark.parametrize(
    "settings, code",
    [
        ((("COMA",),), "CRF971"),
        (((),), "CRF972"),
        ((("COMMA",), {"COLON": "PERIOD"}), "CRF973"),
        ((("COMMA",), {"COMMA": "COMMA"}), "CRF973"),
    ],
)
def test_marks_that_are_refused(settings: tuple, code: str) -> None:
    with pytest.raises(CRFError) as error:
        LabelScheme(*settings)
    assert error.value.code == code


@pytest.mark.promise
@given(st.text(alphabet="我a(“”（。,. -–'", max_size=30))
def test_all_but_marks_and_white_space_is_in_one_word_of_any_script(text: str) -> None:
    words = split_words(text)
    inside = [place for word in words for place in range(word.start, word.end)]
    assert inside == sorted(set(inside))
    assert all(place in inside for place, sign in enumerate(text) if sign.isalnum())
    assert all(text[word.start : word.end] == "我" for word in words if "我" in text[word.start : word.end])


SIGNS_OF_CODE = [
    *("&", "=", "+", "😀", "👩‍👩‍👧", "->", "|", "*", ":)", ";-)"),
    *("--force", "-v", "https://example.org/a?b=c,d--e…f#g", "www.a.org/x--y", "ada.thorpe@example.org", "@ada", "#so"),
    *("3.5", "10:30", "1,000", "2nd", "10am", "v1.2.3", "config.cfg", "snake_case", "C:\\dir\\file", "/usr/bin"),
]


@pytest.mark.parametrize("sign", SIGNS_OF_CODE)
def test_signs_are_words_without_marks_inside(sign: str) -> None:
    for text in (f"so {sign} it", f"So, {sign} it. Is {sign}", f"(so {sign} it)", sign):
        words = [text[word.start : word.end] for word in split_words(text)]
        assert sign in words and set(words) <= {sign, "so", "So", "it", "Is"}
    assert takes_no_mark(sign) == (not any(map(str.isalnum, sign)))


@pytest.mark.parametrize(
    "text, words",
    [
        ("so :). it", ["so", (":)", "PERIOD"), "it"]),
        ("so:)", ["so", ":)"]),
        ("so!:-)… it", [("so", "EXCLAMATION"), (":-)", "ELLIPSIS"), "it"]),
        ("好:), it", ["好", (":)", "COMMA"), "it"]),
        ("(so it:) is:)", ["so", ("it", "COLON"), "is", ":)"]),
        ("f(x;)", [("f(x", "SEMICOLON")]),
    ],
)
def test_an_emoticon_beside_a_mark_or_a_word_is_a_word(text: str, words: list[str | tuple[str, str]]) -> None:
    found = [(text[word.start : word.end], word.mark) for word in split_words(text)]
    assert [(form, mark) if mark else form for form, mark in found] == words


@pytest.mark.parametrize("text", ["(" * 30_000 + "a", "(" * 20_000 + "a" + ":)" * 20_000, ":)." * 20_000])
def test_many_brackets_take_linear_time(text: str) -> None:
    start = time.process_time()
    split_words(text)
    assert time.process_time() - start < 3


def test_what_follows_a_sign() -> None:
    """No mark stands behind a sign, and a sentence begins with the word behind it; measures are words."""
    scheme, words = LabelScheme(["PERIOD"], case=True), ["great", "😀", "see", "you"]
    labels = [Label("PERIOD", "Title"), Label("O", "lower"), Label("O", "lower"), Label("PERIOD", "lower")]
    assert restore(words, labels, scheme) == "Great. 😀 See you."
    assert not any(map(takes_no_mark, ["%", "€", "°", "a&b", "50", "だ"]))


@pytest.mark.parametrize("word", ["2nd", "https://x.org", "a@x.org", "--force", "file.txt", "#so", "@ada", "a_b"])
@pytest.mark.parametrize("case", ["Title", "UPPER", "lower"])
def test_signs_keep_their_case(word: str, case: str) -> None:
    labels = [Label("PERIOD", case)] * 2
    assert restore(["so", word], labels, LabelScheme(["PERIOD"], case=True)).split()[1] == f"{word}."


def test_periods_of_letters_whose_accents_or_vowels_are_characters_of_their_own() -> None:
    text = normalize("NFD", "Č. Novák a É. Zola. कि.मी. दूर. कहा.")
    found = [(normalize("NFC", text[word.start : word.end]), word.mark) for word in split_words(text)]
    told = [("Č.", ""), ("Novák", ""), ("a", ""), ("É.", ""), ("Zola", "PERIOD"), ("कि.मी.", ""), ("दूर", "PERIOD")]
    assert found == [*told, ("कहा", "PERIOD")]

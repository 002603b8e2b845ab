"""Escaping: whatever the text, LaTeX gives it back."""

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_crf.reading import latex
from spacy_crf.reading.latex import ACCENTS, LETTERS, decode, encode, protect_capitals, unescape

ODD = "\\{}~^&%$#_-–—'`,<>\"“”‘’«»äÅßøłıñçĳǖạ日本Ωй!?@=:;()[]|*+/. aZ0"
texts = st.text(st.sampled_from(ODD) | st.characters(exclude_categories=("Cc", "Cs")), max_size=40)
composed = texts.map(lambda text: unicodedata.normalize("NFC", text))


@given(composed, st.booleans())
@example("a--b---c–-d", False)
@example("\\textbackslash{}", False)
@example('{\\"a}', True)
@example("a?`b!`c", False)
@example("\\alpha \\c c", False)
def test_round_trip(text: str, unicode: bool) -> None:
    latex = encode(text, unicode)
    assert decode(latex) == text
    depth = 0
    for char in latex:
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0


@given(composed, st.booleans())
def test_titles_round_trip(text: str, unicode: bool) -> None:
    assert decode(protect_capitals(text, unicode)) == text


@pytest.mark.parametrize(
    "text, latex",
    [
        ("Volt & Ampere, 5 % off #1_a$", r"Volt \& Ampere, 5 \% off \#1\_a\$"),
        ("Þórr Brandão š ç Ł ß", r"{\TH}{\'o}rr Brand{\~a}o {\v{s}} {\c{c}} {\L} {\ss}"),
        ("“x” – y", r"{\textquotedblleft}x{\textquotedblright} -- y"),
        ("a{b}\\", r"a{\textbraceleft}b{\textbraceright}{\textbackslash}"),
    ],
)
def test_commands(text: str, latex: str) -> None:
    assert encode(text) == latex


def test_identifiers_as_programs_write_them() -> None:
    written = r"10.5555/(SICI)10{\textless}16::AID-X{\textgreater}3.0.CO\;2-2\textunderscore a{\_}b{\textasciitilde}c"
    assert unescape(written) == "10.5555/(SICI)10<16::AID-X>3.0.CO;2-2_a_b~c"


def test_all_accents_and_letters_become_ascii() -> None:
    text = unicodedata.normalize("NFC", "".join(f"a{mark}" for mark in ACCENTS.values())) + "".join(LETTERS)
    single = "".join(
        char for char in text if len(unicodedata.normalize("NFD", char)) <= 2 and not unicodedata.combining(char)
    )
    assert encode(single).isascii()
    assert not encode(single, unicode=True).isascii()


@pytest.mark.parametrize(
    "latex, text",
    [
        (r"\"a \'{e} \'{\i} {\'\i} \c{c} \c c \v s", "ä é í í ç ç š"),
        (r"{\o}re \o re \ss{} \AA ngstr\"om", "øre øre ß Ångström"),
        (r"A~B {DNA} \emph{x}", "A B DNA x"),
        (r"\& \% \{ \}", "& % { }"),
        (r"{\em Taylor} & Francis, 50% off: $5", "Taylor & Francis, 50% off: $5"),
        (r"\textbraceleft x\textbraceright \S{}7 \pounds{}3 \copyright{} \textasciicircum", "{x}§7 £3 © ^"),
        (r"http://a.org/\~{}lee/x\^{}2", "http://a.org/~lee/x^2"),
        (r"\ensuremath{\beta}-blockers, H$_2$O, $10^{-3}$", "β-blockers, H$_2$O, $10^{-3}$"),
        (r"\cite{lee} \footnote{so} \unheard{of} \href{a}{b}", r"\cite{lee} \footnote{so} of b (a)"),
        (r"\emph{E. coli} in {\it vivo}, \textsuperscript{13}C", "E. coli in vivo, 13C"),
        (r"$\alpha$-helices of {\relax Ch}.~\protect\'Emile", "α-helices of Ch. Émile"),
        (r"\euro\,5, \unheard", r"€ 5, \unheard"),
        (r"an {open \"o", r"an {open \"o"),
        (
            r"\glqq Haff\grqq{} und \flqq{}Pier\frqq{}, \glq a\grq, \og Le quai \fg{}",
            "„Haff“ und «Pier», ‚a‘, « Le quai  »",
        ),
        (r"\enquote{The \emph{old} Pier} and \mkbibquote{Rope}", "“The old Pier” and “Rope”"),
        (r"\foreignlanguage{german}{Haff} \textcolor{red}{Pier} \unheard{} 3", r"Haff Pier \unheard 3"),
    ],
)
def test_what_others_write_is_read(latex: str, text: str) -> None:
    assert decode(latex).replace("ß ", "ß ") == text


@pytest.mark.parametrize(
    "title, latex",
    [
        ("Vitamin D in night-shift bakers of Leiden", "Vitamin {D} in night-shift bakers of {Leiden}"),
        ("An implementation guide for MicroSketch", "An implementation guide for {MicroSketch}"),
        ("Garbage Collection for Spreadsheets", "Garbage Collection for Spreadsheets"),
        ("Lazy SAT (in ML)", "Lazy {SAT} (in {ML})"),
        ("Silence as consent: Two views", "Silence as consent: Two views"),
        ("Credit from Below", "Credit from Below"),
        ("", ""),
    ],
)
def test_capitals(title: str, latex: str) -> None:
    assert protect_capitals(title) == latex


def test_without_pylatexenc_only_markup_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pylatexenc", None)
    latex.reader.cache_clear()
    assert decode("a plain title") == "a plain title"
    with pytest.raises(ImportError, match="CRF649"):
        decode(r"\"o")

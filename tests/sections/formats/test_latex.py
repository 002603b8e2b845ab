"""LaTeX: documents written by hand, with the trees and the texts that their pages show."""

import sys
import time
from pathlib import Path

import pytest
import spacy

from spacy_crf import CRFError, CRFWarning, SectionCorpus, read_layout
from spacy_crf.reading.latex import signs
from spacy_crf.sections.layout import DocumentLayout, to_doc
from spacy_crf.sections.segment import Kind

ARTICLE = r"""% A comment \section{of no account}
\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\newcommand{\boat}[2][slow]{the #1 #2}
\newcommand{\rule@}{\section}
\newtheorem{claim}{Claim}
\title{Ferries of the\\ Port\thanks{To nobody}}
\author{A.~Quay \and B.~Pier}
\begin{document}
\maketitle
\begin{abstract}
Short; more in Section~\ref{sec:tides}.
\end{abstract}
\section{Of \emph{boats}} \label{sec:boats}
Caf\'e, na\"{\i}ve, Stra\ss{}e, \c{c}a, 5\,\% --- ``quoted'' % gone
and $x_i \le 3$.\footnote{A note of no account.}

See \boat{raft} and \boat[fast]{ferry}.
\subsection[Short]{Tides \& waves}\label{sec:tides}
\begin{itemize}
  \item One \begin{enumerate} \item Two \item Three \end{enumerate}
  \item[x)] Four
\end{itemize}
\paragraph{Run in.} They come
% a line of its own
and go.
\begin{claim}[Quay] \textbf{All} of it.\end{claim}
\section*{Thanks}
\verb|\section{x}| and \url{http://a.b/50%25_c} \cite[p.~3]{key}, \unknown[option]{kept}.
\appendix
\section{Tables}
\section{Lists}
\begin{thebibliography}{9}
\bibitem{key} A book.
\end{thebibliography}
\end{document}
\section{behind the end}
"""
BOOK = r"""
\documentclass[ngerman, chapterprefix=true]{scrbook}
\begin{document}
\frontmatter
\chapter{Vorwort}
\section{Dank}
\mainmatter
\part{Wasser}
\chapter{Fähren}
\section{Boote}
\subsection{Ruder}
\subsubsection{Holz}
\chapter[kurz]{Häfen}
\addsec{Ohne Zahl}
\part{Land}
\chapter{Wege}
\appendix
\chapter{Tafeln}
\section{Eins} Tabellen.
\backmatter
\chapter{Register}
\end{document}
"""
PIECE = r"""
\newcommand\head[1]{\subsection{#1}}
\newenvironment{warning}{\begin{quote}\textbf{Mind:} }{\end{quote}}
\def\who#1{the #1}
\section{First {\em of} all}
Text of \who{crew}.
\begin{warning}
The step.
\end{warning}
\head{Second}
\subparagraph*{Deep}
"""


def read(tmp_path: Path, text: str, name: str = "ferry.tex") -> DocumentLayout:
    path = tmp_path / name
    path.write_text(text, encoding="utf8")
    return read_layout(path)


def outline(layout: DocumentLayout, markup: str = "trust") -> list[tuple[int, str, str]]:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": markup})
    tree = nlp(to_doc(nlp.vocab, layout))._.section_tree
    return [(node.level, node.number, node.title) for node in tree.walk()]


def units(layout: DocumentLayout) -> list[str]:
    return [layout.text[start:end].strip() for start, end, style in layout.runs if style == "other"]


def test_an_article(tmp_path: Path) -> None:
    layout = read(tmp_path, ARTICLE)
    assert [line.strip() for line in layout.text.splitlines()] == [
        *("Ferries of the Port", "A. Quay", "B. Pier", "Abstract", "Short; more in Section 1.1."),
        *("1 Of boats", "Café, naïve, Straße, ça, 5 % — “quoted” and x_i ≤3.", "See the slow raft and the fast ferry."),
        *("1.1 Tides & waves", "- One", "a. Two", "b. Three", "x) Four", "Run in.", "They come and go."),
        *("Claim (Quay). All of it.", "Thanks", r"\section{x} and http://a.b/50%25_c [key], kept."),
        *("A Tables", "B Lists", "References", "[key] A book."),
    ]
    assert outline(layout) == [
        (1, "", "Ferries of the Port"),
        *[
            (2, "", "Abstract"),
            (2, "1", "Of boats"),
            (3, "1.1", "Tides & waves"),
            (4, "", "Run in."),
            (2, "", "Thanks"),
        ],
        *[(2, "A", "Tables"), (2, "B", "Lists"), (2, "", "References")],
    ]


@pytest.mark.parametrize(
    "start, numbers",
    [
        (r"\documentclass[ngerman]{scrreprt}", ["1", "A"]),
        (r"\documentclass[ngerman, chapterprefix=false]{scrbook}", ["1", "A"]),
        (r"\documentclass[chapterprefix]{scrbook}", ["Chapter 1", "Appendix A"]),
        (r"\documentclass[ngerman]{book}", ["Kapitel 1", "Anhang A"]),
    ],
)
def test_words_of_chapters_by_class(tmp_path: Path, start: str, numbers: list[str]) -> None:
    layout = read(tmp_path, rf"{start}\begin{{document}}\chapter{{Boats}}\appendix\chapter{{Tables}}\end{{document}}")
    assert [number for _, number, _ in outline(layout)] == numbers


@pytest.mark.parametrize("markup", ["trust", "prefer"])
def test_a_book(tmp_path: Path, markup: str) -> None:
    layout = read(tmp_path, BOOK)
    assert layout.language == "de"
    assert outline(layout, markup) == [
        *[(1, "", "Vorwort"), (2, "", "Dank")],
        *[(1, "Teil I", "Wasser"), (2, "Kapitel 1", "Fähren"), (3, "1.1", "Boote")],
        *[(4, "1.1.1", "Ruder"), (5, "", "Holz"), (2, "Kapitel 2", "Häfen"), (3, "", "Ohne Zahl")],
        *[(1, "Teil II", "Land"), (2, "Kapitel 3", "Wege"), (2, "Anhang A", "Tafeln"), (3, "A.1", "Eins")],
        (1, "", "Register"),
    ]


def test_a_piece_without_a_class(tmp_path: Path) -> None:
    layout = read(tmp_path, PIECE)
    assert outline(layout) == [(1, "1", "First of all"), (2, "1.1", "Second"), (3, "", "Deep")]
    assert "Mind: The step." in layout.text and "Text of the crew." in layout.text


def test_chapters_make_a_book_of_a_piece(tmp_path: Path) -> None:
    layout = read(
        tmp_path, r"\section{Before}\chapter[short]{Long}\section{Inner}\setcounter{chapter}{7}\chapter{Next}"
    )
    assert outline(layout)[1:] == [(1, "Chapter 1", "Long"), (2, "1.1", "Inner"), (1, "Chapter 8", "Next")]


def test_what_is_not_taken_apart(tmp_path: Path) -> None:
    layout = read(
        tmp_path,
        "\\section{A}\n\\begin{verbatim}\n\\section{B}\n  x % y\n\\end{verbatim}\n"
        "\\begin{table}[h]\n\\begin{tabular}{l|r}\na & \\bf b \\\\ \\hline\n\nc & \\multicolumn{2}{c}{d} \\\\[2mm]\n"
        "\\end{tabular}\n\\caption[short]{Of \\emph{fees}.}\\label{t}\n\\end{table}\n"
        "So \\[ x = \\frac{1}{2} \\] and\n\\begin{equation*}\ny\n\\end{equation*}\n\\iffalse never \\fi end",
    )
    found = [unit.replace(" ", "").replace("\n", "/") for unit in units(layout)]
    assert found == ["\\section{B}/x%y", "a\tb/c\td", "Offees.", "x=1/2", "y"]
    assert outline(layout) == [(1, "1", "A")]
    assert layout.text.endswith("end") and "never" not in layout.text


@pytest.mark.parametrize("name", ["part", "part.tex", "chapters/part"])
def test_files_beside_it_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "work" / f"{name.removesuffix('.tex')}.tex"
    path.parent.mkdir(parents=True)
    path.write_text("\\section{Inner}\nText.\n")
    assert outline(read(tmp_path / "work", f"\\section{{Outer}}\n\\input{{{name}}}\n")) == [
        (1, "1", "Outer"),
        (1, "2", "Inner"),
    ]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "none", "link", "x" * 5000])
def test_other_files_are_named_and_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.tex").write_text("\\section{Secret}")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link.tex").symlink_to(tmp_path / "secret.tex")
    with pytest.warns(CRFWarning, match=r"CRFW482.*ferry\.tex.*" + name[:9]):
        layout = read(tmp_path / "work", f"\\include{{{name}}} text")
    assert layout.text == "text"


def test_encodings_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    for option, encoding in (
        ("latin1", "latin-1"),
        ("ansinew", "cp1252"),
        ("utf8", "utf-8"),
        ("applemac", "mac_roman"),
    ):
        path.write_bytes(f"\\usepackage[{option}]{{inputenc}}\n\\section{{Fähre}}".encode(encoding))
        assert read_layout(path).text == "1 Fähre\n"
    path.write_bytes(b"\\section{F\xe4hre}")
    with pytest.raises(CRFError, match=r"CRF504.*a\.tex, line 1"):
        read_layout(path)


@pytest.mark.parametrize(
    "text",
    [
        r"\def\x{\x}\x",
        r"\def\x{\x\x}\x",
        r"\def\x{\x{}a}\x",
        r"\newcommand{\x}[1]{#1#1#1#1#1#1#1#1#1#1}" + r"\x{" * 9 + "a" + "}" * 9,
        r"\newenvironment{x}{\begin{x}}{}\begin{x}",
        r"\footnote{" + "\n\n\\footnote{" * 20_000,
        r"\newcommand{\x}[1]{#1}" + r"\x{" * 20_000 + "}" * 20_000,
        r"\input{ferry}",
    ],
)
def test_macros_without_an_end_are_refused(tmp_path: Path, text: str) -> None:
    begun = time.process_time()
    with pytest.raises(CRFError, match=r"CRF482.*ferry\.tex"):
        read(tmp_path, text)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "{",
            "}",
            "$",
            "$$",
            "\\[",
            "\\]",
            "[",
            "\\section{",
            "\\section",
            "\\begin{quote}",
            "\\end{quote}",
            "\\item ",
        ),
        *(
            "\\begin{itemize}",
            "\\end{itemize}",
            "\\textbf{",
            "\\verb|",
            "\\'",
            "\\",
            "&",
            "\\begin{tabular}",
            "\\item[",
        ),
        *(
            "\\begin{verbatim}",
            "\\caption{",
            "\\newcommand",
            "\\def\\x",
            "\\begin",
            "\\ref{x}\\label{x}",
            "%",
            "~",
            "\\\\[",
        ),
        *("\\begin{x", "\\maketitle", "\\title", "\\footnote{", "\\cite[", "a\n\n", "\\bf "),
    ],
)
def test_unbalanced_text_is_read_in_linear_time(tmp_path: Path, piece: str) -> None:
    begun = time.process_time()
    try:
        layout = read(tmp_path, piece * 20_000)
    except CRFError as error:
        assert error.code == "CRF482"
    else:
        assert len(layout.text) <= 2 * 20_000 * len(piece)
    assert time.process_time() - begun < 10


def test_a_long_line_is_read(tmp_path: Path) -> None:
    begun = time.process_time()
    layout = read(tmp_path, "\\section{A} " + "ferries sail, " * 700_000)
    assert len(layout.text) > 9_000_000
    assert time.process_time() - begun < 10


def test_braces_that_are_missing_end_with_the_paragraph(tmp_path: Path) -> None:
    layout = read(
        tmp_path,
        "\\section{First\n\nText {of it.\n\n\\begin{equation} x\n\n\\section{Second}\nMore.\\footnote{no\n\nEnd.",
    )
    assert outline(layout) == [(1, "1", "First"), (1, "2", "Second")]
    assert layout.text.endswith("More.\nEnd.")


def test_without_pylatexenc_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signs.cache_clear()
    monkeypatch.setitem(sys.modules, "pylatexenc", None)
    with pytest.raises(CRFError, match=r"CRF561.*pylatexenc.*spacy_crf\[latex\]"):
        read(tmp_path, ARTICLE)


@pytest.mark.parametrize("text", [ARTICLE, BOOK, PIECE])
def test_headings_are_the_gold_of_a_corpus(tmp_path: Path, text: str) -> None:
    trusted = outline(read(tmp_path, text))
    for rendering in ("plain", "dense", "marked"):
        (doc,) = SectionCorpus(tmp_path / "ferry.tex", rendering=rendering).read_docs(spacy.blank("en").vocab)
        assert [(node.level, node.number, node.title) for node in doc._.section_tree.walk()] == trusted
    found = set()
    for doc in SectionCorpus(tmp_path, rendering="mixed", copies=5).read_docs(spacy.blank("en").vocab):
        found.add(doc.text)
        titles = [node.title.casefold().rstrip(":") for node in doc._.section_tree.walk()]
        assert [title for title in titles if title not in ("contents", "inhalt")] == [
            title.casefold().rstrip(":") for *_, title in trusted
        ]
    assert len(found) > 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\noindent [1] Smith. \unknown[option]{kept}", "[1] Smith. kept"),
        (r"\section{One} \begin{figure}\caption{A \label{f}}\end{figure} In \ref{f}.", "1 One\nA\nIn ??."),
        (r"\section{One} \begin{equation}\label{e} x \end{equation} By \ref{e}.", "1 One\nx\nBy ??."),
        (r"\section{One} \[ x \label{e} \] By \ref{e}.", "1 One\nx\nBy ??."),
        (r"\section{One} \label{s} In \ref{s}.", "1 One\nIn 1."),
        (r"\addtocounter{section}{2}\section{Three} \stepcounter{section}\section{Five}", "3 Three\n5 Five"),
        (r"\href{http://a.b/%20c}{A link} stays.", "A link stays."),
        (r"\newcommand{\R}{R}$\R*$ and \R* stay.", "R* and R* stay."),
        (r"Let $a$$b$ and $c~d & e$ be $$f$$ so.", "Let ab and c d \te be\nf\nso."),
        ("One % sic \\begin{document}\n\\section{Two} Text.", "One\n1 Two\nText."),
        (r"\section{One} Write \verb|\begin{document}| first.", "1 One\nWrite \\begin{document} first."),
    ],
)
def test_no_text_is_lost_and_no_number_is_wrong(tmp_path: Path, text: str, shown: str) -> None:
    (tmp_path / "x.tex").write_text(text, encoding="utf8")
    found = read_layout(tmp_path / "x.tex")
    assert [line.strip() for line in found.text.strip().splitlines()] == shown.split("\n")


REFERRED = (
    r"\part{One}\label{p}\section{Boats}\label{b}\subsection{Oak}\label{o}\section{Ice}\label{i}"
    r"\appendix\section{Data}\label{d}\subsection{Raw}\label{r}\section*{End}\label{n} "
)


@pytest.mark.parametrize(
    "command, printed",
    [
        (r"Section~\ref{o}, Part~\ref{p}", "Section 1.1, Part I"),
        (r"\autoref{o}, \autoref{d}, \autoref*{r}, \autoref{p}", "section 1.1, Appendix A, section A.1, Part I"),
        (r"\cref{o}, \Cref{i}, \cref{r} and \cref{p}", "section 1.1, Section 2, appendix A.1 and part I"),
        (
            r"\cref{b,o,i}; \Cref{b, d}; \cref{d,r}",
            "sections 1, 1.1 and 2; Section 1, Appendix A; appendices A and A.1",
        ),
        (r"\cref{x}, \cref{b,x}, \autoref{x}", "??, 1, ??, ??"),
        (
            r"\setmainlanguage{german}\autoref{o}, \cref{b,i}, \autoref{d}",
            "Abschnitt 1.1, Abschnitte 1 und 2, Anhang A",
        ),
        (r"\setmainlanguage{dutch}\cref{b,i}", "paragrafen 1 en 2"),
        (r"\def\sectionautorefname{Sec.}\autoref{i}", "Sec. 2"),
        (r"Section~\ref{i} on page~\pageref{i}", "Section 2 on page ??"),
        (r"\nameref{o}, ``\nameref{i}'', \nameref*{n}, \nameref{x}", "Oak, “Ice”, End, ??"),
        (r"\crefrange{b}{i}, \Crefrange{b}{o}, \crefrange{x}{i}", "sections 1 to 2, Sections 1 to 1.1, ??, 2"),
        (r"\setmainlanguage{german}\crefrange{b}{i}", "Abschnitte 1 bis 2"),
    ],
)
def test_references_have_their_words(tmp_path: Path, command: str, printed: str) -> None:
    layout = read(tmp_path, rf"\documentclass{{article}}\begin{{document}}{REFERRED}{command}\end{{document}}")
    assert layout.text.splitlines()[-1].strip() == printed


@pytest.mark.parametrize(
    "body, headings",
    [
        (
            r"\renewcommand{\thesection}{\Roman{section}}\section{A}\subsection{B}\appendix\section{C}",
            "I A, I.1 B, A C",
        ),
        (r"\renewcommand\thesubsection{\Alph{subsection}.}\section{A}\subsection{B}\subsection{C}", "1 A, A. B, B. C"),
        (r"\renewcommand{\thesubsection}{\thesection.\alph{subsection}}\section{A}\subsection{B}", "1 A, 1.a B"),
        (r"\renewcommand{\thesection}{\thesection}\section{A}\renewcommand{\thesection}{\odd}\section{B}", "1 A, 2 B"),
        (
            r"\let\old\section\renewcommand{\section}{\newpage\old}\section{A}\old*{B}\let\x=\section\x{C}",
            "1 A, B, 2 C",
        ),
        (r"\twocolumn[\title{T}\maketitle\section*{A}]\section{B}", "T, A, 1 B"),
    ],
)
def test_headings_as_the_document_has_them_made(tmp_path: Path, body: str, headings: str) -> None:
    layout = read(tmp_path, rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}")
    found = [layout.text[start:end] for start, end, style in sorted(layout.runs) if style.startswith("heading")]
    assert ", ".join(map(str.strip, found)) == headings


def test_a_file_that_is_included_may_speak_of_documents(tmp_path: Path) -> None:
    (tmp_path / "x.tex").write_text("\\input{y} end", encoding="utf8")
    (tmp_path / "y.tex").write_text("Kept % \\begin{document}\nas well", encoding="utf8")
    assert read_layout(tmp_path / "x.tex").text.split() == ["Kept", "as", "well", "end"]


@pytest.mark.parametrize(
    "source, expected",
    [
        (r"a \iffalse b \else c \fi d", "a c d"),
        (r"a \iftrue b \else c \fi d \fi e \else f", "a b d e f"),  # what ends nothing is nothing
        (r"a \iffalse b \ifx\x\y c \else d \fi \section{No} e \else f \fi g", "a f g"),
        (r"a \iffalse \ifthenelse{\x}{b}{c} $x \iff y$ \ifpkg{d}{e} \fi g", "a g"),
        ("a \\iffalse % \\fi\nb \\\\fi c \\fi d", "a d"),
        (
            r"\newif\ifdraft a \ifdraft b \else c \fi \drafttrue \ifdraft d \else e \fi \draftfalse \ifdraft{f}\fi g",
            "a c d g",
        ),
        (r"\newcommand{\hide}{\iffalse} a \hide b \fi c", "a c"),
        (r"\def\x{1}\def\y{1} a \ifx\x\y b \else c \fi \ifx\x\z d \else e \fi \ifdefined\x f \else g \fi", "a b e f"),
        (r"a \ifnum\value{section}>3 b \else c \fi \ifodd\value{page} d\fi \ifdim\x<2pt e\fi f", "a c f"),
        (r"a \ifcase 1 b \or c \or d \else e \fi f \ifcase 9 b\or c\else d\fi", "a c f d"),
        (r"\newboolean{x}\setboolean{x}{true} \ifthenelse{\boolean{x}}{a}{b} \ifthenelse{\boolean{y}}{c}{d}", "a d"),
        (r"\newtoggle{x}\toggletrue{x} \iftoggle{x}{a}{b} \ifpdf c \else d \fi", "a c"),
        (r"a \iffalse b", "a"),
        (r"\ifoot[]{left} a", "left a"),
        (r"\ifdef\foo{a}{b} c", "a b c"),
        (r"\newif\ifa\newif\ifb \ifa \ifb{bold}\fi no \fi yes", "yes"),
        (r"\iffalse \ifx\ifpdf\undefined a\fi \fi b", "b"),
        (r"\let\ifdraft\iftrue \ifdraft a\else b\fi", "a"),
        (r"\ifunknown a\else b\fi c", "bc"),
        (r"a \iffalse b \ifunknown c \else d \fi e \fi f", "a f"),
        (r"\iftrue a \iftrue b \ifunknown c \else d \fi e \fi f \else g \fi h", "a b d e f h"),
        (r"a \iffalse b \ifunknown c \fi d", "a d"),  # with no end of its own: TeX passes over what it does not know
        (r"a \iffalse b \ifunknown c \else d \fi e", "a d e"),
        (r"a \ifcase 1 b \ifunknown c \or d \fi e", "a d e"),
        (r"\iftrue a \ifunknown b \else c \fi d", "a b d"),
        (r"\iftrue a \else \ifunknown b \fi c", "a c"),
        (r"\iftrue a \ifoot[]{b} c \fi d \ifunknown e\fi f", "a b c d f"),
        (r"\newif\ifold \iftrue a \ifold b \else c \fi \ifnew d \fi e \else f \fi g", "a c e g"),
    ],
)
def test_one_branch_of_a_conditional_is_read(tmp_path: Path, source: str, expected: str) -> None:
    for text in (source, f"\\documentclass{{article}}\n\\begin{{document}}\n{source}\n\\end{{document}}\n"):
        assert read(tmp_path, text).text.split() == expected.split()


def test_conditionals_of_the_preamble_hide_what_is_in_them(tmp_path: Path) -> None:
    source = r"\newif\iflong \iflong\title{Long}\else\title{Short}\fi "
    source += r"\begin{document}\maketitle \iflong a\fi b\end{document}"
    assert read(tmp_path, source).text.split() == ["Short", "b"]


def test_a_title_that_begins_with_a_is_no_appendix_where_another_one_is(tmp_path: Path) -> None:
    body = r"\section{Boats} Go. \section{Sails} Up. \section*{A Thing} So. \appendix \section{Data} No."
    path = tmp_path / "a.tex"
    path.write_text(rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}")
    layout = read_layout(path)
    numbers = [layout.text[unit.start : unit.end] for unit in layout.units if unit.kind is Kind.NUMBER]
    assert numbers == ["1", "2", "A"]
    assert layout.text.index("A Data") in {unit.start for unit in layout.units if unit.kind is Kind.NUMBER}


NATBIB = r"""
\begin{thebibliography}{3}
\providecommand{\natexlab}[1]{#1}
\expandafter\ifx\csname urlstyle\endcsname\relax
  \providecommand{\doi}[1]{doi: #1}\else
  \providecommand{\doi}{doi: \begingroup \urlstyle{rm}\Url}\fi

\bibitem[Quay and Pier(2019)]{quay}
A.~Quay and B.~Pier.
\newblock \emph{Journal of Water}, 12\penalty0 (3):\penalty0 45--67, 2019{\natexlab{a}}.
\newblock \doi{10.5555/jw_3}.

\bibitem[{\citenamefont {Moss}(2005)}]%
        {moss}
C.~Moss.
\bibitem[Lee01]{lee}
D.~Lee.
\end{thebibliography}
"""
IEEE = r"""
\begin{thebibliography}{1}
\csname url@samestyle\endcsname
\providecommand{\BIBentryALTinterwordstretchfactor}{4}
\providecommand{\BIBentryALTinterwordspacing}{\spaceskip=\fontdimen2\font plus
\BIBentryALTinterwordstretchfactor\fontdimen3\font minus
  \fontdimen4\font\relax}
\providecommand \bibinfo [0]{\@secondoftwo}%

\bibitem{quay}
\BIBentryALTinterwordspacing
A.~Quay, \emph{Rafts}.\hskip 1em plus 0.5em minus
  0.4em\relax Pier Press, \bibinfo {year} {2005}.
\end{thebibliography}
"""


@pytest.mark.parametrize("name", ["ferry.tex", "ferry.bbl"])
def test_lists_of_references_as_styles_of_bibtex_write_them(tmp_path: Path, name: str) -> None:
    lines = [line.strip() for line in read(tmp_path, NATBIB, name).text.splitlines()]
    first = "[quay] A. Quay and B. Pier. Journal of Water, 12(3):45–67, 2019a. doi: 10.5555/jw_3."
    assert [line for line in lines if line] == ["References", first, "[moss] C. Moss.", "[Lee01] D. Lee."]
    lines = [line.strip() for line in read(tmp_path, IEEE, name).text.splitlines()]
    assert [line for line in lines if line] == ["References", "[quay] A. Quay, Rafts. Pier Press, 2005."]


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"a\kern-.1em\emph{b} \vskip 2em plus 1fil minus 3pt c", "ab c"),
        (r"a \penalty-\@M b \hyphenpenalty=10000\relax c", "a b c"),
        (r"a\hskip\labelsep\textbf{b}\hspace*{1em}c\hspace{-1pt}d", "a b cd"),
        (r"The \language. Of\kern-\dimen0 it\hskip .1em\@plus.3em\@minus.1em all", "The . Ofit all"),
        (r"\begin{itemize}\item a\kern\end{itemize}b", "- a b"),
        (
            r"input/\hspace{0pt}output, foo-\hskip0.0em bar\hspace{0.5em}b\hskip 0pt plus 1fil c",
            "input/output, foo-bar b c",
        ),
        (r"\parindent=0pt a \parskip\emph{b} \kern 3pt 4 boats", "a b 4 boats"),
        (r"\raise2pt\hbox{a} \hbox to 3cm{b} \hbox{to c} \vrule width 2pt height 3pt d", "a b to c d"),
        (r"a \hskip 1em 5 in all", "a 5 in all"),
    ],
)
def test_amounts_of_tex_are_no_text(tmp_path: Path, written: str, printed: str) -> None:
    assert " ".join(read(tmp_path, written).text.split()) == printed


def test_keys_of_citations_stand_in_brackets(tmp_path: Path) -> None:
    layout = read(tmp_path, r"\citeauthor{a} (\citeyear{a}), \Citet*[see][3]{b}, \citealp{a,b}; \Parencite{c}.")
    assert layout.text.strip() == "[a] ([a]), [b], [a,b]; [c]."


@pytest.mark.parametrize(
    "written, printed",
    [
        (r"\newcommand{\fleet}{The Fleet\xspace}\fleet sails. \fleet, \fleet{} and \fleet\footnote{x}.",
         "The Fleet sails. The Fleet, The Fleet and The Fleet."),
        (r"Take $\frac{1}{2}$, \nicefrac{3}{4} or $\frac12$ of $\sqrt{2}$.", "Take 1/2, 3/4 or 1/2 of √(2)."),
        (r"\cventry{2003}{Degree}{}{{\bf Oslo}}. \unknown{a}b {c}{d}", "2003 Degree Oslo. ab cd"),
        (r"\lettrine{T}{he} ship, \mbox{sea}{man}, \unknown{ice}{}. \unknown{a}{, b}", "The ship, seaman, ice. a, b"),
        (r"10\textsuperscript{6}, 2\textsuperscript{-1/2}, 1\textsuperscript{st}", "10⁶, 2^-1/2, 1st"),
        (r"10\textsuperscript{$-6$}, \textsuperscript{2}1999, 1010\textsubscript{2}", "10⁻⁶, ²1999, 1010₂"),
        (r"Take $1\frac{1}{2}$, 2\nicefrac{3}{4} or $x\frac12$.", "Take 1 1/2, 2 3/4 or x1/2."),
        (r"At 5$^\circ$C or $90^{\circ}$, and\slash or", "At 5°C or 90°, and/or"),
        (r"${1\over2}$ or $2\binom{5}{2}$", "1/2 or 2(5 2)"),
        (r"\SI{9.8}{\metre\per\second\squared}, \qty[a=b]{5}{\kilo\gram}, \SI{3}{\GHz}, \SI{2}{\percent}",
         "9.8 m/s², 5 kg, 3 GHz, 2 %"),
        (r"\SI{2}{\cubic\centi\metre} of \si{\newton\metre}, \SIrange{1}{2}{\us}", "2 cm³ of N m, 1–2 µs"),
        (r"\enquote{A \enquote{b} c}, ?`que?", "“A ‘b’ c”, ¿que?"),
        (r"\og mot\fg{} \no 2, 1\ier{}", "« mot » n° 2, 1er"),
        (r"\cites{a}{b} \parencites[1]{a}[2]{b} \citetitle{a}", "[a,b] [a,b] [a]"),
        (r"\hyperlink{a}{Link} \pdfbookmark[1]{T}{t}\rotatebox{90}{up} \makebox[2cm][c]{box}", "Link up box"),
        (r"\begin{otherlanguage}{german}Wort\end{otherlanguage}", "Wort"),
        (r"\epigraph{All is well.}{Roe} \begin{block}{Boats}Rafts\end{block}", "All is well. Roe Boats Rafts"),
        (r"\begin{subfigure}[b]{0.4\textwidth}Boat\end{subfigure}", "Boat"),
        (r"\subfigure[Rafts]{\begin{tabular}{l}Boat\end{tabular}} \subfigure{Port}", "Boat Rafts Port"),
        (r"\alert<2>{Oars} \only<1,3->{float}\onslide<+->\begin{theorem}<2->[Roe] A\end{theorem}", "Oars float A"),
        (r"\begin{frame}<1->[plain]{Boats}\item<+-| alert@+> Oars $a<2>b$\end{frame}", "Boats - Oars a<2>b"),
        (r"\frametitle[Short]{Boats} \column{3cm}Oars\column[t]{3cm}Ropes", "Boats Oars Ropes"),
        (r"\Verb[fontsize=\small]|a_b| and \Verb*[x=y]{c} \verb[d[", "a_b and c d"),
        (r"$1{1\over2}$, $2{5 \choose 2}$, ${5\choose2}$ and $x{a\over b}$", "1 1/2, 2 5 2, 5 2 and xa/b"),
        (r"$\sqrt\frac{a}{2}+\sqrt[3]{8}-\sqrt x\sqrt\alpha\sqrt{\frac12}$", "√(a/2)+√[3](8)-√(x)√(α)√(1/2)"),
        (r"\begin{figure}\subfloat[Oars]{\includegraphics{a}}\subcaptionbox{Ropes}{x}\end{figure}z", "Oars x Ropes z"),
        (r"\ang{45}, \ang{1;2;3}, \ang{;30;}; \SIlist{1;2}{\metre}; \twocolumn[Top]", "45°, 1°2′3″, 30′; 1;2 m; Top"),
        (r"\qitem{Row.}{Roe}\dictum[Lund]{Float.}Oars\nomenclature[a]{$x$}{Oar}", "Row. Roe Float. Lund Oars"),
        (r"\mintinline{python}{a_b} \lstinline[language=C]!x! \Verb|q|", "a_b x q"),
    ],
)  # fmt: skip
def test_commands_of_packages_are_as_in_print(tmp_path: Path, written: str, printed: str) -> None:
    assert " ".join(read(tmp_path, written).text.split()) == printed


@pytest.mark.parametrize(
    "preamble, printed",
    [
        (r"\documentclass[ngerman]{article}\usepackage{babel}", "„Straße“ für Auflagen"),
        (r"\documentclass{article}\usepackage{german}", "„Straße“ für Auflagen"),
        (r"\documentclass{article}\usepackage[english]{babel}", "\"‘Stra\"se\"’ f\"ur Auf\"|lagen"),
        (r"\documentclass{article}\usepackage[ngerman]{babel}\def\languageshorthands#1{}",
         "\"‘Stra\"se\"’ f\"ur Auf\"|lagen"),
    ],
)  # fmt: skip
def test_shorthands_of_babel(tmp_path: Path, preamble: str, printed: str) -> None:
    layout = read(tmp_path, rf"""{preamble}\begin{{document}}"`Stra"se"' f"ur Auf"|lagen\end{{document}}""")
    assert layout.text.strip() == printed


def test_macros_of_the_document_go_before_those_of_packages(tmp_path: Path) -> None:
    layout = read(tmp_path, r"\newcommand{\num}[1]{No.~#1}\renewcommand{\frac}[2]{#2}\num{3} $\frac{a}{b}$")
    assert layout.text.strip() == "No. 3 b"


def test_frames_and_blocks_stand_apart_from_what_is_around(tmp_path: Path) -> None:
    block = (
        r"\begin{alertblock}<2->{Boats}\bfseries Rafts\end{alertblock} after \begin{itemize}\item<1-> A\end{itemize}"
    )
    layout = read(
        tmp_path, rf"\begin{{frame}}[t]{{Ports}}{{Old}} Before {block}\end{{frame}} \textbf<2>{{b}} \epigraph{{Q}}{{R}}"
    )
    assert [line.strip() for line in layout.text.splitlines()] == [
        *("Ports", "Old", "Before", "Boats", "Rafts", "after", "- A", "b", "Q", "R")
    ]
    assert "after" not in [layout.text[start:end].strip() for start, end, _ in layout.runs]


def test_qty_of_physics_sets_brackets(tmp_path: Path) -> None:
    source = r"\documentclass{article}\usepackage{physics}\begin{document}$\qty(\frac{a}{b})^2 \qty{x}+5$\end{document}"
    assert read(tmp_path, source).text.strip() == "(a/b)^2 x+5"


def test_degrees_of_gensymb(tmp_path: Path) -> None:
    text = r"\begin{document}At $5\degree$, 6\degree{}C and 7\,\celsius. \end{document}"
    assert (
        read(tmp_path, rf"\documentclass{{article}}\usepackage{{gensymb}}{text}").text.strip() == "At 5°, 6°C and 7 °C."
    )
    assert read(tmp_path, r"\begin{document}\degree{Doctor}\end{document}").text.strip() == "Doctor"  # of a thesis


def test_files_that_are_imported_are_read(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.tex").write_text("Rafts float.", encoding="utf8")
    assert read(tmp_path, r"Boats. \import{parts/}{one} End.").text.strip() == "Boats. Rafts float. End."
    with pytest.warns(CRFWarning, match="CRFW482"):
        read(tmp_path, r"\subimport{parts/}{two}")


def test_counters_of_lists_may_be_set(tmp_path: Path) -> None:
    text = r"\begin{enumerate}\setcounter{enumi}{4}\item a\begin{enumerate}\setcounter{enumii}{1}\item b\end{enumerate}"
    layout = read(tmp_path, rf"\setcounter{{enumi}}{{9}}{text}\addtocounter{{enumi}}{{2}}\item c\end{{enumerate}}")
    assert layout.text.split("\n") == ["5. a", "  b. b", "8. c", ""]


@pytest.mark.parametrize(
    "options, numbers",
    [
        ("start=5", ["5.", "6."]),
        (r"nosep, label=(\alph*), start={3}", ["c.", "d."]),
        ("(i)", ["i.", "ii."]),
        ("A., resume", ["A.", "B."]),
        ("itemsep=1em", ["1.", "2."]),
        ("Step 1", ["1.", "2."]),
    ],
)
def test_options_of_lists_say_how_they_are_numbered(options: str, numbers: list[str], tmp_path: Path) -> None:
    layout = read(tmp_path, rf"\begin{{enumerate}}[{options}]\item Oars\item Ropes\end{{enumerate}}")
    assert [line.split()[0] for line in layout.text.splitlines()] == numbers


@pytest.mark.parametrize(
    "preamble, written, printed",
    [
        (r"\usepackage{units}", r"\unit[5]{km}, \unitfrac[3]{m}{s} and \unit{kg}", "5 km, 3 m/s and kg"),
        (r"\DeclareMathOperator*{\argmax}{arg\,max}", r"$\argmax(x)$", "arg max(x)"),
        (r"\DeclareMathOperator{\unit}{unit}", r"$\unit(x)$", "unit(x)"),
        (r"\newtheorem{block}{Block}", r"\begin{block} Oars float.\end{block}", "Block. Oars float."),
    ],
)
def test_what_a_document_names_goes_before_packages(preamble: str, written: str, printed: str, tmp_path: Path) -> None:
    text = rf"\documentclass{{article}}{preamble}\begin{{document}}{written}\end{{document}}"
    assert " ".join(read(tmp_path, text).text.split()) == printed


@pytest.mark.parametrize("name", ["compactenum", "inparaenum", "enumerate*"])
def test_lists_of_packages_have_numbers(name: str, tmp_path: Path) -> None:
    layout = read(tmp_path, rf"\begin{{{name}}}[(a)]\item Oars\item Ropes\end{{{name}}}")
    assert layout.text == "a. Oars\nb. Ropes\n"

"""`crf cite`: a pasted bibliography and a trained tagger."""

import csv
import gzip
import io
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke
from helpers.entries import corpus_entries
from helpers.references import pasted, pasted_gold, read_references
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.bibliography.assemble import cite
from spacy_crf.bibliography.bibtex import read_bibtex, write_bibtex
from spacy_crf.bibliography.cli import COLUMNS, write_table
from spacy_crf.bibliography.csl import read_csl, write_csl
from spacy_crf.bibliography.dates import month_of
from spacy_crf.bibliography.entry import Date, Day, Entry, Name, Names
from spacy_crf.bibliography.lists import find_list, print_list
from spacy_crf.bibliography.split import split_references
from spacy_crf.core.errors import CRFError

STYLES = ("ieee", "plain", "harvard", "chicago_author_date")


def train(path: Path, target: str) -> Path:
    """A tagger of references, or for "sets" one that gives sets of tags, trained on a few styles."""
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "SHAPE[-1..1]", "SUFFIX2", "POSITION8"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1, "iterations_per_step": 30}
    factory, target = ("set_valued_tagger", "tag") if target == "sets" else ("crf_tagger", target)
    nlp.add_pipe(factory, config={"target": target, "features": features, "trainer": trainer})
    examples = []
    for reference in read_references("train", *STYLES):
        fields = [(label, nlp.make_doc(text)) for label, text in reference]
        gold = Doc.from_docs([doc for _, doc in fields])
        ends = [sum(len(doc) for _, doc in fields[: place + 1]) for place in range(len(fields))]
        gold.set_ents([Span(gold, end - len(doc), end, label=label) for (label, doc), end in zip(fields, ends)])
        gold.spans["sc"] = list(gold.ents)
        for token in gold:
            token.tag_ = token.ent_type_
        examples.append(Example(nlp.make_doc(gold.text), gold))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("model"), "ent")


@pytest.fixture
def bibliography(tmp_path: Path) -> Path:
    path = tmp_path / "pasted.txt"
    path.write_text(pasted(), encoding="utf8")
    return path


def run(*arguments: object, input: bytes | None = None, code: int = 0) -> tuple[str, str]:
    """Standard output and standard error."""
    result = invoke("cite", *arguments, data=input)
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result.stdout, result.stderr


@pytest.mark.parametrize("target", ["ent", "spans", "tag", "sets"])
def test_every_reference_comes_out_with_its_words(tmp_path: Path, bibliography: Path, target: str) -> None:
    out, _ = run(train(tmp_path / "model", target), bibliography, "--to", "csl")
    entries = read_csl(out)
    assert len(entries) == len(pasted_gold()) == 24
    for entry, (*_, text) in zip(entries, pasted_gold()):
        parts = "".join(filter(str.isalnum, str(entry)))
        words = [word for word in re.findall(r"[^\W\d_]{6,}", text) if month_of(word) is None]
        lost = [
            word for word in words if word not in parts and word not in ("editors", "edited", "Available", "accessed")
        ]
        assert lost == [], text


def test_formats_agree(model: Path, bibliography: Path, tmp_path: Path) -> None:
    bibtex, _ = run(model, bibliography)
    entries = read_bibtex(bibtex)
    assert bibtex.isascii()
    unicode, _ = run(model, bibliography, "--unicode")
    assert "Fähren" in unicode and read_bibtex(unicode) == entries
    csl, _ = run(model, bibliography, "--to", "csl")
    assert read_csl(csl) == entries
    target = tmp_path / "new" / "table.tsv"
    out, _ = run(model, bibliography, "--to", "tsv", "--output", target)
    assert "Wrote 24 references" in out
    rows = target.read_text(encoding="utf8").splitlines()
    assert [row.split("\t")[1] for row in rows[1:]] == [entry.key for entry in entries]


def test_standard_input(model: Path, bibliography: Path) -> None:
    from_file, _ = run(model, bibliography)
    from_stdin, _ = run(model, "-", input=b"\xef\xbb\xbf" + pasted().encode())
    assert from_stdin == from_file


def test_a_compressed_file(model: Path, bibliography: Path, tmp_path: Path) -> None:
    packed = tmp_path / "bibliography.txt.gz"
    packed.write_bytes(gzip.compress(bibliography.read_bytes()))
    assert run(model, packed) == run(model, bibliography)


def test_what_is_wrong_is_named(model: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.txt"
    latin.write_bytes("1. A. Böll, Häuser.\n".encode("latin1"))
    empty = tmp_path / "empty.txt"
    empty.write_text("References\n\n", encoding="utf8")
    for arguments, message in (
        ((latin,), "CRF640"),
        ((latin,), "0xf6 at position 7"),
        ((empty,), "CRF641"),
        ((tmp_path / "none.txt",), "none.txt"),
        ((empty, "--component", "other"), "CRF602"),
    ):
        out, error = run(model, *arguments, code=1)
        assert message in error.replace("\n", " ") and out == ""


def test_references_without_fields_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01, "iterations_per_step": 30}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    nlp.add_pipe("crf_tagger", config={"target": "ent", "features": features, "trainer": trainer})
    gold = Doc(
        nlp.vocab, words=["Lund", "ropes", "1999", "hey", "you"], ents=["B-AUTHOR", "B-TITLE", "B-DATE", "O", "O"]
    )
    examples = [Example(nlp.make_doc(gold.text), gold)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.to_disk(tmp_path / "model")
    out, error = run(tmp_path / "model", "-", input=b"Lund ropes\n  1999\n\nhey\n  you\n\nLund ropes\n  2000 hey\n")
    assert [(entry.authors.names, entry.title) for entry in read_bibtex(out)] == [((Name("Lund"),), "ropes")] * 2
    assert "CRF645" in error and "reference 2 (lines 4 to 5)" in error.replace("\n", " ")
    out, error = run(tmp_path / "model", "-", input=b"hey you\n", code=1)
    assert out == "" and "CRF646" in error and "AUTHOR, DATE, TITLE" in error.replace("\n", " ")


def test_rows() -> None:
    names = Names((Name("Kooij", "E.", "van der", "Jr."), Name("Ferry Council")), others=True)
    entry = Entry(key="k", authors=names, title="On bells", date=Date(Day(2003, 5), letter="a"))
    header, row = (line.split("\t") for line in write_table([entry]).splitlines())
    cells = dict(zip(header, row, strict=True))
    assert {name: text for name, text in cells.items() if text} == {
        "type": "misc",
        "key": "k",
        "authors": "van der Kooij, Jr., E.; Ferry Council; et al.",
        "title": "On bells",
        "date": "2003-05a",
    }


def test_the_corpus_has_a_row_for_each_entry() -> None:
    rows = list(csv.reader(io.StringIO(write_table(corpus_entries())), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == len(corpus_entries()) + 1
    assert {len(row) for row in rows} == {len(COLUMNS)}


def test_the_last_component_that_labels_tokens_is_asked(model: Path, bibliography: Path, tmp_path: Path) -> None:
    nlp = spacy.load(model)
    other = nlp.add_pipe("crf_tagger", name="words", config={"target": "pos"}, first=True)
    doc = Doc(nlp.vocab, words=["Lund"], pos=["NOUN"])
    other.initialize(lambda: [Example(Doc(nlp.vocab, words=["Lund"]), doc)], nlp=nlp)
    nlp.to_disk(tmp_path / "two")
    assert run(tmp_path / "two", bibliography)[0] == run(model, bibliography)[0]
    assert cite(nlp, pasted()) == cite(spacy.load(model), pasted())
    with pytest.raises(ValueError, match="CRF650.*nope"):
        cite(nlp, pasted(), name="nope")


def test_references_of_which_the_model_is_less_sure_are_set_apart(
    model: Path, bibliography: Path, tmp_path: Path
) -> None:
    path, apart = tmp_path / "out.json", tmp_path / "out.check.json"
    every = read_csl(run(model, bibliography, "--to", "csl")[0])
    _, told = run(model, bibliography, "--to", "csl", "--output", path, "--min-confidence", "0.5")
    sure, doubtful = read_csl(path.read_text(encoding="utf8")), read_csl(apart.read_text(encoding="utf8"))
    assert sure and doubtful and len(sure) + len(doubtful) == len(every)
    assert sorted([*sure, *doubtful], key=lambda entry: entry.key) == sorted(every, key=lambda entry: entry.key)
    assert told.count("CRF665") == len(doubtful)
    shown, told = run(model, bibliography, "--to", "csl", "--min-confidence", "1")
    assert read_csl(shown) == every and told.count("CRF665") == len(every)
    apart.unlink()
    run(model, bibliography, "--to", "csl", "--output", path, "--min-confidence", "1e-300")
    assert len(read_csl(path.read_text(encoding="utf8"))) == len(every) and not apart.exists()


def test_references_that_were_corrected_are_not_written_over(model: Path, bibliography: Path, tmp_path: Path) -> None:
    path, apart = tmp_path / "out.bib", tmp_path / "out.check.bib"
    asked = (model, bibliography, "--output", path, "--min-confidence")
    run(*asked, "1")
    run(*asked, "1")  # nobody has touched it
    apart.write_text(corrected := apart.read_text(encoding="utf8").replace("title", "booktitle"), encoding="utf8")
    for least in ("1", "0.5", "1e-300"):
        assert "CRF691" in run(*asked, least, code=1)[1]
    assert apart.read_text(encoding="utf8") == corrected and path.read_text(encoding="utf8") == ""


def test_references_to_check_are_not_written_over_the_list_that_is_read(
    model: Path, bibliography: Path, tmp_path: Path
) -> None:
    path = tmp_path / "list.check.txt"
    path.write_bytes(bibliography.read_bytes())
    _, told = run(model, path, "--output", tmp_path / "list.txt", "--min-confidence", "1", code=1)
    assert "CRF579" in told and path.read_bytes() == bibliography.read_bytes()


def test_json_tells_how_sure_the_model_is_of_each_field(model: Path, bibliography: Path) -> None:
    records = json.loads(run(model, bibliography, "--to", "json")[0])
    assert [record["number"] for record in records] == list(range(1, 25))
    for record in records:
        shares = [field["confidence"] for field in record["fields"]]
        assert shares and 0 <= record["confidence"] <= min(shares) + 1e-4 and max(shares) <= 1
        assert record["entry"]["id"] and record["text"]


def test_identifiers_that_cannot_be_right_are_told_and_stay(model: Path) -> None:
    text = b"Lund, A. 1999. Ropes. Hull: Tollgate Press. ISBN 978-3-16-148410-1.\n"
    for to in ("bibtex", "csl", "tsv", "json"):
        out, told = run(model, "-", "--to", to, input=text)
        assert "9783161484101" in out and "its check digit is wrong" in out
        assert "CRF666" in told
    out, _ = run(model, "-", input=text)
    assert read_bibtex(out)[0].invalid == "isbn 9783161484101: its check digit is wrong"


def test_differences_from_a_library(model: Path, bibliography: Path, tmp_path: Path) -> None:
    entries = read_bibtex(run(model, bibliography)[0])
    held = [replace(entries[0], title="Another title altogether", doi="10.5555/1"), *entries[2:]]
    for name, written in (("library.bib", write_bibtex(held)), ("library.json", write_csl(held))):
        (tmp_path / name).write_text(written, encoding="utf8")
        shown, _ = run(model, bibliography, "--against", tmp_path / name)
        rows = [line.split("\t") for line in shown.splitlines()]
        assert rows[0] == ["reference", "key", "match", "field", "cited", "library"]
        assert [rows[-2][0], rows[-2][2]] == ["2", "not in the library"] or any(
            row[0] == "2" and row[2] == "not in the library" for row in rows
        )
        found = json.loads(run(model, bibliography, "--against", tmp_path / name, "--to", "json")[0])
        assert [str(one["reference"] or "") for one in found] == [row[0] for row in rows[1:]]
    _, told = run(model, bibliography, "--against", tmp_path / "library.bib", "--to", "csl", code=1)
    assert "CRF667" in told


def test_a_library_by_its_name(model: Path, bibliography: Path, tmp_path: Path) -> None:
    entries = read_bibtex(run(model, bibliography)[0])
    (tmp_path / "library.bib.gz").write_bytes(gzip.compress(write_bibtex(entries).encode()))
    shown, _ = run(model, bibliography, "--against", tmp_path / "library.bib.gz")
    assert len(shown.splitlines()) == 1
    (tmp_path / "library.bib").write_text(write_csl(entries), encoding="utf8")
    _, told = run(model, bibliography, "--against", tmp_path / "library.bib", code=1)
    assert "CRF643" in told and "has no entries" in " ".join(told.split())


# -- documents -------------------------------------------------------------------------------------------------------

CITED = [
    "J. Aldington and P. Marsh, Counting ferries, Journal of Estuary Studies 12(3), 201-219, 2004.",
    "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.",
]
PARTS = [("Introduction", ["Ferries are counted in 2001."]), ("References", CITED), ("Appendix", ["Tables of 1999."])]


def write_document(path: Path, parts: list[tuple[str, list[str]]] = PARTS) -> Path:
    """A document with headings and paragraphs, in the format that the suffix says."""
    ways: dict[str, tuple[str, str, str]] = {  # around all, a heading and a paragraph
        ".md": ("{}", "# {}\n\n", "{}\n\n"),
        ".html": ("<html><body>{}</body></html>", "<h1>{}</h1>", "<p>{}</p>"),
        ".tex": ("\\documentclass{{article}}\\begin{{document}}{}\\end{{document}}", "\\section*{{{}}}\n\n", "{}\n\n"),
    }
    whole, heading, paragraph = ways[path.suffix]
    body = "".join(heading.format(title) + "".join(map(paragraph.format, lines)) for title, lines in parts)
    path.write_text(whole.format(body), encoding="utf8")
    return path


@pytest.mark.parametrize("suffix", [".md", ".html", ".tex"])
def test_of_a_document_the_section_of_references_is_cited(model: Path, tmp_path: Path, suffix: str) -> None:
    if suffix == ".html":
        pytest.importorskip("lxml", reason="needs the extra html")
    if suffix == ".tex":
        pytest.importorskip("pylatexenc", reason="needs the extra latex")
    records = json.loads(run(model, write_document(tmp_path / f"report{suffix}"), "--to", "json")[0])
    assert [record["text"] for record in records] == CITED


def test_lists_of_several_chapters_are_cited_and_notes_beside_them_are_not(model: Path, tmp_path: Path) -> None:
    parts = [("References to Chapter 1", CITED[:1]), ("Notes", ["We thank P. Marsh."]), ("Bibliography", CITED[1:])]
    records = json.loads(run(model, write_document(tmp_path / "report.md", parts), "--to", "json")[0])
    assert [record["text"] for record in records] == CITED


def test_a_document_without_headings_is_a_list(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.md"
    path.write_text("\n\n".join(CITED), encoding="utf8")
    assert len(read_csl(run(model, path, "--to", "csl")[0])) == 2


def test_a_document_without_a_list_is_refused_with_its_headings(model: Path, tmp_path: Path) -> None:
    out, told = run(model, write_document(tmp_path / "report.md", [PARTS[0], PARTS[2]]), code=1)
    assert out == "" and "CRF844" in told and "Introduction, Appendix" in " ".join(told.split())


# no full stop ends them, as in Springer's style, so that short ones look like headings
SHORT = [
    "Lund, A.: Counting ferries on the sound. Journal of Estuary Studies 12(3), 201-219 (2004)",
    "U. S. Department of Piers: Annual report of the ferries of the sound (2012)",
    "Moss, B.: Rafts (1992)",
    "Roe, C., Hull, D.: Tide tables, and how the people of the islands use them. Pier Press, Oslo (1999)",
    "Boats of the North, 400, 699 (1993)",
    "Quay, E.: Ropes. Ships 2, 1-9 (2005)",
]


@pytest.mark.parametrize("number", ["{}. ", "\\[{}\\] "])
def test_short_references_do_not_end_the_list_at_the_end_of_a_document(
    model: Path, tmp_path: Path, number: str
) -> None:
    numbered = [number.format(place) + text for place, text in enumerate(SHORT * 4, 1)]
    path = write_document(tmp_path / "report.md", [("Paper", []), PARTS[0], ("References", numbered)])
    records = json.loads(run(model, path, "--to", "json")[0])
    assert [record["text"] for record in records] == SHORT * 4


def print_paper(path: Path, listed: list[str], bookmarks: tuple[str, ...] = ()) -> Path:
    """A PDF with a list of references, a line each. bookmarks: the headings that have some."""
    pytest.importorskip("pypdfium2", reason="needs the extra pdf")
    canvas = pytest.importorskip("reportlab.pdfgen.canvas").Canvas(str(path))
    prose = ["We count the ferries that cross the sound on each day of the year, and say", "who is on board."]
    height = 800
    sections = [("Introduction", prose), ("Results", prose), ("References", listed), ("Acknowledgements", prose)]
    for title, lines in sections:
        if title in bookmarks:
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title)
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(60, height - 10, title)
        canvas.setFont("Helvetica", 9)
        for place, line in enumerate(lines, 1):
            canvas.drawString(60, height - 15 - 16 * place, line)
        height -= 50 + 16 * len(lines)
    canvas.save()
    return path


@pytest.mark.parametrize("bookmarks", [(), ("Introduction", "Results")])
def test_the_list_of_a_pdf_is_read_to_its_end(model: Path, tmp_path: Path, bookmarks: tuple[str, ...]) -> None:
    """Whether or not one of its lines looks like a heading, and though no bookmark names the list, as in LaTeX's."""
    numbered = [f"[{place}] {text}" for place, text in enumerate(SHORT * 4, 1)]
    records = json.loads(run(model, print_paper(tmp_path / "paper.pdf", numbered, bookmarks), "--to", "json")[0])
    assert [record["text"] for record in records] == SHORT * 4


@pytest.mark.parametrize("form", ["[{}] ", "{}. ", "{}) ", "{} "])
@pytest.mark.parametrize("missing", [2, 4, 7])
def test_a_number_that_is_missing_does_not_end_the_list_of_a_pdf(tmp_path: Path, form: str, missing: int) -> None:
    listed = [(number, f"Lund, A. Ferry {number}. Pier Press, 19{number + 80}.") for number in range(1, 11)]
    listed = [(number, text) for number, text in listed if number != missing]
    path = print_paper(tmp_path / "paper.pdf", [form.format(number) + text for number, text in listed])
    assert [item.text for item in split_references(find_list(path))] == [text for _, text in listed]


def test_initials_of_authors_do_not_end_the_list_of_a_pdf(model: Path, tmp_path: Path) -> None:
    """As in LaTeX's lists by author and year, which have no numbers."""
    names = ["F. Allen", "C. Forsyth", "D. Lomet", "A. Moss", "B. Moss", "R. Quay", "S. Roe", "T. Tull"]
    listed = [
        f"{name}. Ferries of the northern sound, and how they are counted from the shore in winter and spring. "
        f"Pier Press, 19{number}."
        for number, name in enumerate(names, 80)
    ]
    records = json.loads(run(model, print_paper(tmp_path / "paper.pdf", listed), "--to", "json")[0])
    assert [record["text"] for record in records] == listed


LATEX = r"""\begin{thebibliography}{2}
\providecommand{\natexlab}[1]{#1}

\bibitem[Quay and Pier(2019)]{quay}
A.~Quay and B.~Pier.
\newblock On ropes.
\newblock \emph{Journal of Water}, 12\penalty0 (3):\penalty0 45--67, 2019.

\bibitem[Moss(2005)]{moss}
C.~Moss.
\newblock \emph{On knots}.\hskip 1em plus 0.5em minus
  0.4em\relax Pier Press, 2005.
\end{thebibliography}
"""
PRINTED = (
    "[quay] A. Quay and B. Pier. On ropes. Journal of Water, 12(3):45–67, 2019.\n"
    "[moss] C. Moss. On knots. Pier Press, 2005.\n"
)


@pytest.mark.parametrize("name", ["-", "pasted.txt", "paper.bbl"])
def test_a_list_of_latex_is_read_as_it_is_printed(model: Path, tmp_path: Path, name: str) -> None:
    printed = tmp_path / "printed.txt"
    printed.write_text(PRINTED, encoding="utf8")
    expected = invoke("cite", model, printed).stdout
    assert "Quay, A." in expected
    assert "Moss, C." in expected
    path = Path(name) if name == "-" else tmp_path / name
    if name != "-":
        path.write_text(LATEX, encoding="utf8")
    assert invoke("cite", model, path, data=LATEX).stdout == expected


def test_a_pasted_list_of_latex_is_the_same_in_code(model: Path) -> None:
    nlp = spacy.load(model)
    assert cite(nlp, LATEX) == cite(nlp, PRINTED)
    assert [entry and entry.authors.names[0].family for entry in cite(nlp, LATEX)] == ["Quay", "Moss"]


@pytest.mark.parametrize(
    "keys",
    [
        *(["a", "b"], ["k"], ["DBLP:conf/sea/Lund20", "DBLP:journals/corr/abs-2001-0001"]),
        *(["lund", "10.1000/x", "2020"], ["Lund and Moss", "O'Neill*"], ["Lund01", "Moss", "12"]),
    ],
)
@pytest.mark.parametrize("begin, end", [("", ""), ("\\begin{thebibliography}{9}\n", "\n\\end{thebibliography}")])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_keys_of_any_form_are_no_part_of_latex(
    tmp_path: Path, keys: list[str], begin: str, end: str, between: str
) -> None:
    texts = [f"A. Lund. \\emph{{Rafts}} of the sea, 200{number}." for number in range(len(keys))]
    latex = between.join(f"\\bibitem{{{key}}}\n{text}" for key, text in zip(keys, texts))
    (path := tmp_path / "a.bbl").write_text(begin + latex + end)
    for found in map(split_references, [print_list(begin + latex + end), *([find_list(path)] if begin else [])]):
        assert [item.marker for item in found] == [f"\\bibitem{{{key}}}" for key in keys]
        assert [item.text for item in found] == [text.replace("\\emph{Rafts}", "Rafts") for text in texts]


def test_keys_that_look_like_letters_of_sections_cost_no_reference(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    entries = "\\bibitem{a} A. Lund. Rafts.\n2001.\n\n\\bibitem{b} B. Moss. Boats. 2002.\n"
    path.write_text(f"\\begin{{thebibliography}}{{9}}\n{entries}\\end{{thebibliography}}\\section{{Proofs}} None.")
    for text in (find_list(path), print_list(entries)):
        assert [item.text for item in split_references(text)] == ["A. Lund. Rafts. 2001.", "B. Moss. Boats. 2002."]
    entries = "[1] Lund, A. Rafts. 2001.\n\n[2] Moss, B. Boats.\n"
    path.write_text(f"\\section{{Ropes}} Text.\n\n\\textbf{{References}}\n\n{entries}")
    assert [item.text[:4] for item in split_references(find_list(path))] == ["Lund", "Moss"]  # not marked as a heading


def test_data_of_biblatex_are_refused(tmp_path: Path) -> None:
    (path := tmp_path / "a.bbl").write_text(
        "\\refsection{0}\n  \\entry{lund}{book}{}\n \\field{title}{Rafts}\n\\endentry"
    )
    for read in (lambda: find_list(path), lambda: print_list(path.read_text())):
        with pytest.raises(CRFError, match="CRF600.*biblatex"):
            read()


def test_a_command_within_a_title_makes_no_latex() -> None:
    text = "[1] Lund, A. The \\bibitem command. 2001.\n[2] Moss, B. On 50% of ropes & knots. 2002.\n"
    assert print_list(text) == text
    assert "Lund, A. \ufffd Ropes" in print_list("\\bibitem{k} Lund, A. \ud800 Ropes.")


def test_references_that_bibtex_has_printed_beside_a_document(tmp_path: Path) -> None:
    sections = "\\section{Boats}\nOld ones.\n\\section{Ports}\nNew ones.\n"
    paper = f"\\documentclass{{article}}\n\\begin{{document}}\n{sections}%s\\end{{document}}\n"
    (path := tmp_path / "paper.tex").write_text(paper % "\\bibliographystyle{plain}\n\\bibliography{boats}\n")
    with pytest.raises(CRFError, match="CRF844.*paper.tex.*Boats, 2 Ports"):
        find_list(path)
    entries = "\\bibitem{lund} A. Lund. Rafts. 2001.\n\n\\bibitem{moss} B. Moss. Boats. 2002."
    printed = f"\\begin{{thebibliography}}{{9}}\n{entries}\n\\end{{thebibliography}}\n"
    (tmp_path / "paper.bbl").write_text(printed)
    expected = ["A. Lund. Rafts. 2001.", "B. Moss. Boats. 2002."]
    assert [item.text for item in split_references(find_list(path))] == expected
    path.write_text(paper % printed.replace("Rafts", "Ferries"))  # its own go first
    assert [item.text for item in split_references(find_list(path))] == ["A. Lund. Ferries. 2001.", expected[1]]


@pytest.mark.parametrize(
    "rest",
    [
        r"\section{Literature}Of rafts, much was written in 1999. \bibliography{boats}",
        r"\section*{References}\bibliography{boats}\section*{Oars}All.",
    ],
)
def test_a_section_that_is_headed_as_references_are_may_have_none(rest: str, tmp_path: Path) -> None:
    printed = "\\begin{thebibliography}{9}\\bibitem{lund} A. Lund. Rafts. 2001.\n\\end{thebibliography}"
    (tmp_path / "paper.bbl").write_text(printed)
    (path := tmp_path / "paper.tex").write_text(rf"\begin{{document}}\section{{Boats}}Old. {rest}\end{{document}}")
    assert [item.text for item in split_references(find_list(path))] == ["A. Lund. Rafts. 2001."]
    german = rf"\usepackage[german]{{babel}}\begin{{document}}\section{{Boote}}Alte. {printed}\end{{document}}"
    path.write_text(german.replace("Rafts", "Ferries"))  # below "Literatur"
    assert [item.text for item in split_references(find_list(path))] == ["A. Lund. Ferries. 2001."]


def test_notes_with_a_number_stand_beside_references(tmp_path: Path) -> None:
    (path := tmp_path / "paper.html").write_text(
        "<h1>Boats</h1><h2>1 Notes</h2><p>1. See above.</p><h2>References</h2><p>A. Lund. Rafts. 2001.</p>"
    )
    assert [item.text for item in split_references(find_list(path))] == ["A. Lund. Rafts. 2001."]


def test_a_pasted_list_that_is_refused_has_no_path() -> None:
    with pytest.raises(CRFError, match=r"^\[CRF482\] the pasted list: its macros"):
        print_list("\\newcommand{\\x}{\\x\\x}\n\\bibitem{lund} A. Lund. \\x. 2001.")


def test_an_own_command_entry_is_no_data_of_biblatex(tmp_path: Path) -> None:
    (path := tmp_path / "vita.tex").write_text(
        "\\newcommand{\\entry}[3]{#1 #2 #3}\\section{Posts}\n\\entry{2001}{Sailor}{Oslo}\n"
        "\\begin{thebibliography}{9}\\bibitem{a} A. Lund. Rafts. 2001.\n\\end{thebibliography}"
    )
    assert [item.text for item in split_references(find_list(path))] == ["A. Lund. Rafts. 2001."]


@pytest.mark.parametrize("heading", ["<p><b>References</b></p>", "<p>References</p>"])
def test_a_list_without_a_heading_of_the_mark_up_ends_before_the_next_one(tmp_path: Path, heading: str) -> None:
    listed = ["Lund, A. (1999). Rafts of the north. Port Press, Oslo.", "Moss, B. (2003). Ferries. Quay Books, Rome."]
    parts = ["<h1>Boats</h1>", "<p>Old ones.</p>", heading, *(f"<p>{each}</p>" for each in listed)]
    (path := tmp_path / "a.html").write_text("\n".join([*parts, "<h1>Appendix</h1>", "<p>The boats of 1999.</p>"]))
    assert [item.text for item in split_references(find_list(path))] == listed


def test_lists_of_many_papers_are_found_in_linear_time(tmp_path: Path) -> None:
    parts = [("Boats", ["The boats of the sound are counted in each month. " * 6])] * 50
    papers = [*parts, ("References", ["Lund, A. (1999). Rafts of the north. Port Press, Oslo."] * 9)] * 20
    path = write_document(tmp_path / "papers.md", papers)
    start = time.process_time()
    assert find_list(path).count("References") == 20
    assert time.process_time() - start < 5

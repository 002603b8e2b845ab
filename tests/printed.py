"""The corpus of the section parser as PDF: whether its trees are those of the text that was printed.

    python -m tests.printed [--model FOLDER] [--most 10]

Each document is printed by reportlab and by LibreOffice, in one column and in two, with a running head and page
numbers. A section of the text is found again if the tree of the PDF has one on the same level with the same
characters, but for white space. Without a model, rules label the elements.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.language import Language

from spacy_crf import read_layout
from spacy_crf.sections.layout import DocumentLayout, to_doc

from .helpers import printing
from .helpers.paths import ROOT

DOCUMENTS = sorted((ROOT / "corpus/section_parser").rglob("*.xml"))


def sections(nlp: Language, layout: DocumentLayout) -> Counter[tuple[int, str]]:
    """Levels and characters of the sections that a pipeline finds."""
    text, tree = layout.text, nlp.get_pipe("section_parser")(to_doc(nlp.vocab, layout))._.section_tree
    return Counter((node.level, "".join(text[node.start_char : node.end_char].split())) for node in tree.walk())


def print_all(layouts: dict[str, DocumentLayout], folder: Path) -> Iterator[tuple[str, int, dict[str, Path]]]:
    """Yield the name of each tool, the number of columns, and the PDFs of the documents."""
    for columns in (1, 2):
        own = folder / f"reportlab{columns}"
        own.mkdir()
        paths = {name: own / f"{name}.pdf" for name in layouts}
        for name, path in paths.items():
            path.write_bytes(printing.print_by_reportlab(layouts[name], columns))
        yield "reportlab", columns, paths
        if printing.OFFICE is not None:
            own = folder / f"office{columns}"
            own.mkdir()
            yield "LibreOffice", columns, printing.print_by_office(layouts, own, columns)


def measure(nlp: Language, documents: list[Path]) -> Iterator[tuple[str, int, float, float]]:
    """Yield tool, columns, share of sections of the texts that are found again, and share of those found that are."""
    layouts = {path.stem: read_layout(path) for path in documents}
    wanted = {name: sections(nlp, layout) for name, layout in layouts.items()}
    with tempfile.TemporaryDirectory() as folder:
        for tool, columns, paths in print_all(layouts, Path(folder)):
            found = {name: sections(nlp, read_layout(path)) for name, path in paths.items()}
            same = sum((wanted[name] & found[name]).total() for name in layouts)
            total, made = (sum(map(Counter.total, own.values())) for own in (wanted, found))
            yield tool, columns, same / total, same / made


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description="Measure trees of PDFs.")
    parser.add_argument("--model", help="Folder of a pipeline with a section parser; rules without")
    parser.add_argument("--most", type=int, help="Documents; all without")
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.model) if arguments.model else spacy.blank("xx")
    if not arguments.model:
        nlp.add_pipe("section_parser")
    print("| made by | columns | sections found again (%) | of those found (%) |\n| --- | ---: | ---: | ---: |")
    for tool, columns, recall, precision in measure(nlp, DOCUMENTS[: arguments.most]):
        print(f"| {tool} | {columns} | {100 * recall:.1f} | {100 * precision:.1f} |")


if __name__ == "__main__":
    main()

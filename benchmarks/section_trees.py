"""Section trees of documents as they are scored: courts' own trees of judgments, and the project's test corpus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spacy_crf.core.arrays import Bools, Doubles, Indices
from spacy_crf.core.sections.headings import ParserInput
from spacy_crf.core.sections.learn import GoldSection, TreeExample
from spacy_crf.sections.formats.annotated import read_annotated
from spacy_crf.sections.formats.rechtspraak import read_rechtspraak_gold
from spacy_crf.sections.measures import Constituent
from spacy_crf.sections.parsing import headings_of, parser_input
from spacy_crf.sections.scorer import constituents
from spacy_crf.sections.segment import Kind, LayoutUnit
from spacy_crf.sections.tree import NEWLINE, NUMBER, TEXT, TITLE, GoldDocument, SectionNode, SectionTree

LABELS = (NUMBER, TITLE, TEXT, NEWLINE)  # in the order of the roles
NR, SECTION_TITLE, TEXT_BLOCK = range(3)
GOLD = 0.02  # share of the gold label in the probabilities that trees are learned with


@dataclass(frozen=True)
class Judged:
    """A document with a gold tree.

    name (str), path (Path), text (str), units (list): its N units. blank ((N,)): blank lines.
    gold (list): its sections as intervals of units that are no blank lines. tree (SectionTree): the same as nodes.
    labels ((N,) | None): gold roles. probabilities ((N, 4) | None): of roles, as a chain has them.
    """

    name: str
    path: Path
    text: str
    units: list[LayoutUnit]
    blank: Bools
    gold: list[Constituent]
    tree: SectionTree
    labels: Indices | None
    probabilities: Doubles | None = None

    def elements(self, from_gold: bool) -> ParserInput:
        """What the parser reads: gold labels, or probabilities."""
        if from_gold:
            return parser_input(self.text, self.units, np.eye(len(LABELS))[self.labels])
        assert self.probabilities is not None
        return parser_input(self.text, self.units, self.probabilities)

    def roles(self, from_gold: bool) -> Indices:
        """((N,)): the labels, gold or the likeliest."""
        if from_gold:
            assert self.labels is not None
            return self.labels
        assert self.probabilities is not None
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.intp)


def judge(path: Path, gold: GoldDocument) -> Judged:
    """A document as it is scored."""
    units, tree = gold.layout.units, SectionTree(list(gold.sections))
    blank = np.array([unit.kind is Kind.NEWLINE for unit in units], dtype=np.bool_)
    virtual = any(node.virtual for node in tree.walk())
    labels = np.array([LABELS.index(label) for label in gold.labels]) if gold.leaves else None
    spans = constituents(tree, units, virtual)
    return Judged(path.stem, path, gold.layout.text, units, blank, spans, tree, labels)


def read_courts(data: Path) -> list[Judged]:
    """Judgments in which the court marked sections, read without the tags that say what the structure is."""
    found = []
    for path in sorted(data.glob("*/*.xml")):
        try:
            gold = read_rechtspraak_gold(path, hidden=True)
        except ValueError:
            continue  # malformed
        if gold.sections:
            found.append(judge(path, gold))
    return found


def read_corpus(folder: Path) -> list[Judged]:
    """Documents of the project's corpus."""
    return [judge(path, read_annotated(path)) for path in sorted(folder.glob("*.xml"))]


def example(document: Judged, sections: Sequence[GoldSection], labels: Indices) -> TreeExample:
    """A document to learn the weights of trees from. labels ((N,)): that the tree agrees with."""
    gold = np.eye(len(LABELS))[labels]
    mixed = gold if document.probabilities is None else (1 - GOLD) * document.probabilities + GOLD * gold
    found = replace(parser_input(document.text, document.units, mixed), name=document.name)
    return TreeExample(found, sections, labels)


def corpus_example(document: Judged) -> TreeExample:
    """A document of the corpus, whose tree has all headings."""
    sections = [GoldSection(node.level, tuple(node.heading)) for node in document.tree.walk()]
    assert document.labels is not None
    return example(document, sections, document.labels)


def court_example(document: Judged) -> TreeExample:
    """A judgment: headings that lead no section of the court stand anywhere below the section around them.

    Labels are gold, or those of the chain corrected by what the court marks. Sections of the court that begin with
    text are no part of it.
    """
    starts = {unit.start: place for place, unit in enumerate(document.units)}
    nodes = {starts[node.start_char]: node for node in document.tree.walk() if node.start_char in starts}
    labels = _training_labels(document, nodes)
    headings = headings_of(labels)
    leading = {heading[0] for heading in headings}
    sections: list[GoldSection] = []
    open_nodes: list[int] = []  # ends, as characters
    for heading in headings:
        place = document.units[heading[0]].start
        while open_nodes and open_nodes[-1] <= place:
            open_nodes.pop()
        sections.append(GoldSection(len(open_nodes) + 1, heading, heading[0] not in nodes))
        if heading[0] in nodes:
            open_nodes.append(nodes[heading[0]].end_char)
    assert leading >= {section.heading[0] for section in sections}
    return example(document, sections, labels)


def _training_labels(document: Judged, nodes: dict[int, SectionNode]) -> Indices:
    if document.labels is not None:
        return document.labels
    labels = document.roles(from_gold=False).copy()
    for place, node in nodes.items():
        if node.number and document.units[place].kind is Kind.NUMBER:
            labels[place] = NR
        elif node.title:
            labels[place] = SECTION_TITLE
    return labels


def nest_by_parts(document: Judged, labels: Indices) -> list[Constituent]:
    """The trivial parser: a number stands below the last number that it begins with; all else on the first level.

    labels ((N,)): of the units. RETURNS (list): sections as intervals of units.
    """
    from spacy_crf.core.grammar.numbering import readings

    found: list[Constituent] = []
    open_sections: list[tuple[tuple[int, ...], int]] = []  # values and start
    for heading in headings_of(labels):
        unit = document.units[heading[0]]
        read = readings(document.text[unit.start : unit.end]) if labels[heading[0]] == NR else ()
        values = read[0].values if read else ()
        keep = 0
        for place, (outer, _) in enumerate(open_sections):
            if outer and len(outer) < len(values) and values[: len(outer)] == outer:
                keep = place + 1
        found += [("SECTION", start, heading[0]) for _, start in open_sections[keep:]]
        open_sections = [*open_sections[:keep], (values, heading[0])]
    return sorted(found + [("SECTION", start, len(labels)) for _, start in open_sections], key=lambda c: (c[1], -c[2]))


def with_probabilities(documents: Iterable[Judged], probabilities: dict[Path, Doubles]) -> list[Judged]:
    """Documents with the probabilities of their labels, by file."""
    return [replace(document, probabilities=probabilities[document.path]) for document in documents]

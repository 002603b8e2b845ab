"""Outlines of statutes that are invented at random, without training: articles are counted through all else."""

import random
from collections.abc import Iterator

import pytest
from spacy.language import Language

Outline = list[tuple[int, str]]
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
WORDS = {  # of titles, chapters, sections, articles and annexes
    "en": ("TITLE", "CHAPTER", "SECTION", "Article {}", "ANNEX"),
    "de": ("TEIL", "KAPITEL", "Abschnitt", "§ {}", "ANLAGE"),
    "fr": ("TITRE", "CHAPITRE", "Section", "Article {}", "ANNEXE"),
    "nl": ("TITEL", "HOOFDSTUK", "Afdeling", "Artikel {}", "BIJLAGE"),
}
NOUNS = (
    *("Fees", "Quays", "Pilots", "Lights", "Crews", "Books", "Cargo", "Damage", "Appeals", "Bodies", "Works"),
    *("Licences", "Fines", "Insurance", "Ports", "Sails", "Boats", "Islands", "Ropes", "Tolls", "Bridges", "Locks"),
    "Moorings",
)
SENTENCES = (
    "The {0} are entered in the {1} before the {2} are paid.",
    "The master pays the {0} on entering the {1}.",
    "No person shall keep {0} in the {1}, except for {2}.",
    "The authority decides on the {0} within a month of the request.",
)


class Statute:
    """A statute with its outline, (level, number) for each section."""

    def __init__(self, language: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.title, self.chapter, self.section, self.article, self.annex = WORDS[language]
        self.paragraph = self.random.choice(("{}.", "({})"))
        self.is_inline, self.counts_chapters_through = self.random.random() < 0.5, self.random.random() < 0.2
        self.lines, self.outline, self.articles, self.chapters = list[str](), Outline(), 0, 0
        self.titles = self._titles()

    def write(self) -> tuple[str, Outline]:
        """The text, and the outline."""
        for number in range(1, self.random.randint(2, 4) + 1):
            self._head(0, f"{self.title} {ROMAN[number - 1]}")
            self._fill_title(self.random.choice((0, 0, 1, 2, 3)))
        for number in ROMAN[: self.random.randint(0, 3)]:
            self._head(0, f"{self.annex} {number}")
            self._paragraphs(1, self.random.choice((0, 2)))
        return "\n".join(self.lines) + "\n", self.outline

    def _fill_title(self, n_chapters: int) -> None:
        if not self.counts_chapters_through:
            self.chapters = 0
        if not n_chapters or self.random.random() < 0.1:
            self._write_articles(1)
        for _ in range(n_chapters):
            self._head(1, f"{self.chapter} {ROMAN[self.chapters]}")
            self.chapters += 1
            n_sections = self.random.choice((0, 0, 0, 2))
            for section in range(1, n_sections + 1):
                self._head(2, f"{self.section} {section}")
                self._write_articles(3)
            if not n_sections:
                self._write_articles(2)

    def _write_articles(self, level: int) -> None:
        for _ in range(self.random.randint(1, 4)):
            self.articles += 1
            number = self.article.format(self.articles)
            self.outline.append((level, number))
            self.lines.append(f"{number} {next(self.titles)}")
            self._paragraphs(level + 1, self.random.choice((0, 0, 2, 3)))

    def _paragraphs(self, level: int, count: int) -> None:
        numbers = [self.paragraph.format(number) for number in range(1, count + 1)]
        self.outline += [(level, number) for number in numbers]
        nouns = [noun.lower() for noun in self.random.sample(NOUNS, 3)]
        self.lines += [
            f"{number} {self.random.choice(SENTENCES).format(*nouns)}".lstrip() for number in numbers or [""]
        ]
        self.lines.append("")

    def _head(self, level: int, number: str) -> None:
        self.outline.append((level, number))
        self.lines += [f"{number} {next(self.titles)}"] if self.is_inline else [number, next(self.titles)]
        self.lines.append("")

    def _titles(self) -> Iterator[str]:
        used = set[str]()
        while True:
            title = " and ".join(self.random.sample(NOUNS, self.random.choice((1, 1, 2, 3))))
            if title not in used:
                used.add(title)
                yield title


@pytest.mark.parametrize("language", WORDS)
def test_outlines_of_invented_statutes(language: str, any_language: Language) -> None:
    right, count = 0, 25
    for seed in range(count):
        text, outline = Statute(language, seed).write()
        tree = any_language(text)._.section_tree
        right += [(node.level - 1, node.number) for node in tree.walk()] == outline
    assert right >= 0.95 * count


APART = """Chapter I

General provisions

Article 1

Subject matter

1. This Regulation lays down rules for ferries that cross estuaries and for the harbours that they call at.

2. It does not apply to rafts which are shorter than three metres and are rowed by hand.

Article 2

Definitions

For the purposes of this Regulation, the following definitions apply:

(a) a ferry means a vessel that carries passengers across a body of water;

(b) a harbour means a place where ferries land, as set out in Article 3(2).

Chapter II

Duties of masters

Section 1

Safety

Article 3

Equipment

1. Masters shall carry a lamp, a rope and a bell on each crossing that they make.

2. The lamp referred to in paragraph 1 shall be lit between sunset and sunrise.

Section 2

Reports

Article 4

Log books

Each crossing shall be entered in a log book, as referred to in Article 4 and Annex I.

Chapter III

Final provisions

Article 5

Entry into force

This Regulation shall enter into force on the twentieth day following that of its publication.

Annex I

Form of log books

Hours of departure and of arrival, and the name of the master, are entered in black ink.
"""


@pytest.mark.parametrize("chapter", ["Chapter", "CHAPTER", "Capítulo", "Kapitel"])
def test_titles_may_stand_apart_from_their_numbers(chapter: str, any_language: Language) -> None:
    check_outline(any_language, APART.replace("Chapter", chapter), chapter)


def test_headings_may_be_centred(any_language: Language) -> None:
    centred = "".join(f"{f'{line:^60}'.rstrip() if 0 < len(line) < 25 else line}\n" for line in APART.splitlines())
    check_outline(any_language, centred, "Chapter")


def check_outline(nlp: Language, text: str, chapter: str) -> None:
    found = list(nlp(text)._.section_tree.walk())
    assert [(node.level, node.number) for node in found] == [
        *[(1, f"{chapter} I"), (2, "Article 1"), (3, "1."), (3, "2."), (2, "Article 2"), (3, "(a)"), (3, "(b)")],
        *[(1, f"{chapter} II"), (2, "Section 1"), (3, "Article 3"), (4, "1."), (4, "2.")],
        *[(2, "Section 2"), (3, "Article 4"), (1, f"{chapter} III"), (2, "Article 5"), (1, "Annex I")],
    ]
    titles = {"General provisions", "Definitions", "Duties of masters", "Final provisions", "Form of log books"}
    assert titles <= {node.title for node in found}

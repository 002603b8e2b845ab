"""Words before a number that name a section (Chapter IV, Artikel 3): data, with the rank of each in an outline.

Each row: rank, the word that stands for all (it becomes the format of the numbering), and other spellings. A lower rank
stands further out. Languages may be added row by row.
"""

_ROWS: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (0, "part", ("pt",)),
    (0, "deel", ()),
    (0, "volume", ("vol",)),
    (1, "book", ()),
    (1, "boek", ()),
    (2, "title", ()),
    (2, "titel", ()),
    (3, "chapter", ("ch", "chap", "chptr")),
    (3, "hoofdstuk", ("hfdst", "hfst", "kapittel")),
    (3, "appendix", ()),
    (3, "annex", ("annexe",)),
    (3, "schedule", ()),
    (3, "exhibit", ()),
    (3, "bijlage", ()),
    (3, "module", ()),
    (3, "lesson", ()),
    (4, "division", ()),
    (4, "afdeling", ("afd",)),
    (4, "section", ("sec", "sect")),
    (4, "sectie", ()),
    (5, "paragraaf", ("par",)),
    (5, "subsection", ()),
    (5, "subdivision", ()),
    (6, "article", ("art",)),
    (6, "artikel", ()),
    (6, "rule", ()),
    (6, "clause", ("cl",)),
    (6, "regulation", ("reg",)),
    (6, "item", ()),
    (6, "agendapunt", ()),
    (6, "count", ()),
    (6, "feit", ()),
    (6, "grief", ()),
    (6, "middel", ()),
    (6, "onderdeel", ()),
    (6, "klacht", ()),
    (6, "question", ("q",)),
    (6, "vraag", ()),
    (6, "step", ()),
    (6, "stap", ()),
    (6, "stelling", ()),
    (6, "standpunt", ()),
    (7, "paragraph", ("para",)),
    (7, "ad", ()),
    (7, "lid", ()),
    (7, "point", ()),
    (7, "punt", ()),
)
KEYWORDS: dict[str, str] = {form: word for _, word, forms in _ROWS for form in (word, *forms)}
RANKS: dict[str, int] = {word: rank for rank, word, _ in _ROWS}
SIGNS: dict[str, int] = {"§": 5, "¶": 7}

"""Words that numberings are written with, from lists: a line of each for a language, or a word."""

from importlib.resources import files

_LISTS = files(__package__) / "lists"


def _lines(name: str) -> list[str]:
    """Lines of a list that are no comments."""
    return [line for line in (_LISTS / name).read_text(encoding="utf8").splitlines() if not line.startswith("#")]


NUMBER_WORDS = {
    word.partition("=")[0]: int(word.partition("=")[2] or value)
    for line in reversed(_lines("numbers.tsv"))
    for value, word in enumerate(line.split(), start=1)
}
ORDINALS = {
    form: value
    for line in _lines("ordinals.tsv")
    for value, forms in enumerate(line.split(), start=1)
    for form in forms.split("/")
}
INSERTED = {"bis": 1, "ter": 2, "quater": 3, "quinquies": 4, "sexies": 5, "septies": 6, "octies": 7}  # 2bis: 2a

_RANKED = [
    (int(rank), forms.split("/")) for rank, _, forms in (line.partition("\t") for line in _lines("keywords.tsv"))
]
KEYWORDS: dict[str, str] = {form: forms[0] for _, forms in reversed(_RANKED) for form in forms}
COUNTERS = "".join(word for word in KEYWORDS if word >= "一")  # the words of East Asia behind 第 and a number
RANKS: dict[str, int] = {forms[0]: rank for rank, forms in _RANKED}
OUTER = [form for rank, forms in _RANKED if rank < RANKS["article"] for form in forms]  # of outer sections

# forms of these words that stand in texts, not in headings; and the words around the numbers that texts mention
PLURALS: dict[str, str] = {
    form: word for word, _, forms in (line.partition("\t") for line in _lines("plurals.tsv")) for form in forms.split()
}
MENTIONS: dict[str, frozenset[str]] = {
    does: frozenset(words.split()) for does, _, words in (line.partition("\t") for line in _lines("mentions.tsv"))
}

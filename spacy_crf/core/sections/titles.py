"""Titles that stand on the first level of a document by their words: data, Dutch and English.

Trompper (2016) wished for this: titles such as OVERWEGINGEN and CONCLUSIE nearly always stand on the first level.
"""

import re

_FIRST_LEVEL = """
overwegingen|rechtsoverwegingen|de overwegingen|beslissing|de beslissing|uitspraak|de uitspraak|dictum|conclusie
procesverloop|het procesverloop|procesgang|de procedure|procedure|verloop van de procedure|het verloop van de procedure
de feiten|feiten|de vaststaande feiten|vaststaande feiten|het geschil|geschil|de beoordeling|beoordeling
het geding|het geding in hoger beroep|het geding in eerste aanleg|geding in cassatie|het geding in cassatie
ontstaan en loop van het geding|de vordering|de gronden van de beslissing|gronden|motivering|bewijsoverwegingen
proceskosten|de proceskosten|rechtsmiddel|inleiding|slotbepalingen|algemene bepalingen|considerans|partijen|bijlagen
introduction|background|facts|the facts|procedure|procedural history|issues|discussion|analysis|assessment|findings
conclusion|conclusions|decision|judgment|order|disposition|recommendations|summary|executive summary|abstract|scope
definitions|preamble|recitals|general provisions|final provisions|references|bibliography|appendices|acknowledgements
methods|results|parties|signatures|schedules
"""
FIRST_LEVEL = frozenset(title for line in _FIRST_LEVEL.split("\n") for title in line.split("|") if title)
_NO_LETTERS = re.compile(r"[\W\d_]+")
MAX_CHARACTERS = 80


def is_first_level(text: str) -> bool:
    """Whether a title belongs on the first level. Case, punctuation and letter-spacing are not looked at."""
    if len(text) > MAX_CHARACTERS:
        return False
    words = _NO_LETTERS.sub(" ", text.lower()).split()
    if len(words) > 1 and all(len(word) == 1 for word in words):
        words = ["".join(words)]
    return " ".join(words) in FIRST_LEVEL

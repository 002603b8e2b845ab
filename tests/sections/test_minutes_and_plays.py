"""Outlines of minutes and plays that are invented at random, without training."""

import random

import pytest
from spacy.language import Language

ITEMS = {  # the words before numbers, titles, and sentences
    "de": (("TOP {}: ", "TOP {} ", "Tagesordnungspunkt {}: ", "TOP {} – "), "Begrüßung Kassenbericht Wahlen Haushalt"),
    "en": (("Agenda item {}: ", "Item {}. ", "Agenda Item {} - ", "Item No. {}: "), "Welcome Minutes Elections Budget"),
    "nl": (("Agendapunt {}: ", "Punt {}. ", "Agendapunt {} – "), "Opening Notulen Jaarrekening Begroting"),
    "fr": (
        ("Point {} : ", "Point n° {} : ", "Résolution n° {} : ", "Point {} - "),
        "Ouverture Rapport Vote Budget",
    ),
    "es": (("Punto {}. ", "Punto n.º {}: "), "Apertura Informe Elecciones Presupuesto"),
    "it": (("Punto {}: ", "Punto n. {}: "), "Apertura Relazione Elezioni Bilancio"),
}
SENTENCES = {
    "de": "Die Versammlung nimmt den Bericht zur Kenntnis und dankt dem Vorstand.",
    "en": "The members thanked the board and took note of the report.",
    "nl": "De leden danken het bestuur en nemen kennis van het verslag.",
    "fr": "Les membres remercient le bureau et prennent acte du rapport.",
    "es": "Los socios agradecen el informe y toman nota de las cuentas.",
    "it": "I soci ringraziano il consiglio e prendono atto della relazione.",
}
ROMAN, ORDINALS = ("I", "II", "III", "IV", "V"), ("Erst", "Zweit", "Dritt", "Viert", "Fünft")
ACTS = (
    *(("ACT {0}", "SCENE {0}."), ("Act {1}", "Scene {1}"), ("ACTE {0}", "SCÈNE {0}"), ("ATTO {0}", "SCENA {0}")),
    *(("ACTO {0}", "ESCENA {0}"), ("{1}. Akt", "{1}. Szene"), ("{2}er Akt", "{2}e Szene")),
    ("{2}er Aufzug", "{2}er Auftritt"),
)
SPEECHES = (
    "MIRA. Be collected, there is no harm done at all.",
    "PROS. If by your art you have put the waters in this roar, allay them.",
    "CAL. Where the bee sucks, there suck I, and there I lie.",
)


@pytest.mark.parametrize(("language", "word"), [(name, word) for name, (words, _) in ITEMS.items() for word in words])
def test_outlines_of_invented_minutes(language: str, word: str, any_language: Language) -> None:
    for seed in range(8):
        own = random.Random(seed)
        titles = own.sample(ITEMS[language][1].split(), own.randint(3, 4))
        gap, has_items = own.choice(("\n", "\n\n")), own.random() < 0.5
        expected, lines = list[tuple[int, str, str]](), list[str]()
        for number, title in enumerate(titles, 1):
            expected.append((1, word.format(number).strip(), title))
            lines.append(f"{word.format(number)}{title}{gap}{SENTENCES[language]}")
            for letter in "ab" if has_items and number == 2 else "":
                expected.append((2, f"{letter})", ""))
                lines.append(f"{letter}) {SENTENCES[language]}")
        tree = any_language("\n\n".join(lines) + "\n")._.section_tree
        assert [(node.level, node.number, node.title) for node in tree.walk()] == expected


@pytest.mark.parametrize(("act", "scene"), ACTS)
def test_outlines_of_invented_plays(act: str, scene: str, any_language: Language) -> None:
    for seed in range(8):
        own = random.Random(seed)
        expected, lines = list[tuple[int, str]](), list[str]()
        for number in range(own.randint(2, 4)):
            expected.append((1, act.format(ROMAN[number], number + 1, ORDINALS[number])))
            lines.append(expected[-1][1])
            for part in range(own.randint(1, 4)):
                expected.append((2, scene.format(ROMAN[part], part + 1, ORDINALS[part])))
                lines += [expected[-1][1], *own.choices(SPEECHES, k=own.randint(2, 6))]
        tree = any_language("\n\n".join(lines) + "\n")._.section_tree
        assert [(node.level, node.number) for node in tree.walk()] == expected

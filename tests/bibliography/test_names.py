"""Lists of names, as the styles print them."""

import re
from collections import Counter

import pytest
from helpers.references import all_references

from spacy_crf.bibliography.entry import Name, Names
from spacy_crf.bibliography.names import parse_names


def spell(names: Names) -> list[str]:
    """ "particle~Family, Given, suffix", and "{Body}"."""
    found = []
    for name in names.names:
        last = f"{name.particle}~{name.family}" if name.particle else name.family
        parts = [part for part in (last, name.given, name.suffix) if part]
        found.append(f"{{{name.family}}}" if name.is_whole else ", ".join(parts))
    return found + (["others"] if names.others else [])


CASES = {
    "Ines Baptista, Rolf Tanner, and Uche Madu.": ["Baptista, Ines", "Tanner, Rolf", "Madu, Uche"],
    "Kesselring, M. T., & Ojukwu, P.": ["Kesselring, M. T.", "Ojukwu, P."],
    "R. K. Halvorsen and J. Tsai,": ["Halvorsen, R. K.", "Tsai, J."],
    "Okafor, Chidi, and Helen Brandreth.": ["Okafor, Chidi", "Brandreth, Helen"],
    "Smith, John, Jones, Mary, and Lee, Ann": ["Smith, John", "Jones, Mary", "Lee, Ann"],
    "Estévez Ruiz, Pilar, Hans Grothe, and Lena Mikkelsen.": ["Estévez Ruiz, Pilar", "Grothe, Hans", "Mikkelsen, Lena"],
    "Kaminski PL, Obi R, da Silva Pinto RM, et al.": ["Kaminski, P. L.", "Obi, R.", "da~Silva Pinto, R. M.", "others"],
    "Castaing J-M, Prud'homme A.": ["Castaing, J.-M.", "Prud'homme, A."],
    "Bellanger J.-F. et Coste A.,": ["Bellanger, J.-F.", "Coste, A."],
    "Dörfler, Heinz / Eberlein, Anna:": ["Dörfler, Heinz", "Eberlein, Anna"],
    "Jorgensen, K.; Lamb, D.; and Mato, R.": ["Jorgensen, K.", "Lamb, D.", "Mato, R."],
    "Aubertin (Marie),": ["Aubertin, Marie"],
    "R. v. d. Esch,": ["v. d.~Esch, R."],
    "P. van den Heuvel,": ["van den~Heuvel, P."],
    "Hartog, Willem van der.": ["van der~Hartog, Willem"],
    "Jakobs, Wilhelm von:": ["von~Jakobs, Wilhelm"],
    "Nakagawa, E., & de la Fuente Ortiz, M.": ["Nakagawa, E.", "de la~Fuente Ortiz, M."],
    "Pritchard, G. W., Jr.": ["Pritchard, G. W., Jr."],
    "J. W. Pell, Jr., and A. Stone III": ["Pell, J. W., Jr.", "Stone, A., III"],
    "Stone, B., III.": ["Stone, B., III"],
    "Jurić, V.": ["Jurić, V."],
    "Svensson, Bo.": ["Svensson, Bo"],
    "Institute for Rural Ageing.": ["{Institute for Rural Ageing}"],
    "Institute for Food and Water": ["{Institute for Food and Water}"],
    "de Lisle, A. and the Metro Noise Group": ["de~Lisle, A.", "{the Metro Noise Group}"],
    "C. Chandler et al. (POLARIS Collaboration),": ["Chandler, C.", "{POLARIS Collaboration}", "others"],
    "Lüdecke, Hans-Joachim [u.a.]:": ["Lüdecke, Hans-Joachim", "others"],
    "Adams, B., Cole, T., … Yilmaz, D.": ["Adams, B.", "Cole, T.", "Yilmaz, D.", "others"],
    "P.Radley,J.Sims,&C.Tuck": ["Radley, P.", "Sims, J.", "Tuck, C."],
    "[OP87] S. Orban and F. Patel.": ["Orban, S.", "Patel, F."],
    "In G. Iwu, H. Stanton, & P. Perrault (Eds.),": ["Iwu, G.", "Stanton, H.", "Perrault, P."],
    "hg. von Klara Stoll und Rudolf Hinz,": ["Stoll, Klara", "Hinz, Rudolf"],
    "In: Jutta Lamprecht (Hrsg.):": ["Lamprecht, Jutta"],
    "In: Abrams TY, Lund P, editors.": ["Abrams, T. Y.", "Lund, P."],
    "edited by Tobias Ferrand and Mina Koskela,": ["Ferrand, Tobias", "Koskela, Mina"],
    "Shan, M.- C. and Louis, S .": ["Shan, M.-C.", "Louis, S."],
    "U. A. Smith, O.A. Jones, and Rudd, U. A.": ["Smith, U. A.", "Jones, O. A.", "Rudd, U. A."],
    "Pike, S., with the Metro Noise Group": ["Pike, S.", "{the Metro Noise Group}"],
    "Edith Inman": ["Inman, Edith"],
    "Kerrigan et al,": ["{Kerrigan}", "others"],
    "": [],
    " .,": [],
}


@pytest.mark.parametrize("text", CASES)
def test_lists_of_names(text: str) -> None:
    names, rest = parse_names(text)
    assert spell(names) == CASES[text]
    assert rest == ""


def test_what_others_contributed_is_kept() -> None:
    names, rest = parse_names("collected by Amos Rudd ; with a preface by Clara Venn. –")
    assert names == Names((Name("Rudd", "Amos"),))
    assert rest == "with a preface by Clara Venn"


ANNOUNCED = re.compile(
    "in|ln|dans|ed|eds|editors?|edited|by|collected|compiled|et|al|and|with|u|a|und|hg|hgg|hrsg|von|dir|note",
    re.IGNORECASE,
)


def letters(text: str) -> Counter[str]:
    return Counter(filter(str.isalnum, text))


def test_every_letter_of_the_corpus_is_in_some_part_but_for_what_announces_names() -> None:
    texts = [text for reference in all_references() for label, text in reference if label in ("AUTHOR", "EDITOR")]
    assert len(texts) > 350
    for text in texts:
        names, rest = parse_names(text)
        parts = [f"{name.family}{name.given}{name.particle}{name.suffix}" for name in names.names]
        kept = letters("".join(parts) + rest)
        text = re.sub(r"^\[.*?\]", "", text)
        words = [word for word in re.findall(r"\w+", text) if not ANNOUNCED.fullmatch(word)]
        assert not letters("".join(words)) - kept, text
        assert not kept - letters(text), text

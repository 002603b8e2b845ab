"""Pages, volumes, editions, reports and identifiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.bibliography.entry import EntryType
from spacy_crf.bibliography.fields import (
    PROCEEDINGS,
    bare_edition,
    clean,
    parse_edition,
    parse_pages,
    parse_report,
    parse_volume,
    report_type,
)


@pytest.mark.parametrize(
    "text, found",
    [
        ("12-34.", {"pages": "12-34"}),
        ("pp. 31--40.", {"pages": "31-40"}),
        ("(pp. 201–233).", {"pages": "201-233"}),
        ("S. 201-216.", {"pages": "201-216"}),
        ("S22-7.", {"pages": "S22-7"}),
        ("e1502-e1511.", {"pages": "e1502-e1511"}),
        ("7 - 19 .", {"pages": "7-19"}),
        ("p12-19", {"pages": "12-19"}),
        ("blz. 210-238.", {"pages": "210-238"}),
        ("45:1–45:19.", {"pages": "45:1-45:19"}),
        ("301, 315-22", {"pages": "301, 315-22"}),
        ("xxiv–xxvii.", {"pages": "xxiv-xxvii"}),
        ("Article 17", {"pages": "Article 17"}),
        ("77:257-286", {"volume": "77", "pages": "257-286"}),
        ("12(3):45--67", {"volume": "12", "number": "3", "pages": "45-67"}),
        ("):737–738", {"pages": "737-738"}),
        (".981 -1032(", {"pages": "981-1032"}),
        ("chapter 4, pages 77-102.", {"chapter": "4", "pages": "77-102"}),
        ("chap. 3.", {"chapter": "3"}),
        ("28 pages.", {"page_total": "28"}),
        ("[8], 211 p.", {"page_total": "[8], 211"}),
        ("xvi, 88 p. ; 19 cm. –", {"page_total": "xvi, 88", "note": "19 cm"}),
        ("14 leaves.", {"page_total": "14 leaves"}),
        ("С. 45–67.", {"pages": "45-67"}),
        ("págs. 12-34", {"pages": "12-34"}),
        ("第5-9页", {"pages": "5-9"}),
        ("頁 12–20。", {"pages": "12-20"}),
        ("页12～20", {"pages": "12-20"}),
        ("12-20頁。", {"pages": "12-20"}),
        ("124-130쪽.", {"pages": "124-130"}),
        ("120 с.", {"page_total": "120"}),
        ("XII, 345 S.", {"page_total": "XII, 345"}),
        ("P04018.", {"pages": "P04018"}),
        ("xii + 345 pp.", {"page_total": "xii + 345"}),
        ("1 page.", {"page_total": "1"}),
        ("Seiten 12–34", {"pages": "12-34"}),
        ("páginas 12-34", {"pages": "12-34"}),
        ("p.p. 12-34", {"pages": "12-34"}),
        ("(Vol. 2, pp. 45–67)", {"volume": "2", "pages": "45-67"}),
        ("Bd. 2, S. 45–67", {"volume": "2", "pages": "45-67"}),
        ("45(Suppl 1):S12-S15", {"volume": "45", "number": "Suppl 1", "pages": "S12-S15"}),
        ("12(3):P45-P50", {"volume": "12", "number": "3", "pages": "P45-P50"}),
        ("12–15 p.", {"pages": "12-15"}),
        ("12–15. o.", {"pages": "12-15"}),
        ("pp.: 12-15", {"pages": "12-15"}),
        ("634 s.", {"page_total": "634"}),
        ("-", {}),
        ("183-187. PDF", {"pages": "183-187", "note": "PDF"}),
        ("1145-1148 vol.3", {"pages": "1145-1148", "volume": "3"}),
        ("367-75. PMC 3600001", {"pages": "367-75", "note": "PMC 3600001"}),
        ("7782. pp. 171--182", {"volume": "7782", "pages": "171-182"}),
        ("Tollgate. pp. 169-200", {"note": "Tollgate", "pages": "169-200"}),
        ("12-14, here p. 13", {"pages": "12-14, here p. 13"}),
        ("386-392, pp. 521-525", {"pages": "386-392, pp. 521-525"}),
        ("pg 29", {"pages": "29"}),
    ],
)
def test_pages(text: str, found: dict[str, str]) -> None:
    assert parse_pages(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        ("12(3):", ("12", "3")),
        ("vol. 18, no. 3,", ("18", "3")),
        ("171(4356", ("171", "4356")),
        (")83 (2", ("83", "2")),
        ("50: 3", ("50", "3")),
        ("22.4", ("22", "4")),
        ("4, 3-4,", ("4", "3-4")),
        ("27(1–2),", ("27", "1-2")),
        ("第3巻第2号、", ("3", "2")),
        ("第41卷第3-4期，", ("41", "3-4")),
        ("제19권, 제5호,", ("19", "5")),
        ("卷12", ("12", None)),
        ("15 Suppl 1:", ("15", "Suppl 1")),
        ("33(Pt 2):", ("33", "Pt 2")),
        ("vol6 no1", ("6", "1")),
        ("XXII, n 3", ("XXII", "3")),
        ("(Vol. 2,", ("2", None)),
        ("Bd. 6).", ("6", None)),
        ("dl. XII", ("XII", None)),
        ("41/42", ("41/42", None)),
        ("new series xxiii", ("new series xxiii", None)),
        ("115B", ("115B", None)),
        ("Т. 12, № 3.", ("12", "3")),
        ("т. 5, вып. 2", ("5", "2")),
        ("t. 5, fasc. 2", ("5", "2")),
        ("Jg. 5, H. 2", ("5", "2")),
        ("第12卷第3期", ("12", "3")),
        ("3号", (None, "3")),
        ("(44):", (None, "44")),
        ("no. 12:", (None, "12")),
        ("n° 9,", (None, "9")),
        ("Heft 3/4,", (None, "3/4")),
        ("vol. 12, nos. 3–4", ("12", "3-4")),
        ("v. 12, n. 3,", ("12", "3")),
        ("v. XXIII,", ("XXIII", None)),
        ("V. 3", ("V", "3")),
        ("V, 3", ("V", "3")),
        ("vols. 1–3", ("1-3", None)),
        ("(Vol. 1),", ("1", None)),
        ("12. Jg., H. 3", ("12", "3")),
        ("12. årg., nr 3", ("12", "3")),
        ("t. 12, z. 3", ("12", "3")),
        ("č. 3", (None, "3")),
        ("Suppl. 3", ("Suppl. 3", None)),
        ("bk. 2", ("bk. 2", None)),
        ("Jahrgang 12", ("12", None)),
        ("jrg. 12, nr. 3", ("12", "3")),
        ("jaargang 12", ("12", None)),
        ("12e jaargang, nr. 3", ("12", "3")),
        ("12, Suppl. 1", ("12", "Suppl. 1")),
        ("Т. 12. № 3.", ("12", "3")),
        ("10. 12.", ("10", "12")),
    ],
)
def test_volumes(text: str, found: tuple[str | None, str | None]) -> None:
    parsed = parse_volume(text)
    assert (parsed.get("volume"), parsed.get("number")) == found
    assert set(parsed) <= {"volume", "number"}


@pytest.mark.parametrize(
    "text, found",
    [
        ("12, 45-67", {"volume": "12", "pages": "45-67"}),
        ("12, 145--7", {"volume": "12", "pages": "145-7"}),
        ("12.45–67", {"volume": "12", "pages": "45-67"}),
        ("12, 45-46", {"volume": "12", "number": "45-46"}),
        ("12(3), 4-5", {"volume": "12", "number": "3", "pages": "4-5"}),
        ("12(3),45", {"volume": "12", "number": "3", "pages": "45"}),
        ("12(Suppl 1), 23", {"volume": "12", "number": "Suppl 1", "pages": "23"}),
        ("12(3), 2003", {"volume": "12", "number": "3", "note": "2003"}),
        ("vol. 12, p. 345", {"volume": "12", "pages": "345"}),
        ("12 (3), S. 45–67", {"volume": "12", "number": "3", "pages": "45-67"}),
        ("12, 1-4", {"volume": "12", "number": "1-4"}),
        ("12(45-67)", {"volume": "12", "number": "45-67"}),
        # an article that has a number in place of pages
        ("67 026126", {"volume": "67", "pages": "026126"}),
        ("67, 27823", {"volume": "67", "pages": "27823"}),
        ("2.02", {"volume": "2", "number": "02"}),
        ("11 264", {"volume": "11", "pages": "264"}),
        ("5 3", {"volume": "5", "number": "3"}),
        ("12 2003", {"volume": "12 2003"}),
        ("no. 22: 133", {"number": "22", "pages": "133"}),
        ("vol. 12, no. 1 27-46", {"volume": "12", "number": "1", "pages": "27-46"}),
        ("Nr. 45 678", {"number": "45 678"}),
    ],
)
def test_a_long_range_behind_a_volume_is_of_pages(text: str, found: dict[str, str]) -> None:
    assert parse_volume(text) == found


def test_how_many_volumes_there_are_is_no_volume() -> None:
    assert parse_volume("3 vols.") == {"note": "3 vols."}


@pytest.mark.parametrize(
    "text, edition",
    [
        ("2nd ed.", "2nd"),
        ("(2nd ed.).", "2nd"),
        ("second edition,", "second"),
        ("Rev. ed.", "Rev."),
        ("2., verb. Aufl.", "2., verb."),
        ("2nd ed. –", "2nd"),
        ("Second printing.", ""),
        ("edited by A. Bell", ""),
        ("in press", ""),
    ],
)
def test_editions(text: str, edition: str) -> None:
    assert parse_edition(text) == edition


@pytest.mark.parametrize(
    "text, found, kind",
    [
        ("Technical Report CSD-84-19,", ("Technical Report", "CSD-84-19"), "techreport"),
        ("(Report No. 44).", ("Report", "44"), "techreport"),
        ("Technical Report Series, No.: 81.", ("Technical Report Series", "81"), "techreport"),
        ("TR-77-102,", (None, "TR-77-102"), "techreport"),
        ("U.S. Patent 99,214,077,", ("U.S. Patent", "99,214,077"), "misc"),
        ("U.S. Patent 99 123 456,", ("U.S. Patent", "99 123 456"), "misc"),
        ("US patent 4 0054 881", ("US patent", "4 0054 881"), "misc"),
        ("EP 1234567 A1", ("EP", "1234567 A1"), "techreport"),
        ("US Patent 7,123,456 B2", ("US Patent", "7,123,456 B2"), "misc"),
        ("U.S. Patent Application 12/345,678", ("U.S. Patent Application", "12/345,678"), "misc"),
        ("[Data set].", ("Data set", None), "misc"),
        ("[Master's thesis,", ("Master's thesis", None), "mastersthesis"),
        ("Honours thesis,", ("Honours thesis", None), "mastersthesis"),
        ("Hausarbeit,", ("Hausarbeit", None), "mastersthesis"),
        ("Doktorarbeit,", ("Doktorarbeit", None), "phdthesis"),
        ("Tesis de maestría,", ("Tesis de maestría", None), "mastersthesis"),
        ("Tese (Doutorado em Letras)", ("Tese (Doutorado em Letras)", None), "phdthesis"),
        ("Dissertação de mestrado", ("Dissertação de mestrado", None), "mastersthesis"),
        ("Tesi di laurea,", ("Tesi di laurea", None), "mastersthesis"),
        ("Mémoire de master,", ("Mémoire de master", None), "mastersthesis"),
        ("Habilitationsschrift,", ("Habilitationsschrift", None), "phdthesis"),
        ("(unpublished LL.M. thesis,", ("unpublished LL.M. thesis", None), "mastersthesis"),
        ("Diploma thesis,", ("Diploma thesis", None), "mastersthesis"),
        ("Magisterarbeit,", ("Magisterarbeit", None), "mastersthesis"),
        ("(PhD diss.,", ("PhD diss.", None), "phdthesis"),
        ("thèse de doctorat,", ("thèse de doctorat", None), "phdthesis"),
        ("[dissertation].", ("dissertation", None), "phdthesis"),
        ("Rozprawa doktorska,", ("Rozprawa doktorska", None), "phdthesis"),
        ("Praca magisterska,", ("Praca magisterska", None), "mastersthesis"),
        ("Disertační práce.", ("Disertační práce", None), "phdthesis"),
        ("Diplomová práce.", ("Diplomová práce", None), "mastersthesis"),
        ("Väitöskirja,", ("Väitöskirja", None), "phdthesis"),
        ("Lic.-avh.,", ("Lic.-avh", None), "mastersthesis"),
        ("Habil.-Schr.,", ("Habil.-Schr", None), "phdthesis"),
        ("Trabajo de fin de máster,", ("Trabajo de fin de máster", None), "mastersthesis"),
        ("Personal communication,", ("Personal communication", None), "unpublished"),
    ],
)
def test_reports(text: str, found: tuple[str | None, str | None], kind: str) -> None:
    parsed = parse_report(text)
    assert (parsed.get("genre"), parsed.get("number")) == found
    assert report_type(parsed.get("genre", ""), parsed.get("number", "")) is EntryType(kind)


@pytest.mark.parametrize(
    "text, cleaned",
    [
        ("“Low-latency relays,”", "Low-latency relays"),
        ("``Remote calls,''", "Remote calls"),
        ("« Le curé et l'instituteur »,", "Le curé et l'instituteur"),
        ("‘Who mends the pavement?’,", "Who mends the pavement?"),
        ("[Review of a book, by S. Ledoux].", "Review of a book, by S. Ledoux"),
        ("Undo (CORE ’18).", "Undo (CORE ’18)"),
        ("(London:", "London"),
        ("Kestrel Bay University].", "Kestrel Bay University"),
        ("Songs of the eel fishers /", "Songs of the eel fishers"),
        ("Volt & Ampere, Inc.", "Volt & Ampere, Inc."),
        ('"Slow drilling', "Slow drilling"),
        ("“Slow drilling", "Slow drilling"),
        ('The "slow" drilling', 'The "slow" drilling'),
        ("“One” and “Two”", "“One” and “Two”"),
        ("...", ""),
    ],
)
def test_cleaning(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(alphabet="aB1 .,:;()[]\"'“”‘’/-–", max_size=30))
def test_cleaning_takes_marks_only_and_is_final(text: str) -> None:
    assert "".join(filter(str.isalnum, clean(text))) == "".join(filter(str.isalnum, text))
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Proc. ICTS-95", True),
        ("Urban Data Mining Workshop", True),
        ("ICGN", True),
        ("Fachtagung Rechnen im Alltag", True),
        ("The handbook of idle minds", False),
        ("Essays on Travel Presented to H. L. Crewe", False),
    ],
)
def test_proceedings(text: str, expected: bool) -> None:
    assert (PROCEEDINGS.search(text) is not None) is expected


QUOTED = ["„Quays”", "”Quays”", "»Quays«,", "»Quays»", "›Quays‹", "‹Quays›.", "‚Quays‘", '„Quays"']


@pytest.mark.parametrize("text", [*QUOTED, "Quays (", "), Quays"])
def test_marks_around_a_field_are_no_part_of_it(text: str) -> None:
    assert clean(text) == "Quays"


@pytest.mark.parametrize("text", ["»Quays« und »Piers«", "”Quays” och ”Piers”", "›Quays‹ und ›Piers‹", "Kiel u. a."])
def test_marks_of_words_within_a_field_stay(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("printed", "edition"),
    [
        ("3., überarb. u. erw. Aufl.", "3., überarb. u. erw."),
        ("Kindle ed.", "Kindle"),
        ("(2nd edition ed.)", "2nd"),
        ("1st American ed.", "1st American"),
        ("2e édition,", "2e"),
        ("2. uppl.", "2."),
        ("Seventh Edition", "Seventh"),
        ("ed. 2", "ed. 2"),
        ("Edition", "Edition"),
    ],
)
def test_fields_of_editions(printed: str, edition: str) -> None:
    assert bare_edition(printed) == edition


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("roč. 12, č. 3", {"volume": "12", "number": "3"}),
        ("12. évf. 3. sz.", {"volume": "12", "number": "3"}),
        ("3. sz.", {"number": "3"}),
        ("årg. 12, nr 3", {"volume": "12", "number": "3"}),
        ("a. XII, n. 3", {"volume": "XII", "number": "3"}),
        ("año 12, nº 3", {"volume": "12", "number": "3"}),
        ("Cilt 12, Sayı 3", {"volume": "12", "number": "3"}),
        ("vol. 2 of", {"volume": "2"}),
        ("A. 12", {"volume": "A", "number": "12"}),
        ("vol. 12, n.º 3", {"volume": "12", "number": "3"}),
        ("N.º 3-4", {"number": "3-4"}),
        ("τόμ. 12, τχ. 3", {"volume": "12", "number": "3"}),
        ("R. 94, z. 3", {"volume": "94", "number": "3"}),
        ("god. 12, br. 3", {"volume": "12", "number": "3"}),
        ("letn. 12, št. 3", {"volume": "12", "number": "3"}),
        ("vsk. 12, nro 3", {"volume": "12", "number": "3"}),
        ("В 3 т. Т. 2", {"volume": "2", "note": "В 3 т."}),
        ("3 tomes en 2 vol.", {"note": "3 tomes en 2 vol."}),
        ("2 v.", {"note": "2 v."}),
        ("in 2 voll.", {"note": "in 2 voll."}),
    ],
)
def test_volumes_of_other_languages(printed: str, found: dict[str, str]) -> None:
    assert parse_volume(printed) == found


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("σελ. 12–34", {"pages": "12-34"}),
        ("345 σ.", {"page_total": "345"}),
        ("pagg. 12-34", {"pages": "12-34"}),
        ("lk 12–34", {"pages": "12-34"}),
        ("ص ص 12-34", {"pages": "12-34"}),
        ("12~34쪽", {"pages": "12-34"}),
        ("XXIV-345 p.", {"page_total": "XXIV-345"}),
        ("345 с. : ил.", {"page_total": "345", "note": "ил"}),
        ("2 vols.", {"note": "2 vols"}),
        ("pp. xii-xiv", {"pages": "xii-xiv"}),
        ("№ 3. С. 12–34", {"number": "3", "pages": "12-34"}),
        ("no. 3, pp. 12-34", {"number": "3", "pages": "12-34"}),
        ("T. 12, nr 3, s. 5–6", {"volume": "12", "number": "3", "pages": "5-6"}),
        ("art. 3, pp. 12-34", {"note": "art. 3", "pages": "12-34"}),
    ],
)
def test_pages_of_other_languages(printed: str, found: dict[str, str]) -> None:
    assert parse_pages(printed) == found


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("“Art. „Almende“,”", "Art. „Almende“"),
        ("“Reading “Rope” aloud,”", "Reading “Rope” aloud"),
        ("« « Parler » ».", "Parler"),
        ("„Das „Haff“ am Meer“,", "Das „Haff“ am Meer"),
        ("“Rope” and “Tar”,", "“Rope” and “Tar”"),
        ("“Foo” bar”", "“Foo” bar”"),
        ("»Haff« und »Meer«", "»Haff« und »Meer«"),
    ],
)
def test_quotations_in_a_quotation(printed: str, title: str) -> None:
    assert clean(printed) == title


def test_a_dutch_edition() -> None:
    assert (parse_edition("2e dr.,"), parse_edition("Dr.")) == ("2e", "")

"""Labelled references become entries of the right type, and nothing of them is lost."""

import re
from collections import Counter
from dataclasses import fields

import pytest
from helpers.entries import corpus_entries
from helpers.references import all_references, parse_reference

from spacy_crf.bibliography.assemble import make_entries, make_entry
from spacy_crf.bibliography.dates import month_of
from spacy_crf.bibliography.entry import Date, Day, Entry, EntryType, Name, Names, normalise

# Words that announce a field and are no part of it.
ANNOUNCED = re.compile(
    "in|ln|dans|ed|eds|editors?|edited|by|collected|compiled|et|al|and|with|und|hg|hgg|hrsg|von|dir|note|pp?|pages?"
    "|pag|s|sp|blz|vol|volume|vols|no|number|heft|h|bd|dl|t|n|chap|chapter|ch|doi|https?|org|retrieved|available"
    "|from|accessed|viewed|online|zugriff|ders|cited|arxiv|preprint|corr|abs|edition|edn|ed|edit|aufl|u|a|dx|at|to|appear",
    re.IGNORECASE,
)


def words_of(entry: Entry) -> str:
    """All texts and numbers of an entry."""
    found = []
    for field in fields(entry):
        value = getattr(entry, field.name)
        if isinstance(value, Names):
            found += [part for name in value.names for part in (name.particle, name.family, name.given, name.suffix)]
        elif isinstance(value, Date):
            found += [value.iso, value.letter]
        elif isinstance(value, str) and field.name not in ("type", "key"):
            found.append(value)
    return " ".join(found)


def is_kept(label: str, word: str, kept: str) -> bool:
    if word.lower() in kept or ANNOUNCED.fullmatch(word):
        return True
    if label == "DATE":
        return month_of(word) is not None or re.fullmatch(r"[\dlO]{4}[a-z]?", word) is not None
    # when an address was looked up is a date as well
    return label == "NOTE" and month_of(word) is not None


def test_nothing_of_the_corpus_is_lost() -> None:
    lost = []
    for reference, entry in zip(all_references(), corpus_entries(), strict=True):
        kept = "".join(filter(str.isalnum, words_of(entry))).lower()
        for label, text in reference:
            text = re.sub(r"^\[.*?\]", "", text) if label == "AUTHOR" else text
            words = re.findall(r"[^\W_]+", re.sub(r"\b(pp?|vol|no)(?=\d)", "", text))
            lost += [(label, text, word) for word in words if not is_kept(label, word, kept)]
    assert lost == []


def test_types_of_the_corpus() -> None:
    counts = Counter(entry.type.value for entry in corpus_entries())
    assert set(counts) == {
        *("article", "book", "incollection", "inproceedings", "mastersthesis", "misc", "phdthesis", "techreport"),
        "unpublished",
    }
    with_journal = [any(label == "JOURNAL" for label, _ in reference) for reference in all_references()]
    for entry, is_article in zip(corpus_entries(), with_journal):
        assert (entry.type == "article") >= is_article or "thes" in entry.type
        assert entry.type != "article" or is_article


CASES = {
    "<author> K. Lund. </author> <title> Ropes. </title> <journal> Knots </journal> <date> 1990. </date>": "article",
    "<author> K. Lund. </author> <title> Ropes. </title> <booktitle> In Proc. 2nd Conf. on Knots, </booktitle>": (
        "inproceedings"
    ),
    "<author> K. Lund. </author> <title> Ropes. </title> <booktitle> In Knots at Sea, </booktitle>": "incollection",
    "<author> K. Lund. </author> <title> Ropes. </title> <booktitle> (= Knots </booktitle> <volume> 3), </volume>"
    " <location> Ulm </location>": "book",
    "<author> K. Lund. </author> <title> Ropes. </title> <publisher> Sea Press, </publisher>": "book",
    "<author> K. Lund. </author> <title> Ropes. </title> <tech> PhD thesis, </tech>": "phdthesis",
    "<author> K. Lund. </author> <title> Ropes. </title> <tech> M.Sc. thesis, </tech>": "mastersthesis",
    "<author> K. Lund. </author> <title> Ropes. </title> <tech> TR-7, </tech>": "techreport",
    "<author> K. Lund. </author> <title> Ropes. </title> <institution> Sea Lab, </institution>": "techreport",
    "<author> K. Lund. </author> <title> Ropes. </title> <tech> arXiv:2013.04881 </tech>": "misc",
    "<author> K. Lund. </author> <title> Ropes. </title> <tech> U.S. Patent 7, </tech>": "misc",
    "<author> K. Lund. </author> <title> Ropes. </title> <note> in preparation. </note>": "unpublished",
    "<author> K. Lund. </author> <title> Ropes. </title> <tech> Personal communication, </tech>": "unpublished",
    "<author> K. Lund. </author> <title> Ropes. </title> <note> http://a.example </note>": "misc",
}


@pytest.mark.parametrize("line", CASES)
def test_types(line: str) -> None:
    assert make_entry(parse_reference(line)).type == CASES[line]


def test_fields_find_their_places() -> None:
    line = (
        "<author> Egerland, Thomas: </author> <title> Art. „Almende“, </title> <booktitle> in: Handbuch, </booktitle>"
        " <volume> Bd. 1, </volume> <editor> hg. von Klara Stoll, </editor> <location> Marburg </location>"
        " <date> 1962, </date> <pages> Sp. 88–91. </pages> <note> 2nd ed. </note> <note> doi:10.5555/a </note>"
    )
    assert make_entry(parse_reference(line)) == Entry(
        type="incollection",  # type: ignore[arg-type]
        authors=Names((Name("Egerland", "Thomas"),)),
        editors=Names((Name("Stoll", "Klara"),)),
        title="Art. „Almende“",
        container="Handbuch",
        volume="1",
        pages="88-91",
        date=Date(Day(1962)),
        place="Marburg",
        edition="2nd",
        doi="10.5555/a",
    )


def test_what_has_no_place_is_in_the_note() -> None:
    entry = make_entry(
        [
            ("TITLE", "One."),
            ("TITLE", "Two."),
            ("", "loose words"),
            ("LANGUAGE", "French."),
            ("PAGES", "1-2"),
            ("PAGES", "9"),
            ("NOTE", "doi:10.5555/a, doi:10.5555/b"),
            ("", "!"),
        ]
    )
    assert (entry.title, entry.pages, entry.doi) == ("One", "1-2", "10.5555/a")
    assert entry.note == "Two. loose words. French. 9. doi:10.5555/b"


def test_quotation_marks_on_the_wrong_side_of_a_border() -> None:
    entry = make_entry([("TITLE", '"Slow drilling,'), ("BOOKTITLE", '" in Proc. Tunnel Conf.,'), ("DATE", "1983.")])
    assert (entry.title, entry.container, entry.type) == ("Slow drilling", "Proc. Tunnel Conf.", "inproceedings")


def test_dates_of_meeting_and_publication() -> None:
    later = make_entry([("DATE", "2011 Sep 14-17;"), ("DATE", "2012.")])
    assert later.date == Date(Day(2012)) and later.note == "2011-09-14/2011-09-17"
    same = make_entry([("DATE", "2003."), ("DATE", "May 7–9, 2003.")])
    assert same.date == Date(Day(2003, 5, 7), Day(2003, 5, 9)) and same.note == ""
    month = make_entry([("DATE", "2014a."), ("DATE", "(October):")])
    assert month.date == Date(Day(2014, 10), letter="a") and month.note == ""
    assert make_entry([("DATE", "(n.d.).")]).note == "n.d."
    for parts in (["12 May", "2003"], ["2003", "12 May"]):
        assert make_entry([("DATE", part) for part in parts]).date == Date(Day(2003, 5, 12))


@pytest.mark.parametrize("label", ["TECH", "JOURNAL", "PUBLISHER", "NOTE"])
@pytest.mark.parametrize("name", ["cs.CL", "hep-th", "math"])
def test_a_class_of_arxiv_is_no_report_and_no_journal(label: str, name: str) -> None:
    entry = make_entry([("TITLE", "On ropes"), (label, f"arXiv:2001.12345 [{name}],"), ("DATE", "2020.")])
    assert entry == Entry(title="On ropes", arxiv="2001.12345", date=Date(Day(2020)), note=name)


@pytest.mark.parametrize(
    "genres", [("(Publication No. 123)", "[Doctoral thesis,"), ("Doctoral thesis", "Publ. No. 123")]
)
def test_a_thesis_is_one_beside_what_else_it_is_called(genres: tuple[str, str]) -> None:
    entry = make_entry([("TITLE", "Ropes"), *(("GENRE", genre) for genre in genres), ("INSTITUTION", "Hull].")])
    assert (entry.type, entry.genre, entry.number) == ("phdthesis", "Doctoral thesis", "")
    assert "123" in entry.note


@pytest.mark.parametrize("dash", ["———.", "---,", "⸻.", "―――", "—.", "–:", "______."])
def test_a_dash_is_whom_the_reference_before_begins_with(dash: str) -> None:
    """Also where that one is edited, and where the dash is an editor itself."""
    first, edited = (
        [("AUTHOR", "Crane, Edith."), ("TITLE", "On Ropes")],
        [("EDITOR", "Vogt, Karl, ed."), ("TITLE", "Quays")],
    )
    found = make_entries(
        [first, edited, [("AUTHOR", dash), ("TITLE", "Nets")], [("EDITOR", f"{dash} (ed.)"), ("TITLE", "Oars")]]
    )
    vogt = Names((Name("Vogt", "Karl"),))
    assert [(entry.authors, entry.editors) for entry in found[2:] if entry] == [(vogt, Names()), (Names(), vogt)]


@pytest.mark.parametrize("text", ["Ibid.,", "ibidem", "Ebd., S.", "Ebenda,", "Op. cit.,", "a.a.O.,"])
def test_the_same_work_is_no_author(text: str) -> None:
    for label in ("AUTHOR", "EDITOR"):
        _, entry = make_entries([[("AUTHOR", "Crane, Edith.")], [(label, text), ("PAGES", "45-47")]])
        assert entry is not None
        assert (entry.authors, entry.editors, entry.note) == (Names(), Names(), text.rstrip(","))
    entry = make_entry([("AUTHOR", "Ibidun, A."), ("TITLE", "Quays")])
    assert entry.authors.names[0].family == "Ibidun"


def test_a_bullet_is_not_the_author_before() -> None:
    _, entry = make_entries([[("AUTHOR", "Crane, Edith.")], [("AUTHOR", "- Vogt, Karl."), ("TITLE", "Quays")]])
    assert entry is not None
    assert [name.family for name in entry.authors.names] == ["Vogt"]


def test_a_dash_is_the_author_before() -> None:
    lund, fox = Name("Lund", "K."), Name("Fox", "A.")
    entries = make_entries(
        [
            [("AUTHOR", "Lund, K.,"), ("TITLE", "One")],
            [("", "nothing")],
            [("AUTHOR", "-----,"), ("TITLE", "Two")],
            [("AUTHOR", "——— and A. Fox"), ("TITLE", "Three")],
        ]
    )
    assert [entry and entry.authors.names for entry in entries] == [(lund,), None, (lund,), (lund, fox)]


def test_references_without_fields_leave_a_gap_and_keys_are_distinct() -> None:
    title = [("title", "Ropes")]
    marks = [("AUTHOR", "* *"), ("TITLE", "*"), ("INSTITUTION", "---")]
    entries = make_entries([title, [("", "Ropes")], [], [("O", "x")], marks, [("AUTHOR", "———")], title])
    assert [entry and entry.key for entry in entries] == ["ropesa", None, None, None, None, None, "ropesb"]


def test_texts_are_normalised() -> None:
    assert normalise(" e\u0301\t\n a\x00b\x07 \ud800 ") == "é ab"


def test_labels_of_anystyle_and_of_the_general_model() -> None:
    segments = [
        ("CITATION-NUMBER", "[3]"),
        ("AUTHOR", "Crane, E."),
        ("TITLE", "Salt."),
        ("EDITOR", "In Lund, K. (Ed.),"),
        ("CONTAINER-TITLE", "The household before gas"),
        ("COLLECTION-TITLE", "(Studies in Light,"),
        ("COLLECTION-NUMBER", "14)."),
        ("EDITION", "2nd ed."),
        ("TRANSLATOR", "Translated by Ann Lee."),
        ("LOCATION", "Hull:"),
        ("PUBLISHER", "Spurn,"),
        ("DATE", "1998."),
        ("URL", "https://a.example/x"),
        ("ACCESSED", "Accessed 3 May 2019."),
        ("ISBN", "ISBN 978-3-16-148410-0"),
    ]
    (entry,) = make_entries([segments])
    assert entry is not None and entry.type == "incollection"
    assert (entry.container, entry.series, entry.volume, entry.edition) == (
        "The household before gas",
        "Studies in Light",
        "14",
        "2nd",
    )
    assert (entry.url, entry.isbn, entry.note) == ("https://a.example/x", "9783161484100", "Translated by Ann Lee")
    assert entry.accessed is not None and entry.accessed.iso == "2019-05-03"


def test_references_of_east_asia() -> None:
    japanese = [("AUTHOR", "佐藤一郎、鈴木健"), ("TITLE", "「近代の俳句」"), ("JOURNAL", "『文学研究』")]
    japanese += [("VOLUME", "第3巻第2号、"), ("DATE", "2010年、"), ("PAGES", "12–20頁。")]
    entry = make_entry(japanese)
    assert (entry.title, entry.container, entry.volume, entry.number) == ("近代の俳句", "文学研究", "3", "2")
    assert (entry.pages, entry.note, [name.family for name in entry.authors.names]) == (
        "12-20",
        "",
        ["佐藤一郎", "鈴木健"],
    )
    chinese = make_entry([("AUTHOR", "王明."), ("TITLE", "城市建筑史[D]."), ("DATE", "2004.")])
    assert (chinese.type, chinese.title) == (EntryType.PHDTHESIS, "城市建筑史")
    part = make_entry([("TITLE", "城市建筑史[C]//"), ("CONTAINER-TITLE", "论文集."), ("DATE", "2004.")])
    assert (part.type, part.title) == (EntryType.INCOLLECTION, "城市建筑史")
    report = make_entry(
        [("TITLE", "城市建筑史[R]."), ("LOCATION", "北京:"), ("PUBLISHER", "科学院,"), ("DATE", "2004.")]
    )
    assert (report.type, report.title) == (EntryType.TECHREPORT, "城市建筑史")


def test_identifiers_that_cannot_be_right_are_marked_and_stay() -> None:
    entry = make_entry([("TITLE", "Salt."), ("ISBN", "ISBN 978-3-16-148410-1."), ("NOTE", "arXiv:1504.07295")])
    assert (entry.isbn, entry.arxiv) == ("9783161484101", "1504.07295")
    assert entry.invalid == "isbn 9783161484101: its check digit is wrong"


def test_a_container_is_a_journal_or_a_book_by_its_words() -> None:
    journal, book = make_entries(
        [[("TITLE", "Salt"), ("CONTAINER", own)] for own in ("Nordic Review,", "In Proceedings of the 3rd Workshop")]
    )
    assert journal is not None and journal.type == "article"
    assert book is not None and book.type == "inproceedings"


def test_a_report_under_the_name_of_its_genre() -> None:
    (entry,) = make_entries([[("TITLE", "Salt"), ("GENRE", "Technical Report TR-3,"), ("INSTITUTION", "Hull")]])
    assert entry is not None and (entry.type, entry.number) == ("techreport", "TR-3")


@pytest.mark.parametrize("volume", ["12 (2003), H. 3", "2003;12(3):", "Bd. 12 (2003) 3"])
def test_years_in_fields_of_volumes(volume: str) -> None:
    for date in ([("DATE", "(2003)")], []):
        entry = make_entry([("JOURNAL", "Knots"), ("VOLUME", volume), *date])
        assert (entry.volume, entry.number, entry.date, entry.note) == ("12", "3", Date(Day(2003)), "")


def test_the_year_is_no_issue() -> None:
    only = make_entry([("JOURNAL", "Knots"), ("VOLUME", "12 (1987),"), ("PAGES", "S. 1-9")])
    assert (only.volume, only.number, only.date) == ("12", "", Date(Day(1987)))
    entry = make_entry([("JOURNAL", "Knots"), ("VOLUME", "12 (2003)"), ("DATE", "2003")])
    assert (entry.volume, entry.number, entry.date) == ("12", "", Date(Day(2003)))
    assert make_entry([("JOURNAL", "Knots"), ("VOLUME", "415(1987)"), ("DATE", "2002")]).number == "1987"


@pytest.mark.parametrize(
    ("printed", "iso"),
    [
        *(("Bd. 12 (1898/99),", "1898/1899"), ("12 (1898-99),", "1898/1899"), ("12 (1898/9),", "1898/1899")),
        ("12 (1898),", "1898"),
    ],
)
def test_years_behind_a_volume_are_its_date(printed: str, iso: str) -> None:
    entry = make_entry([("JOURNAL", "Harbour"), ("VOLUME", printed), ("PAGES", "S. 4-6.")])
    assert entry.date is not None
    assert (entry.volume, entry.number, entry.date.iso) == ("12", "", iso)


@pytest.mark.parametrize(
    ("printed", "number", "pages", "iso"),
    [
        ("12. Jg. (1998), H. 3,", "3", "", "1998"),
        ("Bd. 12 (1898/99), H. 2,", "2", "", "1898/1899"),
        *(("12. (1998) 3", "3", "", "1998"), ("12. (1998), 3-9", "", "3-9", "1998")),
        *(("12, no. 3 (1998):", "3", "", "1998"), ("vol. 12, n° 3 (juin 1998)", "3", "", "1998-06")),
        *(("12.3 (1998)", "3", "", "1998"), ("12 (3), 1998,", "3", "", "1998"), ("(1998) 12(3)", "3", "", "1998")),
        *(("(1998) 12", "", "", "1998"), ("1998 Jul 25;12(3)", "3", "", "1998-07-25")),
    ],
)
def test_years_between_a_volume_and_what_follows(printed: str, number: str, pages: str, iso: str) -> None:
    entry = make_entry([("JOURNAL", "Harbour"), ("VOLUME", printed)])
    assert entry.date is not None
    assert (entry.volume, entry.number, entry.pages, entry.date.iso, entry.note) == ("12", number, pages, iso, "")


@pytest.mark.parametrize("date", [None, Date(Day(1998))])
def test_what_is_no_range_of_years_behind_a_volume_stays_a_number(date: Date | None) -> None:
    told = [] if date is None else [("DATE", "1998")]
    entry = make_entry([("JOURNAL", "Harbour"), ("VOLUME", "12 (1998/1)"), *told])
    assert (entry.volume, entry.number, entry.date) == ("12", "1998/1", date)


@pytest.mark.parametrize("word", ["Ders.:", "Id.,", "Idem,", "Dies.:", "Ead.,"])
def test_words_for_the_author_before(word: str) -> None:
    crane, vogt = Name("Crane", "Edith"), Name("Vogt", "Karl")
    references = [
        [("AUTHOR", "Crane, Edith:"), ("TITLE", "On Ropes")],
        [("AUTHOR", word), ("TITLE", "On Ferries"), ("EDITOR", "in: Ders./Vogt, Karl (Hg.),"), ("BOOKTITLE", "Quays")],
    ]
    first, second = make_entries(references)
    assert first is not None and second is not None
    assert (second.authors.names, second.editors.names) == ((crane,), (crane, vogt))
    alone = make_entry(references[1])
    assert alone.authors.names[0].family.rstrip(".") == word.rstrip(".:,")


def test_a_family_of_that_name_is_a_person() -> None:
    _, second = make_entries([[("AUTHOR", "Crane, Edith:")], [("AUTHOR", "Dies, Albert:"), ("TITLE", "On Ferries")]])
    assert second is not None and second.authors.names == (Name("Dies", "Albert"),)


@pytest.mark.parametrize("word", ["in", "In:", "En:", "Em", "w:", "В кн.:"])
def test_the_word_before_the_editors_is_no_book(word: str) -> None:
    for label in ("BOOKTITLE", "JOURNAL", "CONTAINER"):
        entry = make_entry([("TITLE", "Ropes"), (label, word), ("EDITOR", "K. Lund (ed.),"), (label, "Quays,")])
        assert (entry.container, entry.series, entry.note) == ("Quays", "", "")


@pytest.mark.parametrize("printed", ["in:Quays", "En: Quays", "Em: Quays", "I: Quays", "W: Quays", "В кн.: Quays"])
def test_words_before_a_book_are_no_part_of_it(printed: str) -> None:
    assert make_entry([("TITLE", "Ropes"), ("BOOKTITLE", printed)]).container == "Quays"


@pytest.mark.parametrize(
    ("genre", "kind"),
    [
        ("[Tweet].", "misc"),
        ("[Motion picture].", "misc"),
        ("Press release.", "misc"),
        ("exhibition catalogue", "misc"),
        ("Working paper,", "techreport"),
        ("Tech. Rep.,", "techreport"),
        ("Forschungsbericht,", "techreport"),
        ("TR 12,", "techreport"),
        ("ACI 318-02,", "techreport"),
    ],
)
def test_a_genre_is_a_report_if_its_words_or_a_number_say_so(genre: str, kind: str) -> None:
    assert make_entry([("TITLE", "Ropes"), ("GENRE", genre)]).type.value == kind


def test_where_a_work_can_be_read_is_no_genre() -> None:
    entry = make_entry([("TITLE", "Ropes."), ("PUBLISHER", "Quay Press,"), ("DATE", "2003."), ("GENRE", "Print.")])
    assert (entry.type, entry.genre, entry.note) == (EntryType.BOOK, "", "Print")


def test_what_was_presented_at_a_meeting_is_in_it() -> None:
    meeting = ("BOOKTITLE", "Annual Meeting of Ropemakers")
    entry = make_entry([("TITLE", "Ropes"), ("GENRE", "[Paper presentation]."), meeting])
    assert (entry.type, entry.container, entry.genre) == (EntryType.INPROCEEDINGS, meeting[1], "Paper presentation")


@pytest.mark.parametrize(("volume", "pages"), [("12(3), 1995-98", "1995-98"), ("12, no. 3, 1995", "1995")])
@pytest.mark.parametrize("is_first", [True, False])
def test_figures_behind_an_issue_are_pages_beside_a_date(volume: str, pages: str, is_first: bool) -> None:
    fields = [("DATE", "(2008)"), ("JOURNAL", "Ferry Studies"), ("VOLUME", volume)]
    entry = make_entry(fields if is_first else fields[::-1])
    assert entry.date is not None and (entry.date.iso, entry.volume, entry.number) == ("2008", "12", "3")
    assert (entry.pages, entry.note) == (pages, "")
    alone = make_entry(fields[1:])
    assert alone.date is not None and (alone.date.iso[:4], alone.pages) == ("1995", "")


@pytest.mark.parametrize("place", ["LOCATION", "PUBLISHER"])
@pytest.mark.parametrize("book", [[], [("BOOKTITLE", "Collected Works,")]])
def test_years_in_which_the_volumes_of_a_work_appeared_are_its_date(place: str, book: list[tuple[str, str]]) -> None:
    entry = make_entry([("TITLE", "Ropes."), *book, ("VOLUME", "Bd. 23."), (place, "Kiel,"), ("DATE", "1956–1990.")])
    assert entry.date == Date(Day(1956), Day(1990))
    assert (entry.volume, entry.pages) == ("23", "")
    article = make_entry([("TITLE", "Ropes."), ("JOURNAL", "Knots"), ("VOLUME", "23,"), ("DATE", "1956–1990.")])
    assert (article.date, article.pages) == (None, "1956-1990")


@pytest.mark.parametrize("fields_before", [[], [("VOLUME", "Bd. 2.")], [("JOURNAL", "Knots"), ("PAGES", "3-9")]])
def test_years_before_printing_are_kept(fields_before: list[tuple[str, str]]) -> None:
    entry = make_entry([("TITLE", "Accounts of a ropewalk."), *fields_before, ("DATE", "1348–1352.")])
    assert (entry.date, entry.note) == (None, "1348–1352")


def test_years_in_brackets_are_no_pages() -> None:
    entry = make_entry([("TITLE", "Ropes."), ("JOURNAL", "Knots"), ("VOLUME", "12"), ("DATE", "(1898–1901).")])
    assert (entry.date, entry.volume, entry.pages) == (Date(Day(1898), Day(1901)), "12", "")


@pytest.mark.parametrize("printed", ["2. ed.", "2.ª ed.", "2-е изд.", "2. wyd."])
def test_an_edition_is_no_editor(printed: str) -> None:
    entry = make_entry([("TITLE", "Quays"), ("EDITOR", printed)])
    assert (entry.edition, entry.editors) == (printed.split()[0], Names())


@pytest.mark.parametrize("journal, pages, page_total", [("", "", "XXIV-370"), ("Quay Letters", "XXIV-370", "")])
def test_pages_in_two_kinds_of_figures_are_all_of_a_book(journal: str, pages: str, page_total: str) -> None:
    entry = make_entry([("TITLE", "Moli"), ("JOURNAL", journal), ("PUBLISHER", "Bompiani"), ("PAGES", "pp. XXIV-370")])
    assert (entry.pages, entry.page_total) == (pages, page_total)


@pytest.mark.parametrize("printed", ["Он же.", "Его же.", "Tenże,", "Íd.,", "Του ιδίου,", "Ders.:", "———."])
def test_the_same_person_in_other_languages(printed: str) -> None:
    first, second = make_entries(
        [[("AUTHOR", "Orr, Una."), ("TITLE", "Quays")], [("AUTHOR", printed), ("TITLE", "Piers")]]
    )
    assert first is not None and second is not None
    assert second.authors == first.authors == Names((Name("Orr", "Una"),))


@pytest.mark.parametrize("said", ["op. cit", "dz. cyt", "указ. соч", "ob. cit", "a. a. O", "loc. cit"])
def test_a_work_that_was_named_before_is_no_part_of_a_name(said: str) -> None:
    entry = make_entry([("AUTHOR", f"Orr, {said}.,"), ("VOLUME", "vol. 2")])
    assert (entry.authors, entry.note) == (Names((Name("Orr"),)), f"{said}.")
    assert make_entry([("AUTHOR", f"{said}.,"), ("VOLUME", "vol. 2")]).authors == Names()


@pytest.mark.parametrize(
    "printed, title, container",
    [
        ("О причалах // Морской вестник.", "О причалах", "Морской вестник"),
        ("论码头[J]//港口研究", "论码头", "港口研究"),
        ("On https://a.example/x and http://", "On and http", ""),
    ],
)
def test_a_double_slash_parts_a_title_from_its_journal(printed: str, title: str, container: str) -> None:
    entry = make_entry([("TITLE", printed)])
    assert (entry.title.strip(":"), entry.container) == (title, container)


@pytest.mark.parametrize(
    "segments, title, container",
    [
        ([("TITLE", "Wait // Repeat"), ("JOURNAL", "Knots")], "Wait // Repeat", "Knots"),
        ([("TITLE", "“A fly // buzz”: on breaks"), ("DATE", "2003")], "“A fly // buzz”: on breaks", ""),
        ([("TITLE", "TCP//IP"), ("DATE", "2003")], "TCP//IP", ""),
        ([("TITLE", "// Comments"), ("DATE", "2003")], "Comments", ""),
        ([("TITLE", "О причалах //"), ("JOURNAL", "Вестник")], "О причалах", "Вестник"),
        ([("TITLE", "О «белых» причалах//Вестник")], "О «белых» причалах", "Вестник"),
        ([("TITLE", "论码头[C]//港口会议论文集"), ("DATE", "2003")], "论码头", "港口会议论文集"),
    ],
)
def test_a_double_slash_of_the_title_itself_stays(segments: list[tuple[str, str]], title: str, container: str) -> None:
    entry = make_entry(segments)
    assert (entry.title, entry.container) == (title, container)


@pytest.mark.parametrize(
    ("printed", "edition", "note"),
    [
        ("³2003.", "3", ""),
        ("2003¹².", "12", ""),
        ("[ca. 2003],", "", "ca. 2003"),
        ("(c. 2003)", "", "c. 2003"),
        ("2003.", "", ""),
    ],
)
def test_editions_and_rough_years_in_dates(printed: str, edition: str, note: str) -> None:
    entry = make_entry([("AUTHOR", "Lund, K."), ("TITLE", "Ropes."), ("DATE", printed)])
    assert (entry.date, entry.edition, entry.note) == (Date(Day(2003)), edition, note)


def test_a_version_of_data_is_no_report() -> None:
    entry = make_entry([("TITLE", "Tides"), ("TECH", "(Version 2.1)"), ("PUBLISHER", "Pier.")])
    assert (entry.type.value, entry.genre, entry.number) == ("misc", "Version", "2.1")
    assert make_entry([("TITLE", "Tides"), ("TECH", "Technical Report R-2, version 2.1")]).type.value == "techreport"
    assert make_entry([("TITLE", "Tides"), ("TECH", "R package version 2.1")]).type.value == "misc"


@pytest.mark.parametrize(
    ("printed", "title", "container"),
    [
        ("“Ropes of Ulm,” Knots and Eels,", "Ropes of Ulm", "Knots and Eels"),
        ("“Ropes.” In Knots and Eels,", "Ropes", "Knots and Eels"),
        ("„Seile“, in: Knoten,", "Seile", "Knoten"),
        ("« Cordes ». Revue des quais,", "Cordes", "Revue des quais"),
        ("‘Ropes’, in Knots,", "Ropes", "Knots"),
        ("“Art. „Seil“,” in Handbuch,", "Art. „Seil“", "Handbuch"),
        ("“Rope” and “Tar”", "“Rope” and “Tar”", ""),
        ("„Seile“. Eine Studie", "„Seile“. Eine Studie", ""),
        ("“Who Pays?” A Study of Ropes", "“Who Pays?” A Study of Ropes", ""),
    ],
)
def test_what_is_behind_a_quoted_title_is_what_it_is_in(printed: str, title: str, container: str) -> None:
    entry = make_entry([("AUTHOR", "Lund, K."), ("TITLE", printed), ("DATE", "2003.")])
    assert (entry.title, entry.container) == (title, container)
    assert make_entry([("TITLE", printed), ("JOURNAL", "Tides"), ("DATE", "2003.")]).container == "Tides"

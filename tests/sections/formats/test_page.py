"""The page has all text once, all sections in its outline, and needs nothing from elsewhere."""

import re
from html.parser import HTMLParser

import pytest
from helpers.layouts import documents
from hypothesis import given

from spacy_crf.sections.formats.page import write_page
from spacy_crf.sections.layout import DocumentLayout
from spacy_crf.sections.tree import Element, SectionNode, SectionTree

VOID = {"meta"}


class Page(HTMLParser):
    """What is in a page, with a check that tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.parts, self.tags, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("class", "")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        names = [tag for tag, _ in self.open]
        if "main" in names and "header" not in names and self.open[-1][1] != "implied":
            self.words.append(data)


@given(documents())
def test_all_text_and_all_sections(document):
    layout, tree = document
    # HTML parsers read these as other characters
    page = Page(write_page(layout, tree))
    assert "".join("".join(page.words).split()) == "".join(layout.text.split())
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    sections = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    expected = [f"s{number}" for number in range(1, len(list(tree.walk())) + 1)]
    assert sections == expected and links == ["#text", *(f"#{name}" for name in expected)]


@pytest.fixture
def page():
    text = "1. Feiten & <recht>\n1.1 Het *gaat*.\n- punt\n\n3.1 Iets"
    layout = DocumentLayout(text, ((24, 27, "bold"),), "zaak <1>", "nl")
    labels = ["NR", "SECTION_TITLE", "NR", "TEXT_BLOCK", "TEXT_BLOCK", "TEXT_BLOCK", "NEWLINE", "NR", "TEXT_BLOCK"]
    elements = [Element(unit.start, unit.end, label) for unit, label in zip(layout.units, labels)]
    inner = SectionNode(20, 42, 2, "1.1", probability=0.5, heading=[2])
    outer = SectionNode(0, 42, 1, "1.", "Feiten & <recht>", 0.75, heading=[0, 1], children=[inner])
    implied = SectionNode(44, 52, 1, "3", virtual=True, children=[SectionNode(44, 52, 2, "3.1", heading=[7])])
    return write_page(layout, SectionTree([outer, implied], elements, exact=False, dropped=7))


def test_outline_shows_probabilities_and_implied_sections(page):
    assert '<a href="#s1" style="--p:0.750"><span class="nr">1.</span>' in page
    assert '<span class="name">Feiten &amp; &lt;recht&gt;</span><span class="p">0.75</span>' in page
    assert '<a href="#s3" class="virtual"><span class="nr">3</span><span class="name">implied</span></a>' in page
    assert '<span class="name opening">Het *gaat*.</span>' in page
    assert "3 sections · 1 implied · 2 levels · perhaps not the best tree (7 stacks" in page


def test_text_is_formatted(page):
    assert (
        '<h2 class="heading l1"><span class="nr">1.</span> <span class="title">Feiten &amp; &lt;recht&gt;</span></h2>'
        in page
    )
    assert '<p class="numbered"><span class="nr">1.1</span><span><b>Het</b> *gaat*.</span></p>' in page
    assert '<p class="item"><span class="nr">-</span><span>punt</span></p>' in page
    assert '<html lang="nl">' in page and "<title>zaak &lt;1&gt;</title>" in page


def test_sections_without_titles_are_set_apart(page):
    assert '<section id="s1">' in page and '<section id="s2" class="text">' in page and '<section id="s3">' in page


def test_nothing_is_fetched(page):
    assert not re.search(r"https?:|//\w|@import|url\(|<link|\ssrc=", page)


def test_a_document_without_sections():
    layout = DocumentLayout("some text")
    page = write_page(layout, SectionTree([], [Element(0, 9, "TEXT_BLOCK")]))
    assert "No sections were found" in page and "<p>some text</p>" in page and "probabilities" not in page

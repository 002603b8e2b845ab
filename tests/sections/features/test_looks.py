"""How lines look, and what is told of them without training."""

import numpy as np
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.sections.features.batch import UnitBatch
from spacy_crf.sections.features.looks import WEIGHTS, Lines, Looks, evidence
from spacy_crf.sections.features.rules import label_untrained
from spacy_crf.sections.features.text import Phrases, without_page
from spacy_crf.sections.layout import DocumentLayout

PROSE = "The ferries of the port sail at eight o'clock in the morning, and come back at night."
MANUAL = f"""Ferry handbook

{PROSE}

DESCRIPTION
       {PROSE}

Getting Started

{PROSE}

    $ ferry --sail
    $ ferry --moor

What is a pier?

{PROSE}

Note

{PROSE}
"""


def batch(*texts: str) -> UnitBatch:
    return UnitBatch([(text, DocumentLayout(text).units) for text in texts], Phrases([(("note",), "callout")]))


def found(text: str) -> list[str]:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    return [node.title for node in nlp(text)._.section_tree.walk()]


def test_headings_of_a_manual() -> None:
    assert found(MANUAL) == ["Ferry handbook", "DESCRIPTION", "Getting Started", "What is a pier?"]


def test_underlined_and_numbered_headings() -> None:
    text = f"Piers\n=====\n{PROSE}\n\n1.3.2. Requirements\n{PROSE}\n1.3.3. Ropes\n{PROSE}\n"
    assert "Piers" in found(text) and {"Requirements", "Ropes"} <= set(found(text))


def test_a_table_of_contents_announces_headings() -> None:
    titles = ["Piers", "Ropes and knots", "Tides"]
    listing = "\n".join(f"{title} ..... {page}" for page, title in enumerate(titles, 3))
    body = "\n\n".join(f"{title}\n\n{PROSE}" for title in titles)
    own = batch(f"{listing}\n\n{body}\n")
    lines = own.shared(Lines)
    texts = [own.distinct[number] for number in own.text_numbers.tolist()]
    assert [text for text, listed in zip(texts, lines.listed) if listed] == listing.split("\n")
    assert [text for text, told in zip(texts, lines.announced) if told] == titles


def test_a_table_of_contents_ends_before_a_heading_whose_title_comes_again() -> None:
    titles = ["Scope", "Ropes and knots", "Tides", "Scope", "Fees"]
    listing = "\n".join(f"{title} ..... {page}" for page, title in enumerate(titles, 3))
    body = "\n\n".join(f"{title}\n\n{PROSE}" for title in titles)
    own = batch(f"{PROSE}\n{listing}\n\n{body}\n")
    texts = [own.distinct[number] for number in own.text_numbers.tolist()]
    assert [text for text, listed in zip(texts, own.shared(Lines).listed) if listed] == listing.split("\n")


def test_items_that_every_article_has_are_no_table_of_contents() -> None:
    items = ["Duties", "the seller pays;", "the buyer signs;"]
    own = batch("\n\n".join(items * 4)).shared(Lines)
    assert not own.listed.any() and not own.announced.any()
    listing = "\n".join(items)  # each of them comes again once
    assert batch(f"{listing}\n{PROSE}\n\n{listing}\n").shared(Lines).listed.sum() == len(items)


def test_code_with_numbers_has_no_sections() -> None:
    code = "\n".join(f"{number:02}    x = f({number});" for number in range(1, 9))
    assert found(f"{PROSE}\n\n{code}\n\n{PROSE}\n") == []


def test_pages_and_dots_are_left_out() -> None:
    assert without_page("Piers ........ 12") == without_page("Piers  12") == without_page("PIERS") == "piers"


@given(st.lists(st.text("ab1.\n A(=", max_size=60), max_size=3))
def test_documents_do_not_know_of_each_other(texts: list[str]) -> None:
    together = batch(*texts)
    apart = [batch(text) for text in texts]
    assert set(WEIGHTS) == set(evidence(together))
    assert together.shared(Looks).scores.tolist() == [
        score for own in apart for score in own.shared(Looks).scores.tolist()
    ]
    scores = label_untrained(together).scores
    assert np.allclose(scores, np.concatenate([np.zeros((0, 4)), *(label_untrained(own).scores for own in apart)]))
    assert not len(scores) or (abs(scores.sum(axis=1) - 1) < 1e-9).all()

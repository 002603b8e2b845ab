"""Small documents with gold, written as annotated XML."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from spacy_crf.sections.reader import SectionCorpus

CONTRACT = """<document xml:lang="en" genre="contract">
<text>{head}</text>

<section><nr>1.</nr> <title>{first}</title>
<section><nr>1.1</nr> <text>The {thing} is handed over in the spring of the year.</text></section>
<section><nr>1.2</nr> <text>The price of the {thing} is paid within thirty days.</text>
</section></section><section><nr>2.</nr> <title>{second}</title>
<text>This agreement ends when the {thing} is given back.</text>
</section></document>
"""
WORDS = [
    {"head": "LEASE", "first": "Delivery", "second": "Termination", "thing": "boat"},
    {"head": "LOAN", "first": "Handing over", "second": "Term", "thing": "horse"},
    {"head": "SALE", "first": "Payment", "second": "Notices", "thing": "mill"},
    {"head": "GRANT", "first": "Costs", "second": "Governing law", "thing": "field"},
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four contracts as annotated XML."""
    path = tmp_path_factory.mktemp("contracts")
    for number, words in enumerate(WORDS):
        (path / f"contract{number}.xml").write_text(CONTRACT.format(**words), encoding="utf8")
    return path


@pytest.fixture
def nlp() -> Language:
    """A pipeline with an untrained section parser."""
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    return nlp


@pytest.fixture(scope="session")
def any_language() -> Language:
    """An untrained section parser for texts of any language; tests leave its settings as they are."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser")
    return nlp


@pytest.fixture(scope="session")
def trained(folder: Path) -> Language:
    """A pipeline with a section parser that has learned the contracts."""
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    examples = list(SectionCorpus(folder)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    return nlp

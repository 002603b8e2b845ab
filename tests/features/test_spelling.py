"""Rewrite rules, normal forms as features, and how they are fitted, stored and reached from a config."""

import unicodedata
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_crf.core.errors import CRFWarning
from spacy_crf.features import spelling
from spacy_crf.features.block import FeatureSettings, SpellingSettings
from spacy_crf.features.features import Features
from spacy_crf.features.resources import Resources
from spacy_crf.features.spelling import Rewriter, Speller, SpellingTable, fold, known_rules

TEMPLATES = ["REWRITTEN", "RPREFIX2", "RSUFFIX2[-1]", "NORMAL", "NORMAL[-1]|LOWER[1]"]


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf8")
    return str(path)


@pytest.mark.parametrize(
    ("rules", "form", "expected"),
    [
        ("free_spelling", "Vnde", "unde"),
        ("free_spelling", "rykk", "rik"),
        ("free_spelling", "Môther", "moter"),
        ("free_spelling", "quic", "kuik"),
        ("middle_low_german", "vnde", "unde"),
        ("middle_low_german", "Tzijdt", "sit"),
        ("middle_low_german", "gheyt", "get"),
        ("middle_low_german", "boek", "bok"),
    ],
)
def test_rules_that_come_with_the_library(rules: str, form: str, expected: str) -> None:
    assert Rewriter.read(rules)(form) == expected


@pytest.mark.promise
@given(st.sampled_from(known_rules()), st.text(min_size=1, max_size=8))
def test_a_word_never_vanishes(rules: str, form: str) -> None:
    found = Rewriter.read(rules)(form)
    assert (found and unicodedata.normalize("NFC", found) == found) or found == fold(form)


def test_rules_are_applied_in_order_and_see_marks(tmp_path: Path) -> None:
    path = write(tmp_path / "rules.tsv", "# order matters\n\na\tb\nb\tc\n\u0301\t\n(x)(y)\t\\2\\1\n")
    assert Rewriter.read(path)("ABÉ xy") == "cce yx"
    assert Rewriter([("b", "c"), ("a", "b")])("ab") == "bc"
    assert Rewriter(())("ÄB") == "äb"
    assert Rewriter([(".", "")])("Ab") == "ab"


def test_rules_at_fault(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"CRF322.*line 2.*'ab'"):
        Rewriter.read(write(tmp_path / "rules.tsv", "a\tb\nab\n"))
    with pytest.raises(ValueError, match=r"CRF322.*line 1"):
        Rewriter.read(write(tmp_path / "rules.tsv", "\tb\n"))
    with pytest.raises(ValueError, match=r"CRF320.*rule 2.*'\('"):
        Rewriter.read(write(tmp_path / "rules.tsv", "a\tb\n(\tb\n"))
    with pytest.raises(ValueError, match=r"CRF320.*rule 1"):
        Rewriter([("a", r"\1")])
    with pytest.raises(ValueError, match=r"CRF321.*'nowhere'.*free_spelling, middle_low_german"):
        Rewriter.read("nowhere")


def speller() -> Speller:
    counts = {"hus": 40, "hūs": 2, "huss": 1, "water": 50, "watter": 2, "wader": 1, "steen": 3}
    return SpellingSettings("free_spelling", lengths=[5], ratio=5).make(lambda: counts)


def test_the_table_is_fitted_to_rewritten_forms() -> None:
    found = speller()
    assert found.rewrite("Hūss") == found.normalise("Hūss") == "hus"
    assert found.rewrite("wader") == "uader" and found.normalise("wader") == "uater"
    assert found.normalise("waterr") == "uater"  # by the rules
    assert found.normalise("wateru") == "uater"  # unknown, one edit away
    assert found.normalise("weg") == "ueg"


def test_without_fitting_nothing_is_counted(tmp_path: Path) -> None:
    def never() -> Counter[str]:
        raise AssertionError

    assert SpellingSettings("free_spelling", None).make(never).normalise("wader") == "uader"
    table = write(tmp_path / "table.tsv", "uader\tuater\nuater\tuater\n")
    assert SpellingSettings("free_spelling", table).make(never).normalise("Wader") == "uater"


@pytest.mark.promise
@given(st.lists(st.text("abcdvwuy", min_size=1, max_size=7), min_size=1), st.text("abvwuy", min_size=1, max_size=7))
def test_a_speller_comes_back_from_its_data(words: list[str], unknown: str) -> None:
    first = SpellingSettings("free_spelling", lengths=[3]).make(lambda: Counter(words))
    again = Speller.from_data(first.to_data())
    assert again.to_data() == first.to_data()
    for word in [*words, unknown]:
        assert again.rewrite(word) == first.rewrite(word)
        assert again.normalise(word) == first.normalise(word)


def test_caches_start_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "MAX_WORDS", 2)
    found = speller()
    forms = ["weg", "wege", "weger", "wegen", "watar"]
    assert [found.normalise(form) for form in forms * 2] == ["ueg", "uege", "ueger", "uegen", "uater"] * 2
    assert len(found._rewritten) <= 2 and len(found.spelling.unknown) <= 2


def features_of(texts: list[str], vocab: Vocab) -> tuple[Features, list[Doc]]:
    docs = [Doc(vocab, words=text.split()) for text in texts]
    config = FeatureSettings(TEMPLATES, spelling=SpellingSettings("free_spelling", lengths=[5], ratio=2))
    resources = config.make_resources(str.split, lambda: docs)
    return Features(config, "auto", resources), docs


def test_templates(vocab: Vocab) -> None:
    features, docs = features_of(["water Water watter wader", "dat wader water water"], vocab)
    columns = features.extractor.read(docs, vocab)
    keys = features.extractor.keys(columns, features.extractor.state_templates)
    features.state.grow(keys, columns, padding=True)
    rows = features.state.encode(keys)
    names = [
        {features.state.name(number) for number in rows.indices[low:high]}
        for low, high in zip(rows.indptr, rows.indptr[1:])
    ]
    assert names[3] == {
        "REWRITTEN[0]=uader",
        "RPREFIX2[0]=ua",
        "RSUFFIX2[-1]=er",
        "NORMAL[0]=uater",
        "NORMAL[-1]|LOWER[1]=uater|EOS+1",
    }
    again = Features.from_data(features.to_data(), features.config, "auto")
    unseen = [Doc(vocab, words=["dat", "vvader"])]
    for each in (features, again):
        found = each.extractor.read(unseen, vocab)
        assert found.lexicon is each.resources.lexicon
    first, second = (
        each.extractor.keys(each.extractor.read(unseen, vocab), each.extractor.state_templates).keys
        for each in (features, again)
    )
    np.testing.assert_array_equal(first, second)
    assert features.state.names() == again.state.names()


def test_templates_need_the_block() -> None:
    with pytest.raises(ValueError, match=r"CRF323.*RSUFFIX2\[1\]"):
        FeatureSettings(["LOWER", "RSUFFIX2[1]"])
    with pytest.raises(ValueError, match="CRF302"):
        FeatureSettings(["RSUFFIX"], spelling=SpellingSettings())


def test_resources_without_a_table_store_none() -> None:
    assert Resources().to_data() == {"lists": {}}
    assert Resources.from_data({"lists": {}}) == Resources()


def test_a_component_fits_stores_and_shares_it(tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    block = {"@misc": "spacy_crf.Spelling.v1", "rules": "free_spelling", "lengths": [5], "ratio": 2}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["NORMAL"], "spelling": block}
    nlp.add_pipe("crf_tagger", config={"features": features, "trainer": {"@misc": "spacy_crf.LBFGS.v1"}})
    words, tags = ["water", "is", "water", "watter", "wader"], ["N", "V", "N", "N", "N"]
    example = spacy.training.Example(nlp.make_doc(" ".join(words)), Doc(nlp.vocab, words=words, tags=tags))
    nlp.initialize(lambda: [example])
    for _ in range(3):
        nlp.update([example])
    nlp.to_disk(tmp_path)
    texts = ["Vvatter is vuater", "Wadder is vader"]
    for pipeline in (nlp, spacy.load(tmp_path)):
        assert [[t.tag_ for t in doc] for doc in pipeline.pipe(texts)] == [["N", "V", "N"]] * 2
    with_labels = spacy.load(tmp_path)
    with_labels.get_pipe("crf_tagger").initialize(lambda: [example], labels=["N", "V"])
    assert with_labels.get_pipe("crf_tagger").features.resources.lexicon.speller.normalise("vvader") == "uater"


def test_spelling_table_can_be_edited(tmp_path: Path) -> None:
    speller().spelling.write(tmp_path / "table.tsv")
    lines = (tmp_path / "table.tsv").read_text(encoding="utf8").replace("uader\tuater", "uader\tuader")
    (tmp_path / "table.tsv").write_text(lines, encoding="utf8")
    assert SpellingTable.read(tmp_path / "table.tsv").normalise("uader") == "uader"


def test_forms_of_a_table_that_rules_rewrite_are_told(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text("vnd\tunde\nund\tunde\nuvas\tuvas\n", encoding="utf8")
    settings = SpellingSettings("free_spelling", str(tmp_path / "table.tsv"))
    with pytest.warns(CRFWarning, match=r"CRFW328.*vnd \(und\)\. "):
        made = settings.make(lambda: {"Vnd": 2, "dat": 1})
    assert made.normalise("vnd") == "unde"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SpellingSettings("free_spelling", str(tmp_path / "table.tsv")).make(lambda: {"und": 2, "dat": 1})
        SpellingSettings(None, str(tmp_path / "table.tsv")).make(lambda: {"Vnd": 2})

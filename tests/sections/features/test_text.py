"""Word lists."""

import pytest

from spacy_crf.sections.features.text import CLASSES, LANGUAGES, Phrases, built_in, parse_list


@pytest.mark.parametrize("language", LANGUAGES)
def test_built_in_lists_have_the_known_classes_and_no_repetition(language: str) -> None:
    entries = built_in(language)
    known = {*CLASSES, "callout", "manual_title"}
    assert {"article", "callout", "month", "title"} <= {name for _, name in entries} <= known
    assert language not in ("en", "nl") or {name for _, name in entries} >= set(CLASSES)
    assert len(set(entries)) >= len(entries) - 5  # variants of spelling that are normalised to one


def test_facts() -> None:
    phrases = Phrases(parse_list("the\tarticle\nstone bridge\ttitle\nbridge\tthing\nis\tverb\n"))
    assert phrases.relations("The Stone Bridge.") == {
        *(
            "is title",
            "opens title",
            "ends title",
            "has title",
            "opens article",
            "has article",
            "ends thing",
            "has thing",
        )
    }
    assert phrases.relations("Stone is") == {"ends verb", "has verb"}
    assert phrases.relations("") == frozenset()


def test_a_phrase_may_be_in_several_classes() -> None:
    assert Phrases(parse_list("order\ttitle\norder\thead")).relations("ORDER") >= {"is title", "is head"}


def test_a_line_that_is_no_entry_is_named() -> None:
    with pytest.raises(ValueError) as caught:
        parse_list("# comment\n\nphrase\tclass\nno class\n")
    assert caught.value.args == (4, "no class")

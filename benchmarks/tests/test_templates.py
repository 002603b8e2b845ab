from hypothesis import given
from hypothesis import strategies as st

from projects.attributes import CHUNKING_TEMPLATES, chunking, tagging

TOKENS = st.lists(st.tuples(st.text("ab-1", min_size=1, max_size=6), st.sampled_from(["NN", "VB"])), max_size=7)


def apply_token_by_token(words: list[str], tags: list[str]) -> list[list[str]]:
    """CRFsuite's example in its own order of loops: template, then token, then part of the template."""
    fields = {"w": words, "pos": tags}
    items: list[list[str]] = [[] for _ in words]
    for template in CHUNKING_TEMPLATES:
        name = "|".join(f"{field}[{offset}]" for field, offset in template)
        for position, item in enumerate(items):
            places = [position + offset for _, offset in template]
            if all(0 <= place < len(words) for place in places):
                values = [fields[field][place] for (field, _), place in zip(template, places)]
                item.append(f"{name}={'|'.join(values)}")
    if items:
        items[0].append("__BOS__")
        items[-1].append("__EOS__")
    return items


@given(TOKENS)
def test_chunking_attributes_equal_those_of_the_example(tokens: list[tuple[str, str]]) -> None:
    words, tags = [word for word, _ in tokens], [tag for _, tag in tokens]
    assert chunking(words, tags) == apply_token_by_token(words, tags)


def test_there_are_nineteen_chunking_templates() -> None:
    assert len(set(CHUNKING_TEMPLATES)) == 19
    middle = chunking(list("abcde"), list("ABCDE"))[2]
    assert len(middle) == 19
    assert "w[-1]|w[0]=b|c" in middle
    assert "pos[-2]|pos[-1]|pos[0]=A|B|C" in middle


def test_tagging_attributes_describe_word_and_window() -> None:
    item = tagging(["The", "Mid-1990s", "were", "loud"], [])[1]
    assert {"w[0]=Mid-1990s", "lower[0]=mid-1990s", "shape[0]=Xxx-ddddx"} <= set(item)
    assert {"prefix=m", "prefix=mid-", "suffix=s", "suffix=990s"} <= set(item)
    assert {"has_digit", "has_capital", "has_hyphen"} <= set(item)
    assert {"shape[-1]=Xxx", "shape[2]=xxxx", "lower[-1]=the", "lower[-1]|lower[0]=the|mid-1990s"} <= set(item)
    assert not any("[-2]" in attribute for attribute in item)


def test_no_attributes_without_words() -> None:
    assert chunking([], []) == tagging([], []) == []

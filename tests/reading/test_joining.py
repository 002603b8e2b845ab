"""Hyphens and addresses at line ends."""

import pytest

from spacy_crf.reading.joining import find_words, join_lines


@pytest.mark.parametrize(
    "lines, joined",
    [
        (["Pas-", "senger flows"], "Passenger flows"),
        (["three coun-", "ties, 1990"], "three counties, 1990"),
        (["low-", "water crossings"], "low-water crossings"),
        (["the low-", "er bound"], "the lower bound"),
        (["part-", "ner"], "partner"),
        (["gradient-", "based search"], "gradient-based search"),
        (["Jean-", "Pierre"], "Jean-Pierre"),
        (["state-of-the-", "art"], "state-of-the-art"),
        (["state-", "of-the-art"], "state-of-the-art"),
        (["part-of-", "speech"], "part-of-speech"),
        (["large-vocab-", "ulary"], "large-vocabulary"),
        (["E-", "mail"], "E-mail"),
        (["an x-", "ray"], "an x-ray"),
        (["the-", "ory"], "theory"),
        (["pp. 12-", "28"], "pp. 12-28"),
        (["pp. 12–", "28"], "pp. 12–28"),
        (["a dash –", "as here"], "a dash – as here"),
        (["soft\u00ad", "ened"], "softened"),
        (["one", "  two ", "three"], "one two three"),
        (["one \u00ad two"], "one two"),
        (["https://doi.org/10.5555/tat.", "2014.77"], "https://doi.org/10.5555/tat.2014.77"),
        (["http://a.example.org/17/4/", "301 (accessed"], "http://a.example.org/17/4/301 (accessed"),
        (["doi:10.5555/a-", "b.7"], "doi:10.5555/a-b.7"),
        (["http://a.example.org/x", "?id=3"], "http://a.example.org/x?id=3"),
        (["http://a.example.org/x.", "Accessed 2019"], "http://a.example.org/x. Accessed 2019"),
        (["http://a.example.org/x", "accessed 2019"], "http://a.example.org/x accessed 2019"),
        (["", "a"], "a"),
        ([], ""),
    ],
)
def test_lines(lines: list[str], joined: str) -> None:
    assert join_lines(lines) == joined


def test_the_rest_of_the_text_tells_compounds() -> None:
    words = find_words("a counter-weight and a tidewater mill\nlow-\nlands")
    assert join_lines(["the counter-", "weight"], words) == "the counter-weight"
    assert join_lines(["low tide-", "water"], words) == "low tidewater"
    assert "low-lands" not in words

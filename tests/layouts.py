"""Texts and formatting for tests of layout elements."""

from hypothesis import strategies as st

from spacy_crf.units.unit import STYLES, Kind

PIECES = st.sampled_from(
    [
        *("1.", "2.1", "(a)", "iv.", "Artikel 3", "§ 4", "- ", "• ", '"', "“", "\n", "\n\n", " ", "\t", "\r\n", "\x0c"),
        *(
            "De feiten",
            "x",
            "I",
            "A",
            "12 maart 2012",
            "U I T",
            "\u00a0",
            "\u2028",
            "é",
            "\x00",
            "\ud800",
            "'s-G",
            "1)",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))
RUNS = st.lists(
    st.tuples(st.integers(-5, 80), st.integers(-5, 80), st.sampled_from([*STYLES, *Kind, "paragraph", "odd"])),
    max_size=8,
)

"""Where the white space between words is."""

from collections.abc import Sequence


def find_spaces(text: str, words: Sequence[str]) -> list[bool]:
    """Find out from a text which words are followed by white space.

    text (str): The text, e.g. of one sentence.
    words (Sequence[str]): Its words.
    RETURNS (list[bool]): One value per word, True for the last; all True if the words do not make up the
        text.
    """
    spaces: list[bool] = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return [True] * len(words)
        end = position + len(word)
        position = end
        while position < len(text) and text[position].isspace():
            position += 1
        spaces.append(position > end)
    if position < len(text):
        return [True] * len(words)
    return [*spaces[:-1], True]


def find_exact_spaces(text: str, words: Sequence[str]) -> list[bool] | None:
    """Which words are followed by a space, as in spaCy's Docs: one blank at most, all else is in words of its own.

    text (str): The text.
    words (Sequence[str]): Its words, white space included.
    RETURNS (list[bool] | None): One value per word, True for the last; None if the words do not make up the text.
    """
    spaces: list[bool] = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return None
        position += len(word)
        spaces.append(text.startswith(" ", position))
        position += spaces[-1]
    return [*spaces[:-1], True] if position == len(text) else None

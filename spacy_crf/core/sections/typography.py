"""The typography class of a unit: one number, greater for what is more prominent.

Siblings in one document share a class, whatever it is; a heading is seldom less prominent than what stands below it.
"""

HEADING, BOLD, CAPITALS, SPACED, UNDERLINE, ITALIC = 32, 16, 8, 4, 2, 1
MIN_LETTERS = 4
CAPITAL_SHARE = 0.9


def typography(styles: frozenset[str] | set[str], text: str) -> int:
    """The class of a unit by its formatting and its letters. 0 for plain text; linear in the text.

    styles (set of str): `bold`, `italic`, `underline`, `heading1` to `heading6`, `title`; others are not looked at.
    text (str): the unit's text: capitals and spaced letters count as formatting.
    """
    level = min((int(style[-1]) for style in styles if style[:-1] == "heading" and style[-1] in "123456"), default=7)
    value = HEADING * (7 if "title" in styles else 7 - level)
    for style, bit in (("bold", BOLD), ("underline", UNDERLINE), ("italic", ITALIC)):
        value += bit * (style in styles)
    letters = [character for character in text if character.isalpha()]
    if len(letters) >= MIN_LETTERS:
        value += CAPITALS * (sum(letter.isupper() for letter in letters) >= CAPITAL_SHARE * len(letters))
        words = text.split()
        value += SPACED * (sum(len(word) == 1 for word in words) >= CAPITAL_SHARE * len(words))
    return value

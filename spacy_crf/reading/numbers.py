"""Numbers as texts spell them."""

import math
import re

WHOLE = re.compile("-?[0-9]{1,18}")
GREATEST = 10**18 - 1
LONGEST = 400  # characters of a number with decimals; the greatest float has 309 digits before the point


def whole_number(text: str) -> int | None:
    """Return the whole number that a text spells by ASCII digits; None if it is none or has more than 18 digits.

    >>> whole_number("-12"), whole_number("1.5"), whole_number("9" * 5000)
    (-12, None, None)
    """
    return int(text) if WHOLE.fullmatch(text) else None


def finite_number(text: str) -> float | None:
    """Return the number that a text spells; None if it is none, infinite or not a number.

    >>> finite_number("1e3"), finite_number("1e999"), finite_number("nan")
    (1000.0, None, None)
    """
    if len(text) > LONGEST or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

"""Text as XML holds it."""

import re
from xml.sax.saxutils import escape, quoteattr

IMPOSSIBLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def encode(text: str) -> str:
    """Text between tags. Of what XML cannot hold, white space such as form feeds becomes spaces, and other control
    characters and lone surrogates U+FFFD.

    text (str): any text. RETURNS (str): when it is read, as long as before.
    """
    return escape(possible(text), {"\r": "&#13;"})


def possible(text: str) -> str:
    """Text without what XML cannot hold, as long as before. text (str): any text."""
    return IMPOSSIBLE.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def attributes(**values: str | float | bool | None) -> str:
    """Attributes of a start tag, each behind a space; those that are None, "" or False are left out.

    values: by name, in which "_" stands for ":". RETURNS (str): such as ' level="1"'.
    """
    return "".join(
        f" {name.replace('_', ':')}={quoteattr(possible(_spell(value)))}"
        for name, value in values.items()
        if value not in (None, "", False)
    )


def _spell(value: str | float | bool | None) -> str:
    if value is True:
        return "true"
    return f"{value:.4f}" if isinstance(value, float) else str(value)

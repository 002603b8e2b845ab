"""The docstrings of the library as Markdown: its settings become a list, its examples code."""

import re
from typing import Any

import griffe

SETTING = re.compile(r"^(?=\w[\w ,.]* \([^()]*\): |(?:RETURNS|RAISES|YIELDS)\b)", re.MULTILINE)
EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)
NAMED = re.compile(r"^(\w[\w ,.]*?) (\([^()]*\)): ")


class Markdown(griffe.Extension):
    """Rewrites docstrings while the library is read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = rewrite(obj.docstring.value)


def rewrite(text: str) -> str:
    """Return a docstring as Markdown."""
    text = EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0].rstrip()}\n```\n", text)
    text = SETTING.sub("\n- ", text)
    return re.sub(r"^- .*", lambda line: "- " + NAMED.sub(r"`\1` \2: ", line[0][2:]), text, flags=re.MULTILINE)

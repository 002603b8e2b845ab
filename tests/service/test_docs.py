"""The examples of docs/service.md: what is sent is answered, with the keys that are shown."""

import json
import re
import shlex
from typing import Any

import pytest
from helpers.paths import ROOT
from helpers.services import httpx

TEXT = (ROOT / "docs" / "service.md").read_text(encoding="utf8")
EXAMPLES = re.findall(r"^    (curl [^\n]*)\n\n```json\n(.*?)```", TEXT, re.MULTILINE | re.DOTALL)


def compare(shown: Any, found: Any) -> None:
    """Check that an answer has the keys that are shown, with values of the same kinds."""
    assert isinstance(found, type(shown)), (shown, found)
    if isinstance(shown, dict) and all(key.islower() for key in shown):
        for key, value in shown.items():
            compare(value, found[key])
    elif isinstance(shown, list) and shown and found:
        compare(shown[0], found[0])


@pytest.mark.parametrize("command, shown", EXAMPLES)
def test_examples(client: httpx.Client, command: str, shown: str) -> None:
    _, address, option, body = shlex.split(command)
    assert option == "--json"
    headers = {"content-type": "application/json"}
    found = client.post(address.removeprefix("localhost:8070"), content=body.encode(), headers=headers)
    compare(json.loads(shown), found.json())


def test_all_kinds_are_shown() -> None:
    shown = {shlex.split(command)[1].rpartition("/")[2] for command, _ in EXAMPLES}
    assert shown == {"tag", "sets", "entities", "cite", "sections", "punctuate", "explain"}

"""Values that are compared with those of a JSON file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
TOLERANCE = 1e-3
SHOWN = 8  # differences in a message


def differences(actual: Any, expected: Any, path: str = "") -> Iterator[str]:
    """Find where two values differ, floats by more than the tolerance; a float that is missing in a dict is 0.

    actual (Any), expected (Any): of JSON's types. path (str): where they stand, for the messages.
    YIELDS (str): one message for each place.
    """
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key in sorted({*actual, *expected}):
            found, wanted = actual.get(key), expected.get(key)
            place = f"{path}.{key}"
            if key not in actual or key not in expected:
                if isinstance(wanted if key in expected else found, float):
                    yield from differences(found or 0.0, wanted or 0.0, place)
                else:
                    yield f"{place}: only in the {'snapshot' if key in expected else 'code'}"
            else:
                yield from differences(found, wanted, place)
    elif isinstance(actual, list) and isinstance(expected, list):
        if len(actual) != len(expected):
            yield f"{path}: {len(actual)} values, expected {len(expected)}"
        for number, (found, wanted) in enumerate(zip(actual, expected)):
            yield from differences(found, wanted, f"{path}[{number}]")
    elif isinstance(actual, float) and isinstance(expected, float):
        if not abs(actual - expected) <= TOLERANCE * max(1.0, abs(expected)):
            yield f"{path}: {actual}, expected {expected}"
    elif actual != expected:
        yield f"{path}: {actual!r}, expected {expected!r}"


def write(value: Any) -> str:
    """Text of a value, to be read and compared by line: a list has an entry on each line."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False, sort_keys=True) for one in value) + "\n]"
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)


class Snapshots:
    """The JSON files below `data`. rewrite (bool): write them instead of comparing."""

    def __init__(self, rewrite: bool):
        self.rewrite = rewrite

    def check(self, name: str, value: Any) -> None:
        """Assert that a value is the one of a file.

        name (str): of the file, without its suffix. value (Any): of JSON's types, or tuples.
        """
        path = DATA / f"{name}.json"
        actual = json.loads(json.dumps(value))
        if self.rewrite:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{write(actual)}\n", encoding="utf8")
            return
        found = list(differences(actual, json.loads(path.read_text(encoding="utf8"))))
        more = f"\n... and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        assert not found, f"{path.name}: " + "\n".join(found[:SHOWN]) + more

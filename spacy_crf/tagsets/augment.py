"""Copies of documents whose tokens have several gold tags, kept as long as their document is."""

import weakref
from functools import partial
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from .gold import copies


class Augmenter:
    """Gives the same copies whenever an example comes again, as training over several steps needs."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Doc], list[Doc]]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __getstate__(self) -> dict[str, Any]:
        """Nothing: copies belong to the process that trains."""
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._known = {}

    def copies(self, example: Example, target: str, extension: str) -> list[Example]:
        """The example once for each rank of tags, see `set_gold.copies`; itself where no token has two tags."""
        reference, key = example.reference, id(example.reference)
        known = self._known.get(key)
        if known is None or known[0]() is not reference:
            found = copies(reference, target, extension)
            if found == [reference]:
                return [example]
            forget = partial(self._known.pop, key, None)
            known = self._known[key] = (weakref.ref(reference, lambda _: forget()), found)
        return [Example(example.predicted.copy(), copy) for copy in known[1]]

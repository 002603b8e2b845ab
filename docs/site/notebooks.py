"""Tutorials as notebooks: code and commands become cells, and what they print their outputs.

python docs/site/notebooks.py FOLDER
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^```(python|bash)\n(.*?)^```\n(?:\n((?:(?:    [^\n]*)?\n)*    [^\n]*\n))?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A piece of a tutorial: prose, or code with what it prints.

    language (str): "python", "bash", or nothing for prose. place (tuple[int, int]): of the output in the page.
    """

    language: str
    text: str
    printed: str = ""
    place: tuple[int, int] = (0, 0)


def tutorials(docs: Path) -> list[Path]:
    """Return the pages that are made into notebooks."""
    return sorted(page for page in (docs / "tutorials").glob("*.md") if page.stem != "index")


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a tutorial in order."""
    end = 0
    for found in BLOCK.finditer(page):
        if prose := page[end : found.start()].strip():
            yield Block("", prose)
        yield Block(found[1], found[2].rstrip(), textwrap.dedent(found[3] or ""), found.span(3))
        end = found.end()
    if prose := page[end:].strip():
        yield Block("", prose)


def write_notebook(page: str) -> str:
    """Return a tutorial as the JSON of a notebook."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {
        "cells": [cell(number, block) for number, block in enumerate(blocks(page))],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def cell(number: int, block: Block) -> dict[str, Any]:
    """Return a block as a cell, whose name is its number."""
    made: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}}
    if not block.language:
        return made | {"cell_type": "markdown", "source": block.text}
    output = {"output_type": "stream", "name": "stdout", "text": block.printed}
    return made | {
        "cell_type": "code",
        "source": f"%%bash\n{block.text}" if block.language == "bash" else block.text,
        "execution_count": None,
        "outputs": [output] if block.printed else [],
    }


def main(folder: Path) -> None:
    """Write a notebook of each tutorial into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in tutorials(DOCS):
        path = folder / f"{page.stem}.ipynb"
        path.write_text(write_notebook(page.read_text(encoding="utf8")), encoding="utf8")
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

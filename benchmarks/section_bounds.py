"""Time and memory of the section parser on documents that are made to be hard for it.

    python -m benchmarks.section_bounds [--lines 100000] [--characters 40000]

Each document is parsed in a process of its own. Printed are CPU seconds, and the peak of the memory above that of the
loaded pipeline: of a long outline, and of numberings with many readings, none of which goes on with another.
"""

import argparse
import json
import time
from collections.abc import Iterator
from itertools import count, islice

import spacy

from benchmarks.measure import peak_mebibytes, run_apart

AMBIGUOUS = ("{n}.i.v", "i.{n}.v", "a.i.{n}", "i.v", "{n}.i.v title")


def outline() -> Iterator[str]:
    """Lines of an outline of five levels, of which about seven in ten begin a section."""
    for chapter in count(1):
        yield f"{chapter}. Title of chapter {chapter}"
        for section in range(1, 5):
            yield f"{chapter}.{section} Subject {section}"
            yield "Running text of the section, with a few words."
            for letter in "abc":
                yield f"({letter}) item {letter} of the list;"
            yield "What is said behind the list."


def ambiguous(line: str, characters: int) -> Iterator[str]:
    """Lines that are numberings of many readings, up to so many characters in all."""
    for number in count():
        made = line.format(n=number)
        characters -= len(made) + 1
        if characters < 0:
            return
        yield made


def measure(lines: Iterator[str]) -> dict[str, object]:
    """Parse a document in this process and say what it took."""
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    nlp("1. Scope\nAll ferries.\n")
    text = "\n".join(lines) + "\n"
    nlp.max_length = len(text) + 1
    before, start = peak_mebibytes(), time.process_time()
    doc = nlp(text)
    seconds, memory = time.process_time() - start, peak_mebibytes() - before
    found = {"lines": text.count("\n"), "sections": len(doc.spans["sections"]), "exact": doc._.section_tree.exact}
    return {**found, "cpu_seconds": round(seconds, 1), "mebibytes": round(memory)}


def main() -> None:
    """Measure each document; print one line of JSON for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=100_000, help="of the outline; 0 for none")
    parser.add_argument("--characters", type=int, default=40_000, help="of the ambiguous documents; 0 for none")
    parser.add_argument("--in-process", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_process is not None:
        line = arguments.in_process
        lines = ambiguous(line, arguments.characters) if line else islice(outline(), arguments.lines)
        print(json.dumps(measure(lines)))
        return
    documents = [""] * (arguments.lines > 0) + [*AMBIGUOUS] * (arguments.characters > 0)
    sizes = ["--lines", str(arguments.lines), "--characters", str(arguments.characters)]
    for line in documents:
        found = run_apart("benchmarks.section_bounds", *sizes, f"--in-process={line}")
        print(json.dumps({"document": line or "outline", **found}), flush=True)


if __name__ == "__main__":
    main()

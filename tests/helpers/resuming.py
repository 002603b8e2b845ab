"""Training with and without a break."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training import Example

from spacy_crf.learning.packed import loads

RUN = "trainer"  # the file that tells how to go on
STEPS = 6


def component(nlp: Language) -> Any:
    """The only component of a pipeline."""
    return nlp.get_pipe(nlp.pipe_names[0])


def batch(nlp: Language, examples: list[Example], number: int) -> list[Example]:
    """What a step sees: everything, or the next five examples."""
    is_full = "LBFGS" in nlp.get_pipe_config(nlp.pipe_names[0])["trainer"]["@misc"]
    low = 5 * number % len(examples)
    return examples if is_full else examples[low : low + 5]


def begin(nlp: Language, examples: list[Example], start: Path | None = None) -> None:
    """Initialise a pipeline, with what is saved in a folder if one is given."""
    if start is not None:
        nlp.config["initialize"]["components"][nlp.pipe_names[0]] = {"start": str(start)}
    nlp.initialize(lambda: examples)


def run(nlp: Language, examples: list[Example], first: int, last: int) -> Any:
    """Take some of the steps, and return the component."""
    for number in range(first, last):
        nlp.update(batch(nlp, examples, number))
    return component(nlp)


def check_resume(
    make: Callable[[], Language], read: Callable[[Language], list[Example]], folder: Path, interrupted: int
) -> None:
    """Train with and without a break after some steps, and compare all that is saved."""
    nlp = make()
    examples = read(nlp)
    begin(nlp, examples)
    whole = run(nlp, examples, 0, STEPS)
    nlp = make()
    examples = read(nlp)
    begin(nlp, examples)
    run(nlp, examples, 0, interrupted).to_disk(folder / "saved")
    nlp = make()
    examples = read(nlp)
    begin(nlp, examples, folder / "saved")
    assert loads(component(nlp).to_bytes())[RUN] == (folder / "saved" / RUN).read_bytes()
    assert run(nlp, examples, interrupted, STEPS).to_bytes() == whole.to_bytes()

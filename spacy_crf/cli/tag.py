"""`python -m spacy crf tag`: text in, a table of tags with their probabilities out."""

from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg, table

from ..core.errors import CRFError
from ..punctuation.component import PunctuationRestorer
from ..sections.component import SectionParser
from ..tagging.component import CRFTagger
from .app import app
from .errors import CommandErrors

EXTENSION = "crf_marginals"
Calibrated = CRFTagger | PunctuationRestorer
FACTORIES: dict[type[Any] | UnionType, str] = {
    CRFTagger: "crf_tagger",
    SectionParser: "section_parser",
    PunctuationRestorer: "punctuation_restorer",
    Calibrated: "crf_tagger or punctuation_restorer",
}


@app.command("tag")
def tag_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts; standard input without")
    ] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
) -> None:
    """Tag texts and show how sure the tagger is of each token.

    Each line of standard input is a text of its own where no texts are given.
    """
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        name = find_tagger(nlp, pipe)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was tagged", str(error), exits=1)
    lines = texts or (line for line in typer.get_text_stream("stdin") if line.strip())
    for doc in with_marginals(nlp, name, lines):
        typer.echo(format_table(doc))


def find_tagger(nlp: Language, name: str | None, kind: type[Any] | UnionType = CRFTagger) -> str:
    """Name of the component that a command is about.

    nlp (Language): the pipeline. name (str | None): the one asked for. kind (type): what it has to be, a
        class, a union of them or a protocol; a set_valued_tagger without a source is a crf_tagger too.
    RETURNS (str): its name; without one asked for, that of the first of the kind.
    RAISES (ValueError): if there is none.
    """
    names = [known for known, pipe in nlp.pipeline if isinstance(pipe, kind)]
    if name is None and names:
        return names[0]
    if name not in names:
        wanted = FACTORIES.get(kind, "set_valued_tagger")
        known = ", ".join(nlp.pipe_names)
        raise CRFError(CommandErrors.CRF602.format(kind=wanted, name=name or wanted, known=known))
    return name


def with_marginals(nlp: Language, name: str, texts: Iterator[str] | list[str]) -> Iterator[Doc]:
    """Docs with the probabilities of all tags in `doc._.crf_marginals`.

    nlp (Language): the pipeline. name (str): its crf_tagger. texts (Iterable[str]): texts.
    YIELDS (Doc): one for each text.
    """
    tagger = nlp.get_pipe(name)
    assert isinstance(tagger, CRFTagger)
    tagger.cfg["marginals"] = EXTENSION
    yield from nlp.pipe(texts)


def format_table(doc: Doc) -> str:
    """Tokens with their best and second best tags.

    doc (Doc): with marginals.
    RETURNS (str): a table.
    """
    stored = doc._.get(EXTENSION)
    rows = []
    for token, values in zip(doc, np.asarray(stored["values"])):
        first, second = np.argsort(-values, kind="stable")[[0, min(1, len(values) - 1)]].tolist()
        runner_up = f"{stored['tags'][second]} {values[second]:.2f}" if values[second] >= 0.005 else ""
        rows.append((token.text, stored["tags"][first], f"{values[first]:.2f}", runner_up))
    return str(table(rows, header=("token", "tag", "prob.", "or"), divider=True, aligns=("l", "l", "r", "l")))

"""Save a pipeline that is measured on another rendering of documents; weasel calls it in the folder of the project.

python rendered.py plain|dense|marked OUTPUT [--model MODEL]; an untrained section parser without a model.
"""

from pathlib import Path
from typing import Annotated

import spacy
import typer


def main(rendering: str, output: Path, model: Annotated[Path | None, typer.Option()] = None) -> None:
    """Save it. The reader of the dev corpus, which `crf evaluate` reads documents with, is set in its config."""
    nlp = spacy.blank("xx") if model is None else spacy.load(model)
    if model is None:
        nlp.add_pipe("section_parser")
    config = nlp.config.copy()
    config["training"]["dev_corpus"] = "corpora.dev"
    config["corpora"]["dev"] = {"@readers": "spacy_crf.SectionCorpus.v1", "path": None, "rendering": rendering}
    nlp.config = config
    output.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(output)


if __name__ == "__main__":
    typer.run(main)

"""Where the result of a command goes."""

from pathlib import Path

import typer


def write_result(text: str, output: Path | None) -> None:
    """Write a result in UTF-8, with folders that are missing.

    text (str): the result. output (Path | None): its file; standard output without.
    """
    if output is None:
        typer.echo(text, nl=False)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf8", newline="\n")

"""The application that the commands register with."""

import typer

HELP = """Commands for structured prediction with spacy_crf."""

app = typer.Typer(name="crf", help=HELP, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def crf() -> None:
    # With a callback, a single command still has to be called by its name.
    pass

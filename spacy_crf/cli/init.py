"""`python -m spacy crf init`, `examples`: configs to train with, and corpora to try them on, of the library itself."""

import shutil
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.util import get_sourced_components, load_config, load_model_from_config
from thinc.api import Config, ConfigValidationError

import spacy_crf

from ..core.errors import CRFError
from ..lab.errors import LabErrors
from ..reading.files import write_whole
from .options import command, make_folders, tell_written

EXAMPLES = ("configs", "corpus")


@command("init", "No config was written", "crf_tagger tagger.cfg --target ent --lang de")
def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A config: crf_tagger, section_parser, ..")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File for the config")],
    target: Annotated[
        str | None, typer.Option(help="What is learned: tag, pos, ent, chunk, spans, an extension")
    ] = None,
    lang: Annotated[str | None, typer.Option(help="Code of the language; that of the config without")] = None,
    order: Annotated[int | None, typer.Option(min=1, max=2, help="2: also weights for trigrams of labels")] = None,
    force: Annotated[bool, typer.Option("--force", "-F", help="Replace a file that is there")] = False,
) -> None:
    """Write a config with all settings, ready for spacy train with data of your own.

    NAME is that of a component, or of another config that comes with the library; a wrong one is told what there is.
    With a target, the config that is made for it is taken where there is one: --target ent has templates for entities,
    --target chunk reads the columns of CoNLL-2000.
    """
    if output.exists() and not force:
        raise CRFError(LabErrors.CRF652.format(path=output))
    found = find_config(name, target)
    config = load_config(found)
    for path in config["paths"]:
        config["paths"][path] = None
    if lang is not None:
        set_language(config, lang)
    component = config["nlp"]["pipeline"][-1]
    if target is not None and not found.stem.endswith(f"_{target}"):  # a config that is made for a target has it
        set_target(config, component, name, target)
    if order is not None:
        set_order(config, component, order)
    filled = fill(config)
    make_folders(output)
    write_whole(output, filled.to_str(interpolate=False))
    paths = " ".join(f"--paths.{path} PATH" for path in config["paths"])
    tell_written(output, then=f"python -m spacy train {{}} {paths} --output FOLDER")


@command("examples", "Nothing more was written", "practice")
def examples(
    output: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where the folders are written")] = Path("."),
    force: Annotated[bool, typer.Option("--force", "-F", help="Replace files that are there")] = False,
) -> None:
    """Write the configs and the small corpora of the library, to try things with: folders `configs` and `corpus`.

    The configs read these corpora where they are run in FOLDER. The tutorials begin with them.
    """
    for name in EXAMPLES:
        if (output / name).exists() and not force:
            raise CRFError(LabErrors.CRF652.format(path=output / name))
    for name in EXAMPLES:
        copy_folder(shipped(name), output / name)
    there = "" if output == Path(".") else "cd {}; "
    tell_written(output, " and ".join(EXAMPLES), f"{there}python -m spacy train configs/crf_tagger.cfg --output tagger")


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder, file by file, so that the first error is told as that of its file."""
    for path in sorted(source.rglob("*")):
        own = target / path.relative_to(source)
        if path.is_dir():
            own.mkdir(parents=True, exist_ok=True)
        else:
            own.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(path, own)
            except OSError as error:
                error.filename = str(own)
                raise


def shipped(name: str) -> Path:
    """Return a folder that comes with the library: inside the package, or beside it in a repository."""
    package = Path(spacy_crf.__file__).parent
    return package / name if (package / name).is_dir() else package.parent / name


def shipped_configs() -> dict[str, Path]:
    """Return the configs that come with the library, by name."""
    return {path.stem: path for path in sorted(shipped("configs").glob("*.cfg"))}


def find_config(name: str, target: str | None) -> Path:
    """Return the config of a name, the one for a target where there is one."""
    known = shipped_configs()
    if name not in known:
        names = dict.fromkeys([*get_close_matches(name, known, n=3), *known])
        raise CRFError(LabErrors.CRF653.format(name=name, known=", ".join(names)))
    return known.get(f"{name}_{target}", known[name])


def set_language(config: Config, lang: str) -> None:
    """Set the language, with its own tokenizer, which parts words that no space parts, where any tokenizer would do."""
    config["nlp"]["lang"] = lang
    if config["nlp"]["tokenizer"] == {"@tokenizers": "spacy.Tokenizer.v1"}:
        del config["nlp"]["tokenizer"]


def set_target(config: Config, component: str, name: str, target: str) -> None:
    """Let a component learn something else; a coded error where the config of a name does not go with it."""
    block = config["components"][component]
    nlp = spacy.blank("xx")  # a pipeline knows the factories of all packages, its class does not before there is one
    if "target" not in (nlp.get_factory_meta(block["factory"]).default_config or {}):
        raise CRFError(LabErrors.CRF988.format(option="--target", kind=block["factory"], name=component))
    try:
        nlp.add_pipe(block["factory"], config={"target": target})
        fits = target != "chunk"  # a name for spans in columns, which this config does not read
    except ConfigValidationError:
        fits = False
    if not fits:
        raise CRFError(LabErrors.CRF987.format(name=name, target=target))
    block["target"] = target


def set_order(config: Config, component: str, order: int) -> None:
    """Set the order of a component's chain; half of the steps are for trigrams, which begin without being better."""
    block, training = config["components"][component], config["training"]
    if "model" not in block:
        raise CRFError(LabErrors.CRF988.format(option="--order", kind=block["factory"], name=component))
    block["model"]["order"] = order
    if order == 2 and block["trainer"]["@misc"] == "spacy_crf.LBFGS.v1":  # no other can, as an error will tell
        block["trainer"]["first_order_steps"] = max(1, training["max_steps"] // 2)
        training["patience"] = 0


def fill(config: Config) -> Config:
    """Return a config with all settings; components of other pipelines, which may not be there, stay as they are."""
    sourced, own = get_sourced_components(config), config.copy()
    own["components"] = {name: block for name, block in config["components"].items() if name not in sourced}
    own["nlp"]["pipeline"] = list(own["components"])
    filled = load_model_from_config(own, auto_fill=True).config
    filled["components"] = {name: filled["components"].get(name, block) for name, block in config["components"].items()}
    filled["nlp"]["pipeline"] = config["nlp"]["pipeline"]
    return filled

"""Trained models and what they have learned: `inspect`, `constraints`, `explain`, `calibrate`, `pool`."""

import errno
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from spacy.language import Language
from spacy.training import Example

from ..constraints.component import KeepsConstraints
from ..constraints.errors import ConstraintErrors
from ..constraints.table import table_rows, to_bytes
from ..core.errors import CRFError
from ..lab.errors import LabErrors
from ..lab.training import corpus_block
from ..pipe.block import AUTO
from ..pipe.calibration import calibrate as fit_temperature
from ..pipe.component import ChainPipe
from ..pipe.explain import Explanation, explain
from ..pipe.inspect import Inspection, inspect
from ..pipe.pool import pool
from ..pipe.probabilities import LabelsTokens
from ..pipe.promises import KeepsPromise, keeps_promise
from ..pipe.seen import annotated, run_before
from ..pipe.storage import beside
from ..punctuation.cli import fit_marks
from ..punctuation.component import PunctuationRestorer
from ..sections.component import SectionParser
from ..tagging.component import CRFTagger
from ..tagsets.errors import TagSetErrors
from .data import Data, DataOptions
from .options import (
    Loaded,
    Pipe,
    annotating,
    bin_rows,
    command,
    echo_data,
    find_component,
    load_pipeline,
    locate,
    refuse_idle,
    table,
    tell_written,
)
from .surface import check_argument, tell_warning

PARTIAL = ".partial-"  # begins the name of a folder in which a pipeline is until it is whole
MEASURE = "python -m spacy crf evaluate {} DATA"  # with other data than were used
TAGGER = Pipe("crf_tagger", (LabelsTokens,))
CALIBRATED = Pipe(
    "crf_tagger, punctuation_restorer or section_parser", ((LabelsTokens, PunctuationRestorer, SectionParser),)
)


@command("inspect", "Nothing was inspected", "training/model-best --top 20")
def inspect_component(
    loaded: Annotated[Loaded, TAGGER],
    top: Annotated[int, typer.Option(min=1, help="How many weights of each kind to show")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON instead of tables")] = False,
) -> None:
    """Show what a tagger has learned: its greatest weights by label, its transitions, its templates and its size."""
    found = inspect(loaded.component, top)
    echo_data(asdict(found), as_json, inspection_tables(found))


def inspection_tables(found: Inspection) -> Iterator[str]:
    """Tables, each below its title."""
    counts = [
        ("labels", len(found.labels)),
        ("features", found.n_features),
        ("edge features", found.n_edge_features),
        ("weights", found.n_weights),
        ("weights that are not 0", found.n_active),
        ("weights of vectors", found.n_vector_weights),
        (f"bytes, weights as {found.precision}", found.n_bytes),
    ]
    yield titled(found.component, [(name, f"{count:,}") for name, count in counts], "lr")
    templates = [
        (t.template, f"{t.features:,}", f"{t.weights:,}", f"{t.active:,}", f"{t.greatest:.3f}") for t in found.templates
    ]
    yield titled("Templates", templates, "lr", ("template", "features", "weights", "not 0", "greatest"))
    for title, transitions in (("Likely transitions", found.likely), ("Unlikely transitions", found.unlikely)):
        rows = [(str(part), f"{part.weight:+.3f}") for part in transitions]
        yield titled(title, rows, "lr")
    if found.edges:
        edges = [(part.feature, f"{part.before} > {part.label}", f"{part.weight:+.3f}") for part in found.edges]
        yield titled("Edge features", edges, "llr")
    for label in found.labels:
        parts = (*found.highest[label], *found.lowest[label][::-1])
        yield titled(label, [(part.feature, f"{part.weight:+.3f}") for part in parts], "lr")


def titled(title: str, rows: Sequence[Sequence[str]], aligns: str, header: Sequence[str] = ()) -> str:
    """A table below its title."""
    body = table(rows, header, aligns) if rows else "\n(none)\n"
    return f"\n{title}{body}"


@command("constraints", "No constraints were shown", "training/model-best --json")
def constraints(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a pipeline")],
    component: Annotated[
        str | None, typer.Option(help="Name of the component; the first that has some without")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, as in constraints.json")] = False,
) -> None:
    """Show the constraints of a component: text, cost, in how many sequences it applies, how often it is broken."""
    pipes: list[tuple[str, Any]] = load_pipeline(locate(model)).components
    known = {name: pipe for name, pipe in pipes if isinstance(pipe, KeepsConstraints)}
    chosen = component or next(iter(known), None)
    if chosen not in known:
        names = ", ".join(known) or "none"
        raise CRFError(ConstraintErrors.CRF446.format(name=component, path=model, known=names))
    entries = known[chosen].constraint_entries
    if as_json:
        echo_data(json.loads(to_bytes(entries)))
    else:
        typer.echo(table(table_rows(entries), ("cost", "support", "rate", "origin", "constraint"), "rrrl"))


@command("explain", "Nothing was explained", "training/model-best 'The letters came late.' --token 1")
def explain_labels(
    loaded: Annotated[Loaded, TAGGER],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A text")],
    token: Annotated[int | None, typer.Option(help="Number of the token, from 0; all without")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many contributions to show for each token")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, with all contributions")] = False,
    given: Collection[str] = (),
) -> None:
    """Show what each feature and transition adds to a token's label, and to the most probable other one.

    The contributions of a token sum up to the difference of the scores of both labellings of its sentence.
    """
    refuse_idle(given, ("top", not as_json, "tables, without --json,"))
    (doc,) = run_before(loaded.nlp, loaded.name, [loaded.nlp.make_doc(check_argument(text))])
    found = explain(loaded.component, doc, None if token is None else [token])
    if as_json:
        data = [asdict(one) for one in found]
        for plain, one in zip(data, found):
            plain["contributions"] = [{**asdict(part), "difference": part.difference} for part in one.contributions]
        echo_data(data)
        return
    for explanation in found:
        typer.echo(format_explanation(explanation, top))


def format_explanation(explanation: Explanation, top: int) -> str:
    """One token as a line and a table of its greatest contributions."""
    if not explanation.label:
        return f"\n{explanation.token} {explanation.text!r}: no label, as training has shown none of its kind\n"
    title = f"{explanation.token} {explanation.text!r}: {explanation.label} {explanation.probability:.3f}"
    is_changed = explanation.written not in ("", explanation.label)
    changed = f"; that is the chain alone, what is set is {explanation.written}" if is_changed else ""
    if explanation.runner_up is None:
        return f"\n{title}, no other label is possible{changed}\n"
    title += f", not {explanation.runner_up} {explanation.runner_up_probability:.3f}{changed}"
    parts, rows = explanation.contributions, []
    for part in parts[:top]:
        weights = f"{part.weight:+.3f} {part.other_weight:+.3f}"
        rows.append((f"{part.token}", part.name, part.labels, part.other_labels, weights, f"{part.difference:+.3f}"))
    if parts[top:]:
        rest = sum(part.difference for part in parts[top:])
        rows.append((f"{len(parts) - top} more", "", "", "", "", f"{rest:+.3f}"))
    rows.append(("sum", "", "", "", "", f"{explanation.difference:+.3f}"))
    header = ("token", "feature", "scores", "or", "weights", "difference")
    return f"\n{title}{table(rows, header, 'llllr')}"


# -- calibration -------------------------------------------------------------------------------------------------


@command("calibrate", "Nothing was calibrated", "training/model-best held_out.tsv --output calibrated")
def calibrate(
    loaded: Annotated[Loaded, CALIBRATED],
    data: Annotated[Data, DataOptions("FILE", "Dev data: .spacy, CoNLL-U or CoNLL columns; punctuated text")],
    output: Annotated[Path | None, typer.Option(help="Folder for the calibrated pipeline")] = None,
    sequences: Annotated[
        bool, typer.Option("--sequences", help="Make whole gold sequences most probable, not the gold tags of tokens")
    ] = False,
    bins: Annotated[int, typer.Option(min=1, max=1000, help="Bins of the table")] = 10,
    precision: Annotated[
        float | None, typer.Option(min=0.01, max=1.0, help="Set thresholds of marks that reach this precision")
    ] = None,
    best_f: Annotated[bool, typer.Option("--best-f", help="Set thresholds of marks with the best F")] = False,
) -> None:
    """Make the probabilities of a tagger, section parser or punctuation restorer as sure as they are right.

    FILE has to be data that the pipeline was not trained on. For a tagger, one number is fitted; tags stay as they
    are, unless `decode` is "posterior", and so do spans without a `threshold`; one that is "auto" is fitted anew. So it
    is for a section parser, whose trees may change with it. For a restorer, a map of the probabilities of marks; marks
    stay as they are, unless thresholds are set.
    """
    component, calibration, fits = loaded.component, None, dict[str, float]()
    if output is not None:
        refuse_promised(loaded.nlp, loaded.name)
    warn_of_training_data(loaded.nlp, data.path)
    is_restorer = isinstance(component, PunctuationRestorer)
    if is_restorer:
        refuse(loaded.name, "punctuation_restorer", sequences=sequences, columns=data.columns, input=data.input)
    else:
        refuse(loaded.name, "crf_tagger", precision=precision, best_f=best_f)
    examples = annotated(loaded.nlp, loaded.name, annotating(data.examples(loaded.nlp, loaded.name)))
    if is_restorer:
        lines, settings, calibration = fit_marks(component, examples, bins, precision, best_f)
    else:
        lines, settings, fits = fit_tags(component, examples, bins, sequences)
    if output is not None:
        # loaded anew: its vocabulary does not have the words of FILE
        nlp: Any = load_pipeline(loaded.source, config={"components": {loaded.name: settings}})
        if calibration is not None:
            nlp.get_pipe(loaded.name).calibration = calibration
        for setting, value in fits.items():
            nlp.get_pipe(loaded.name).cfg.fit(setting, value)
        nlp.meta.pop("performance", None)  # with the probabilities of before
        save_pipeline(nlp, output)
    typer.echo("\n".join(lines))
    tell_written(output, then=MEASURE)


def warn_of_training_data(nlp: Language, path: Path) -> None:
    """Warn where a file or folder is, holds or is in what a pipeline was trained on."""
    config = nlp.config.interpolate()
    paths, own = corpus_block(config, config["training"]["train_corpus"]).get("path") or (), path.resolve()
    for trained in [paths] if isinstance(paths, str) else paths:
        other = Path(trained).resolve()
        if other.exists() and (own.is_relative_to(other) or other.is_relative_to(own)):
            tell_warning(LabErrors.CRFW696.format(path=path, trained=trained))


def save_pipeline(nlp: Language, output: Path) -> None:
    """Save a pipeline to a folder. Where there is no room for all of it, or a file is protected against writing, what
    was there stays: spaCy writes its own files over the old ones before those of our components find that out. The
    rights of files stay."""
    output.mkdir(parents=True, exist_ok=True)
    for left in output.glob(f"{PARTIAL}*"):  # by a saving that was killed
        shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=PARTIAL, dir=output) as folder:
        nlp.to_disk(folder)
        places = {file: output / file.relative_to(folder) for file in Path(folder).rglob("*") if file.is_file()}
        for place in places.values():
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists() and not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
        for file, place in places.items():
            beside(place).unlink(missing_ok=True)  # of a saving that was broken off: it would count as newer
            if place.exists():
                shutil.copymode(place, file)
            file.replace(place)


def refuse(name: str, kind: str, **options: object) -> None:
    """Raise a coded error for options that are set and not for a component. kind (str): Its factory."""
    for option, value in options.items():
        if value:
            raise CRFError(LabErrors.CRF988.format(option="--" + option.replace("_", "-"), kind=kind, name=name))


def refuse_promised(nlp: Language, name: str) -> None:
    """Raise a coded error where a component keeps a promise that was made with the probabilities of another, or its
    own."""
    for other, pipe in nlp.components:
        sources = (other, getattr(pipe, "source", None))
        if name in sources and isinstance(pipe, KeepsPromise) and keeps_promise(pipe.settings):
            raise CRFError(TagSetErrors.CRF448.format(name=other, source=name))


def fit_tags(
    tagger: CRFTagger, examples: Iterable[Example], bins: int, sequences: bool
) -> tuple[list[str], dict[str, Any], dict[str, float]]:
    """Fit the temperature of a tagger, and return a report, with its bins, settings for the config, and what is fitted
    beside them: the tagger gets a threshold that is "auto", at the new temperature."""
    examples = list(examples)
    fitted = fit_temperature(tagger, examples, "sequence" if sequences else "token", bins)
    header = ("probability", "tokens", "mean", "right", "tokens after", "mean", "right")
    lines = [
        table(bin_rows(fitted.before, fitted.after), header, "lr"),
        f"temperature {tagger.temperature:.4g} -> {fitted.temperature:.4g}",
        f"expected calibration error {fitted.before.error:.4f} -> {fitted.after.error:.4f}",
    ]
    if tagger.cfg.assignable.get("threshold") != AUTO:
        return lines, {"temperature": fitted.temperature}, {}
    before = tagger.cfg["threshold"]
    tagger.cfg.update(temperature=fitted.temperature, threshold=AUTO)
    tagger.calibrate(examples)
    after = tagger.cfg["threshold"]
    lines.append(f"threshold {before if before == AUTO else f'{before:.4g}'} -> {after:.4g}")
    return lines, {"temperature": fitted.temperature}, {"threshold": after}


# -- several as one ----------------------------------------------------------------------------------------------


@command(
    "pool",
    "Nothing was pooled",
    "pooled seed-0/model-best seed-1/model-best seed-2/model-best",
    renamed={"--pipe": "--component"},
)
def pool_components(
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the pipeline")],
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Folders or packages of trained pipelines")],
    exponent: Annotated[
        list[float] | None, typer.Option(help="How much each counts, in their order; equal shares without")
    ] = None,
    component: Annotated[str | None, typer.Option(help="Name of the component; the first over a chain without")] = None,
) -> None:
    """Make one component of several trained ones: their chains are multiplied, each to the power of its exponent.

    The product of linear chains is a linear chain again, so that decoding and probabilities stay exact. Models that
    err in different ways gain by it: features and a network, or other orders of the training texts.
    """
    exponents = exponent or [1 / len(models)] * len(models)
    if len(exponents) != len(models):
        raise CRFError(LabErrors.CRF647.format(exponents=len(exponents), models=len(models)))
    pipelines = [load_pipeline(locate(model)) for model in models]
    names = [find_component(nlp, component, "crf_tagger", ChainPipe) for nlp in pipelines]
    save_pipeline(pool(pipelines, names, exponents), output)
    tell_written(output, then=MEASURE)

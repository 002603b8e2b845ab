"""A page about a trained pipeline on gold documents, with all that commands tell of it, in one file.

Figures are those of `crf evaluate`, weights those of `crf inspect`, and so on: nothing is computed here that these do
not. Its parts are those of the service's start page.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from importlib import resources
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.training import Example

from ..annotation.parts import Markup, contents, element, explanation, none, outline, page, table
from ..constraints.component import KeepsConstraints
from ..constraints.table import table_rows
from ..core.errors import CRFError
from ..core.sets.measures import best_label_reliability, set_measures
from ..core.sets.predict import error_controlled_sets
from ..lab.evaluation import Figures, find_surprises
from ..lab.results import POOLED
from ..pipe.calibration import Calibrates, measure_reliability
from ..pipe.component import ChainPipe
from ..pipe.explain import explain
from ..pipe.inspect import Weight, inspect
from ..pipe.probabilities import GivesSets
from ..punctuation.calibration import as_told
from ..punctuation.calibration import held_out as held_out_marks
from ..punctuation.component import PunctuationRestorer
from ..sections.component import SectionParser
from ..sections.spans import gold_tree
from ..tagsets.gold import SetTable
from ..tagsets.guarantee import held_out_tokens
from ..tagsets.report import SIZES, percent, report_sets, stored_probabilities
from ..tagsets.rules import utility_values
from .answers import TELLERS, tell_changes
from .charts import confusion_matrix, line_chart, reliability_diagram
from .models import KINDS
from .rendering import SHOWN

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
MOST_LABELS = 24  # of a matrix, and of tables of weights
MOST_CONFUSIONS = 12
LONGEST = 6000  # characters of a document that is shown
AROUND = 6  # words on either side of an error
Part = tuple[str, str]  # a title, and HTML
Maker = Callable[["Reported"], Iterator[Part]]


@dataclass(frozen=True)
class Reported:
    """What a page is about.

    nlp (Language): the pipeline, which tells what constraints change. name (str): the component.
    figures (Figures): of gold documents, with these. title (str): of the page. facts (Mapping): what it was made of.
    log (Sequence[dict]): steps of its training, as spacy.ConsoleLogger.v3 writes them. most (int): errors and documents
        that are shown.
    """

    nlp: Language
    name: str
    figures: Figures
    title: str
    facts: Mapping[str, str] = field(default_factory=dict)
    log: Sequence[Mapping[str, Any]] = ()
    most: int = 8

    @property
    def pipe(self) -> Any:
        return self.nlp.get_pipe(self.name)

    @property
    def examples(self) -> Sequence[Example]:
        return self.figures.examples

    @property
    def seen(self) -> Sequence[Example]:
        """The examples as the component saw them."""
        return self.figures.seen()


# -- figures -----------------------------------------------------------------------------------------------------


def tell_scores(reported: Reported) -> Iterator[Part]:
    """All scores, with their intervals, and those of each label."""
    figures = reported.figures
    key = f"In percent. Intervals of 95 %, {figures.drawn} drawn." if figures.intervals else "In percent."
    yield "Scores", element("p", key, class_="key") + table(figures.score_rows(), ("score", "", "95 %"))
    for name, header, rows in figures.tables_by_label():
        yield f"By label: {name}", table(rows, ("label", *header[1:]))
    labels = figures.label_rows()
    if labels:
        yield "By label", _folded(f"{len(labels)} labels", table(labels, ("label", "gold", *POOLED)), len(labels))


def _folded(title: str, content: str, size: int) -> str:
    """Content that has to be opened where it is long."""
    return content if size <= MOST_LABELS else element("details", element("summary", escape(title)) + content)


def tell_confusions(reported: Reported) -> Iterator[Part]:
    """The most frequent confusions, and the matrix of the most frequent labels."""
    counts = {pair: count for pair, count in reported.figures.found.confusions.items() if count}
    wrong = sorted(((n, *pair) for pair, n in counts.items() if pair[0] != pair[1]), key=lambda row: (-row[0], row[1:]))
    if not counts:
        return
    rows = [(gold or "–", found or "–", f"{count:,}") for count, gold, found in wrong[:MOST_CONFUSIONS]]
    totals = Counter({label: 0 for pair in counts for label in pair})
    for (gold, _), count in counts.items():
        totals[gold] += count
    labels = sorted(sorted(totals, key=lambda label: -totals[label])[:MOST_LABELS])
    shown = f"The {len(labels)} most frequent of {len(totals)} labels. " if len(labels) < len(totals) else ""
    key = element("p", f"{shown}Gold by row, predicted by column; shaded by the share of the row.", class_="key")
    listed = table(rows, ("gold", "predicted", "times"), words=2) if rows else none("No label was taken for another.")
    yield "Confusions", listed + key + confusion_matrix(counts, labels)


def tell_reliability(reported: Reported) -> Iterator[Part]:
    """Whether probabilities can be believed."""
    pipe, examples = reported.pipe, reported.examples
    charts = []
    if isinstance(pipe, PunctuationRestorer):
        words = as_told(pipe, held_out_marks(pipe, reported.seen))
        charts = [reliability_diagram(words.reliability(mark, 10), mark) for mark in words.told]
    elif isinstance(pipe, GivesSets):
        weights = SetTable.of(pipe, examples).weights
        marginals = stored_probabilities(pipe, examples, weights.shape[1])
        charts = [reliability_diagram(best_label_reliability(marginals, weights))]
    elif isinstance(pipe, Calibrates) and getattr(pipe, "has_probabilities", True):
        charts = [reliability_diagram(measure_reliability(pipe, reported.seen))]
    if charts:
        key = "Bars: the share that was right. Dots: at the mean probability. Below the line, the model was too sure."
        yield "Reliability", element("p", key, class_="key") + element("div", "".join(charts), class_="charts")


def tell_sets(reported: Reported) -> Iterator[Part]:
    """Sets as they were chosen, and by the level at which they may miss."""
    pipe, examples = reported.pipe, reported.examples
    if not isinstance(pipe, GivesSets):
        return
    found = report_sets(pipe, examples)
    tokens = held_out_tokens(pipe, reported.seen)
    g = utility_values(pipe.cfg, len(pipe.labels))
    rows, points = [], []
    for level in LEVELS:
        own = set_measures(tokens.weights, error_controlled_sets(tokens.marginals, level).members, g)
        rows.append((percent(1 - level), percent(own.coverage), f"{own.size:.2f}", percent(own.singletons)))
        points.append((1 - level, own.coverage))
    levels = table(rows, ("probability asked for", "covered", "mean size", "one tag"))
    wanted = [(1 - level, 1 - level) for level in LEVELS]
    chart = line_chart({"found": points, "asked for": wanted}, "probability asked for", "share covered")
    curves = [(name.partition(" by "), curve) for name, curve in reported.figures.found.curves.items()]
    charts = [chart, *(line_chart({y: sorted(own.items())}, x, y) for (y, _, x), own in curves)]
    drawn = element("div", "".join(charts), class_="charts")
    yield "Tag sets", table(found.rows()) + table(found.size_rows(), SIZES) + element("h3", "By level") + levels + drawn


def tell_training(reported: Reported) -> Iterator[Part]:
    """The learning curve, from the log of training."""
    log = reported.log
    if not log:
        return
    steps = [float(one["step"]) for one in log]
    scores = {name: [one["scores"][name] for one in log] for name in log[0].get("scores", {}) if name != "speed"}
    losses = {name: [one["losses"][name] for one in log] for name in log[0].get("losses", {})}
    charts = [
        line_chart({name: list(zip(steps, values)) for name, values in own.items()}, "step", y)
        for y, own in (("score", scores), ("loss", losses))
        if own
    ]
    yield "Training", element("div", "".join(charts), class_="charts")


# -- the model ---------------------------------------------------------------------------------------------------


def tell_weights(reported: Reported) -> Iterator[Part]:
    """What was learned: greatest weights by label, transitions, and templates."""
    pipe = reported.pipe
    if not (isinstance(pipe, ChainPipe) and pipe.labels_tokens):
        return
    found = inspect(pipe, top=5)
    rows = [(label, _features(found.highest[label]), _features(found.lowest[label])) for label in found.labels]
    labels = table(rows, ("label", "speaks for it", "speaks against it"), words=3)
    pairs = [*found.likely, *found.unlikely[::-1]]
    steps = [(str(one), f"{one.weight:+.3f}") for one in pairs]
    sizes = [(one.template, f"{one.features:,}", f"{one.active:,}", f"{one.greatest:.3f}") for one in found.templates]
    templates = table(sizes, ("template", "features", "weights that are not 0", "greatest"))
    others = element("h3", "Transitions") + table(steps) + element("h3", "Templates") + templates
    yield "Strongest weights", _folded(f"{len(rows)} labels", labels, len(rows)) + others


def _features(weights: Sequence[Weight]) -> str:
    return ", ".join(f"{one.feature} {one.weight:+.2f}" for one in weights)


def tell_constraints(reported: Reported) -> Iterator[Part]:
    """The constraints, and what they changed."""
    pipe = reported.pipe
    if not isinstance(pipe, KeepsConstraints):
        return
    rows = [(row[-1], *row[:-1]) for row in table_rows(pipe.constraint_entries)]
    body = table(rows, ("constraint", "cost", "support", "rate", "origin")) if rows else none("There are none.")
    yield "Constraints", _folded(f"{len(rows)} constraints", body, len(rows))
    key = reported.pipe.cfg["changes"]
    changes = [change for example in reported.examples for change in tell_changes(example.predicted, key)]
    reasons = [" or ".join(" and ".join(one) for one in change["because"]) for change in changes[:MOST_LABELS]]
    cells = [(change["text"], change["from"], change["to"], why) for change, why in zip(changes, reasons)]
    changed = table(cells, ("words", "without", "with", "because of"), words=4) if cells else none("Nothing.")
    more = f" The first {len(cells)} are shown." if len(cells) < len(changes) else ""
    told = f"{len(changes)} runs of tokens in {len(reported.examples)} documents or sentences were changed.{more}"
    yield "What constraints changed", element("p", told, class_="key") + changed


# -- errors and documents ----------------------------------------------------------------------------------------


def tell_errors(reported: Reported) -> Iterator[Part]:
    """The most surprising errors, with explanations where the component has weights for the labels of tokens."""
    pipe, shown = reported.pipe, []
    for one in find_surprises(pipe, reported.examples, reported.most, reported.seen):
        doc = reported.examples[one.number].predicted
        before, after = doc[max(0, one.token - AROUND) : one.token], doc[one.token + 1 : one.token + 1 + AROUND]
        words = f"… {escape(before.text)} {element('b', escape(doc[one.token].text))} {escape(after.text)} …"
        facts = f"gold {one.gold or 'no mark'} ({one.probability:.4f}), predicted {one.label or 'nothing'}"
        body = element("p", words) + element("p", escape(facts), class_="key")
        if isinstance(pipe, ChainPipe) and pipe.labels_tokens:
            try:
                (why,) = explain(reported.pipe, reported.seen[one.number].predicted, [one.token])
                body += element("details", element("summary", "Why") + explanation(asdict(why)))
            except CRFError as error:  # models of order 2 have no such explanation
                body += element("p", escape(str(error)), class_="key")
        shown.append(element("article", body))
    if shown:
        key = "The errors at which the gold label was held to be least probable."
        yield "Most surprising errors", element("p", key, class_="key") + "".join(shown)


def tell_documents(reported: Reported) -> Iterator[Part]:
    """Some documents as the pipeline sees them: tags, sets, spans, outlines beside gold, restored text."""
    pipe = reported.pipe
    kinds = [kind for kind, fits in KINDS.items() if kind in TELLERS and fits(pipe)]
    if not kinds:
        return
    short = (example for example in reported.examples if 0 < len(example.predicted.text) <= LONGEST)
    shown = []
    for number, example in enumerate(islice(short, reported.most)):
        doc, kind = example.predicted, kinds[-1]
        told = TELLERS[kind](pipe, doc)
        if kind == "sections":
            body = outline(told["tree"], doc.text, f"d{number}s") + _gold_outline(pipe, example)
        else:
            body = SHOWN[kind](told, doc.text)
        shown.append(element("article", body))
    body = "".join(shown) or none(f"No document is shorter than {LONGEST:,} characters.")
    yield "Documents", body


def _gold_outline(pipe: SectionParser, example: Example) -> str:
    tree = gold_tree(example.reference, pipe.cfg["sections_key"], pipe.cfg["elements_key"])
    if tree is None:
        return ""
    listed = element("div", contents(tree.to_json(), example.reference.text), class_="outline")
    return element("details", element("summary", "The gold outline") + listed)


# -- the page -----------------------------------------------------------------------------------------------------


PARTS: tuple[Maker, ...] = (
    tell_scores,
    tell_confusions,
    tell_reliability,
    tell_sets,
    tell_training,
    tell_errors,
    tell_constraints,
    tell_documents,
    tell_weights,
)


def make_report(reported: Reported, makers: Iterable[Maker] = PARTS) -> Markup:
    """Make the page. makers (Iterable): of its parts, in their order."""
    found = [(title, html) for make in makers for title, html in make(reported)]
    links = (element("a", escape(title), href=f"#part{k}") for k, (title, _) in enumerate(found))
    counts = [(name.replace("_", " "), f"{value:,}") for name, value in reported.figures.counts.items()]
    facts = "".join(
        element("div", element("dt", escape(name)) + element("dd", escape(value)))
        for name, value in (*reported.facts.items(), *counts)
    )
    head = element("header", element("h1", escape(reported.title)) + element("dl", facts, class_="facts"))
    nav = element("nav", "".join(links), class_="parts", aria_label="Parts")
    bodies = (
        element("section", element("h2", escape(title)) + html, id=f"part{k}") for k, (title, html) in enumerate(found)
    )
    style = resources.files(__package__).joinpath("pages", "report.css").read_text(encoding="utf8")
    return page(reported.title, head + nav + element("main", "".join(bodies)), style)

"""Scores of section trees, from gold and from predicted labels: courts' own trees, and the project's test corpus."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.section_labels import left_out, probabilities, train_chain
from benchmarks.section_trees import (
    LABELS,
    Judged,
    corpus_example,
    court_example,
    nest_by_parts,
    read_corpus,
    read_courts,
    with_probabilities,
)
from spacy_crf.core.arrays import Doubles, Indices
from spacy_crf.core.errors import CRFError
from spacy_crf.core.sections.learn import LearnSettings, TreeExample, learn_weights
from spacy_crf.core.sections.parse import ParserSettings, parse
from spacy_crf.sections.grammar import GrammarParser, known_grammars
from spacy_crf.sections.measures import (
    BracketCounts,
    Constituent,
    LevelCounts,
    crossing,
    level_accuracy,
    levels_of,
    mean_f,
    parseval,
    similarity,
    tree_of,
    without,
)
from spacy_crf.sections.parsing import LabelRoles, parser_input

Parser: TypeAlias = Callable[[Judged, bool], list[Constituent]]  # document, from gold labels
PARSER = ParserSettings(max_states=24)
LEARNER = ParserSettings(max_states=24, beam=8.0)
STRENGTHS = {"courts": LearnSettings(c2=0.05), "both": LearnSettings(c2=0.5)}  # stay near other weights, or nearer


def stack_parser(weights: Callable[[Judged], Doubles | None], document: Judged, from_gold: bool) -> list[Constituent]:
    """Sections by the parser of this library, as intervals of units; implied ones if the gold tree has such."""
    found = parse(document.elements(from_gold), weights(document), PARSER)
    virtual = any(node.virtual for node in document.tree.walk())
    return [("SECTION", each.start, each.end) for each in found.sections if virtual or not each.virtual]


def prefix_parser(document: Judged, from_gold: bool) -> list[Constituent]:
    """Sections by dotted prefix."""
    return nest_by_parts(document, document.roles(from_gold))


def thesis_parser(parser: GrammarParser, document: Judged, from_gold: bool) -> list[Constituent]:
    """Sections by a grammar of the thesis, over the likeliest labels; none where it has no tree."""
    certain = np.eye(len(LABELS))[document.roles(from_gold)]
    try:
        with warnings.catch_warnings(action="ignore"):
            found = parser.parse(parser_input(document.text, document.units, certain))
    except CRFError:
        return []
    return [("SECTION", section.start, section.end) for section in found.sections]


@dataclass(frozen=True)
class CourtScore:
    """Counts of a document: all sections, those that lead a section of the court, and these with the rest dissolved."""

    raw: BracketCounts
    leading: BracketCounts
    dissolved: BracketCounts


def score_court(document: Judged, found: list[Constituent]) -> CourtScore:
    """Count the sections of a judgment."""
    kept = without(found, document.blank)
    leads = {start for _, start, _ in document.gold}
    leading = [constituent for constituent in kept if constituent[1] in leads]
    levels = [(start, sum(a <= start and end <= b for _, a, b in kept)) for _, start, end in kept if start in leads]
    n_units = int((~document.blank).sum())
    dissolved = []
    for place, (start, level) in enumerate(levels):
        following = (other for other, depth in levels[place + 1 :] if depth <= level)
        dissolved.append(("SECTION", start, next(following, n_units)))
    return CourtScore(*(parseval(each, document.gold) for each in (kept, leading, dissolved)))


def court_row(documents: Sequence[Judged], parser: Parser, from_gold: bool) -> dict[str, Any]:
    """Scores of a parser over judgments."""
    scores = [score_court(document, parser(document, from_gold)) for document in documents]
    raw, leading, dissolved = (
        sum((getattr(s, name) for s in scores), BracketCounts()) for name in ("raw", "leading", "dissolved")
    )
    by_document = {document.name: round(score.leading.f, 4) for document, score in zip(documents, scores)}
    return {
        "recall": raw.recall,
        "raw_f": raw.f,
        "leading_f": leading.f,
        "dissolved_f": dissolved.f,
        "gold": raw.gold,
        "documents": by_document,
    }


def learn_without(
    documents: Sequence[Judged], examples: dict[str, TreeExample], start: Doubles | None, settings: LearnSettings
) -> Callable[[Judged], Doubles]:
    """Weights for each document, learned from all others."""
    weights = {
        document.name: learn_weights(
            [example for name, example in examples.items() if name != document.name], start, settings, LEARNER
        )
        for document in documents
    }
    return lambda document: weights[document.name]


def measure_courts(data: Path, corpus: Path) -> dict[str, Any]:
    """Rows of parsers over judgments, from gold labels of those that have them, and from predicted ones of all."""
    documents = read_courts(data)
    annotated = sorted((data / "annotated").glob("*.xml"))
    documents = with_probabilities(documents, left_out([document.path for document in documents], annotated, True))
    labelled = [document for document in documents if document.labels is not None]
    own = learn_weights([corpus_example(document) for document in read_corpus(corpus / "train")])
    given = [
        replace(document, probabilities=None) if document.labels is not None else document for document in documents
    ]
    grammars = {name: GrammarParser("section_parser", name, LabelRoles.parse("", {})) for name in known_grammars()}
    found: dict[str, Any] = {}
    for kind, scored, from_gold, source in (
        ("gold", labelled, True, given),
        ("predicted", documents, False, documents),
    ):
        examples = {document.name: court_example(document) for document in source}
        weights: dict[str, Callable[[Judged], Doubles | None]] = {
            "by hand": lambda _: None,
            "corpus": lambda _: own,
            "other courts": learn_without(scored, examples, None, STRENGTHS["courts"]),
            "corpus, then other courts": learn_without(scored, examples, own, STRENGTHS["both"]),
        }
        parsers: dict[str, Parser] = {name: partial(stack_parser, each) for name, each in weights.items()}
        parsers["dotted prefix"] = prefix_parser
        parsers |= {name: partial(thesis_parser, grammar) for name, grammar in grammars.items()}
        found[kind] = {name: court_row(scored, parser, from_gold) for name, parser in parsers.items()}
    return found


def corpus_row(documents: Sequence[Judged], parser: Parser, from_gold: bool) -> dict[str, float]:
    """Scores of a parser over documents of the corpus; implied sections count where the gold tree has some."""
    counts: list[BracketCounts] = []
    crossed, edits, levels = 0, [], LevelCounts(0, 0, 0)
    for document in documents:
        found = without(parser(document, from_gold), document.blank)
        gold = document.gold
        counts.append(parseval(found, gold))
        crossed += crossing(found, gold)
        edits.append(similarity(tree_of(found), tree_of(gold)))
        levels += level_accuracy(levels_of(found), levels_of(gold))
    total = sum(counts, BracketCounts())
    return {
        "precision": total.precision,
        "recall": total.recall,
        "f": total.f,
        "mean_f": mean_f(counts),
        "crossing": crossed,
        "steds": float(np.mean(edits)),
        "levels": levels.accuracy,
    }


def label_f(documents: Sequence[Judged], decided: Sequence[Indices]) -> dict[str, float]:
    """F1 of each label but that of blank lines, pooled."""
    gold = np.concatenate([document.roles(True) for document in documents])
    found = np.concatenate(decided)
    scores = {}
    for role, label in enumerate(LABELS[:3]):
        right = int(((gold == role) & (found == role)).sum())
        scores[label] = 2 * right / max(1, int((gold == role).sum() + (found == role).sum()))
    return scores


def measure_corpus(corpus: Path) -> dict[str, Any]:
    """Rows over the test third, after the weights of the tree were chosen on dev: by hand, or one of two learned."""
    train, dev, test = (read_corpus(corpus / part) for part in ("train", "dev", "test"))
    paths = [document.path for document in train]
    train = with_probabilities(train, left_out(paths, paths, False))
    chain = train_chain(paths, False)
    dev, test = (with_probabilities(part, probabilities(chain, [d.path for d in part], False)) for part in (dev, test))
    hard = [replace(document, probabilities=None) for document in train]
    weights = {
        "by hand": None,
        "gold labels": learn_weights([corpus_example(document) for document in hard]),
        "labels of chains": learn_weights([corpus_example(document) for document in train]),
    }
    parsers = {name: partial(stack_parser, lambda _, each=each: each) for name, each in weights.items()}
    found: dict[str, Any] = {}
    for kind, from_gold in (("gold", True), ("predicted", False)):
        on_dev = {name: corpus_row(dev, parser, from_gold)["f"] for name, parser in parsers.items()}
        best = max(on_dev, key=on_dev.__getitem__)
        rows = {"parser": corpus_row(test, parsers[best], from_gold)}
        rows["dotted prefix"] = corpus_row(test, prefix_parser, from_gold)
        found[kind] = {"dev": on_dev, "chosen": best, "test": rows}
    chosen = weights[found["predicted"]["chosen"]]
    decided = [parse(document.elements(False), chosen, PARSER).labels for document in test]
    found["labels"] = {
        "chain": label_f(test, [document.roles(False) for document in test]),
        "with the tree": label_f(test, decided),
    }
    return found

"""Parsing with grammars: CYK beside nltk's ViterbiParser on the grammar of Trompper's code, and over document lengths.

    python -m benchmarks.sections --out FILE.json [--repeats 3]

Documents are labels drawn at random, in shares like those of Dutch judgments. The peer gets the same grammar and the
same labels, without its time limit; both trees must have the same score. Needs `pip install -e ".[bench]"`.
"""

import argparse
import math
import statistics
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.measure import Clock, write_json
from benchmarks.report import show
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.sections.grammar import read_grammar

SHARES = {"NR": 0.16, "SECTION_TITLE": 0.04, "TEXT_BLOCK": 0.49, "NEWLINE": 0.31}
COMPARED = 60  # units that the peer parses
LENGTHS = (20, 60, 100, 200, 300, 500)
WORKS = {"viterbi": "best tree", "nbest": "10 best trees", "marginals": "marginals"}


def draw(n_units: int, seed: int) -> list[str]:
    """Labels of a document, the first of which is a numbering, so that there is a tree."""
    rng = np.random.default_rng(seed)
    return ["NR", *rng.choice(list(SHARES), n_units - 1, p=list(SHARES.values())).tolist()]


def peer(grammar: Grammar, labels: list[str]) -> dict[str, float]:
    """Seconds that nltk takes for the best tree, and its log score."""
    from nltk import PCFG, Nonterminal, ProbabilisticProduction, ViterbiParser

    def symbol(name: str) -> Any:
        return name if name in grammar.terminals else Nonterminal(name)

    productions = [
        ProbabilisticProduction(symbol(rule.parent), map(symbol, rule.children), prob=math.exp(rule.log_weight))
        for rule in grammar.rules
    ]
    parser = ViterbiParser(PCFG(Nonterminal(grammar.start), productions), max_time=None)
    with Clock() as clock:
        tree = next(iter(parser.parse(labels)))
    return {"seconds": clock.cpu, "score": math.log(tree.prob())}


def ours(grammar: Grammar, labels: list[str]) -> dict[str, float]:
    """Seconds that each work takes, and the log score of the best tree."""
    scores = grammar.scores_of(labels)
    found = {}
    with Clock() as clock:
        found["score"] = grammar.parse(scores).score
    found["viterbi"] = clock.cpu
    with Clock() as clock:
        grammar.best(scores, 10)
    found["nbest"] = clock.cpu
    with Clock() as clock:
        grammar.marginals(scores)
    found["marginals"] = clock.cpu
    return found


def measure(repeats: int) -> dict[str, Any]:
    """Time everything; the median of runs over different documents."""
    grammar = read_grammar("thesis_code")
    grammar.parse(grammar.scores_of(draw(10, 0)))  # numpy and BLAS wake up
    rows = []
    for n_units in LENGTHS:
        runs = [ours(grammar, draw(n_units, seed)) for seed in range(repeats)]
        rows.append({"units": n_units, **{work: statistics.median(run[work] for run in runs) for work in WORKS}})
    pairs = []
    for seed in range(repeats):
        labels = draw(COMPARED, seed)
        theirs, own = peer(grammar, labels), ours(grammar, labels)
        difference = abs(theirs["score"] - own["score"])
        pairs.append({"peer": theirs["seconds"], "ours": own["viterbi"], "difference": difference})
    return {"rows": rows, "pairs": pairs}


def render(found: dict[str, Any], line: str) -> str:
    """The table. found (dict): of `measure`. line (str): what stands above it."""
    lines = [line, "", f"| units | {' | '.join(WORKS.values())} |", f"| ---: |{' ---: |' * len(WORKS)}"]
    for row in found["rows"]:
        lines.append(f"| {row['units']} | {' | '.join(f'{1000 * row[work]:,.0f} ms' for work in WORKS)} |")
    theirs, own = (statistics.median(pair[name] for pair in found["pairs"]) for name in ("peer", "ours"))
    ratio = statistics.median(pair["peer"] / pair["ours"] for pair in found["pairs"])
    most = max(pair["difference"] for pair in found["pairs"])
    times = f"nltk {theirs:.1f} s, ours {1000 * own:.0f} ms: {ratio:,.0f} times as fast"
    lines += ["", f"The best tree of {COMPARED} units: {times}; log scores differ by {most:.1g} at most."]
    return "\n".join(lines)


def main() -> None:
    """Measure, write the JSON, and put the table into the README."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON of the run")
    parser.add_argument("--repeats", type=int, default=3, help="documents of each length")
    options = parser.parse_args()
    machine = describe()
    found = measure(options.repeats)
    write_json(options.out, {"machine": machine, **found})
    line = (
        f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']} at the start; "
    )
    line += f"nltk {version('nltk')}; CPU time, median of {options.repeats} documents."
    show(render(found, line), "sections")


if __name__ == "__main__":
    main()

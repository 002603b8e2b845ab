"""Constraints on the references of Cora: what they bring beside Viterbi, and what decoding costs beside an ILP solver.

    python benchmarks/constraints.py --data DIR --out FILE.json [--folds 10] [--repeats 3]

`DIR` holds `cora/tagged_references.txt`. Each fold trains `configs/constrained_ner.cfg`: the CRF, and constraints that
are mined and priced within the training part. The same model decodes its test part by each method; in the first
repetition, which tests every reference once, by PuLP's CBC too, with the same constraints.
"""

import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from benchmarks.machine import describe
from benchmarks.measure import new_parser
from benchmarks.report import README, update
from benchmarks.runner import ROOT
from spacy_crf.core.constraints.lagrangian import RULES
from spacy_crf.corpora.block import ReferenceSettings
from spacy_crf.corpora.reader import Corpus
from spacy_crf.lab.statistics import resampled_t_test

NAME = "constrained_ner"
STEPS = 4  # of 30 iterations
METHODS = ("viterbi", "auto", "lagrangian", "automaton")
SOLVER = "ilp"
MOST = 1000  # iterations of Lagrangian relaxation
COMPARED = ("viterbi", "auto")
MEASURES = {"tok_acc": "accuracy", "macro_f": "macro F", "whole_doc_acc": "whole reference", "ents_f": "segment F"}


class Fold(NamedTuple):
    """data (str): file of references. repeat (int): seed of the folds. fold (int): held out. folds (int): how many."""

    data: str
    repeat: int
    fold: int
    folds: int


def read(data: str, nlp: Language) -> list[Example]:
    """All references, with their fields as entities."""
    return list(Corpus(data, format="references", references=ReferenceSettings(ents=True))(nlp))


def run_fold(fold: Fold) -> dict[str, Any]:
    """Train on all other folds and score one."""
    config = load_config(ROOT / "configs" / f"{NAME}.cfg")
    config["paths"] = {"train": fold.data, "dev": fold.data}
    config["initialize"]["components"] = {}
    nlp = init_nlp(config)
    pipe, examples = nlp.get_pipe(NAME), read(fold.data, nlp)
    parts = np.array_split(np.random.default_rng(fold.repeat).permutation(len(examples)), fold.folds)
    held_out = set(parts[fold.fold].tolist())
    train = [example for number, example in enumerate(examples) if number not in held_out]
    pipe.initialize(lambda: train, nlp=nlp)
    for _ in range(STEPS):
        pipe.update(train, sgd=nlp.create_optimizer())
    test = [example for number, example in enumerate(examples) if number in held_out]
    found: dict[str, Any] = {"repeat": fold.repeat, "fold": fold.fold, "tested": len(test)}
    found["constraints"] = len(pipe.constraints)
    found["families"] = sorted({constraint.kind for constraint in pipe.constraints})
    for method in (*METHODS, *([] if fold.repeat else [SOLVER])):
        scored = decode(nlp, test, method)
        infos = [example.predicted._.decode_info for example in scored]
        scores = pipe.score(scored)
        found[method] = {name: scores[name] for name in (*MEASURES, "certified", "violations")}
        for name in ("milliseconds", "objective", "method"):
            found[method][name] = [info[name] for info in infos]
    if not fold.repeat:
        found["steps"] = steps(nlp, test)
    return found


def decode(nlp: Language, test: list[Example], method: str) -> list[Example]:
    """Examples as a method decodes them, one by one."""
    pipe = nlp.get_pipe(NAME)
    pipe.cfg.update(decoder=method, solver="cbc" if method == SOLVER else None)
    return [Example(pipe(nlp.make_doc(example.reference.text)), example.reference) for example in test]


def steps(nlp: Language, test: list[Example]) -> dict[str, list[int | None]]:
    """Iterations of Lagrangian relaxation to a certificate by step rule, None without one, where Viterbi has none."""
    pipe, found = nlp.get_pipe(NAME), {}
    free = [not eg.predicted._.decode_info["certified"] for eg in decode(nlp, test, "viterbi")]
    hard = [example for example, own in zip(test, free) if own]
    for rule in RULES:
        pipe.cfg.update(step_rule=rule, max_iterations=MOST)
        infos = [example.predicted._.decode_info for example in decode(nlp, hard, "lagrangian")]
        found[rule] = [info["iterations"] if info["certified"] else None for info in infos]
    pipe.cfg.update(step_rule=RULES[0], max_iterations=None)
    return found


def render_steps(rows: list[dict[str, Any]]) -> list[str]:
    """Lines about the step rules of Lagrangian relaxation."""
    lines = ["| step rule | references | certified | iterations, median / p95 / most |", "| --- | ---: | ---: | ---: |"]
    for rule in RULES:
        every = [number for row in rows for number in row.get("steps", {}).get(rule, [])]
        own = [number for number in every if number is not None]
        if own:
            spread = " / ".join(f"{q:.0f}" for q in np.percentile(own, [50, 95, 100]))
            lines.append(f"| {rule} | {len(every)} | {len(own)} | {spread} |")
    return lines


def interval(differences: list[float], folds: int) -> tuple[float, float, float]:
    """Mean of paired differences over folds, which share training data, and its 95 % interval, corrected for that."""
    found = resampled_t_test(np.array(differences), 1 / (folds - 1))
    return found.mean, found.low, found.high


def render(rows: list[dict[str, Any]], line: str) -> str:
    """The table. rows (list[dict]): of `run_fold`. line (str): what stands above it."""
    lines = [
        line,
        "",
        "| | Viterbi | with constraints | difference (95 %, corrected for overlapping folds) |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, title in MEASURES.items():
        values = {method: [100 * row[method][name] for row in rows] for method in COMPARED}
        folds = 1 + max(row["fold"] for row in rows)
        mean, low, high = interval([a - b for a, b in zip(values["auto"], values["viterbi"])], folds)
        viterbi, constrained = (statistics.fmean(values[method]) for method in COMPARED)
        lines.append(f"| {title} | {viterbi:.2f} | {constrained:.2f} | {mean:+.2f} ({low:+.2f} to {high:+.2f}) |")
    return "\n".join([*lines, "", *render_methods(rows), "", *render_steps(rows)])


def render_methods(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of the table of all methods: what is certified, how long it takes, and whether objectives agree."""
    lines = [
        "| method | references | accuracy | whole | certified | ms p50 / p95 / sum | objective less than auto's by |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for method in (*METHODS, SOLVER):
        own = [row for row in rows if method in row]
        times = [ms for row in own for ms in row[method]["milliseconds"]]
        middle, high = np.percentile(times, [50, 95])
        means = [
            statistics.fmean(row[method][name] for row in own) for name in ("tok_acc", "whole_doc_acc", "certified")
        ]
        differences = [np.subtract(row["auto"]["objective"], row[method]["objective"]) for row in own]
        cells = [method, f"{len(times):,}", *(f"{100 * mean:.2f}" for mean in means)]
        cells += [f"{middle:.2f} / {high:.1f} / {sum(times):,.0f}", f"{np.abs(np.concatenate(differences)).max():.1g}"]
        lines.append(f"| {' | '.join(cells)} |")
    solved = [row for row in rows if SOLVER in row]
    asked = np.concatenate([np.array(row[SOLVER]["method"]) == SOLVER for row in solved])
    theirs, ours = (np.concatenate([row[method]["milliseconds"] for row in solved]) for method in (SOLVER, "auto"))
    ratio = theirs[asked].sum() / ours[asked].sum()
    text = f"On the {asked.sum()} references where Viterbi breaks a constraint, PuLP with CBC takes {ratio:,.0f} times"
    return [*lines, "", f"{text} as long as auto; on the others both answer with Viterbi."]


def main() -> None:
    """Run all folds, write the JSON, and put the table into the README."""
    parser = new_parser(__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="folds at the same time")
    options = parser.parse_args()
    machine = describe()
    data = str(options.data / "cora" / "tagged_references.txt")
    numbers = [(repeat, fold) for repeat in range(options.repeats) for fold in range(options.folds)]
    folds = [Fold(data, repeat, fold, options.folds) for repeat, fold in numbers]
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for row in pool.map(run_fold, folds):
            rows.append(row)
            print(json.dumps(row), flush=True)
    options.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf8")
    constraints = statistics.fmean(row["constraints"] for row in rows)
    families = sorted({family for row in rows for family in row["families"]})
    line = f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']}; "
    line += (
        f"{options.repeats} times {options.folds} folds, {constraints:.0f} constraints each ({', '.join(families)})."
    )
    table = render(rows, line)
    print(table)
    update(README, table, "constraints")


if __name__ == "__main__":
    main()

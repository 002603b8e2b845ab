"""Probabilities of marks on TED talks: how far they can be believed, and what thresholds make of them.

    python benchmarks/punctuation_calibration.py --data DIR --out FILE.json --model DIR [--marginals FILE.npz]

`DIR` holds `iwslt_punct`; the model is one that `punctuation.py full` has saved. Everything is fitted to one half of
`dev2012` and measured on the other one, both ways: figures are means over the two halves, tables are of all words.
Compared are one temperature of the chain (the best of some, by log loss), maps of each mark's own probability that are
made to sum to 1 again (beta calibration, Kull et al. 2017; isotonic regression, Zadrozny & Elkan 2002), and the
Dirichlet map that `crf calibrate` fits. Decisions are the best labelling, thresholds chosen by gold of the other half,
and the threshold with the best F by the probabilities of the words themselves, without any gold. `FILE.npz` keeps the
probabilities, which take minutes to compute.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import spacy

from benchmarks.machine import describe
from benchmarks.measure import new_parser
from benchmarks.punctuation import FOLDER, NAME, add_tags, one_text, read
from spacy_crf.core.arrays import Doubles, Floats, Ints
from spacy_crf.core.calibration import LEAST, Reliability, fit_dirichlet, reliability
from spacy_crf.punctuation.block import NONE
from spacy_crf.punctuation.calibration import Marked, best_thresholds
from spacy_crf.punctuation.labels import LabelTable, Thresholds, choose

TEMPERATURES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
TRIED = np.arange(0.1, 0.7, 0.01).round(2).tolist()  # thresholds
TENTHS = [tenth / 10 for tenth in range(1, 10)]
SURE = 0.1  # errors of single marks are those of words where they are so probable: elsewhere nothing can be wrong
Map = Callable[[Floats], Floats]
Halves = tuple[slice, slice]


class Dev:
    """The words of dev2012: probabilities of marks at each temperature, gold, and the best labelling."""

    def __init__(self, arrays: dict[str, Any]):
        self.marks: tuple[str, ...] = tuple(map(str, arrays["marks"]))
        self.gold: Ints = arrays["gold"]
        self.best: Ints = arrays["best"]
        self.by_temperature: dict[float, Floats] = {heat: arrays[f"at {heat}"] for heat in TEMPERATURES}
        self.table = LabelTable(self.marks)
        half = len(self.gold) // 2
        first, second = slice(half), slice(half, len(self.gold))
        self.halves: list[Halves] = [(second, first), (first, second)]

    def words(self, probabilities: Floats, part: slice = slice(None)) -> Marked:
        """Words with probabilities that are theirs."""
        return Marked(self.marks, probabilities, self.gold[part])


def compute(data: Path, model: Path) -> dict[str, Any]:
    """The arrays of `Dev`."""
    tagger, nlp = spacy.load(model / "tagger"), spacy.load(model / "restorer")
    examples = read(data / FOLDER / "dev2012.tsv.gz", nlp)
    add_tags(tagger, examples)
    pipe = nlp.get_pipe(NAME)
    doc, gold = one_text(examples, pipe)
    table, bare = pipe.label_table, pipe.bare(doc)
    arrays: dict[str, Any] = {"marks": np.array(table.marks)}
    arrays["gold"] = np.array([table.marks.index(mark) for mark in gold], dtype=np.int32)
    arrays["best"] = table.mark_of[pipe.predict([bare])[0].prediction.tags].astype(np.int32)
    for heat in TEMPERATURES:
        pipe.cfg["temperature"] = heat
        arrays[f"at {heat}"] = pipe.uncalibrated([bare])
    return arrays


# -- calibration -----------------------------------------------------------------------------------------------


def log_loss(probabilities: Floats, gold: Ints) -> float:
    """Mean negative log-probability of gold, in nats."""
    return -float(np.log(np.maximum(probabilities[np.arange(len(gold)), gold], 1e-12)).mean())


def by_mark(fit: Callable[[Doubles, Doubles], Map], probabilities: Floats, gold: Ints) -> Map:
    """Each mark's own map, made to sum to 1."""
    maps = [
        fit(column.astype(np.float64), (gold == mark).astype(np.float64)) for mark, column in enumerate(probabilities.T)
    ]

    def apply(rows: Floats) -> Floats:
        mapped = np.column_stack([own(column) for own, column in zip(maps, rows.T)])
        return mapped / mapped.sum(axis=1, keepdims=True)

    return apply


def beta(column: Doubles, there: Doubles) -> Map:
    """Beta calibration, which is the Dirichlet map of a mark and its absence."""
    fitted = fit_dirichlet(np.column_stack([1 - column, column]), there.astype(np.int32))
    return lambda values: fitted(np.column_stack([1 - values, values]))[:, 1]


def isotonic(column: Doubles, there: Doubles) -> Map:
    """The best function that never falls."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(column, kind="stable")
    rising = np.maximum(isotonic_regression(there[order]).x, LEAST)
    return lambda values: np.interp(values, column[order], rising)


def methods(dev: Dev) -> dict[str, list[Floats]]:
    """Probabilities of the two halves, by method, each fitted to the other half."""
    plain = dev.by_temperature[1.0]
    found: dict[str, list[Floats]] = {"none": [plain[measured] for _, measured in dev.halves]}
    heats = [
        min(TEMPERATURES, key=lambda heat: log_loss(dev.by_temperature[heat][fitted], dev.gold[fitted]))
        for fitted, _ in dev.halves
    ]
    found["one temperature"] = [dev.by_temperature[heat][part] for heat, (_, part) in zip(heats, dev.halves)]
    for name, fit in (("beta by mark", beta), ("isotonic by mark", isotonic)):
        found[name] = [by_mark(fit, plain[part], dev.gold[part])(plain[other]) for part, other in dev.halves]
    found["Dirichlet"] = [fit_dirichlet(plain[part], dev.gold[part])(plain[other]) for part, other in dev.halves]
    return found


def losses(dev: Dev, probabilities: Floats, part: slice) -> dict[str, Any]:
    """What is wrong with the probabilities of a half."""
    gold, words = dev.gold[part], dev.words(probabilities, part)
    errors = probabilities.astype(np.float64)
    errors[np.arange(len(gold)), gold] -= 1
    sure = {}
    for mark in words.told:
        column, there = words.at(mark)
        sure[mark] = reliability(column[column >= SURE], there[column >= SURE]).error
    right = probabilities.argmax(axis=1) == gold
    return {
        "log_loss": log_loss(probabilities, gold),
        "brier": float((errors**2).sum(axis=1).mean()),
        "error": reliability(probabilities.max(axis=1), right).error,
        "classwise_error": words.error,
        **{f"error_{mark}": error for mark, error in sure.items()},
    }


def tenths(table: Reliability) -> list[dict[str, float]]:
    """Rows of a reliability table."""
    columns = (table.counts.tolist(), table.confidences.tolist(), table.accuracies.tolist())
    return [{"words": n, "expected": mean, "found": right} for n, mean, right in zip(*columns)]


def thresholds(words: Marked) -> list[dict[str, Any]]:
    """Precision and recall by mark and threshold: expected and found."""
    rows = []
    for mark in words.told:
        for threshold in TENTHS:
            expected, found = words.scores(mark, threshold)
            row = {"mark": mark, "threshold": threshold, "expected": expected._asdict(), "found": found._asdict()}
            rows.append(row)
    return rows


# -- decisions -------------------------------------------------------------------------------------------------


def scores(chosen: Any, gold: Ints, none: int) -> dict[str, float]:
    """Micro-averaged precision, recall and F of the marks."""
    right, n_set, n_gold = (((chosen == gold) & (gold != none)).sum(), (chosen != none).sum(), (gold != none).sum())
    return {"p": float(right / n_set), "r": float(right / n_gold), "f": float(2 * right / (n_set + n_gold))}


def tune(words: Marked, table: LabelTable, none: int) -> dict[str, Thresholds]:
    """Thresholds with the best F by gold: one on there being some mark, and one for each mark, in turns."""

    def f_of(tried: Thresholds) -> float:
        return scores(choose(words.probabilities, table, tried), words.labels, none)["f"]

    one = max(map(Thresholds, TRIED), key=f_of)
    same = max((Thresholds(0.0, dict.fromkeys(words.told, value)) for value in TRIED), key=f_of)
    own = same
    for mark in words.told:
        own = max((Thresholds(0.0, {**own.own, mark: value}) for value in TRIED), key=f_of)
    return {"one threshold": one, "thresholds by mark": own}


def decisions(dev: Dev, found: dict[str, list[Floats]]) -> dict[str, list[dict[str, Any]]]:
    """Scores of each way to decide, on both halves."""
    none, rows = dev.marks.index(NONE), dict[str, list[dict[str, Any]]]()
    for number, (fitted_to, measured) in enumerate(dev.halves):
        gold, plain = dev.gold[measured], dev.by_temperature[1.0]
        rows.setdefault("best labelling", []).append(scores(dev.best[measured], gold, none))
        calibrated = fit_dirichlet(plain[fitted_to], dev.gold[fitted_to])
        for kind, known, seen in (
            ("", plain[fitted_to], plain[measured]),
            (", calibrated", calibrated(plain[fitted_to]), found["Dirichlet"][number]),
        ):
            chosen = tune(dev.words(known, fitted_to), dev.table, none)
            chosen["expected F, no gold"] = Thresholds(0.0, best_thresholds(dev.words(seen, measured)))
            for name, values in chosen.items():
                row = scores(choose(seen, dev.table, values), gold, none)
                told = {"threshold": values.any, "thresholds": dict(values.own)}
                rows.setdefault(name + kind, []).append({**row, **told})
    return rows


def run(dev: Dev) -> dict[str, Any]:
    """All tables."""
    found = methods(dev)
    measured = {}
    for name, halves in found.items():
        both = [losses(dev, rows, part) for rows, (_, part) in zip(halves, dev.halves)]
        measured[name] = {key: float(np.mean([one[key] for one in both])) for key in both[0]}
    whole = {name: dev.words(np.concatenate(found[name])) for name in ("none", "one temperature", "Dirichlet")}
    return {
        "words": len(dev.gold),
        "losses": measured,
        "reliability": {
            name: {mark: tenths(words.reliability(mark, 10)) for mark in words.told} for name, words in whole.items()
        },
        "thresholds": {name: thresholds(words) for name, words in whole.items() if name != "one temperature"},
        "decisions": decisions(dev, found),
    }


def main() -> None:
    """Compute or read the probabilities, and write the tables."""
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of the trained pipeline")
    parser.add_argument("--marginals", type=Path, help="file that keeps the probabilities")
    options = parser.parse_args()
    if options.marginals is not None and options.marginals.exists():
        arrays = dict(np.load(options.marginals))
    else:
        arrays = compute(options.data, options.model)
        if options.marginals is not None:
            np.savez(options.marginals, **arrays)
    result = {"machine": describe(), **run(Dev(arrays))}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")
    print(json.dumps({name: result[name] for name in ("losses", "decisions")}, indent=1))


if __name__ == "__main__":
    main()

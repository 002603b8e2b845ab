"""Whether conformal risk control keeps its level on Middle Low German (ReN), and what choosing sets costs.

    python benchmarks/promises.py MODEL --data DIR --out FILE.json

`MODEL` is a pipeline with a set_valued_tagger trained on the train documents, such as `benchmarks/tagsets.py --keep`
leaves. Dev and test are pooled and halved at random, many times: segments, which makes them exchangeable, and whole
documents, which does not make the segments of both halves exchangeable. One half calibrates, the other one is measured.
"""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import spacy
from spacy.language import Language

from benchmarks.machine import describe
from benchmarks.measure import new_parser
from benchmarks.report import README, update
from benchmarks.tagsets import NAME, files
from spacy_crf.core.arrays import Indices
from spacy_crf.core.sets.risk import LossSteps, loss_steps
from spacy_crf.corpora.reader import Corpus
from spacy_crf.pipe.decoding import Decoder, MarginalsOutput
from spacy_crf.tagsets.guarantee import HeldOutTokens, held_out_tokens

HALVES = 1000
LEVELS = (0.02, 0.05, 0.1)
RUNS = 5


def halves_of(groups: Indices, seed: int) -> tuple[Indices, Indices]:
    """Units of each of two random halves of their groups. groups ((n,)): of each unit, numbered from 0."""
    drawn = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    first = np.isin(groups, drawn[: len(drawn) // 2])
    return np.flatnonzero(first), np.flatnonzero(~first)


def risks(steps: LossSteps, groups: Indices, level: float) -> dict[str, float]:
    """Mean loss of the measured halves, and how often it was above the level.

    steps (LossSteps): of the units. groups ((n,)): what is drawn: the units themselves, or their documents.
    """
    found = []
    for seed in range(HALVES):
        first, second = halves_of(groups, seed)
        mass = steps.take(first).smallest_mass(level)
        found.append(float(steps.take(second).at(mass).mean()))
    above = [risk > level for risk in found]
    return {"risk": statistics.fmean(found), "deviation": statistics.stdev(found), "above": statistics.fmean(above)}


def measure_promises(tokens: HeldOutTokens) -> list[dict[str, Any]]:
    """A row for each level and way of halving."""
    with_gold = tokens.weights.any(axis=1)
    steps = loss_steps(tokens.marginals, tokens.weights, tokens.sentences)
    segments, firsts = np.unique(tokens.sentences[with_gold], return_index=True)
    documents = np.unique(tokens.documents[with_gold][firsts], return_inverse=True)[1]
    groups = {"segments": np.arange(len(segments)), "documents": documents}
    return [
        {"level": level, "halves of": name, "groups": int(group.max()) + 1, **risks(steps, group, level)}
        for level in LEVELS
        for name, group in groups.items()
    ]


def measure_cost(nlp: Language, paths: list[str]) -> dict[str, float]:
    """Seconds of probabilities alone, and with sets, medians of runs in turn."""
    tagger = nlp.get_pipe(NAME)
    docs = [example.predicted for example in Corpus(paths, format="tagsets")(nlp)]
    with_sets = tagger.decoder()
    alone = Decoder(with_sets.target, (MarginalsOutput(tagger.tag_probs, tagger.tags.tags),), with_sets.posterior)
    kinds = {"marginals": alone, "sets": with_sets}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(RUNS + 1):  # the first one fills caches
        for kind, decoder in kinds.items():
            started = time.perf_counter()
            tagger.decode(docs, decoder)
            seconds[kind].append(time.perf_counter() - started)
    return {kind: statistics.median(values[1:]) for kind, values in seconds.items()}


def render(found: dict[str, Any]) -> str:
    """The table, and a line about costs."""
    heads = ("level", "halves of", "groups", "mean risk", "deviation", "halves above the level")
    lines = [f"| {' | '.join(heads)} |", f"| ---: | --- |{' ---: |' * (len(heads) - 2)}"]
    for row in found["promises"]:
        shares = [f"{100 * row[name]:.2f} %" for name in ("risk", "deviation", "above")]
        lines.append(f"| {100 * row['level']:g} % | {row['halves of']} | {row['groups']:,} | {' | '.join(shares)} |")
    cost = found["cost"]
    more = 100 * (cost["sets"] / cost["marginals"] - 1)
    lines += ["", f"Sets of dev take {more:.1f} % more than probabilities alone ({cost['marginals']:.2f} s)."]
    return "\n".join(lines)


def main() -> None:
    """Measure, write the JSON, and put the table into the README."""
    parser = new_parser(__doc__)
    parser.add_argument("model", help="folder of the pipeline")
    options = parser.parse_args()
    nlp = spacy.load(options.model)
    machine = describe()
    examples = [
        eg for split in ("dev", "test") for eg in Corpus(files(options.data, "pos", split), format="tagsets")(nlp)
    ]
    found = {
        "machine": machine,
        "promises": measure_promises(held_out_tokens(nlp.get_pipe(NAME), examples)),
        "cost": measure_cost(nlp, files(options.data, "pos", "dev")),
    }
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")
    table = render(found)
    print(table)
    update(README, table, "promises")


if __name__ == "__main__":
    main()

"""Taggers of other kinds beside the CRF on Middle Low German (ReN `pos`), each as a source of tag sets.

    python benchmarks/taggers.py --data DIR --out FILE.json

`DIR` is laid out as for `benchmarks/tagsets.py`, whose JSON has the row of the CRF. Each row is a whole `spacy train`
of the tagger and a `set_valued_tagger` on top of it, with the data, the templates and the utility of the project's
config. Figures are those of dev; the settings of the rows were chosen on it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spacy.util import load_config

from benchmarks.machine import describe
from benchmarks.measure import new_parser
from benchmarks.report import README, update
from benchmarks.runner import ROOT
from benchmarks.tagsets import CONFIG, NAME, PLAIN_NAME, files, measure

CRF = ROOT / "benchmarks" / "tagsets.json"
HISTORICAL = {"@misc": "spacy_crf.Features.v1", "templates": ["@historical"]}
HMM = {"factory": "hmm_tagger", "decode": "posterior", "theta": 1.0}
TAGGERS: dict[str, dict[str, Any]] = {
    "relative frequencies": {"factory": "frequency_tagger", "theta": 1.0},
    "HMM of order 2": HMM,
    "HMM of order 3": {**HMM, "order": 3, "min_count": 5},
    "MEMM": {"factory": "memm_tagger", "decode": "posterior", "c2": 0.5, "features": HISTORICAL},
}


def train(data: Path, tagger: dict[str, Any], folder: Path) -> dict[str, float]:
    """Run `spacy train` for a tagger with sets on top of it.

    data (Path): folder of the corpora. tagger (dict): its factory and settings. folder (Path): for the pipeline.
    RETURNS (dict): wall seconds of the command, and CPU seconds, which tell more where others keep the machine busy.
    """
    config = load_config(CONFIG)
    config["nlp"]["pipeline"] = ["tagger", NAME]
    config["components"] = {"tagger": tagger, NAME: {"factory": NAME, "source": "tagger"}}
    config["initialize"]["components"] = {}
    config["training"]["max_steps"] = 1  # all examples come in one batch, and there is nothing to learn twice
    config.to_disk(folder / "config.cfg")
    command = [sys.executable, "-m", "spacy", "train", str(folder / "config.cfg"), "--output", str(folder)]
    for split in ("train", "dev"):
        command += [f"--paths.{split}", json.dumps(files(data, "pos", split))]
    started, before = time.perf_counter(), _child_seconds()
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - started, "cpu_seconds": _child_seconds() - before}


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def reference() -> dict[str, Any]:
    """The row of the CRF, as `benchmarks/tagsets.py` has measured it."""
    rows = json.loads(CRF.read_text(encoding="utf8"))["rows"]
    (row,) = [row for row in rows if (row["kind"], row["name"], row["split"]) == ("pos", PLAIN_NAME, "dev")]
    return {"tagger": "CRF (`set_valued_tagger`)", **row}


def render(rows: list[dict[str, Any]], line: str) -> str:
    """The table.

    rows (list[dict]): one for each tagger. line (str): what stands above it.
    RETURNS (str): Markdown.
    """
    heads = ("tagger", "ml-acc", "of unknown words", "ml-util", "size", "coverage", "training", "of CPU", "tokens/s")
    lines = [line, "", f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for row in rows:
        shares = [f"{100 * row[name]:.2f}" for name in ("ml_acc", "ml_acc_unknown", "ml_util")]
        cells = (row["tagger"], *shares, f"{row['size']:.2f}", f"{100 * row['coverage']:.2f}")
        cpu = f"{row['cpu_seconds']:.0f} s" if "cpu_seconds" in row else ""
        speed = (f"{row['seconds']:.0f} s", cpu, f"{row['tokens_per_second']:,.0f}")
        lines.append(f"| {' | '.join((*cells, *speed))} |")
    return "\n".join(lines)


def main() -> None:
    """Train and score every tagger, write the JSON, and put the table into the README."""
    options = new_parser(__doc__).parse_args()
    data, rows, machine = options.data, [], describe()
    for name, tagger in TAGGERS.items():
        with tempfile.TemporaryDirectory() as folder:
            cost = train(data, tagger, Path(folder))
            rows.append({"tagger": name, **cost, **measure(Path(folder), data, "pos", "dev")})
            print(json.dumps(rows[-1]), flush=True)
    options.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf8")
    line = (
        f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']} at the start."
    )
    table = render([*rows, reference()], line)
    print(table)
    update(README, table, "taggers")


if __name__ == "__main__":
    main()

"""Tag sets on Middle Low German (ReN): what `configs/set_valued_tagger.cfg` reaches, and what several gold tags teach.

    python benchmarks/tagsets.py --data DIR --out FILE.json [--test]

`DIR` holds `ren_mlg/documents.tsv` (a table with the columns `file` and `split`) and
`ren_mlg/{pos,poscase}/FILE.tsv`. Each row is a whole `spacy train` with the project's config, changed by the settings
of its variant. Figures are those of dev; with --test one row is scored on test too.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import spacy
from spacy.training import Example
from spacy.util import load_config
from spacy.vocab import Vocab

from benchmarks.data import ren_files
from benchmarks.machine import describe
from benchmarks.measure import new_parser
from benchmarks.report import README, update
from benchmarks.runner import ROOT
from spacy_crf.corpora.reader import Corpus
from spacy_crf.tagsets.report import report_sets

NAME = "set_valued_tagger"
LEARN_FROM = ("soft", "marginal", "best", "augmented")
CONFIG = ROOT / "configs" / f"{NAME}.cfg"
STEPS = 11  # of 10 iterations
TRIGRAM_STEPS = 5
PLAIN_NAME = "words and affixes"
# chosen on dev
PLAIN = {
    "features.templates": ["@historical"],
    "features.spelling": None,
    "dictionary": None,
    "trainer.c2": 0.5,
}
RULES = {
    "features.templates": ["@free_spelling"],
    "features.spelling.rules": "middle_low_german",
    "features.min_count": 2,
    "dictionary": None,
    "trainer.c2": 1.0,
}
NORMAL_FORMS = {
    **RULES,
    "features.templates": ["@free_spelling", "NORMAL", "VALID_TAGS[-1..1]"],
    "features.spelling.table": "fit",
    "features.spelling.lengths": [6],
}
DICTIONARY = {"@misc": "spacy_crf.TagDictionary.v1", "leave_out": "document", "look_up": "normal"}
WITH_DICTIONARY = {**NORMAL_FORMS, "dictionary": DICTIONARY}
SECOND_ORDER = {
    **WITH_DICTIONARY,
    "model.order": 2,
    "model.candidates": 0.0003,
    "model.max_candidates": 12,
    "trainer.c2": 1.5,
    "trainer.first_order_steps": STEPS,
}


class Variant(NamedTuple):
    """One row of the table.

    kind (str): "pos" or "poscase". name (str): what is special. settings (dict): of the component.
    is_tested (bool): whether --test scores it on test.
    """

    kind: str
    name: str
    settings: dict[str, Any]
    is_tested: bool = False

    @property
    def steps(self) -> int:
        """Training steps."""
        return STEPS + (TRIGRAM_STEPS if "model.order" in self.settings else 0)


VARIANTS = (
    Variant("pos", PLAIN_NAME, PLAIN),
    Variant("pos", "rewritten words too", RULES),
    Variant("pos", "tag dictionary too", WITH_DICTIONARY),
    Variant("pos", "second order too", SECOND_ORDER, is_tested=True),
    *(Variant("poscase", learn_from, {**PLAIN, "learn_from": learn_from}) for learn_from in LEARN_FROM),
)


def train(data: Path, variant: Variant, folder: Path) -> float:
    """Run `spacy train`.

    RETURNS (float): wall seconds of the command.
    """
    config = load_config(CONFIG)
    for setting, value in variant.settings.items():
        *blocks, last = setting.split(".")
        block = config["components"][NAME]
        for name in blocks:
            block = block[name]
        block[last] = value
    config["paths"] = {split: list(map(str, ren_files(data, variant.kind, split))) for split in ("train", "dev")}
    config["training"].update(max_steps=variant.steps, patience=0)
    config.to_disk(folder / "config.cfg")
    command = [sys.executable, "-m", "spacy", "train", str(folder / "config.cfg"), "--output", str(folder)]
    started = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def files(data: Path, kind: str, split: str) -> list[str]:
    """Paths of a split, as a corpus takes them."""
    return list(map(str, ren_files(data, kind, split)))


def measure(folder: Path, data: Path, kind: str, split: str) -> dict[str, Any]:
    """Scores of a trained pipeline on a split, and its speed.

    RETURNS (dict): the fields of `SetReport`, and tokens per second of a second pass of `nlp.pipe`.
    """
    nlp = spacy.load(folder / "model-best")
    words = {
        token.text for doc in Corpus(files(data, kind, "train"), format="tagsets").read_docs(Vocab()) for token in doc
    }
    for _ in range(2):
        examples = list(Corpus(files(data, kind, split), format="tagsets")(nlp))
        started = time.perf_counter()
        done = list(nlp.pipe(example.predicted for example in examples))
        seconds = time.perf_counter() - started
    found = report_sets(
        nlp.get_pipe(NAME), [Example(doc, eg.reference) for doc, eg in zip(done, examples, strict=True)], words
    )
    numbers = {name: value for name, value in asdict(found).items() if name != "by_size"}
    return {**numbers, "tokens_per_second": sum(map(len, done)) / seconds}


def render(rows: list[dict[str, Any]], machine: str) -> str:
    """The table.

    rows (list[dict]): one for each variant and split.
    RETURNS (str): Markdown.
    """
    heads = ("gold, model", "split", "K", "unknown", "ml-acc", "of unknown words", "ml-util", "size", "coverage")
    heads += ("one tag", "ml-acc of these", "training", "tokens/s")
    lines = [machine, "", f"| {' | '.join(heads)} |", f"|{' --- |' * 2}{' ---: |' * (len(heads) - 2)}"]
    for row in rows:
        percent = {name: f"{100 * value:.2f}" for name, value in row.items() if isinstance(value, float)}
        cells = (
            f"{row['kind']}, {row['name']}",
            row["split"],
            row["labels"],
            f"{100 * row['unknown_words']:.1f} %",
            *(percent[name] for name in ("ml_acc", "ml_acc_unknown", "ml_util")),
            f"{row['size']:.2f}",
            *(percent[name] for name in ("coverage", "singletons", "singletons_right")),
            f"{row['seconds']:.0f} s",
            f"{row['tokens_per_second']:,.0f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    """Train and score every variant, write the JSON, and put the table into the README."""
    parser = new_parser(__doc__)
    parser.add_argument("--test", action="store_true", help="score the last pos variant on test, once")
    parser.add_argument("--keep", type=Path, help="folder for the pipeline that --test scores")
    options = parser.parse_args()
    rows, machine = [], describe()
    for variant in VARIANTS:
        with tempfile.TemporaryDirectory() as folder:
            seconds = train(options.data, variant, Path(folder))
            for split in ("dev", "test") if options.test and variant.is_tested else ("dev",):
                found = measure(Path(folder), options.data, variant.kind, split)
                rows.append({"kind": variant.kind, "name": variant.name, "split": split, "seconds": seconds, **found})
                print(json.dumps(rows[-1]), flush=True)
            if options.keep and variant.is_tested:
                shutil.copytree(Path(folder) / "model-best", options.keep, dirs_exist_ok=True)
    options.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf8")
    table = render(
        rows, f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']}."
    )
    print(table)
    update(README, table, "tagsets")


if __name__ == "__main__":
    main()

"""Punctuation of TED talks from vectors, and from features and vectors together, on the IWSLT 2011 reference test.

    python benchmarks/punctuation_network.py --data DIR --out FILE.json train --model DIR [--seed 0]
    python benchmarks/punctuation_network.py --data DIR --out FILE.json pool --model DIR
    python benchmarks/punctuation_network.py --data DIR --out FILE.json test --model DIR [--exponents 0.3 0.7]

The model's folder holds what `punctuation.py full` has saved there for the same seed: `tagger`, and the chain over
features, `restorer`. `train` puts `network` beside them: the config `punctuation_restorer_tok2vec.cfg`, whose vectors
see the tags too, trained on all of `ted_train` in windows of 200 words. `pool` tries exponents for the two chains as
one, on `dev2012`. `test` scores `test2011` with the features, the network and the pool, to be run once for each seed.
Probabilities are calibrated on `dev2012`, as `crf calibrate --best-f` does it, which gives the threshold as well.
The encoder is PyTorch's; it runs on one thread. Rows are added to the file.
"""

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed, load_config, load_model_from_config, registry
from thinc.api import Optimizer

from benchmarks.measure import Clock, new_parser, peak_mebibytes
from benchmarks.punctuation import FOLDER, NAME, WINDOW, add_tags, one_text, read
from benchmarks.results import append_rows
from benchmarks.runner import ROOT
from spacy_crf.pipe.pool import pool
from spacy_crf.punctuation.calibration import best_thresholds, calibrate_marks
from spacy_crf.punctuation.component import PunctuationRestorer
from spacy_crf.punctuation.labels import Thresholds, choose
from spacy_crf.punctuation.scorer import mark_scores

EPOCHS, BATCH, TAG_ROWS = 4, 10, 200
EXPONENTS = ((0.4, 0.6), (0.3, 0.7), (0.2, 0.8))
CHAINS = ("restorer", "network")


def read_tagged(path: Path, model: Path, nlp: Language, window: int = 0) -> list[Example]:
    """A text with the tags of the saved tagger."""
    examples = read(path, nlp, 0, window)
    add_tags(spacy.load(model / "tagger"), examples)
    return examples


def build(vocab: Any) -> tuple[Language, Optimizer]:
    """The config's pipeline, whose vectors see tags, and its optimizer."""
    config = load_config(ROOT / "configs" / f"{NAME}_tok2vec.cfg")
    embed = config["components"][NAME]["model"]["tok2vec"]["embed"]
    embed["attrs"], embed["rows"] = [*embed["attrs"], "TAG"], [*embed["rows"], TAG_ROWS]
    nlp = load_model_from_config(config, auto_fill=True, vocab=vocab)
    return nlp, registry.resolve({"optimizer": nlp.config["training"]["optimizer"]})["optimizer"]


def train(data: Path, model: Path, seed: int) -> dict[str, Any]:
    """Train the network and save it; what it took."""
    import torch

    torch.set_num_threads(1)
    fix_random_seed(seed)
    blank = Language()
    examples = read_tagged(data / FOLDER / "ted_train.tsv.gz", model, blank, WINDOW)
    nlp, optimizer = build(blank.vocab)
    drop = nlp.config["training"]["dropout"]
    pipe = nlp.get_pipe(NAME)
    pipe.initialize(lambda: examples, nlp=nlp)
    rng, seconds = random.Random(seed), []
    for _ in range(EPOCHS):
        rng.shuffle(examples)
        with Clock() as clock:
            for low in range(0, len(examples), BATCH):
                pipe.update(examples[low : low + BATCH], drop=drop, sgd=optimizer)
                optimizer.step_schedules()
        seconds.append(clock.wall)
    nlp.to_disk(model / "network")
    return {"name": "network", "seed": seed, "seconds_epochs": seconds, "peak_mebibytes": peak_mebibytes()}


def load(model: Path, name: str, exponents: tuple[float, float]) -> PunctuationRestorer:
    """A chain, or both as one."""
    if name != "pool":
        return spacy.load(model / name).get_pipe(NAME)  # type: ignore[return-value]
    pooled = pool([spacy.load(model / chain) for chain in CHAINS], [NAME] * 2, exponents)
    return pooled.get_pipe(NAME)  # type: ignore[return-value]


def calibrate(pipe: PunctuationRestorer, examples: list[Example]) -> float:
    """Set calibration and thresholds as `crf calibrate --best-f` does; the threshold of all marks."""
    fitted = calibrate_marks(pipe, examples)
    pipe.calibration = fitted.calibration
    pipe.cfg["thresholds"] = best_thresholds(fitted.after)
    return max(pipe.cfg["thresholds"].values())


def scores(pipe: PunctuationRestorer, examples: list[Example]) -> dict[str, dict[str, Any]]:
    """Measures of the best labelling and of the thresholds."""
    doc, gold = one_text(examples, pipe)
    table = pipe.label_table
    (marginals,) = pipe.token_probabilities([doc])
    decided = {
        "best labelling": pipe.predict([doc])[0].prediction.tags,
        "thresholds": choose(marginals, table, Thresholds(own=pipe.cfg["thresholds"])),
    }
    return {
        name: mark_scores(Counter(zip(gold, (table.parsed[tag].mark for tag in tags.tolist()))), pipe.label_scheme)
        for name, tags in decided.items()
    }


def run(data: Path, model: Path, name: str, exponents: tuple[float, float], file: str) -> dict[str, Any]:
    """Calibrate on dev2012, and score a file."""
    pipe = load(model, name, exponents)
    nlp = Language(pipe.vocab)
    dev = read_tagged(data / FOLDER / "dev2012.tsv.gz", model, nlp)
    row: dict[str, Any] = {"name": name, "model": model.name, "file": file, "threshold": calibrate(pipe, dev)}
    if name == "pool":
        row["exponents"] = exponents
    examples = dev if file.startswith("dev") else read_tagged(data / FOLDER / file, model, nlp)
    return row | scores(pipe, examples)


def main() -> None:
    """Run what was asked for, and add the rows to the file."""
    parser = new_parser(__doc__)
    parser.add_argument("what", choices=["train", "pool", "test"])
    parser.add_argument("--model", type=Path, required=True, help="folder of the trained pipelines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exponents", type=float, nargs=2, default=(0.3, 0.7), help="of features and network")
    parser.add_argument("--chains", nargs="+", choices=(*CHAINS, "pool"), default=[*CHAINS, "pool"], help="to test")
    options = parser.parse_args()
    if options.what == "train":
        rows = iter([train(options.data, options.model, options.seed)])
    elif options.what == "pool":
        rows = (run(options.data, options.model, "pool", pair, "dev2012.tsv.gz") for pair in EXPONENTS)
    else:
        names = options.chains
        rows = (run(options.data, options.model, name, tuple(options.exponents), "test2011.tsv") for name in names)
    append_rows(options.out, rows)


if __name__ == "__main__":
    main()

"""Case and punctuation of UD English EWT: in one chain, one after the other, and by rules.

    python benchmarks/punctuation_case.py --data DIR --out FILE.json [--words 60000] [--parts dev]

`DIR` holds `ud_english_ewt`. The texts are its `# text` lines, joined to documents by `# newdoc`, and read as plain
text by `spacy_crf.PunctuationCorpus.v1`. The component of `configs/punctuation_restorer.cfg` is trained on the train
part, in windows of 200 words, and its settings are left as they are. Beside the joint chain stand all words in lower
case; the most frequent case of each word in training, with a capital where a sentence begins; and a chain of marks
alone, with a second one that cases the words given the marks, which it has learned from gold marks.
"""

import gzip
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import spacy
from spacy.language import Language
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from spacy.vocab import Vocab

from benchmarks.data import EWT
from benchmarks.machine import describe
from benchmarks.measure import Clock, new_parser
from benchmarks.runner import ROOT
from spacy_crf.punctuation.block import NONE, LabelScheme
from spacy_crf.punctuation.docs import MARKS, bare_form, read_punctuation, register_punctuation, write_gold
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.punctuation.scorer import mark_scores
from spacy_crf.punctuation.words import CASES, case_of

NAME = "punctuation_restorer"
WINDOW, BATCH, EPOCHS, SEED = 200, 20, 3, 0
CASE_TEMPLATES = [
    "@punctuation_case",
    *("_.punct_after[-1..1]", "_.punct_after[-1]|LOWER[0]", "_.punct_after[-1]|LSUFFIX2[0]"),
]


def read_texts(data: Path, part: str) -> Iterator[str]:
    """The documents of a part of EWT as plain text, a sentence a line."""
    path = data / EWT / f"en_ewt-ud-{part}.conllu"
    opener = open if path.exists() else gzip.open
    with opener(path if path.exists() else path.with_name(f"{path.name}.gz"), "rt", encoding="utf8") as lines:
        number, found = 0, []
        for line in lines:
            number += line.startswith("# newdoc")
            if line.startswith("# text = "):
                found.append((number, line.removeprefix("# text = ")))
    for _, document in groupby(found, key=lambda row: row[0]):
        yield "".join(text for _, text in document)


def read(data: Path, part: str, vocab: Vocab, window: int = 0) -> list[Example]:
    """Examples of bare words, by the registered reader."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(read_texts(data, part)):
            (Path(folder) / f"{number:04}.txt").write_text(text, encoding="utf8")
        return list(PunctuationCorpus(folder, window=window, least_marks=0.0)(Language(vocab)))


def first_words(examples: Sequence[Example], words: int) -> list[Example]:
    """Examples up to a number of words; 0: all."""
    kept, count = [], 0
    for example in examples:
        if words and count >= words:
            break
        kept.append(example)
        count += len(example.predicted)
    return kept


def fit(nlp: Language, name: str, examples: list[Example]) -> float:
    """Train a component, and return how many seconds it took."""
    rng, pipe, shown = random.Random(SEED), nlp.get_pipe(name), list(examples)
    with Clock() as clock:
        pipe.initialize(lambda: shown, nlp=nlp)
        for _ in range(EPOCHS):
            rng.shuffle(shown)
            for low in range(0, len(shown), BATCH):
                pipe.update(shown[low : low + BATCH])
                pipe.finish_update(None)
    return clock.wall


def restorer(examples: list[Example], vocab: Vocab, **changes: dict[str, Any]) -> tuple[Language, float]:
    """The pipeline of the config with some blocks changed, trained, and the seconds that took."""
    config = load_config(ROOT / "configs" / f"{NAME}.cfg")
    component = config["components"][NAME]
    for block, settings in changes.items():
        component[block] = {**component[block], **settings}
    nlp = load_model_from_config(config, auto_fill=True, vocab=vocab)
    return nlp, fit(nlp, NAME, examples)


def with_marks(doc: Doc, marks: Sequence[str]) -> Doc:
    """The words of a Doc as the second stage sees them."""
    bare = Doc(doc.vocab, words=[bare_form(token.text) for token in doc])
    write_gold(bare, marks)
    return bare


def second_stage(examples: list[Example], vocab: Vocab) -> tuple[Language, float]:
    """A chain over the cases of words whose marks are known, trained on gold marks."""
    blank = Language(vocab)
    features = {"@misc": "spacy_crf.Features.v1", "templates": CASE_TEMPLATES, "min_count": 2}
    features["classes"] = {"@misc": "spacy_crf.InducedClasses.v1", "min_count": 2}
    trainer = {"@misc": "spacy_crf.AdaGrad.v1", "learn_rate": 0.2, "units_per_batch": 500}
    blank.add_pipe("crf_tagger", config={"target": "case", "sequence": "doc", "features": features, "trainer": trainer})
    cased = []
    for example in examples:
        predicted, reference = (with_marks(example.reference, gold_marks(example)) for _ in range(2))
        for token, gold in zip(reference, example.reference):
            token._.case = case_of(gold.text)
        cased.append(Example(predicted, reference))
    return blank, fit(blank, "crf_tagger", cased)


def gold_marks(example: Example) -> list[str]:
    return list((read_punctuation(example.reference) or {})[MARKS])


def restore(nlp: Language, examples: Sequence[Example], threshold: float | None = None) -> list[Doc]:
    """The predicted sides, restored; threshold: that of the config for None, 0: the best labelling."""
    pipe = nlp.get_pipe(NAME)
    kept = pipe.cfg["threshold"]
    pipe.cfg["threshold"] = kept if threshold is None else threshold
    docs = list(pipe.pipe((example.predicted.copy() for example in examples), batch_size=200))
    pipe.cfg["threshold"] = kept
    return docs


def usual_cases(examples: Iterable[Example], scheme: LabelScheme) -> dict[str, str]:
    """The most frequent case of each word in training where no sentence begins."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for example in examples:
        before = ["PERIOD", *gold_marks(example)]
        for token, mark in zip(example.reference, before):
            if not scheme.is_end(mark):
                counts[bare_form(token.text)][case_of(token.text)] += 1
    return {word: counted.most_common(1)[0][0] for word, counted in counts.items()}


def cased_by_rule(docs: Sequence[Doc], usual: dict[str, str], scheme: LabelScheme) -> list[list[str]]:
    """Usual cases, with capitals where a sentence begins."""
    found = []
    for doc in docs:
        starts = [True, *(scheme.is_end(token._.punct_after) for token in doc)]
        cases = [usual.get(bare_form(token.text), "lower") for token in doc]
        found.append(["Title" if case == "lower" and start else case for case, start in zip(cases, starts)])
    return found


def case_scores(examples: Sequence[Example], cases: Iterable[Iterable[str]]) -> dict[str, Any]:
    """Share of words in the right case; precision, recall and F of each case."""
    pairs: Counter[tuple[str, str]] = Counter()
    for example, own in zip(examples, cases):
        pairs.update(zip((case_of(token.text) for token in example.reference), own, strict=True))
    scores: dict[str, Any] = {"case_acc": sum(n for (gold, own), n in pairs.items() if gold == own) / pairs.total()}
    for case in CASES:
        right = pairs[case, case]
        found = sum(n for (_, own), n in pairs.items() if own == case)
        wanted = sum(n for (gold, _), n in pairs.items() if gold == case)
        scores[case] = PRFScore(tp=right, fp=found - right, fn=wanted - right).to_dict()
    return scores


def mark_table(examples: Sequence[Example], docs: Sequence[Doc], scheme: LabelScheme) -> dict[str, Any]:
    """Scores of the marks of restored Docs."""
    pairs: Counter[tuple[str, str]] = Counter()
    for example, doc in zip(examples, docs):
        own = (token._.punct_after or NONE for token in doc)
        pairs.update(zip(map(scheme.label, gold_marks(example)), own, strict=True))
    return mark_scores(pairs, scheme)


def own_cases(docs: Iterable[Doc]) -> list[list[str]]:
    return [[token._.case for token in doc] for doc in docs]


class Models:
    """What is compared, trained on the same examples."""

    def __init__(self, train: list[Example], vocab: Vocab):
        self.joint, self.joint_seconds = restorer(train, vocab)
        self.marks, marks_seconds = restorer(train, vocab, marks={"case": False})
        self.caser, case_seconds = second_stage(train, vocab)
        self.staged_seconds = marks_seconds + case_seconds
        self.scheme = self.joint.get_pipe(NAME).label_scheme
        self.usual = usual_cases(train, self.scheme)

    def rows(self, examples: Sequence[Example]) -> Iterator[dict[str, Any]]:
        """Scores of one part, row by row."""

        def row(name: str, docs: Sequence[Doc] | None, cases: Iterable[Iterable[str]]) -> dict[str, Any]:
            marks = {} if docs is None else mark_table(examples, docs, self.scheme)
            return {"name": name, **marks, **case_scores(examples, cases)}

        yield row("all lower", None, (["lower"] * len(example.predicted) for example in examples))
        best, docs = restore(self.joint, examples, 0.0), restore(self.joint, examples)
        yield row("one chain, best labelling", best, own_cases(best))
        yield {**row("one chain, threshold", docs, own_cases(docs)), "seconds": self.joint_seconds}
        yield row("its marks, usual case", docs, cased_by_rule(docs, self.usual, self.scheme))
        marked = restore(self.marks, examples)
        staged = [with_marks(doc, [token._.punct_after for token in doc]) for doc in marked]
        cases = own_cases(self.caser.pipe(staged))
        yield {**row("marks, then case", marked, cases), "seconds": self.staged_seconds}
        gold = [with_marks(example.reference, gold_marks(example)) for example in examples]
        yield row("gold marks, usual case", None, cased_by_rule(gold, self.usual, self.scheme))
        yield row("gold marks, then case", None, own_cases(self.caser.pipe(gold)))


def main() -> None:
    """Train everything once, and score it on each part."""
    parser = new_parser(__doc__)
    parser.add_argument("--words", type=int, default=0, help="of the training text; 0: all")
    parser.add_argument("--parts", nargs="*", default=["dev"], help="dev, test")
    options = parser.parse_args()
    register_punctuation()
    vocab = spacy.blank("en").vocab
    train = first_words(read(options.data, "train", vocab, WINDOW), options.words)
    models = Models(train, vocab)
    result: dict[str, Any] = {"machine": describe(), "words": sum(len(eg.predicted) for eg in train), "rows": []}
    for part in options.parts:
        for row in models.rows(read(options.data, part, vocab)):
            result["rows"].append({"part": part, **row})
            print(json.dumps(result["rows"][-1]), flush=True)
            options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()

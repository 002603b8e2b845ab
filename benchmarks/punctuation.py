"""Punctuation of TED talks from features: what each idea brings, all training data, and streams.

    python benchmarks/punctuation.py --data DIR --out FILE.json ideas [--words 300000]
    python benchmarks/punctuation.py --data DIR --out FILE.json full --model DIR [--seed 0]
    python benchmarks/punctuation.py --data DIR --out FILE.json streams --model DIR

`DIR` holds `iwslt_punct` and `ud_english_ewt`. Both train `configs/punctuation_restorer_speech.cfg` on `ted_train`, in
windows of 200 words, and choose the threshold for marks on `dev2012`, which is one text without a break, as `test2011`
is. `ideas` trains on the first talks only, adding one idea after the other. `full` trains on all 2.1 million words and
saves the models that `punctuation_network.py` scores on `test2011`. `streams` restores the first words of `dev2012` one
by one, with look-aheads of several lengths, and all of it in documents of 200 words for the speed. Parts of speech are
those of a crf_tagger that is trained on UD English EWT in lower case without punctuation, in windows across sentences.
Rows are added to the file.
"""

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from spacy.vocab import Vocab

from benchmarks.data import read_ewt
from benchmarks.measure import Clock, new_parser, peak_mebibytes
from benchmarks.results import append_rows
from benchmarks.runner import ROOT
from spacy_crf.punctuation.block import NONE
from spacy_crf.punctuation.component import PunctuationRestorer
from spacy_crf.punctuation.docs import MARKS, read_punctuation
from spacy_crf.punctuation.labels import LabelTable, Thresholds, choose
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.punctuation.scorer import mark_scores

NAME = "punctuation_restorer"
FOLDER = "iwslt_punct"
WINDOW, BATCH, EPOCHS = 200, 200, 2
STREAMED, LAGS = 1500, (0, 1, 2, 5, 10)
TAGGED_WINDOW, TAGGED_BATCH, TAGGER_EPOCHS = 120, 30, 3
THRESHOLDS = np.arange(0.2, 0.6, 0.02)
WORDS_ONLY = [
    *("BIAS", "BOS", "EOS", "LOWER[-3..4]"),
    *("LOWER[-1]|LOWER[0]", "LOWER[0]|LOWER[1]", "LOWER[1]|LOWER[2]"),
]
# settings of the component without, or instead of, each idea
IDEAS: dict[str, dict[str, Any]] = {
    "words and bigrams": {"features": {"templates": WORDS_ONLY, "classes": None}, "marks": {"kinds": []}},
    "+ n-grams, affixes, edge templates": {
        "features": {"templates": ["@punctuation"], "classes": None},
        "marks": {"kinds": []},
    },
    "+ kinds of sentences": {"features": {"templates": ["@punctuation"], "classes": None}},
    "+ fifty induced classes": {"features": {"templates": ["@punctuation_classes"]}},
    "+ two hundred classes, wider window, 4-grams": {},
    "+ parts of speech": {"features": {"templates": ["@speech_tags"]}},
}
ALL = "+ parts of speech"


def build(changes: dict[str, Any], train: list[Example], vocab: Vocab) -> Language:
    """An initialized pipeline of the config with some settings changed."""
    config = load_config(ROOT / "configs" / f"{NAME}_speech.cfg")
    component = config["components"][NAME]
    for block, settings in changes.items():
        component[block] = {**component[block], **settings}
    nlp = load_model_from_config(config, auto_fill=True, vocab=vocab)
    nlp.get_pipe(NAME).initialize(lambda: train, nlp=nlp)
    return nlp


def read(path: Path, nlp: Language, words: int = 0, window: int = 0) -> list[Example]:
    """Documents of a file, up to a number of words."""
    found, count = [], 0
    for example in PunctuationCorpus(path, window=window, least_marks=0.0)(nlp):
        found.append(example)
        count += len(example.predicted)
        if words and count >= words:
            break
    return found


def one_text(examples: list[Example], pipe: PunctuationRestorer) -> tuple[Doc, list[str]]:
    """Documents as one without a break: a bare Doc with the tags of its words, and the gold marks of these."""
    tokens = [token for example in examples for token in example.predicted]
    marks = [mark for example in examples for mark in (read_punctuation(example.reference) or {})[MARKS]]
    doc = Doc(pipe.vocab, words=[token.text for token in tokens], tags=[token.tag_ for token in tokens])
    return doc, [pipe.label_scheme.label(mark) for mark in marks]


def train_tagger(data: Path) -> tuple[Language, float]:
    """A tagger of lower-case words without punctuation, and its accuracy on the dev part of EWT."""
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.AdaGrad.v1", "units_per_batch": 500}
    tagger = nlp.add_pipe("crf_tagger", config={"sequence": "doc", "trainer": trainer})
    parts = {}
    for split in ("train", "dev"):
        words = [
            (word.lower(), tag)
            for sentence in read_ewt(data, split)
            for word, tag, pos in zip(sentence.words, sentence.xpos, sentence.upos)
            if pos != "PUNCT"
        ]
        windows = [zip(*words[low : low + TAGGED_WINDOW]) for low in range(0, len(words), TAGGED_WINDOW)]
        docs = [Doc(nlp.vocab, words=list(forms), tags=list(tags)) for forms, tags in windows]
        parts[split] = [Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc) for doc in docs]
    tagger.initialize(lambda: parts["train"], nlp=nlp)
    rng = random.Random(0)
    for _ in range(TAGGER_EPOCHS):
        rng.shuffle(parts["train"])
        for low in range(0, len(parts["train"]), TAGGED_BATCH):
            tagger.update(parts["train"][low : low + TAGGED_BATCH])
            tagger.finish_update(None)
    return nlp, nlp.evaluate(parts["dev"])["tag_acc"]


def add_tags(tagger: Language, examples: list[Example]) -> None:
    """Tag what the restorer sees."""
    seen = [example.predicted for example in examples]
    bare = (Doc(tagger.vocab, words=[token.text for token in doc]) for doc in seen)
    for doc, tagged in zip(seen, tagger.pipe(bare, batch_size=100)):
        for token, other in zip(doc, tagged):
            token.tag_ = other.tag_


class Scored:
    """A text with the probabilities of its labels."""

    def __init__(self, pipe: PunctuationRestorer, examples: list[Example]):
        self.pipe, self.table = pipe, LabelTable(pipe.tags.tags)
        self.doc, self.gold = one_text(examples, pipe)
        with Clock() as clock:
            (self.marginals,) = pipe.token_probabilities([self.doc])
        self.words_per_second = len(self.doc) / clock.wall

    def scores(self, threshold: float) -> dict[str, Any]:
        """Measures under a threshold for marks in general; 0: of the best labelling of the whole text."""
        if threshold:
            tags = choose(self.marginals, self.table, Thresholds(threshold))
        else:
            tags = self.pipe.predict([self.doc])[0].prediction.tags
        own = [self.table.parsed[tag].mark for tag in tags.tolist()]
        return mark_scores(Counter(zip(self.gold, own)), self.pipe.label_scheme)

    def best_threshold(self) -> float:
        """The threshold with the greatest F."""
        return float(max(THRESHOLDS, key=lambda threshold: self.scores(threshold)["punct_f"]))

    def reliability(self, mark: str) -> list[dict[str, float]]:
        """Words by the probability of a mark, in tenths: how many, its mean, and how often the mark is there."""
        column = self.table.mark_probabilities(self.marginals)[:, self.table.marks.index(mark)]
        there = np.array([gold == mark for gold in self.gold])
        tenth = np.minimum((column * 10).astype(int), 9)
        parts = ((tenth == k) for k in range(10))
        return [
            {"words": int(part.sum()), "expected": float(column[part].mean()), "found": float(there[part].mean())}
            for part in parts
            if part.any()
        ]


def train(nlp: Language, examples: list[Example], epochs: int, seed: int) -> list[float]:
    """Train, and return the seconds of each epoch."""
    rng, seconds = random.Random(seed), []
    for _ in range(epochs):
        rng.shuffle(examples)
        with Clock() as clock:
            for low in range(0, len(examples), BATCH):
                nlp.get_pipe(NAME).update(examples[low : low + BATCH])
                nlp.get_pipe(NAME).finish_update(None)
        seconds.append(clock.wall)
    return seconds


def run(name: str, changes: dict[str, Any], data: Path, words: int, seed: int, model: Path | None) -> dict[str, Any]:
    """Train once and score on dev2012; a row of the results."""
    blank = Language()
    folder = data / FOLDER
    examples = read(folder / "ted_train.tsv.gz", blank, words, WINDOW)
    dev_examples = read(folder / "dev2012.tsv.gz", blank)
    row: dict[str, Any] = {"name": name, "seed": seed, "words": sum(len(eg.predicted) for eg in examples)}
    if name == ALL:
        with Clock() as clock:
            tagger, row["tagger_accuracy"] = train_tagger(data)
            add_tags(tagger, [*examples, *dev_examples])
        row["seconds_tagging"] = clock.wall
        if model is not None:
            model.mkdir(parents=True, exist_ok=True)
            tagger.to_disk(model / "tagger")
    with Clock() as clock:
        nlp = build(changes, examples, blank.vocab)
    row["seconds_initialize"] = clock.wall
    row["seconds_epochs"] = train(nlp, examples, EPOCHS, seed)
    row["peak_mebibytes"] = peak_mebibytes()
    pipe = nlp.get_pipe(NAME)
    dev = Scored(pipe, dev_examples)
    row["threshold"] = dev.best_threshold()
    row["dev_viterbi"], row["dev"] = dev.scores(0.0), dev.scores(row["threshold"])
    row["words_per_second"] = dev.words_per_second
    row["reliability"] = {mark: dev.reliability(mark) for mark in pipe.label_scheme.marks}
    row["features"] = len(pipe.features.state)
    if model is not None:
        nlp.to_disk(model / "restorer")
    return row


def run_streams(data: Path, model: Path) -> dict[str, Any]:
    """F of streams by their lag, beside that of the whole text, and words per second from text to text."""
    tagger, nlp = spacy.load(model / "tagger"), spacy.load(model / "restorer")
    pipe = nlp.get_pipe(NAME)
    examples = read(data / FOLDER / "dev2012.tsv.gz", nlp)
    words = [token.text for token in examples[0].predicted]
    gold = (read_punctuation(examples[0].reference) or {})[MARKS][:STREAMED]

    def tag(doc: Doc) -> Doc:
        tagged = tagger(Doc(tagger.vocab, words=[token.text for token in doc]))
        for token, other in zip(doc, tagged):
            token.tag_ = other.tag_
        return doc

    row: dict[str, Any] = {"name": "streams", "words": STREAMED, "f": {}}
    for lag in (*LAGS, STREAMED):
        out = pipe.stream(words[:STREAMED], lag=lag, prepare=tag)
        pairs = Counter((mark or NONE, word.mark or NONE) for mark, word in zip(gold, out))
        row["f"][str(lag)] = mark_scores(pairs, pipe.label_scheme)["punct_f"]
    docs = [Doc(nlp.vocab, words=words[low : low + WINDOW]) for low in range(0, len(words), WINDOW)]
    pipe.cfg["probabilities"] = False
    with Clock() as clock:
        for _ in pipe.pipe(iter(docs), batch_size=500):
            pass
    row["words_per_second"] = len(words) / clock.wall
    return row


def main() -> None:
    """Run what was asked for, and add the rows to the file."""
    parser = new_parser(__doc__)
    parser.add_argument("what", choices=["ideas", "full", "streams"])
    parser.add_argument("--words", type=int, default=300_000, help="of the training text, for ideas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, help="folder for the trained pipeline")
    options = parser.parse_args()
    wanted = IDEAS if options.what == "ideas" else {ALL: IDEAS[ALL]}
    words = options.words if options.what == "ideas" else 0
    rows = (run(name, changes, options.data, words, options.seed, options.model) for name, changes in wanted.items())
    if options.what == "streams":
        rows = iter([run_streams(options.data, options.model)])
    append_rows(options.out, rows)


if __name__ == "__main__":
    main()

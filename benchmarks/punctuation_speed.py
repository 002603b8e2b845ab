"""Speed of restored punctuation: decoding alone, Docs, texts, streams, and the filter for the shell.

    python -m benchmarks.punctuation_speed --data DIR --out FILE.json --own MODEL --speech MODEL
        [--only NAME] [--repeats 3]

`--own` is a pipeline of `configs/punctuation_restorer.cfg` (marks and case: 34 labels), `--speech` one of
`projects/iwslt_punct`, such as its `training/features/model-best` (marks of lower-case talks, 6 labels, with a tagger).
They restore the words of the corpus that comes with the project, and of `iwslt_punct/dev2012.tsv.gz` in DIR, in lower
case without marks. A job is a process of its own. Each is repeated, and its row has the median, smallest and largest of
what it measured.

decode: labels of sentences of 20 words, from potentials that are there (`viterbi`), and from columns of attributes.
The peer is python-crfsuite with the same features, but for edge templates, which it does not have, and our labels of
these sentences to learn from (ten iterations: its speed does not depend on how good it is). pipe: `predict` and `pipe`
of Docs of 20 words, tagged where features read tags, in batches of 1,000; and `nlp.pipe` from texts to restored texts,
the tagger included. stream: words that go out one by one, and in blocks. filter: `spacy crf punctuate` over files of so
many words; `new` are words of random letters.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import spacy
from spacy.language import Language

from benchmarks.machine import describe
from benchmarks.measure import ROOT, Clock, new_parser, run_apart, write_json
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.threads import available_threads, run_parallel
from spacy_crf.features.columns import Columns
from spacy_crf.punctuation.component import PunctuationRestorer
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.punctuation.words import split_words

NAME = "punctuation_restorer"
SENTENCE, BATCH, WORDS = 20, 1000, 20_000
PEER_ITERATIONS, STREAMED, LAG, BLOCKS, RUN = 10, 600, 10, (1, 10, 100), 50
FILES = {"100k": 100_000, "1m": 1_000_000}
Numbers = dict[str, float]


def restorer_of(nlp: Language) -> PunctuationRestorer:
    """The component."""
    pipe = nlp.get_pipe(NAME)
    assert isinstance(pipe, PunctuationRestorer)
    return pipe


def read_words(kind: str, data: Path) -> list[str]:
    """Words in lower case without marks: of our own corpus, or of talks."""
    if kind == "speech":
        examples = PunctuationCorpus(data / "iwslt_punct" / "dev2012.tsv.gz")(spacy.blank("en"))
        return [token.text for example in examples for token in example.predicted]
    files = sorted((ROOT / "corpus" / NAME).glob("*/*.txt"))
    texts = [file.read_text(encoding="utf8") for file in files]
    return [text[word.start : word.end].lower() for text in texts for word in split_words(text)]


def sentences(words: list[str]) -> list[str]:
    """Texts of 20 words, 20,000 words in all."""
    words = (words * (1 + WORDS // len(words)))[:WORDS]
    return [" ".join(words[low : low + SENTENCE]) for low in range(0, WORDS, SENTENCE)]


def timed(work: Callable[[], object], count: int, name: str) -> Numbers:
    """Words per second, and per CPU second, of work that was done once before."""
    work()
    with Clock() as clock:
        work()
    return {f"{name}_words_per_second": count / clock.wall, f"{name}_words_per_cpu_second": count / clock.cpu}


# -- jobs ----------------------------------------------------------------------------------------------------


def read_columns(nlp: Language, words: list[str]) -> Columns:
    """Columns of the sentences as the chain sees them, tagged if need be."""
    pipe = restorer_of(nlp)
    with nlp.select_pipes(disable=NAME):
        docs = list(nlp.pipe(sentences(words)))
    return pipe.features.extractor.read([pipe.bare(doc) for doc in docs], nlp.vocab)


def decode(nlp: Language, words: list[str]) -> Numbers:
    """Viterbi on all threads, from prepared potentials, and from columns of attributes."""
    pipe, columns = restorer_of(nlp), read_columns(nlp, words)
    emissions = pipe.scores
    parts = columns.split(available_threads())
    looked_up = [(part, emissions.look_up(part)) for part in parts]
    chains = [emissions.potentials(*part) for part in looked_up]
    numbers = timed(lambda: run_parallel(viterbi, chains, 0), len(columns.orths), "viterbi")
    return numbers | timed(
        lambda: run_parallel(lambda part: viterbi(emissions.potentials(*part)), looked_up, 0),
        len(columns.orths),
        "columns",
    )


def decode_peer(nlp: Language, words: list[str]) -> Numbers:
    """The peer's `Tagger.set` and `Tagger.tag` from prepared item sequences."""
    import pycrfsuite

    pipe, columns = restorer_of(nlp), read_columns(nlp, words)
    extractor, emissions = pipe.features.extractor, pipe.scores
    keys = extractor.keys(columns, extractor.state_templates).keys.T.tolist()
    chains = emissions.potentials(columns, emissions.look_up(columns))
    tags = viterbi(chains).labels[chains.batch.rows].tolist()
    items = [[format(key, "x") for key in row if key] for row in keys]
    bounds = range(0, len(items), SENTENCE)
    sequences = [pycrfsuite.ItemSequence(items[low : low + SENTENCE]) for low in bounds]
    with tempfile.TemporaryDirectory() as folder:
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c2": 1.0, "max_iterations": PEER_ITERATIONS})
        for low, sequence in zip(bounds, sequences):
            trainer.append(sequence, [str(tag) for tag in tags[low : low + SENTENCE]])
        trainer.train(f"{folder}/model")
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")

        def tag() -> None:
            for sequence in sequences:
                tagger.set(sequence)
                tagger.tag()

        return timed(tag, len(items), "viterbi")


def pipe_docs(nlp: Language, words: list[str], probabilities: bool) -> Numbers:
    """From Docs, and from texts to restored texts."""
    pipe, texts = restorer_of(nlp), sentences(words)
    pipe.cfg["probabilities"] = probabilities
    with nlp.select_pipes(disable=NAME):
        batches = [list(nlp.pipe(texts)) for _ in range(4)]

    def predict() -> None:
        for low in range(0, len(texts), BATCH):
            pipe.predict(batches[0][low : low + BATCH])

    numbers = timed(predict, WORDS, "predict")
    numbers |= timed(lambda: list(pipe.pipe(iter(batches.pop()), batch_size=BATCH)), WORDS, "docs")
    numbers |= timed(lambda: [doc._.restored for doc in nlp.pipe(texts, batch_size=BATCH)], WORDS, "texts")
    for name in ("predict", "docs"):
        numbers[f"{name}_milliseconds_per_sentence"] = 1000 * SENTENCE / numbers[f"{name}_words_per_second"]
    return numbers


def stream(nlp: Language, words: list[str]) -> Numbers:
    """Milliseconds that a block of a stream takes, and words per second, with a lag of 10."""
    numbers: Numbers = {}
    for block in BLOCKS:
        count = STREAMED * (1 + block // 10)
        with Clock() as clock:
            assert sum(1 for _ in restorer_of(nlp).stream(words[:count], LAG, block, nlp=nlp)) == count
        numbers[f"block_{block}_milliseconds"] = 1000 * clock.wall * block / count
        numbers[f"block_{block}_words_per_second"] = count / clock.wall
    return numbers


def write_text(path: Path, count: int, words: list[str], is_new: bool) -> None:
    """A file of runs of 50 words, or of words of random letters."""
    rng = random.Random(0)

    def runs() -> Iterator[list[str]]:
        while True:
            if is_new:
                yield ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(5, 12))) for _ in range(RUN)]
            else:
                low = rng.randrange(len(words) - RUN)
                yield words[low : low + RUN]

    with path.open("w", encoding="utf8") as file:
        for run, _ in zip(runs(), range(count // RUN)):
            file.write(" ".join(run) + "\n")


def _letters(path: Path) -> str:
    return "".join(filter(str.isalnum, path.read_text(encoding="utf8").lower()))


def filter_file(nlp: Language, words: list[str], count: int, is_new: bool) -> Numbers:
    """`spacy crf punctuate` as a process of its own, loading included; all letters must come out."""
    with tempfile.TemporaryDirectory() as folder:
        text, model, out = Path(folder) / "text", Path(folder) / "model", Path(folder) / "out"
        write_text(text, count, words, is_new)
        nlp.to_disk(model)
        command = [sys.executable, "-m", "spacy", "crf", "punctuate", str(model), str(text)]
        with Clock() as clock, out.open("wb") as file:
            subprocess.run(command, check=True, stdout=file, stderr=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert _letters(text) == _letters(out)
        cpu = used.ru_utime + used.ru_stime
        return {"seconds": clock.wall, "words_per_second": count / clock.wall, "cpu_seconds": cpu} | {
            "peak_mebibytes": used.ru_maxrss / 1024
        }


JOBS: dict[str, Callable[[Language, list[str]], Numbers]] = {
    "decode": decode,
    "decode.peer": decode_peer,
    "pipe": partial(pipe_docs, probabilities=False),
    "pipe.probabilities": partial(pipe_docs, probabilities=True),
    "stream": stream,
    **{f"filter.{name}": partial(filter_file, count=count, is_new=False) for name, count in FILES.items()},
    **{f"filter.new.{name}": partial(filter_file, count=count, is_new=True) for name, count in FILES.items()},
}


def main() -> None:
    """Run one job in this process, or all of them in processes of their own."""
    parser = new_parser(__doc__)
    parser.add_argument("--own", type=Path, help="pipeline of the config of the component")
    parser.add_argument("--speech", type=Path, help="folder of tagger and restorer of talks")
    parser.add_argument("--only", default="", help="part of the names of the jobs to run")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each job but the filters, which run once")
    parser.add_argument("--job", help="run this one here and print its numbers")
    options = parser.parse_args()
    models = {kind: path for kind, path in (("own", options.own), ("speech", options.speech)) if path}
    if options.job:
        job, _, kind = options.job.partition("@")
        print(json.dumps(JOBS[job](spacy.load(models[kind]), read_words(kind, options.data))))
        return
    rows: list[dict[str, object]] = []
    result = {"machine": describe(), "rows": rows}
    for name in (f"{job}@{kind}" for job in JOBS for kind in models):
        if options.only not in name:
            continue
        runs = [
            run_apart("benchmarks.punctuation_speed", *sys.argv[1:], "--job", name)
            for _ in range(1 if name.startswith("filter") else options.repeats)
        ]
        row: dict[str, object] = {"name": name} | {key: _spread([one[key] for one in runs]) for key in runs[0]}
        rows.append(row)
        print(json.dumps(row), flush=True)
        write_json(options.out, result)


def _spread(values: list[float]) -> list[float]:
    """Median, smallest and largest."""
    return [float(f"{value:.4g}") for value in (median(values), min(values), max(values))]


if __name__ == "__main__":
    main()

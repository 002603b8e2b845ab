"""Documents beyond `nlp.max_length` are read, learned from, scored and labelled as any others."""

import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import spacy
from helpers import tagged
from helpers.commands import invoke
from helpers.tagged import SENTENCES
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf import Corpus, PunctuationCorpus, SectionCorpus
from spacy_crf.corpora.block import ReferenceSettings
from spacy_crf.pipe import component

TAGGED = [[token.rsplit("/", 2) for token in line.split()] for line in SENTENCES.strip().splitlines()]
QUICK = {"@misc": "spacy_crf.LBFGS.v1", "iterations_per_step": 3}
LONG = [1_000, pytest.param(2_000_000, marks=pytest.mark.slow)]  # characters
FILES = {"MODEL": "model", "TEXT": "text.txt", "FOLDER": "folder"}


def until(length: int, make: Callable[[random.Random, int], str]) -> str:
    """Pieces, by their number, of together more than so many characters."""
    rng, found, done = random.Random(0), [], 0
    while done <= length:
        found.append(make(rng, len(found)))
        done += len(found[-1])
    return "".join(found)


def columns(length: int) -> str:
    body = until(4 * length, lambda rng, _: "".join(f"{w} {t} {e}\n" for w, t, e in rng.choice(TAGGED)) + "\n")
    return f"-DOCSTART- -X- O\n\n{body}"


def tag_sets(length: int) -> str:
    return until(4 * length, lambda rng, _: "".join(f"{w}\t{t}|XX\n" for w, t, _ in rng.choice(TAGGED)))


def reference(length: int) -> str:
    def fields(rng: random.Random, _: int) -> str:
        title = " ".join(word for word, *_ in rng.choice(TAGGED) if word.isalpha())
        return f"<title> {title}. </title> <date> 1984. </date> "

    return until(4 * length, fields) + "\n"


def marks(length: int) -> str:
    def sentence(rng: random.Random, _: int) -> str:
        return "".join(f"{word.lower()}\tO\n" for word, *_ in rng.choice(TAGGED) if word.isalpha()) + "ends\tPERIOD\n"

    return until(4 * length, sentence)


def sections(length: int) -> str:
    def section(rng: random.Random, number: int) -> str:
        text = " ".join(word for line in rng.choices(TAGGED, k=8) for word, *_ in line)
        return f"<section><nr>{number + 1}.</nr> <title>The mill</title>\n<text>{text}</text>\n\n</section>"

    return f"<document>{until(3 * length // 2, section)}</document>"


class Case(NamedTuple):
    """A component, a file that is one long document, and how it is read."""

    component: str
    file: str
    write: Callable[[int], str]
    read: Callable[[Path], Any]
    score: str


TAGS = {"columns": ["word", "tag", "ner"], "group": "document"}
CASES = [
    Case("crf_tagger", "a.conll", columns, lambda path: Corpus(path, **TAGS), "tag_acc"),
    Case("crf_tagger", "a.conll", columns, lambda path: Corpus(path, **TAGS, retokenize=True), "tag_acc"),
    Case("constrained_ner", "a.conll", columns, lambda path: Corpus(path, **TAGS), "ents_f"),
    Case(
        "constrained_ner",
        "a.txt",
        reference,
        lambda path: Corpus(path, format="references", references=ReferenceSettings(ents=True)),
        "ents_f",
    ),
    Case("set_valued_tagger", "a.tsv", tag_sets, lambda path: Corpus(path, format="tagsets"), "ml_acc"),
    Case("punctuation_restorer", "a.tsv", marks, PunctuationCorpus, "punct_f"),
    Case("section_parser", "a.xml", sections, SectionCorpus, "parseval_f"),
]


def train(case: Case, path: Path) -> Language:
    """A pipeline that has learned a file, as the loop of spaCy has it."""
    nlp = spacy.blank("en")
    settings: dict[str, Any] = {"learn_tree": False} if case.component == "section_parser" else {}
    nlp.add_pipe(case.component, config={"trainer": QUICK, **settings})
    corpus = case.read(path)
    nlp.initialize(lambda: corpus(nlp))
    nlp.update(list(corpus(nlp)))
    return nlp


@pytest.fixture(params=LONG)
def length(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Characters of a document that new pipelines find too long."""
    length: int = request.param
    monkeypatch.setitem(Language.__init__.__kwdefaults__, "max_length", length // 2)
    return length


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.component}-{case.write.__name__}")
def test_training_and_evaluation(case: Case, length: int, tmp_path: Path) -> None:
    path = tmp_path / case.file
    path.write_text(case.write(length), encoding="utf8")
    nlp = train(case, path)
    nlp.max_length = length // 2
    (example,) = case.read(path)(nlp)
    assert len(example.reference.text) >= length
    nlp.max_length = length // 2
    assert nlp.evaluate(case.read(path)(nlp))[case.score] > 0


def test_scores_do_not_depend_on_how_a_file_becomes_docs(length: int, tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(columns(length), encoding="utf8")
    nlp = train(CASES[0], path)
    read = {group: Corpus(path, **{**TAGS, "group": group}) for group in ("document", "sentence")}
    whole, cut = (nlp.evaluate(corpus(nlp)) for corpus in read.values())
    assert whole["tag_acc"] == cut["tag_acc"] and whole["speed"] and cut["speed"]


def test_many_documents_are_decoded_in_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = tagged.train()
    words = [word for sentence in TAGGED for word, *_ in sentence]
    docs = [Doc(nlp.vocab, words=words) for _ in range(80)]
    pipe: Any = nlp.get_pipe("crf_tagger")
    whole = [found.tags.tolist() for found in pipe.predict(docs)]
    monkeypatch.setattr(component, "UNITS_PER_THREAD", 256)
    monkeypatch.setattr(component, "CELLS", 2048)
    peaks = []
    for count in (40, 80):
        tracemalloc.start()
        found = pipe.predict(docs[:count])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert [one.tags.tolist() for one in found] == whole
    bytes_of_a_unit = (peaks[1] - peaks[0]) / (40 * len(words))
    assert bytes_of_a_unit < 400  # columns and labels; several times as many without parts


COMMANDS = [
    (CASES[0], ["evaluate", "MODEL", "GOLD", "--columns", "word,tag,ner"], "tag_acc"),
    (CASES[0], ["tag", "MODEL"], "mill"),
    (CASES[0], ["review", "MODEL", "TEXT", "--limit", "1"], "mill"),
    (CASES[4], ["sets", "MODEL", "GOLD", "--format", "tagsets"], "coverage"),
    (CASES[4], ["annotate", "MODEL", "TEXT", "--output", "FOLDER"], "1 documents"),
    (CASES[4], ["guarantee", "MODEL", "GOLD", "--format", "tagsets", "--unit", "token"], "Mean size"),
    (CASES[5], ["evaluate", "MODEL", "GOLD"], "punct_f"),
    (CASES[0], ["calibrate", "MODEL", "GOLD", "--columns", "word,tag,ner"], "calibration error"),
    (CASES[5], ["punctuate", "MODEL", "TEXT"], "mill"),
    (CASES[6], ["evaluate", "MODEL", "GOLD"], "parseval_f"),
    (CASES[6], ["sections", "GOLD"], "mill"),
]


@pytest.mark.filterwarnings("ignore:.*CRFW967")  # such a tree is left out of one score
@pytest.mark.parametrize(
    "case, command, told", COMMANDS, ids=[" ".join(command[:1]) + case.component for case, command, _ in COMMANDS]
)
def test_commands(case: Case, command: list[str], told: str, length: int, tmp_path: Path) -> None:
    places = {name: tmp_path / file for name, file in FILES.items()} | {"GOLD": tmp_path / case.file}
    places["GOLD"].write_text(case.write(length), encoding="utf8")
    line = until(length, lambda rng, _: " ".join(word for word, *_ in rng.choice(TAGGED)) + " ")
    places["TEXT"].write_text(line, encoding="utf8")
    train(case, places["GOLD"]).to_disk(places["MODEL"])
    arguments = [str(places.get(argument, argument)) for argument in command]
    result = invoke(*arguments, data=line)
    assert (result.exit_code, result.exception) == (0, None) and told in result.output, result.output

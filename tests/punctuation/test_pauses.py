"""Pauses as features: of subtitles, and of Docs whose makers know the times."""

from pathlib import Path

import numpy as np
import pytest
from helpers.punctuated import build
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.punctuation.cli import restore_subtitles
from spacy_crf.punctuation.docs import LONGEST_PAUSE
from spacy_crf.punctuation.reader import PunctuationCorpus
from spacy_crf.punctuation.stream import RestorationStream

WORDS = ["so", "then", "she", "went", "home", "again"]
LONG, SHORT = 1.4, 0.2


def stamp(seconds: float) -> str:
    return f"00:{int(seconds) // 60:02}:{seconds % 60:06.3f}".replace(".", ",")


def write_subtitles(path: Path, seed: int) -> Path:
    """Cues of any words, with a period where the pause is long, and nothing else where it is short."""
    rng, blocks, now = np.random.default_rng(seed), [], 0.0
    for number in range(1, 120):
        words = rng.choice(WORDS, rng.integers(1, 5)).tolist()
        is_end = rng.random() < 0.5
        blocks.append(f"{number}\n{stamp(now)} --> {stamp(now + 1)}\n{' '.join(words)}{'.' * is_end}\n")
        now += 1 + (LONG if is_end else SHORT)
    path.write_text("\n".join(blocks), encoding="utf8")
    return path


def train(path: Path, templates: list[str]) -> Language:
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["BIAS", "LOWER", *templates]})
    examples = list(PunctuationCorpus(path, window=30)(nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("subtitles")


@pytest.fixture(scope="module")
def listening(folder: Path) -> Language:
    return train(write_subtitles(folder / "train.srt", 0), ["_.pause"])


def test_a_restorer_hears_the_pauses_of_subtitles(folder: Path, listening: Language) -> None:
    dev = write_subtitles(folder / "dev.srt", 1)
    deaf = train(folder / "train.srt", [])
    ours, theirs = (nlp.evaluate(list(PunctuationCorpus(dev)(nlp)))["punct_f"] for nlp in (listening, deaf))
    assert ours > 0.98 and theirs < 0.6


def test_docs_that_anybody_makes(listening: Language) -> None:
    """The pause of a word is that behind its last token."""
    doc = Doc(listening.vocab, words=["she", "wo", "n't", "go", "home"], spaces=[True, False, True, True, False])
    doc[1]._.pause, doc[2]._.pause = SHORT, LONG
    assert [token._.punct_after for token in listening(doc)] == ["", "", "PERIOD", "", ""]
    doc[2]._.pause, doc[4]._.pause = SHORT, LONG
    assert [token._.punct_after for token in listening(doc)] == ["", "", "", "", "PERIOD"]
    assert not any(token._.punct_after for token in listening("she won't go home"))


def test_whole_seconds_are_times_and_long_ones_count_as_the_longest(listening: Language) -> None:
    pipe = listening.get_pipe("punctuation_restorer")
    doc = Doc(listening.vocab, words=WORDS)
    for token, pause in zip(doc, [0, 2, 2.0, 3600, LONGEST_PAUSE]):
        token._.pause = pause
    assert [token._.pause for token in pipe.bare(doc)] == [0.0, 2.0, 2.0, LONGEST_PAUSE, LONGEST_PAUSE, None]
    assert doc[3]._.pause == 3600


def test_pauses_of_cues_are_heard_in_use(folder: Path, listening: Language) -> None:
    full = write_subtitles(folder / "use.srt", 2).read_text(encoding="utf8")
    bare = full.replace(".\n", "\n")
    stream = RestorationStream(listening.get_pipe("punctuation_restorer"), lag=4, block=3)
    found = "".join(restore_subtitles(listening, stream, [bare]))
    lines = [pair for pair in zip(found.split("\n"), full.split("\n"), strict=True) if pair[1][:1].isalpha()]
    right = sum(own.endswith(".") == gold.endswith(".") for own, gold in lines)
    assert right >= len(lines) - 1  # of the end nothing is known

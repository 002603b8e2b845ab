"""Measure what comes back of subtitles: made of words with their marks, stripped, restored by `crf punctuate`.

python subtitles.py WORDS MODEL FOLDER OUTPUT; weasel calls it in the folder of the project. Cues end where two lines
are full, wherever a sentence ends; times are as long as words take to say.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

import spacy
import typer

from spacy_crf import PunctuationCorpus
from spacy_crf.lab.report import round_numbers
from spacy_crf.punctuation.block import LabelScheme
from spacy_crf.punctuation.docs import WordView
from spacy_crf.punctuation.scorer import mark_scores
from spacy_crf.punctuation.words import BY_SIGN

SIGNS = {"COMMA": ",", "PERIOD": ".", "QUESTION": "?"}
WIDTH, LINES = 37, 2  # of a cue
SECONDS = 0.065  # of a letter
MARKS = str.maketrans("", "", "".join(BY_SIGN))


def main(words: Path, model: Path, folder: Path, output: Path) -> None:
    """Write gold, bare and restored subtitles to a folder, and the scores of the marks."""
    folder.mkdir(parents=True, exist_ok=True)
    gold, bare, restored = (folder / f"{name}.srt" for name in ("gold", "bare", "restored"))
    rows = [line.split("\t") for line in words.read_text(encoding="utf8").splitlines() if line.strip()]
    spoken = [word + SIGNS.get(mark, "") for word, mark in rows]
    gold.write_text("".join(cues(spoken, with_marks=True)), encoding="utf8")
    bare.write_text("".join(cues(spoken, with_marks=False)), encoding="utf8")
    with restored.open("wb") as file_:
        subprocess.run([sys.executable, "-m", "spacy", "crf", "punctuate", model, bare], stdout=file_, check=True)
    if without_marks(restored) != without_marks(bare):
        raise ValueError(f"{restored} does not have the lines of {bare}")
    scheme = LabelScheme(list(SIGNS))
    pairs = Counter(zip(*(marks(path, scheme) for path in (gold, restored))))
    found = round_numbers({"made_of": {"data": words.name, "model": str(model)}, "scores": mark_scores(pairs, scheme)})
    output.write_text(json.dumps(found, indent=2) + "\n", encoding="utf8")


def cues(words: Sequence[str], with_marks: bool) -> Iterator[str]:
    """Yield the cues of words; the same ones with and without their marks."""
    lines = wrap(" ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False)
    now = 0.0
    for number, start in enumerate(range(0, len(lines), LINES), 1):
        text = "\n".join(lines[start : start + LINES])
        end = now + SECONDS * len(text)
        yield f"{number}\n{clock(now)} --> {clock(end)}\n{text if with_marks else text.translate(MARKS)}\n\n"
        now = end


def clock(seconds: float) -> str:
    """Return a time as SRT writes it."""
    whole, thousandths = divmod(round(1000 * seconds), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02},{thousandths:03}"


def without_marks(path: Path) -> list[str]:
    """Return the lines of subtitles without marks and capitals."""
    lines = path.read_text(encoding="utf8").lower().splitlines()
    return [line if "-->" in line else line.translate(MARKS) for line in lines]


def marks(path: Path, scheme: LabelScheme) -> list[str]:
    """Return the labels of the words of subtitles."""
    (example,) = PunctuationCorpus(path, least_marks=0)(spacy.blank("en"))
    return [label.mark for label in WordView.of(example.reference, scheme).labels(scheme)]


if __name__ == "__main__":
    typer.run(main)

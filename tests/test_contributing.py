"""The two differences of CONTRIBUTING.md fit the code, and do what the text says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.paths import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
SETTING, FAMILY = re.findall(r"^```diff\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
USES = {
    SETTING: """
import spacy
tagger = spacy.blank("en").add_pipe("crf_tagger", config={"entropy": "bits", "entropy_unit": "bits"})
print(tagger.cfg["entropy_unit"])
try:
    tagger.cfg["entropy_unit"] = "dits"
except ValueError as error:
    print(error.code)
""",
    FAMILY: """
from spacy_crf.core.constraints.language import parse
from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.labels import TagSet
fields = Fields(TagSet(("A", "B"), "none"))
constraint = parse("apart(A) unit")
print(constraint, constraint.broken(Labelling([0, 0, 1, 0], fields, UnitPredicates(4))))
""",
}
PRINTED = {SETTING: "bits\nCRF408", FAMILY: "apart(A) unit 1"}


def apply(difference: str, folder: Path) -> None:
    """Apply a difference to the files below a folder."""
    for part in re.split(r"^--- a/", difference, flags=re.MULTILINE)[1:]:
        path = folder / part.splitlines()[0]
        text = path.read_text(encoding="utf8")
        for hunk in re.split(r"^@@.*\n", part, flags=re.MULTILINE)[1:]:
            lines = hunk.splitlines()
            before, after = ("\n".join(line[1:] for line in lines if line[:1] != sign) for sign in "+-")
            assert text.count(before) == 1, f"{path.name} has changed here:\n{before}"
            text = text.replace(before, after)
        path.write_text(text, encoding="utf8")


@pytest.mark.parametrize("difference", [SETTING, FAMILY], ids=["setting", "family"])
def test_the_difference_works(difference: str, tmp_path: Path) -> None:
    for name in ("spacy_crf", "tests/core/constraints"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    apply(difference, tmp_path)
    done = subprocess.run([sys.executable, "-c", USES[difference]], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == PRINTED[difference], done.stderr


@pytest.mark.parametrize("name, path", re.findall(r"`(\w+)` (?:of|in) `(spacy_crf/[\w/]+\.py)`", TEXT))
def test_answers_name_what_there_is(name: str, path: str) -> None:
    assert re.search(rf"^(?:class |def |){name}\b", (ROOT / path).read_text(encoding="utf8"), re.MULTILINE)

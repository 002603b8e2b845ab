"""The page of three tasks, line by line, in a folder that has the files of a stranger and nothing of the project."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.paths import ROOT
from test_tutorials import COLOUR, DOCS, NOTEBOOKS, agrees

CORPUS = ROOT / "corpus"
PAGE = (DOCS / "start" / "three_tasks.md").read_text(encoding="utf8")
TASKS = [f"## {task}" for task in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]]
REPORT = """# 1. Introduction
Ferries have been counted from the shore for a century [1]. This report says how well that is done.
# 2. Method
## 2.1 Where we counted
Two people sat on each landing stage for a week, as others have done [2, 3].
## 2.2 What we counted
Boats, people, bicycles and dogs; the forms are those of [4].
# 3. Results
More people cross than the tables say, as section 2.2 would lead one to expect.
# References
[1] J. Aldington and P. Marsh, "Counting ferries and trams from the shore at Malmö," Journal of Estuary Studies 12(3), \
201-219, 2004. doi:10.5555/jes.12.3
[2] Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.
[3] R. Halpern, "Tide tables and timetables: the case of low-water crossings," Transport and Tide 9, 77-102, 2014, \
https://doi.org/10.5555/tat.2014.77
[4] T. O. Adekunle, L. Whitfield, M. de Vries, and S. Okamura, "Passenger flows at small landing stages: a comparison \
with two later surveys," in Proceedings of the 4th Workshop on Water Transport, Gothenburg, Sweden, pp. 33-41, June \
1997.
"""


def write_letters(folder: Path) -> None:
    """Twenty files of words and tags: the documents of the project without comments, the longest in two halves."""
    lines = [
        path.read_text(encoding="utf8").splitlines() for path in sorted((CORPUS / "set_valued_tagger").rglob("*.tsv"))
    ]
    documents = ["\n".join(line for line in own if not line.startswith("#")).strip().split("\n\n") for own in lines]
    documents.sort(key=len)
    halves = [half for own in documents[-4:] for half in (own[: len(own) // 2], own[len(own) // 2 :])]
    (folder / "letters").mkdir()
    for number, sentences in enumerate([*documents[:-4], *halves], 1):
        (folder / "letters" / f"letter_{number:02}.tsv").write_text("\n\n".join(sentences) + "\n", encoding="utf8")


def write_report(folder: Path) -> None:
    """A PDF with references, and files of tagged ones."""
    pytest.importorskip("pypdfium2", reason="needs the extra pdf")
    styles = pytest.importorskip("reportlab.lib.styles").getSampleStyleSheet()
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    names = {"#": "Heading1", "##": "Heading2"}
    flow = []
    for line in REPORT.splitlines():
        mark, _, text = line.partition(" ")
        flow.append(Paragraph(text if mark in names else line, styles[names.get(mark, "BodyText")]))
    SimpleDocTemplate(str(folder / "report.pdf")).build(flow)
    for part in ("train", "dev"):
        (folder / "tagged" / part).mkdir(parents=True)
        for name in ("apa", "ieee", "mla", "plain"):
            text = (CORPUS / "constrained_ner" / part / f"{name}.txt").read_text(encoding="utf8")
            (folder / "tagged" / part / f"{name}.txt").write_text(text, encoding="utf8")


def write_chunks(folder: Path) -> None:
    """Files of words, tags and chunks."""
    for name, source in (("train", "train"), ("test", "dev")):
        text = (CORPUS / "crf_tagger" / "chunks" / f"{source}.txt").read_text(encoding="utf8")
        (folder / f"{name}.txt").write_text(text, encoding="utf8")


def run(*command: str, folder: Path) -> str:
    """Return what a command prints that does not fail."""
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | paths)
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
    return COLOUR.sub("", done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "write"), list(zip(TASKS, (write_letters, write_report, write_chunks), strict=True)), ids=["a", "b", "c"]
)
def test_a_task_needs_its_page_alone(task: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    script = ""  # a piece of Python goes on where the last one ended
    for block in NOTEBOOKS.blocks(task):
        if block.language == "python":
            script += f"{block.text}\n"
            run(sys.executable, "-c", script, folder=tmp_path)
        elif block.language:
            told = run("bash", "-ec", block.text, folder=tmp_path)
            assert not block.printed or agrees(told, block.printed), f"{block.text}\n{told}"

"""`make demo`: trains the five components on the corpora that come with the project, and shows what they do.

python demo.py [OUTPUT]
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import spacy
from wasabi import msg

HERE = Path(sys.executable).absolute()
PYTHON = os.path.relpath(HERE) if HERE.is_relative_to(Path.cwd()) else str(HERE)
SENTENCES = (
    "She may well visit us in May.",
    "She can leave the leaves on the path.",
    "We saw a saw in the shed.",
)
HISTORICAL = "hwu mon uin aggel yna hunkele soeddet"
REFERENCE = "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."
CONTRACT = """1. Scope
This contract is for all ferries of the line.

2. Term
2.1 The contract holds for one year.
2.2 It may be extended by letter.
"""
SPOKEN = "dear anna thank you for your letter how is your sister\n"


@dataclass(frozen=True)
class Part:
    """A component, what of its training is left out here, what it does, and what to do with it next.

    show (Callable): takes the folder of the trained pipeline. next (tuple[str, ...]): commands, with MODEL in them.
    """

    component: str
    title: str
    show: Callable[[Path], None]
    next: tuple[str, ...]
    shorter: tuple[str, ...] = ()


def run(*arguments: str, told: str | None = None) -> None:
    """Show a command of spaCy's and run it, with a text on its standard input; end with it where it fails."""
    print(f"\n$ {shlex.join((PYTHON, '-m', 'spacy', *arguments))}", flush=True)
    done = subprocess.run([sys.executable, "-m", "spacy", *arguments], input=told, text=True, encoding="utf8")
    if done.returncode:
        sys.exit(done.returncode)


def train(part: Part, output: Path) -> Path:
    """Train a component with its config, and return the folder of the best pipeline."""
    run("train", f"configs/{part.component}.cfg", "--output", str(output / part.component), *part.shorter)
    return output / part.component / "model-best"


def show_tags(model: Path) -> None:
    corpus = Path("corpus/crf_tagger")
    run("crf", "evaluate", str(model), str(corpus / "dev.conllu"), "--train", str(corpus / "train.conllu"))
    run("crf", "tag", str(model), *SENTENCES)


def show_sets(model: Path) -> None:
    corpus = Path("corpus/set_valued_tagger")
    data = (str(corpus / "dev"), "--train", str(corpus / "train"), "--format", "tagsets")
    run("crf", "sets", str(model), *data)
    print("Annotators had: PW, PIND, ART or CARD (an eel, one eel), NA, APPR, NA, VVFIN")
    run("crf", "tag", str(model), HISTORICAL)


def show_repairs(model: Path) -> None:
    nlp = spacy.load(model)
    nlp.get_pipe("constrained_ner").cfg["changes"] = "constraint_changes"
    doc = nlp(REFERENCE)
    print(f"\n{doc.text}")
    for ent in doc.ents:
        print(f"  {ent.label_:10} {ent}")
    print("Repaired by constraints:")
    for change in doc._.constraint_changes:
        reason = change["because"][0][0]
        print(f"  {doc[change['token']].text:10} {change['from']} -> {change['to']}, because of {reason}")


def show_sections(model: Path) -> None:
    path = model.parent / "contract.txt"
    path.write_text(CONTRACT, encoding="utf8")
    print(f"\n{CONTRACT}")
    run("crf", "sections", str(path), "--model", str(model))


def show_punctuation(model: Path) -> None:
    print(f"\n{SPOKEN}", end="")
    run("crf", "punctuate", str(model), "-", told=SPOKEN)


PARTS = (
    Part("crf_tagger", "Tags, and how sure the tagger is", show_tags, ("tag MODEL 'Your sentence.'",)),
    Part(
        "set_valued_tagger",
        "Sets of tags where the evidence is thin",
        show_sets,
        ("tag MODEL 'yem holdare'", "annotate MODEL FILE --output FOLDER"),
        shorter=("--training.max_steps", "7"),
    ),
    Part(
        "constrained_ner",
        "Fields of a reference, under constraints",
        show_repairs,
        ("tag MODEL 'Your reference.'", "constraints MODEL"),
        shorter=("--training.max_steps", "1", "--components.constrained_ner.mine.folds", "2"),
    ),
    Part(
        "section_parser",
        "The sections of a contract",
        show_sections,
        ("sections FILE --model MODEL --to html --output page.html",),
        shorter=("--training.max_steps", "1"),
    ),
    Part("punctuation_restorer", "Punctuation and case for bare text", show_punctuation, ("punctuate MODEL FILE",)),
)


def main(output: Path) -> None:
    """Train and show all parts, and tell what to do next."""
    for number, part in enumerate(PARTS, 1):
        started = time.perf_counter()
        msg.divider(f"{number} of {len(PARTS)}. {part.title}")
        part.show(train(part, output))
        print(f"\n({part.component}: {time.perf_counter() - started:.0f} s)", flush=True)
    msg.divider("Next: your own texts")
    for part in PARTS:
        for command in part.next:
            arguments = command.replace("MODEL", str(output / part.component / "model-best"))
            print(f"    {shlex.quote(PYTHON)} -m spacy crf {arguments}")
    print("Your own data; each config says at its beginning which files it takes:")
    for part in PARTS:
        options = "--paths.train F --paths.dev F --output DIR"
        print(f"    {shlex.quote(PYTHON)} -m spacy train configs/{part.component}.cfg {options}")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ("output",)))

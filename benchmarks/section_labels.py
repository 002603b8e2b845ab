"""Labels of elements from chains that were not trained on the document: for trees from predicted labels."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.core.arrays import Doubles
from spacy_crf.sections.component import SectionParser
from spacy_crf.sections.reader import SectionCorpus

STEPS, ITERATIONS = 4, 30
FOLDS = 5


def train_chain(files: Sequence[Path], hidden: bool, seed: int = 0) -> Language:
    """A pipeline whose section parser labels as it was trained on files; its tree has the weights set by hand."""
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.05, "iterations_per_step": ITERATIONS}
    pipe = nlp.add_pipe("section_parser", config={"learn_tree": False, "trainer": trainer})
    assert isinstance(pipe, SectionParser)
    examples = list(SectionCorpus(list(files), hidden=hidden, trees=False)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(STEPS):
        pipe.update(examples)
        pipe.finish_update(None)
    return nlp


def probabilities(nlp: Language, files: Iterable[Path], hidden: bool) -> dict[Path, Doubles]:
    """((N, 4)) for each file: probabilities of the roles of its units."""
    pipe = nlp.get_pipe("section_parser")
    assert isinstance(pipe, SectionParser)
    found = {}
    for path in files:
        doc: Doc = next(SectionCorpus(path, hidden=hidden).read_docs(nlp.vocab))
        found[path] = pipe.role_probabilities(doc)
    return found


def left_out(scored: Sequence[Path], training: Sequence[Path], hidden: bool) -> dict[Path, Doubles]:
    """Probabilities from chains trained on the training files; those among these by folds without their own fold."""
    folds = [list(training[number::FOLDS]) for number in range(FOLDS)]
    found: dict[Path, Doubles] = {}
    for fold in folds:
        own = [path for path in fold if path in scored]
        if own:
            others = [path for path in training if path not in fold]
            found |= probabilities(train_chain(others, hidden), own, hidden)
    rest = [path for path in scored if path not in training]
    return found | (probabilities(train_chain(training, hidden), rest, hidden) if rest else {})

"""A tiny annotated corpus, and pipelines trained on it."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from thinc.api import Adam

from spacy_crf.tagging.component import CRFTagger

SENTENCES = """
Ada/NNP/B-PER met/VBD/O Bo/NNP/B-PER in/IN/O New/NNP/B-LOC Delft/NNP/I-LOC ././O
The/DT/O old/JJ/O miller/NN/O sold/VBD/O flour/NN/O ././O
Bo/NNP/B-PER Stone/NNP/I-PER lives/VBZ/O in/IN/O Delft/NNP/B-LOC ././O
She/PRP/O sold/VBD/O the/DT/O mill/NN/O to/TO/O Ada/NNP/B-PER Stone/NNP/I-PER ././O
Did/VBD/O you/PRP/O see/VB/O the/DT/O sale/NN/O ?/./O
New/NNP/B-LOC Delft/NNP/I-LOC is/VBZ/O old/JJ/O ././O
They/PRP/O sail/VBP/O to/TO/O Port/NNP/B-LOC Ada/NNP/I-LOC ././O
Old/JJ/O mills/NNS/O sell/VBP/O well/RB/O ././O
Mia/NNP/B-PER walks/VBZ/O slowly/RB/O ././O
The/DT/O walk/NN/O to/TO/O Delft/NNP/B-LOC is/VBZ/O slow/JJ/O ././O
You/PRP/O walk/VBP/O with/IN/O Mia/NNP/B-PER Stone/NNP/I-PER ././O
Flour/NN/O is/VBZ/O cheap/JJ/O in/IN/O Port/NNP/B-LOC Ada/NNP/I-LOC ././O
Bo/NNP/B-PER will/MD/O sail/VB/O ././O
The/DT/O will/NN/O of/IN/O Mia/NNP/B-PER was/VBD/O long/JJ/O ././O
Ada/NNP/B-PER ,/,/O Bo/NNP/B-PER and/CC/O Mia/NNP/B-PER left/VBD/O ././O
Stone/NN/O is/VBZ/O cheap/JJ/O ././O
The/DT/O port/NN/O was/VBD/O new/JJ/O ././O
Delft/NNP/B-LOC was/VBD/O cold/JJ/O and/CC/O slow/JJ/O ././O
I/PRP/O bought/VBD/O two/CD/O stones/NNS/O there/RB/O ././O
Go/VB/O !/./O
"""
UNIVERSAL = {"DT": "DET", "JJ": "ADJ", "IN": "ADP", "TO": "ADP", "PRP": "PRON", "RB": "ADV", "CC": "CCONJ", "MD": "AUX"}
UNIVERSAL |= {"NNP": "PROPN", "NN": "NOUN", "NNS": "NOUN", "CD": "NUM", ".": "PUNCT", ",": "PUNCT"}
EXTENSION = "crf_test_case"
TARGETS = ["tag", "pos", "ent", "spans", EXTENSION]
ONLINE = ["Perceptron", "PassiveAggressive", "AROW", "AdaGrad", "StochasticGradient"]
TRAINERS = ["LBFGS", "Minibatch", *ONLINE]
TRAINER_CONFIGS: dict[str, dict[str, Any]] = {
    "LBFGS": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01, "iterations_per_step": 20},
    "Minibatch": {"@misc": "spacy_crf.Minibatch.v1"},
    **{name: {"@misc": f"spacy_crf.{name}.v1"} for name in ONLINE},
}
TRAINER_CONFIGS["AdaGrad"]["units_per_batch"] = 30  # several steps in a small corpus
TRAINER_CONFIGS["StochasticGradient"]["learn_rate"] = 0.2


def make_reference(nlp: Language, line: str) -> Doc:
    """A fully annotated Doc from `word/TAG/ner` triples."""
    words, tags, ner = zip(*(token.rsplit("/", 2) for token in line.split()))
    pos = [UNIVERSAL.get(tag, "VERB") for tag in tags]
    doc = Doc(
        nlp.vocab, words=words, tags=tags, pos=pos, ents=list(ner), sent_starts=[True] + [False] * (len(words) - 1)
    )
    doc.spans["sc"] = [Span(doc, ent.start, ent.end, label=ent.label_) for ent in doc.ents]
    for token in doc:
        token._.set(EXTENSION, "upper" if token.is_title else "other")
    return doc


def make_examples(nlp: Language) -> list[Example]:
    """The corpus as examples of a pipeline."""
    references = [make_reference(nlp, line) for line in SENTENCES.strip().splitlines()]
    return [Example(Doc(nlp.vocab, words=[t.text for t in ref]), ref) for ref in references]


def build(trainer: str = "LBFGS", **config: Any) -> Language:
    """A pipeline with an untrained component."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"trainer": TRAINER_CONFIGS[trainer], **config})
    return nlp


def fit(nlp: Language, examples: list[Example], seed: int = 0) -> None:
    """Train a single component until the corpus is learned."""
    nlp.initialize(lambda: examples)
    settings = nlp.get_pipe_config("crf_tagger")["trainer"]
    if settings["@misc"] == TRAINER_CONFIGS["LBFGS"]["@misc"]:
        nlp.update(examples)
        return
    shuffler, optimizer = random.Random(seed), Adam(0.05, L2=0.0, grad_clip=0.0)
    order = list(examples)
    for _ in range(15):
        shuffler.shuffle(order)
        for low in range(0, len(order), 5):
            nlp.update(order[low : low + 5], sgd=optimizer)


def train(trainer: str = "LBFGS", **config: Any) -> Language:
    """Make a pipeline with the given trainer and settings, and train it on the corpus."""
    nlp = build(trainer, **config)
    fit(nlp, make_examples(nlp))
    return nlp


def train_correcting(factory: str = "crf_tagger") -> tuple[Language, Callable[[], list[Example]]]:
    """Train a tagger that looks at the tags that it writes over, and return what makes its examples."""
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["TAG", "LSUFFIX1"]}
    settings = {"overwrite": True, "features": features, "trainer": TRAINER_CONFIGS["LBFGS"]}
    nlp.add_pipe(factory, config=settings)

    def make() -> list[Example]:
        examples = make_examples(nlp)
        for number, token in enumerate(token for example in examples for token in example.predicted):
            token.tag_ = "NN" if number % 3 else "VB"
        return examples

    nlp.initialize(make)
    nlp.update(make())
    return nlp, make


def read_target(doc: Doc, target: str) -> list[Any]:
    """What a Doc has of a target, for comparison."""
    if target == "ent":
        return [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    if target == "spans":
        return [(span.start, span.end, span.label_) for span in doc.spans["sc"]]
    return [token._.get(target) if target == EXTENSION else getattr(token, f"{target}_") for token in doc]


def predictions(nlp: Language, target: str) -> list[list[Any]]:
    """What a pipeline predicts for the corpus."""
    return [read_target(doc, target) for doc in nlp.pipe(clean_docs(nlp))]


def tagger(nlp: Language) -> CRFTagger:
    """The component of a pipeline."""
    pipe = nlp.get_pipe("crf_tagger")
    assert isinstance(pipe, CRFTagger)
    return pipe


def tagger_files(folder: Path) -> dict[str, bytes]:
    """The files of the component in the folder of a pipeline."""
    return {file.name: file.read_bytes() for file in (folder / "crf_tagger").iterdir()}


def clean_docs(nlp: Language) -> list[Doc]:
    """The corpus without annotation."""
    return [example.predicted for example in make_examples(nlp)]


@pytest.fixture(autouse=True)
def extension() -> Iterator[str]:
    """A custom token attribute that is gone after the test."""
    Token.set_extension(EXTENSION, default=None, force=True)
    yield EXTENSION
    Token.remove_extension(EXTENSION)

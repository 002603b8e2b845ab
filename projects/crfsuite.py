"""The peer: python-crfsuite with ordinary features, trained and scored on the files that a project is trained on.

    python ../crfsuite.py TRAIN TEST --target tag --c2 0.5 --output results/peer.json

Files are read by the library's reader, and what is found is written into Docs that the library's scorers score, so that
tokens, sentences and measures are those of the project. It needs the extra: pip install 'spacy_crf[bench]'.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pycrfsuite
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from projects.attributes import FEATURES, Items
from spacy_crf import Corpus

Words = Doc | Span
Features = Callable[[Words], Items]
Target = Literal["tag", "pos", "ent", "chunk", "sets"]
CHUNKS, SET = "chunks", "tag_set"


# -- features ----------------------------------------------------------------------------------------------------


def of_words(name: str) -> Features:
    """Features of tokens, and of their tags where the features look at them."""
    return lambda doc: FEATURES[name]([token.text for token in doc], [token.tag_ for token in doc])


def with_names(features: Features, path: Path) -> Features:
    """Features and those of a word list, `phrase<TAB>value`: the longest match wins; B- and I- say where it is."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf8").splitlines())
    known = {tuple(phrase.split()): value for phrase, value in rows}
    longest = max(map(len, known))

    def make(doc: Words) -> Items:
        items, words, at = features(doc), [token.text for token in doc], 0
        while at < len(words):
            sizes = (
                size for size in range(min(longest, len(words) - at), 0, -1) if tuple(words[at : at + size]) in known
            )
            size = next(sizes, 0)
            for k in range(size):
                items[at + k].append(f"name={'I-' if k else 'B-'}{known[tuple(words[at : at + size])]}")
            at += max(size, 1)
        return items

    return make


# -- labels ------------------------------------------------------------------------------------------------------


def gold_labels(doc: Words, target: Target) -> list[str]:
    """A label for each token: its tag, or where its span begins and goes on."""
    if target in ("ent", "chunk"):
        labels = ["O"] * len(doc)
        low = doc.start if isinstance(doc, Span) else 0
        for span in spans_in(doc, target):
            labels[span.start - low] = f"B-{span.label_}"
            labels[span.start - low + 1 : span.end - low] = [f"I-{span.label_}"] * (len(span) - 1)
        return labels
    return [token.pos_ if target == "pos" else token.tag_ for token in doc]


def spans_in(words: Words, target: Target) -> list[Span]:
    """Gold entities or chunks of a Doc, or a sentence."""
    if target == "ent":
        return list(words.ents)
    doc = words.doc if isinstance(words, Span) else words
    low, high = (words.start, words.end) if isinstance(words, Span) else (0, len(words))
    return [span for span in doc.spans[CHUNKS] if low <= span.start and span.end <= high]


def write(doc: Doc, labels: Sequence[str], target: Target) -> None:
    """Write labels into a Doc."""
    if target in ("ent", "chunk"):
        spans = list(found_spans(doc, labels))
        if target == "ent":
            doc.set_ents(spans)
        else:
            doc.spans[CHUNKS] = spans
        return
    for token, label in zip(doc, labels):
        if target == "pos":
            token.pos_ = label
        else:
            token.tag_ = label


def found_spans(doc: Doc, labels: Sequence[str]) -> Iterator[Span]:
    """Spans of labels; one that goes on with nothing begins a span, as in CoNLL's evaluation."""
    start, kind = 0, ""
    for at, label in enumerate([*labels, "O"]):
        prefix, _, new = label.partition("-")
        if prefix == "I" and new == kind:
            continue
        if kind:
            yield Span(doc, start, at, label=kind)
        start, kind = at, new


def sequences(doc: Doc) -> Iterable[Words]:
    """The sentences, or the Doc where it has none."""
    return doc.sents if doc.has_annotation("SENT_START") else [doc]


# -- sets --------------------------------------------------------------------------------------------------------


def best_set(probabilities: dict[str, float]) -> list[str]:
    """Labels of the set with the greatest expected utility, g(s) = 1 - (s - 1) / (K - 1), the most probable first."""
    ranked = sorted(probabilities, key=lambda label: -probabilities[label])
    mass = np.cumsum([probabilities[label] for label in ranked])
    sizes = np.arange(1, len(ranked) + 1)
    return ranked[: 1 + int(np.argmax(mass * (1 - (sizes - 1) / max(1, len(ranked) - 1))))]


# -- training and scores -----------------------------------------------------------------------------------------


def train(path: Path, docs: Iterable[Doc], target: Target, features: Features, **params: Any) -> None:
    """Train with L-BFGS and write the model. params (Any): CRFsuite's."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(params)
    for doc in docs:
        for part in sequences(doc):
            trainer.append(features(part), gold_labels(part, target))
    trainer.train(str(path))


def predict(tagger: pycrfsuite.Tagger, doc: Doc, target: Target, features: Features) -> None:
    """Label a Doc, and give its tokens sets if these are asked for."""
    labels: list[str] = []
    sets: list[list[str]] = []
    for part in sequences(doc):
        labels += tagger.tag(features(part))
        if target == "sets":
            known = tagger.labels()
            sets += [best_set({label: tagger.marginal(label, at) for label in known}) for at in range(len(part))]
    write(doc, labels, target)
    if target == "sets":
        doc._.set(SET, sets)


def score(examples: list[Example], target: Target, labels: list[str]) -> dict[str, Any]:
    """Figures of the library's scorers."""
    if target != "sets":
        name = "spans" if target == "chunk" else target
        return dict(registry.scorers.get("spacy_crf.tagger_scorer.v1")()(examples, target=name, spans_key=CHUNKS))
    settings = {"tag_set": SET, "gold_tags": "gold_tags", "utility": "g", "alpha": 1.0, "beta": 1.0}
    scorer = registry.scorers.get("spacy_crf.set_tagger_scorer.v1")()
    return dict(scorer(examples, target="tag", labels=labels, **settings))


def main(
    training: Annotated[Path, typer.Argument(metavar="TRAIN", help="File or folder to train on")],
    test: Annotated[Path, typer.Argument(metavar="TEST", help="File or folder to score")],
    output: Annotated[Path, typer.Option(help="File for the figures")],
    target: Annotated[Target, typer.Option(help="What is learned; sets: tags, with sets of tags")] = "tag",
    features: Annotated[str, typer.Option(help=f"One of: {', '.join(FEATURES)}")] = "tagging",
    names: Annotated[Path | None, typer.Option(help="A word list, phrase<TAB>value, for more features")] = None,
    format: Annotated[str | None, typer.Option(help="Format of the files; otherwise picked by file")] = None,
    c1: Annotated[float, typer.Option(help="Weight of the absolute values")] = 0.0,
    c2: Annotated[float, typer.Option(help="Weight of the squares")] = 1.0,
    iterations: Annotated[int, typer.Option(help="Of L-BFGS, at most")] = 500,
) -> None:
    """Train python-crfsuite and score it."""
    nlp: Language = spacy.blank("xx")
    make = with_names(of_words(features), names) if names else of_words(features)
    own = ["tag"] if target == "chunk" else None
    read = partial(Corpus, format=format, input=own)  # type: ignore[arg-type]
    if target == "sets" and not Doc.has_extension(SET):
        Doc.set_extension(SET, default=None)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        docs = (example.reference for example in read(training)(nlp))
        train(model, docs, target, make, c1=c1, c2=c2, max_iterations=iterations)
        tagger = pycrfsuite.Tagger()
        tagger.open(str(model))
        size = model.stat().st_size
        examples = list(read(test)(nlp))
        for example in examples:
            predict(tagger, example.predicted, target, make)
    scores = score(examples, target, tagger.labels())
    made_of = {
        "model": {"name": f"python-crfsuite {version('python-crfsuite')}", "bytes": size},
        "settings": {
            "features": features,
            "names": names and names.name,
            "target": target,
            "c1": c1,
            "c2": c2,
            "iterations": iterations,
        },
        "train": training.name,
        "data": test.name,
    }
    figures = {name: round(value, 6) for name, value in scores.items() if isinstance(value, float)}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"made_of": made_of, "scores": figures}, indent=2) + "\n", encoding="utf8")
    typer.echo(output.read_text(encoding="utf8"))


if __name__ == "__main__":
    typer.run(main)

"""Folds: what is drawn, and that nothing of what is held out shows in the weights."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.core.sparse import SparseRows
from spacy_crf.lab.tuning.folds import Encoded, Fold, encode
from spacy_crf.tagging.component import CRFTagger

TEMPLATES = ["LOWER", "LOWER[-1]|LOWER[0]", "B:LOWER"]


def build(sentences_per_doc: int = 1, n_docs: int = 6, model: dict | None = None, **features: int) -> Language:
    """A pipeline whose k-th Doc has words of its own beside a common one; the last Doc has no gold."""
    nlp = spacy.blank("xx")
    config = {"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES, **features}
    architecture = {"@architectures": "spacy_crf.LinearChain.v1", **(model or {})}
    nlp.add_pipe("crf_tagger", config={"features": config, "model": architecture})
    examples = []
    for number in range(n_docs + 1):
        words = [word for s in range(sentences_per_doc) for word in ("the", f"own{number}", f"rare{number}s{s}")]
        starts = [word == "the" for word in words]
        tags = ["D", "N", "X" if number == 0 else "V"] * sentences_per_doc
        reference = Doc(nlp.vocab, words=words, sent_starts=starts, tags=tags if number < n_docs else None)
        examples.append(Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference))
    nlp.initialize(lambda: examples)
    nlp.examples = examples  # type: ignore[attr-defined]
    return nlp


def encoded(nlp: Language) -> Encoded:
    pipe = nlp.get_pipe("crf_tagger")
    assert isinstance(pipe, CRFTagger)
    return encode(pipe, nlp.examples)  # type: ignore[attr-defined]


def words_of(whole: Encoded, rows: SparseRows) -> list[str]:
    """The values of the first template, unit by unit."""
    names = whole.features.state.names()
    return [names[i].split("=")[1] for i in rows.indices.tolist() if names[i].startswith("LOWER[0]=")]


def weighted(whole: Encoded, fold: Fold) -> set[str]:
    """Names of the state features that have weights."""
    names = whole.features.state.names()
    return {names[cell // fold.layout.n_labels] for cell in fold.layout.state_cells.tolist()}


def test_every_document_with_gold_is_held_out_once() -> None:
    whole = encoded(build(sentences_per_doc=2))
    folds = list(whole.folds(3, "auto", 0))
    held_out = [set(words_of(whole, fold.held_out.features)) & {f"own{n}" for n in range(7)} for fold in folds]
    assert [len(words) for words in held_out] == [2, 2, 2]
    assert set.union(*held_out) == {f"own{n}" for n in range(6)}
    for fold, words in zip(folds, held_out):
        trained = words_of(whole, fold.train.features)
        assert not words & set(trained) and trained.count("own6") == 2
        assert len(fold.train.lengths) + len(fold.held_out.lengths) == 14


def test_sequences_are_drawn_where_documents_are_too_few() -> None:
    whole = encoded(build(sentences_per_doc=4, n_docs=2))
    assert all(len(set(words_of(whole, fold.held_out.features))) == 6 for fold in whole.folds(2, "doc", 0))
    assert [len(fold.held_out.lengths) for fold in whole.folds(2, "auto", 0)] == [4, 4]
    assert [len(fold.held_out.lengths) for fold in whole.folds(4, "auto", 0)] == [2, 2, 2, 2]
    by_sequence = {tuple(words_of(whole, fold.held_out.features)) for fold in whole.folds(2, "sequence", 0)}
    by_document = {tuple(words_of(whole, fold.held_out.features)) for fold in whole.folds(2, "doc", 0)}
    assert by_sequence != by_document


def test_the_seed_draws() -> None:
    whole = encoded(build())
    drawn = [[words_of(whole, fold.held_out.features) for fold in whole.folds(3, "doc", seed)] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    "count, unit, message",
    [
        (7, "doc", "7 folds cannot be made of 6 documents"),
        (13, "auto", "12 sequences"),
        (13, "sequence", "12 sequences"),
        (1, "auto", "1 folds"),
    ],
)
def test_too_few_are_named(count: int, unit: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"CRF603.*{message}"):
        encoded(build(sentences_per_doc=2)).folds(count, unit, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [{}, {"all_states": True, "all_transitions": True}])
def test_what_is_held_out_has_no_weights(model: dict) -> None:
    whole = encoded(build(model=model))
    edge_names = whole.features.edge.names()
    for fold in whole.folds(3, "doc", 0):
        trained = set(words_of(whole, fold.train.features))
        held_out = set(words_of(whole, fold.held_out.features)) - trained
        assert len(held_out) == 4
        names = weighted(whole, fold)
        assert not [name for name in names if held_out & set(name.split("=")[1].split("|"))]
        assert {name.split("=")[1] for name in names if name.startswith("LOWER[0]")} == trained - (
            set() if model else {"own6", "rare6s0"}
        )
        square = fold.layout.n_labels**2
        edges = {edge_names[cell // square].split("=")[1] for cell in fold.layout.edge_cells.tolist()}
        assert edges == trained - {"the", "own6", "rare6s0"}
        assert fold.layout.n_features == len(whole.features.state)


def test_a_label_of_the_held_out_part_has_no_weights() -> None:
    whole = encoded(build())
    label = whole.pipe.tags.number["X"]
    fold = whole.fold(whole.documents == 0)
    assert not (fold.layout.state_cells % fold.layout.n_labels == label).any()
    assert not (fold.layout.transition_cells % fold.layout.n_labels == label).any()


def test_cut_offs_count_the_training_part_alone() -> None:
    whole = encoded(build(sentences_per_doc=2, min_count=2, min_edge_count=2))
    fold = whole.fold(np.isin(np.arange(14), [0, 2, 3]))  # of document 0 one sentence is left, of document 1 none
    assert "LOWER[0]=own0" in whole.features.state.names() and "LOWER[0]=own1" in whole.features.state.names()
    expected = {"the"} | {f"own{n}" for n in range(2, 6)}
    assert {name.split("=")[1] for name in weighted(whole, fold) if name.startswith("LOWER[0]")} == expected
    square = fold.layout.n_labels**2
    edges = {whole.features.edge.names()[cell // square] for cell in fold.layout.edge_cells.tolist()}
    assert edges == {f"B:LOWER[0]=own{n}" for n in range(2, 6)}


def test_the_component_is_left_as_it_is() -> None:
    nlp = build()
    pipe = nlp.get_pipe("crf_tagger")
    before = pipe.to_bytes()
    list(encoded(nlp).folds(3, "doc", 0))
    assert pipe.to_bytes() == before

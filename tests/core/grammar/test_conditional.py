"""Conditional log-linear weights: the loss by enumeration, its slope by finite differences, and what is learned."""

import math

import numpy as np
import pytest
from helpers.grammars import TERMINALS, Enumeration, random_grammar

from spacy_crf.core.grammar.binary import binarise
from spacy_crf.core.grammar.conditional import ConditionalGrammar, Document, Objective, fit
from spacy_crf.core.grammar.cyk import viterbi
from spacy_crf.core.grammar.language import parse
from spacy_crf.core.grammar.nbest import nbest
from spacy_crf.core.grammar.scores import ParseScores
from spacy_crf.core.grammar.trees import Tree

N_FEATURES = 12


def random_task(seed: int, circles: bool = False):
    """A model whose rules and spans share features, and documents with trees that are not the best ones."""
    rng = np.random.default_rng(seed)
    grammar = random_grammar(rng, circles)
    columns = rng.integers(-1, N_FEATURES, (len(grammar.rules), 2)).astype(np.int32)
    model = ConditionalGrammar(binarise(grammar), columns, rng.normal(0, 0.1 if circles else 1, N_FEATURES))
    documents = []
    while len(documents) < 3:
        n = int(rng.integers(1, 4))
        spans = {label: rng.integers(-1, N_FEATURES, (n, n, 3)).astype(np.int32) for label in grammar.nonterminals[:2]}
        terminals = rng.normal(0, 1, (n, len(TERMINALS)))
        found = nbest(model.weighted, model.scores(Document(terminals, spans)), 4)
        documents.append(Document(terminals, spans, found[-1].tree, f"document {len(documents)}"))
    return model, documents


@pytest.mark.parametrize("seed", range(8))
def test_the_loss_is_that_of_the_enumeration(seed: int) -> None:
    model, documents = random_task(seed)
    expected = 0.3 * float(model.weights @ model.weights)
    for document in documents:
        listing = Enumeration(model.weighted.grammar, model.scores(document))
        (gold,) = [listed.score for listed in listing.ranked if str(listed) == str(document.tree)]
        expected += listing.log_z() - gold
    assert Objective(model, documents, 0.3)(model.weights)[0] == pytest.approx(expected)


@pytest.mark.parametrize("circles", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_gradient_is_that_of_finite_differences(seed: int, circles: bool) -> None:
    model, documents = random_task(seed, circles)
    objective, step = Objective(model, documents, 0.3), 1e-6
    _, gradient = objective(model.weights)
    for column in range(N_FEATURES):
        change = step * (np.arange(N_FEATURES) == column)
        slope = (objective(model.weights + change)[0] - objective(model.weights - change)[0]) / (2 * step)
        assert gradient[column] == pytest.approx(slope, abs=1e-5)


def test_a_node_that_is_there_twice_counts_twice() -> None:
    grammar = parse("%start A\n%terminals a\nA -> A [0.1] | a")
    columns = np.full((1, 1, 1), 2, dtype=np.int32)
    document = Document(np.zeros((1, 1)), {"A": columns}, Tree.from_brackets("(A (A a))"))
    objective, weights = Objective(ConditionalGrammar.plain(grammar, 1), [document], 0.0), np.array([0.1, 0.2, 0.3])
    value, gradient = objective(weights)
    # log Z is that of a geometric series with the ratio r, and the tree weighs r times what is before it
    own = math.exp(0.3)
    ratio, first = 0.1 * math.exp(0.1) * own, math.exp(0.2) * own
    assert value == pytest.approx(math.log(first / (1 - ratio)) - math.log(ratio * first))
    assert gradient[2] == pytest.approx(1 / (1 - ratio) - 2)


AMBIGUOUS = parse("%start S\n%terminals a\nS -> L | R\nL -> L X | X\nR -> X R | X\nX -> a")


def branching(side: str, n: int) -> Tree:
    text = f"({side} (X a))"
    for _ in range(n - 1):
        text = f"(L {text} (X a))" if side == "L" else f"(R (X a) {text})"
    return Tree.from_brackets(f"(S {text})")


def test_features_of_rules_learn_what_counts_cannot() -> None:
    # of two readings of every document the right one is chosen by its rules alone
    documents = [Document(np.zeros((n, 1)), {}, branching("R", n)) for n in (2, 3, 5)]
    model = fit(ConditionalGrammar.plain(AMBIGUOUS), documents, c2=0.01)
    for n in (2, 4, 6):
        found = viterbi(model.weighted, model.scores(Document(np.zeros((n, 1)))))
        assert found.tree == branching("R", n)


def test_features_of_spans_learn_from_the_document() -> None:
    def document(n: int, left: bool) -> Document:
        columns = np.full((n, n, 1), -1, dtype=np.int32)
        columns[0, n - 1] = len(AMBIGUOUS.rules) + left
        return Document(np.zeros((n, 1)), {"L": columns}, branching("L" if left else "R", n))

    start = ConditionalGrammar.plain(AMBIGUOUS, n_span_features=2)
    model = fit(start, [document(n, left) for n in (2, 3, 4) for left in (True, False)], c2=0.01)
    for left in (True, False):
        wanted = document(5, left)
        assert viterbi(model.weighted, model.scores(wanted)).tree == wanted.tree


def test_fitting_ends_where_the_slope_is_flat() -> None:
    model, documents = random_task(3)
    fitted = fit(model, documents, c2=0.5, iterations=200)
    value, gradient = Objective(model, documents, 0.5)(fitted.weights)
    assert value < Objective(model, documents, 0.5)(model.weights)[0]
    assert np.linalg.norm(gradient) < 1e-2 * max(1.0, np.linalg.norm(fitted.weights))
    assert np.array_equal(fit(model, documents, iterations=0).weights, model.weights)


def test_a_grammar_without_features_is_the_grammar() -> None:
    model = ConditionalGrammar.plain(AMBIGUOUS)
    scores = ParseScores.from_labels(AMBIGUOUS, ["a"] * 3)
    assert viterbi(model.weighted, scores) == viterbi(binarise(AMBIGUOUS), scores)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document(np.zeros((2, 1))), "CRF949.*needs a tree"),
        (
            Document(np.zeros((3, 1)), {}, branching("L", 2), "Doc 4"),
            "CRF949.*Doc 4.*2 leaves, and the document 3 units",
        ),
        (Document(np.zeros((1, 1)), {}, Tree.from_brackets("(S (S a))"), "Doc 4"), "CRF949.*Doc 4.*no rule S -> S"),
    ],
)
def test_documents_to_learn_from_need_fitting_trees(document: Document, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Objective(ConditionalGrammar.plain(AMBIGUOUS), [document], 0.1)


def test_columns_need_weights() -> None:
    model = ConditionalGrammar.plain(AMBIGUOUS)
    with pytest.raises(ValueError, match=r"CRF950.*columns\['L'\] of Doc 4.*from 99"):
        model.scores(Document(np.zeros((1, 1)), {"L": np.full((1, 1, 1), 99, dtype=np.int32)}, name="Doc 4"))
    with pytest.raises(ValueError, match=r"CRF950.*rule_columns"):
        ConditionalGrammar(model.grammar, model.rule_columns, np.zeros(2))
    with pytest.raises(ValueError, match=r"CRF101.*rule_columns"):
        ConditionalGrammar(model.grammar, model.rule_columns[:2], model.weights)
    with pytest.raises(ValueError, match=r"CRF950.*c2"):
        Objective(model, [], -1.0)

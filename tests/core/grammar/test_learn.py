"""Conditional log-linear weights: the loss by enumeration, its slope by finite differences, and what is learned."""

import math

import numpy as np
import pytest
from helpers.grammars import TERMINALS, Enumeration, random_grammar, tree_of

from spacy_crf.core.grammar.chart import NoParseError, ParseScores
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.learn import ConditionalGrammar, ConditionalLoss, Observation, fit
from spacy_crf.core.grammar.rules import ParseTree

N_SPAN_FEATURES = 5


def only(scores: ParseScores, tree: ParseTree, labels: tuple[str, ...], terminals: tuple[str, ...]) -> ParseScores:
    """Scores of a document that forbid other terminals than those of a tree, and other nodes with some labels."""
    kept = np.array(terminals) == np.array(tree.leaves)[:, None]
    spans = dict(scores.spans)
    for label in labels:
        own = np.full((scores.n_units, scores.n_units), -np.inf)
        for node in tree.nodes:
            if node.label == label:
                own[node.start, node.end - 1] = 0.0
        spans[label] = spans.get(label, 0.0) + own
    return ParseScores(np.where(kept, scores.terminals, -np.inf), spans, scores.name)


def random_task(seed: int, circles: bool = False):
    """A model with features of rules and spans, and documents whose right trees are not the best ones."""
    rng = np.random.default_rng(seed)
    grammar = random_grammar(rng, circles)
    n_features = len(grammar.rules) + N_SPAN_FEATURES
    model = ConditionalGrammar(grammar, rng.normal(0, 0.1 if circles else 1, n_features))
    documents = []
    while len(documents) < 3:
        n = int(rng.integers(1, 4))
        columns = {
            label: rng.integers(-1, n_features, (n, n, 3)).astype(np.int32) for label in grammar.nonterminals[:2]
        }
        table = rng.normal(-0.5, 0.3, (n, n))
        scores = ParseScores(rng.normal(0, 1, (n, len(TERMINALS))), {"S": table}, f"document {len(documents)}")
        tree = model.weighted.best(model.scores(scores, columns), 4)[-1].tree
        documents.append(Observation(scores, only(scores, tree, ("S", "A"), grammar.terminals), columns))
    return model, documents


@pytest.mark.parametrize("seed", range(8))
def test_the_loss_is_that_of_the_enumeration(seed: int) -> None:
    model, documents = random_task(seed)
    expected = 0.3 * float(model.weights @ model.weights)
    for document in documents:
        for sign, scores in ((1, document.scores), (-1, document.gold)):
            expected += sign * Enumeration(model.weighted, model.scores(scores, document.columns)).log_z()
    assert ConditionalLoss(model, documents, 0.3)(model.weights)[0] == pytest.approx(expected)


@pytest.mark.parametrize("circles", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_gradient_is_that_of_finite_differences(seed: int, circles: bool) -> None:
    model, documents = random_task(seed, circles)
    objective, step = ConditionalLoss(model, documents, 0.3), 1e-6
    _, gradient = objective(model.weights)
    for column in range(len(model.weights)):
        change = step * (np.arange(len(model.weights)) == column)
        slope = (objective(model.weights + change)[0] - objective(model.weights - change)[0]) / (2 * step)
        assert gradient[column] == pytest.approx(slope, abs=1e-5)


def test_a_node_that_is_there_twice_counts_twice() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> A [0.1] | a")
    columns = {"A": np.full((1, 1, 1), 2, dtype=np.int32)}
    model = ConditionalGrammar(grammar, np.array([0.1, 0.2, 0.3]))
    log_z, counts = model.expect(ParseScores(np.zeros((1, 1))), columns)
    # log Z is that of a geometric series with the ratio r
    own = math.exp(0.3)
    ratio, first = 0.1 * math.exp(0.1) * own, math.exp(0.2) * own
    assert log_z == pytest.approx(math.log(first / (1 - ratio)))
    assert counts == pytest.approx([1 / (1 - ratio) - 1, 1, 1 / (1 - ratio)])


AMBIGUOUS = Grammar.from_text("%start S\n%terminals a\nS -> L | R\nL -> L X | X\nR -> X R | X\nX -> a")


def branching(side: str, n: int) -> ParseTree:
    text = f"({side} (X a))"
    for _ in range(n - 1):
        text = f"(L {text} (X a))" if side == "L" else f"(R (X a) {text})"
    return tree_of(f"(S {text})")


def observe(side: str, n: int, columns: dict | None = None) -> Observation:
    scores = ParseScores(np.zeros((n, 1)))
    return Observation(scores, only(scores, branching(side, n), ("L", "R"), ("a",)), columns or {})


def test_features_of_rules_learn_what_counts_cannot() -> None:
    # of two readings of every document the right one is chosen by its rules alone
    model = fit(ConditionalGrammar.start(AMBIGUOUS), [observe("R", n) for n in (2, 3, 5)], c2=0.01)
    for n in (2, 4, 6):
        assert model.weighted.parse(ParseScores(np.zeros((n, 1)))).tree == branching("R", n)


def test_features_of_spans_learn_from_the_document() -> None:
    def columns(n: int, left: bool) -> dict:
        own = np.full((n, n, 1), -1, dtype=np.int32)
        own[0, n - 1] = len(AMBIGUOUS.rules) + left
        return {"L": own}

    start = ConditionalGrammar.start(AMBIGUOUS, n_span_features=2)
    documents = [observe("L" if left else "R", n, columns(n, left)) for n in (2, 3, 4) for left in (True, False)]
    model = fit(start, documents, c2=0.01)
    for left in (True, False):
        scores = model.scores(ParseScores(np.zeros((5, 1))), columns(5, left))
        assert model.weighted.parse(scores).tree == branching("L" if left else "R", 5)


def test_trees_that_agree_with_what_is_known_are_right_together() -> None:
    scores = ParseScores(np.zeros((3, 1)))
    loss = ConditionalLoss(ConditionalGrammar.start(AMBIGUOUS), [Observation(scores, scores)], 0.0)
    value, gradient = loss(np.random.default_rng(1).normal(size=len(AMBIGUOUS.rules)))
    assert value == pytest.approx(0.0) and gradient == pytest.approx(np.zeros(len(gradient)))


def test_fitting_ends_where_the_slope_is_flat() -> None:
    model, documents = random_task(3)
    fitted, loss = fit(model, documents, c2=0.5, iterations=200), ConditionalLoss(model, documents, 0.5)
    value, gradient = loss(fitted.weights)
    assert value < loss(model.weights)[0]
    assert np.linalg.norm(gradient) < 1e-2 * max(1.0, np.linalg.norm(fitted.weights))
    assert np.array_equal(fit(model, documents, iterations=0).weights, model.weights)


def test_a_grammar_without_weights_is_the_grammar() -> None:
    model = ConditionalGrammar.start(AMBIGUOUS)
    scores = AMBIGUOUS.scores_of(["a"] * 3)
    assert model.weighted.parse(scores) == AMBIGUOUS.parse(scores)


def test_what_cannot_be_learned_from_is_refused() -> None:
    model, scores = ConditionalGrammar.start(AMBIGUOUS), ParseScores(np.zeros((1, 1)), name="Doc 4")
    with pytest.raises(ValueError, match=r"CRF950.*columns\['L'\] of Doc 4.*from 99"):
        model.scores(scores, {"L": np.full((1, 1, 1), 99, dtype=np.int32)})
    with pytest.raises(ValueError, match=r"CRF950.*c2"):
        ConditionalLoss(model, [], -1.0)
    nothing = ParseScores(np.full((1, 1), -np.inf), name="Doc 4")
    with pytest.raises(NoParseError, match=r"CRF947.*Doc 4"):
        ConditionalLoss(model, [Observation(scores, nothing)], 0.1)(model.weights)

"""The best tree against an enumeration of all trees."""

import numpy as np
import pytest
from helpers.grammars import Enumeration, problems, random_grammar
from hypothesis import given

from spacy_crf.core.grammar.chart import DivergedLoopError, NoParseError, ParseScores
from spacy_crf.core.grammar.grammar import Grammar

RUN = Grammar.from_text("%start T\n%terminals a\nT -> T T [0.5] | a [0.5]")


def best(grammar: Grammar, labels: str, **settings):
    return grammar.parse(grammar.scores_of(labels.split(), **settings))


@given(problems())
def test_the_best_tree_is_that_of_the_enumeration(problem) -> None:
    check(*problem)


@given(problems(circles=True, max_units=3))
def test_unary_rules_may_lead_in_a_circle(problem) -> None:
    check(*problem)


def check(grammar: Grammar, scores: ParseScores) -> None:
    ranked = Enumeration(grammar, scores).ranked
    if not ranked:
        with pytest.raises(NoParseError, match=r"CRF947.*document 7"):
            grammar.parse(scores)
        return
    found = grammar.parse(scores)
    assert found.score == pytest.approx(ranked[0].score)
    assert str(found.tree) in {str(listed) for listed in ranked if listed.score > ranked[0].score - 1e-9}


@given(problems(min_units=1))
def test_a_tree_is_made_of_rules_and_covers_the_units(problem) -> None:
    grammar, scores = problem
    try:
        tree = grammar.parse(scores).tree
    except NoParseError:
        return
    assert {rule for _, rule in tree.rules()} <= set(grammar.numbers)
    assert tree.nodes[0][:3] == (grammar.start, 0, scores.n_units)
    leaves = [node for node, below in zip(tree.nodes, tree.children) if not below]
    assert [(leaf.start, leaf.end) for leaf in leaves] == [(unit, unit + 1) for unit in range(scores.n_units)]
    for node, below in zip(tree.nodes, tree.children):
        bounds = [node.start, *(tree.nodes[child].end for child in below)]
        assert not below or (bounds[-1] == node.end and [tree.nodes[child].start for child in below] == bounds[:-1])


def test_one_unit() -> None:
    found = best(RUN, "a")
    assert (str(found.tree), found.score) == ("(T a)", pytest.approx(np.log(0.5)))


@pytest.mark.parametrize(
    ("labels", "reason"), [("", "no units"), ("b", "no rules lead"), ("a b", "units, which begin a b")]
)
def test_why_there_is_no_tree(labels: str, reason: str) -> None:
    grammar = Grammar.from_text("%start T\n%terminals a b\nT -> T T | a")
    with pytest.raises(NoParseError, match=f"CRF947.*Doc 3 has no tree.*{reason}"):
        best(grammar, labels, name="Doc 3")


def test_a_unit_that_can_be_nothing_is_named() -> None:
    with pytest.raises(NoParseError, match="unit 1 can be no terminal"):
        RUN.parse(ParseScores(np.array([[0.0], [-np.inf]])))


def test_trees_may_be_deeper_than_the_recursion_limit() -> None:
    grammar = Grammar.from_text("%start T\n%terminals a\nT -> a T | a")
    tree = best(grammar, "a " * 400).tree
    assert len(tree.nodes) == 800
    assert str(tree).endswith("a)" + ")" * 399)


def test_units_whose_terminal_is_open_are_decided_with_the_tree() -> None:
    grammar = Grammar.from_text("%start T\n%terminals open close\nT -> open close | open T close | T T")
    scores = np.log([[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.6, 0.4]])
    tree = grammar.parse(ParseScores(scores)).tree
    assert tree.leaves.count("open") == tree.leaves.count("close") == 2


def test_a_score_of_a_span_decides_and_forbids() -> None:
    grammar = Grammar.from_text("%start T\n%terminals a\nT -> P T | P\nP -> a | a a")
    bonus, veto = np.zeros((3, 3)), np.zeros((3, 3))
    bonus[1, 2] = 5.0
    veto[1, 2] = -np.inf
    assert str(best(grammar, "a a a", spans={"P": bonus}).tree) == "(T (P a) (T (P a a)))"
    assert "a a" not in str(best(grammar, "a a a", spans={"P": veto, "T": np.zeros((3, 3))}).tree).replace(
        "(P a a) (T (P a))", ""
    )


@pytest.mark.parametrize(
    ("rules", "best_tree"),
    [
        ("S -> X | a a\nX -> a a", "(S a a)"),
        ("S -> Y X | X Y\nX -> a\nY -> a", "(S (Y a) (X a))"),
        ("S -> Y | X\nX -> a a\nY -> a a", "(S (Y a a))"),
        ("S -> S S [0.5] | a | a a [0.5]", "(S (S a) (S a))"),
    ],
)
def test_ties_are_broken_by_rule(rules: str, best_tree: str) -> None:
    grammar = Grammar.from_text(f"%start S\n%terminals a\n{rules}")
    assert str(best(grammar, "a a").tree) == best_tree


def test_of_equal_splits_the_earlier_one_is_taken() -> None:
    assert str(best(RUN, "a a a").tree) == "(T (T a) (T (T a) (T a)))"


def test_loops_that_gain_nothing_are_left_out() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> B [0.1] | a\nB -> A [10] | a [0.1]")
    assert str(best(grammar, "a").tree) == "(A a)"


@pytest.mark.parametrize("text", ["A -> A [1.01] | a", "A -> B [0.1] | a\nB -> C\nC -> A [11]"])
def test_loops_that_gain_have_no_best_tree(text: str) -> None:
    grammar = Grammar.from_text(f"%start A\n%terminals a\n{text}")
    with pytest.raises(DivergedLoopError, match="CRF948.*A"):
        best(grammar, "a")


def test_a_loop_may_gain_by_the_score_of_a_span() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> A [0.5] | A A | a")
    table = np.zeros((2, 2))
    table[0, 1] = 1.0
    with pytest.raises(DivergedLoopError):
        best(grammar, "a a", spans={"A": table})


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        (lambda: ParseScores(np.zeros(3)), "CRF101"),
        (lambda: ParseScores(np.zeros((3, 1)), {"T": np.zeros((2, 3))}), r"CRF101.*spans\['T'\]"),
        (lambda: ParseScores(np.full((3, 1), np.nan)), "CRF102.*terminals"),
        (lambda: ParseScores(np.zeros((3, 1)), {"T": np.full((3, 3), np.inf)}), "CRF102.*'T'"),
        (lambda: RUN.parse(ParseScores(np.zeros((3, 2)))), "CRF101.*terminals"),
        (lambda: RUN.parse(ParseScores(np.zeros((1, 1)), {"a": np.zeros((1, 1))})), "CRF950.*'a'"),
        (lambda: best(RUN, "a x", name="Doc 3"), "CRF950.*Doc 3 is 'x'"),
    ],
)
def test_what_does_not_fit_is_refused(scores, code: str) -> None:
    with pytest.raises(ValueError, match=code):
        scores()


def test_splits_beyond_one_work_array_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = Grammar.from_text(
        "%start S\n%terminals a b\nS -> S A [0.3] | A S [0.2] | a\nA -> b S [0.4] | S b | A A [0.6]"
    )
    rng = np.random.default_rng(3)
    scores = ParseScores(rng.normal(0, 1, (13, 2)))
    whole = grammar.parse(scores)
    monkeypatch.setattr("spacy_crf.core.grammar.chart.CELLS", 1)
    assert grammar.parse(scores) == whole


@pytest.mark.parametrize("seed", range(5))
def test_the_best_tree_is_that_of_nltk(seed: int) -> None:
    nltk = pytest.importorskip("nltk")
    rng = np.random.default_rng(seed)
    grammar = random_grammar(rng).with_counts([], 1.0)
    productions = [
        nltk.ProbabilisticProduction(
            nltk.Nonterminal(rule.parent),
            [child if child in grammar.terminals else nltk.Nonterminal(child) for child in rule.children],
            prob=float(np.exp(rule.log_weight)),
        )
        for rule in grammar.rules
    ]
    parser = nltk.ViterbiParser(nltk.PCFG(nltk.Nonterminal(grammar.start), productions))
    labels = rng.choice(list(grammar.terminals), 5).tolist()
    theirs = next(iter(parser.parse(labels)), None)
    if theirs is None:
        with pytest.raises(NoParseError):
            best(grammar, " ".join(labels))
    else:
        assert best(grammar, " ".join(labels)).score == pytest.approx(np.log(theirs.prob()))

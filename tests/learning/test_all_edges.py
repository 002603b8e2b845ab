"""All weights of edge templates: the optimum is that of an objective which enumerates labellings."""

from itertools import product

import numpy as np
import spacy
from scipy.optimize import minimize
from scipy.special import logsumexp
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.learning.model import get_layout

C2 = 0.3
TAGS = ("X", "Y", "Z")
SENTENCES = [("a b a", "X Y X"), ("b b c a", "Y Z X X"), ("c", "Z"), ("a c b", "X X Y"), ("c a", "Y X")]


def enumerated() -> tuple[np.ndarray, np.ndarray]:
    """Marginals of the first sentence at the optimum, and all weights: [word, from, to] of edges, [tag] of ends."""
    words, n = sorted({word for text, _ in SENTENCES for word in text.split()}), len(TAGS)

    def scores(weights: np.ndarray, text: list[int]) -> dict[tuple[int, ...], float]:
        edges, ends = weights[: len(words) * n * n].reshape(len(words), n, n), weights[len(words) * n * n :]
        return {
            path: sum(edges[word, path[i], path[i + 1]] for i, word in enumerate(text[1:])) + ends[path[-1]]
            for path in product(range(n), repeat=len(text))
        }

    read = [([words.index(w) for w in text.split()], tuple(map(TAGS.index, tags.split()))) for text, tags in SENTENCES]

    def objective(weights: np.ndarray) -> float:
        each = [(scores(weights, text), gold) for text, gold in read]
        return sum(logsumexp(list(own.values())) - own[gold] for own, gold in each) + C2 * (weights**2).sum()

    found = minimize(objective, np.zeros(len(words) * n * n + n), options={"gtol": 1e-8}).x
    own = scores(found, read[0][0])
    shares = np.exp(np.array(list(own.values())) - logsumexp(list(own.values())))
    marginals = [[shares[[path[i] == tag for path in own]].sum() for tag in range(n)] for i in range(len(read[0][0]))]
    return np.array(marginals), found


def test_all_edges_are_learned_as_by_enumeration() -> None:
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy_crf.LinearChain.v1", "boundary": False}
    model |= {"all_states": True, "all_edges": True, "transitions": False}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": C2, "iterations_per_step": 300, "epsilon": 1e-9, "delta": 1e-14}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["B:ORTH", "EOS"]}
    pipe = nlp.add_pipe("crf_tagger", config={"model": model, "trainer": trainer, "features": features})
    docs = [(text.split(), tags.split()) for text, tags in SENTENCES]
    examples = [Example(Doc(nlp.vocab, words), Doc(nlp.vocab, words, tags=tags)) for words, tags in docs]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    marginals, weights = enumerated()
    layout = get_layout(pipe.model)
    assert len(layout.edge_cells) == 3 * 9 and layout.size == len(weights)
    found = pipe.token_probabilities([nlp.make_doc(SENTENCES[0][0])])[0]
    np.testing.assert_allclose(found, marginals, atol=1e-4)
    learned = np.concatenate([pipe.model.get_param("edges"), pipe.model.get_param("state")])
    np.testing.assert_allclose(np.sort(learned), np.sort(weights), atol=2e-3)

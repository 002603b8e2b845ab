"""Texts whose punctuation is context: it has no tags of its own, but may be part of spans."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.annotation.documents import write_text_settings
from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.problem import Trellis, penalty, violations
from spacy_crf.core.errors import CRFError
from spacy_crf.core.labels import TagSet

WORDS = ["Ann", "Lee", "saw", "Bo", ",", "Jr", "/", "Cy"]
SPANS = [(0, 2), (3, 6), (7, 8)]
TAGS = ["B-PER", "I-PER", "B-ACT", "B-PER", "", "B-PER", "", "B-PER"]
FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]"]}


def train(component: str, target: str, **config: Any) -> Language:
    """A pipeline that has learned one text."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(component, config={"target": target, "features": FEATURES, **config})
    gold = Doc(nlp.vocab, words=WORDS, tags=TAGS)
    gold.set_ents([Span(gold, start, end, label="PER") for start, end in SPANS], default="outside")
    gold.spans["sc"] = list(gold.ents)
    write_text_settings(gold, {"punctuation": "context", "cut_at_punctuation": False, "punctuation_tags": None})
    examples = [Example(Doc(nlp.vocab, words=WORDS), gold)] * 3
    nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples)
    return nlp


@pytest.mark.parametrize("component", ["crf_tagger", "constrained_ner"])
@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "none"])
@pytest.mark.parametrize("target", ["ent", "spans"])
def test_spans_hold_the_punctuation_that_they_were_learned_with_and_no_other(
    component: str, scheme: str, target: str
) -> None:
    nlp = train(component, target, scheme=scheme)
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    found = doc.ents if target == "ent" else doc.spans["sc"]
    assert [(span.start, span.end) for span in found] == SPANS


def test_a_constrained_tagger_gives_punctuation_no_tag(tmp_path: Path) -> None:
    nlp = train("constrained_ner", "tag", constraints=["at_most(B-PER, 3) unit"])
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        doc = pipeline(Doc(pipeline.vocab, words=WORDS))
        assert [not token.tag_ for token in doc] == [not tag for tag in TAGS]
        assert doc._.decode_info["certified"] and [token.tag_ for token in doc].count("B-PER") == 3


def test_constraints_count_no_labels_of_punctuation_in_probabilities() -> None:
    config = {"constraints": ["at_most(B-PER, 3) unit"], "probabilities": "constrained", "marginals": "crf_test_probs"}
    nlp = train("constrained_ner", "tag", **config)
    with pytest.raises(CRFError, match="CRF596.*constrained_ner"):
        nlp(Doc(nlp.vocab, words=WORDS))
    with pytest.raises(CRFError, match="CRF596.*constrained_ner"):
        nlp.get_pipe("constrained_ner").token_probabilities([Doc(nlp.vocab, words=WORDS)])


@pytest.mark.parametrize("templates", [["LOWER[0]"], ["LOWER[0]", "B:LOWER[0]"]])
@pytest.mark.parametrize("rules", [[], ["at_most(X, 2) unit"], ["at_least(Y, 2) cost=1.5", "ends_with(X) cost=0.5"]])
def test_labels_beside_punctuation_are_the_best_of_the_chain(templates: list[str], rules: list[str]) -> None:
    """Scores of transitions into punctuation, out of it, and everywhere else count."""
    rng, nlp = random.Random(0), spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": templates}
    pipe = nlp.add_pipe(
        "constrained_ner", config={"target": "tag", "features": features, "changes": "crf_test_changes"}
    )
    golds = []
    for _ in range(40):
        words = rng.choices("aabc,", k=rng.randint(1, 6))
        places = itertools.accumulate(word != "c" for word in words)
        tags = ["" if word == "," else "XY"[place % 2] for word, place in zip(words, places)]
        golds.append(Doc(nlp.vocab, words=words, tags=tags))
        write_text_settings(
            golds[-1], {"punctuation": "context", "cut_at_punctuation": False, "punctuation_tags": None}
        )
    examples = [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    pipe.set_constraints(rules)
    constraints, fields = parse_all(rules), Fields(TagSet((*pipe.tags.tags, ""), "none"))
    for gold in golds[:20]:
        doc = Doc(nlp.vocab, words=[token.text for token in gold])
        chains, best = pipe.distribution([doc])[1].chains.astype(np.float64), []
        trellis = Trellis.of(chains, chains.batch.rows)
        for path in itertools.product(range(len(pipe.tags)), repeat=len(doc)):
            seen = [len(pipe.tags) if token.text == "," else tag for token, tag in zip(doc, path)]
            broken = violations(constraints, Labelling(seen, fields, UnitPredicates(len(doc))))
            best.append((trellis.score(np.array(path)) - penalty(constraints, broken), seen))
        found, (objective, labels) = nlp(doc), max(best)
        assert found._.decode_info["objective"] == pytest.approx(objective) and found._.decode_info["certified"]
        assert [token.tag_ for token in found] == [fields.tags.tags[label] for label in labels]
        assert all(change["from"] != change["to"] for change in found._.crf_test_changes)


def test_decoded_spans_end_before_tokens_without_a_tag() -> None:
    nlp = train("crf_tagger", "tag")
    config = {"source": "crf_tagger", "scheme": "BIO", "constraints": ["at_most(PER, 9)"]}
    nlp.add_pipe("constraint_decoder", config=config)
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert [(ent.start, ent.end) for ent in doc.ents] == [(0, 2), (2, 3), (3, 4), (5, 6), (7, 8)]
    assert doc._.decode_info["certified"]

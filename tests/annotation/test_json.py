"""What components write survives as JSON, in DocBin and as bytes."""

import json

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

WORDS = ["Ada", "met", "Bo", "in", "Delft", "."]
TREE = {"@misc": "spacy_crf.TagTree.v1", "separator": "."}
COMPONENTS = {
    "crf_tagger": {"marginals": "crf_json_tags", "entropy": "crf_json_entropy", "n_best": 2},
    "ents": {"target": "ent", "scores": "crf_json_scores", "marginals": "crf_json_ents"},
    "spans": {"target": "spans"},
    "set_valued_tagger": {"sequences": 2, "overwrite": True, "method": "hierarchy", "hierarchy": TREE},
    "constrained_ner": {"constraints": ["adjacency(PER, LOC)"], "changes": "crf_json_changes", "overwrite": True},
    "punctuation_restorer": {"n_best": 2},
    "frequency_tagger": {"marginals": "crf_json_frequency"},
}
WRITTEN = ["crf_json_tags", "crf_json_entropy", "n_best", "crf_json_ents", "tag_probs", "tag_set", "tag_nodes"]
WRITTEN += ["tag_sequences", "decode_info", "crf_json_changes", "punctuation", "restored", "restoration"]
WRITTEN += ["restorations", "crf_json_frequency", "section_tree_json"]


@pytest.fixture(scope="module")
def doc():
    nlp = spacy.blank("en")
    nlp.config["training"]["score_weights"] = {"crf_score": 0.0}  # of several components
    for name, config in COMPONENTS.items():
        nlp.add_pipe(name if name not in ("ents", "spans") else "crf_tagger", name=name, config=config)
    tags = ["N.a", "V.x", "N.a", "P.p", "N.b", "$."]
    gold = Doc(nlp.vocab, words=WORDS, tags=tags, ents=["B-PER", "O", "B-PER", "O", "B-LOC", "O"])
    gold.spans["sc"] = [Span(gold, 0, 1, label="PER")]
    examples = [Example(Doc(nlp.vocab, words=WORDS), gold.copy()) for _ in range(4)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.add_pipe("section_parser")
    return nlp("Ada met Bo in Delft .")


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_json_and_survives(doc, name):
    written = doc._.get(name)
    assert written is not None
    assert json.loads(json.dumps(doc.to_json(underscore=[name])))["_"][name] == plain(written) == written
    twins = [Doc(doc.vocab).from_bytes(doc.to_bytes())]
    twins += DocBin().from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes()).get_docs(doc.vocab)
    twins.append(Doc(doc.vocab).from_json(doc.to_json(underscore=[name])))
    for twin in twins:
        assert plain(twin._.get(name)) == written
        if name in ("crf_json_tags", "tag_probs"):
            assert twin[1]._.get(name) == doc[1]._.get(name)


def plain(value):
    """A value without the difference of lists and tuples, which spaCy's bytes do not know."""
    return json.loads(json.dumps(value))


def test_scores_of_spans(doc):
    assert doc.ents and all(isinstance(ent._.crf_json_scores, dict | float) for ent in doc.ents)
    assert json.loads(json.dumps(doc.to_json(underscore=["crf_json_scores"])))["underscore_span"]


def test_tokens_show_their_part(doc):
    for place, token in enumerate(doc):
        assert list(token._.tag_probs.values()) == doc._.tag_probs["values"][place]
        assert list(token._.punct_probs.values()) == doc._.punctuation["probabilities"][place]

"""Small saved pipelines: how each was made, what it is asked, and what its Docs then hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from contract.snapshots import DATA
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

ROOT = Path(__file__).parents[2]
HIDDEN = ("milliseconds",)  # a time is no prediction
LEAST = 5e-4  # smaller probabilities are 0 here
LBFGS = {"@misc": "spacy_crf.LBFGS.v1", "c1": 0.3, "c2": 0.05, "iterations_per_step": 20}
HALF = {"@architectures": "spacy_crf.LinearChain.v1", "precision": "float16"}


@dataclass(frozen=True)
class Model:
    """A saved pipeline.

    config (str): of the shipped ones, which it was trained with. overrides (dict): settings that are other there.
    train (str): path below `corpus`.
    gold (dict): reader and settings of what it is asked; `path` is below `data/gold`.
    texts (list of str): what it is asked as well. doc, token, span (list of str): custom attributes that are told.
    """

    config: str
    train: str
    gold: dict[str, Any]
    overrides: dict[str, Any] = field(default_factory=dict)
    texts: Sequence[str] = ()
    doc: Sequence[str] = ()
    token: Sequence[str] = ()
    span: Sequence[str] = ()


ENGLISH = (
    "The boats that left before dawn were back by noon.",
    "Can you mail the can opener back to Doreen in Whitby?",
    "",
    "She may well visit Ardmore County Council in May 2031",
)
TAGGER_GOLD = {"@readers": "spacy_crf.Corpus.v1", "path": "tagger.conllu"}
TAGGER_PATH = "crf_tagger/train.conllu"
tagger = partial(Model, config="crf_tagger", train=TAGGER_PATH, gold=TAGGER_GOLD, texts=ENGLISH)
SETS_GOLD = {"@readers": "spacy_crf.Corpus.v1", "path": "sets.tsv", "format": "tagsets"}
SPEECH = (
    "dear tom thank you for your letter how is your sister did she get the book",
    "Well, where were you? I waited until noon and then I went home",
    "",
    "she said the boat the car and the house were sold in may",
)
SOURCED = {
    "hmm_tagger": {"factory": "hmm_tagger", "order": 3, "marginals": "hmm_probs"},
    "set_valued_tagger": {
        "factory": "set_valued_tagger",
        "source": "hmm_tagger",
        "method": "mass",
        "coverage": 0.9,
    },
    "memm_tagger": {"factory": "memm_tagger", "target": "pos", "marginals": "memm_probs", "c2": 0.1},
    "frequency_tagger": {"factory": "frequency_tagger", "target": "pos", "marginals": "word_probs"},
    "crf_tagger": {
        "factory": "crf_tagger",
        "target": "ent",
        "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@ner"]},
        "model": HALF,
        "trainer": LBFGS,
    },
    "constraint_decoder": {
        "factory": "constraint_decoder",
        "source": "crf_tagger",
        "constraints": ["at_most(LOC, 1)", "at_most(DATE, 1) cost=1.5"],
    },
}
MODELS = {
    "tagger": tagger(
        overrides={
            "corpora.train.limit": 150,
            "training.max_steps": 3,
            "components.crf_tagger.model": HALF,
            "components.crf_tagger.trainer": {**LBFGS, "unseen": 0.02},
            "components.crf_tagger.marginals": "tag_marginals",
            "components.crf_tagger.n_best": 3,
            "components.crf_tagger.entropy": "entropy",
            "components.crf_tagger.temperature": 1.25,
        },
        doc=("n_best", "entropy"),
        token=("tag_marginals",),
    ),
    "entities": tagger(
        overrides={
            "corpora.train.limit": 150,
            "training.max_steps": 3,
            "components.crf_tagger.target": "ent",
            "components.crf_tagger.scheme": "BILUO",
            "components.crf_tagger.features.templates": ["@ner"],
            "components.crf_tagger.model": HALF,
            "components.crf_tagger.trainer": LBFGS,
            "components.crf_tagger.scores": "ent_scores",
            "components.crf_tagger.marginals": "ent_marginals",
            "components.crf_tagger.threshold": 0.3,
        },
        span=("ent_scores",),
        token=("ent_marginals",),
    ),
    "dictionary": tagger(
        overrides={
            "corpora.train.limit": 150,
            "training.max_steps": 2,
            "components.crf_tagger.target": "pos",
            "components.crf_tagger.decode": "posterior",
            "components.crf_tagger.forbidden": [["DET", "SCONJ"]],
            "components.crf_tagger.features.templates": ["@tagging", "VALID_TAGS[-1..1]"],
            "components.crf_tagger.dictionary": {"@misc": "spacy_crf.TagDictionary.v1", "use": "both"},
            "components.crf_tagger.model": HALF,
            "components.crf_tagger.trainer": LBFGS,
            "components.crf_tagger.marginals": "pos_marginals",
        },
        token=("pos_marginals",),
    ),
    "sourced": tagger(
        overrides={
            "corpora.train.limit": 40,
            "training.max_steps": 2,
            "training.score_weights": {},
            "initialize.components": {},
            "nlp.pipeline": [*SOURCED],
            "components": SOURCED,
        },
        doc=("decode_info",),
        token=("hmm_probs", "memm_probs", "word_probs", "tag_set", "tag_probs", "tag_nodes"),
    ),
    "second_order": tagger(
        overrides={
            "corpora.train.limit": 100,
            "training.max_steps": 5,
            "training.patience": 5,
            "components.crf_tagger.target": "pos",
            "components.crf_tagger.model": {**HALF, "order": 2},
            "components.crf_tagger.trainer": {**LBFGS, "first_order_steps": 3},
            "components.crf_tagger.marginals": "pos_marginals",
        },
        token=("pos_marginals",),
    ),
    "sets": Model(
        config="set_valued_tagger",
        train="set_valued_tagger/train",
        overrides={
            "corpora.train.limit": 6,
            "training.max_steps": 3,
            "components.set_valued_tagger.model": HALF,
            "components.set_valued_tagger.trainer": {**LBFGS, "unseen": 0.02},
            "components.set_valued_tagger.features.spelling.table": "fit",
            "components.set_valued_tagger.sequences": 3,
        },
        gold=SETS_GOLD,
        texts=("", "uin sawzel fora yern armicken , uinen ganselen wekkel ."),
        doc=("tag_sequences",),
        token=("tag_set", "tag_probs"),
    ),
    "hierarchy": Model(
        config="set_valued_tagger",
        train="set_valued_tagger/train",
        overrides={
            "corpora.train.limit": 4,
            "training.max_steps": 2,
            "components.set_valued_tagger.method": "hierarchy",
            "components.set_valued_tagger.hierarchy": {
                "@misc": "spacy_crf.TagTree.v1",
                "path": "tests/contract/data/gold/tag_tree.tsv",
            },
            "components.set_valued_tagger.model": HALF,
            "components.set_valued_tagger.trainer": LBFGS,
        },
        gold=SETS_GOLD,
        token=("tag_set", "tag_nodes"),
    ),
    "references": Model(
        config="constrained_ner",
        train="constrained_ner/train",
        overrides={
            "training.max_steps": 3,
            "components.constrained_ner.model": HALF,
            "components.constrained_ner.trainer": LBFGS,
            "components.constrained_ner.mine.folds": 2,
            "components.constrained_ner.mine.iterations": 20,
            "components.constrained_ner.changes": "constraint_changes",
            "components.constrained_ner.scores": "field_scores",
            "components.constrained_ner.marginals": "field_marginals",
            "components.constrained_ner.constraints": ["order(AUTHOR, TITLE, DATE) cost=0.5"],
        },
        gold={
            "@readers": "spacy_crf.Corpus.v1",
            "path": "references.txt",
            "format": "references",
            "references": {"@misc": "spacy_crf.References.v1", "ents": True},
        },
        texts=(
            "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.",
            "",
            "1999, 2000. 3–4, 5–6.",
        ),
        doc=("decode_info", "constraint_changes"),
        token=("field_marginals",),
        span=("field_scores",),
    ),
    "sections": Model(
        config="section_parser",
        train="section_parser/train",
        overrides={
            "corpora.train.limit": 12,
            "training.max_steps": 2,
            "components.section_parser.model": HALF,
            "components.section_parser.trainer": LBFGS,
        },
        gold={"@readers": "spacy_crf.SectionCorpus.v1", "path": "sections"},
        texts=(
            "1. Scope\nAll ferries.\n\n2. Term\n3.1 One year.\n3.2 No more.\n",
            "",
            "Feiten\nDe vordering.\n\n1.1 Op 3 mei.\n1.2 Nee.\n\nBeslissing\n(a) Ja;\n(b) nee.\n",
        ),
        doc=("section_tree",),
        span=("section",),
    ),
    "punctuation": Model(
        config="punctuation_restorer",
        train="punctuation_restorer/train",
        overrides={
            "corpora.train.limit": 24,
            "training.max_epochs": 0,
            "training.max_steps": 2,
            "training.eval_frequency": 1,
            "training.batcher": {"@batchers": "spacy_crf.full_batch.v1"},
            "components.punctuation_restorer.model": {**HALF, "boundary": False},
            "components.punctuation_restorer.trainer": LBFGS,
            "components.punctuation_restorer.n_best": 2,
        },
        gold={"@readers": "spacy_crf.PunctuationCorpus.v1", "path": "punctuation.txt", "window": 60},
        texts=SPEECH,
        doc=("restored", "restoration", "restorations"),
        token=("punct_after", "case", "punct_probs"),
    ),
}


def read_gold(model: Model, nlp: Language) -> list[Example]:
    """What a pipeline is asked, with the answers."""
    reader = {**model.gold, "path": str(DATA / "gold" / model.gold["path"])}
    return list(registry.resolve({"reader": reader})["reader"](nlp))


def predict(model: Model, nlp: Language) -> list[dict[str, Any]]:
    """What a pipeline says, one entry for each Doc of the gold and for each text."""
    asked = [example.predicted for example in read_gold(model, nlp)]
    return [describe(model, doc) for doc in nlp.pipe([*asked, *model.texts])]


def score(model: Model, nlp: Language) -> dict[str, Any]:
    """Scores of a pipeline on its gold."""
    found = nlp.evaluate(read_gold(model, nlp))
    return {"names": sorted(found), "scores": plain({name: value for name, value in found.items() if name != "speed"})}


def describe(model: Model, doc: Doc) -> dict[str, Any]:
    """What a Doc holds, as far as the library writes it, in JSON's types; what is not set is left out."""
    told: dict[str, Any] = {
        "words": [token.text for token in doc],
        "tag": [token.tag_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "ents": [describe_span(span, model.span) for span in doc.ents],
        "spans": {
            key: {"attrs": plain(dict(group.attrs)), "spans": [describe_span(span, model.span) for span in group]}
            for key, group in doc.spans.items()
        },
        "starts": [token.i for token in doc if token.is_sent_start],
    }
    for name in model.token:
        told[f"token {name}"] = [plain(token._.get(name)) for token in doc]
    for name in model.doc:
        told[f"doc {name}"] = plain(doc._.get(name))
    return {name: value for name, value in told.items() if is_set(value)}


def describe_span(span: Span, names: Sequence[str]) -> dict[str, Any]:
    """Place, label and custom attributes of a span."""
    found = {name: plain(span._.get(name)) for name in names}
    return {"at": [span.start, span.end, span.label_, span.id_], **{name: found[name] for name in names if found[name]}}


def is_set(value: Any) -> bool:
    """Whether there is something in a value; for lists, in any of their entries."""
    return any(is_set(one) for one in value) if isinstance(value, list) else value not in (None, "", {})


def plain(value: Any) -> Any:
    """A value in JSON's types, floats rounded. Dicts of floats lack those that are about 0."""
    if hasattr(value, "to_json"):
        return plain(value.to_json())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        items = ((str(key), plain(one)) for key, one in value.items() if key not in HIDDEN)
        return {key: one for key, one in items if not (isinstance(one, float) and abs(one) < LEAST)}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value

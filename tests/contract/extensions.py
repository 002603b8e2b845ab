"""Prints the custom attributes that each use of the library registers, with their values where nothing was written.

A script of its own, so that nobody else's attributes are among them.
"""

import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.util import registry
from spacy.vocab import Vocab

TAGGER_OUTPUT = {"target": "my_tag", "marginals": "my_marginals", "n_best": 2, "entropy": "my_entropy"}
SET_NAMES = {name: f"my_{name}" for name in ("tag_set", "tag_probs", "tag_sequences", "tag_nodes", "gold_tags")}
SOURCED = {"source": "crf_tagger"}
COMPARISON = {"marginals": "my_marginals", "gold_tags": "my_gold"}
CONSTRAINED = {"info": "my_info", "changes": "my_changes", "scores": "my_scores", "marginals": "my_marginals"}
COMPONENTS: dict[str, list[dict[str, Any]]] = {
    "crf_tagger": [{}, TAGGER_OUTPUT, {"n_best": 2, "n_best_key": "my_best"}, {"target": "ent", "scores": "my_scores"}],
    "set_valued_tagger": [{}, {**SET_NAMES, "sequences": 2}, SOURCED, {**SET_NAMES, **SOURCED}],
    "frequency_tagger": [{}, COMPARISON],
    "hmm_tagger": [{}, COMPARISON],
    "memm_tagger": [{}, COMPARISON],
    "constrained_ner": [{}, CONSTRAINED],
    "constraint_decoder": [SOURCED, {**SOURCED, "info": "my_info", "changes": "my_changes"}],
    "section_parser": [{}],
    "punctuation_restorer": [{}, {"n_best": 2, "probabilities": False}],
}
COLUMNS = "A\tx\tDT\nboat\ty\tNN\n\n"
TAG_SETS = "A\tDT\nboat\tNN|VB\n\n"
REFERENCE = "<author> A. Boat. </author> <title> Nets. </title>\n"
SECTIONS = "<document><section><nr>1.</nr> <text>All boats.</text></section></document>\n"
CUES = "1\n00:00:01,000 --> 00:00:02,000\nA boat.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt sails.\n"
READERS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "columns": ("Corpus", "a.conll", COLUMNS, {"columns": ["word", "ext:my_column", "tag"]}),
    "tagsets": ("Corpus", "a.tsv", TAG_SETS, {"format": "tagsets"}),
    "references": ("Corpus", "a.txt", REFERENCE, {"format": "references"}),
    "sections": ("SectionCorpus", "a.xml", SECTIONS, {}),
    "text": ("PunctuationCorpus", "a.txt", "A boat, a net. It sails.\n", {}),
    "subtitles": ("PunctuationCorpus", "a.srt", CUES, {}),
}


def use_nothing() -> None:
    spacy.blank("en")


def use_component(name: str, config: dict[str, Any]) -> None:
    nlp = spacy.blank("en")
    if "source" in config:
        nlp.add_pipe(config["source"])
    nlp.add_pipe(name, config=config)


def use_reader(reader: str, file: str, text: str, settings: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_text(text, encoding="utf8")
        read = registry.get("readers", f"spacy_crf.{reader}.v1")(path=path, **settings)
        assert list(read(spacy.blank("en")))


def registered(use: Callable[[], None]) -> dict[str, dict[str, Any]]:
    """Names of custom attributes of Docs, tokens and spans, with their values in a Doc that has nothing of them."""
    use()
    doc = Doc(Vocab(), words=["A", "boat"])
    found: dict[str, dict[str, Any]] = {}
    for kind, owner, names in (
        ("doc", doc, Underscore.doc_extensions),
        ("token", doc[0], Underscore.token_extensions),
        ("span", doc[0:1], Underscore.span_extensions),
    ):
        found[kind] = {name: owner._.get(name) for name in sorted(names)}
    for kind, owner in (("doc", Doc), ("token", Token), ("span", Span)):
        for name in found[kind]:
            owner.remove_extension(name)
    return {kind: names for kind, names in found.items() if names}


def uses() -> dict[str, Callable[[], None]]:
    """Each use of the library by what it is called."""
    cases: dict[str, Callable[[], None]] = {"spacy.blank": use_nothing}
    for name, configs in COMPONENTS.items():
        for config in configs:
            cases[f"{name} {json.dumps(config)}"] = partial(use_component, name, config)
    for name, case in READERS.items():
        cases[f"read {name}"] = partial(use_reader, *case)
    return cases


if __name__ == "__main__":
    print(json.dumps({name: registered(use) for name, use in uses().items()}))

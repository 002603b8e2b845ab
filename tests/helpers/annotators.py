"""Requests as INCEpTION makes them, with the types that it has."""

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("cassis", reason="the service needs spacy_crf[serve]")

from cassis import Cas, TypeSystem, load_cas_from_xmi

ANNOTATION = "uima.tcas.Annotation"
SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
POS = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
CUSTOM = "webanno.custom.X"
FEATURES = {POS: ("PosValue", "coarseValue"), ENTITY: ("value", "identifier"), CUSTOM: ("label",)}
KINDS = {"_score": "uima.cas.Double", "_score_explanation": "uima.cas.String", "_auto_accept": "uima.cas.String"}
Span = tuple[int, int, str]


def make_typesystem(predicted: bool = True) -> TypeSystem:
    """The type system. predicted (bool): with the features of suggestions, as INCEpTION sends it."""
    system = TypeSystem()
    for name in ("Sentence", "Token"):
        system.create_type(SEGMENTATION + name, ANNOTATION)
    for layer, features in FEATURES.items():
        made = system.create_type(layer, ANNOTATION)
        for feature in features:
            system.create_feature(made, feature, "uima.cas.String")
        for ending, kind in KINDS.items() if predicted else ():
            system.create_feature(made, features[0] + ending, kind)
        if predicted:
            system.create_feature(made, "inception_internal_predicted", "uima.cas.Boolean")
    return system


def make_cas(
    system: TypeSystem, sentences: Sequence[str], layer: str = "", feature: str = "", spans: Sequence[Span] = ()
) -> Cas:
    """A text of sentences, whose tokens are apart by spaces; and annotations of a layer by their characters."""
    cas = Cas(system)
    cas.sofa_string, cas.sofa_mime = " ".join(sentences), "text/plain"
    sentence_type, token_type = (system.get_type(SEGMENTATION + name) for name in ("Sentence", "Token"))
    at = 0
    for sentence in sentences:
        cas.add(sentence_type(begin=at, end=at + len(sentence)))
        for word in sentence.split():
            begin = cas.sofa_string.index(word, at)
            cas.add(token_type(begin=begin, end=begin + len(word)))
            at = begin + len(word)
        at += 1
    for begin, end, value in spans:
        cas.add(system.get_type(layer)(begin=begin, end=end, **{feature: value}))
    return cas


def document_of(cas: Cas, name: Any = 7) -> dict[str, Any]:
    return {"xmi": cas.to_xmi(), "documentId": name, "userId": "ann"}


def metadata_of(layer: str, anchoring: str) -> dict[str, Any]:
    where = {"layer": layer, "feature": FEATURES[layer][0], "projectId": 3}
    return {**where, "anchoringMode": anchoring, "crossSentence": False}


def predict_request(sentences: Sequence[str], layer: str, anchoring: str, predicted: bool = True) -> dict[str, Any]:
    system = make_typesystem(predicted)
    asked = {"metadata": metadata_of(layer, anchoring), "document": document_of(make_cas(system, sentences))}
    return {**asked, "typeSystem": system.to_xml()}


def suggestions(xmi: str, layer: str) -> list[Any]:
    """The suggestions of an answer, as INCEpTION reads them: with its own type system."""
    cas = load_cas_from_xmi(xmi, make_typesystem(), lenient=True)
    return [one for one in cas.select(layer) if one.inception_internal_predicted]

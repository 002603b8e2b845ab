"""UIMA CAS as XMI or JSON, which INCEpTION imports and exports: tag sets go out in a layer, and come back as gold.

The layer and its features are those of WebAnno TSV. Beside XMI files there is their type system, `TypeSystem.xml`.
dkpro-cassis reads and writes both, https://github.com/dkpro/dkpro-cassis.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.errors import CRFError, required
from ..reading.files import read_bytes, read_lines, read_text
from ..reading.records import parse_json
from ..reading.xml import XmlReader
from .errors import CorpusErrors
from .exchange import ExchangeDocument, ExchangeToken, Mark, mark_tokens, place_tokens
from .files import data_suffix, refusing_damage
from .sentence import Sentence
from .tagsets import BETWEEN
from .webanno import DEFAULT_LAYER, WebannoLayer, list_features, read_features

SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
TOKEN, SENTENCE = f"{SEGMENTATION}.Token", f"{SEGMENTATION}.Sentence"
TYPE_SYSTEM = "TypeSystem.xml"
XMI = ".xmi"
JSON_KEY = '"%'  # all keys of a CAS in JSON begin so
HEAD = 5  # lines in which the first one is


def is_cas(path: Path) -> bool:
    """Whether a file is XMI by its suffix, or begins as a CAS in JSON does."""
    head = "".join(islice(read_lines(path), HEAD)).lstrip()
    return data_suffix(path) == XMI or (head.startswith("{") and head[1:].lstrip().startswith(JSON_KEY))


def read_cas(path: Path, *, layer: WebannoLayer = DEFAULT_LAYER) -> Iterator[Sentence]:
    """Yield the sentences of a file, with the tags of a layer as gold; the file is one document. See `read_webanno`."""
    cas = _load(path)
    try:
        known = cas.typesystem.get_type(layer.name)
        features = {feature.name for feature in known.all_features}
    except LookupError:
        features = set()
    if layer.tag not in features:
        layers = ", ".join(sorted(own.name for own in cas.typesystem.get_types())) or "none"
        raise CRFError(CorpusErrors.CRF539.format(path=path, layer=layer.name, feature=layer.tag, known=layers))
    try:
        sentences = place_tokens(cas.sofa_string or "", _offsets(cas))
        marks = [_mark(one, layer, layer.checked in features, path) for one in cas.select(layer.name)]
        marked = mark_tokens(sentences, [mark for mark in marks if mark.weights or mark.is_checked])
    except CRFError:
        raise
    except (ValueError, TypeError, LookupError) as error:
        raise CRFError(CorpusErrors.CRF569.format(path=path, kind="CAS", reason=error)) from error
    yield from ExchangeDocument("", cas.sofa_string or "", marked).to_sentences()


def _offsets(cas: Any) -> list[list[tuple[int, int]]]:
    """Offsets of tokens by sentence; one sentence if the CAS has none."""
    tokens = sorted((token.begin, token.end) for token in cas.select(TOKEN))
    starts = sorted(sentence.begin for sentence in cas.select(SENTENCE))
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(starts) + 1)]
    for start, end in tokens:
        found[bisect_right(starts, start)].append((start, end))
    return found


def _mark(annotation: Any, layer: WebannoLayer, has_checks: bool, path: Path) -> Mark:
    start, end = annotation.begin, annotation.end
    where = f"{path}, characters {start} to {end}"
    tag, probabilities = (_text(annotation.get(name)) for name in (layer.tag, layer.probabilities))
    checked = _text(annotation.get(layer.checked)) if has_checks else None
    return Mark(start, end, *read_features(tag, probabilities, checked, where))


def _text(value: Any) -> str:
    """The value of a feature; several of one are tags of which all may be right, A|B."""
    values = getattr(value, "elements", value)
    parts = values if isinstance(values, list) else ["" if value is None else value]
    if not all(isinstance(part, str | int | float) for part in parts):
        raise ValueError(f"{value!r:.80} is no text")
    return BETWEEN.join(map(str, parts))


def _load(path: Path) -> Any:
    beside = path.with_name(TYPE_SYSTEM)
    if data_suffix(path) == XMI and not beside.exists():
        raise CRFError(CorpusErrors.CRF577.format(path=path, place="", problem=f"{TYPE_SYSTEM} is not beside it"))
    cassis = _cassis()
    with refusing_damage(path, "CAS"):
        if data_suffix(path) != XMI:
            text = read_text(path)
            parse_json(text, str(path))  # what is beyond its limits does not get further
            return cassis.load_cas_from_json(text)
        for file in (beside, path):
            XmlReader(file, takes_dtd=False).read()  # another parser reads the file then
        types = cassis.load_typesystem(read_bytes(beside).decode())
        return cassis.load_cas_from_xmi(read_bytes(path).decode(), typesystem=types, lenient=True)


# -- writing -----------------------------------------------------------------------------------------------------


def write_xmi(documents: Sequence[ExchangeDocument]) -> bytes:
    """Write one document as XMI, which XML can hold only without control characters."""
    (document,) = documents
    try:
        return str(_make(document).to_xmi()).encode()
    except ValueError as error:
        raise CRFError(CorpusErrors.CRF569.format(path=document.name, kind="text for XMI", reason=error)) from error


def write_cas_json(documents: Sequence[ExchangeDocument]) -> bytes:
    """Write one document as JSON."""
    (document,) = documents
    return str(_make(document).to_json()).encode()


def write_types() -> bytes:
    """The type system of the files that are written."""
    return str(_types().to_xml()).encode()


def _types() -> Any:
    types = _cassis().TypeSystem()
    for name in (TOKEN, SENTENCE):
        types.create_type(name=name, supertypeName="uima.tcas.Annotation")
    layer = types.create_type(name=DEFAULT_LAYER.name, supertypeName="uima.tcas.Annotation")
    for feature in DEFAULT_LAYER.features:
        kind = "uima.cas.Boolean" if feature == DEFAULT_LAYER.checked else "uima.cas.String"
        types.create_feature(layer, name=feature, rangeType=kind)
    return types


def _make(document: ExchangeDocument) -> Any:
    types = _types()
    cas = _cassis().Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = document.text, "text/plain"
    token_type, sentence_type, layer = map(types.get_type, (TOKEN, SENTENCE, DEFAULT_LAYER.name))
    for sentence in document.sentences:
        cas.add(sentence_type(begin=sentence[0].start, end=sentence[-1].end))
        for token in sentence:
            cas.add(token_type(begin=token.start, end=token.end))
            if values := _features(token):
                cas.add(layer(begin=token.start, end=token.end, **values))
    return cas


def _features(token: ExchangeToken) -> dict[str, Any]:
    values: dict[str, Any] = {n: v for n, v in zip(DEFAULT_LAYER.features, list_features(token)) if v}
    return {**values, DEFAULT_LAYER.checked: token.is_checked} if values else {}


def _cassis() -> Any:
    told = CorpusErrors.CRF576.format(kind="Files of UIMA CAS", package="dkpro-cassis", extra="cas")
    with required(told, ImportError):
        import cassis
    return cassis

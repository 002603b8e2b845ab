"""Features as a user of CRFsuite would write them: a dictionary of strings for each token, in plain Python."""

import itertools
import math
import re


def sequences(doc, mode):
    """Lists of tokens that belong together."""
    found = []
    for token in doc:
        if not found or (mode != "doc" and token.is_sent_start is True):
            found.append([])
        found[-1].append(token)
    return found


def state_and_edge_features(docs, templates, mode, padding):
    """Two lists with a dictionary from feature to value for each token."""
    state, edge = [], []
    for doc in docs:
        for tokens in sequences(doc, mode):
            for i in range(len(tokens)):
                found = dict(_features(tokens, i, templates, padding))
                state.append({name: value for name, value in found.items() if not name.startswith("B:")})
                # nothing leads into the first token
                edge.append({name: value for name, value in found.items() if name.startswith("B:") and i > 0})
    return state, edge


def _features(tokens, i, templates, padding):
    for template in templates:
        atoms = re.findall(r"([^|\[]+)\[(-?\d+)\]", template.removeprefix("B:"))
        values = [_value_at(tokens, i + int(offset), attribute, padding) for attribute, offset in atoms]
        if all(text for text, _ in values):
            yield f"{template}={'|'.join(text for text, _ in values)}", math.prod(number for _, number in values)


def _value_at(tokens, i, attribute, padding):
    if 0 <= i < len(tokens):
        return _value(tokens, i, attribute)
    if not padding:
        return "", 1.0
    return (f"BOS{i}" if i < 0 else f"EOS+{i - len(tokens) + 1}"), 1.0


def _value(tokens, i, attribute):
    token = tokens[i]
    if attribute.startswith("_."):
        return _extension(token._.get(attribute[2:]))
    if attribute.startswith("IS_") or attribute.startswith("LIKE_"):
        return _flag(getattr(token, attribute.lower())), 1.0
    name, number = re.fullmatch(r"([A-Z_]+)(\d*)", attribute).groups()
    return _written(tokens, i, name, int(number or 0)), 1.0


def _written(tokens, i, name, n):
    token = tokens[i]
    text = token.text
    match name:
        case "ORTH" | "LOWER" | "NORM" | "SHAPE" | "TAG" | "POS" | "LEMMA" | "DEP" | "ENT_TYPE" | "ENT_IOB":
            return getattr(token, f"{name.lower()}_")
        case "ENT_ID" | "ENT_KB_ID":
            return getattr(token, f"{name.lower()}_")
        case "MORPH":
            return str(token.morph) or ("_" if token.has_morph() else "")
        case "SPACY":
            return _flag(token.whitespace_)
        case "PREFIX" | "LPREFIX":
            cut = text[:n] if len(text) >= n else ""
            return cut.lower() if name == "LPREFIX" else cut
        case "SUFFIX" | "LSUFFIX":
            cut = text[len(text) - n :] if len(text) >= n else ""
            return cut.lower() if name == "LSUFFIX" else cut
        case "COLLAPSED":
            kinds = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in text]
            return "".join(kind for kind, _ in itertools.groupby(kinds))
        case "LENGTH":
            return str(len(text))
        case "HAS_DIGIT":
            return _flag(any(c.isdigit() for c in text))
        case "HAS_HYPHEN":
            return _flag("-" in text)
        case "HAS_UPPER":
            return _flag(any(c.isupper() for c in text))
        case "DIGITS":
            return "".join("0" if c.isdigit() else c for c in text) if any(c.isdigit() for c in text) else ""
        case "BIAS":
            return "1"
        case "BOS":
            return _flag(i == 0)
        case "EOS":
            return _flag(i == len(tokens) - 1)
        case "POSITION":
            return str(n * i // len(tokens))
    raise KeyError(name)


def _flag(condition):
    return "1" if condition else ""


def _extension(value):
    if value is None or value is False:
        return "", 1.0
    if isinstance(value, float):
        return ("value" if value else ""), value
    return ("1" if value is True else str(value)), 1.0

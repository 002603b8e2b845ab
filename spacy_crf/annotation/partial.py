"""Gold of spans that is known for some tokens only: a BIO tag for each token, empty where it is unknown.

spaCy can tell entities that are missing from tokens outside, but not a token inside of an entity whose beginning is
missing; for span groups it has nothing of the kind. So the tags are kept in a custom attribute of the tokens, which
spaCy copies, cuts, joins and stores (`DocBin(store_user_data=True)`) with them. Where a Doc has it, it is the gold, and
`doc.ents` and `doc.spans` are not looked at.
"""

from collections.abc import Sequence
from typing import cast

from spacy.attrs import IDX
from spacy.tokens import Doc

from ..core.labels import OUTSIDE, TagSet

NAMES = {"ent": "crf_partial_ent", "spans": "crf_partial_spans_{spans_key}"}


def partial_extension(target: str, spans_key: str) -> str | None:
    """Name of the custom token attribute; None for targets that are no spans.

    target (str): "ent", "spans" or another one. spans_key (str): of the group, for "spans".
    """
    return NAMES[target].format(spans_key=spans_key) if target in NAMES else None


def partial_tags(doc: Doc, target: str, spans_key: str) -> list[str] | None:
    """BIO tags of the tokens, "" where unknown; None if the Doc has none of them.

    They are found whether or not anybody has registered the attribute: spaCy's own reader does not.
    """
    name, stored = partial_extension(target, spans_key), cast(dict[tuple[str, str, int, None], str], doc.user_data)
    if name is None or not stored:
        return None
    found = [stored.get(("._.", name, start, None)) or "" for start in doc.to_array(IDX).tolist()]
    return found if any(found) else None


def as_bio(tag: str) -> str:
    """A BILUO tag as the BIO tag of the same token."""
    return {"U": "B", "L": "I"}.get(tag[0], tag[0]) + tag[1:]


def possible_tags(bio: Sequence[str], tags: TagSet) -> list[tuple[str, ...]]:
    """Tags of the chain that BIO tags may stand for: none where unknown, in BILUO two where the next one is.

    bio (list[str]): one tag for each token. tags (TagSet): of spans.
    """
    if tags.scheme == "none":
        return [((tag if tag == OUTSIDE else tag[2:]),) if tag else () for tag in bio]
    return [_possible(tag, after, tags.scheme == "BILUO") for tag, after in zip(bio, [*bio[1:], OUTSIDE])]


def _possible(tag: str, after: str, is_biluo: bool) -> tuple[str, ...]:
    if not tag:
        return ()
    if not is_biluo or tag == OUTSIDE:
        return (tag,)
    last = ("U" if tag[0] == "B" else "L") + tag[1:]
    if not after:
        return tag, last
    return (tag,) if after == f"I{tag[1:]}" else (last,)

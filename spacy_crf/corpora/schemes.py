"""Span tags of a column file that do not tell alone what they mean; the other tags of their column do.

"E-MAIL-B" begins an E-MAIL, or ends a MAIL-B. Behind a token whose tag is unknown, "I-PER" goes on with what is
unknown, but in a column of IOB1 it may begin a span as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from .errors import CorpusErrors
from .sentence import MISSING, TAG_FORMS, TagParts, read_forms, split_tag

UNTAGGED = (OUTSIDE, MISSING)
PLAIN = ("B", "I")  # the letters that IOB1 has


def is_unsettled(values: Iterable[str]) -> bool:
    """Whether span tags of a sentence do not tell alone what they mean."""
    values = list(values)
    return any(map(_is_ambiguous, set(values))) or any(map(_goes_on, pairwise(values)))


def _is_ambiguous(tag: str) -> bool:
    return len({*read_forms(tag)} - {None}) > 1


def _goes_on(pair: tuple[str, str]) -> bool:
    """Whether a tag I is behind an unknown one."""
    before, tag = pair
    return before == MISSING and (split_tag(tag) or UNTAGGED)[0] == "I"


@dataclass(frozen=True)
class SpanScheme:
    """The scheme of a column.

    form (int | None): Which of `TAG_FORMS` all tags with a label have; None for the first one that fits each.
    begins_inside (bool): Whether I may begin a span.
    """

    form: int | None
    begins_inside: bool

    @classmethod
    def of(cls, path: Path, kind: str, column: Iterable[Sequence[str]]) -> "SpanScheme":
        """Tell it from the tags of all sentences. path (Path), kind (str): For the message."""
        pairs = set(chain.from_iterable(pairwise((OUTSIDE, *values)) for values in column))
        form = _pick_form(path, kind, {tag for _, tag in pairs})
        return cls(form, _begins_inside([(_read(before, form), _read(tag, form)) for before, tag in pairs if before]))

    def rewrite(self, values: Sequence[str]) -> list[str]:
        """Write the tags of a sentence with the letter first; "" also for those that may begin a span or go on."""
        tags = [tag if tag in UNTAGGED else "-".join(filter(None, _read(tag, self.form))) for tag in values]
        if not self.begins_inside:
            return tags
        return [MISSING if _goes_on((before, tag)) else tag for before, tag in pairwise((OUTSIDE, *tags))]


def _read(tag: str, form: int | None) -> TagParts:
    by_form = None if form is None or tag in UNTAGGED else read_forms(tag)[form]
    return by_form or split_tag(tag) or (OUTSIDE, "")


def _pick_form(path: Path, kind: str, tags: Iterable[str]) -> int | None:
    """The form that fits all tags with a label, has letters that can make up spans, and leaves the fewest labels."""
    labelled = [tag for tag in tags if tag not in UNTAGGED and any(read_forms(tag)[:-1])]
    ambiguous = min(filter(_is_ambiguous, labelled), default=None)
    if ambiguous is None:
        return None
    costs: dict[int, tuple[bool, int]] = {}
    for form in range(len(TAG_FORMS) - 1):
        parts = [read_forms(tag)[form] for tag in labelled]
        if all(parts):
            letters, labels = map(set, zip(*filter(None, parts)))
            costs[form] = ("B" not in letters and letters != {"I"}, len(labels))
    best = [form for form, cost in costs.items() if cost == min(costs.values())]
    if len(best) != 1:
        readings = dict.fromkeys(filter(None, read_forms(ambiguous)))
        known = " or ".join(f"{letter} of {label!r}" for letter, label in readings)
        raise CRFError(CorpusErrors.CRF542.format(path=path, column=kind, value=ambiguous, readings=known))
    return best[0]


def _begins_inside(pairs: Sequence[tuple[TagParts, TagParts]]) -> bool:
    """Whether I may begin a span, by pairs of a tag that is known and the one behind it.

    It may where it does, and where nothing says that it may not: another letter, or a B where IOB1 has I.
    """
    letters = {letter for _, (letter, _) in pairs} - {OUTSIDE}
    beginnings = {own[0] for before, own in pairs if before[0] == OUTSIDE or before[1] != own[1]}
    return letters <= set(PLAIN) and ("I" in beginnings or "B" not in beginnings)

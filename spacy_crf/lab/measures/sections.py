"""Measures of section parsers: confusions of elements, and of trees what PARSEVAL leaves out."""

from collections import Counter

from ...sections.component import SectionParser
from ...sections.scorer import confuse
from .base import Findings, Scored, measure


@measure.register
def measure_sections(pipe: SectionParser, tested: Scored) -> Findings:
    """Elements by gold and predicted label.

    pipe (SectionParser): whose annotation it is.
    """
    key, newline = pipe.cfg["elements_key"], pipe.cfg["newline_label"]
    confusions: Counter[tuple[str, str]] = Counter()
    for example in tested.examples:
        confusions.update(confuse(example, key, newline))
    return Findings(confusions=confusions)

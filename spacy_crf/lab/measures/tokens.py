"""Measures of components that give each token a tag: known and unknown words apart, confusions, fields."""

from collections import Counter
from collections.abc import Sequence

from spacy.tokens import Doc, Token
from spacy.training import Example

from ...annotation.targets import AttributeTarget, token_target
from ...pipe.settings import SPAN_TARGETS
from ...tagging.component import CRFTagger
from .base import Findings, Scored, measure
from .fields import LabelledToken, score_fields


@measure.register
def measure_tags(pipe: CRFTagger, tested: Scored) -> Findings:
    """Accuracy of known and unknown words, confusions, how frequent tags were in training, and measures of fields.

    pipe (CRFTagger): one with spans as its target adds nothing to its scores.
    """
    if pipe.target in SPAN_TARGETS:
        return Findings()
    documents = [_label(example, pipe.target) for example in tested.examples]
    return count_tags(tested, pipe.target).joined(Findings(score_fields(documents, pipe.target)))


def _label(example: Example, target: str) -> list[LabelledToken]:
    return [
        LabelledToken(gold, read_tag(token, target), any(map(str.isalnum, token.text)))
        for gold, token in zip(token_target(target).names(example), example.predicted)
    ]


def count_tags(tested: Scored, target: str) -> Findings:
    """The same for any component that writes a tag of tokens.

    target (str): "tag", "pos", or a custom attribute. Tokens without gold count for nothing; of gold with several
        tags, the best one counts.
    """
    confusions: Counter[tuple[str, str]] = Counter()
    judged, right = Counter[bool](), Counter[bool]()
    for example in tested.examples:
        for gold, token in zip(token_target(target).names(example), example.predicted):
            if gold is not None:
                found, is_known = read_tag(token, target), token.text in tested.words
                confusions[gold, found] += 1
                judged[is_known] += 1
                right[is_known] += gold == found
    names = {True: f"{target}_acc_known", False: f"{target}_acc_unknown"}
    scores = {name: right[is_known] / judged[is_known] for is_known, name in names.items() if judged[is_known]}
    return Findings(scores, confusions=confusions, frequencies=_count(tested.trained, target))


def read_tag(token: Token, target: str) -> str:
    """The tag of a token; "" if it has none."""
    return str(getattr(token, f"{target}_") if target in AttributeTarget.attributes else token._.get(target) or "")


def _count(docs: Sequence[Doc], target: str) -> Counter[str]:
    counts = Counter(name for doc in docs for name in token_target(target).names(Example(doc, doc)))
    return Counter({name: count for name, count in counts.items() if name is not None})

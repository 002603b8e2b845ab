"""The K best trees of a document."""

from ..errors import CoreErrors, CRFError
from .binary import BinaryGrammar
from .cyk import best_chart
from .forest import Forest, Parse
from .scores import ParseScores


def nbest(grammar: BinaryGrammar, scores: ParseScores, k: int) -> list[Parse]:
    """The k best trees of a document, distinct, best first.

    The first is that of `viterbi`, and fewer trees are always the beginning of more. Trees that go through loops of
    unary rules count, as they do in sums. O(N^3 Q) for the chart; then time grows with the spans that the trees touch.

    grammar (BinaryGrammar), scores (ParseScores): of the document. k (int): at least 1.
    RETURNS (list of Parse): fewer than k if there are no more.
    RAISES (NoParseError): if there is no tree.
    RAISES (ValueError), RAISES (DivergedLoopError): as `best_chart`.
    """
    if k < 1:
        raise CRFError(CoreErrors.CRF108.format(name="k", least=1, value=k))
    return Forest(grammar, scores, best_chart(grammar, scores), k).parses()

"""Tables of `crf calibrate`: how sure a component was, how often it was right, and what thresholds do."""

from wasabi import table

from ..core.calibration.bins import Reliability
from ..punctuation.calibration import FittedMarks, Marked
from ..tagging.calibrate import Calibration

THRESHOLDS = tuple(tenth / 10 for tenth in range(1, 10))


def format_tags(fitted: Calibration) -> str:
    """How sure a tagger was of its tags, and how often they were right, before and after.

    fitted (Calibration): the result of a fit.
    RETURNS (str): a table, one row for each bin of probabilities.
    """
    header = ("probability", "tokens", "mean", "right", "tokens after", "mean", "right")
    rows = _bins(fitted.before, fitted.after)
    return str(table(rows, header=header, divider=True, aligns=("l", *"rrrrrr")))


def format_marks(fitted: FittedMarks, n_bins: int) -> str:
    """How probable marks were held to be, and how often they were there, before and after.

    fitted (FittedMarks): the result of a fit. n_bins (int): for each mark.
    RETURNS (str): a table, one row for each mark and bin of its probabilities that is not empty.
    """
    header = ("mark", "probability", "words", "mean", "there", "words after", "mean", "there")
    rows = []
    for mark in fitted.before.told:
        before, after = (side.reliability(mark, n_bins) for side in (fitted.before, fitted.after))
        filled = (before.counts + after.counts) > 0
        rows += [[mark, *cells] for cells, is_filled in zip(_bins(before, after), filled) if is_filled]
    return str(table(rows, header=header, divider=True, aligns=("l", "l", *"rrrrrr")))


def format_thresholds(words: Marked) -> str:
    """Precision and recall of marks by their thresholds: what the probabilities promise, and what gold says.

    words (Marked): with calibrated probabilities.
    RETURNS (str): a table, one row for each mark and threshold that some word reaches.
    """
    header = ("mark", "threshold", "precision", "found", "recall", "found")
    rows = []
    for mark in words.told:
        for threshold in THRESHOLDS:
            expected, found = words.scores(mark, threshold)
            values = (expected.precision, found.precision, expected.recall, found.recall)
            if expected.recall:
                rows.append([mark, f"{threshold:.1f}", *(f"{value:.3f}" for value in values)])
    return str(table(rows, header=header, divider=True, aligns=("l", *"rrrrr")))


def _bins(before: Reliability, after: Reliability) -> list[list[str]]:
    """Bounds of each bin, and what is in it on either side."""
    rows = []
    for number, (low, high) in enumerate(zip(before.lower.tolist(), before.upper.tolist())):
        cells = [f"{low:.2f} - {high:.2f}"]
        for side in (before, after):
            count = int(side.counts[number])
            values = (side.confidences[number], side.accuracies[number])
            cells += [f"{count:,}", *(f"{value:.3f}" if count else "" for value in values)]
        rows.append(cells)
    return rows

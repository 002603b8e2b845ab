"""A scikit-learn style CRF that takes the place of sklearn_crfsuite.CRF. It needs neither spaCy nor scikit-learn."""

from . import metrics
from .crf import CRF, NotFittedError

__all__ = ["CRF", "NotFittedError", "metrics"]

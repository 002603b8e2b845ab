"""Cross-validated choice of the penalties c1 and c2, with features encoded once."""

from .results import CrossValidation, FoldResult, Rule, Setting
from .validate import cross_validate

__all__ = ["CrossValidation", "FoldResult", "Rule", "Setting", "cross_validate"]

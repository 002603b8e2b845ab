"""Choice of settings: penalties by cross-validation with features encoded once, others by a search (`search`)."""

from .results import CrossValidation, FoldResult, Rule, Setting
from .validate import cross_validate

__all__ = ["CrossValidation", "FoldResult", "Rule", "Setting", "cross_validate"]

"""Measures by kind of component; a new kind is a module of this folder, imported here."""

from . import sections as sections
from . import sets as sets
from . import tokens as tokens
from .base import Findings, Scored, measure

__all__ = ["Findings", "Scored", "measure"]

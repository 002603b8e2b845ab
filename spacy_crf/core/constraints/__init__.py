"""Constraints on labellings: their families, decoding under them, and mining. Importing it defines the families,
whose order decides between mined constraints that are equally reliable.
"""

from . import relations, segments, units

__all__ = ["relations", "segments", "units"]

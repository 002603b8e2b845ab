"""Fixtures for tests of components."""

from tagging import extension

__all__ = ["extension"]

"""Fixtures for tests of training."""

from tagging import extension

__all__ = ["extension"]

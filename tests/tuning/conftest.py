"""Fixtures for tests of tuning."""

from tagging import extension

__all__ = ["extension"]

"""Taggers of other kinds with exact probabilities, to compare the CRF with, and as sources of tag sets."""

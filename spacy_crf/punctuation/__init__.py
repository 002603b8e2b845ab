"""Punctuation as a labelling of words: which mark follows each, and how its letters are cased. Strings in and out."""

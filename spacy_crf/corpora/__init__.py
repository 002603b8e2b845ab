"""Readers for annotated files: CoNLL-U, column files (CoNLL-2000, -2002, -2003 and the like) and `.spacy`."""

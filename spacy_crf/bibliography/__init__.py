"""Pasted bibliographies in; BibTeX, CSL-JSON or a table out."""

"""Messages of the bibliography."""

from ..core.errors import Messages


class BibliographyErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF642 = "BibTeX is read by pybtex, which is not installed. Install it: pip install 'spacy_crf[bibtex]'."
    CRF643 = "The text is not BibTeX: {error}"
    CRF644 = "The text is not CSL-JSON, a list of items with ids and types: {error}"
    CRF649 = "LaTeX is read by pylatexenc, which is not installed. Install it: pip install 'spacy_crf[bibtex]'."

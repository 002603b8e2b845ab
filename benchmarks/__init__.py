"""Side-by-side measurements of spacy_crf and its peers."""

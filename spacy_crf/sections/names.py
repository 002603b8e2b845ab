"""What the section parser writes, and under which names."""

ELEMENTS = "elements"  # key of doc.spans: a span for each unit
SECTIONS = "sections"  # key of doc.spans: a span for each section, with nested ones
TREE = "spacy_crf.sections"  # key of doc.user_data: the tree as JSON data
SECTION = "SECTION"  # label of the spans of sections
OFFSETS, PROBABILITIES, RULES = "offsets", "probabilities", "rules"  # keys of the elements' attrs

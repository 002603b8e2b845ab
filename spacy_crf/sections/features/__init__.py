"""Features of layout elements, for sequences whose units are lines, numberings and titles instead of tokens.

Each module has one idea; `catalogue` gives them the names that templates use: UNIT(kind), UNIT(words), UNIT(is title).
"""

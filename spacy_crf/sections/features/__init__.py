"""Features of layout elements, for sequences whose units are lines, numberings and titles instead of tokens.

A feature is a function of a `UnitBatch` with the decorator `unit_feature`, which gives it the name that templates use:
UNIT(kind), UNIT(words), UNIT(is title).
"""

"""Features of layout elements, for sequences whose units are lines, numberings and titles instead of tokens."""

"""The section parser: labels layout elements, and builds the tree of sections from them."""

"""Views of what the components have found."""

"""Pipelines as a service over HTTP: JSON, the protocols of other tools, and a page."""

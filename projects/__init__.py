"""Recipes for real corpora: each folder is a project for weasel; the modules are what its commands share."""

"""Layout elements of documents: from files and Docs to units, and from section trees to files."""

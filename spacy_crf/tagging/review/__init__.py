"""What a tagger is least certain of, listed for somebody to correct."""

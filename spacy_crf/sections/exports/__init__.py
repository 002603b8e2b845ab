"""Section trees as files of other formats."""

"""References to learn from: entries printed in CSL styles, with each field's place known."""

"""One module per piece of work, run as a fresh process that prints one line of JSON."""

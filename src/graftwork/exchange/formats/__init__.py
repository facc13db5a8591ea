"""One file for each format: it registers a function that returns a `Format`."""

"""Compare two runs on the rows they share."""

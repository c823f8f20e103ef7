"""DeepEval 4.3.1: its metrics by their names there, in lower case with underscores."""

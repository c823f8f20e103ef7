"""Judges that answer by writing text, and reading what they wrote."""

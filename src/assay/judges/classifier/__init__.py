"""Judges that answer with a probability for each label, and write nothing."""

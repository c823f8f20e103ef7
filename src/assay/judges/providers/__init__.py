"""Judges of model providers by name: a table of OpenAI-compatible ones, and the protocols that differ."""

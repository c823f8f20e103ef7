"""Judges: embedded, any OpenAI-compatible endpoint, scripted."""

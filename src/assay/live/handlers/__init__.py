"""Base classes of callback handlers."""

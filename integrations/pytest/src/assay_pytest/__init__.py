"""Scores of RAG answers as assertions of pytest. The plugin is loaded by pytest; nothing here loads assay."""

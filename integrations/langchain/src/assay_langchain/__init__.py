"""Attach assay to LangChain: a callback handler and evaluator objects."""

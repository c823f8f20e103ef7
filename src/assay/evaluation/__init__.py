"""Evaluate rows: one run from data, metrics and a judge to a result."""

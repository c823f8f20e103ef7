"""TruLens 2.16.0: its feedback functions, by their names without `_with_cot_reasons`: reasons are always there."""

"""How good a judge is: alignment with people, robustness checks, variance, batching."""

"""What judging may cost, and what it has cost."""

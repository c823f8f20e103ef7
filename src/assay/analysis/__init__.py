"""Questions about runs: comparison, gates, diagnosis, power, and how good a judge is."""

"""Judges that others made and a user has on disk: see `judge.LocalJudge`."""

"""The store: runs, scores and cached judgements, in SQLite or PostgreSQL."""

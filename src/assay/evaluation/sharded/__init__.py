"""Data sets in shards: planned by what files hold, scored one by one, merged. `job` drives processes."""

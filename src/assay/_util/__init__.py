"""Private helpers: threads, forks, files, SQLite, terminal. Nothing outside of `assay` imports them."""

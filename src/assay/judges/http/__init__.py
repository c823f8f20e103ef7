"""What all judges over an endpoint share: its client, its errors, retries, and how fast it may be asked."""

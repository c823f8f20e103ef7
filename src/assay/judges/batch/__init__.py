"""Judges that answer through a provider's batches, at half the price and within a day."""

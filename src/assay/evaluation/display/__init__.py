"""Results in terminals and notebooks."""

"""The embedded judge: offline, on the CPU, free."""

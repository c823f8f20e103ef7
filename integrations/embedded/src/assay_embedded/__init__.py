"""The models of assay's embedded judge: offline, on the CPU, no key."""

"""The command line: `assay`."""

"""The version of assay and of all packages in this repository."""

__version__ = "0.1.0"

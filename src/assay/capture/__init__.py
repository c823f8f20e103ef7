"""Capture: run trees of any framework, and the pure function from a tree to a sample."""

from assay.capture.assemble import Keys, sample_of
from assay.capture.tree import Found, Kind, Run, RunCollector, Trace

__all__ = ["Found", "Keys", "Kind", "Run", "RunCollector", "Trace", "sample_of"]

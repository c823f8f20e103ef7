"""Capture: run trees of any framework, and the pure functions from a tree to samples."""

from assay.capture.assemble import sample_of, samples_of
from assay.capture.collector import RunCollector
from assay.capture.rules import CaptureRules
from assay.capture.tree import Document, Run, RunKind, Trace, traces_of

__all__ = [
    "CaptureRules",
    "Document",
    "Run",
    "RunCollector",
    "RunKind",
    "Trace",
    "sample_of",
    "samples_of",
    "traces_of",
]

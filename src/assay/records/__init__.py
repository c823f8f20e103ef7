"""Records: what was asked, retrieved and answered, and what a judge made of it.

All are frozen dataclasses with a JSON round trip: `Sample.from_dict(sample.to_dict()) == sample`.
Offsets are Python string indices (code points), half open: `text[span.start:span.end]`.
"""

from assay.records.base import Record, build_adapter, fingerprint, type_adapter
from assay.records.evidence import Box, Cell, Claim, Evidence, Span, SupportLabel, Verdict
from assay.records.sample import Context, Message, Role, Sample, SampleStatus, ToolCall, Turn
from assay.records.score import BY_CONVENTION, Direction, Score, ScoredSample, ScoreError, Usage

__all__ = [
    "BY_CONVENTION",
    "Box",
    "Cell",
    "Claim",
    "Context",
    "Direction",
    "Evidence",
    "Message",
    "Record",
    "Role",
    "Sample",
    "SampleStatus",
    "Score",
    "ScoreError",
    "ScoredSample",
    "Span",
    "SupportLabel",
    "ToolCall",
    "Turn",
    "Usage",
    "Verdict",
    "build_adapter",
    "fingerprint",
    "type_adapter",
]

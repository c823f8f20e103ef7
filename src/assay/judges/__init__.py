"""Judges: embedded, OpenAI-compatible and decision endpoints, cascades, scripted."""

from __future__ import annotations

from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.named import local, resolve_judge
from assay.judges.protocol import Answer, Judge

__all__ = ["Answer", "BaseJudge", "Judge", "JudgeSpec", "local", "resolve_judge"]

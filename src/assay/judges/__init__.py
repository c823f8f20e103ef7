"""Judges: embedded, LLM endpoints, classifier endpoints, provider batches, cascades, scripted.

Names load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.lazy_exports import lazy_exports, names_by_module

if TYPE_CHECKING:
    from assay.judges.base import BaseJudge as BaseJudge
    from assay.judges.base import JudgeSpec as JudgeSpec
    from assay.judges.batch.judge import AnthropicBatchJudge as AnthropicBatchJudge
    from assay.judges.batch.judge import OpenAIBatchJudge as OpenAIBatchJudge
    from assay.judges.budget.budget import Prices as Prices
    from assay.judges.calibrated_judge import calibrate_judge as calibrate_judge
    from assay.judges.classifier.judge import DecisionsJudge as DecisionsJudge
    from assay.judges.classifier.judge import SystemOneJudge as SystemOneJudge
    from assay.judges.local.judge import LocalJudge as LocalJudge
    from assay.judges.protocol import Answer as Answer
    from assay.judges.protocol import Judge as Judge
    from assay.judges.resolve import resolve_judge as resolve_judge

_HOMES = {
    "assay.judges.base": "BaseJudge JudgeSpec",
    "assay.judges.batch.judge": "AnthropicBatchJudge OpenAIBatchJudge",
    "assay.judges.budget.budget": "Prices",
    "assay.judges.calibrated_judge": "calibrate_judge",
    "assay.judges.classifier.judge": "DecisionsJudge SystemOneJudge",
    "assay.judges.local.judge": "LocalJudge",
    "assay.judges.resolve": "resolve_judge",
    "assay.judges.protocol": "Answer Judge",
}

__all__ = [*names_by_module(_HOMES)]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    __getattr__, __dir__ = lazy_exports(globals(), _HOMES)

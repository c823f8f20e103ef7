"""Scoring while the application runs: in the same process, or through a queue by workers of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.lazy_exports import lazy_exports, names_by_module

if TYPE_CHECKING:
    from assay.judges.budget.budget import Budget as Budget
    from assay.judges.budget.budget import Prices as Prices
    from assay.judges.budget.sqlite_ledger import FileLedger as FileLedger
    from assay.live.application import Application as Application
    from assay.live.guards.decision import GuardDecision as GuardDecision
    from assay.live.health import Health as Health
    from assay.live.intake import open_intake as open_intake
    from assay.live.protocol import Intake as Intake
    from assay.live.protocol import LiveOptions as LiveOptions
    from assay.live.queue.sample_queue import SampleQueue as SampleQueue
    from assay.live.queue.status import QueueReport as QueueReport
    from assay.live.queue.worker import Worker as Worker
    from assay.live.sampling import Sampling as Sampling
    from assay.live.sampling import SamplingRule as SamplingRule
    from assay.live.scorer import LiveScorer as LiveScorer

_HOMES = {
    "assay.judges.budget.budget": "Budget Prices",
    "assay.judges.budget.sqlite_ledger": "FileLedger",
    "assay.live.application": "Application",
    "assay.live.guards.decision": "GuardDecision",
    "assay.live.health": "Health",
    "assay.live.intake": "open_intake",
    "assay.live.protocol": "Intake LiveOptions",
    "assay.live.sampling": "Sampling SamplingRule",
    "assay.live.scorer": "LiveScorer",
    "assay.live.queue.sample_queue": "SampleQueue",
    "assay.live.queue.status": "QueueReport",
    "assay.live.queue.worker": "Worker",
}

__all__ = [*names_by_module(_HOMES)]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    __getattr__, __dir__ = lazy_exports(globals(), _HOMES)

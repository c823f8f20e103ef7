"""Scoring while the application runs: in the same process, or through a spool by workers of their own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.judges.budget.budget import Budget as Budget
    from assay.judges.budget.budget import Prices as Prices
    from assay.judges.budget.sqlite_ledger import FileLedger as FileLedger
    from assay.live.health import Health as Health
    from assay.live.intake import open_intake as open_intake
    from assay.live.protocol import Intake as Intake
    from assay.live.protocol import LiveOptions as LiveOptions
    from assay.live.sampling import Sampling as Sampling
    from assay.live.sampling import SamplingRule as SamplingRule
    from assay.live.scorer import LiveScorer as LiveScorer
    from assay.live.spool.spool import Spool as Spool
    from assay.live.spool.status import SpoolReport as SpoolReport
    from assay.live.spool.worker import Worker as Worker

_HOMES = {
    "Budget": "assay.judges.budget.budget",
    "FileLedger": "assay.judges.budget.sqlite_ledger",
    "Health": "assay.live.health",
    "Intake": "assay.live.protocol",
    "LiveOptions": "assay.live.protocol",
    "LiveScorer": "assay.live.scorer",
    "Prices": "assay.judges.budget.budget",
    "SamplingRule": "assay.live.sampling",
    "Sampling": "assay.live.sampling",
    "Spool": "assay.live.spool.spool",
    "SpoolReport": "assay.live.spool.status",
    "Worker": "assay.live.spool.worker",
    "open_intake": "assay.live.intake",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'assay.live' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

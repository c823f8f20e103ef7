"""Scoring while the application runs: in the same process, or through a spool by workers of their own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.budgets.budget import Budget as Budget
    from assay.budgets.budget import Prices as Prices
    from assay.budgets.in_file import FileLedger as FileLedger
    from assay.live.health import Health as Health
    from assay.live.intake import Intake as Intake
    from assay.live.intake import LiveOptions as LiveOptions
    from assay.live.intake import open_intake as open_intake
    from assay.live.report import SpoolReport as SpoolReport
    from assay.live.sampling import Rule as Rule
    from assay.live.sampling import Sampling as Sampling
    from assay.live.scorer import LiveScorer as LiveScorer
    from assay.live.spool import Spool as Spool
    from assay.live.worker import Worker as Worker

_HOMES = {
    "Budget": "assay.budgets.budget",
    "FileLedger": "assay.budgets.in_file",
    "Health": "assay.live.health",
    "Intake": "assay.live.intake",
    "LiveOptions": "assay.live.intake",
    "LiveScorer": "assay.live.scorer",
    "Prices": "assay.budgets.budget",
    "Rule": "assay.live.sampling",
    "Sampling": "assay.live.sampling",
    "Spool": "assay.live.spool",
    "SpoolReport": "assay.live.report",
    "Worker": "assay.live.worker",
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

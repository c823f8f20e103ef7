"""Gates: whether a run is good enough to go on with, and whether that can be said at all.

    from assay.analysis.gates import Gate, Rule, check

    decision = check(Gate((Rule("faithfulness", "max_drop", 0.02),)), run, baseline)
    print(decision)

Names load when they are first used: a configuration has rules without numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.analysis.gates.checking import check as check
    from assay.analysis.gates.decision import DecidingRow as DecidingRow
    from assay.analysis.gates.decision import GateDecision as GateDecision
    from assay.analysis.gates.decision import Ruling as Ruling
    from assay.analysis.gates.rules import Gate as Gate
    from assay.analysis.gates.rules import GateRule as GateRule

_HOMES = {
    "check": "checking",
    "GateDecision": "decision",
    "Gate": "rules",
    "GateRule": "rules",
    "Ruling": "decision",
    "DecidingRow": "decision",
}

__all__ = ["DecidingRow", "Gate", "GateDecision", "GateRule", "Ruling", "check"]

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

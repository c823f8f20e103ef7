"""Gates: whether a run is good enough to go on with, and whether that can be said at all.

    from assay.analysis.gates import Gate, Rule, check

    decision = check(Gate((Rule("faithfulness", "max_drop", 0.02),)), run, baseline)
    print(decision)

Names load when they are first used: a configuration has rules without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.lazy_exports import lazy_exports, names_by_module

if TYPE_CHECKING:
    from assay.analysis.gates.checking import check as check
    from assay.analysis.gates.decision import DecidingRow as DecidingRow
    from assay.analysis.gates.decision import GateDecision as GateDecision
    from assay.analysis.gates.decision import Ruling as Ruling
    from assay.analysis.gates.rules import Gate as Gate
    from assay.analysis.gates.rules import GateRule as GateRule

_HOMES = {
    "assay.analysis.gates.checking": "check",
    "assay.analysis.gates.decision": "DecidingRow GateDecision Ruling",
    "assay.analysis.gates.rules": "Gate GateRule",
}

__all__ = [*names_by_module(_HOMES)]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    __getattr__, __dir__ = lazy_exports(globals(), _HOMES)

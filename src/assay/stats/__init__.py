"""Error bars and comparisons: how far a mean can be trusted, and whether one run is better than another.

Names load when they are first used: a summary knows its interval without numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.stats.intervals import Estimate as Estimate
    from assay.stats.intervals import estimate as estimate
    from assay.stats.paired import Difference as Difference
    from assay.stats.paired import NonInferior as NonInferior
    from assay.stats.paired import difference as difference
    from assay.stats.paired import holm as holm
    from assay.stats.paired import non_inferior as non_inferior
    from assay.stats.sequential import Sequential as Sequential

_HOMES = {
    "assay.stats.intervals": "Estimate estimate",
    "assay.stats.paired": "Difference NonInferior difference holm non_inferior",
    "assay.stats.sequential": "Sequential",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME_OF]

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these

    def __getattr__(name: str) -> Any:
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module 'assay.stats' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(home), name)
        return value

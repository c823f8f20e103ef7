"""Error bars and comparisons: how far a mean can be trusted, and whether one run is better than another.

Names load when they are first used: a summary knows its interval without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.lazy_exports import lazy_exports, names_by_module

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
__all__ = [*names_by_module(_HOMES)]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    __getattr__, __dir__ = lazy_exports(globals(), _HOMES)

"""ragas, from 0.0.11 to 0.4.3: its metrics by the names of 0.4, those that are gone by the names they had."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.base import Entry, table
from assay.systems.ragas import faithfulness

ENTRIES: Mapping[str, Entry] = table(*faithfulness.ENTRIES)

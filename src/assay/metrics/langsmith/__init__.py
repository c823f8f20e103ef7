"""LangSmith: the yes-or-no evaluators of its tutorials and of its ready-made prompts."""

from __future__ import annotations

from collections.abc import Mapping

from assay.metrics.langsmith import booleans
from assay.metrics.systems.base import Entry, table

ENTRIES: Mapping[str, Entry] = table(*booleans.ENTRIES)

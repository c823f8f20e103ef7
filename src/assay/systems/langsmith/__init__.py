"""LangSmith: the yes-or-no evaluators of its tutorials and of its ready-made prompts."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.base import Entry, table
from assay.systems.langsmith import booleans

ENTRIES: Mapping[str, Entry] = table(*booleans.ENTRIES)

"""DeepEval 4.3: its metrics by their names there, in lower case with underscores."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.base import Entry, table
from assay.systems.deepeval import (
    agent_loop_detection,
    agent_ratings,
    argument_correctness,
    conversational_g_eval,
    exchange_ratings,
    tool_correctness,
    tool_permission,
    turn_contexts,
    turns,
)

ENTRIES: Mapping[str, Entry] = table(
    *tool_correctness.ENTRIES,
    *tool_permission.ENTRIES,
    *argument_correctness.ENTRIES,
    *agent_ratings.ENTRIES,
    *agent_loop_detection.ENTRIES,
    *exchange_ratings.ENTRIES,
    *turns.ENTRIES,
    *turn_contexts.ENTRIES,
    *conversational_g_eval.ENTRIES,
)

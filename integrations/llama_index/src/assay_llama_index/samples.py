"""From a finished trace of LlamaIndex to the sample it holds: what is said of it besides the common rules."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index_instrumentation.dispatcher import active_instrument_tags

from assay import Sample
from assay.extension import CONVERSATION_KEYS, CaptureRules, Trace, sample_of
from assay_llama_index.event_payloads import without_notes
from assay_llama_index.records import plain

ID = "llama_index_span_id"

#: By which a workflow, in older versions, tells itself that it is done.
_DONE = "WorkflowDone"


def sample_from(trace: Trace, rules: CaptureRules) -> Sample | None:
    """The sample that a finished trace holds; None where it ended well and gave no answer."""
    root = trace.root
    root.metadata = without_notes(root.metadata)
    if root.kind == "agent" and root.outputs is None and root.error is None:
        root.error = _why_nothing(trace)
    return sample_of(trace, rules, id_name=ID)


def metadata_of(tags: Any, session: str | None) -> dict[str, Any]:
    """The application's tags, without those by which workflows describe themselves, and the conversation's name."""
    known = tags if tags is not None else active_instrument_tags.get()
    if not known and session is None:
        return {}
    metadata = {key: plain(value) for key, value in known.items() if not str(key).startswith("llamaindex.")}
    if session is not None and not any(name in metadata for name in CONVERSATION_KEYS):
        metadata["session_id"] = session
    return metadata


def _why_nothing(trace: Trace) -> str | None:
    """Why a workflow returned nothing at all: what broke in one of its steps, else that it was cancelled."""
    errors = [run.error for run in trace.runs.values() if run.parent == trace.root.id and run.error is not None]
    if _DONE in errors:
        return None
    return errors[-1] if errors else asyncio.CancelledError.__name__

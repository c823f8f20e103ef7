"""From the values that evaluators get (dicts, LangSmith runs and examples) to a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay import Context
from assay.extension import HostRow, context_text, contexts_under, row_of_values

_NAMES = {"question": "inputs", "answer": "outputs", "reference": "reference_outputs"}


def row_from_values(
    *,
    inputs: Any = None,
    outputs: Any = None,
    reference_outputs: Any = None,
    contexts: Any = None,
    id: str | None = None,
    ids: Mapping[str, str] | None = None,
) -> HostRow:
    """The row in an evaluator's arguments: texts, or dicts with accepted names.

    Contexts are those given, else those in the outputs, the inputs or the reference outputs.
    """
    row = row_of_values(inputs, outputs, reference_outputs, contexts=contexts, names=_NAMES)
    return replace(row, sample=replace(row.sample, id=id, ids=dict(ids or {})))


def row_from_run(run: Any, example: Any = None) -> HostRow:
    """The row in a LangSmith run, and in the example it was run on, if any.

    Contexts are those in the run's outputs or inputs, else the documents of its outermost retriever runs.
    """
    inputs = getattr(run, "inputs", None) or getattr(example, "inputs", None) or {}
    return row_from_values(
        inputs=inputs,
        outputs=getattr(run, "outputs", None),
        reference_outputs=getattr(example, "outputs", None),
        contexts=contexts_under(getattr(run, "outputs", None), inputs) or _retrieved(run) or None,
        id=str(run.id),
        ids={"langsmith_run_id": str(run.id)},
    )


def _retrieved(run: Any) -> list[Context]:
    found: list[Context] = []
    for child in getattr(run, "child_runs", None) or ():
        if child.run_type == "retriever":
            documents = (child.outputs or {}).get("documents") or ()
            found += [context for context in map(context_text, documents) if context not in found]
        else:
            found += [context for context in _retrieved(child) if context not in found]
    return found

"""assay's metrics as LangSmith evaluators."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, Unpack

from langsmith.evaluation.evaluator import EvaluationResult, EvaluationResults, RunEvaluator

from assay import InputError, Sample
from assay.extension import (
    Annotation,
    HostRow,
    JudgeSpec,
    MetricAdapter,
    MetricSpec,
    PanelOptions,
    call_repr,
    join_specs,
    row_of_values,
    samples_of,
    traces_of,
)
from assay_langsmith.runs import runs_of

_FIELDS = (
    "id", "name", "run_type", "start_time", "end_time", "error", "extra", "tags", "inputs", "outputs", "session_id",
)  # fmt: skip


class AssayEvaluator(RunEvaluator):  # type: ignore[misc, unused-ignore]
    """Metrics as an evaluator of LangSmith: one result per metric, from one reading of the texts.

        langsmith.evaluate(target, data=..., evaluators=[AssayEvaluator(["faithfulness", "context_recall"])])

    A result has the metric as key, the score, the evidence as comment, and judge, version, range and evidence as
    metadata. Where there is no measurement it has no score, but the value "skipped: CAUSE" or "failed: CAUSE".
    Question, answer and contexts are those of the run's inputs and outputs under any accepted name, the reference that
    of the example; what is not there is read from the runs below (contexts: from the retrievers). No run raises an
    error.

    Args:
        metrics: Names or metrics.
        judge: A judge, its name, or None for the embedded one.
        options: Of `assay.evaluation.adapters.MetricAdapter`: store, budget, deadline, mask, texts.
    """

    def __init__(
        self, metrics: MetricSpec | MetricAdapter, judge: JudgeSpec = None, **options: Unpack[PanelOptions]
    ) -> None:
        self._panel = metrics if isinstance(metrics, MetricAdapter) else MetricAdapter(metrics, judge, **options)

    def __repr__(self) -> str:
        return call_repr(self, self._panel)

    @property
    def feedback_keys(self) -> list[str]:
        """The names of the metrics, under which their results stand."""
        return self._panel.labels

    def evaluate_run(
        self, run: Any, example: Any = None, evaluator_run_id: uuid.UUID | None = None
    ) -> EvaluationResults:
        """Score one run.

        Args:
            run: A run of LangSmith, with the runs below it where contexts are to be read from them.
            example: The example it was run on; its outputs hold the reference.
            evaluator_run_id: The id that LangSmith gives this evaluation.

        Returns:
            One result per metric, in a list under the key `results`.
        """
        return _results(self._panel.score(lambda: row_of_run(run, example), _id(run)), evaluator_run_id)

    async def aevaluate_run(
        self, run: Any, example: Any = None, evaluator_run_id: uuid.UUID | None = None
    ) -> EvaluationResults:
        """Async form of `evaluate_run`."""
        return _results(await self._panel.ascore(lambda: row_of_run(run, example), _id(run)), evaluator_run_id)


def evaluators(*metrics: MetricSpec, judge: JudgeSpec = None, **options: Unpack[PanelOptions]) -> list[AssayEvaluator]:
    """Make one evaluator with all metrics, in the list that LangSmith wants: `evaluators=evaluators("faithfulness")`.

    Args:
        metrics: Names or metrics, or a list of them.
        judge: A judge, its name, or None for the embedded one.
        options: Those of `AssayEvaluator`.

    Returns:
        A list with the evaluator.
    """
    return [AssayEvaluator(join_specs(metrics), judge, **options)]


def row_of_run(run: Any, example: Any = None) -> HostRow:
    """The row in a LangSmith run and in the example it was run on."""
    inputs = getattr(run, "inputs", None) or getattr(example, "inputs", None)
    outputs, expected = getattr(run, "outputs", None), getattr(example, "outputs", None)
    names = {"question": "inputs", "answer": "outputs", "reference": "example"}
    return row_of_values(inputs, outputs, expected, known=_sample_of_run(run), names=names)


def _sample_of_run(run: Any) -> Sample:
    """What the runs below tell, where they tell of one exchange; at the least, which run it is."""
    ids = {} if _id(run) is None else {"langsmith_run_id": str(run.id)}
    try:
        traces = traces_of(runs_of(_records(run)))
        found = [one for trace in traces for one in samples_of(trace, None, id_name="langsmith_run_id")]
    except InputError:  # a run without times: one that is made by hand
        found = []
    return found[0] if len(found) == 1 else Sample(ids=ids)


def _records(run: Any, parent: Any = None, trace: Any = None) -> Iterator[dict[str, Any]]:
    trace = trace or run.id
    yield {
        **{name: getattr(run, name, None) for name in _FIELDS},
        "parent_run_id": parent,
        "trace_id": trace,
    }
    for child in getattr(run, "child_runs", None) or ():
        yield from _records(child, run.id, trace)


def _id(run: Any) -> str | None:
    found = getattr(run, "id", None)
    return None if found is None else str(found)


def _results(told: list[Annotation], source: uuid.UUID | None) -> EvaluationResults:
    return {"results": [_result(one, source) for one in told]}


def _result(annotation: Annotation, source: uuid.UUID | None) -> EvaluationResult:
    return EvaluationResult(
        key=annotation.name,
        score=annotation.value,
        value=None if annotation.cause is None else f"{annotation.label}: {annotation.cause}",
        comment=annotation.explanation,
        metadata=dict(annotation.metadata),
        evaluator_info=dict(annotation.metadata),  # what the client uploads as metadata of the feedback's source
        source_run_id=source,
    )

"""assay's metrics as scorers of `mlflow.genai.evaluate`. Needs MLflow's evaluation: `pip install mlflow`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from assay import InputError, MissingExtra, Sample
from assay.extension import (
    Annotation,
    HostRow,
    JudgeSpec,
    MetricAdapter,
    MetricSpec,
    PanelOptions,
    join_specs,
    row_of_values,
)
from assay_mlflow.log_filter import quiet_mlflow
from assay_mlflow.sink import feedback_of
from assay_mlflow.source import exchanges

try:
    quiet_mlflow()
    from mlflow.genai.scorers import Scorer
    from pydantic import PrivateAttr
except ImportError as error:
    raise MissingExtra(f"assay's scorers need MLflow's evaluation: pip install mlflow ({error})") from error

if TYPE_CHECKING:
    from mlflow.entities import Feedback, Trace

_WAIT = 60.0  # seconds that MLflow waits for a scorer beyond its own deadline, where it can be told so


class AssayScorer(Scorer):  # type: ignore[misc, unused-ignore]
    """One or several metrics as a scorer of MLflow.

        mlflow.genai.evaluate(data, scorers=[AssayScorer("faithfulness")])

    A feedback has the metric as name, the score as value, the evidence as rationale, the judge as source. Where there
    is no measurement it has no value, but an error with the cause as code. Question, answer, contexts and reference are
    those of the row's inputs, outputs and expectations under any accepted name; what is not there is read from its
    trace (contexts: from the retriever spans). Nothing is raised for a row. For "@" and what else MLflow allows in no
    name, a stop stands in it: "ragas:faithfulness.original".

    It works in this process: MLflow cannot register it on a server (`register` says what can take its place).

    Args:
        metrics: Names or metrics. Several give several feedbacks.
        judge: A judge, its name, or None for the embedded one.
        name: What MLflow calls the scorer; default: the labels of the metrics.
        options: Of `assay.evaluation.adapters.MetricAdapter`: store, budget, deadline, mask, texts.
    """

    _panel: MetricAdapter = PrivateAttr()

    def __init__(
        self,
        metrics: MetricSpec | MetricAdapter,
        judge: JudgeSpec = None,
        *,
        name: str | None = None,
        description: str | None = None,
        aggregations: list[Any] | None = None,
        **options: Unpack[PanelOptions],
    ) -> None:
        panel = metrics if isinstance(metrics, MetricAdapter) else MetricAdapter(metrics, judge, **options)
        more: dict[str, Any] = {}
        if panel.deadline is not None and "timeout" in type(self).model_fields:  # else MLflow's own limit stands
            more["timeout"] = panel.deadline + _WAIT
        super().__init__(
            name=name or ", ".join(panel.labels), description=description, aggregations=aggregations, **more
        )
        self._panel = panel

    def __call__(  # type: ignore[override, unused-ignore]
        self,
        *,
        inputs: Any = None,
        outputs: Any = None,
        expectations: dict[str, Any] | None = None,
        trace: Trace | None = None,
    ) -> Feedback | list[Feedback]:
        """The feedback on one row; a list where there are several metrics."""
        target = None if trace is None else trace.info.trace_id
        told = self._panel.score(lambda: row_of(inputs, outputs, expectations, trace), target)
        found = [_feedback(annotation, target) for annotation in told]
        return found[0] if len(found) == 1 else found

    def register(self, **_: Any) -> NoReturn:
        """Refuse to register: MLflow's server runs only what it can write down as text, and this needs its judge.

        Args:
            _: Not used.

        Raises:
            InputError: Always; it says what can be done in its place.
        """
        raise InputError(
            "MLflow cannot register a scorer of assay: it runs where you evaluate. To score the traces of an "
            "application as they arrive, give its handler an MlflowSink, or read them with `assay data import mlflow:`"
        )


def scorers(*metrics: MetricSpec, judge: JudgeSpec = None, **options: Unpack[PanelOptions]) -> list[Scorer]:
    """Make one scorer per metric, which share the judge and its judgements: `scorers=scorers("faithfulness", ...)`.

    Args:
        metrics: Names or metrics, or a list of them.
        judge: A judge, its name, or None for the embedded one.
        options: Those of `AssayScorer`.

    Returns:
        The scorers, in the order of the metrics.
    """
    return [AssayScorer(panel) for panel in MetricAdapter(join_specs(metrics), judge, **options).each()]


def row_of(
    inputs: Any = None, outputs: Any = None, expectations: Mapping[str, Any] | None = None, trace: Trace | None = None
) -> HostRow:
    """The row that MLflow hands a scorer; what the values leave open is read from the trace."""
    known = None if trace is None else _sample_of_trace(trace, outputs)
    names = {"question": "inputs", "answer": "outputs", "reference": "expectations"}
    return row_of_values(inputs, outputs, expectations, strict=True, known=known, names=names)


def _sample_of_trace(trace: Trace, outputs: Any) -> Sample | None:
    """What the trace tells: its only exchange, or of several the one that ends with these outputs."""
    found = [] if getattr(trace, "data", None) is None else list(exchanges(trace))
    if len(found) > 1:
        answer = row_of_values(outputs=outputs).sample.answer
        found = [sample for sample in found if sample.answer == answer]
    return found[0] if len(found) == 1 else None


def _feedback(annotation: Annotation, trace_id: str | None) -> Feedback:
    made: Feedback = feedback_of(annotation, trace_id, None)
    return made

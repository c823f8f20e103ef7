"""assay's metrics as Phoenix evaluators. Needs `pip install 'assay-phoenix[evals]'`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from assay import InputError, Metric, MissingExtra
from assay.extension import (
    Annotation,
    JudgeSpec,
    MetricAdapter,
    MetricSpec,
    PanelOptions,
    call_repr,
    join_specs,
    row_of_columns,
)
from assay_phoenix.documents import kind_of

try:
    from phoenix.evals import Evaluator, Score
    from pydantic import BaseModel, ConfigDict
except ImportError as error:
    raise MissingExtra(f"assay's evaluators need Phoenix's: pip install 'assay-phoenix[evals]' ({error})") from error

_DIRECTIONS = {"higher": "maximize", "lower": "minimize"}


class Row(BaseModel):
    """What an evaluator reads, under these or any other names that assay accepts."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)

    question: Any = None
    contexts: Any = None
    answer: Any = None
    reference: Any = None
    reference_contexts: Any = None

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """The values as they came: pydantic would make texts of fractions, and assay judge them.

        Args:
            options: Those of pydantic. They change nothing.

        Returns:
            Name -> value.
        """
        return dict(self)


class AssayEvaluator(Evaluator):  # type: ignore[misc, unused-ignore]
    """One metric as an evaluator of Phoenix, for `evaluate_dataframe` and for experiments.

        frame = evaluate_dataframe(dataframe=frame, evaluators=[AssayEvaluator("faithfulness")])

    A score has the value, the evidence as explanation, judge, version, range and evidence as metadata. Where there is
    no measurement it has no value, but the label "skipped" or "failed" and the reason. Columns and dicts are read
    under any accepted name; `input_mapping` takes other names to `question`, `contexts`, `answer` and `reference`.
    Nothing is raised for a row: Phoenix would end the whole evaluation, after ten tries.

    Args:
        metric: A metric or its name; for several, which then share what the judge found, see `evaluators`.
        judge: A judge, its name, or None for the embedded one.
        name: What the evaluator and its scores are called; default: the metric's label.
        options: Of `assay.evaluation.adapters.MetricAdapter`: store, budget, deadline, mask, texts.
    """

    def __init__(
        self,
        metric: Metric | str | MetricAdapter,
        judge: JudgeSpec = None,
        *,
        name: str | None = None,
        **options: Unpack[PanelOptions],
    ) -> None:
        panel = metric if isinstance(metric, MetricAdapter) else MetricAdapter(metric, judge, **options)
        if len(panel.metrics) != 1:
            raise InputError(
                f"metric: expected one, got {len(panel.metrics)}: experiments keep the first score alone; "
                "for several use `evaluators`"
            )
        one = panel.metrics[0]
        super().__init__(
            name=name or one.label,
            kind="llm" if one.consults else "code",
            direction=_DIRECTIONS[one.direction],
            input_schema=Row,
        )
        self._panel = panel

    def __repr__(self) -> str:
        return call_repr(self, self._panel)

    def evaluate(self, eval_input: Mapping[str, Any], input_mapping: Any = None) -> list[Score]:
        """Score one row.

        Args:
            eval_input: The row.
            input_mapping: Other names of its columns, as Phoenix takes them.

        Returns:
            A list with the score.
        """
        found: list[Score] = super().evaluate(*self._all_of(eval_input, input_mapping))
        return found

    async def async_evaluate(self, eval_input: Mapping[str, Any], input_mapping: Any = None) -> list[Score]:
        """Async form of `evaluate`."""
        found: list[Score] = await super().async_evaluate(*self._all_of(eval_input, input_mapping))
        return found

    def _all_of(self, row: Mapping[str, Any], mapping: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The row, and a mapping that keeps all of it: by itself Phoenix hands on what a schema requires, no more."""
        texts = {name: value for name, value in row.items() if isinstance(name, str)}
        return texts, {**{name: name for name in texts}, **(mapping or self._input_mapping or {})}

    def _evaluate(self, eval_input: dict[str, Any]) -> list[Score]:
        return [self._score(one) for one in self._panel.score(lambda: row_of_columns(eval_input))]

    async def _async_evaluate(self, eval_input: dict[str, Any]) -> list[Score]:
        return [self._score(one) for one in await self._panel.ascore(lambda: row_of_columns(eval_input))]

    def _score(self, annotation: Annotation) -> Score:
        return Score(
            name=self.name,
            score=annotation.value,
            label=annotation.label,
            explanation=annotation.explanation,
            metadata=dict(annotation.metadata),
            kind=kind_of(annotation).lower(),
            direction=self.direction,
        )


def evaluators(*metrics: MetricSpec, judge: JudgeSpec = None, **options: Unpack[PanelOptions]) -> list[AssayEvaluator]:
    """Make one evaluator per metric, which share judge and judgements: `evaluators=evaluators("faithfulness", ...)`.

    Args:
        metrics: Names or metrics, or a list of them.
        judge: A judge, its name, or None for the embedded one.
        options: Those of `AssayEvaluator`.

    Returns:
        The evaluators, in the order of the metrics.
    """
    return [AssayEvaluator(panel) for panel in MetricAdapter(join_specs(metrics), judge, **options).each()]

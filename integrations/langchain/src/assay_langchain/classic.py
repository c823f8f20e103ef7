"""Evaluators of langchain-classic's interfaces. Needs `pip install 'assay-langchain[classic]'`.

`load_evaluator` in `loading` makes those that LangChain has under the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay import Metric, MissingExtra, ScoredSample
from assay.extension import HostRow, JudgeSpec, call_repr, install_extra
from assay_langchain.arguments import read_pair, read_trajectory, row_of_arguments
from assay_langchain.functions import DEADLINE, comment_on, measured_value, one_metric

try:
    from langchain_classic.evaluation.schema import AgentTrajectoryEvaluator, PairwiseStringEvaluator, StringEvaluator
except ImportError as error:
    how = install_extra("classic", of="langchain")
    raise MissingExtra(f"AssayStringEvaluator needs langchain-classic: {how}") from error


class _OneMetric:
    """A metric, the judge it asks, and how its score is handed back: `{"score", "value", "reasoning"}`.

    A skipped case has `score` None and its cause as `value`: so has a value that is no text, where the metric needs
    one (bad_row), and NaN (missing_input). As in LangChain, a needed `input` or `reference` of None raises ValueError.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one sample; what is not measured by then fails (timeout). None: no limit.
    """

    def __init__(self, metric: Metric | str, judge: JudgeSpec = None, *, deadline: float | None = DEADLINE) -> None:
        self._metric, self._adapter = one_metric(metric, judge, deadline)

    def __repr__(self) -> str:
        return call_repr(self, self._metric.label, self._adapter.judge)

    @property
    def evaluation_name(self) -> str:
        """The label of the metric."""
        return self._metric.label

    @property
    def requires_input(self) -> bool:
        """Whether the metric needs the question."""
        return "question" in self._metric.needs

    @property
    def requires_reference(self) -> bool:
        """Whether the metric needs a reference answer."""
        return "reference" in self._metric.needs

    def value_of(self, score: float) -> str | None:
        """The word for a score, where there is one."""
        return None

    def _row(self, scored: ScoredSample) -> dict[str, Any]:
        score = scored.scores[self._metric.label]
        number = measured_value(score)
        value = score.why_unmeasured if number is None else self.value_of(number)
        return {"score": number, "value": value, "reasoning": comment_on(score, scored.sample)}


class AssayStringEvaluator(_OneMetric, StringEvaluator):  # type: ignore[misc, unused-ignore]
    """One metric as a string evaluator: `evaluate_strings(prediction=, input=, reference=, contexts=[...])`.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one sample; what is not measured by then fails (timeout). None: no limit.
    """

    def row_of(self, prediction: Any, reference: Any, question: Any, contexts: Any) -> HostRow:
        """Read the arguments of `evaluate_strings` as a row.

        Args:
            prediction: The answer.
            reference: The reference answer, or None.
            question: The question (`input`), or None.
            contexts: Texts, documents or one text; None where there are none.

        Returns:
            The row, with the values that are no text named in it.
        """
        return row_of_arguments(prediction, reference, question, contexts)

    def _evaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, contexts: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(self._adapter.score_row(lambda: self.row_of(prediction, reference, input, contexts)))

    async def _aevaluate_strings(
        self, *, prediction: Any, reference: Any = None, input: Any = None, contexts: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(await self._adapter.ascore_row(lambda: self.row_of(prediction, reference, input, contexts)))


class AssayPairwiseStringEvaluator(_OneMetric, PairwiseStringEvaluator):  # type: ignore[misc, unused-ignore]
    """A metric that compares two answers: `evaluate_string_pairs(prediction=, prediction_b=, input=, reference=)`.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one sample; what is not measured by then fails (timeout). None: no limit.
    """

    def _evaluate_string_pairs(
        self, *, prediction: Any, prediction_b: Any, reference: Any = None, input: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(self._adapter.score_row(lambda: read_pair(prediction, prediction_b, reference, input)))

    async def _aevaluate_string_pairs(
        self, *, prediction: Any, prediction_b: Any, reference: Any = None, input: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(await self._adapter.ascore_row(lambda: read_pair(prediction, prediction_b, reference, input)))


class AssayTrajectoryEvaluator(_OneMetric, AgentTrajectoryEvaluator):  # type: ignore[misc, unused-ignore]
    """A metric on the way of an agent: `evaluate_agent_trajectory(prediction=, input=, agent_trajectory=, reference=)`.

    Args:
        metric: A metric, or its name.
        judge: A judge, its name, or None for the embedded one.
        deadline: Seconds for one sample; what is not measured by then fails (timeout). None: no limit.
        agent_tools: The tools that the agent had: LangChain's, or their names.
    """

    def __init__(
        self,
        metric: Metric | str,
        judge: JudgeSpec = None,
        *,
        deadline: float | None = DEADLINE,
        agent_tools: Sequence[Any] = (),
    ) -> None:
        super().__init__(metric, judge, deadline=deadline)
        self._tools = [tool if isinstance(tool, str) else _described(tool) for tool in agent_tools]

    def _evaluate_agent_trajectory(
        self, *, prediction: Any, agent_trajectory: Any, input: Any, reference: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(self._adapter.score_row(lambda: self._steps(prediction, agent_trajectory, input, reference)))

    async def _aevaluate_agent_trajectory(
        self, *, prediction: Any, agent_trajectory: Any, input: Any, reference: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._row(
            await self._adapter.ascore_row(lambda: self._steps(prediction, agent_trajectory, input, reference))
        )

    def _steps(self, prediction: Any, steps: Any, question: Any, reference: Any) -> HostRow:
        return read_trajectory(prediction, steps, question, reference, self._tools)


def _described(tool: Any) -> dict[str, str]:
    return {"name": str(tool.name), "description": str(tool.description)}

"""`load_evaluator` of langchain-classic, with assay's judges: the same types, the same interfaces, the same results.

    evaluator = load_evaluator("criteria", criteria="conciseness", judge="openai:MODEL")
    evaluator.evaluate_strings(prediction="...", input="...")  # {"score": 1.0, "value": "Y", "reasoning": "..."}

What could not be scored has `score` None, where LangChain raises or guesses: NaN is missing, and no value but a text is
scored as one. Metrics on JSON take dicts and lists, too. `profile="original"` gives the numbers as LangChain makes
them; without it, pairs are asked in both orders. Needs `pip install 'assay-langchain[classic]'`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from assay import InputError, Metric
from assay.extension import (
    BaseJudge,
    HostRow,
    JudgeSpec,
    Profile,
    missing,
    resolve_judge,
    resolve_metrics,
    system_entries,
)
from assay_langchain.arguments import read_json, row_of_arguments
from assay_langchain.classic import (
    AssayPairwiseStringEvaluator,
    AssayStringEvaluator,
    AssayTrajectoryEvaluator,
)

Evaluator = AssayStringEvaluator | AssayPairwiseStringEvaluator | AssayTrajectoryEvaluator

_GRADES = {1.0: "CORRECT", 0.0: "INCORRECT"}
_YES_NO = {1.0: "Y", 0.0: "N"}
_PREFERRED = {1.0: "A", 0.0: "B"}


@dataclass(frozen=True, slots=True)
class EvaluatorKind:
    """One of LangChain's types of evaluators; its metric has the same name.

    Attributes:
        title: What LangChain calls the evaluation, for a metric.
        values: The words that go with its scores.
    """

    title: Callable[[Any], str]
    values: Mapping[float, str]


def _kind(title: str | Callable[[Any], str], values: Any = None) -> EvaluatorKind:
    return EvaluatorKind(title if callable(title) else lambda metric: title, values or {})


def _criteria(metric: Any) -> str:
    return "-".join(metric.questions)


def _measured(prefix: str, metric: Any) -> str:
    return f"{prefix}{metric.distance or 'jaro_winkler'}_distance"


def _embedded(prefix: str, metric: Any) -> str:
    return f"{prefix}{metric.distance_metric or 'cosine'}_distance"


KINDS: Mapping[str, EvaluatorKind] = {
    "qa": _kind("correctness", _GRADES),
    "cot_qa": _kind("COT Contextual Accuracy", _GRADES),
    "context_qa": _kind("Contextual Accuracy", _GRADES),
    "criteria": _kind(_criteria, _YES_NO),
    "labeled_criteria": _kind(_criteria, _YES_NO),
    "score_string": _kind(lambda metric: f"score_string:{_criteria(metric)}"),
    "labeled_score_string": _kind(lambda metric: f"score_string:{_criteria(metric)}"),
    "pairwise_string": _kind("pairwise_string", _PREFERRED),
    "labeled_pairwise_string": _kind("labeled_pairwise_string", _PREFERRED),
    "trajectory": _kind("trajectory"),
    "string_distance": _kind(partial(_measured, "")),
    "pairwise_string_distance": _kind(partial(_measured, "pairwise_")),
    "embedding_distance": _kind(partial(_embedded, "embedding_")),
    "pairwise_embedding_distance": _kind(partial(_embedded, "pairwise_embedding_")),
    "exact_match": _kind("exact_match"),
    "regex_match": _kind("regex_match"),
    "json_validity": _kind("json_validity"),
    "json_equality": _kind("json_equality"),
    "json_edit_distance": _kind("json_edit_distance"),
    "json_schema_validation": _kind("json_schema_validation"),
}

#: LangChain's arguments that have no place here, and what takes theirs.
_INSTEAD = {
    "prompt": "criteria=..., or a metric of your own",
    "embeddings": "judge=..., which embeds",
    "output_parser": "nothing: replies are read by their schema",
}

_ON_JSON = ("json_validity", "json_equality", "json_edit_distance", "json_schema_validation")


class _EvaluatorName:
    """What LangChain calls an evaluator, and the words that it gives with its scores."""

    _type: str
    _metric: Any

    @property
    def evaluation_name(self) -> str:
        """What LangChain calls the evaluation."""
        return KINDS[self._type].title(self._metric)

    def value_of(self, score: float) -> str | None:
        """The word that LangChain gives with a score."""
        return KINDS[self._type].values.get(score)


class _Loaded(_EvaluatorName, AssayStringEvaluator):
    """A string evaluator as LangChain has it. What `context_qa` calls its reference is the context."""

    @property
    def requires_reference(self) -> bool:
        """Whether LangChain asks for a reference."""
        return super().requires_reference or self._type in ("context_qa", "json_schema_validation")

    def row_of(self, prediction: Any, reference: Any, question: Any, contexts: Any) -> HostRow:
        """The row; metrics on JSON take values, too, and a schema may be a pydantic model."""
        if self._type == "context_qa":
            # a list, so that a passage that is JSON is no list of passages
            passage = [reference] if isinstance(reference, str) else reference
            return row_of_arguments(prediction, None, question, passage if missing(contexts) else contexts)
        if self._type == "json_schema_validation" and hasattr(reference, "model_json_schema"):
            reference = reference.model_json_schema()
        if self._type in _ON_JSON:
            return read_json(prediction, reference if self.requires_reference else None)
        return row_of_arguments(prediction, reference, question)


class _LoadedPair(_EvaluatorName, AssayPairwiseStringEvaluator):
    """A pairwise evaluator as LangChain has it."""


class _LoadedTrajectory(_EvaluatorName, AssayTrajectoryEvaluator):
    """A trajectory evaluator as LangChain has it."""


def load_evaluator(
    evaluator: str, *, judge: JudgeSpec = None, llm: JudgeSpec = None, profile: Profile = "assay", **kwargs: Any
) -> Evaluator:
    """Make the evaluator of a type of LangChain's, or of one of assay's metrics.

    Args:
        evaluator: An `EvaluatorType` of LangChain, its name, or the name of a metric: "faithfulness",
            "ragas:faithfulness". Its passages are `contexts=` of `evaluate_strings`.
        judge: As everywhere in assay.
        llm: The same, by the name that LangChain has for it.
        profile: "original": the numbers as LangChain makes them.
        kwargs: The arguments of LangChain's evaluator (criteria, normalize_by, distance, agent_tools, ...).

    Returns:
        An evaluator with LangChain's interface for this type.

    Raises:
        InputError: The type, the metric or an argument is unknown, or the judge cannot answer what is asked.
    """
    name = str(evaluator.value if isinstance(evaluator, Enum) else evaluator)
    if name not in KINDS:
        return _of_metric(name, judge if judge is not None else llm, kwargs)
    refused = next((argument for argument in kwargs if argument in _INSTEAD), None)
    if refused is not None:
        raise InputError(f"load_evaluator: {refused} is not taken; instead: {_INSTEAD[refused]}")
    make: Callable[..., Any] = system_entries("langchain")[name].make
    tools = kwargs.pop("agent_tools", None) or () if name == "trajectory" else ()
    plain = {argument: value.value if isinstance(value, Enum) else value for argument, value in kwargs.items()}
    try:
        metric = make(profile=profile, **plain)
    except TypeError as error:
        taken = [one for one in inspect.signature(make).parameters if one != "profile"]
        said = f"takes {', '.join(taken)}" if taken else "takes no arguments"
        raise InputError(f"load_evaluator: {name}: {error}; it {said}") from None
    made: Any
    asked = _judge_for(metric, judge if judge is not None else llm, name)
    if name == "trajectory":
        made = _LoadedTrajectory(metric, asked, agent_tools=tools)
    else:
        made = (_LoadedPair if "pairwise" in name else _Loaded)(metric, asked)
    made._type = name
    evaluator_made: Evaluator = made
    return evaluator_made


def _of_metric(name: str, judge: JudgeSpec, kwargs: Mapping[str, Any]) -> Evaluator:
    """The evaluator of one of assay's metrics."""
    if kwargs:
        raise InputError(f"load_evaluator: {name}: a metric takes no arguments by name; found {', '.join(kwargs)}")
    try:
        (metric,) = resolve_metrics(name)
    except InputError as error:
        raise InputError(
            f"load_evaluator: evaluator: expected the name of a metric, or one of {', '.join(KINDS)}; {error}"
        ) from None
    return AssayStringEvaluator(metric, _judge_for(metric, judge, name))


def _judge_for(metric: Metric, judge: JudgeSpec, name: str) -> BaseJudge:
    """The judge. Raises InputError where it can never score the metric."""
    asked = resolve_judge(judge)
    failure = metric.cannot(asked)
    if failure is not None:
        raise InputError(f"load_evaluator: {name}: {failure.message}; pass judge=...")
    return asked


def load_evaluators(
    evaluators: Sequence[str],
    *,
    judge: JudgeSpec = None,
    llm: JudgeSpec = None,
    config: Mapping[Any, Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> list[Evaluator]:
    """Make the evaluators of several types.

    Args:
        evaluators: Their types: an `EvaluatorType` of LangChain each, or its name.
        judge: As everywhere in assay.
        llm: The same, by the name that LangChain has for it.
        config: Further arguments, by type.
        kwargs: Arguments for all of them.

    Returns:
        One evaluator per type, in the same order.

    Raises:
        InputError: As `load_evaluator`.
    """
    return [
        load_evaluator(one, judge=judge, llm=llm, **{**kwargs, **(config or {}).get(one, {})}) for one in evaluators
    ]

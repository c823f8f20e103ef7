"""DeepEval's json_correctness: is the answer JSON of the expected schema?

1 where it is, else 0. DeepEval 4.3.1, `JsonCorrectnessMetric`, takes a pydantic model, and so does the parameter
`expected_schema` here; a JSON Schema works too, also in the column `expected_schema`. pydantic turns values into the
types of its fields ("1" into 1) as it does there; a JSON Schema does not. No judge is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError

from assay._util.byte_limits import TooLargeError, check_json
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.systems.schemas import json_schema_errors
from assay.records import Sample, Score

Schema = type[BaseModel] | Mapping[str, Any]


async def wrong_with(answer: str, schema: Schema) -> tuple[str, ...]:
    """Why the answer is not of this schema; () where it is. Raises what `json_schema_errors` raises."""
    if isinstance(schema, type):
        try:
            schema.model_validate_json(answer)
        except ValidationError as error:
            return (str(error),)
        return ()
    try:
        check_json(answer)
        value = json.loads(answer)
    except TooLargeError as error:
        raise JudgeFailure(Cause.TOO_LARGE, f"the answer: {error}") from None
    except (ValueError, RecursionError) as error:
        return (f"it is no JSON: {error}",)
    return await json_schema_errors(value, schema)


@dataclass(frozen=True)
class JsonCorrectness(DeepEvalMetric):
    """Whether the answer is JSON of `expected_schema`."""

    name: ClassVar[str] = "deepeval:json_correctness"
    needs: ClassVar = ("question", "answer")
    columns: ClassVar[tuple[str, ...]] = ("expected_schema",)

    expected_schema: Schema | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        made = self.expected_schema
        model = isinstance(made, type) and issubclass(made, BaseModel)
        if made is not None and not model and not isinstance(made, Mapping):
            raise InputError(f"{self.name}: expected_schema: expected a pydantic model or a JSON Schema")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        schema = (
            self.expected_schema if self.expected_schema is not None else self.setting(sample, "expected_schema", dict)
        )
        try:
            wrong = await wrong_with(sample.answer or "", schema)
        except InputError as error:
            return self.skip(Cause.MISSING_INPUT, f"expected_schema: {error}")
        return self.make_graded_score(float(not wrong), texts={"wrong": wrong} if wrong else None)


ENTRIES = (
    Entry(
        make=JsonCorrectness,
        source="deepeval.metrics.JsonCorrectnessMetric",
        compared="deepeval 4.3.1",
        family="structure",
        steps=Steps("the whole answer", "the schema", "valid", "yes or no"),
        empty="refused",
    ),
)

"""LangChain's checks of JSON in an answer.

    json_validity           1 where the answer is JSON, else 0
    json_equality           1 where answer and reference are equal as JSON values, else 0; lists in any order
    json_edit_distance      the Damerau-Levenshtein distance of both, written with sorted keys and no spaces, divided
                            as rapidfuzz does; lower is better
    json_schema_validation  1 where the answer fits the JSON schema in `metadata["schema"]`, or else in the reference

Range 0 to 1. All but the first complete JSON that is broken off. Where the answer is no JSON, the first gives 0 and
the others have nothing to measure; LangChain raises an error there. Source: langchain-classic 1.0.8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.langchain.json_text import NotJson, read_broken, read_strictly
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.input_rules import TAKES_BLANK_TEXTS
from assay.metrics.systems.lexical import normalized_distance
from assay.metrics.systems.schemas import json_schema_errors
from assay.records import Direction, Sample, Score


def equal(ours: Any, theirs: Any) -> bool:
    """Whether two JSON values are equal; where the second is a list, in any order."""
    if not isinstance(theirs, list):
        return bool(ours == theirs)
    return isinstance(ours, list) and sorted(ours, key=str) == sorted(theirs, key=str)


def canonical(value: Any) -> str:
    """A JSON value as text, the same for equal ones."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True)
class _OnJson(SystemMetric):
    """A check of the value in the answer."""

    needs: ClassVar[tuple[str, ...]] = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS

    def value(self, sample: Sample, field: str) -> Any:
        """The value in a text of the sample. Raises JudgeFailure, which makes it skipped, where there is none."""
        try:
            return read_broken(getattr(sample, field) or "", original=self.original)
        except NotJson as error:
            raise JudgeFailure(Cause.NOT_APPLICABLE, f"the {field} is no JSON: {error}") from None


@dataclass(frozen=True)
class JsonValidity(SystemMetric):
    """1 where the answer is JSON."""

    name: ClassVar[str] = "langchain:json_validity"
    input_rules: ClassVar = TAKES_BLANK_TEXTS
    needs: ClassVar[tuple[str, ...]] = ("answer",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        try:
            read_strictly(sample.answer or "")
        except NotJson as error:
            return self.make_score(0.0, texts={"reason": (str(error),)})
        return self.make_score(1.0)


@dataclass(frozen=True)
class JsonEquality(_OnJson):
    """1 where answer and reference are equal as JSON values."""

    name: ClassVar[str] = "langchain:json_equality"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.make_score(float(equal(self.value(sample, "answer"), self.value(sample, "reference"))))


@dataclass(frozen=True)
class JsonEditDistance(_OnJson):
    """The edit distance of answer and reference as canonical JSON."""

    name: ClassVar[str] = "langchain:json_edit_distance"
    direction: ClassVar[Direction] = "lower"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        said, right = (canonical(self.value(sample, field)) for field in ("answer", "reference"))
        return self.make_score(normalized_distance(said, right, "damerau_levenshtein"))


@dataclass(frozen=True)
class JsonSchemaValidation(_OnJson):
    """1 where the answer fits the schema."""

    name: ClassVar[str] = "langchain:json_schema_validation"
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    may_read: ClassVar[tuple[str, ...]] = ("schema",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        schema = given(sample, self, "schema", dict, {}) or self._in_reference(sample)
        try:
            wrong = await json_schema_errors(self.value(sample, "answer"), schema)
        except InputError as error:
            return self.skip(Cause.NOT_APPLICABLE, str(error))
        return self.make_score(float(not wrong), texts={"errors": wrong} if wrong else {})

    def _in_reference(self, sample: Sample) -> Any:
        if sample.reference is None:
            raise JudgeFailure(
                Cause.MISSING_INPUT, f"{self.label} needs a JSON schema: metadata['schema'] or 'reference'"
            )
        return self.value(sample, "reference")


def _entry(
    kind: type[SystemMetric],
    source: str,
    family: str,
    steps: Steps,
    empty: str,
    example: Mapping[str, str] | None = None,
) -> Entry:
    return Entry(
        make=kind,
        source=f"langchain_classic.evaluation.{source}",
        compared="langchain-classic 1.0.8",
        family=family,
        steps=steps,
        empty=empty,
        example=example or {},
    )


_ERROR = "an error for an answer that is no JSON"

ENTRIES = (
    _entry(
        JsonValidity,
        "parsing.base.JsonValidityEvaluator",
        "json validity",
        Steps("the whole answer", "the grammar of JSON", "is JSON", "yes 1, no 0"),
        "0",
    ),
    _entry(
        JsonEquality,
        "parsing.base.JsonEqualityEvaluator",
        "json equality",
        Steps("the JSON value of the answer", "the reference", "equal", "yes 1, no 0"),
        _ERROR,
    ),
    _entry(
        JsonEditDistance,
        "parsing.json_distance.JsonEditDistanceEvaluator",
        "string distance",
        Steps("characters of the canonical JSON", "the reference", "damerau_levenshtein", "distance"),
        _ERROR,
    ),
    _entry(
        JsonSchemaValidation,
        "parsing.json_schema.JsonSchemaEvaluator",
        "json schema",
        Steps("the JSON value of the answer", "a JSON schema", "fits", "yes 1, no 0"),
        _ERROR,
        {"reference": '{"type": "object"}'},
    ),
)

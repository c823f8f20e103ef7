"""What every metric has: its needs, its range and direction, and one async method that measures.

    class Faithfulness(Metric):
        async def measure(self, sample, judge): ...

`score` wraps `measure`: it checks the needs, and turns what a judge could not answer into a skipped score.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, cast

from assay._util.normalise import real_number
from assay.errors import Cause, JudgeFailure, MissingExtra
from assay.judges.protocol import METER, Judge, Meter
from assay.metrics.languages import languages_in
from assay.metrics.parameters import check_parameters
from assay.metrics.tool_calls import tool_evidence
from assay.prompts.base import JudgePrompt
from assay.prompts.rating import RatingResult
from assay.records import Direction, Sample, Score, ScoreError, Verdict
from assay.records.base import with_clean
from assay.text.languages import code_of

#: Characters that an answer or a reference may have, where a judge is asked about it: 50,000 tokens, minutes for the
#: embedded judge. More is no answer but a file.
LONGEST = 200_000

#: What a metric reads that needs nothing by name.
_TEXTS = ("answer", "question", "contexts")
_SAY_SO = 'where that is wrong, say the language: a column `language`, or evaluate(..., language="en")'


@dataclass(frozen=True)
class Metric(ABC):
    """Base of metrics. Instances are frozen: parameters are fields, results are returned and never kept.

    Attributes:
        name: Label of the score; default: the name of the class, in lower case with underscores.
        needs: Fields of the sample without which nothing can be measured; default: none.
        columns: Further columns of the row (in the sample's metadata) without which nothing can be measured; one that a
            parameter of the same name gives need not be there.
        may_read: Columns that it reads where they are there.
        asks: Classes of the judge prompts that it uses, so that a judge which cannot answer them is never asked.
        low: Least value.
        high: Greatest value.
        direction: Which end is good: "higher" or "lower".
        version: Rises when the formula or its judge prompts change.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ()
    may_read: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[type[JudgePrompt[Any]], ...]] = ()
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    direction: ClassVar[Direction] = "higher"
    version: ClassVar[str] = "1"
    #: False for metrics that give an empty retrieval a number
    needs_passages: ClassVar[bool] = True
    #: True for metrics that look at pictures among the passages; the others have no value where there are any
    reads_images: ClassVar[bool] = False
    #: True for metrics to which the contexts of earlier turns are evidence too, and, without any, what tools gave back
    reads_history: ClassVar[bool] = False

    _is_of_assay: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._is_of_assay = cls.__module__.startswith("assay.")
        if not hasattr(cls, "name") and "name" not in inspect.get_annotations(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    def __new__(cls, *given: Any, **named: Any) -> Self:
        check_parameters(cls, given, named)
        return super().__new__(cls)

    @property
    def needs_contradiction(self) -> bool:
        """Whether the number would mean nothing from a judge that never says "contradicted"."""
        return False

    @property
    def needed_columns(self) -> tuple[str, ...]:
        """Those of `columns` that no parameter gives."""
        parameters = {one.name for one in fields(self)}
        return tuple(name for name in self.columns if name not in parameters or getattr(self, name) in (None, "", ()))

    @property
    def consults(self) -> bool:
        """Whether it asks the judge anything, so that its outcome says something about the judge."""
        return bool(self.asks)

    @property
    def may_ask(self) -> bool:
        """Whether the judge may be touched at all: not by metrics of assay that ask nothing.

        A class of a user's own may ask what it does not name in `asks`.
        """
        return not self._is_of_assay or self.consults or bool(self.asks)

    @property
    def at_once(self) -> bool:
        """Whether it may be begun outside of a task of its own, as it looks at none: so do those of assay."""
        return not self.may_ask

    @property
    def label(self) -> str:
        """The name of the score; metrics with parameters may carry them here."""
        return self.name

    @abstractmethod
    async def measure(self, sample: Sample, judge: Judge) -> Score | float | Verdict | RatingResult | ScoreError:
        """Measure a sample that has everything this metric needs. Overridden by each metric.

        Args:
            sample: The sample.
            judge: The judge.

        Returns:
            The score, or its value (see `assay.metric`).

        Raises:
            JudgeFailure: The judge gave no usable answer.
        """

    async def score(self, sample: Sample, judge: Judge) -> Score:
        """Score a sample. Never raises for what is wrong with the sample or the judge.

        Args:
            sample: The sample.
            judge: The judge.

        Returns:
            The score; without a value it has an `error` with the cause.
        """
        missing = self.missing(sample)
        if missing is not None:
            return self.skip(missing.cause, missing.message)
        meter = Meter()
        token = METER.set(meter)
        try:
            score = as_score(self, await self.measure(self._read_in(sample, judge), judge))
        except JudgeFailure as failure:
            score = self.skip(failure.cause, failure.message, raw=failure.raw)
        except MissingExtra as error:
            return replace(self.skip(Cause.MISSING_EXTRA, str(error)), usage=meter.usage)
        except NoScore as error:  # the metric's own mistake: no judge had a hand in it
            return replace(self.skip(Cause.BUG, str(error)), usage=meter.usage)
        finally:
            METER.reset(token)
        if not self.may_ask:
            return score
        return with_clean(score, judge=judge.fingerprint, usage=meter.usage)

    def _read_in(self, sample: Sample, judge: Judge) -> Sample:
        """The sample with the language that it is read in. Raises JudgeFailure where the judge cannot read it.

        What a sample says of its language counts; else each text that this metric needs must be one that the judge
        reads, or be doubtful, and the answer's language is what the judge is told.
        """
        if type(self).cannot is Metric.cannot and not (self.asks or self.reads_texts or self.needs_contradiction):
            return sample
        found = languages_in(sample, self.needs or _TEXTS) if not sample.language and self.reads_texts else {}
        for code in dict.fromkeys(found.values()) or (code_of(sample.spoken),):
            reason = self.cannot(judge, code)
            if reason is not None and reason.cause is Cause.LANGUAGE and found:
                fields = " and ".join(field for field, one in found.items() if one == code)
                raise JudgeFailure(reason.cause, f"in {code!r}, as it seems: {fields}; {reason.message}; {_SAY_SO}")
            if reason is not None:
                raise reason
        spoken = next(iter(found.values()), sample.spoken)
        return sample if spoken == sample.spoken else replace(sample, language=spoken)

    @property
    def reads_texts(self) -> bool:
        """Whether it depends on the language of the texts: where it asks a judge."""
        return self.consults

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        """Check whether a judge can answer what this metric asks. Asks nothing.

        Args:
            judge: The judge.
            language: ISO 639-1 code of the texts.

        Returns:
            Why it cannot; None where it can.
        """
        if self.needs_contradiction and not judge.detects_contradiction:
            message = f"{self.label} needs a judge that tells contradictions from gaps; name an LLM judge"
            return JudgeFailure(Cause.JUDGE_CANNOT, message)
        return next(filter(None, (judge.cannot(prompt, language) for prompt in self.asks)), None)

    def missing(self, sample: Sample) -> ScoreError | None:
        """Check whether a sample has what this metric needs. Asks no judge.

        Args:
            sample: The sample.

        Returns:
            Why it cannot be measured; None where it can.
        """
        elsewhere = self.reads_history and (
            any(passage.strip() for passage in sample.earlier_passages) or bool(tool_evidence(sample))
        )
        if self.reads_history and any(context.image for turn in sample.history for context in turn.contexts):
            said = f"a passage of an earlier turn has a picture, which {self.label} does not look at"
            return ScoreError(cause=Cause.NEEDS_VISION, message=said)
        for field in self.needs:
            value = getattr(sample, field)
            if field == "contexts" and elsewhere:
                continue
            if value is None:
                return ScoreError(cause=Cause.MISSING_INPUT, message=f"{self.label} needs {field!r}, which is missing")
            if isinstance(value, str) and not value.strip():
                if field == "answer":
                    return ScoreError(cause=Cause.NO_CLAIMS, message="the answer is empty")
                return ScoreError(cause=Cause.MISSING_INPUT, message=f"{self.label} needs {field!r}, which is empty")
            if isinstance(value, str) and len(value) > LONGEST and self.consults:
                said = f"{field!r} has {len(value):,} characters, and at most {LONGEST:,} are judged"
                return ScoreError(cause=Cause.TOO_LONG, message=said)
            if field in ("contexts", "reference_contexts") and not self.reads_images:
                seen = next((n for n, context in enumerate(value, 1) if context.image is not None), None)
                if seen is not None:
                    said = f"passage {seen} has a picture, which {self.label} does not look at; multimodal:* metrics do"
                    return ScoreError(cause=Cause.NEEDS_VISION, message=said)
        if (
            "contexts" in self.needs
            and self.needs_passages
            and not elsewhere
            and not any(context.text.strip() or context.image for context in sample.contexts or ())
        ):
            return ScoreError(cause=Cause.NO_CONTEXT, message="nothing was retrieved")
        return None

    def make_score(
        self,
        value: float,
        *,
        verdicts: Mapping[str, tuple[Verdict, ...]] | None = None,
        parts: Mapping[str, float] | None = None,
        texts: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Score:
        """Make a score of this metric.

        Args:
            value: The value, from `low` to `high`.
            verdicts: Name of a group of claims -> their verdicts, as evidence.
            parts: Name of an intermediate figure -> its value.
            texts: Name of a group -> texts, such as sentences that were not judged.

        Returns:
            The score with its evidence.
        """
        return Score(
            metric=self.label,
            value=value,
            low=self.low,
            high=self.high,
            direction=self.direction,
            version=self.version,
            verdicts=verdicts or {},
            parts=parts or {},
            texts=texts or {},
        )

    def skip(
        self,
        cause: Cause,
        message: str,
        *,
        raw: str | None = None,
        verdicts: Mapping[str, tuple[Verdict, ...]] | None = None,
        texts: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Score:
        """Make a score of this metric without a value.

        Args:
            cause: Why there is none.
            message: The same in words.
            raw: The judge's own reply, where there was one.
            verdicts: Verdicts that there are all the same.
            texts: Name of a group -> texts, such as sentences that were not judged.

        Returns:
            The score with its error.
        """
        return Score(
            metric=self.label,
            error=ScoreError(cause=cause, message=message, raw=raw),
            low=self.low,
            high=self.high,
            direction=self.direction,
            version=self.version,
            verdicts=verdicts or {},
            texts=texts or {},
        )


#: The labels of assay's own prompts, by what they say; an `Question` has its own.
_AFFIRMATIVE = frozenset({"supported", "useful", "direct", "yes"})


_OTHERS = frozenset({"contradicted", "not_mentioned", "not_useful", "indirect", "no"})


class NoScore(TypeError):
    """A metric returned what is no score. The message names the metric and what it returned."""


def as_score(metric: Metric, returned: object, labels: Sequence[str] = ()) -> Score:
    """The score that `returned` means: see `assay.metric`. Raises NoScore.

    Args:
        labels: Those of the question that a returned Verdict answers, the affirmative one first.
    """
    if isinstance(returned, Score):
        return returned
    if isinstance(returned, ScoreError):
        return metric.skip(returned.cause, returned.message, raw=returned.raw)
    if isinstance(returned, Verdict):
        value = _checked(metric, _value_of(metric, returned, labels))
        return metric.make_score(value, verdicts={metric.label: (returned,)})
    if isinstance(returned, RatingResult):
        value = _checked(metric, float(returned.level if returned.expected is None else returned.expected))
        texts = {"reason": (returned.reason,)} if returned.reason else {}
        return metric.make_score(value, parts={"level": float(returned.level)}, texts=texts)
    number = _number(returned)
    if number is None:
        expected = "expected a number, True or False, a Verdict, a RatingResult, a ScoreError or a Score"
        raise NoScore(f"{metric.label} returned {_described(returned)}; {expected}")
    return metric.make_score(_checked(metric, number))


def _value_of(metric: Metric, verdict: Verdict, labels: Sequence[str]) -> float:
    if labels:
        return float(verdict.label == labels[0])
    if verdict.label not in _AFFIRMATIVE | _OTHERS:
        way_out = "return True or False, or a Score with the verdict in its verdicts"
        raise NoScore(f"{metric.label} returned a Verdict {verdict.label!r} of no question that it asked; {way_out}")
    return float(verdict.label in _AFFIRMATIVE)


def _checked(metric: Metric, value: float) -> float:
    if math.isnan(value):
        raise NoScore(f"{metric.label} returned NaN, which is no number; return a ScoreError where there is none")
    if not metric.low <= value <= metric.high:
        range_of_it = f"{metric.low:g} to {metric.high:g}"
        raise NoScore(f"{metric.label} returned {value:g}, outside its range {range_of_it}; give it low= and high=")
    return value


def _number(value: object) -> float | None:
    """A number or a truth value as float, numpy's too; None for anything else."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = cast("Any", value).item()
    return float(value) if isinstance(value, bool) else real_number(value)


def _described(value: object) -> str:
    if value is None:
        return "nothing (None)"
    shown = repr(value)
    return f"{type(value).__name__} {shown[:60]}{'…' if len(shown) > 60 else ''}"

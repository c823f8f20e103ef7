"""Ask a target all questions: side by side, within limits, with every answer in the store as it comes."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay._util.compression import to_json
from assay._util.normalise import json_value
from assay.data import RowError
from assay.errors import Cause, JudgeFailure
from assay.evaluation.targets.base import Answer, Target, TargetFailure, Variables
from assay.judges.http.retries import Retries, Trouble
from assay.judges.http.throttle import Throttle
from assay.records import Sample
from assay.store.store import Store

log = logging.getLogger("assay.targets")

PROMPT = "target"  # what answers stand under among the store's judgements
ITEM = "question_id"  # column that says which answers belong to one question


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """How a target is asked.

    Attributes:
        concurrency: Calls at the same time.
        timeout: Seconds of one attempt.
        attempts: Attempts at one question.
        requests_per_minute: Calls begun in 60 s; None: no limit.
        stop_after: Questions in a row without an answer after which no more are asked. None: never.
    """

    concurrency: int
    timeout: float
    attempts: int
    requests_per_minute: int | None
    stop_after: int | None


Row = tuple[int, Sample | RowError]


def prepared(rows: Iterable[Row], repeats: int, variables: Variables) -> list[tuple[Sample | RowError, int]]:
    """Each row once for each repeat, with an id by which runs are compared, and the columns of repeats and variables.

    Rows without an id get a hash of what they ask, so that inserting rows renames no others.
    """
    seen: dict[str, int] = {}
    found: list[tuple[Sample | RowError, int]] = []
    for number, row in rows:
        if isinstance(row, RowError):
            found += [(dataclasses.replace(row, number=number), repeat) for repeat in range(1, repeats + 1)]
            continue
        key = row.id or "q-" + as_question(row).content_hash()[:12]
        seen[key] = seen.get(key, 0) + 1
        key = key if row.id is not None or seen[key] == 1 else f"{key}-{seen[key]}"
        for repeat in range(1, repeats + 1):
            columns: dict[str, Any] = {**{name: json_value(value) for name, value in variables.items()}, **row.metadata}
            if repeats > 1:
                columns |= {ITEM: key, "repeat": repeat}
            name = key if repeats == 1 else f"{key}/{repeat}"
            found.append((dataclasses.replace(row, id=name, metadata=columns), repeat))
    return found


def as_question(sample: Sample) -> Sample:
    """What the target may see of a row: neither the reference nor an answer that is there."""
    return Sample(
        question=sample.question, history=sample.history, language=sample.language, id=sample.id,
        metadata=sample.metadata,
    )  # fmt: skip


class Asking:
    """One target, asked with one combination of variables.

    Args:
        scope: Names what answers; answers in the store under the same name are reused. None: none are, nor kept.
    """

    def __init__(
        self, target: Target, variables: Variables, store: Store, scope: str | None, options: AskOptions
    ) -> None:
        self._target = target
        self._variables = variables
        self._store = store
        self._scope = scope
        self._options = options
        self._retries = Retries(options.attempts)
        self._throttle = Throttle(maximum=options.concurrency, requests_per_minute=options.requests_per_minute)
        self._failed_in_a_row = 0
        self.answers: list[Answer] = []
        self.stopped: str | None = None

    async def ask_all(self, rows: Sequence[tuple[Sample | RowError, int]]) -> list[Sample | RowError]:
        """Ask what the store does not hold. Returns the rows with their answers, in their order."""
        keys = {n: self._key(row, repeat) for n, (row, repeat) in enumerate(rows) if isinstance(row, Sample)}
        kept = await asyncio.to_thread(self._store.get_judgements, list(keys.values())) if self._scope else {}
        found: list[Sample | RowError] = [row for row, _ in rows]
        slots = asyncio.Semaphore(self._options.concurrency)

        async def one(place: int, sample: Sample) -> None:
            try:
                found[place] = await self._row(place + 1, sample, keys[place], kept)
            finally:
                slots.release()

        try:
            async with asyncio.TaskGroup() as group:
                for place, (row, _) in enumerate(rows):
                    if isinstance(row, Sample):
                        await slots.acquire()
                        group.create_task(one(place, row))
        except ExceptionGroup as error:  # of the store: what is an error of the target is a row's
            raise error.exceptions[0] from None
        return found

    def _key(self, sample: Sample, repeat: int) -> str:
        told = as_question(sample)
        metadata = {name: value for name, value in told.metadata.items() if name not in (ITEM, "repeat")}
        content = [told.question, [turn.to_dict() for turn in told.history], told.language, metadata,
                   json_value(dict(self._variables)), repeat, self._scope]  # fmt: skip
        return hashlib.sha256(b"target\0" + json.dumps(content, sort_keys=True).encode()).hexdigest()

    async def _row(self, number: int, sample: Sample, key: str, kept: dict[str, bytes]) -> Sample | RowError:
        try:
            answer = self._stored(kept.get(key))
            if answer is None:
                answer = await self._ask(sample)
                if self._scope is not None:
                    record = (key, PROMPT, self._scope, to_json(answer.to_dict()).encode())
                    await asyncio.to_thread(self._store.put_judgements, [record])
            return self._answered(sample, answer)
        except TargetFailure as failure:
            self._failed_in_a_row += 1
            most = self._options.stop_after
            if most is not None and self._failed_in_a_row >= most and self.stopped is None:
                self.stopped = f"no answer to {most} questions in a row, the last one: {failure.message}"
            return RowError(number=number, id=sample.id, message=f"{self._target.name}: {failure.message}",
                            cause=Cause.TARGET, sample=dataclasses.replace(sample, answer=None))  # fmt: skip

    def _stored(self, text: bytes | None) -> Answer | None:
        if text is None:
            return None
        try:
            return Answer.from_dict(json.loads(text))
        except (ValueError, KeyError, TypeError):  # damaged: asked anew
            return None

    async def _ask(self, sample: Sample) -> Answer:
        if self.stopped is not None:
            raise TargetFailure(f"not asked: {self.stopped}")
        if sample.question is None:
            raise TargetFailure("not asked: the row has no question", passing=False)
        question = as_question(sample)
        variable_names = self._variables.keys() - sample.metadata.keys()
        question = dataclasses.replace(question, metadata={
            name: value for name, value in sample.metadata.items()
            if name not in (ITEM, "repeat") and name not in variable_names})  # fmt: skip

        async def attempt() -> Answer:
            turn = await self._throttle.enter()
            succeeded = False
            try:
                began = time.perf_counter()
                answer = await self._target.ask(question, self._variables, self._options.timeout)
                succeeded = True
                return dataclasses.replace(answer, seconds=time.perf_counter() - began)
            except TargetFailure as failure:
                trouble = Trouble(JudgeFailure(Cause.TARGET, failure.message), retry_after=failure.retry_after,
                                  limited=failure.limited)  # fmt: skip
                if failure.limited:
                    self._throttle.refused(turn, self._retries.pause(failure.retry_after, self._throttle.refusals + 1))
                if not failure.passing:
                    raise
            finally:
                self._throttle.leave(turn, succeeded=succeeded)
            raise trouble

        try:
            return await self._retries.run(attempt)
        except JudgeFailure as error:
            raise TargetFailure(error.message if self._options.attempts > 1 else
                                error.message.removesuffix(" (after 1 attempt)")) from None  # fmt: skip

    def _answered(self, sample: Sample, answer: Answer) -> Sample:
        """The row with its answer; what the call took stands in columns."""
        self._failed_in_a_row = 0
        self.answers.append(answer)
        columns = {
            "target_seconds": None if answer.seconds is None else round(answer.seconds, 4),
            "target_input_tokens": answer.input_tokens,
            "target_output_tokens": answer.output_tokens,
            "target_cost": answer.cost,
        }
        known = {name: value for name, value in columns.items() if value is not None}
        contexts = sample.contexts if answer.contexts is None else answer.contexts
        return dataclasses.replace(
            sample,
            answer=answer.text,
            contexts=contexts,
            messages=answer.messages or sample.messages,
            metadata={**sample.metadata, **known},
            status="complete",
        )

"""What a handler of any framework offers beside listening: what it captured, waiting, closing, and words on wrong use.

An integration's handler derives from `BaseHandler`, and hands finished traces to a `TraceSubmitter`.
"""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from uuid import UUID

from assay._util.call_repr import call_repr
from assay.capture.rules import CaptureRules
from assay.errors import InputError
from assay.live.disabled_intake import DisabledIntake
from assay.live.handlers.exchanges import CaptureOnly, RecentExchanges
from assay.live.intake import open_intake, switched_off
from assay.live.protocol import Intake, LiveOptions
from assay.records import Sample, ScoredSample

if TYPE_CHECKING:
    from assay.judges.base import JudgeSpec
    from assay.metrics.base import Metric
    from assay.metrics.names import MetricSpec

T = TypeVar("T")
HealthT = TypeVar("HealthT")

#: What other tools call it -> what to say of it here.
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("sample_rate", "sampling_rate", "sampling_ratio", "rate"), "sampling="),
    **dict.fromkeys(("model", "model_name", "llm", "evaluator_model", "grader", "evaluation_model"), "judge="),
    **dict.fromkeys(("evaluators", "evaluations", "scorers", "scores", "metric", "evals"), "metrics="),
    **dict.fromkeys(("sink", "exporter", "exporters", "client", "store", "output"), "sinks=[...]"),
    **dict.fromkeys(("callback", "on_result", "on_finish"), "on_score="),
    **dict.fromkeys(("timeout", "timeout_s"), "deadline="),
    **dict.fromkeys(("max_concurrency", "workers", "threads"), "concurrency="),
    **dict.fromkeys(("max_queue_size", "queue_size"), "max_queue="),
    **dict.fromkeys(("filter", "should_trace"), "include= or rules="),
    **dict.fromkeys(
        ("project", "project_name", "experiment", "environment", "release", "public_key", "secret_key", "host"),
        "sinks=[...]: the sink of a trace store knows its project, host and keys",
    ),
    **dict.fromkeys(
        ("session_id", "user_id", "tags", "metadata", "thread_id"), "the metadata of the request, which is kept"
    ),
    **dict.fromkeys(("api_key", "base_url", "endpoint"), "judge=, as assay.judges names it"),
    **dict.fromkeys(("threshold", "thresholds"), "assay.guard(...), which holds back what is below one"),
}

_OWN = ("metrics", "judge", "scorer", "rules", "remember", "enabled", *LiveOptions.__annotations__)


class BaseHandler(Generic[HealthT]):
    """What handlers share: the intake, what was captured, waiting and closing. A subclass says how it attaches.

    Args:
        metrics: What to score; `()` scores nothing.
        judge: The judge of the metrics.
        scorer: An intake of the application's own in place of those two. It stays open when the handler closes.
        options: Further options of a `LiveScorer`.
        rules: Where question, answer and contexts are.
        remember: How many captured samples to remember.
        enabled: False disables the handler; None: as ASSAY_ENABLED says.
    """

    def __init__(
        self,
        metrics: MetricSpec | None,
        judge: JudgeSpec,
        scorer: Intake | None,
        options: LiveOptions,
        rules: CaptureRules,
        *,
        remember: int,
        enabled: bool | None,
    ) -> None:
        self.remembered = RecentExchanges(remember)
        self.scorer = open_capture(
            type(self).__name__, metrics, judge, scorer, options, self.remembered,
            has_reference=rules.adjust is not None, enabled=enabled,
        )  # fmt: skip
        self._own_scorer = scorer is None

    def __repr__(self) -> str:
        if isinstance(self.scorer, DisabledIntake):
            return f"<{type(self).__name__}: {self.scorer.why}>"
        return call_repr(self, self.scorer)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all answers captured so far are scored and delivered.

        Args:
            timeout: Seconds to wait at most. None: no limit.

        Returns:
            False when the time ran out first.
        """
        return self.scorer.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - what `flush` is given
        """Wait as `flush` does, without blocking the event loop.

        Args:
            timeout: Seconds to wait at most. None: no limit.

        Returns:
            False when the time ran out first.
        """
        return await off_the_loop(lambda: self.flush(timeout))

    def result(self, key: UUID | str, timeout: float | None = 0) -> ScoredSample | None:
        """Look up the scores of one exchange among the newest results.

        Args:
            key: Id of the exchange's root run or outermost span.
            timeout: Seconds to wait at most. None: waits for as long as anything is pending.

        Returns:
            The scored sample. None where it is not among the newest results.
        """
        return self.scorer.result(str(key), timeout)

    def feedback(self, key: UUID | str, value: float | bool | str, comment: str | None = None) -> bool:
        """Record a user's feedback on an answer. It may bring in a trace that sampling left out.

        Args:
            key: Id of the exchange's root run or outermost span.
            value: A number, a bool or a text.
            comment: The user's comment. None: no comment.

        Returns:
            False when the feedback is too late or refused.
        """
        return self.scorer.feedback(str(key), value, comment)

    def health(self) -> HealthT:
        """Report the counters of the handler and its intake. A subclass implements it.

        Returns:
            The counters at this moment.

        Raises:
            NotImplementedError: The subclass does not implement it.
        """
        raise NotImplementedError

    def close(self, timeout: float | None = 30) -> HealthT:
        """Finish captured samples, and close the intake and its sinks.

        An intake that the application provided stays open.

        Args:
            timeout: Seconds to finish at most. None: no limit.

        Returns:
            The last counters. Samples pending in them are lost, unless the application provided the intake.
        """
        if self._own_scorer:
            self._give_up()
            self.scorer.close(timeout)
        else:
            self.scorer.flush(timeout)
        return self.health()

    async def aclose(self, timeout: float | None = 30) -> HealthT:  # noqa: ASYNC109 - what `close` is given
        """Close as `close` does, without blocking the event loop. Call it at the end of a server's lifespan.

        Args:
            timeout: Seconds to finish at most. None: no limit.

        Returns:
            The last counters. Samples pending in them are lost, unless the application provided the intake.
        """
        return await off_the_loop(lambda: self.close(timeout))

    def samples(self) -> list[Sample]:
        """Return the newest captured samples, whether scored or not. It needs no judge: `metrics=()` disables scoring.

        Returns:
            The samples, the oldest first: at most `remember` of them. Empty where nothing was captured.
        """
        return self.remembered.samples()

    @property
    def last(self) -> Sample | None:
        """The sample captured last, scored or not; None where there is none."""
        return self.remembered.last()

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()
        self.close()

    async def __aenter__(self) -> Self:
        self._begin()
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._end()
        await self.aclose()

    # copies: configs and components that hold a handler are copied, the handler stays one

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def _give_up(self) -> None:
        """Before the intake closes: hand over what would otherwise wait longer."""

    def _begin(self) -> None:
        """At the start of a `with` block: listen to what runs in it."""

    def _end(self) -> None:
        """At its end."""


def open_capture(
    owner: str,
    metrics: MetricSpec | None,
    judge: JudgeSpec,
    scorer: Intake | None,
    options: LiveOptions,
    remembered: RecentExchanges,
    *,
    has_reference: bool = False,
    enabled: bool | None = None,
) -> Intake:
    """The intake that the arguments of a handler ask for. `owner` is the class that the user called.

    Raises TypeError for an option that there is not, with the one that was meant, and InputError for metrics that need
    what a live answer does not have.

    Args:
        has_reference: The application adds references by itself, in a rule.
        enabled: False: nothing is heard; None: as ASSAY_ENABLED says.
    """
    check_options(owner, options)
    if isinstance(metrics, (list, tuple)) and not metrics:
        given = [name for name, value in (("judge", judge), ("scorer", scorer)) if value is not None] + list(options)
        if given:
            raise InputError(f"{', '.join(given)}: with metrics=() nothing is scored; samples() shows what came")
        return switched_off(enabled) or CaptureOnly(remembered)
    if scorer is None and metrics is not None and not has_reference:
        metrics = _without_reference(owner, metrics)
    return open_intake(metrics, judge, scorer, options, enabled)


def check_options(owner: str, options: Mapping[str, Any], own: Sequence[str] = ()) -> None:
    """Raises TypeError for options that there are not. `own`: names of arguments that `owner` has besides."""
    for name in options:
        if name in LiveOptions.__annotations__:
            continue
        meant = ELSEWHERE.get(name)
        if meant is None:
            close = difflib.get_close_matches(name, (*_OWN, *own), n=1, cutoff=0.7)
            meant = f"{close[0]}=" if close else None
        hint = f"; here that is {meant}" if meant else f"; there are {', '.join(sorted({*_OWN, *own}))}"
        raise TypeError(f"{owner}() has no option {name!r}{hint}")


def _without_reference(owner: str, metrics: MetricSpec) -> Sequence[Metric]:
    from assay.metrics.names import resolve_metrics

    resolved = resolve_metrics(metrics)
    for metric in resolved:
        missing = [name for name in metric.needs if name.startswith("reference")]
        if missing:
            raise InputError(
                f"{owner}: {metric.label} needs a {missing[0]}, and a live answer has none. Leave it out, or score "
                f"rows that have one with assay.evaluate; CaptureRules(adjust=) may add one"
            )
    return resolved


async def off_the_loop(function: Callable[[], T]) -> T:
    """What a blocking function returns, while the loop goes on. Where the wait is cancelled, nobody waits for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if not future.done():
            future.set_exception(error) if error is not None else future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = function()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed
            return

    # a daemon of its own: the default executor of a loop is waited for when the loop ends
    threading.Thread(target=run, name="assay-waits", daemon=True).start()
    return await future

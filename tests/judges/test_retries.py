"""Which failures are tried again, how often, and after how long."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from assay.errors import Cause, JudgeFailure
from assay.judges.http.retries import RATE_ATTEMPTS, Retries, Trouble, cause_of_status, retry_after


class Attempts:
    """Fails with these exceptions in turn, then succeeds."""

    def __init__(self, *errors: Exception, always: Exception | None = None) -> None:
        self.errors = list(errors)
        self.always = always
        self.made = 0

    async def __call__(self) -> str:
        self.made += 1
        error = self.errors.pop(0) if self.errors else self.always
        if error is not None:
            raise error
        return "done"


def trouble(cause: Cause = Cause.CONNECTION, **how: object) -> Trouble:
    return Trouble(JudgeFailure(cause, "HTTP 500", raw="body", detail={"status": 500}), **how)  # type: ignore[arg-type]


async def test_trouble_passes() -> None:
    attempt = Attempts(trouble(), trouble())
    heard: list[str] = []
    assert await Retries(base=0.001).run(attempt, heard.append) == "done"
    assert attempt.made == 3
    assert heard == ["HTTP 500", "HTTP 500"]


async def test_attempts_run_out_and_the_last_failure_is_told() -> None:
    attempt = Attempts(always=trouble())
    with pytest.raises(JudgeFailure) as caught:
        await Retries(max_attempts=3, base=0.001).run(attempt)
    assert attempt.made == 3
    assert caught.value.cause is Cause.CONNECTION
    assert caught.value.message == "HTTP 500 (after 3 attempts)"
    assert (caught.value.raw, caught.value.detail) == ("body", {"status": 500})


async def test_failures_for_good_are_not_tried_again() -> None:
    attempt = Attempts(always=JudgeFailure(Cause.AUTH, "no"))
    with pytest.raises(JudgeFailure, match=r"^no$"):
        await Retries(base=0.001).run(attempt)
    assert attempt.made == 1


async def test_refusals_for_rate_count_apart() -> None:
    limited = [trouble(Cause.RATE_LIMITED, limited=True, retry_after=0.0) for _ in range(RATE_ATTEMPTS - 1)]
    assert await Retries(max_attempts=2, base=0.001).run(Attempts(*limited, trouble())) == "done"
    attempt = Attempts(always=trouble(Cause.RATE_LIMITED, limited=True))
    with pytest.raises(JudgeFailure):
        await Retries(max_attempts=2).run(attempt)
    assert attempt.made == RATE_ATTEMPTS


async def test_an_endless_pause_is_not_waited_for() -> None:
    attempt = Attempts(always=trouble(Cause.RATE_LIMITED, limited=True, retry_after=3600.0))
    with pytest.raises(JudgeFailure):
        await Retries().run(attempt)
    assert attempt.made == 1


async def test_the_wait_asked_for_is_waited() -> None:
    started = time.monotonic()
    await Retries(base=100).run(Attempts(trouble(retry_after=0.1)))
    assert 0.09 <= time.monotonic() - started < 5


def test_waits_double_up_to_a_bound_and_vary() -> None:
    retries = Retries(base=1.0, longest=8.0)
    for attempt, full in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (100, 8)]:
        waits = {retries.pause(None, attempt) for _ in range(50)}
        assert full / 2 <= min(waits) <= max(waits) <= full
        assert len(waits) > 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": formatdate(time.time() - 100, usegmt=True)}, 0.0),
    ],
)
def test_retry_after_is_read_in_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_as_a_date() -> None:
    seconds = retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert seconds is not None
    assert 25 < seconds <= 30


def test_causes_of_statuses() -> None:
    statuses = [400, 401, 403, 404, 408, 409, 422, 429, 500, 503]
    assert [cause_of_status(status) for status in statuses] == [
        *(Cause.BAD_REQUEST, Cause.AUTH, Cause.AUTH, Cause.NO_MODEL, Cause.TIMEOUT, Cause.CONNECTION),
        *(Cause.BAD_REQUEST, Cause.RATE_LIMITED, Cause.CONNECTION, Cause.CONNECTION),
    ]

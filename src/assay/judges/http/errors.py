"""What an exception of somebody else's client means: trouble that may pass, a failure for good, or nothing known.

Clients share no base class, but few shapes: an HTTP status on the exception or on its response, a code of Google's
kind, boto's dict; and names that say "timeout" or "connection".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.judges.http.replies import failure_of
from assay.judges.http.retries import Trouble, retry_after

_RAW = 4000  # characters of an error body that are kept
_TIMEOUTS = ("timeout", "deadlineexceeded")
_CONNECTIONS = ("connection", "connecterror", "networkerror", "protocolerror", "transporterror", "serviceunavailable")


def meaning_of(
    error: BaseException, name: str, model: str, scrub: Callable[[str], str]
) -> Trouble | JudgeFailure | None:
    """Trouble where another attempt may succeed, a failure where none can, None where the exception says neither.

    `name` says in messages who was asked; `scrub` takes secrets out of texts.
    """
    status = _status(error)
    if status is not None:
        return _of_status(error, status, name, model, scrub)
    names = [kind.__name__.lower() for kind in type(error).__mro__]
    said = scrub(f"{type(error).__name__}: {error}")[:500]
    if isinstance(error, TimeoutError) or any(word in kind for kind in names for word in _TIMEOUTS):
        return Trouble(JudgeFailure(Cause.TIMEOUT, f"{name}: {said}"))
    if isinstance(error, ConnectionError) or any(word in kind for kind in names for word in _CONNECTIONS):
        return Trouble(JudgeFailure(Cause.CONNECTION, f"{name} cannot be reached: {said}"))
    return None


def _of_status(
    error: BaseException, status: int, name: str, model: str, scrub: Callable[[str], str]
) -> Trouble | JudgeFailure:
    response = getattr(error, "response", None)
    body = getattr(response, "text", None)
    text = body if isinstance(body, str) and body else str(error)
    failure, may_pass = failure_of(name, model, status, text, scrub)
    failure.raw = scrub(text)[:_RAW]
    if not may_pass:
        return failure
    headers = getattr(response, "headers", None)
    wait = retry_after(headers) if isinstance(headers, Mapping) else None
    return Trouble(failure, retry_after=wait, limited=status == 429)


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # boto
        response = response.get("ResponseMetadata") or {}
        return _number(response.get("HTTPStatusCode")) if isinstance(response, Mapping) else None
    for holder, field in ((error, "status_code"), (response, "status_code"), (error, "http_status"), (error, "code")):
        status = _number(getattr(holder, field, None))
        if status is not None:
            return status
    return None


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 300 <= value < 600:
        return int(value)
    return None

"""What endpoints say besides the answer: what it cost, and what was wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.judges.http.retries import cause_of_status
from assay.records import Usage

#: One call whose tokens nobody counted.
UNCOUNTED = Usage(calls=1, prompt_tokens=None, completion_tokens=None, cached_tokens=None)

_FILTERED = re.compile(
    r"content_filter|content_policy|content management policy|responsibleai|moderation|was flagged", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|exceeds? (?:the )?(?:available |maximum )?context"
    r"|prompt is too long|input (?:is )?too long",
    re.IGNORECASE,
)
_MOST_TOKENS = 10**12  # of one call; what is beyond is no count

_QUOTA = re.compile(r"insufficient_quota|billing_hard_limit", re.IGNORECASE)


def usage_of(usage: Any) -> Usage:
    """Read the usage block of one call, in the forms that providers use.

    Args:
        usage: The usage block. Any other value counts as an empty block.

    Returns:
        The usage, with one call. A count that the block does not have is None, not 0.
    """
    if not isinstance(usage, Mapping):
        usage = {}
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    if not isinstance(details, Mapping):
        details = {}
    return Usage(
        calls=1,
        prompt_tokens=count_of(usage, "prompt_tokens", "input_tokens"),
        completion_tokens=count_of(usage, "completion_tokens", "output_tokens"),
        cached_tokens=count_of(
            {**usage, **details}, "cached_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens"
        ),
    )


def failure_of(name: str, model: str, status: int, text: str, scrub: Callable[[str], str]) -> tuple[JudgeFailure, bool]:
    """The failure that an error response of the endpoint `name` stands for, and whether a quota is used up."""
    error = _error_of(text)
    said = scrub(str(error.get("message") or text).strip())[:500]
    cause = cause_of_status(status)
    message = f"{name}: HTTP {status}: {said}"
    if _FILTERED.search(text) and status in (400, 403, 422):
        cause = Cause.CONTENT_FILTER
    elif _TOO_LONG.search(text) and status in (400, 413, 422):
        cause = Cause.TOO_LONG
        message += "; lower window_tokens to what the model has"
    elif status == 401:
        message = f"{name} refuses the key: {said}"
    elif status == 404:
        message = f"{name} does not know the model {model!r} or the path: {said}"
    detail: dict[str, Any] = {"status": status, "said": said}
    detail |= {field: str(error[field]) for field in ("code", "param") if error.get(field) is not None}
    return JudgeFailure(cause, message, detail=detail), bool(_QUOTA.search(text))


def count_of(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of these counts that is one."""
    for name in names:
        value = usage.get(name)
        # JSON as Python reads it has NaN and Infinity, too
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS:
            return int(value)
    return None


def _error_of(text: str) -> Mapping[str, Any]:
    """The error object of a body, in the shapes that servers use."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):  # a long run of brackets is no JSON that could be read, either
        return {}
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    error = body.get("error", body)
    if isinstance(error, dict):
        return error if "message" in error else {**error, "message": error.get("detail")}
    return {"message": str(error)}

"""What endpoints say besides the answer: what it cost, and what was wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.judges.http.refusals import is_of_the_request
from assay.judges.http.retries import PASSING, cause_of_status
from assay.records import Usage

#: One call whose tokens nobody counted.
UNCOUNTED = Usage(calls=1, prompt_tokens=None, completion_tokens=None, cached_tokens=None)

_FILTERED = re.compile(
    r"content_filter|content_policy|content management policy|responsibleai|moderation|was flagged", re.IGNORECASE
)
#: What servers say of a prompt that does not fit.
TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|exceeds? (?:the )?(?:available |maximum )?context"
    r"|prompt is too long|input (?:is )?too long"
    # LM Studio, SGLang, xAI, Gemini, text-generation-inference
    r"|context the overflows|larger context length|longer than the model's context|maximum prompt length"
    r"|exceeds the maximum number of (?:input )?tokens|`?inputs`? tokens? \+ `?max_new_tokens`? must be",
    re.IGNORECASE,
)
_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_CACHED = (
    *("cached_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens"),
    *("cache_creation_input_tokens", "cache_n"),
)
_MOST_TOKENS = 10**12  # of one call; what is beyond is no count

#: What servers call the words of an error.
_MESSAGES = ("message", "detail", "msg", "error_msg", "status_msg", "errors")
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
        cache_write_tokens=count_of(usage, "cache_write_tokens"),
    )


def prompt_tokens_of(body: Mapping[str, Any]) -> int | None:
    """The most tokens that the endpoint can have read of a prompt, by its own counts; None where it gives none.

    Some servers count tokens that they had cached among those of the prompt, others beside them, and llama.cpp among
    its `timings`. All are added, so that the sum is never too small.
    """
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None
    read = count_of(usage, "prompt_tokens", "input_tokens")
    if read is None:
        return None
    parts = (usage, *(usage.get(name) for name in _DETAILS), body.get("timings"))
    blocks = [part for part in parts if isinstance(part, Mapping)]
    return read + sum(max((count_of(block, name) or 0 for block in blocks), default=0) for name in _CACHED)


def failure_of(name: str, model: str, status: int, text: str, scrub: Callable[[str], str]) -> tuple[JudgeFailure, bool]:
    """The failure that an error response of the endpoint `name` stands for, and whether another attempt may succeed."""
    error = error_of(text)
    said = scrub(str(error.get("message") or text).strip())[:500]
    cause = cause_of_status(status)
    message = f"{name}: HTTP {status}: {said}"
    if _FILTERED.search(text) and status in (400, 403, 422):
        cause = Cause.CONTENT_FILTER
    elif TOO_LONG.search(text) and status in (400, 413, 422, 500):
        cause = Cause.TOO_LONG
        message += "; lower window_tokens to what the model has"
    elif status == 501 or (status in (404, 500, 502) and is_of_the_request(said)):
        cause = Cause.BAD_REQUEST  # although the server calls it an error of its own, or finds nothing that can do it
    elif status == 401:
        message = f"{name} refuses the key: {said}"
    elif status == 404:
        message = f"{name} does not know the model {model!r} or the path: {said}"
    detail: dict[str, Any] = {"status": status, "said": said}
    detail |= {field: str(error[field]) for field in ("code", "param") if error.get(field) is not None}
    settled = cause in (Cause.BAD_REQUEST, Cause.TOO_LONG) or bool(_QUOTA.search(text))
    return JudgeFailure(cause, message, detail=detail), status in PASSING and not settled


def count_of(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of these counts that is one."""
    for name in names:
        value = usage.get(name)
        # JSON as Python reads it has NaN and Infinity, too
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS:
            return int(value)
    return None


def error_of(text: str) -> Mapping[str, Any]:
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
    if not isinstance(error, dict):
        return {"message": str(error)}
    if isinstance(error.get("base_resp"), dict):
        error = error["base_resp"]
    said = next((error[name] for name in _MESSAGES if error.get(name)), None)
    return {**error, "message": said}

"""Errors in responses with HTTP 200.

A gateway that has begun to answer reports the error of the server behind it in the body, since the status is sent
already. Some servers report all their errors that way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from assay.judges.http.content_filters import blocked_categories
from assay.judges.http.native_bodies import is_part
from assay.judges.http.refusals import is_of_the_request
from assay.judges.http.replies import TOO_LONG, error_of

#: Status of an error that says nothing else: the server behind the gateway failed.
UPSTREAM = 502

_MESSAGES = ("message", "detail", "msg", "error_msg", "errors", "base_resp")
_STATUSES = ("code", "status", "status_code", "error_code", "type")
_NAMES = {
    400: {"invalid_request_error", "badrequesterror", "context_length_exceeded", "content_filter", "invalid_argument"},
    401: {"invalid_api_key", "authentication_error", "authenticationerror", "unauthenticated", "unauthorized"},
    403: {"permission_error", "permission_denied", "permissiondeniederror", "forbidden"},
    404: {"model_not_found", "not_found_error", "notfounderror", "not_found"},
    408: {"timeout", "timeout_error", "request_timeout", "deadline_exceeded"},
    429: {"rate_limit_exceeded", "rate_limit_error", "ratelimiterror", "insufficient_quota", "resource_exhausted"},
    503: {"overloaded_error", "unavailable", "unavailable_error", "service_unavailable"},
}
_KEY = re.compile(r"api[ _-]?key|unauthorized|authentication", re.IGNORECASE)
_MODEL = re.compile(
    r"model .{0,80}(?:not found|does not exist|is not loaded)|unknown model|no such model", re.IGNORECASE
)
_RATE = re.compile(r"rate[ _-]?limit|too many requests|quota", re.IGNORECASE)
_STATUS_OF = {name: status for status, names in _NAMES.items() for name in names}


def error_in(body: Any) -> tuple[int, str] | None:
    """Find the error that a response with HTTP 200 reports.

    Args:
        body: The JSON of the response.

    Returns:
        The status that the error stands for, and a JSON text with the error alone. None: it reports no error.
    """
    error = _error(body[0] if isinstance(body, list) and body else body)
    if not error:
        return None
    text = json.dumps({"error": error}, ensure_ascii=False)
    return _status(error_of(text)), text


def first_event(text: str) -> Any:
    """Read the first event of a stream.

    Args:
        text: A response.

    Returns:
        The JSON of the event, or an empty mapping where it holds none. None: the response is no stream.
    """
    for line in filter(str.strip, text.splitlines()):
        if line.startswith("{"):
            part = _json(line)
            return part if is_part(part) else None
        name, colon, value = line.strip().partition(":")
        if name == "data" and colon:
            event = _json(value)
            return {} if event is None else event
        if name not in ("", "event", "id", "retry"):
            return None
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _error(body: Any) -> Any:
    if not isinstance(body, Mapping):
        return None
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, Mapping):
        ended = first.get("finish_reason") in ("error", "abort")
        return first.get("error") or (ended and "the server ended the reply with an error")
    if body.get("error") or is_part(body):
        return body.get("error")
    if blocked := blocked_categories(body):
        return {"code": "content_filter", "message": f"the content filter blocked the prompt ({', '.join(blocked)})"}
    return body if any(body.get(name) for name in _MESSAGES) else None


def _status(error: Mapping[str, Any]) -> int:
    for value in (error.get(name) for name in _STATUSES):
        number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) == 3 else value
        if isinstance(number, int) and 400 <= number < 600:
            return number
        named = _STATUS_OF.get(value.lower()) if isinstance(value, str) else None
        if named is not None:
            return named
    said = str(error.get("message"))[:1000]
    words = ((400, TOO_LONG), (401, _KEY), (404, _MODEL), (429, _RATE))
    found = next((status for status, pattern in words if pattern.search(said)), UPSTREAM)
    return 400 if found == UPSTREAM and ("content_filter" in said or is_of_the_request(said)) else found

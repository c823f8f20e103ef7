"""JSON in an answer as LangChain reads it: bare, in a fence of backticks, or broken off.

What is broken off is closed: the longest beginning of the text that is JSON with the brackets closed that the whole
text leaves open. Nothing is found where that takes more than `TRIALS` steps back, so that the time is linear.
"""

from __future__ import annotations

import json
import re
from typing import Any

#: What LangChain takes off both ends.
ENDS = " \n\r\t`"
#: How often a shorter beginning is tried.
TRIALS = 100

#: What Python's parser raises: also for brackets within brackets without end, and for numbers of thousands of digits.
WRONG = (ValueError, RecursionError)

_CLOSES = {"{": "}", "[": "]"}
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ACTION_INPUT = re.compile(r'("action_input":\s*")([^"]*)(")')


class NotJson(ValueError):
    """A text that holds no JSON. The message says why."""


def read_strictly(written: str) -> Any:
    """The JSON value of a text that is JSON, but for a fence around it. Raises NotJson."""
    try:
        return json.loads(_bare(written))
    except WRONG as error:
        fenced = _after_fence(written)
        if fenced is None:
            raise NotJson(str(error)) from None
    try:
        return json.loads(_bare(fenced))
    except WRONG as error:
        raise NotJson(str(error)) from None


def read_broken(written: str, *, original: bool = False) -> Any:
    """The same for JSON that may be broken off. Raises NotJson.

    Args:
        original: A bracket closed that was not opened makes the value None, as in LangChain; else it is no JSON.
    """
    try:
        return _completed(_bare(written), original=original)
    except NotJson:
        fenced = _after_fence(written)
        if fenced is None:
            raise
    return _completed(_bare(fenced), original=original)


def _bare(written: str) -> str:
    """Without what stands around it, and with line ends inside of an "action_input" escaped."""

    def escaped(match: re.Match[str]) -> str:
        inner = "".join(_ESCAPED.get(char, char) for char in match.group(2))
        return match.group(1) + inner + match.group(3)

    return _ACTION_INPUT.sub(escaped, written.strip(ENDS))


def _after_fence(written: str) -> str | None:
    """What follows the first fence; None where there is none."""
    _, fence, rest = written.partition("```")
    return rest.removeprefix("json") if fence else None


def _completed(bare: str, *, original: bool) -> Any:
    try:
        return json.loads(bare, strict=False)
    except WRONG as error:
        reason = NotJson(str(error))
    closed = _closed(bare)
    if closed is None:
        if original:
            return None
        raise reason
    begun, ends = closed
    for _ in range(TRIALS):
        try:
            return json.loads(begun + ends, strict=False)
        except json.JSONDecodeError as error:
            # what is wrong at a place is wrong in every longer beginning
            begun = begun[: min(error.pos, len(begun) - 1)].rstrip(" \n\r\t")
        except WRONG:
            break
        if not begun:
            break
    raise reason


def _closed(bare: str) -> tuple[str, str] | None:
    """The text with an open string closed, and the brackets that close it; None where one closes that is not open."""
    stack: list[str] = []
    inside = escaped = False
    chars: list[str] = []
    for char in bare:
        if inside:
            if char == '"' and not escaped:
                inside = False
            escaped = char == "\\" and not escaped
        elif char == '"':
            inside, escaped = True, False
        elif char in _CLOSES:
            stack.append(_CLOSES[char])
        elif char in "}]" and (not stack or stack.pop() != char):
            return None
        chars.append(char)
    if inside and escaped:
        chars.pop()
    return "".join(chars) + ('"' if inside else ""), "".join(reversed(stack))

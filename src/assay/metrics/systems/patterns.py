"""Patterns that come with the data: matched to the letter of Python's `re`, in bounded time.

`re` cannot be stopped: "(a+)+$" on forty letters holds its thread, and with it the interpreter, for hours. A pattern
with one choice at most (a quantifier, an alternative) takes time in proportion to the text and is matched here; any
other is matched by a process of its own, which is ended when its time is over.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Literal

from assay.errors import Cause, InputError, JudgeFailure

How = Literal["match", "fullmatch"]

#: Seconds that a match may take.
LIMIT = 5.0
#: Characters of a pattern that is looked for anywhere: each may be compared with each of the text.
_LONGEST = 1000
#: What gives a matcher something to choose, and so to come back to.
_CHOICES = frozenset("*+?{|")
_REPEATED = re.compile(r"\\[1-9]")  # what a group matched, to be found once more
_SO_OFTEN = re.compile(r"(?<!\))\{[0-9]{1,3}\}")  # of one character, which leaves no choice
_CHILD = """\
import json, re, sys
pattern, flags, how, text = json.loads(sys.stdin.buffer.read())
print(int(getattr(re.compile(pattern, flags), how)(text) is not None))
"""


def compiled(pattern: str, flags: int, what: str) -> re.Pattern[str]:
    """The pattern. Raises InputError, naming `what`, for none that Python's `re` takes."""
    try:
        return re.compile(pattern, flags)
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        raise InputError(f"{what} is no regular expression: {str(error) or type(error).__name__}") from None


async def matches(pattern: re.Pattern[str], text: str, how: How = "match", limit: float = LIMIT) -> bool:
    """Whether the pattern matches from the first character on, or (fullmatch) the whole text.

    Raises JudgeFailure: timeout where that is not known after `limit` seconds, missing_extra where no process can be
    started for a pattern that needs one.
    """
    if is_quick(pattern.pattern):
        return getattr(pattern, how)(text) is not None
    return await asyncio.to_thread(_elsewhere, pattern, text, how, limit)


def is_quick(pattern: str) -> bool:
    """Whether it has one choice at most, so that matching takes time in proportion to the text."""
    choices = sum(character in _CHOICES for character in _SO_OFTEN.sub("", pattern))
    return choices <= 1 and not _REPEATED.search(pattern)


def is_quick_anywhere(pattern: str) -> bool:
    """Whether looking for it anywhere in a text (`re.search`) takes time in proportion to the text.

    It does where the pattern is quick and stands at the beginning alone, or repeats nothing: else what is repeated is
    read again from each character on.
    """
    alone = pattern.startswith("^") or not any(sign in pattern for sign in "*+?{")
    return alone and len(pattern) <= _LONGEST and is_quick(pattern)


def _elsewhere(pattern: re.Pattern[str], text: str, how: How, limit: float) -> bool:
    asked = json.dumps([pattern.pattern, pattern.flags & ~re.DEBUG, how, text])
    return elsewhere(["-c", _CHILD], asked, limit, f"matching the pattern {pattern.pattern!r:.80}").strip() == b"1"


def elsewhere(program: Sequence[str], asked: str, limit: float, what: str) -> bytes:
    """What a program for Python prints that is given `asked` (ASCII), in a process that is ended after `limit` seconds.

    Raises JudgeFailure, naming `what` it does: timeout, and missing_extra where the process did not run.
    """
    try:
        done = subprocess.run(  # noqa: S603  # Python itself, with what it shall look at as its input
            [sys.executable, "-I", "-S", *program],
            input=asked.encode("ascii"),
            capture_output=True,
            timeout=limit,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise JudgeFailure(Cause.TIMEOUT, f"{what} took more than {limit:g} s, and was given up") from None
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"{what} needs a process of Python, which did not run: {error}"
        raise JudgeFailure(Cause.MISSING_EXTRA, message) from None
    return done.stdout

"""Patterns that come with data or a configuration: Python's `re`, in bounded time and length.

`re` cannot be stopped: "(a+)+$" on forty letters holds its thread, and with it the interpreter, for hours, and a
thousand sets of letters that ignore case take ten seconds to compile. A short pattern with one choice at most (a
quantifier, an alternative) takes time in proportion to the text and is compiled and matched here. Any other is compiled
and matched by a process of its own, which is ended when its time is over. All metrics with patterns match here.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Literal

from assay.errors import Cause, InputError, JudgeFailure

How = Literal["match", "fullmatch"]

#: Seconds that a match may take.
LIMIT = 5.0
#: Characters of a pattern, at most.
LONGEST = 10_000
#: Characters of a pattern that is compiled here. Looked for anywhere, each may be compared with each of the text.
_SHORT = 1000
#: Bytes of memory that matching may take in its process.
_MEMORY = 1 << 30
#: What gives a matcher something to choose, and so to come back to.
_CHOICES = frozenset("*+?{|")
_REPEATED = re.compile(r"\\[1-9]")  # what a group matched, to be found once more
_SO_OFTEN = re.compile(r"(?<!\))\{[0-9]{1,3}\}")  # of one character, which leaves no choice
_CHILD = """\
import json, re, sys
pattern, flags, how, text, memory = json.loads(sys.stdin.buffer.read())
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
except (ImportError, ValueError, OSError):  # no such limits here
    pass
try:
    found = int(getattr(re.compile(pattern, flags), how)(text) is not None)
except MemoryError:
    found = None
except (re.error, RecursionError, OverflowError, ValueError) as error:
    found = str(error) or type(error).__name__
print(json.dumps(found))
"""


async def matches(
    pattern: str,
    text: str,
    how: How = "match",
    *,
    flags: int = 0,
    what: str = "the pattern",
    limit: float | None = None,
) -> bool:
    """Whether a pattern matches from the first character on, or (fullmatch) the whole text.

    Args:
        pattern: The pattern, as somebody wrote it.
        text: The text.
        how: "match" or "fullmatch".
        flags: Those of `re`.
        what: What the pattern is, for errors.
        limit: Seconds. None: LIMIT.

    Raises:
        InputError: It is no regular expression, or longer than LONGEST.
        JudgeFailure: timeout where that is not known in time, too_large where it takes too much memory, missing_extra
            where no process can be started for a pattern that needs one.
    """
    _check_length(pattern, what)
    if is_quick(pattern) and compiles_quickly(pattern, flags):
        return getattr(_compiled(pattern, flags, what), how)(text) is not None
    return await asyncio.to_thread(_elsewhere, pattern, flags, text, how, LIMIT if limit is None else limit, what)


def check_pattern(pattern: str, flags: int, what: str) -> None:
    """Check a pattern without a text. Raises InputError for one that `matches` would refuse or not finish."""
    _check_length(pattern, what)
    if compiles_quickly(pattern, flags):
        _compiled(pattern, flags, what)
        return
    try:
        _elsewhere(pattern, flags, "", "match", LIMIT, what)
    except JudgeFailure as failure:
        raise InputError(f"{what}: {failure.message}") from None


def _check_length(pattern: str, what: str) -> None:
    if len(pattern) > LONGEST:
        raise InputError(f"{what} has {len(pattern):,} characters; a regular expression may have {LONGEST:,}")


def _compiled(pattern: str, flags: int, what: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets that may mean something else one day
            return re.compile(pattern, flags)
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        raise _no_pattern(str(error) or type(error).__name__, what) from None


def _no_pattern(said: str, what: str) -> InputError:
    return InputError(f"{what} is no regular expression: {said}")


def compiles_quickly(pattern: str, flags: int = 0) -> bool:
    """Whether compiling takes milliseconds: short, and no set of letters whose case is ignored."""
    ignores_case = bool(flags & re.IGNORECASE) or "(?" in pattern
    return len(pattern) <= _SHORT and not (ignores_case and "[" in pattern)


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
    return alone and compiles_quickly(pattern) and is_quick(pattern)


def _elsewhere(pattern: str, flags: int, text: str, how: How, limit: float, what: str) -> bool:
    asked = json.dumps([pattern, flags & ~re.DEBUG, how, text, _MEMORY])
    doing = f"matching the pattern {pattern!r:.80}"
    found = json.loads(elsewhere(["-W", "ignore", "-c", _CHILD], asked, limit, doing))
    if isinstance(found, str):
        raise _no_pattern(found, what)
    if found is None:
        raise JudgeFailure(Cause.TOO_LARGE, f"{doing} takes more than {_MEMORY >> 30} GiB of memory")
    return bool(found)


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

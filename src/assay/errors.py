"""Every error assay raises on purpose, as one tree.

AssayError
├── InputError        a wrong argument, row or key; also a ValueError
├── MissingExtra      an optional dependency is not installed; also an ImportError
├── StoreError        the store cannot be opened, read or written, or was written by a newer assay
├── Undelivered       a sink could not hand over some scores; it names them
├── Detached          a run was told to end where only waiting is left; nothing is lost, and the same run goes on
├── GuardBlocked      an answer was blocked and the guard has no fallback (in assay.live.guards)
├── JudgeFailure      a judge could not answer one prompt; becomes a skipped score, never a number
└── EvaluationInterrupted (a KeyboardInterrupt too): Ctrl-C, with the partial result on `.result`
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from types import TracebackType
from typing import Any


class Cause(StrEnum):
    """Why a score has no value. Stable, machine readable.

    Attributes:
        MISSING_INPUT: The sample lacks a field that the metric needs.
        NO_CONTEXT: Nothing was retrieved, and the metric measures the answer against it.
        NO_CLAIMS: The text makes no checkable statement (a refusal, small talk).
        NOT_APPLICABLE: The formula has no value here; the message says why.
        PARTIAL: An abandoned, cancelled or failed answer, and partial ones were not asked for.
        JUDGE_CANNOT: This kind of judge does not answer this kind of prompt.
        NEEDS_VISION: There is a picture that this judge, or this metric, does not look at.
        LANGUAGE: The judge does not read the sample's language.
        PARSE: The reply did not fit the schema, again and again.
        AMBIGUOUS: The reply held verdicts that contradict each other, or one that contradicts itself.
        TRUNCATED: Cut at the token limit, even after splitting.
        PROMPT_TRUNCATED: The server shortened the prompt without an error; the message says how to prevent that.
        TOO_LONG: Does not fit the judge's window and must not be cut, or has more than 200,000 characters.
        REFUSED: The judge declined to answer.
        CONTENT_FILTER: The provider blocked the text.
        RATE_LIMITED: Still limited after every retry.
        TIMEOUT: A deadline passed.
        CONNECTION: Endpoint unreachable or answering 5xx after every retry.
        BUDGET: A budget of calls, tokens or money was used up.
        AUTH: Key refused.
        NO_MODEL: The endpoint does not know the model, or the path.
        BAD_REQUEST: The endpoint refuses this request for good.
        INTERRUPTED: The run was stopped before this one was measured.
        BAD_ROW: The row of data could not be read as a sample.
        TOO_LARGE: The row, a reply of the judge or a picture takes more bytes than it may.
        LOST: The row was scored, and cannot be read from the store any more.
        TARGET: The application that was run gave no answer: it raised an error, took too long, or returned no answer.
        MISSING_EXTRA: A library that the metric needs is not installed; the message says how to.
        BUG: An error in assay, a metric or a user's judge; the message holds it.
    """

    MISSING_INPUT = "missing_input"
    NO_CONTEXT = "no_context"
    NO_CLAIMS = "no_claims"
    NOT_APPLICABLE = "not_applicable"
    PARTIAL = "partial"
    JUDGE_CANNOT = "judge_cannot"
    NEEDS_VISION = "needs_vision"
    LANGUAGE = "language"
    PARSE = "parse"
    AMBIGUOUS = "ambiguous"
    TRUNCATED = "truncated"
    PROMPT_TRUNCATED = "prompt_truncated"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    CONTENT_FILTER = "content_filter"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    BUDGET = "budget"
    AUTH = "auth"
    NO_MODEL = "no_model"
    BAD_REQUEST = "bad_request"
    INTERRUPTED = "interrupted"
    BAD_ROW = "bad_row"
    TOO_LARGE = "too_large"
    LOST = "lost"
    TARGET = "target"
    MISSING_EXTRA = "missing_extra"
    BUG = "bug"


#: Causes that lie in the sample itself: asking again cannot change them.
SETTLED = frozenset(
    {
        Cause.MISSING_INPUT,
        Cause.NO_CONTEXT,
        Cause.NO_CLAIMS,
        Cause.NOT_APPLICABLE,
        Cause.PARTIAL,
        Cause.JUDGE_CANNOT,
        Cause.NEEDS_VISION,
        Cause.LANGUAGE,
    }
)


class AssayError(Exception):
    """Base of all errors raised by assay. Texts of others in the message cannot steer the terminal that shows it."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """What notebooks show: the message, and the line of the cell. ASSAY_DEBUG=1 in the environment shows all."""
        if os.environ.get("ASSAY_DEBUG", "0") not in ("", "0"):
            raise NotImplementedError  # IPython then shows its own
        lines = (tb.tb_lineno for tb in _frames(self.__traceback__) if "ipykernel" in tb.tb_frame.f_code.co_filename)
        line = next(lines, None)
        where = "" if line is None else f" (line {line} of the cell; ASSAY_DEBUG=1 in the environment shows more)"
        return [f"{type(self).__name__}: {self}{where}"]


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


_LONGEST_MESSAGE = 4_000  # characters


class InputError(AssayError, ValueError):
    """A wrong argument, row or key. The message names it and says what was expected.

    Args:
        message: The message. The middle of one that is longer than 4,000 characters is left out: it quotes a value.
    """

    def __init__(self, message: str = "") -> None:
        if len(message) > _LONGEST_MESSAGE:
            half = _LONGEST_MESSAGE // 2
            message = f"{message[:half]} … {message[-half:]}"
        super().__init__(message)


class MissingExtra(AssayError, ImportError):
    """An optional dependency is missing. The message says what to install."""


class StoreError(AssayError):
    """The store cannot be opened, read or written. The message names the file and what is wrong with it."""


class RunReplacedError(StoreError):
    """A run was deleted, or replaced by another of its name, while it was being written."""

    def __init__(self, run: str) -> None:
        super().__init__(
            f"run {run!r} was deleted or replaced by another process; give each process a run of its own, or none"
        )
        self.run = run

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.run,)


class Undelivered(AssayError):
    """A sink could not hand over some scores. `scores` names their metrics; the others were delivered.

    `target` is what the sample is called in the store, `reason` why they did not arrive, where the message holds more.
    """

    def __init__(self, message: str, *, scores: Sequence[str], target: str | None = None, reason: str | None = None):
        super().__init__(message)
        self.scores = tuple(scores)
        self.target = target
        self.reason = message if reason is None else reason


class JudgeFailure(AssayError):
    """A judge could not answer one prompt.

    `cause` is machine readable, `raw` keeps the judge's own reply where there was one, and `detail` carries
    whatever else helps (status code, request id).
    """

    def __init__(self, cause: Cause, message: str, *, raw: str | None = None, detail: dict[str, Any] | None = None):
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.raw = raw
        self.detail = detail or {}


class Detached(AssayError):
    """A run with `detach=True` ended because all that is left waits for a provider's batches: run it again later.

    Args:
        run: The run's name; what is scored so far is in it.
        batches: Batches that are under way.
    """

    def __init__(self, message: str, *, run: str, batches: int) -> None:
        super().__init__(message)
        self.run = run
        self.batches = batches


class InvalidReply(AssayError):
    """A reply does not answer the prompt. The message is written for the judge: it is sent back.

    `cause` is that of the failure when further replies are no better.
    """

    cause = Cause.PARSE


class InconsistentReply(InvalidReply):
    """The parts of a verdict contradict each other: its label, the labels of passages, the quotes."""

    cause = Cause.AMBIGUOUS


class AmbiguousReply(InvalidReply):
    """A reply holds several complete answers that contradict each other. The judge is not asked again."""

    cause = Cause.AMBIGUOUS


#: Control characters but tab and newline; line separators that only some programs obey; overrides, isolates and other
#: marks that hide or reorder text; half characters, which cannot be printed. Not those of spelling: joiners and the
#: direction marks of single letters stay.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """`text` with what cannot be seen spelled out (`\\x1b`, `\\u202e`); a line end of Windows becomes a newline.

    Of text that others wrote, only newline and tab have an effect on a terminal afterwards.
    """
    if text.isprintable():
        return text
    return INVISIBLE.sub(_escaped, text.replace("\r\n", "\n"))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

"""Reasons why a run is incomplete: it did not finish, or rows that it saved are lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from assay._util.terminal import pluralize
from assay.errors import AssayError, Cause, JudgeFailure

#: What ended a run before its last row: its own sequential gate was decided, a budget was spent, the deadline passed,
#: or anything else, such as Ctrl-C, a kill or an error.
RunEnd = Literal["sequential", "budget", "limit", "interrupted"]
#: The cause of the missing scores of rows that such a run did not come to. A sequential gate needs no more rows.
UNSCORED: Mapping[str | None, Cause] = {
    "budget": Cause.BUDGET,
    "limit": Cause.TIMEOUT,
    "interrupted": Cause.INTERRUPTED,
}

#: What the store says of a run from its start to its end; it stays where the process was killed.
NOT_FINISHED = "not finished"


def run_end_of(error: AssayError) -> RunEnd:
    """What an error that ended a run was."""
    return "budget" if isinstance(error, JudgeFailure) and error.cause is Cause.BUDGET else "interrupted"


def run_end_in(info: Mapping[str, Any]) -> RunEnd | None:
    """What ended a run, by what the store keeps of it. A process that was killed could not say it any more."""
    ended: RunEnd | None = info.get("ended")
    return ended if ended is not None or info.get("stopped") is None else "interrupted"


def rows_not_reached(ended: RunEnd | None, expected: int | None, saved: int) -> int:
    """The number of rows of the data that a run did not come to, as far as the number of all was known."""
    return max(0, expected - saved) if ended in UNSCORED and expected is not None else 0


def rows_in_words(rows: int, lost: int) -> str:
    """The number of rows that can be read, of all that belong to the run."""
    return f"{rows} of {pluralize(rows + lost, 'row')}" if lost else pluralize(rows, "row")


def incomplete_reasons(
    rows: int,
    *,
    stopped: str | None,
    expected: int | None,
    unreadable: int,
    missing: int,
    pruned: int = 0,
    altered: bool = False,
) -> tuple[str, ...]:
    """Say why figures over a run are not figures over all its rows; empty for a complete run.

    Args:
        rows: Rows that can be read.
        stopped: Why the run did not finish; None where it did.
        expected: Rows of the data, where that was known at the start.
        unreadable: Rows that are in the store and cannot be read.
        missing: Rows that were saved and are not in the store any more.
        pruned: Rows that were deleted to make the store smaller.
        altered: Whether the rows that can be read are not the ones that were saved.

    Returns:
        One sentence part for each reason.
    """
    saved, reasons = rows + unreadable + missing + pruned, []
    if stopped is not None:
        of = (
            pluralize(saved, "row")
            if expected is None or expected < saved
            else f"{saved} of {pluralize(expected, 'row')}"
        )
        reasons.append(f"the run did not finish: {of}" + ("" if stopped == NOT_FINISHED else f" ({stopped})"))
    if unreadable:
        reasons.append(f"{unreadable} of {pluralize(saved, 'row')} could not be read")
    if missing:
        reasons.append(
            f"{missing} of {pluralize(saved, 'row')} {'is' if missing == 1 else 'are'} missing from the store"
        )
    if pruned:
        reasons.append(f"{pruned} of {pluralize(saved, 'row')} {'was' if pruned == 1 else 'were'} pruned")
    if altered:
        reasons.append("the rows in the store are not the ones that were saved")
    return tuple(reasons)

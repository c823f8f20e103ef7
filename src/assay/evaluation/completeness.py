"""Reasons why a run is incomplete: it did not finish, or rows that it saved are lost."""

from __future__ import annotations

from assay._util.terminal import pluralize

#: What the store says of a run from its start to its end; it stays where the process was killed.
NOT_FINISHED = "not finished"


def rows_in_words(rows: int, lost: int) -> str:
    """The number of rows that can be read, of all that belong to the run."""
    return f"{rows} of {pluralize(rows + lost, 'row')}" if lost else pluralize(rows, "row")


def incomplete_reasons(
    rows: int, *, stopped: str | None, expected: int | None, unreadable: int, missing: int
) -> tuple[str, ...]:
    """Say why figures over a run are not figures over all its rows; empty for a complete run.

    Args:
        rows: Rows that can be read.
        stopped: Why the run did not finish; None where it did.
        expected: Rows of the data, where that was known at the start.
        unreadable: Rows that are in the store and cannot be read.
        missing: Rows that were saved and are not in the store any more.

    Returns:
        One sentence part for each reason.
    """
    saved, reasons = rows + unreadable + missing, []
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
    return tuple(reasons)

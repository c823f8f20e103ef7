"""Progress on the terminal: rows, rate, cost and failures, on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assay.result import Result


class Progress(Protocol):
    """Told after every row; must be quick."""

    def __enter__(self) -> Progress: ...

    def __exit__(self, *_: object) -> None: ...

    def update(self, result: Result) -> None: ...


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, result: Result) -> None:
        return None


class Bar:
    """A rich progress bar on stderr; redrawn at most ten times a second by a thread of rich's own."""

    def __init__(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("scoring"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[cost]}"),
            TextColumn("{task.fields[failed]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = self._bar.add_task("", total=total, rate="", cost="", failed="")

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, result: Result) -> None:
        unscored = sum(summary.total - summary.scored for summary in result.metrics.values())
        calls = result.usage.calls
        speed = self._bar.tasks[0].speed
        self._bar.update(
            self._task,
            completed=result.rows,
            rate=f"{speed:.1f} rows/s" if speed else "",
            cost=f"{calls} calls" if calls else "",
            failed=f"{unscored} not scored" if unscored else "",
        )


def progress_for(wanted: bool | None, total: int | None) -> Progress:
    """A bar if wanted, or, when nothing was said, if stderr is a terminal."""
    if wanted is None:
        wanted = sys.stderr is not None and sys.stderr.isatty()
    return Bar(total) if wanted else Silent()

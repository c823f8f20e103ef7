"""Progress of a run: a bar on a terminal, one line that is replaced in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from assay._util.terminal import is_terminal, pluralize, width
from assay._util.throughput import Pace
from assay.errors import printable
from assay.evaluation.display.cost import dollars_in_words

if TYPE_CHECKING:
    from rich.progress import Task

    from assay.evaluation.result import Result

FIRST_LINE, NEXT_LINES = 10.0, 60.0  # seconds until the first line where there is no terminal, and between the others
REDRAWN = 0.5  # seconds between two pictures in a notebook


class Silent:
    """Shows nothing. The others build on it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, result: Result) -> None:
        return None


class _RowRate(Silent):
    """Measures the pace, which rich would tell too high: of rows that come in bursts it sees the last burst alone."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._said: list[str] = []
        self._warned = False

    def update(self, result: Result) -> None:
        self._pace.rows = result.rows
        self._said = status_parts(result)

    def _parts(self) -> list[str]:
        return [*self._pace.parts(), *self._said]

    def _warning(self) -> str | None:
        """The warning of a long run, once."""
        warning = None if self._warned else self._pace.warning()
        self._warned = self._warned or warning is not None
        return warning


class Bar(_RowRate):
    """A bar on stderr; redrawn at most ten times a second by a thread of rich's own, and gone at the end."""

    def __init__(self, pace: Pace) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, ProgressColumn, SpinnerColumn
        from rich.progress import Progress as RichProgress
        from rich.text import Text

        super().__init__(pace)
        bar = self

        class Words(ProgressColumn):
            max_refresh = 0.1

            def render(self, task: Task) -> Text:
                return Text(bar.words(), no_wrap=True, overflow="ellipsis")

        # in a kernel rich would draw with ipywidgets
        self._console = Console(stderr=True, width=width(), force_jupyter=False)
        known = [BarColumn(bar_width=20)] if pace.total is not None else [SpinnerColumn("line")]
        self._bar = RichProgress(*known, Words(), console=self._console, transient=True)
        self._task: Any = self._bar.add_task("", total=pace.total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def update(self, result: Result) -> None:
        super().update(result)
        self._bar.update(self._task, completed=result.rows)
        warning = self._warning()
        if warning is not None:
            self._console.print(warning, markup=False, highlight=False)

    def words(self) -> str:
        """Rows, rate, estimate and what is known of the scores, as far as the terminal is wide."""
        return fitting(self._parts(), self._console.width - 22)


class Lines(_RowRate):
    """A line on stderr after ten seconds and then one a minute; none for short runs. For logs: rich has no lines."""

    def __init__(self, pace: Pace, say: Callable[[str], None] | None = None) -> None:
        super().__init__(pace)
        self._say = say if say is not None else lambda text: print(text, file=sys.stderr, flush=True)
        self._due = FIRST_LINE

    def update(self, result: Result) -> None:
        super().update(result)
        if self._pace.seconds < self._due:
            return
        self._due = self._pace.seconds + NEXT_LINES
        warning = self._warning()
        self._say("assay: " + " · ".join(self._parts()) + (f" ({warning})" if warning else ""))


class ProgressLine(_RowRate):
    """One line in a notebook's cell, replaced as rows finish; at the end it says how long it took.

    rich would need ipywidgets for that.
    """

    def __init__(self, pace: Pace) -> None:
        super().__init__(pace)
        self._shown = 0.0
        self._handle: Any = None

    def __enter__(self) -> Self:
        from IPython import display

        show: Any = display.display
        with contextlib.suppress(Exception):  # nobody looks any more; the run goes on
            self._handle = show(_Line("scoring …"), display_id=True)
        return self

    def _show(self, text: str) -> None:
        with contextlib.suppress(Exception):
            self._handle.update(_Line(text))

    def __exit__(self, *_: object) -> None:
        self._show(f"{pluralize(self._pace.rows, 'row')} in {self._pace.seconds:.1f} s")

    def update(self, result: Result) -> None:
        super().update(result)
        now = time.monotonic()
        if now - self._shown >= REDRAWN:
            self._shown = now
            warning = self._pace.warning()
            self._show("scoring " + " · ".join([*self._parts(), *([warning] if warning else [])]))


class _Line:
    """A line of text that a notebook shows as it is."""

    def __init__(self, text: str) -> None:
        self._text = printable(text)

    def __repr__(self) -> str:
        return self._text


def status_parts(result: Result) -> list[str]:
    """What is known of the scores so far: the mean of the first metric, the judge's calls, and what has no value."""
    first = next(iter(result.metrics.values()), None)
    errors = sum(summary.total - summary.scored for summary in result.metrics.values())
    calls = result.usage.calls
    said = [f"{first.metric} {first.mean:.3f}"] if first is not None and first.mean is not None else []
    cost = _cost_so_far(result) if calls else []
    calls_said = [pluralize(calls, "call")] if calls else []
    return [*said, *calls_said, *cost, *([f"{errors:,} not scored"] if errors else [])]


def _cost_so_far(result: Result) -> list[str]:
    """What is spent, and what all rows may cost, were they like those that are done."""
    spent = result.dollars
    if spent is None:
        return []
    if not result.rows or not result.expected or result.expected <= result.rows:
        return [dollars_in_words(spent)]
    return [f"{dollars_in_words(spent)} of about {dollars_in_words(spent * result.expected / result.rows)}"]


def fitting(parts: list[str], room: int) -> str:
    """As many of the parts as fit, the first at least."""
    text = parts[0]
    for part in parts[1:]:
        if len(text) + 3 + len(part) > room:
            break
        text += " · " + part
    return text


def progress_for(wanted: bool | None, total: Callable[[], int | None]) -> Silent:
    """What shows the progress where this process runs: nothing where it is not wanted. `total` is asked where it is.

    In a notebook a picture; on a terminal (of stderr) a bar; elsewhere lines if wanted, nothing if nothing was said.
    """
    if wanted is False:
        return Silent()
    if _in_notebook():
        return ProgressLine(Pace(total()))
    if is_terminal(sys.stderr):
        return Bar(Pace(total()))
    return Lines(Pace(total())) if wanted and sys.stderr is not None else Silent()


def _in_notebook() -> bool:
    """Whether an IPython kernel runs this: asked without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return shell is not None and getattr(shell, "kernel", None) is not None

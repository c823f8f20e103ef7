"""A pytest plugin that prints the slowest files of a run."""

from __future__ import annotations

from collections import Counter

import pytest

MOST = 10


class SlowestFiles:
    """Adds up the seconds of each file's tests, set-up and tear-down included, over all processes of pytest-xdist."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"the {MOST} slowest files of {len(self.seconds)}")
        for file, seconds in self.seconds.most_common(MOST):
            terminalreporter.write_line(f"{seconds:8.1f} s  {file}")

"""What pytest loads in every session of an environment that has this package: hooks, and no more than hooks.

Neither assay nor numpy is imported before a test asks for a fixture or has the mark `assay_data`.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.extension import BaseJudge
    from assay_pytest.assertions import AssertScores
    from assay_pytest.collector import SessionScores

MARKS = (
    "assay: costs judging, and is skipped unless pytest is called with --assay",
    "assay_data(file, *, argument='sample', limit=None, column_map=None): run the test for each row of a file of "
    "answers, given as a Sample",
)
FORMS = (".html", ".md", ".json", ".xml", ".csv", ".parquet")
#: Under these names a report says that its test was scored, and that it failed before it was.
_SCORED, _UNSCORED = "assay_run", "assay_unscored"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay", "scores of RAG answers")
    group.addoption("--assay", action="store_true", help="Run the tests marked `assay`, which cost judging.")
    group.addoption("--assay-judge", metavar="JUDGE", help="The judge: embedded, openai:MODEL, …")
    group.addoption("--assay-store", metavar="FOLDER", help="Where scores are kept; .assay without it.")
    group.addoption("--assay-run", metavar="NAME", help="A name for the run that all scores of the session are.")
    group.addoption("--assay-report", metavar="FILE", help=f"Write a report of the run: {', '.join(FORMS)}.")


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    report = config.getoption("assay_report")
    if report is not None and Path(report).suffix.lower() not in FORMS:
        raise pytest.UsageError(f"--assay-report: expected a file that ends in {', '.join(FORMS)}; got {report!r}")
    config.stash[_KEY] = unscored = _UnscoredTests()
    config.pluginmanager.register(unscored, "assay-unscored")
    if config.pluginmanager.hasplugin("xdist"):
        from assay_pytest.workers import Workers

        config.pluginmanager.register(Workers(config), "assay-workers")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("assay"):
        return
    skip = pytest.mark.skip(reason="costs judging; pytest --assay runs it")
    for item in items:
        if item.get_closest_marker("assay") is not None:
            item.add_marker(skip)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for mark in metafunc.definition.iter_markers("assay_data"):
        from assay_pytest.data import parametrize

        parametrize(metafunc, mark)


def pytest_sessionstart(session: pytest.Session) -> None:
    """A report of an earlier session must not pass for one of this session, however this session ends."""
    report = _report_path(session.config)
    if report is not None and report.is_file() and not session.config.getoption("collectonly"):
        report.unlink()


class _UnscoredTests:
    """The tests that failed before their answer was scored: of these a gate over the run knows nothing."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def __str__(self) -> str:
        some = ", ".join(list(self.names)[:3])
        more = f" and {len(self.names) - 3} more" if len(self.names) > 3 else ""
        return f"tests that failed before they were scored: {some}{more}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        scores = "assert_scores" in getattr(item, "fixturenames", ())
        if report.failed and scores and not any(name == _SCORED for name, _ in report.user_properties):
            report.user_properties.append((_UNSCORED, True))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        said = {name for name, _ in report.user_properties}
        if _UNSCORED in said:
            self.names[report.nodeid] = None
        elif _SCORED in said:  # at another try
            self.names.pop(report.nodeid, None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        """Nobody knows whether a test was scored before its worker of xdist went down with it."""
        self.names[crashitem] = None


_KEY: pytest.StashKey[_UnscoredTests] = pytest.StashKey()


def _report_path(config: pytest.Config) -> Path | None:
    """The file of the report, in the process that writes it."""
    report = config.getoption("assay_report")
    return None if report is None or hasattr(config, "workerinput") else config.invocation_params.dir / report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if any(name == _SCORED for name, _ in report.user_properties):
        from assay_pytest.collector import note

        note(report.user_properties)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    collected = _collected(session.config)
    if collected is not None and not hasattr(session.config, "workerinput"):
        unscored = session.config.stash[_KEY]
        stopped = _stopped(session, exitstatus) or (str(unscored) if unscored.names else None)
        collected.finish(stopped, _report_path(session.config))


def _stopped(session: pytest.Session, exitstatus: int) -> str | None:
    """Why the session ended before all its tests; None where it did not."""
    if exitstatus == pytest.ExitCode.INTERRUPTED:
        return "interrupted"
    if exitstatus == pytest.ExitCode.INTERNAL_ERROR:
        return "internal error"
    return str(session.shouldfail or session.shouldstop or "") or None  # as by --maxfail


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    collected, report = _collected(config), _report_path(config)
    if collected is not None:
        collected.show(terminalreporter)
    elif report is not None and not config.getoption("collectonly"):
        terminalreporter.section("assay")
        terminalreporter.write_line(f"no answer was scored, so there is no report {report}")


def _collected(config: pytest.Config) -> SessionScores | None:
    """What was scored in this session; None where nothing was, and nothing of it was imported."""
    import sys

    module = sys.modules.get("assay_pytest.collector")
    return None if module is None else module.of(config)


@pytest.fixture(scope="session")
def assay_judge(pytestconfig: pytest.Config) -> BaseJudge:
    """The judge of `assert_scores`: --assay-judge, else that of the configuration, else the embedded one.

    Write a fixture of this name to use another.
    """
    from assay_pytest.judge_options import judge_of

    return judge_of(pytestconfig)


@pytest.fixture
def assert_scores(request: pytest.FixtureRequest, assay_judge: BaseJudge) -> AssertScores:
    """Score an answer, keep the scores, and fail with claims and evidence where one is not good enough.

    def test_opening_hours(assert_scores):
        assert_scores({"question": ..., "contexts": [...], "answer": ...}, faithfulness=0.8)
    """
    from assay_pytest.assertions import AssertScores

    return AssertScores(request.node, assay_judge)

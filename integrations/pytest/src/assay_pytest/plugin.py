"""What pytest loads in every session of an environment that has this package: hooks, and no more than hooks.

Neither assay nor numpy is imported before a test asks for a fixture or has the mark `assay_data`.
"""

from __future__ import annotations

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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if any(name == "assay_run" for name, _ in report.user_properties):
        from assay_pytest.collector import note

        note(report.user_properties)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    collected = _collected(session.config)
    if collected is not None and not hasattr(session.config, "workerinput"):
        collected.finish(_stopped(session, exitstatus))


def _stopped(session: pytest.Session, exitstatus: int) -> str | None:
    """Why the session ended before all its tests; None where it did not."""
    if exitstatus == pytest.ExitCode.INTERRUPTED:
        return "interrupted"
    if exitstatus == pytest.ExitCode.INTERNAL_ERROR:
        return "internal error"
    return str(session.shouldfail or session.shouldstop or "") or None  # as by --maxfail


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    collected = _collected(config)
    if collected is not None:
        collected.show(terminalreporter)


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

"""The plugin in real sessions of pytest: one process, many workers, failures, crashes, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay import open_data
from assay.analysis.gates import Gate, GateRule
from assay.analysis.gates.checking import check
from assay.evaluation.result import Result

pytest_plugins = "pytester"

#: A session in this process forgets the modules that it imports: of those that it finds, there is one class each.
IMPORTED = (open_data, check)

CONFTEST = """
import pytest

@pytest.fixture(scope="session")
def assay_judge():
    from assay import ScriptedJudge
    return ScriptedJudge(
        claims=lambda text: [part.strip() + "." for part in text.split(".") if part.strip()],
        support=lambda claim, passage: "supported" if claim in passage else "not_mentioned",
    )
"""
GOOD = '{"question": "Q?", "contexts": ["It is so."], "answer": "It is so."}'
BAD = '{"question": "Q?", "contexts": ["It is so."], "answer": "It is so. It is red."}'

#: The plugin by its module: in these tests it need not be installed.
PLUGIN = ("-p", "assay_pytest.plugin")
ASYNC = ("-p", "pytest_asyncio.plugin", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.fixture
def bare(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project without anything, and no plugin of others that happens to be installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester


@pytest.fixture
def project(bare: pytest.Pytester) -> pytest.Pytester:
    """A project whose judge is scripted."""
    bare.makeconftest(CONFTEST)
    return bare


def session(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A session in this process: assay is imported already."""
    return project.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider", *arguments)


def process(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A session in a process of its own."""
    return project.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider", *arguments, timeout=120)


def the_run(project: pytest.Pytester, run: str = "last") -> Result:
    return Result.load(run, project.path / ".assay")


def test_a_good_answer_passes_and_a_bad_one_shows_its_claims(project: pytest.Pytester) -> None:
    """Of the bad answer's two claims one is in the passage: 0.5."""
    project.makepyfile(
        f"""
        def test_good(assert_scores):
            assert assert_scores({GOOD}, faithfulness=0.8).scores["faithfulness"].value == 1.0

        def test_bad(assert_scores):
            assert_scores({BAD}, faithfulness=0.8, hallucination=0.6)
        """
    )
    found = session(project, "--assay-report", "out/report.json")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(
        [
            "*AssertionError: faithfulness = 0.500, and at least 0.8 was expected*",
            "*question: Q?*",
            "*not_mentioned*It is red.*",
            "*faithfulness*0.750*2/2*",
            "2 answers in run * of *assay.db",
            "report: *report.json",
        ]
    )
    assert "hallucination = " not in found.stdout.str()  # 0.5 is at most 0.6
    report = json.loads((project.path / "out" / "report.json").read_text())
    assert [row["sample"]["id"].split("::")[1] for row in report["samples"]] == ["test_good", "test_bad"]
    run = the_run(project)
    assert (run.metrics["faithfulness"].mean, run.complete, run.note) == (0.75, True, "pytest")


@pytest.mark.long
def test_nothing_of_assay_is_imported_in_a_session_that_does_not_use_it(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import sys
        import pytest

        def test_plain(record_property):
            record_property("other", 1)
            assert not {"assay", "numpy", "pydantic"} & {name.partition(".")[0] for name in sys.modules}

        @pytest.mark.assay
        def test_expensive(assert_scores):
            raise AssertionError
        """
    )
    found = process(project, "--strict-markers")
    found.assert_outcomes(passed=1, skipped=1)
    assert not (project.path / ".assay").exists()
    assert "answers in run" not in found.stdout.str()


def test_expensive_tests_run_when_asked_for(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.assay
        def test_expensive(assert_scores):
            assert_scores({GOOD}, faithfulness=1)
        """
    )
    session(project).assert_outcomes(skipped=1)
    session(project, "--assay").assert_outcomes(passed=1)


def test_a_test_for_each_row_of_a_file(project: pytest.Pytester) -> None:
    rows = [{"id": "a", **json.loads(GOOD)}, json.loads(BAD), {"question": "Q?", "contexts": 5, "answer": "x"}]
    (project.path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    project.makepyfile(
        """
        import pytest

        @pytest.mark.assay_data("rows.jsonl")
        def test_rows(sample, assert_scores):
            assert_scores(sample, faithfulness=0.8)

        @pytest.mark.assay_data("rows.jsonl", argument="given", limit=1)
        @pytest.mark.parametrize("least", [0.5, 0.6])
        def test_limited(given, least, assert_scores):
            assert_scores(given, faithfulness=least)
        """
    )
    found = session(project, "-v", "--strict-markers")
    found.assert_outcomes(passed=3, failed=1, errors=1)
    found.stdout.fnmatch_lines(["*test_rows?a? PASSED*", "*test_rows?row2? FAILED*", "*test_rows?row3? ERROR*"])
    found.stdout.fnmatch_lines(["*row 3 cannot be read: *"])
    assert the_run(project).rows == 4


@pytest.mark.short_cases(2)
@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("'no.jsonl'", "assay_data: *no.jsonl*"),
        ("'rows.jsonl', limt=1", "assay_data: *unexpected keyword argument 'limt'*"),
        ("'rows.jsonl', argument='row'", "assay_data: the test takes no argument 'row'; name it so*"),
        ("'rows.jsonl', limit=0", "assay_data: limit: expected at least 1*"),
    ],
)
def test_a_wrong_mark_is_an_error_that_names_the_test(project: pytest.Pytester, mark: str, said: str) -> None:
    (project.path / "rows.jsonl").write_text(GOOD)
    project.makepyfile(f"import pytest\n@pytest.mark.assay_data({mark})\ndef test_it(sample): pass")
    found = session(project)
    assert found.ret != 0
    shown = found.stdout if "test_it: " in found.stdout.str() else found.stderr
    shown.fnmatch_lines([f"*test_it: {said}"])


def test_what_has_no_score_fails_unless_said_otherwise(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("on_error", ["fail", "skip", "pass"])
        def test_it(assert_scores, on_error):
            assert_scores({"question": "Q?", "contexts": [], "answer": "It is so."}, faithfulness=0, on_error=on_error)
        """
    )
    found = session(project)
    found.assert_outcomes(failed=1, skipped=1, passed=1)
    found.stdout.fnmatch_lines(["*faithfulness has no value, and 0 was expected: *no_context*"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("assert_scores({row})", "give a metric its limit, as faithfulness=0.8"),
        ("assert_scores({row}, faithfulnes=1)", "there is no metric 'faithfulnes'; did you mean"),
        ("assert_scores({row}, faithfulness=80)", "at_least: expected a number from 0 to 1, got 80"),
        ("assert_scores({row}, faithfulness='high')", "at_least: expected a number, got 'high'"),
        ("assert_scores({{'contexts': 5, 'answer': 'x'}}, faithfulness=1)", "assert_scores: "),
        ("assert_scores({row}, faithfulness=1, on_error='no')", "on_error: expected 'fail', 'skip' or 'pass'"),
    ],
)
def test_wrong_use_is_an_error_that_names_it(project: pytest.Pytester, call: str, said: str) -> None:
    project.makepyfile(f"def test_it(assert_scores):\n    {call.format(row=GOOD)}")
    found = session(project)
    found.assert_outcomes(failed=1)
    assert f"InputError: {said}" in found.stdout.str() or f": {said}" in found.stdout.str()


def test_metrics_with_names_that_are_no_words_and_of_ones_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        import assay

        @assay.metric
        def short(answer):
            return len(answer) < 10

        def test_it(assert_scores):
            scored = assert_scores({GOOD}, {{"ragas:faithfulness": 0.8}}, metrics=[short], short=1.0)
            assert set(scored.scores) == {{"short", "ragas:faithfulness"}}
            assert_scores({BAD}, metrics=[short])  # kept, and held against nothing

        async def test_async(assert_scores):
            assert_scores({GOOD}, faithfulness=1)
        """
    )
    session(project, *ASYNC).assert_outcomes(passed=2)
    assert [
        row.scored.sample.id.split("::")[1] for row in the_run(project).numbered_rows() if row.scored.sample.id
    ] == [
        "test_it",
        "test_it#2",
        "test_async",
    ]


@pytest.mark.long
def test_workers_of_xdist_put_all_scores_into_one_run(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.parametrize("n", range(12))
        def test_it(assert_scores, n):
            assert_scores({GOOD} if n % 3 else {BAD}, faithfulness=0.8)
        """
    )
    found = process(project, "-p", "xdist", "-n", "2", "--assay-run", "mine", "--assay-report", "report.md")
    found.assert_outcomes(passed=8, failed=4)
    found.stdout.fnmatch_lines(["12 answers in run mine of *"])
    run = the_run(project, "mine")
    assert (run.rows, run.metrics["faithfulness"].mean) == (12, pytest.approx((8 * 1 + 4 * 0.5) / 12))
    assert "faithfulness" in (project.path / "report.md").read_text()
    again = process(project, "--assay-run", "mine")
    assert "'mine' is in the store" in again.stdout.str()
    assert the_run(project, "mine").rows == 12


@pytest.mark.long
def test_scores_of_a_worker_that_crashed_are_kept(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        import os
        import pytest

        @pytest.mark.parametrize("n", range(4))
        def test_it(assert_scores, n):
            assert_scores({GOOD}, faithfulness=0.8)
            if n == 1:
                os._exit(3)
        """
    )
    found = process(project, "-p", "xdist", "-n", "1", "--assay-run", "crashed")
    assert found.ret != 0
    found.stdout.fnmatch_lines(["4 answers in run crashed of *"])
    run = the_run(project, "crashed")
    assert (run.rows, run.ended) == (4, "interrupted")  # nobody knows whether the test would have scored more
    assert "test_it[1]" in run.incomplete[0]


@pytest.mark.long
def test_a_worker_that_crashes_in_its_only_test_leaves_its_scores_too(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        import os

        def test_it(assert_scores):
            assert_scores({GOOD}, faithfulness=1)
            os._exit(3)
        """
    )
    found = process(project, "-p", "xdist", "-n", "1", "--assay-run", "alone")
    found.stdout.fnmatch_lines(["1 answer in run alone of *"])


@pytest.mark.long
def test_ctrl_c_keeps_what_was_scored_and_says_so(project: pytest.Pytester) -> None:
    path = project.makepyfile(
        f"""
        import time

        def test_first(assert_scores):
            assert_scores({GOOD}, faithfulness=1)

        def test_slow(tmp_path):
            open("begun", "w").close()
            time.sleep(60)
        """
    )
    ended = subprocess.Popen(
        [sys.executable, "-m", "pytest", *PLUGIN, "--assay-run", "cut", "--assay-report", "r.json", str(path)],
        cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ),
    )  # fmt: skip
    for _ in range(300):
        if (project.path / "begun").exists():
            break
        time.sleep(0.1)
    ended.send_signal(signal.SIGINT)
    out, _ = ended.communicate(timeout=30)
    assert ended.returncode == pytest.ExitCode.INTERRUPTED, out
    assert "1 answer in run cut of " in out
    assert the_run(project, "cut").stopped == "interrupted"
    assert json.loads((project.path / "r.json").read_text())["complete"] is False


def test_a_session_that_is_killed_is_not_finished_and_its_gate_inconclusive(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        import os, signal

        def test_first(assert_scores):
            assert_scores({GOOD}, faithfulness=1)

        def test_killed(assert_scores):
            os.kill(os.getpid(), signal.SIGKILL)

        def test_bad(assert_scores):
            assert_scores({BAD}, faithfulness=1)
        """
    )
    assert process(project, "--assay-run", "cut").ret == -signal.SIGKILL
    cut = the_run(project, "cut")
    assert cut.incomplete == ("the run did not finish: 1 row",)
    decision = check(Gate((GateRule("faithfulness", "at_least", 0.5),)), cut)
    assert (decision.verdict, decision.exit_code) == ("INCONCLUSIVE", 6)


@pytest.mark.parametrize("first", [(), ("-x",)])
def test_a_session_that_ends_at_its_first_failure_did_not_finish(
    project: pytest.Pytester, first: tuple[str, ...]
) -> None:
    """Without -x all three rows are there: 0.5, 1 and 1."""
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.parametrize("answer", [{BAD}, {GOOD}, {GOOD}])
        def test_it(assert_scores, answer):
            assert_scores(answer, faithfulness=1)
        """
    )
    session(project, *first, "--assay-run", "one").assert_outcomes(passed=0 if first else 2, failed=1)
    run = the_run(project, "one")
    ended = ("the run did not finish: 1 row (stopping after 1 failures)",)
    assert (run.rows, run.incomplete) == ((1, ended) if first else (3, ()))
    verdict = check(Gate((GateRule("faithfulness", "at_least", 0.5),)), run).verdict
    assert verdict == ("INCONCLUSIVE" if first else "PASS")


def test_judge_and_store_are_those_of_the_configuration(bare: pytest.Pytester) -> None:
    (bare.path / "assay.toml").write_text('store = "kept"\n[judge]\nname = "openai:m"\napi_key_env = "NO_SUCH"\n')
    bare.makepyfile(f"def test_it(assert_scores):\n    assert_scores({GOOD}, faithfulness=1)")
    found = session(bare)
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*assay.toml: the environment variable 'NO_SUCH' is not set*"])
    bare.makeconftest(CONFTEST)
    session(bare).assert_outcomes(passed=1)
    assert (bare.path / "kept" / "assay.db").exists()


def test_the_configuration_sends_no_key_to_an_address_of_its_own(
    bare: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = '[judge]\nname = "openai:m"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "AWS_SECRET_ACCESS_KEY"\n'
    (bare.path / "assay.toml").write_text(judge)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-very-secret")
    bare.makepyfile(f"def test_it(assert_scores):\n    assert_scores({GOOD}, faithfulness=1)")
    found = session(bare)
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(
        ["*assay.toml: [[]judge] api_key_env line 4: AWS_SECRET_ACCESS_KEY is not sent to http://127.0.0.1:1: *"]
    )
    assert "aws-very-secret" not in found.stdout.str()


EARLY = f"""
import pytest

@pytest.fixture
def application():
    raise RuntimeError("no connection")

def test_scored(assert_scores):
    assert_scores({GOOD}, faithfulness=1)

def test_fixture(application, assert_scores):
    assert_scores({GOOD}, faithfulness=1)

def test_body(assert_scores):
    raise RuntimeError("no connection")

def test_without():
    raise RuntimeError("no scores are wanted of this one")

def test_low(assert_scores):
    assert_scores({BAD}, faithfulness=1)
"""


@pytest.mark.long
@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "xdist"])
def test_tests_that_fail_before_they_are_scored_make_the_run_incomplete(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    """Two of four tests with `assert_scores` end before it: a gate on the other two would not know them."""
    project.makepyfile(EARLY)
    found = process(project, *workers, "--assay-run", "early", "--assay-report", "r.json")
    found.assert_outcomes(passed=1, failed=3, errors=1)
    run = the_run(project, "early")
    assert (run.rows, run.ended) == (2, "interrupted")
    (reason,) = run.incomplete
    assert "tests that failed before they were scored" in reason
    tests = ("test_fixture", "test_body", "test_without", "test_low", "test_scored")
    assert {name for name in tests if name in reason} == {"test_fixture", "test_body"}
    decision = check(Gate((GateRule("faithfulness", "at_least", 0.1),)), run)
    assert (decision.verdict, decision.exit_code) == ("INCONCLUSIVE", 6)
    assert json.loads((project.path / "r.json").read_text())["complete"] is False


@pytest.mark.long
def test_a_test_that_is_scored_at_its_second_try_is_scored(project: pytest.Pytester) -> None:
    """As by pytest-rerunfailures, which runs a test again and reports each try."""
    project.makeconftest(
        CONFTEST
        + """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(2):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
    )
    project.makepyfile(
        f"""
        tries = []

        def test_it(assert_scores):
            tries.append(1)
            assert len(tries) > 1
            assert_scores({GOOD}, faithfulness=1)
        """
    )
    process(project, "--assay-run", "again")
    assert the_run(project, "again").complete


@pytest.mark.parametrize("marked", ["@pytest.mark.assay", ""])
def test_a_session_that_scores_nothing_says_so_and_leaves_no_old_report(project: pytest.Pytester, marked: str) -> None:
    project.makepyfile(f"import pytest\n\n{marked}\ndef test_it(request):\n    pass")
    old = project.path / "report.json"
    old.write_text('{"metrics": {"faithfulness": {"mean": 1.0}}}')
    found = session(project, "--assay-report", "report.json")
    assert found.ret == 0
    found.stdout.fnmatch_lines(["no answer was scored, so there is no report *report.json"])
    assert not old.exists()


def test_a_session_that_is_killed_leaves_no_old_report(project: pytest.Pytester) -> None:
    project.makepyfile("import os\n\ndef test_it(assert_scores):\n    os.kill(os.getpid(), 9)")
    old = project.path / "report.json"
    old.write_text("{}")
    assert process(project, "--assay-report", "report.json").ret == -signal.SIGKILL
    assert not old.exists()


def test_collecting_tests_leaves_the_report(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(): pass")
    old = project.path / "report.json"
    old.write_text("{}")
    session(project, "--collect-only", "--assay-report", "report.json")
    assert old.read_text() == "{}"


def test_a_report_that_is_none_is_refused_at_once(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(): pass")
    found = session(project, "--assay-report", "report.docx")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(["*--assay-report: expected a file that ends in .html, *"])


def test_a_report_that_cannot_be_written_does_not_fail_the_tests(project: pytest.Pytester) -> None:
    project.makepyfile(f"def test_it(assert_scores):\n    assert_scores({GOOD}, faithfulness=1)")
    Path(project.path / "file").write_text("")
    found = session(project, "--assay-report", "file/report.json")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["assay: *Error: *"])

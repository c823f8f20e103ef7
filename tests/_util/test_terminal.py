"""What others wrote has no effect on the terminal that shows it: in no command, error, table or explanation."""

from __future__ import annotations

import ast
import io
import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import assay.cli
from assay._util.terminal import json_text, pluralize
from assay.cli.main import main
from assay.data import RowError
from assay.data import named_sources as named
from assay.errors import Cause, InputError, JudgeFailure, MissingExtra, Undelivered, printable
from assay.evaluation.display.notebook import as_html
from assay.evaluation.display.table import as_text
from assay.evaluation.result import Result
from assay.live.queue.sample_queue import SampleQueue
from assay.live.queue.status import ParkedScores, QueueReport
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, ScoreError, Span, Verdict
from assay.sinks.writing import Deliveries
from assay.store.store import Store
from tests._support.servers.openai_server import OpenAIServer, Say

#: Every control character of ASCII and Latin-1, what a terminal makes of some, and what reorders or hides text.
CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
HIDDEN = "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\U000e0041"
HOSTILE = f"start{CONTROLS}{HIDDEN}\x1b[2J\x1b]0;title\x07\x1b[32mgreen\r\n[red]<b>end"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def assert_harmless(text: str) -> None:
    assert OBEYED.findall(text) == []


# -- the function -----------------------------------------------------------------------------------------------------


@given(st.text(st.characters() | st.sampled_from(CONTROLS + HIDDEN)))
def test_nothing_stays_that_a_terminal_obeys(text: str) -> None:
    shown = printable(text)
    assert_harmless(shown)
    shown.encode()  # no half character, which cannot be printed
    assert printable(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]) | st.sampled_from("\t\n")))
def test_other_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.long
@given(st.recursive(st.text(st.characters() | st.sampled_from(CONTROLS + HIDDEN)) | st.integers(), st.lists))
def test_json_is_harmless_and_says_the_same(value: Any) -> None:
    for indent in (None, 2):
        text = json_text(value, indent)
        assert_harmless(text)
        text.encode()
        assert json.loads(text) == value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tab\tand\nline", "tab\tand\nline"),
        ("Windows\r\nline", "Windows\nline"),
        ("back\rto the start", "back\\x0dto the start"),
        ("\x1b[31mred\x9b0m", "\\x1b[31mred\\x9b0m"),
        ("user\u202enimda", "user\\u202enimda"),
        ("half \ud83d", "half \\ud83d"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("Ömer 🕌 漢字\u3000\xa0", "Ömer 🕌 漢字\u3000\xa0"),
        ("👩\u200d🔬 می\u200cخواهم \u200f", "👩\u200d🔬 می\u200cخواهم \u200f"),  # spelling, not steering
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    "error",
    [
        InputError(HOSTILE), MissingExtra(HOSTILE), Undelivered(HOSTILE, scores=["m"]),
        JudgeFailure(Cause.PARSE, HOSTILE),
    ],
)  # fmt: skip
def test_errors_are_harmless_wherever_they_are_printed(error: Exception) -> None:
    assert_harmless(str(error))
    assert_harmless(repr(error))
    assert "green" in str(error)


# -- a store whose every text is hostile ------------------------------------------------------------------------------


def hostile_row() -> ScoredSample:
    verdict = Verdict(
        label="contradicted",
        claim=Claim(text=HOSTILE, span=Span(0, len(HOSTILE))),
        probability=0.1,
        passage=0,
        evidence=(Evidence(passage=0, span=Span(0, len(HOSTILE)), text=HOSTILE),),
        reason=HOSTILE,
    )
    gap = ScoreError(cause=Cause.PARSE, message=HOSTILE, raw=HOSTILE)
    return ScoredSample(
        sample=Sample(
            id="a" + HOSTILE, question=HOSTILE, contexts=(Context(text=HOSTILE, id=HOSTILE),), answer=HOSTILE,
            reference=HOSTILE, ids={HOSTILE: HOSTILE}, metadata={HOSTILE: HOSTILE},
        ),
        scores={
            HOSTILE: Score(
                metric=HOSTILE, value=0.5, parts={HOSTILE: 1.0}, verdicts={"answer/contexts": (verdict,)},
                texts={HOSTILE: (HOSTILE,)}, judge=HOSTILE,
            ),
            "gap" + HOSTILE: Score(metric="gap" + HOSTILE, error=gap, judge=HOSTILE),
        },
    )  # fmt: skip


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Result]:
    """The last run of the store in `.assay`, of one row."""
    store = Store(tmp_path / ".assay")
    row = hostile_row()
    result = Result(run="nightly" + HOSTILE, store=store, judge=HOSTILE, stopped=HOSTILE)
    result.deliveries[HOSTILE] = Deliveries(undelivered=1, listed=[HOSTILE])
    result.add(row)
    store.put_run(result.run, result.info())
    store.put_row(result.run, 1, row)
    yield Result.load("last", store)
    store.close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Any]:
    """Run `assay ...` in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DEBUG", "0")

    def call(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", *args])
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0), *capsys.readouterr()

    return call


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_explain(
    stored: Result, run: Callable[..., Any], options: list[str], forced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if forced:
        monkeypatch.setenv("FORCE_COLOR", "1")
    code, out, err = run("show", "last", "1", *options)
    assert code == 0, err
    assert ("\x1b[" in out) == (forced and not options)  # colours of our own, none of theirs
    assert_harmless(COLOUR.sub("", out) + err)
    assert "\\x1b[32m" in out.replace("\\u001b", "\\x1b")
    assert out.count("green") >= 5
    if options:
        assert ScoredSample.from_dict(json.loads(out)) == stored.row(1)


@pytest.mark.parametrize("args", [("show", "last", "7" + HOSTILE.replace("\0", "")),
                                  ("show", "other", "1"), ("show", "last", "1", "--metric", "none")])  # fmt: skip
def test_errors_that_list_what_there_is(stored: Result, run: Callable[..., Any], args: tuple[str, ...]) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert_harmless(err)
    assert len(err.splitlines()) == 1


def test_score(run: Callable[..., Any], tmp_path: Path) -> None:
    """Rows and an endpoint that are both hostile."""
    row = {"id": HOSTILE, "question": HOSTILE, "contexts": [HOSTILE], "answer": HOSTILE}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n{" + CONTROLS)

    def refuse(_: Any) -> Say:
        return Say(status=400, body={"error": {"message": HOSTILE}})

    with OpenAIServer(plan=refuse) as server:
        options = ("--metrics", "faithfulness", "--judge", "openai:fake", "--base-url", server.base_url)
        code, out, err = run("score", "rows.jsonl", *options)
    assert code == 1, err
    assert_harmless(out + err)
    code, out, err = run("show", "last", "1")
    assert_harmless(out + err)
    assert "not scored" in out


def test_doctor(run: Callable[..., Any]) -> None:
    def refuse(_: Any) -> Say:
        return Say(status=403, body={"error": {"message": HOSTILE}})

    with OpenAIServer(plan=refuse) as server:
        code, out, err = run("judge", "check", "--judge", "openai:fake", "--base-url", server.base_url)
    assert code == 3
    assert_harmless(out + err)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_worker(run: Callable[..., Any], options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SampleQueue(tmp_path / "queue").close(10)
    parked = QueueReport(
        parked=1, parked_samples=(ParkedScores(key=HOSTILE, tries=3, error=HOSTILE),), causes={HOSTILE: 1},
        dropped={HOSTILE: 1},
    )  # fmt: skip
    monkeypatch.setattr("assay.live.queue.status.report_of", lambda _: parked)
    code, out, err = run("live", "worker", "queue", "--status", *options)
    assert code == 0, err
    assert_harmless(out + err)
    assert out.count("green") >= 2


def open_hostile(address: str, **_: Any) -> Iterator[Sample | RowError]:
    """A source with a row that cannot be read, and one that breaks off."""
    yield RowError(number=1, id=HOSTILE, message=HOSTILE)
    if address == "broken":
        raise ConnectionError(HOSTILE)


@pytest.mark.parametrize(("address", "expected"), [("sound", 0), ("broken", 2)])
def test_ingest(run: Callable[..., Any], address: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("hostile", "tests._util.test_terminal:open_hostile", named.GROUP)
    monkeypatch.setattr(named, "entry_points", lambda group: [point])
    code, out, err = run("data", "import", f"hostile:{address}", "queue")
    assert code == expected
    assert_harmless(out + err)
    assert "green" in err


def test_no_command_prints_by_itself() -> None:
    """All of them print by way of `assay.cli.output`."""
    for path in Path(assay.cli.__file__).parent.glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        found = [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
        assert found == [] or path.name == "output.py", (path.name, found)


# -- tables and explanations that programs print ----------------------------------------------------------------------


def test_what_programs_print(stored: Result) -> None:
    explanation = stored.explain(1)
    for text in (str(stored), as_text(stored), str(explanation), explanation.text(80), str(stored.errors[0])):
        assert_harmless(text)
        assert "green" in text.replace("\n", "")  # lines are broken anywhere
    for text in (repr(stored.errors), stored.errors._repr_html_()):  # short: most is cut
        assert_harmless(text)
    for html in (as_html(stored), stored._repr_html_(), explanation._repr_html_()):
        assert_harmless(html)
        assert "<b>" not in html
        assert "&lt;b&gt;" in html


def test_colours_are_ours_alone(stored: Result) -> None:
    """On a terminal with colours, hostile texts are written with the same codes as harmless ones."""
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=200, legacy_windows=False).print(
        stored.explain(1).rich()
    )
    coloured = out.getvalue()
    assert "\x1b[1mquestion: \x1b[0m" in coloured
    assert_harmless(COLOUR.sub("", coloured))
    assert not {"\x1b[32m", "\x1b[2J"} & set(COLOUR.findall(coloured))  # green is for what is supported


@pytest.mark.parametrize(
    ("count", "what", "said"),
    [(0, "row", "0 rows"), (1, "row", "1 row"), (12_000, "row", "12,000 rows"), (1, "prompt", "1 prompt"),
     (2, "prompt", "2 prompts"), (3, "failed row", "3 failed rows")],
)  # fmt: skip
def test_what_is_counted_has_its_plural(count: int, what: str, said: str) -> None:
    assert pluralize(count, what) == said


def test_an_error_quotes_no_more_of_a_value_than_one_reads() -> None:
    error = InputError(f"question: expected a text, got {' ' * 100_000!r}; name another")
    assert len(str(error)) == 4_003  # the first and the last 2,000 characters, and what stands between
    assert str(error).startswith("question: expected a text, got ' ")
    assert str(error).endswith(" '; name another")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(InputError("x" * 4_000)) == "x" * 4_000

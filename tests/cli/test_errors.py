"""`assay errors`: rows without a score on one screen, grouped by cause, and the rows of a cause."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from assay import Result
from assay.cli.error_remedies import REMEDIES
from assay.errors import Cause
from assay.evaluation.error_groups import error_groups, rows_in, unscored_rows
from assay.evaluation.result import MetricError
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.store.store import Store

Run = Callable[..., tuple[int, str, str]]

LONG = "multimodal:deepeval_faithfulness"
METRICS = (LONG, "answer_correctness", "faithfulness")
HOSTILE = "the reply \x1b[31mred\x1b[0m\nsecond [bold]line[/bold] \u202eturned <script>alert(1)</script>"


def error(metric: str, cause: Cause, message: str) -> Score:
    return Score(metric=metric, error=ScoreError(cause=cause, message=message))


def make_run(folder: Path, rows: Iterable[dict[str, Score]], name: str = "one") -> None:
    store = Store(folder / ".assay")
    result = Result(run=name, store=store, judge="scripted")
    store.create_run(name, result.info())
    for number, scores in enumerate(rows, 1):
        scored = ScoredSample(sample=Sample(id=f"r{number}", answer="It is red."), scores=scores)
        result.add(scored)
        store.put_row(name, number, scored)
    store.put_run(name, result.info())


def missing(field: str) -> dict[str, Score]:
    """A row that lacks one input of three metrics."""
    return {name: error(name, Cause.MISSING_INPUT, f"{name} needs {field!r}, which is missing") for name in METRICS}


def fine() -> dict[str, Score]:
    return {name: Score(metric=name, value=1.0) for name in METRICS}


@pytest.fixture
def assay(command_line: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The command line in so many columns; gives the lines on the screen: of stdout, then of stderr."""

    def run(*args: str, columns: int = 80) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, err = command_line(*args)
        assert code == 0, err
        return (out + err).splitlines()

    return run


Lines = Callable[..., list[str]]


def test_a_row_that_lacks_one_input_of_three_metrics_is_one_row(assay: Lines, tmp_path: Path) -> None:
    make_run(tmp_path, [missing("reference"), fine(), missing("reference"), missing("contexts")])
    lines = assay("errors", "one", columns=110)
    assert lines[0] == "rows that lack a score: 3 of 4 (9 scores)"
    assert f"2 rows, missing_input: {', '.join(METRICS)} (rows 1, 3)" in lines
    assert f"1 row, missing_input: {', '.join(METRICS)} (row 4)" in lines
    assert lines.count("    needs 'reference', which is missing") == 1
    assert "    → add the field to the data, or name its column: --map reference=COLUMN" in lines
    assert lines[-1] == "the rows of a cause: assay errors one --cause missing_input"


def test_json_and_csv_have_every_score(assay: Lines, tmp_path: Path, command_line: Run) -> None:
    make_run(tmp_path, [missing("reference"), fine(), missing("reference")])
    found = json.loads(command_line("errors", "one", "--json")[1])
    assert [(one["number"], one["metric"]) for one in found] == [(n, name) for n in (1, 3) for name in METRICS]
    assert found[0]["message"] == f"{LONG} needs 'reference', which is missing"
    assert len(list(csv.DictReader(io.StringIO(command_line("errors", "one", "--csv")[1])))) == 6


def test_the_rows_of_a_cause_are_paged(assay: Lines, tmp_path: Path, command_line: Run) -> None:
    make_run(tmp_path, [missing("reference")] * 139 + [fine()])
    lines = assay("errors", "one", "--cause", "missing_input", columns=110)
    assert [line for line in lines if line.startswith("row ")] == [
        f"row {n} (r{n}): {', '.join(METRICS)}" for n in range(1, 21)
    ]
    assert "20 of 139 shown; all: -n 139" in lines
    assert "139 of 139 shown" in assay("errors", "one", "--cause", "missing_input", "-n", "500")
    assert len(json.loads(command_line("errors", "one", "--cause", "missing_input", "--json")[1])) == 3 * 139


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--cause", "parse"), "--cause: no row of run one has the cause 'parse'; the run has missing_input"),
        (("--cause", "missing_input", "-n", "0"), "-n: expected at least 1, got 0"),
        (("-n", "5"), "-n: goes with --cause CAUSE"),
    ],
)
def test_wrong_options(command_line: Run, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    make_run(tmp_path, [missing("reference")])
    code, _, err = command_line("errors", "one", *arguments)
    assert (code, says in err) == (2, True), err


def test_a_run_without_errors_and_one_without_rows(assay: Lines, tmp_path: Path) -> None:
    make_run(tmp_path, [fine()])
    make_run(tmp_path, [], "none")
    assert assay("errors", "one") == ["every score of run one has a value"]
    assert assay("errors", "none") == ["every score of run none has a value"]


def forty_kinds(count: int) -> list[dict[str, Score]]:
    """20 causes with two messages each; the numbers in them differ from row to row."""
    causes = [cause for cause in Cause if cause is not Cause.LOST][:20]
    texts = ["request {n} of the endpoint http://127.0.0.1:{n}/v1 was refused", "it took {n}.5 s " + "and more " * 30]
    return [
        {name: error(name, causes[n % 20], texts[n // 20 % 2].format(n=n)) for name in METRICS} for n in range(count)
    ]


def test_ten_thousand_rows_of_forty_kinds_are_forty_groups() -> None:
    groups = error_groups(unscored_rows(_errors(forty_kinds(10_000))))
    assert [(one.rows, one.scores) for one in groups] == [(250, 750)] * 40  # 10,000 rows / 40 kinds, three metrics
    assert groups[0].first == [1, 41, 81, 121, 161]


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_forty_kinds_are_one_screen(assay: Lines, tmp_path: Path, columns: int) -> None:
    make_run(tmp_path, forty_kinds(400))
    lines = assay("errors", "one", columns=columns)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= columns
    assert any(line.startswith("and ") and "more groups: " in line for line in lines)
    assert lines[0] == "rows that lack a score: 400 of 400 (1,200 scores)"


def _errors(rows: Iterable[dict[str, Score]]) -> list[MetricError]:
    return [
        MetricError(number, None, name, score.error.cause.value, score.error.message, None)
        for number, scores in enumerate(rows, 1)
        for name, score in scores.items()
        if score.error is not None
    ]


def test_rows_that_lack_several_things_count_once() -> None:
    both = {**missing("reference"), "own": error("own", Cause.BUG, "ValueError: 3")}
    rows = unscored_rows(_errors([both, missing("reference")]))
    assert [(one.number, one.cause, len(one.metrics)) for one in rows] == [
        (1, "missing_input", 3), (1, "bug", 1), (2, "missing_input", 3),
    ]  # fmt: skip
    assert rows_in(rows) == 2
    assert [(one.cause, one.rows, one.scores) for one in error_groups(rows)] == [("missing_input", 2, 6), ("bug", 1, 1)]


def test_lost_rows_without_a_number_are_told_apart() -> None:
    lost = [MetricError(None, None, name, "lost", "gone", None) for _ in range(4) for name in METRICS]
    rows = unscored_rows(lost)
    assert [one.metrics for one in rows] == [METRICS] * 4
    assert rows_in(rows) == 4


def test_the_name_of_a_metric_is_no_part_of_its_message() -> None:
    texts = {
        "faithfulness": "a passage has a picture, which faithfulness does not look at",
        "grounded": "a passage has a picture, which grounded does not look at",
    }
    (row,) = unscored_rows([MetricError(1, None, name, "needs_vision", text, None) for name, text in texts.items()])
    assert row.message == "a passage has a picture, which the metric does not look at"
    (one, other) = unscored_rows([MetricError(n, None, "a", "bug", "a and b", None) for n in (1, 2)])
    assert one.message == other.message == "and b"


def test_hostile_texts_have_no_effect(assay: Lines, tmp_path: Path) -> None:
    rows = [{"\x1b[2Jm": error("\x1b[2Jm", Cause.BUG, HOSTILE)}, {"m": error("m", Cause.BUG, "x" * 4_000)}]
    make_run(tmp_path, rows)
    for arguments in ((), ("--cause", "bug")):
        lines = assay("errors", "one", *arguments)
        text = "\n".join(lines)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "[bold]line[/bold]" in " ".join(text.split())  # nothing is markup
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80


def test_wide_characters_are_measured(assay: Lines, tmp_path: Path) -> None:
    """160 columns of Chinese are three lines of 76, not two."""
    make_run(tmp_path, [{"m": error("m", Cause.BUG, "错误" * 40)}])
    lines = [line for line in assay("errors", "one", "--cause", "bug") if "错" in line]
    assert [2 * len(line.strip()) for line in lines] == [76, 76, 8]


@pytest.mark.parametrize("columns", [60, 80])
def test_names_are_never_broken(assay: Lines, tmp_path: Path, columns: int) -> None:
    rows = [{name: error(name, cause, f"{name} needs --embedding-model or --batched-questions, see 'reference'")
             for name in METRICS} for cause in (Cause.PROMPT_TRUNCATED, Cause.CONTENT_FILTER)]  # fmt: skip
    make_run(tmp_path, [*rows, fine(), {name: Score(metric=name, value=0.1) for name in METRICS}])
    words = (*METRICS, "prompt_truncated", "content_filter", "--embedding-model", "--batched-questions")
    commands = [
        ("errors", "one"), ("errors", "one", "--cause", "prompt_truncated"), ("failures", "one"), ("show", "one"),
        ("show", "one", "--slice", "language"), ("worst", LONG, "one"),
        ("failures", "one", "--below", f"{LONG}=0.5", "--below", "answer_correctness=0.5"),
    ]  # fmt: skip
    for command in commands:
        lines = assay(*command, columns=columns)
        assert max(map(len, lines)) <= max(columns, 80), command
        broken = [line for line in lines for word in words if _has_part(line, word)]
        assert broken == [], command
    assert any(LONG in line for line in assay("show", "one", columns=columns))


def _has_part(line: str, word: str) -> bool:
    """Whether a line has a piece of a word, at least half of it, and not the word."""
    pieces = (word[n : n + len(word) // 2 + 1] for n in (0, len(word) - len(word) // 2 - 1))
    rest = re.sub(r"\S*(faithfulness|answer_correctness|prompt_truncated|content_filter)\b", " ", line)
    return any(piece in rest.replace(word, "") for piece in pieces)


def test_every_cause_has_a_remedy() -> None:
    assert set(REMEDIES) == set(Cause)
    assert max(map(len, REMEDIES.values())) <= 100

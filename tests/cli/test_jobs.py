"""The command line's jobs: runs, worst rows, failures, groups, JSON and CSV, at the width of the terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import assay as package
from assay.cli.error_terms import for_the_command_line
from assay.cli.main import with_stdout
from assay.evaluation import evaluate as evaluation
from assay.evaluation.answerability import REPLIES
from assay.evaluation.display.overview_table import SHARE_HEAD
from assay.evaluation.display.table import _HEAD
from tests.cli.test_cli import ROWS

Run = Callable[..., tuple[int, str, str]]
LONG_ROW = {
    "id": "a-rather-long-identifier-of-a-row-0123456789-0123456789-0123456789-0123456789-0123456789",
    "question": "When was the first Super Bowl? " * 6,
    "contexts": ["The first Super Bowl was played on January 15, 1967, at the Los Angeles Memorial Coliseum."],
    "answer": "The opening game took place in Chicago, " + "and-so-on-" * 20 + " in 1982.",
}


@pytest.fixture
def assay(command_line: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "80")
    return command_line


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [{**ROWS[0], "topic": "date"}, {**ROWS[1], "topic": "place"}, {"id": "c", "question": "Q?", "topic": "date"}]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


@pytest.fixture
def scored(assay: Run, data: str) -> Run:
    code, _, err = assay("score", data, "--metrics", "faithfulness", "--name", "nightly", "--note", "a first look")
    assert code == 0, err
    return assay


def test_runs_are_listed_with_name_data_note_and_means(scored: Run, data: str) -> None:
    scored("score", data, "--metrics", "context_utilization", "--limit", "2")
    code, out, _ = scored("runs")
    assert code == 0
    first, second = re.split(r"\n(?=\S)", out.strip())
    assert "2 rows" in first
    assert "context_utilization ↑" in first
    assert second.startswith("nightly")
    flat = " ".join(second.split())
    assert "3 rows · " in flat
    assert "1 skipped or failed" in flat
    assert "faithfulness ↑ 0.500 (0.00 to 1.00, 2/3)" in flat
    assert "note: a first look" in flat
    code, out, _ = scored("runs", "--json")
    found = json.loads(out)
    assert [one["run"] for one in found][1] == "nightly"
    assert found[1]["metrics"]["faithfulness"]["mean"] == 0.5
    assert found[1]["data"] == data
    assert len(json.loads(scored("runs", "-n", "1", "--json")[1])) == 1
    assert scored("runs", "-n", "0")[0] == 2


def test_a_run_is_shown_again_with_groups(scored: Run) -> None:
    code, out, _ = scored("show", "nightly", "--slice", "topic")
    assert code == 0
    assert "faithfulness ↑" in out
    assert re.search(r"date +faithfulness ↑ +1\.000 +0\.00 to 1\.00 +1/2", out)
    assert re.search(r"place +faithfulness ↑ +0\.000 +0\.00 to 1\.00 +1/1", out)
    found = json.loads(scored("show", "nightly", "--slice", "topic", "--json")[1])
    assert found["by"]["topic"]["place"]["faithfulness"]["mean"] == 0.0
    code, _, err = scored("show", "nightly", "--slice", "tpoic")
    assert (code, "no row has the column 'tpoic'" in err) == (2, True)


def test_a_column_that_no_row_has_costs_nothing_but_its_table(assay: Run, data: str) -> None:
    code, out, err = assay("score", data, "--metrics", "faithfulness", "--slice", "tpoic", "--csv", "out.csv")
    assert (code, "no row has the column 'tpoic'" in err) == (2, True)
    assert re.search(r"faithfulness ↑ +0\.500 +2/3", out)
    assert len(Path("out.csv").read_text().splitlines()) == 4  # a header and three rows
    code, out, _ = assay("show", "--slice", "tpoic", "--json")
    assert (code, json.loads(out)["rows"]) == (2, 3)


@pytest.mark.parametrize("option", ["--out", "--csv"])
def test_a_folder_that_is_not_there_is_told_before_anything_is_scored(assay: Run, data: str, option: str) -> None:
    code, _, err = assay("score", data, "--metrics", "faithfulness", option, "nowhere/rows.csv")
    assert code == 2
    assert f"{option}: there is no folder 'nowhere' to write 'rows.csv' into" in err
    assert not Path(".assay").exists()


@pytest.mark.parametrize("seconds", ["nan", "0", "-1"])
def test_a_deadline_that_is_none_is_told_before_anything_is_scored(assay: Run, data: str, seconds: str) -> None:
    code, _, err = assay("score", data, "--metrics", "faithfulness", f"--deadline={seconds}")
    assert (code, "deadline: expected a positive number of seconds" in err) == (2, True)


def test_names_and_notes_with_half_an_emoji_are_kept(assay: Run, data: str) -> None:
    code, _, err = assay("score", data, "--metrics", "faithfulness", "--name", "run \ud83d", "--note", "half \ud83d")
    assert code == 0, err
    assert "run \ufffd" in assay("runs")[1]
    assert "half \ufffd" in assay("show", "run \ud83d")[1]


@pytest.mark.parametrize(
    ("options", "again"), [((), "command to go on"), (("--name", "n"), "command with --replace to")]
)
def test_an_interrupted_run_says_how_to_go_on(
    assay: Run, data: str, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], again: str
) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        result = package.Result.load("last")
        raise evaluation.EvaluationInterrupted(result)

    assay("score", data, "--metrics", "faithfulness")
    monkeypatch.setattr(evaluation, "evaluate", interrupted)
    code, _, err = assay("score", data, "--metrics", "faithfulness", *options)
    assert (code, again in err) == (130, True)


def test_worst_shows_rows_with_their_reasons(scored: Run) -> None:
    code, out, _ = scored("worst", "faithfulness", "-n", "1")
    assert code == 0
    assert out.startswith("row 2 (id b)")
    assert "of its words are in the passages" in " ".join(out.split())
    assert "row 1" not in out
    found = json.loads(scored("worst", "faithfulness", "nightly", "-n", "5", "--json")[1])
    assert [one["row"] for one in found] == [2, 1]
    rows = list(csv.DictReader(io.StringIO(scored("worst", "faithfulness", "--csv")[1])))
    assert [(one["row"], one["faithfulness"]) for one in rows] == [("2", "0.0"), ("1", "1.0")]
    code, _, err = scored("worst", "nope")
    assert (code, "it has faithfulness" in err) == (2, True)


def test_failures_say_which_rows_and_why(scored: Run) -> None:
    code, out, _ = scored("errors")
    assert code == 0
    assert "1 row, missing_input: faithfulness (row 3)" in out
    assert "row 3 (c): faithfulness" in scored("errors", "--cause", "missing_input")[1]
    (found,) = json.loads(scored("errors", "nightly", "--json")[1])
    assert (found["number"], found["id"], found["cause"]) == (3, "c", "missing_input")
    (row,) = csv.DictReader(io.StringIO(scored("errors", "--csv")[1]))
    assert (row["number"], row["cause"]) == ("3", "missing_input")


def test_a_name_used_twice_says_the_way_out_of_this_door(scored: Run, data: str, tmp_path: Path) -> None:
    code, _, err = scored("score", data, "--metrics", "faithfulness", "--name", "nightly")
    assert code == 2
    assert "'nightly'" in err
    assert "--replace" in err
    assert len(err.strip().splitlines()) == 1
    code, _, _ = scored("score", data, "--metrics", "faithfulness", "--name", "nightly", "--replace", "--limit", "1")
    assert code == 0
    assert json.loads(scored("runs", "--json")[1])[0]["rows"] == 1


def test_json_and_csv_are_alone_on_stdout(assay: Run, data: str, tmp_path: Path) -> None:
    code, out, _ = assay("score", data, "--metrics", "faithfulness", "--json", "--slice", "topic")
    found = json.loads(out)
    assert (code, found["rows"], found["metrics"]["faithfulness"]["scored"]) == (0, 3, 2)
    assert found["by"]["topic"]["date"]["faithfulness"]["total"] == 2
    _, out, err = assay("score", data, "--metrics", "faithfulness", "--csv")
    assert [row["id"] for row in csv.DictReader(io.StringIO(out))] == ["a", "b", "c"]
    assert "faithfulness ↑" in err  # the table, beside
    _, out, err = assay("score", data, "--metrics", "faithfulness", "--csv", "out.csv")
    assert "faithfulness ↑" in out
    assert "rows as CSV: out.csv" in err
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("score", "{data}", "--csv", "--json"), "only one of them can go to stdout"),
        (("score", "--csv", "{data}", "{data}"), "a file that ends in .csv"),
        (("score", "{data}", "--out", "{data}"), "is read as data"),
        (("score", "*.jsonl", "--out", "{data}"), "is read as data"),
        (("score", "{data}", "--map", "question=a", "--map", "question=b"), "--map: 'question' is one text"),
        (("score", "{data}", "--metrics", "context_recall"), "not recognised: 'topic'. Use --map FIELD=COLUMN to name"),
        (("score", "{data}", "gone.jsonl"), "there is no file 'gone.jsonl'"),
        (("score", "{data}", "otel:x.jsonl"), "is a source of traces"),
        (("worst", "faithfulness", "-n", "0"), "-n: expected at least 1"),
        (("show", "--store", "nowhere"), "there is none in 'nowhere'"),
        (("errors", "--store", "nowhere"), "there is none in 'nowhere'"),
    ],
)
def test_wrong_uses_are_one_line(assay: Run, data: str, args: tuple[str, ...], says: str) -> None:
    before = Path(data).read_text()
    code, out, err = assay(*(arg.format(data=data) for arg in args))
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert Path(data).read_text() == before
    assert not Path("nowhere").exists()  # looking makes no store


def test_a_csv_without_a_file_goes_to_stdout() -> None:
    assert with_stdout(["a", "--csv"]) == ["a", "--csv", "-"]
    assert with_stdout(["--csv", "--json", "a"]) == ["--csv", "-", "--json", "a"]
    assert with_stdout(["--csv", "-", "a"]) == ["--csv", "-", "a"]
    assert with_stdout(["--csv", "x.csv"]) == ["--csv", "x.csv"]


def test_errors_speak_the_words_of_the_command_line() -> None:
    said = for_the_command_line('no key: pass api_key=... or set X; column_map={"question": "a b"}; base_url=')
    assert said == (
        "no key: name the variable that holds it with --api-key-env or set X; --map 'question=a b'; --base-url"
    )


def test_failures_name_the_ways_out_that_this_door_has(assay: Run, tmp_path: Path) -> None:
    said = "Most został rozebrany, ponieważ skała pod nim była powoli zmywana przez wodę rzeki."
    row = {"question": "Dlaczego most został rozebrany?", "contexts": [said], "answer": said}
    (tmp_path / "polish.jsonl").write_text(json.dumps(row))
    assay("score", str(tmp_path / "polish.jsonl"), "--metrics", "faithfulness")
    told = " ".join(assay("errors")[1].split())
    assert "in 'pl', as it seems: answer and contexts;" in told
    assert "or --language en" in told
    assert "evaluate(" not in told


def test_the_version(assay: Run) -> None:
    assert assay("--version") == (0, f"assay {package.__version__}\n", "")
    done = subprocess.run([sys.executable, "-m", "assay", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"assay {package.__version__}\n"


def test_completion_is_offered(assay: Run) -> None:
    _, out, _ = assay("--help")
    assert "--install-completion" in out
    done = subprocess.run(
        [sys.executable, "-m", "assay", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        # where no shell is above this process, typer finds none out
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )
    assert "complete" in done.stdout


def test_explain_is_short_without_a_metric_and_full_on_demand(assay: Run, tmp_path: Path) -> None:
    """Six false claims in a row: two are shown, and that four more were left out."""
    places = ("Paris", "London", "Madrid", "Berlin", "Vienna", "Lisbon")
    answer = " ".join(f"The game was played in the old town of {place} last year." for place in places)
    (tmp_path / "long.jsonl").write_text(json.dumps({**ROWS[0], "answer": answer}))
    assay("score", "long.jsonl", "--metrics", "faithfulness")
    _, short, aside = assay("show", "last", "1")
    assert "--full" in aside
    assert "Madrid" not in short.partition("faithfulness")[2]
    assert re.search(r"and 4 more (contradicted|not_mentioned)|and \d more", short)
    for args in (("--full",), ("--metric", "faithfulness")):
        _, full, _ = assay("show", "last", "1", *args)
        assert all(full.count(place) >= 2 for place in places)


# -- width and colour -------------------------------------------------------------------------------------------------

WORDS = {word for title in (*_HEAD, *SHARE_HEAD, "question", *REPLIES) for word in title.split()}


@pytest.mark.short_cases(6)
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "args",
    [("score", "{data}"), ("runs",), ("worst", "faithfulness"), ("errors",), ("show", "last", "1"),
     ("show", "--slice", "topic"), ("judge", "check"), ("metrics",)],
)  # fmt: skip
def test_no_line_is_longer_than_the_terminal(
    assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], columns: int
) -> None:
    rows = [{**LONG_ROW, "topic": "x" * 90}, {"id": "gap", "question": "Q?"}, *ROWS]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setenv("COLUMNS", str(columns))
    if args[0] not in ("score", "judge", "metrics"):
        assay("score", "data.jsonl", "--metrics", "faithfulness,context_utilization", "--note", "a word " * 30)
    _, out, _ = assay(*(arg.format(data="data.jsonl") for arg in args))
    assert out
    assert max(map(len, out.splitlines())) <= columns
    if args[0] == "score":
        heads = [part.rpartition("\n\n")[2] for part in re.split("─+", out)[:-1]]
        words = {word for head in heads for word in head.split()}
        assert heads
        assert words <= WORDS, words  # each word of a header whole


@pytest.mark.long
@pytest.mark.parametrize("columns", [80, 120])
def test_the_demo_fits_the_terminal(assay: Run, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = assay("demo")
    assert max(map(len, out.splitlines())) <= columns
    assert set(out.partition("──")[0].split()) <= WORDS


@pytest.mark.short_cases(2)
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_colours_where_they_are_asked_for(
    scored: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for args in (("show", "last", "1"), ("runs",), ("show",), ("worst", "faithfulness"), ("judge", "check")):
        assert ("\x1b[" in scored(*args)[1]) is coloured, args


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_a_terminal_has_colours_and_a_bar_that_goes(data: str, tmp_path: Path) -> None:
    """In a real terminal of 80 columns."""
    import pty

    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "80"}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "assay", "score", data, "--metrics", "faithfulness", "--store", str(tmp_path)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait(60) == 0
    text = seen.decode()
    assert "\x1b[1m" in text
    assert re.search(r"\d/3 · ", text)
    assert "1661" not in text


@pytest.mark.long
def test_a_reader_that_goes_away_is_no_message() -> None:
    """`assay metrics | head -1`."""
    command = [sys.executable, "-m", "assay", "metrics"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate()
    assert (process.returncode, err) == (1, b"")


@pytest.mark.long
def test_piped_there_is_neither_colour_nor_a_bar(data: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "assay", "score", "-", "--metrics", "faithfulness", "--store", str(tmp_path)]
    with open(data, "rb") as stdin:
        done = subprocess.run(command, stdin=stdin, capture_output=True, env=environment, check=True)
    assert b"\x1b" not in done.stdout + done.stderr
    (line,) = done.stderr.decode().splitlines()  # and nothing else is told aside
    assert line.startswith("why 1 score has no value: assay errors ")
    assert "faithfulness ↑ 0.500 2/3" in " ".join(done.stdout.decode().split())


def test_the_way_out_of_the_embedded_judge_is_an_option_here() -> None:
    said = for_the_command_line("name judge='openai:MODEL' (any OpenAI-compatible base_url), or leave it out")
    assert said == "name --judge openai:MODEL (any OpenAI-compatible --base-url), or leave it out"


def test_an_error_in_a_file_speaks_of_its_keys() -> None:
    message = "my folder/assay.toml: [judge] asking line 3: there is no such key; there are name, base_url, api_key_env"
    assert for_the_command_line(message) == message
    assert for_the_command_line("for another endpoint pass base_url=...") == "for another endpoint pass --base-url"

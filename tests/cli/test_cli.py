"""The command line: output, exit codes, errors in one line."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from assay.cli.option_groups import grouped
from assay.cli.options import named_again
from assay.cli.worker import BudgetOptions
from assay.errors import InputError
from assay.judges.budget.budget import Budget, Prices
from tests._support.servers.openai_server import OpenAIServer

ROWS = [
    {"id": "a", "question": "When was the first Super Bowl?",
     "contexts": ["The first Super Bowl was played on January 15, 1967, at the Los Angeles Memorial Coliseum."],
     "answer": "The first Super Bowl was played on January 15, 1967."},
    {"id": "b", "question": "When was the first Super Bowl?",
     "contexts": ["The first Super Bowl was played on January 15, 1967, at the Los Angeles Memorial Coliseum."],
     "answer": "The opening game took place in Chicago during March 1982, and Denver won 31 to 20."},
]  # fmt: skip


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (".assay", ""),
        ("my runs", " --store 'my runs'"),
        ("postgresql://me:s3cr:t@box:5433/db?schema=team", " --store 'postgresql://me@box:5433/db?schema=team'"),
        ("postgresql://box/db", " --store postgresql://box/db"),
    ],
)
def test_a_command_that_is_told_names_the_store_and_no_password(store: str, said: str) -> None:
    assert named_again(Path(store)) == said  # a path, as the command line makes of it


@pytest.fixture
def assay(command_line):
    return command_line


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return str(path)


def test_score_prints_the_table_and_writes_the_evidence(assay, data, tmp_path):
    code, out, err = assay("score", data, "--metrics", "faithfulness,context_utilization", "--out", "scores.jsonl")
    assert code == 0, err
    assert "faithfulness ↑" in out
    assert "2/2" in out
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert lines[0]["scores"]["faithfulness"]["value"] == 1.0
    assert lines[1]["scores"]["faithfulness"]["value"] == 0.0


def test_a_table_with_gaps_names_the_command_that_explains_them(assay, tmp_path):
    (tmp_path / "gaps.jsonl").write_text(json.dumps(ROWS[0]) + "\n{cut\n")
    score = ("score", "gaps.jsonl", "--metrics", "faithfulness", "--name", "my run")
    _, _, err = assay(*score)
    assert "why 1 score has no value: assay errors 'my run'\n" in err
    assert "line 2 is no JSON" in assay("errors", "my run")[1]
    _, _, err = assay(*score, "--store", "else where")
    assert "assay errors 'my run' --store 'else where'\n" in err
    _, _, err = assay(*score, "--replace", "--json")
    assert "assay errors" not in err


def test_a_table_without_gaps_names_no_command(assay, data):
    assert assay("score", data, "--metrics", "faithfulness")[2] == ""


def test_a_column_that_could_be_the_answer_too_is_named_below_the_table(assay, tmp_path):
    """Many data sets keep the gold text as `answer` beside the `response` of a system."""
    row = {**ROWS[0], "response": "Nobody knows."}
    (tmp_path / "two.jsonl").write_text(json.dumps(row))
    score = ("score", "two.jsonl", "--metrics", "faithfulness")
    said = "note: the column 'answer' was read as the answer, and 'response' could be it too;"
    assert said in " ".join(assay(*score)[1].split())
    assert "could be it too" not in assay(*score, "--map", "answer=response")[1]


def test_explain_shows_what_decided(assay, data):
    assay("score", data, "--metrics", "faithfulness")
    code, out, _ = assay("show", "last", "b")
    assert code == 0
    assert "of its words are in the passages" in out
    assert "1982" in out
    code, out, _ = assay("show", "last", "1", "--json")
    assert json.loads(out)["sample"]["id"] == "a"


def test_metrics_lists_inputs_range_direction_and_judges(assay):
    code, out, _ = assay("metrics")
    assert code == 0
    line = next(line for line in out.splitlines() if line.strip().startswith("hallucination "))
    assert "answer, contexts" in line
    assert "0 to 1 ↓" in line
    assert "embedded, LLM" in line
    (contradicted,) = [line for line in out.splitlines() if "hallucination_contradicted" in line]
    assert "embedded, LLM" in contradicted  # the embedded judge tells contradictions from gaps


def facts(out):
    """What stands in the lines below the text about a metric: title -> what is said."""
    lines = out.rstrip().rpartition("\n\n")[2].splitlines()
    return {line[:16].strip(): line[16:] for line in lines}


def test_metrics_tells_all_about_one(assay):
    code, out, _ = assay("metrics", "ragas:topic_adherence")
    assert code == 0
    assert "f1 = 2pr / (p + r)" in out  # the formula
    said = facts(out)
    assert said["needs"] == "messages, reference_topics (a column)"
    assert said["value"] == "0 to 1, higher is better"
    assert said["judges"] == "LLM"
    assert said["parameters"] == "mode='f1'"
    assert said["original name"] == "ragas.metrics.collections.TopicAdherence"
    assert said["formula in"] == "assay.metrics.ragas.topic_adherence"


def test_a_column_that_a_parameter_gives_is_not_needed(assay):
    assert facts(assay("metrics", "ragas:aspect_critic")[1])["needs"] == "answer, definition (a column)"
    assert facts(assay("metrics", "ragas:harmfulness")[1])["needs"] == "answer"


def test_columns_that_may_be_there_are_told(assay):
    said = facts(assay("metrics", "ragchecker:precision")[1])
    assert said["may read"] == "answer2response (a column), response_claims (a column)"


def test_own_metrics_have_no_line_about_another_system(assay):
    said = facts(assay("metrics", "faithfulness")[1])
    assert said["needs"] == "answer, contexts"
    assert "original name" not in said


def test_about_one_metric_or_one_system(assay):
    code, _, err = assay("metrics", "ragas:faithfulness", "--system", "ragas")
    assert code == 2
    assert "not both" in err
    code, _, err = assay("metrics", "faithfullness")
    assert code == 2
    assert "faithfulness" in err


def test_doctor_finds_the_embedded_judge_intact(assay):
    code, out, _ = assay("judge", "check")
    assert code == 0
    assert f"ok   assay-rag: {version('assay-rag')}" in out
    assert "ok   embedded judge" in out
    assert "ok   known verdicts: both right" in out


def test_doctor_says_what_an_endpoint_supports(assay):
    with OpenAIServer() as server:
        code, out, _ = assay("judge", "check", "--judge", "openai:fake", "--base-url", server.base_url)
    assert code == 0
    assert "ok   reachable: yes" in out
    assert "structured: json_schema" in out
    assert "name one with --embedding-model" in " ".join(out.split())  # lines are as wide as the terminal
    assert out.count("ok   known verdicts: both right") == 2
    with OpenAIServer(key="another") as server:
        code, out, _ = assay("judge", "check", "--judge", "openai:fake", "--base-url", server.base_url)
    assert code == 3
    assert "FAIL model: " in out
    assert "refuses the key" in out


def test_a_refused_key_is_one_line(assay, data):
    with OpenAIServer(key="another") as server:
        code, out, err = assay("score", data, "--judge", "openai:fake", "--base-url", server.base_url)
    assert (code, out) == (3, "")
    assert "refuses the key" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.long
def test_demo_shows_the_table_the_worst_answer_and_what_decided_it(assay):
    code, out, _ = assay("demo")
    assert code == 0
    assert "22/22" in out
    assert "The least faithful answer" in out
    assert "passage 1, characters" in out


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("score", "missing.jsonl"), 2, "missing.jsonl"),
        (("score", "{data}", "--metrics", "faithfullness"), 2, "faithfulness"),
        (("score", "{data}", "--metrics", "context_recall"), 2, "context_recall needs reference"),
        (("score", "{data}", "--judge", "gpt"), 2, "with --base-url, is 'openai:gpt'"),
        (("score", "{data}", "--judge", "embeded"), 2, "did you mean 'embedded'?"),
        (("score", "{data}", "--judge", "openai:m", "--rows-in-flight", "9"), 2, "--rows-in-flight: goes with --judge"),
        (
            ("score", "{data}", "--poll", "9"),
            2,
            "--poll: goes with --judge openai-batch:MODEL or anthropic",
        ),
        (("score", "{data}", "--map", "question"), 2, "FIELD=COLUMN"),
        (("score", "{data}", "--base-url", "http://127.0.0.1:1/v1"), 2, "--judge openai:MODEL"),
        (("score", "{data}", "--judge", "openai:m", "--api-key-env", "NO_SUCH_KEY"), 2, "NO_SUCH_KEY"),
        (("show", "last", "1"), 2, "--store"),
    ],
)
def test_errors_are_one_line_with_the_way_out(assay, data, args, code, says):
    found, _, err = assay(*(arg.format(data=data) for arg in args))
    assert found == code
    assert err.startswith("assay: error: ")
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_unknown_run_and_row_say_what_there_is(assay, data):
    assay("score", data, "--metrics", "faithfulness")
    code, _, err = assay("show", "nope", "1")
    assert (code, "the latest are" in err) == (2, True)
    code, _, err = assay("show", "last", "7")
    assert (code, "numbered up to 2" in err) == (2, True)


@pytest.mark.long
def test_an_unreachable_judge_is_exit_code_1_with_every_cause(assay, data):
    code, out, _ = assay(
        "score", data, "--metrics", "faithfulness", "--judge", "openai:m", "--base-url", "http://127.0.0.1:9/v1"
    )
    assert code == 1
    assert "0/2" in out
    assert "connection 2" in out


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (sqlite3.OperationalError("disk I/O error"), 2, "OperationalError: disk I/O error"),
        (OSError(28, "No space left on device", "out.jsonl"), 2, "No space left on device: 'out.jsonl'"),
        (KeyError("rows"), 4, "a fault in assay: KeyError: 'rows'; with ASSAY_DEBUG=1 in the environment"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
@pytest.mark.parametrize("debug", ["", "0", "1"])
def test_what_nobody_expected_is_one_line_too(assay, monkeypatch, error, code, says, debug):
    """The traceback comes with ASSAY_DEBUG alone."""

    def fail():
        raise error

    monkeypatch.setattr("assay.cli.main.app", fail)
    monkeypatch.setenv("ASSAY_DEBUG", debug)
    found, out, err = assay("show")
    assert (found, out) == (code, "")
    assert err.splitlines()[-1].startswith("assay: error: ")
    assert says in err.splitlines()[-1]
    assert (len(err.splitlines()) == 1) is (debug != "1")
    assert ("Traceback" in err) is (debug == "1")


def test_debug_shows_where_an_error_came_from(assay, monkeypatch):
    monkeypatch.setenv("ASSAY_DEBUG", "0")
    code, _, err = assay("--debug", "score", "missing.jsonl")
    assert code == 2
    assert err.startswith("Traceback")
    assert "there is no file" in err.splitlines()[-1]


def test_a_folder_that_cannot_be_written_is_one_line(assay, data, tmp_path):
    (tmp_path / "taken").write_text("a file")
    code, _, err = assay("score", data, "--metrics", "faithfulness", "--out", "taken/scores.jsonl")
    assert code == 2
    assert len(err.strip().splitlines()) == 1


@dataclass(frozen=True)
class Size:
    """A group of options."""

    width: Annotated[int, typer.Option(help="How wide.")] = 3
    height: int = 4


def test_options_that_belong_together_are_options_of_their_own(assay, data, tmp_path):
    """`grouped` hands them on under their names, with their defaults and help."""

    seen = []

    @grouped
    def draw(what: str, *, size: Size, colour: str = "red") -> None:
        """Draw it."""
        seen.append((what, size, colour))

    app = typer.Typer()
    app.command()(draw)
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert "How wide." in shown
    assert shown.index("--width") < shown.index("--height") < shown.index("--colour")
    assert CliRunner().invoke(app, ["a", "--width", "7"]).exit_code == 0
    assert CliRunner().invoke(app, ["b", "--colour", "blue", "--height", "1"]).exit_code == 0
    assert seen == [("a", Size(7, 4), "red"), ("b", Size(3, 1), "blue")]


def test_a_budget_is_made_of_its_options():
    assert BudgetOptions().resolve() is None
    prices = {"budget_price_prompt": 1.0, "budget_price_completion": 2.0}
    budget = BudgetOptions(budget_calls_per_day=7, budget_dollars_per_minute=1.5, **prices).resolve()
    assert repr(budget) == repr(Budget(calls_per_day=7, dollars_per_minute=1.5, prices=budget.prices))
    assert budget.prices == Prices(prompt=1.0, completion=2.0)
    with pytest.raises(InputError, match="give both"):
        BudgetOptions(budget_calls_per_day=7, budget_price_prompt=1.0).resolve()
    with pytest.raises(InputError, match="prices go with a limit"):
        BudgetOptions(**prices).resolve()

"""Every command that takes a run takes each file, queue and store that assay writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import Result, evaluate
from assay.judges.scripted_judge import ScriptedJudge
from tests.conftest import literal_support
from tests.evaluation.test_outputs import CSV, FULL

Run = Callable[..., tuple[int, str, str]]

#: Claims supported of all: 2 of 2, 1 of 2, 0 of 1; the last row has no passages.
ANSWERS = ("It is red. It is big.", "It is red. It is old.", "It is old.", None)
FORMATS = FULL | CSV


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Name of a format -> where the run `one` stands in it."""
    folder = tmp_path_factory.mktemp("outputs")
    rows = [
        {"id": f"r{n}", "question": f"What is {n}?", "answer": answer or "It is red.", "version": "1.4",
         **({"contexts": ["It is red. It is big."]} if answer is not None else {})}
        for n, answer in enumerate(ANSWERS, 1)
    ]  # fmt: skip
    judge = ScriptedJudge(support=literal_support)
    result: Result = evaluate(
        rows, "faithfulness,hallucination", judge, store=folder / "store", run="one", progress=False
    )
    return {name: write(result, folder) for name, write in FORMATS.items()}


def worst_first(out: str) -> bool:
    return [row["sample"]["id"] for row in json.loads(out)] == ["r3", "r2", "r1"]


def has_a_mean_of_a_half(out: str) -> bool:
    """(1 + 0.5 + 0) / 3 over three of four rows."""
    found = json.loads(out)["metrics"]["faithfulness"]
    return (found["mean"], found["scored"], found["total"]) == (0.5, 3, 4)


#: Command -> what it is called with, RUN being the address; its exit code; and what it prints.
COMMANDS: dict[str, tuple[list[str], int, Callable[[str], bool]]] = {
    "worst": (["worst", "faithfulness", "RUN", "--json"], 0, worst_first),
    "show": (["show", "RUN", "--json"], 0, has_a_mean_of_a_half),
    "show baseline": (["show", "RUN", "--baseline", "RUN", "--any-judge"], 0, lambda out: "no row got worse" in out),
    "show row": (["show", "RUN", "r2", "--json"], 0, lambda out: json.loads(out)["sample"]["id"] == "r2"),
    "report": (["report", "RUN", "--baseline", "RUN", "-o", "r.md"], 0, lambda _: "0.500" in Path("r.md").read_text()),
    "compare": (["compare", "RUN", "RUN", "--json"], 0, lambda out: json.loads(out)["pairs"] == 4),
    "gate": (["gate", "RUN", "--fail-below", "faithfulness=0.4", "--json"], 6, lambda out: "INCONCLUSIVE" in out),
    "failures": (
        ["failures", "RUN", "--below", "faithfulness=0.8", "--json"],
        0,
        lambda out: [one["number"] for one in json.loads(out)] == [3, 2],
    ),
    "errors": (
        ["errors", "RUN", "--json"],
        0,
        lambda out: [(one["number"], one["cause"]) for one in json.loads(out)] == [(4, "missing_input")] * 2,
    ),
    "causes": (["causes", "RUN", "--no-read", "--json"], 0, lambda out: json.loads(out)["failed"] == 2),
    "score": (
        ["score", "RUN", "--metrics", "retrieval_calls", "--store", "again", "--json", "--quiet"],
        0,
        lambda out: json.loads(out)["rows"] == 4,
    ),
    "data add": (
        ["data", "add", "RUN", "--worst", "2", "--to", "cases.jsonl", "--metric", "faithfulness"],
        0,
        lambda out: "2 cases added, the worst by faithfulness" in out,
    ),
}


@pytest.mark.short_cases(12)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_takes_each_format(command: str, name: str, addresses: dict[str, str], command_line: Run) -> None:
    arguments, expected, holds = COMMANDS[command]
    code, out, err = command_line(*(addresses[name] if one == "RUN" else one for one in arguments))
    assert code == expected, out + err
    assert holds(out)
    if name in CSV and command not in ("report", "show", "compare", "score"):  # they keep notes with their figures
        assert "holds no verdicts, quotes and metadata" in out + err
    assert name not in ("queue", "sink") or not Path(".assay").exists(), "reading makes no store"


def test_a_file_is_the_baseline_of_a_run_of_the_store(addresses: dict[str, str], command_line: Run) -> None:
    store = ("--store", addresses["store"])
    gate = ("gate", "one", "--max-drop", "faithfulness=0.6")
    code, out, _ = command_line(*gate, "--baseline", addresses["jsonl"], *store)
    assert (code, "PASS" in out) == (0, True), "no row differs"
    code, out, err = command_line("compare", addresses["parquet"], "one", *store)
    assert code == 0, err
    code, out, err = command_line("compare", addresses["csv"], "one", *store)
    assert code != 0, "a CSV file does not say who judged"
    assert "--any-judge" in err


def test_the_hint_names_the_file_again(addresses: dict[str, str], command_line: Run) -> None:
    _, _, err = command_line("show", addresses["jsonl"])
    assert f"assay show {addresses['jsonl']} ROW" in err.replace("\n", "")


def test_a_page_for_people_is_refused_with_what_to_give(addresses: dict[str, str], command_line: Run) -> None:
    assert command_line("report", addresses["jsonl"], "-o", "r.html")[0] == 0
    code, _, err = command_line("worst", "faithfulness", "r.html")
    assert code == 2
    assert "HTML, a report for people, which is not read back; give the run itself" in " ".join(err.split())
    Path("data.jsonl").write_text('{"question": "Why?", "answer": "So."}\n')
    code, _, err = command_line("show", "data.jsonl")
    assert (code, "Score it first: assay score data.jsonl" in " ".join(err.split())) == (2, True)


@pytest.mark.long
def test_the_real_command_line_reads_a_file(addresses: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay", "worst", "faithfulness", addresses["jsonl"], "-n", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert "r3" in done.stdout

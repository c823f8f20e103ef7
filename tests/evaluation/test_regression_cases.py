"""`assay data add`: the worst rows of a run become cases of a file that people fill in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import InputError, Result, Sample, ScoredSample
from assay.data import open_data
from assay.data.outputs.records import Output, OutputRow
from assay.errors import Cause
from assay.evaluation.output_runs import run_of_output
from assay.evaluation.regression_cases import add_cases, default_metric
from assay.records import Score, ScoreError, Turn

Run = Callable[..., tuple[int, str, str]]


def run_of(rows: list[tuple[Sample, dict[str, float | None]]]) -> Result:
    def score(name: str, value: float | None) -> Score:
        error = ScoreError(cause=Cause.PARSE, message="no") if value is None else None
        return Score(metric=name, value=value, error=error)

    scored = [
        ScoredSample(sample=sample, scores={name: score(name, value) for name, value in given.items()})
        for sample, given in rows
    ]
    return run_of_output("monday", Output(lambda: (OutputRow(n, row) for n, row in enumerate(scored, 1))), folder=None)


@pytest.fixture
def result() -> Result:
    """Worst first by m: d (0.0), a (0.1), c (0.3), the first question again (0.4); one row has no value."""
    turns = (Turn(question="Is it open?", answer="Yes."),)
    return run_of([
        (Sample(id="a", question="When?", answer="At ten.", metadata={"version": "1.4", "tags": ["x"]}), {"m": 0.1}),
        (Sample(id="b", question="Why?", answer="So."), {"m": None}),
        (Sample(id="c", question="Until when?", answer="Six.", history=turns, language="en"), {"m": 0.3}),
        (Sample(question="Where?", answer="Here."), {"m": 0.0}),
        (Sample(id="e", question=" When? ", answer="At nine."), {"m": 0.4}),
        (Sample(id="f", answer="Nobody asked."), {"m": 0.2}),
    ])  # fmt: skip


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_case_has_question_slices_bad_answer_and_where_it_came_from(result: Result, tmp_path: Path) -> None:
    added = add_cases(result, tmp_path / "cases.jsonl", worst=3)
    assert (added.metric, added.added, added.present, added.without_question, added.open) == ("m", 3, 0, 1, 3)
    assert lines(tmp_path / "cases.jsonl") == [
        {"question": "Where?", "reference": "", "bad_answer": "Here.", "from_run": "monday", "from_row": 4},
        {"question": "When?", "reference": "", "bad_answer": "At ten.", "metadata": {"version": "1.4"},
         "from_run": "monday", "from_row": "a"},
        {"question": "Until when?", "history": [{"question": "Is it open?", "answer": "Yes."}], "reference": "",
         "bad_answer": "Six.", "language": "en", "from_run": "monday", "from_row": "c"},
    ]  # fmt: skip


def test_what_people_filled_in_stays_byte_by_byte(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    add_cases(result, path, worst=1)
    filled = path.read_text().replace('"reference": ""', '"reference":   "In  Bonn."').removesuffix("\n")
    path.write_text(filled)
    os.chmod(path, 0o640)
    again = add_cases(result, path, worst=2)
    assert (again.added, again.present, again.open) == (1, 1, 1)
    assert path.read_text().startswith(filled + "\n")
    assert path.stat().st_mode & 0o777 == 0o640
    before = path.stat().st_mtime_ns
    assert add_cases(result, path, worst=2).added == 0
    assert path.stat().st_mtime_ns == before, "nothing is written where nothing is added"


def test_a_file_under_other_names_of_columns_is_known(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"user_input": "Where?", "ground_truth": "There."}\n\n')
    added = add_cases(result, path, worst=2)
    assert (added.added, added.present, added.open) == (1, 1, 1)


def test_the_file_is_a_data_set(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    add_cases(result, path)
    data = open_data(path)
    samples = [sample for _, sample in data]
    assert [sample.question for sample in samples if isinstance(sample, Sample)] == ["Where?", "When?", "Until when?"]
    _, second, third = samples
    assert isinstance(second, Sample)
    assert second.metadata == {"version": "1.4", "bad_answer": "At ten.", "from_run": "monday", "from_row": "a"}
    assert isinstance(third, Sample)
    assert (third.history, third.language) == ((Turn(question="Is it open?", answer="Yes."),), "en")


@pytest.mark.parametrize("content", [b"{no json\n", b'{"question": "a"}\n[1]\n', b"\xff\xfe\n"])
def test_a_file_that_cannot_be_read_stays_as_it_is(content: bytes, result: Result, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="nothing was added: line"):
        add_cases(result, path)
    assert path.read_bytes() == content


def test_wrong_arguments_and_runs_without_values(result: Result, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.jsonl or \.ndjson"):
        add_cases(result, tmp_path / "cases.csv")
    with pytest.raises(InputError, match="worst: expected at least 1"):
        add_cases(result, tmp_path / "a.jsonl", worst=0)
    with pytest.raises(InputError, match="'x' is not in this run; it has m"):
        add_cases(result, tmp_path / "a.jsonl", metric="x")
    empty = run_of([(Sample(id="a", question="Why?", answer="x"), {"m": None, "n": None})])
    with pytest.raises(InputError, match="no row has a value of m"):
        add_cases(empty, tmp_path / "a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()


def test_the_first_metric_with_values_is_the_default() -> None:
    assert default_metric(run_of([(Sample(id="a", answer="x"), {"m": None, "n": 0.5})])) == "n"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 4)), min_size=1, max_size=12), st.integers(1, 8))
def test_the_worst_questions_are_taken_each_once(tmp_path: Path, rows: list[tuple[str, int]], worst: int) -> None:
    """As a plain sort does it: by value, then by place; each question with its first row."""
    path = tmp_path / "cases.jsonl"
    path.unlink(missing_ok=True)
    result = run_of([
        (Sample(id=str(n), question=question, answer="x"), {"m": value / 4}) for n, (question, value) in enumerate(rows)
    ])  # fmt: skip
    expected: dict[str, str] = {}
    for n in sorted(range(len(rows)), key=lambda place: (rows[place][1], place)):
        if len(expected) < worst:
            expected.setdefault(rows[n][0], str(n))
    added = add_cases(result, path, worst=worst)
    assert added.added == len(expected)
    assert {line["question"]: line["from_row"] for line in lines(path)} == expected


def test_the_command_says_what_it_did(command_line: Run) -> None:
    rows = "".join(json.dumps({"id": f"r{n}", "question": f"Q{n}", "answer": "x" * (n + 1), "reference": "x"}) + "\n"
                   for n in range(3))  # fmt: skip
    Path("answers.jsonl").write_text(rows)
    scored = command_line("score", "answers.jsonl", "--metrics", "ragas:exact_match", "--quiet", "--out", "rows.jsonl")
    assert scored[0] == 0
    code, out, _ = command_line("data", "add", "rows.jsonl", "--worst", "2", "--to", "cases.jsonl")
    assert (code, " ".join(out.split())) == (
        0,
        "cases.jsonl: 2 cases added, the worst by ragas:exact_match of run rows.jsonl; 2 with an empty reference to "
        "fill in",
    )
    assert [line["from_row"] for line in lines(Path("cases.jsonl"))] == ["r1", "r2"], "x alone is right"
    code, _, err = command_line("score", "cases.jsonl", "--metrics", "ragas:exact_match", "--map", "answer=bad_answer",
                                "--quiet")  # fmt: skip
    assert code == 0, err
    assert command_line("data", "add", "--to", "no/cases.jsonl")[0] == 2
    assert command_line("data", "add", "--to", "cases.jsonl", "--worst", "0")[0] == 2

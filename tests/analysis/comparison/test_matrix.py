"""Three and more runs: pairs, the correction over all of them, ranks, and the matrix in every form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay import ScriptedJudge, compare, compare_runs, evaluate
from assay.analysis.comparison.matrix import ComparisonMatrix
from assay.cli.main import app
from assay.errors import InputError
from assay.evaluation.result import Result
from tests.analysis.comparison.equal_runs import made

HOSTILE = "<b>&x|*y*"


def three(*falls: int, rows: int = 20) -> list[Result]:
    """Runs in which so many of the rows have 0.5 in place of 1.0."""
    return made(*([[0.5] * k + [1.0] * (rows - k)] for k in falls))


def test_each_run_is_compared_with_the_first_and_p_is_corrected_for_all_pairs() -> None:
    """0, 8 and 7 falls: p = 2·0.5⁸ = 0.0078 and 2·0.5⁷ = 0.0156; by Holm twice the first, and as much for the other."""
    found = compare_runs(three(0, 8, 7))
    assert [(one.first, one.second) for one in found.comparisons] == [("run 1", "run 2"), ("run 1", "run 3")]
    assert [one.metrics["m0"].p for one in found.comparisons] == pytest.approx([2 * 2 * 0.5**8, 2 * 0.5**7])
    assert [one.metrics["m0"].verdict for one in found.comparisons] == ["worse", "worse"]
    assert found.baselines == ("run 1",)


def test_each_with_each() -> None:
    """The third pair has one moved row, p = 1: with it there are three tests. 3·2·0.5⁸ = 0.023, 2·2·0.5⁷ = 0.031."""
    found = compare_runs(three(0, 8, 7), "m0", each=True)
    assert [(one.first, one.second) for one in found.comparisons] == [
        ("run 1", "run 2"), ("run 1", "run 3"), ("run 2", "run 3"),
    ]  # fmt: skip
    assert [one.metrics["m0"].p for one in found.comparisons] == pytest.approx([3 * 2 * 0.5**8, 2 * 2 * 0.5**7, 1.0])
    assert [one.metrics["m0"].verdict for one in found.comparisons] == ["worse", "worse", "inconclusive"]
    assert found.pair("run 2", "run 3") is found.comparisons[2]
    assert found.pair("run 3", "run 2") is None


def test_a_pair_in_which_no_row_moved_is_unchanged_and_costs_no_correction() -> None:
    found = compare_runs(three(0, 0, 8))
    assert [one.metrics["m0"].verdict for one in found.comparisons] == ["unchanged", "worse"]
    assert found.comparisons[1].metrics["m0"].p == pytest.approx(2 * 0.5**8)


def test_two_runs_are_what_compare_says() -> None:
    first, second = three(0, 8)
    assert compare_runs([first, second]).comparisons[0].metrics == compare(first, second, moved=0).metrics


def test_ranks_are_on_the_rows_with_a_value_in_all_runs() -> None:
    found = compare_runs(three(0, 8, 7))
    assert [(one.run, one.mean, one.rank, one.rows) for one in found.ranks["m0"]] == [
        ("run 1", 1.0, 1, 20), ("run 2", 0.8, 3, 20), ("run 3", 0.825, 2, 20),
    ]  # fmt: skip
    # a draw without the one row in which they differ has the second and the third run share rank 2
    assert [(one.low, one.high) for one in found.ranks["m0"]] == [(1, 1), (2, 3), (2, 2)]
    assert "m0: rank run 1 1, run 2 3 (2 to 3), run 3 2" in str(found)


def test_what_cannot_be_compared_is_named() -> None:
    runs = three(0, 1, 2)
    with pytest.raises(InputError, match="runs: expected two or more with different names, got run 1"):
        compare_runs(runs[:1])
    with pytest.raises(InputError, match="different names, got run 1, run 1"):
        compare_runs([runs[0], runs[0]])
    with pytest.raises(InputError, match="metrics: 'm7' is not in both runs"):
        compare_runs(runs, "m7")


def scored(folder: Path) -> ComparisonMatrix:
    judge = ScriptedJudge(
        claims=lambda text: [text], support=lambda claim, passage: "not_mentioned" if "false" in claim else "supported"
    )
    runs = []
    for name, wrong in (("monday", 0), (HOSTILE, 8), ("friday", 2)):
        rows = [{"id": f"r{n}", "question": f"Q{n}?", "contexts": ["It is so."], "topic": "x",
                 "answer": "It is false." if n < wrong else "It is true."} for n in range(20)]  # fmt: skip
        runs.append(evaluate(rows, "faithfulness", judge, store=folder, run=name, progress=False))
    return compare_runs(runs)


def test_the_command_prints_and_writes_the_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    scored(tmp_path)
    named = ["monday", HOSTILE, "friday", "--store", str(tmp_path)]
    shown = CliRunner().invoke(app, ["compare", *named])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == "faithfulness: mean and rank on 20 rows with a value in all runs"
    assert max(map(len, lines[:-1])) <= 80
    assert next(line for line in lines if HOSTILE in line).split()[1:4] == ["0.600", "3", "worse"]
    each = CliRunner().invoke(app, ["compare", *named, "--each", "--json"])
    found = json.loads(each.stdout)
    assert [one["metrics"]["faithfulness"]["verdict"] for one in found["comparisons"]] == [
        *("worse", "inconclusive", "inconclusive")
    ]
    assert [one["rank"] for one in found["ranks"]["faithfulness"]] == [1, 3, 2]
    assert "against friday" not in CliRunner().invoke(app, ["compare", *named, "--each"]).stdout


@pytest.mark.parametrize("suffix", ["html", "md"])
def test_the_matrix_as_a_file_has_texts_of_others_as_texts(tmp_path: Path, suffix: str) -> None:
    scored(tmp_path)
    file = tmp_path / f"m.{suffix}"
    named = ["compare", "monday", HOSTILE, "friday", "--each", "--store", str(tmp_path), "--out", str(file)]
    done = CliRunner().invoke(app, named)
    assert done.exit_code == 0, done.output
    said = file.read_text(encoding="utf-8")
    assert "worse" in said
    assert "<b>" not in said.replace("\\<", "")
    assert said.count("p corrected for 3 pairs and 1 metric") == 1
    assert "faithfulness: mean and rank on 20 rows" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["friday", "--slice", "topic"], "--slice: goes with two runs, without --each and --out"),
        (["friday", "--test", "mcnemar"], "--test: goes with two runs"),
        (["--out", "m.csv"], "-o: expected a file that ends in .html or .md; found 'm.csv'"),
    ],
)
def test_wrong_use_is_said_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    scored(tmp_path)
    done = CliRunner().invoke(app, ["compare", "monday", HOSTILE, *arguments, "--store", str(tmp_path)])
    assert done.exit_code != 0
    assert said in str(done.exception) + done.output

"""Two runs on the rows they share: verdicts, corrections, what flipped, and what does not compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay import ScriptedJudge, evaluate
from assay.analysis.comparison.compare import Comparison, compare
from assay.cli.main import app
from assay.errors import InputError
from assay.evaluation.result import Result

TRUE, FALSE = "It is true.", "It is false."


def judge(name: str = "scripted") -> ScriptedJudge:
    return ScriptedJudge(
        claims=lambda text: [part + "." for part in text.split(".") if part.strip()],
        support=lambda claim, passage: "not_mentioned" if "false" in claim else "supported",
        usefulness=lambda question, passage: True,
        name=name,
    )


def row(number: int, answer: str, **more: Any) -> dict[str, Any]:
    return {"id": f"r{number}", "question": f"Q{number}?", "contexts": ["It is so."], "answer": answer, **more}


def run(folder: Path, name: str, rows: list[dict[str, Any]], metrics: Any = "faithfulness") -> Result:
    return evaluate(rows, metrics, judge(), store=folder, run=name)


def compared(folder: Path, first: Callable[[int], str], second: Callable[[int], str], n: int = 20) -> Comparison:
    one = run(folder, "one", [row(k, first(k)) for k in range(n)])
    return compare(one, run(folder, "two", [row(k, second(k)) for k in range(n)]))


def test_a_run_in_which_ten_answers_got_false_is_worse_and_says_which(tmp_path: Path) -> None:
    """20 rows: 1.0 before; ten of them 0.0 after: -0.5, p = 2·0.5¹⁰ = 0.00195."""
    found = compared(tmp_path, lambda k: TRUE, lambda k: FALSE if k < 10 else TRUE)
    one = found.metrics["faithfulness"]
    assert (one.verdict, one.pairs, one.p) == ("worse", 20, pytest.approx(2 * 0.5**10))
    assert one.difference is not None
    assert (one.difference.first, one.difference.second, one.difference.estimate.mean) == (1.0, 0.5, -0.5)
    assert one.difference.estimate.high < 0
    assert found.headline == "worse on faithfulness (20 rows in both)"
    assert [moved.name for moved in one.moved] == ["r0", "r1", "r2", "r3", "r4"]
    assert (one.changed, one.improved, one.worsened) == (10, 0, 10)
    assert [str(flip) for flip in one.moved[0].flips] == [
        '"It is true." (supported) -> "It is false." (not in the passages)'
    ]


def sliced(folder: Path, **more: Any) -> Comparison:
    """20 rows of two topics: all ten of the first got false."""
    before = [row(k, TRUE, topic="old" if k < 10 else "new") for k in range(20)]
    after = [row(k, FALSE if k < 10 else TRUE) for k in range(20)]
    return compare(run(folder, "one", before), run(folder, "two", after), by="topic", **more)


def test_slices_are_compared_by_themselves_and_corrected_together(tmp_path: Path) -> None:
    """The whole and the old topic moved, each with p = 2·0.5¹⁰. The whole is one test, and of the slices, which are a
    family of their own, one can differ: nothing to correct.
    """
    found = sliced(tmp_path)
    old, new = (found.slices["topic"][value]["faithfulness"] for value in ("old", "new"))
    assert (old.verdict, old.pairs, old.p) == ("worse", 10, pytest.approx(2 * 0.5**10))
    assert (new.verdict, new.pairs, new.p) == ("unchanged", 10, 1.0)
    assert found.metrics["faithfulness"].p == pytest.approx(2 * 0.5**10)
    assert old.moved == ()  # the rows that moved are named once, with the whole
    first, last = found.slice_lines()
    assert first.startswith("topic old: faithfulness: worse, 1.000 -> 0.000, -1.000 (")
    assert last == "slices and metrics besides: 1 unchanged"
    assert json.loads(json.dumps(found.to_dict()))["slices"]["topic"]["old"]["faithfulness"]["verdict"] == "worse"


def test_slices_of_a_column_that_no_row_has(tmp_path: Path) -> None:
    found = run(tmp_path, "one", [row(1, TRUE)])
    with pytest.raises(InputError, match="by: no row has the column 'topik'"):
        compare(found, found, by=["topik"])


def test_the_command_compares_slices(tmp_path: Path) -> None:
    sliced(tmp_path)
    told = CliRunner().invoke(app, ["compare", "one", "two", "--slice", "topic", "--store", str(tmp_path)])
    assert told.exit_code == 0, told.output
    assert "topic old: faithfulness: worse, 1.000 -> 0.000, -1.000" in told.output


def test_three_flips_of_twenty_tell_nothing(tmp_path: Path) -> None:
    """p = 2·0.5³ = 0.25, although the mean rose by 0.15."""
    found = compared(tmp_path, lambda k: FALSE if k < 3 else TRUE, lambda k: TRUE)
    one = found.metrics["faithfulness"]
    assert (one.verdict, one.p) == ("inconclusive", pytest.approx(0.25))
    assert one.difference is not None
    assert one.difference.detectable is not None
    assert f"minimum detectable effect {one.difference.detectable:.2f}" in str(one)


def test_the_same_run_twice_is_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, lambda k: TRUE, lambda k: TRUE)
    one = found.metrics["faithfulness"]
    assert (one.verdict, one.p, one.moved, one.changed) == ("unchanged", 1.0, (), 0)
    assert str(one) == "faithfulness: unchanged, 1.000 -> 1.000, n = 20"
    assert found.headline == "unchanged on faithfulness (20 rows in both)"


def test_more_of_what_should_be_low_is_worse(tmp_path: Path) -> None:
    """The share of claims that nothing supports rises from 0 to 1 on ten rows."""
    one = run(tmp_path, "one", [row(k, TRUE) for k in range(10)], "hallucination")
    found = compare(one, run(tmp_path, "two", [row(k, FALSE) for k in range(10)], "hallucination"))
    (metric,) = found.metrics.values()
    assert (metric.direction, metric.verdict) == ("lower", "worse")
    assert metric.difference is not None
    assert metric.difference.estimate.mean == 1.0


def test_a_missing_value_is_left_out_counted_and_bounded(tmp_path: Path) -> None:
    """4 rows of 0 -> 1; one more without an answer in the second run (1 before): -1 to 0 is possible there.

    Bounds: (4 + (0 - 1))/5 = 0.6 and (4 + (1 - 1))/5 = 0.8.
    """
    one = run(tmp_path, "one", [*(row(k, FALSE) for k in range(4)), row(4, TRUE)])
    two = run(tmp_path, "two", [*(row(k, TRUE) for k in range(4)), {**row(4, TRUE), "answer": None}])
    found = compare(one, two).metrics["faithfulness"]
    assert (found.pairs, found.unmeasured, found.bounds) == (4, 1, pytest.approx((0.6, 0.8)))


def test_rows_without_ids_are_the_same_where_they_ask_the_same(tmp_path: Path) -> None:
    def rows(answer: str) -> list[dict[str, Any]]:
        return [{k: v for k, v in row(n // 2, answer).items() if k != "id"} for n in range(6)]  # each asked twice

    found = compare(run(tmp_path, "one", rows(FALSE)), run(tmp_path, "two", rows(TRUE)[::-1]))
    assert (found.pairs, found.only_first, found.only_second) == (6, 0, 0)
    assert [moved.name for moved in found.metrics["faithfulness"].moved[:2]] == ["row 1", "row 2"]


def test_rows_of_one_run_alone_are_counted(tmp_path: Path) -> None:
    found = compare(
        run(tmp_path, "one", [row(k, TRUE) for k in range(5)]),
        run(tmp_path, "two", [row(k, TRUE) for k in range(3, 9)]),
    )
    assert (found.pairs, found.only_first, found.only_second) == (2, 3, 4)


def test_rows_of_one_document_are_one_witness(tmp_path: Path) -> None:
    """Ten rows fell, of two documents: 2·0.5² = 0.5, where ten rows alone are 0.00195."""
    one = run(tmp_path, "one", [row(k, TRUE, doc=f"d{k // 5}") for k in range(10)])
    two = run(tmp_path, "two", [row(k, FALSE, doc=f"d{k // 5}") for k in range(10)])
    assert compare(one, two).metrics["faithfulness"].verdict == "worse"
    found = compare(one, two, cluster="doc").metrics["faithfulness"]
    assert (found.verdict, found.p) == ("inconclusive", pytest.approx(0.5))
    with pytest.raises(InputError, match="cluster: no row has the column 'page'"):
        compare(one, two, cluster="page")


def test_p_values_are_corrected_for_the_metrics_that_moved(tmp_path: Path) -> None:
    """6 rows fell: 2·0.5⁶ = 0.03125. Of two metrics that is 0.0625; a third that did not move costs nothing."""
    two, three = ["faithfulness", "ragas:faithfulness"], ["faithfulness", "ragas:faithfulness", "context_relevance"]
    before, after = [row(k, TRUE) for k in range(12)], [row(k, FALSE if k < 6 else TRUE) for k in range(12)]
    alone = compare(run(tmp_path, "1", before), run(tmp_path, "2", after)).metrics
    both = compare(run(tmp_path, "3", before, two), run(tmp_path, "4", after, two)).metrics
    more = compare(run(tmp_path, "5", before, three), run(tmp_path, "6", after, three)).metrics
    assert (alone["faithfulness"].p, alone["faithfulness"].verdict) == (pytest.approx(0.03125), "worse")
    assert [one.p for one in both.values()] == pytest.approx([0.0625, 0.0625])
    assert both["faithfulness"].verdict == "inconclusive"
    assert [one.p for one in more.values()] == pytest.approx([0.0625, 0.0625, 1.0])


def test_different_judges_do_not_compare_unless_one_says_so(tmp_path: Path) -> None:
    one = run(tmp_path, "one", [row(0, TRUE), row(1, TRUE)])
    two = evaluate([row(0, TRUE), row(1, FALSE)], "faithfulness", judge("another"), store=tmp_path, run="two")
    with pytest.raises(InputError, match=r"runs of different judges do not compare: 'one' is by .*any_judge"):
        compare(one, two)
    assert "The runs are by different judges" in str(compare(one, two, any_judge=True))


def test_what_cannot_be_compared_is_named(tmp_path: Path) -> None:
    one = run(tmp_path, "one", [row(0, TRUE)])
    with pytest.raises(InputError, match="no row of 'one' is in 'two': rows are the same by id"):
        compare(one, run(tmp_path, "two", [row(9, TRUE)]))
    with pytest.raises(InputError, match="metrics: 'recall' is not in both runs; they share faithfulness"):
        compare(one, one, "recall")
    with pytest.raises(InputError, match="have no metric in common"):
        compare(one, run(tmp_path, "three", [row(0, TRUE)], "context_relevance"))


def test_the_command_says_the_verdict_first_and_gives_all_of_it_as_json(tmp_path: Path) -> None:
    compared(tmp_path, lambda k: TRUE, lambda k: FALSE if k < 10 else TRUE)
    shown = CliRunner().invoke(app, ["compare", "one", "two", "--store", str(tmp_path)])
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0] == "two against one: worse on faithfulness (20 rows in both)"
    assert " ".join(lines[1].split()) == "metric verdict first -> second difference (95% interval) p n"
    assert lines[2].startswith("faithfulness  worse    1.000 -> 0.500   -0.500 (")
    assert lines[2].endswith(")  0.002  20")
    assert "faithfulness: 5 of 10 moved rows shown" in lines
    assert '    "It is true." (supported) -> "It is false." (not in the passages)' in lines
    as_json = CliRunner().invoke(app, ["compare", "one", "--store", str(tmp_path), "--json"])
    found = json.loads(as_json.stdout)
    assert (found["second"], found["metrics"]["faithfulness"]["verdict"]) == ("two", "worse")


def test_texts_of_others_stay_texts(tmp_path: Path) -> None:
    one = run(tmp_path, "one", [row(k, TRUE) for k in range(3)])
    bad = [{**row(k, "\x1b[31mIt is false."), "id": f"r{k}"} for k in range(3)]
    run(tmp_path, "two", bad)
    shown = CliRunner().invoke(app, ["compare", "one", "two", "--store", str(tmp_path)])
    assert one.rows == 3
    assert "\x1b" not in shown.stdout

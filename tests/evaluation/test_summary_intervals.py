"""Every mean has an interval, by the one method of `assay.stats`, also of rows that hang together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from assay import Result, ScriptedJudge, evaluate
from assay._util.rich_text import render_text
from assay.cli.main import app
from assay.errors import Cause, InputError
from assay.evaluation.display.notebook import as_html
from assay.evaluation.display.table import groups_table, table_of
from assay.evaluation.summary import Summary
from assay.records import Score, ScoreError
from assay.stats import estimate

VALUES = st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=40)
GAP = ScoreError(cause=Cause.NOT_APPLICABLE, message="x")


def summary(values: list[float | None], clusters: list[str] | None = None, name: str = "m") -> Summary:
    found = Summary(metric=name)
    for n, value in enumerate(values):
        score = Score(metric=name, value=value, error=GAP if value is None else None)
        found.add(score, None if clusters is None else clusters[n])
    return found


@given(VALUES)
def test_taken_in_one_by_one_it_is_the_interval_of_all(values: list[float]) -> None:
    one, all_at_once = summary([*values, None]).interval, estimate(values)
    assert one is not None
    assert all_at_once is not None
    assert (one.n, one.clusters) == (all_at_once.n, all_at_once.clusters)
    assert (one.mean, one.low, one.high) == pytest.approx(
        (all_at_once.mean, all_at_once.low, all_at_once.high), abs=1e-7
    )


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abcde")), min_size=1, max_size=40))
def test_so_it_is_with_clusters(rows: list[tuple[float, str]]) -> None:
    values, clusters = [value for value, _ in rows], [name for _, name in rows]
    one, all_at_once = summary(values, clusters).interval, estimate(values, clusters=clusters)
    assert one is not None
    assert all_at_once is not None
    assert (one.n, one.clusters) == (all_at_once.n, all_at_once.clusters)
    assert (one.low, one.high) == pytest.approx((all_at_once.low, all_at_once.high), abs=1e-6)


def test_without_a_value_there_is_none() -> None:
    for found in (Summary(metric="m"), summary([None, None])):
        assert found.interval is None
        assert found.to_dict()["interval"] is None


def test_eight_of_ten_is_wilsons_interval_of_student() -> None:
    """m = 0.8, n = 10; n* = 0.16/(0.16/9) = 9, t of 9 degrees 2.2622, t² = 5.1174.

    Centre (0.8 + 5.1174/18)/(1 + 5.1174/9) = 1.0843/1.5686 = 0.6912; half = 2.2622/1.5686·sqrt(0.16/9 +
    5.1174/324) = 1.4422·sqrt(0.017778 + 0.015795) = 0.2642: from 0.427 to 0.955.
    """
    found = summary([1.0] * 8 + [0.0] * 2)
    assert str(found) == "m: mean 0.800 (0.427 to 0.955), 10 of 10 rows scored"
    assert found.to_dict()["interval"] == pytest.approx([0.4270, 0.9554], abs=1e-4)
    assert found.to_dict()["clusters"] is None


def test_tables_show_it_in_80_columns() -> None:
    whole = render_text(table_of({"faithfulness": summary([1.0] * 8 + [0.0] * 2, name="faithfulness")}), 80)
    assert "faithfulness ↑   0.800   0.43 to 0.96     10/10" in whole
    assert "gaps" not in whole
    broken = render_text(table_of({"faithfulness": summary([1.0] * 8 + [0.0] * 2 + [None], name="faithfulness")}), 80)
    assert "95 %: 0.43 to 0.96" in broken
    assert "0.727 to 0.818" in broken
    assert max(map(len, broken.splitlines())) <= 80
    groups = render_text(groups_table({"a": {"m": summary([1.0] * 8 + [0.0] * 2)}}, "topic"), 80)
    assert "0.43 to 0.96" in groups


def test_a_narrow_one_has_a_digit_more() -> None:
    assert "0.474 to 0.526" in render_text(table_of({"m": summary([0.0, 1.0] * 722)}), 80)


# ---- runs ------------------------------------------------------------------------------------------------------------

ROWS = [
    {"id": f"r{n}", "question": "Q?", "contexts": ["It is so."], "answer": f"It is {'true' if n < 8 else 'false'}.",
     **({"doc": f"d{n // 4}"} if n < 12 else {})}
    for n in range(14)
]  # fmt: skip


@pytest.fixture
def result(tmp_path: Path) -> Result:
    judge = ScriptedJudge(
        claims=lambda text: [text], support=lambda c, p: "not_mentioned" if "false" in c else "supported"
    )
    return evaluate(ROWS, "faithfulness", judge, store=tmp_path / "store", run="one", progress=False)


def test_a_run_clusters_by_a_column_and_rows_without_it_stand_alone(result: Result) -> None:
    """Of 14 rows 8 are 1: three documents of four rows (1, 1, 0) and two rows of their own."""
    clustered = result.cluster_by("doc")
    found, alone = clustered.metrics["faithfulness"].interval, result.metrics["faithfulness"].interval
    expected = estimate([1.0] * 8 + [0.0] * 6, clusters=[*"aaaabbbbcccc", "d", "e"])
    assert found is not None
    assert alone is not None
    assert expected is not None
    assert (found.clusters, alone.clusters) == (5, 14)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.high - found.low > alone.high - alone.low
    assert (result.cluster, clustered.cluster, clustered.rows) == (None, "doc", 14)
    assert clustered.to_dict()["metrics"]["faithfulness"]["clusters"] == 5
    assert "intervals take rows with one doc together: 5 of them" in str(clustered)
    assert "0.571" in as_html(clustered)
    by = clustered.by("doc")["d0"]["faithfulness"].interval
    assert by is not None
    assert (by.n, by.clusters, by.low, by.high) == (4, 1, 0.0, 1.0)  # one document says nothing of documents


def test_a_column_that_is_not_there_is_named(result: Result) -> None:
    with pytest.raises(InputError, match="cluster: no row has the column 'dok'"):
        result.cluster_by("dok")


def test_it_is_kept_with_the_run_and_shown_by_the_command_line(result: Result) -> None:
    assert result.store.get_run("one")["summaries"]["faithfulness"]["interval"] is not None
    folder = str(result.store.folder)
    done = CliRunner().invoke(app, ["show", "one", "--store", folder, "--cluster", "doc", "--json"])
    found = json.loads(done.stdout)
    assert (found["cluster"], found["metrics"]["faithfulness"]["clusters"]) == ("doc", 5)
    wrong = CliRunner().invoke(app, ["show", "one", "--store", folder, "--cluster", "dok"])
    assert isinstance(wrong.exception, InputError)
    listed = CliRunner().invoke(app, ["runs", "--store", folder])
    expected = estimate([1.0] * 8 + [0.0] * 6)
    assert expected is not None
    assert f"faithfulness ↑ 0.571 ({expected.low:.2f} to {expected.high:.2f})" in " ".join(listed.stdout.split())

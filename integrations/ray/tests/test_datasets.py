"""Datasets of Ray as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import assay_ray
import pytest
import ray
from assay_ray.datasets import DatasetRows

import assay
from assay.errors import InputError
from tests.evaluation.sharded.work import judge

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(600)]


def rows(count: int) -> list[dict[str, Any]]:
    """As `tests.evaluation.sharded.work.write` writes them."""
    found = []
    for n in range(count):
        said = [f"Thing {n} has part {part}." for part in range(4)]
        contexts = [" ".join(said[: n % 4]) or "Nothing. é😀"]
        found.append({"id": f"row-{n}", "question": f"{n}?", "contexts": contexts, "answer": " ".join(said)})
    return found


def test_a_dataset_in_many_blocks_is_scored_in_its_order_and_a_rerun_asks_nothing(tmp_path: Path) -> None:
    data = ray.data.from_items(rows(90), override_num_blocks=7)
    how = {"workers": 2, "store": tmp_path / "s", "shard_rows": 20}
    found = assay_ray.score(data, "faithfulness", judge, **how)  # type: ignore[arg-type]
    alone = assay.evaluate(rows(90), "faithfulness", judge(), store=tmp_path / "alone")
    mine, theirs = ([row.scored.to_dict() for row in result.numbered_rows()] for result in (found, alone))
    assert mine == theirs
    assert found.metrics["faithfulness"].mean == pytest.approx(alone.metrics["faithfulness"].mean, abs=1e-12)
    other = ray.data.from_items(rows(90), override_num_blocks=3)  # blocks are no part of what a shard is
    again = assay_ray.score(other, "faithfulness", judge, **how)  # type: ignore[arg-type]
    assert (again.rows, again.usage.calls) == (90, 0)


def test_shards_of_a_dataset_are_cut_by_what_it_holds() -> None:
    def keys(blocks: int, changed: int | None = None) -> list[str]:
        data = rows(40)
        if changed is not None:
            data[changed]["answer"] = "Another."
        cut = DatasetRows.of(ray.data.from_items(data, override_num_blocks=blocks), rows=8)
        return [shard.key for shard in cut.plan()]

    one = keys(1)
    assert len(one) == 5
    assert keys(6) == one
    assert [a == b for a, b in zip(one, keys(2, changed=17), strict=True)] == [True, True, False, True, True]


def test_order_of_the_users_dataset_is_left_as_it_was(tmp_path: Path) -> None:
    data = ray.data.from_items(rows(4))
    before = data.context.execution_options.preserve_order, data.context.enable_progress_bars
    assay_ray.score(data, "faithfulness", judge, workers=1, store=tmp_path / "s")
    assert (data.context.execution_options.preserve_order, data.context.enable_progress_bars) == before


@pytest.mark.parametrize("workers", [1, 4, 9])
def test_workers_leave_room_for_those_who_read(tmp_path: Path, workers: int) -> None:
    """The cluster has four cores; a job of more workers than that would wait for its readers for ever."""
    data = ray.data.from_items(rows(60)).map(lambda row: row)
    found = assay_ray.score(data, "faithfulness", judge, workers=workers, store=tmp_path / "s", lean=True)
    assert found.rows == 60


def test_columns_by_other_names_and_rows_that_are_none(tmp_path: Path) -> None:
    data = ray.data.from_items([{"q": "What?", "a": "It is.", "c": ["It is."]}, {"q": None, "a": None, "c": None}])
    columns = {"question": "q", "answer": "a", "contexts": "c"}
    how = {"workers": 1, "store": tmp_path / "s"}
    found = assay_ray.score(data, "faithfulness", judge, column_map=columns, **how)  # type: ignore[arg-type]
    alone = assay.evaluate(data.take_all(), "faithfulness", judge(), column_map=columns, store=None)
    one, other = found.metrics["faithfulness"], alone.metrics["faithfulness"]
    assert (one.scored, one.total, one.causes) == (other.scored, other.total, other.causes)
    with pytest.raises(InputError, match="no column is known"):
        assay_ray.score(ray.data.from_items([{"x": 1}]), "faithfulness", judge, **how)  # type: ignore[arg-type]


def test_a_dataset_that_fails_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    def fail(row: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("the seventh seal")

    data = ray.data.from_items(rows(5)).map(fail)
    with pytest.raises(InputError, match=r"Ray cannot read it: .*the seventh seal"):
        assay_ray.score(data, "faithfulness", judge, workers=1, store=tmp_path / "s")


def test_an_empty_dataset_is_an_error(tmp_path: Path) -> None:
    data = ray.data.from_items(rows(5)).filter(lambda row: False)
    with pytest.raises(InputError, match="the Dataset has no rows"):
        assay_ray.score(data, "faithfulness", judge, workers=1, store=tmp_path / "s")

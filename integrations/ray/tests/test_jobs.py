"""Jobs on Ray: the result of one process, whatever began it and whatever dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from functools import partial
from pathlib import Path

import assay_ray
import pytest
import ray

import assay
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.evaluation.sharded.job import evaluate_in_processes
from tests._support.servers.openai_server import OpenAIServer
from tests.evaluation.sharded.work import always_deadly, asking, deadly, judge, write

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(600)]


def rows_of(result: Result) -> list[object]:
    return [(row.number, row.scored.to_dict()) for row in result.numbered_rows()]


def test_the_result_is_that_of_one_process_and_other_engines_go_on_where_it_stopped(tmp_path: Path) -> None:
    data = [write(tmp_path / "a.jsonl", 45), write(tmp_path / "b.jsonl", 12, start=45)]
    with (tmp_path / "b.jsonl").open("a") as file:
        file.write("{broken\n")
    how = {"store": tmp_path / "s", "shard_rows": 10}
    found = assay_ray.score(data, "faithfulness", judge, workers=2, **how)  # type: ignore[arg-type]
    alone = assay.evaluate(data, "faithfulness", judge(), store=tmp_path / "alone")
    assert rows_of(found) == rows_of(alone)
    one, other = found.metrics["faithfulness"], alone.metrics["faithfulness"]
    assert (one.scored, one.total, one.causes) == (57, 58, Counter({"bad_row": 1}))
    assert one.mean == pytest.approx(other.mean, abs=1e-12)
    assert found.usage == alone.usage
    write(data[1], 20, start=57)  # of b's shards the last alone changes
    more = evaluate_in_processes(data, "faithfulness", judge, jobs=2, **how)  # type: ignore[arg-type]
    assert more.rows == 78
    again = assay_ray.score(data, "faithfulness", judge, workers=2, **how)  # type: ignore[arg-type]
    assert (again.rows, again.usage.calls, again.complete) == (78, 0, True)
    assert again.metrics["faithfulness"].mean == pytest.approx(more.metrics["faithfulness"].mean, abs=1e-12)


def test_workers_load_nothing_that_only_datasets_need() -> None:
    """pandas and Ray's library of data: some 45 MB, and half a second, of every worker."""
    code = "import sys, assay_ray.actors, assay_ray.datasets; print({'pandas', 'ray.data'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_judge_of_the_script_itself_is_sent(tmp_path: Path) -> None:
    from assay.judges.scripted_judge import ScriptedJudge

    data = write(tmp_path / "a.jsonl", 8)
    make = lambda: ScriptedJudge(support=lambda claim, passage: "supported")  # noqa: E731
    found = assay_ray.score(data, "faithfulness", make, workers=1, store=tmp_path / "s", lean=True)
    assert found.metrics["faithfulness"].mean == 1.0


def test_a_row_that_kills_is_put_in_quarantine_by_name_and_the_others_are_scored(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 30)
    found = assay_ray.score(data, "faithfulness", deadly, workers=2, store=tmp_path / "s", shard_rows=15)
    assert found.complete
    assert found.notes == ["in quarantine, since workers died over them: row 8 of a.jsonl"]
    (failure,) = found.errors
    assert (failure.id, failure.cause) == ("row-7", "bug")
    assert found.metrics["faithfulness"].scored == 29


def test_a_shard_of_which_every_row_kills_is_set_aside_and_the_job_ends(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 5)
    found = assay_ray.score(data, "faithfulness", always_deadly, workers=1, store=tmp_path / "s")
    assert found.stopped is not None
    assert "rows 1 to 5 of a.jsonl: set aside" in found.stopped
    assert found.rows == 0


def test_one_budget_holds_for_all_workers_and_for_a_rerun(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 150)
    budget = assay.Budget(calls_per_day=100)
    with OpenAIServer() as server:
        how = {"workers": 8, "cpus": 0.5, "store": tmp_path / "s", "shard_rows": 10, "budget": budget}
        make = partial(asking, server.base_url)
        found = assay_ray.score(data, "faithfulness", make, stop_after=None, **how)  # type: ignore[arg-type]
        # nobody was killed, so that every worker gave back what it had not spent
        assert len(server.calls) == 100
        assert found.usage.calls == 100
        assert found.metrics["faithfulness"].causes["budget"] > 0
        assay_ray.score(data, "faithfulness", make, stop_after=None, **how)  # type: ignore[arg-type]
        assert len(server.calls) == 100


def test_what_a_judge_refuses_ends_the_job_as_it_ends_a_run(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 5)
    with pytest.raises(InputError, match="no-such-judge"):
        assay_ray.score(data, "faithfulness", "no-such-judge", workers=1, store=tmp_path / "s")
    with pytest.raises(InputError, match="workers: expected at least 1"):
        assay_ray.score(data, "faithfulness", judge, workers=0, store=tmp_path / "s")
    with pytest.raises(InputError, match="cpus: expected"):
        assay_ray.score(data, "faithfulness", judge, cpus=1.5, store=tmp_path / "s")


def test_the_embedded_judge_reads_on_one_thread_of_each_worker(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 24)
    found = assay_ray.score(data, "faithfulness", workers=2, store=tmp_path / "s", shard_rows=12)
    alone = assay.evaluate(data, "faithfulness", store=None)
    one, other = found.metrics["faithfulness"], alone.metrics["faithfulness"]
    assert (one.scored, one.total) == (other.scored, other.total) == (24, 24)
    assert one.mean == pytest.approx(other.mean, abs=1e-12)


def test_the_metrics_of_ray_say_how_far_the_job_is(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 40)
    found = assay_ray.score(data, "faithfulness", judge, workers=1, store=tmp_path / "s", lean=True)
    port = ray.nodes()[0]["MetricsExportPort"]
    said: list[str] = []
    for _ in range(60):  # it is told now and then
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
            said = [line for line in page.read().decode().splitlines() if found.run in line]
        if any(line.startswith("ray_assay_rows_total") for line in said):
            break
        import time

        time.sleep(1)
    values = {line.partition("{")[0]: float(line.rsplit(" ", 1)[1]) for line in said}
    assert values["ray_assay_rows_total"] == 40
    assert values["ray_assay_calls_total"] == 80  # claims and support of each


def test_the_command_starts_a_cluster_of_its_own(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 12)
    with OpenAIServer() as server:
        judged = ["--judge", "openai:fake", "--base-url", server.base_url, "--metrics", "faithfulness"]
        command = [sys.executable, "-m", "assay", "score", str(data), *judged, "--store", str(tmp_path / "s")]
        env = {**os.environ, "OPENAI_API_KEY": "none"}
        more = ["--engine", "ray", "--jobs", "1", "--json", "--quiet", "--job-folder", str(tmp_path / "out")]
        done = subprocess.run([*command, *more], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"]["faithfulness"]["total"] == 12
        assert len(list((tmp_path / "out" / "done").iterdir())) == 2  # 8 rows and 4
        refused = subprocess.run([*command, "--engine", "ray", "--limit", "3"], env=env, capture_output=True, text=True)
        assert refused.returncode == 2
        assert "--engine ray: does not go with --limit" in refused.stderr

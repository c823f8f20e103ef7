"""Jobs of several processes: the same result as one process, and nothing lost by any kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.evaluation.sharded.job import evaluate_in_processes
from assay.judges.budget.ledger import DAY, Limit
from assay.judges.budget.sqlite_ledger import FileLedger
from tests._support.servers.openai_server import OpenAIServer
from tests.evaluation.sharded.work import always_deadly, asking, deadly, judge, write

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")]

RUN = """
import sys
from assay.evaluation.sharded.job import evaluate_in_processes
from tests.evaluation.sharded.work import always_deadly, asking, deadly, judge, write
from tests._support.servers.openai_server import OpenAIServer
if __name__ == "__main__":
    data, store = sys.argv[1:]
    evaluate_in_processes(data, "faithfulness", judge, jobs=2, store=store, shard_rows=20, lean=True, progress=False)
"""


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        found += [int(name) for name in task.read_text().split()]
    return found


def workers_of(parent: int) -> list[int]:
    """Those of them that score: not multiprocessing's own tracker."""
    found = []
    for child in children(parent):
        try:
            line = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in line:
            found.append(child)
    return found


def test_the_result_is_that_of_one_process_and_a_rerun_asks_nothing(tmp_path: Path) -> None:
    data = [write(tmp_path / "a.jsonl", 45), write(tmp_path / "b.jsonl", 12, start=45)]
    with (tmp_path / "b.jsonl").open("a") as file:
        file.write("{broken\n")
    found = evaluate_in_processes(data, "faithfulness", judge, jobs=2, store=tmp_path / "s", shard_rows=10)
    alone = assay.evaluate(data, "faithfulness", judge(), store=tmp_path / "alone")
    rows = [[(row.number, row.scored.to_dict()) for row in result.numbered_rows()] for result in (found, alone)]
    assert len(rows[0]) == 58
    assert rows[0] == rows[1]
    one, other = found.metrics["faithfulness"], alone.metrics["faithfulness"]
    assert (one.scored, one.total, one.causes) == (57, 58, Counter({"bad_row": 1}))
    assert one.mean == pytest.approx(other.mean, abs=1e-12)
    assert found.usage == alone.usage
    again = evaluate_in_processes(data, "faithfulness", judge, jobs=2, store=tmp_path / "s", shard_rows=10)
    assert (again.rows, again.usage.calls, again.complete) == (58, 0, True)
    loaded = Result.load(again.run, tmp_path / "s")
    assert loaded.metrics["faithfulness"].mean == pytest.approx(other.mean, abs=1e-12)


def test_small_shards_are_left_for_the_end(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 300)
    evaluate_in_processes(data, "faithfulness", judge, jobs=1, store=tmp_path / "s", lean=True, progress=False)
    done = sorted(tmp_path.glob("s/jobs/*/done/*.json"), key=lambda path: path.stat().st_mtime_ns)
    sizes = [json.loads(path.read_text("utf-8"))["rows"] for path in done]
    assert sum(sizes) == 300
    # the first was given before the others were read
    assert sizes[1:] == sorted(sizes[1:], reverse=True)
    assert sizes[1] > sizes[-1]


def test_a_row_that_kills_is_put_in_quarantine_by_name_and_the_others_are_scored(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 30)
    found = evaluate_in_processes(data, "faithfulness", deadly, jobs=2, store=tmp_path / "s", shard_rows=15)
    assert found.complete
    assert found.notes == ["in quarantine, since workers died over them: row 8 of a.jsonl"]
    (failure,) = found.errors
    assert (failure.id, failure.cause) == ("row-7", "bug")
    assert found.metrics["faithfulness"].scored == 29


def test_a_shard_of_which_every_row_kills_is_set_aside_and_the_job_ends(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 5)
    found = evaluate_in_processes(data, "faithfulness", always_deadly, jobs=1, store=tmp_path / "s")
    assert found.stopped is not None
    assert "rows 1 to 5 of a.jsonl: set aside" in found.stopped
    assert found.rows == 0


def test_another_question_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 3)
    how = {"jobs": 1, "store": tmp_path / "s", "out": tmp_path / "out"}
    evaluate_in_processes(data, "faithfulness", judge, **how)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="holds a job of other metrics"):
        evaluate_in_processes(data, "hallucination", judge, **how)  # type: ignore[arg-type]


def test_a_judge_that_cannot_be_sent_is_refused_by_name(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 3)
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        evaluate_in_processes(data, "faithfulness", lambda: judge(), jobs=1, store=tmp_path / "s")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_kills_of_workers_and_of_the_driver_lose_nothing(tmp_path: Path) -> None:
    rows = 3000
    data, store = write(tmp_path / "a.jsonl", rows), tmp_path / "s"
    draw = random.Random(5)
    command = [sys.executable, "-c", RUN, str(data), str(store)]
    killed = 0
    for _ in range(2):
        driver = subprocess.Popen(command)
        before, until = len(list(store.glob("jobs/*/done/*.json"))), time.monotonic() + 60
        while len(list(store.glob("jobs/*/done/*.json"))) < before + 8 and time.monotonic() < until:
            time.sleep(0.02)
        for _ in range(3):
            time.sleep(draw.uniform(0.0, 0.3))
            for worker in workers_of(driver.pid)[:1]:
                os.kill(worker, signal.SIGKILL)
                killed += 1
        driver.kill()
        assert driver.wait() == -signal.SIGKILL  # it was still at work
    assert killed >= 4
    subprocess.run(command, check=True)
    found = Result.load("last", store)
    assert found.complete
    assert sorted(row.scored.sample.id or "" for row in found.numbered_rows()) == sorted(
        f"row-{n}" for n in range(rows)
    )
    # rows have 0, 1/4, 2/4 and 3/4 in turn
    assert found.metrics["faithfulness"].mean == pytest.approx(0.375, abs=1e-12)
    lines = [line for path in store.glob("jobs/*/rows/*.jsonl") for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == rows
    assert len({json.loads(line)["row"] for line in lines}) == rows
    assert max(map(len, lines)) <= 1000


def test_ctrl_c_ends_cleanly_and_a_rerun_goes_on(tmp_path: Path) -> None:
    data, store = write(tmp_path / "a.jsonl", 2000), tmp_path / "s"

    def interrupt() -> None:
        while len(list(store.glob("jobs/*/done/*.json"))) < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(assay.EvaluationInterrupted) as stopped:
        evaluate_in_processes(data, "faithfulness", judge, jobs=2, store=store, shard_rows=20, lean=True)
    part = stopped.value.result
    assert 24 <= part.rows < 2000  # three shards of 8 rows at least
    assert part.stopped == "interrupted"
    whole = evaluate_in_processes(data, "faithfulness", judge, jobs=2, store=store, shard_rows=20, lean=True)
    assert whole.rows == 2000
    # claims and support of each row that was left; a shard that a worker had in hand may have been kept meanwhile
    assert 2 * (2000 - part.rows - 2 * 20) <= whole.usage.calls <= 2 * (2000 - part.rows)


def test_one_budget_holds_for_all_workers_and_for_a_rerun(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 80)
    budget = assay.Budget(calls_per_day=100)
    with OpenAIServer() as server:
        how = {"jobs": 3, "store": tmp_path / "s", "shard_rows": 10, "budget": budget, "stop_after": None}
        make = partial(asking, server.base_url)
        found = evaluate_in_processes(data, "faithfulness", make, **how)  # type: ignore[arg-type]
        # nobody was killed, so that what was set aside was sent: nothing is left unspent
        assert len(server.calls) == 100
        assert found.usage.calls == 100
        assert found.metrics["faithfulness"].causes["budget"] > 0
        evaluate_in_processes(data, "faithfulness", make, **how)  # type: ignore[arg-type]
        assert len(server.calls) == 100


def test_a_budget_in_pieces_is_never_exceeded_and_a_killed_worker_loses_one_piece_at_most(tmp_path: Path) -> None:
    limit, workers, kills = 2000, 4, 2
    data = write(tmp_path / "a.jsonl", 1100)  # two calls each: 2,200
    with OpenAIServer() as server:

        def kill() -> None:
            draw = random.Random(3)
            for n in range(kills):
                while len(server.calls) < 600 * (n + 1):
                    time.sleep(0.01)
                os.kill(draw.choice(workers_of(os.getpid())), signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        how = {"jobs": workers, "store": tmp_path / "s", "stop_after": None, "lean": True, "progress": False}
        budget = assay.Budget(calls_per_day=limit)
        make = partial(asking, server.base_url)
        found = evaluate_in_processes(data, "faithfulness", make, budget=budget, **how)  # type: ignore[arg-type]
        assert limit - kills * 50 <= len(server.calls) <= limit  # a piece is 50 calls at most
        assert found.metrics["faithfulness"].causes["budget"] > 0
        (ledger,) = tmp_path.glob("s/jobs/*/spending.db")
        (spent,) = FileLedger(ledger).totals([Limit("calls", DAY, limit)])
        assert len(server.calls) <= spent <= limit


def test_the_command_scores_in_processes_and_refuses_what_they_do_not_do(tmp_path: Path) -> None:
    data = write(tmp_path / "a.jsonl", 12)
    with OpenAIServer() as server:
        judged = ["--judge", "openai:fake", "--base-url", server.base_url, "--metrics", "faithfulness"]
        command = [sys.executable, "-m", "assay", "score", str(data), *judged, "--store", str(tmp_path / "s")]
        env = {**os.environ, "OPENAI_API_KEY": "none"}
        done = subprocess.run([*command, "--jobs", "2", "--json", "--quiet"], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"]["faithfulness"]["total"] == 12
        refused = subprocess.run([*command, "--jobs", "2", "--limit", "3"], env=env, capture_output=True, text=True)
        assert refused.returncode == 2
        assert "--jobs: does not go with --limit" in refused.stderr


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    data, script = write(tmp_path / "a.jsonl", 3), tmp_path / "script.py"
    script.write_text(RUN.replace('if __name__ == "__main__":', "if True:"), "utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    command = [sys.executable, str(script), str(data), str(tmp_path / "s")]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert "the processes end before they begin" in done.stderr

"""Traces of a source go into a queue, each once, however often and in whatever order they are read."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.cli import import_traces as command
from assay.cli.main import app
from assay.data import RowError
from assay.data import named_sources as named
from assay.errors import InputError, StoreError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue, Worker
from assay.live.ingest import FILE_NAME, OVERLAP, Cursors, IngestReport, ingest
from assay.records import Sample
from assay.sinks import MemorySink
from tests.live.apps import Probe

START = 1_790_000_000.0


@dataclass
class Store:
    """A store of traces, as it looks at the time `now`: (id, when it ended, when it can be seen)."""

    traces: list[tuple[str, float, float]] = field(default_factory=list)
    now: float = START
    asked: list[dict[str, Any]] = field(default_factory=list)
    broken_after: int | None = None

    def read(self, since: float | None) -> Iterator[Sample | RowError]:
        found = [(id, ended) for id, ended, seen in self.traces if seen <= self.now and ended >= (since or 0)]
        for number, (id, ended) in enumerate(found):
            if number == self.broken_after:
                raise ConnectionError("the store went away")
            yield Sample(id=id, question="Why?", answer="So.", metadata={"ended": ended, "tags": ["t"]})


store = Store()


def open_store(
    address: str, *, since: Any = None, until: Any = None, limit: int | None = None, project: str | None = None
) -> Iterator[Sample | RowError]:
    """The store as a source."""
    store.asked.append({"address": address, "since": since, "until": until, "limit": limit, "project": project})
    yield from store.read(since)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(
        named, "entry_points", lambda group: [EntryPoint("store", "tests.live.test_ingest:open_store", named.GROUP)]
    )
    store.__init__()  # type: ignore[misc]
    return store


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[SampleQueue]:
    queue = SampleQueue(tmp_path / "queue")
    yield queue
    queue.close(10)


def test_a_second_pass_adds_what_is_new(queue: SampleQueue) -> None:
    store.traces = [(f"t{n}", START + n, START) for n in range(10)]
    first = ingest("store:x", queue)
    assert first == IngestReport(read=10, new=10, completed=START + 9)
    store.traces.append(("t10", START + 10, START))
    assert ingest("store:x", queue) == IngestReport(read=11, new=1, known=10, completed=START + 10)
    assert [asked["since"] for asked in store.asked] == [None, START + 9 - OVERLAP]
    assert queue.report().appended == 11


@pytest.mark.long
def test_late_and_long_and_repeated_traces_are_scored_once(tmp_path: Path) -> None:
    """40 passes, 10 s apart, with four restarts. Some traces take minutes, some are seen up to 50 s after they ended,
    and the store gives them in any order, some of them twice. The overlap is a minute."""
    randomly = random.Random(7)
    ends = [START + randomly.uniform(0, 380) for _ in range(300)]
    store.traces = [(f"t{n}", ended, ended + randomly.choice([0, 0, 5, 50])) for n, ended in enumerate(ends)]
    store.traces += store.traces[:50]
    randomly.shuffle(store.traces)
    new = 0
    queue = SampleQueue(tmp_path / "queue")
    for turn in range(45):
        store.now = START + 10 * turn
        new += ingest("store:x", queue, overlap=60).new
        if turn % 10 == 9:
            queue.close(10)
            queue = SampleQueue(tmp_path / "queue")
    assert new == 300
    sink = MemorySink()
    workers = [Worker(tmp_path / "queue", [Probe()], ScriptedJudge(), sinks={"memory": sink}) for _ in range(2)]
    threads = [threading.Thread(target=worker.run, kwargs={"until_empty": True}) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(scored.sample.key() for scored in sink.written) == sorted(f"t{n}" for n in range(300))
    assert ingest("store:x", queue, since=0).known == 350  # and none of them is new after it was scored
    queue.close(10)


def test_what_is_later_than_the_overlap_is_found_when_asked_for(queue: SampleQueue) -> None:
    store.traces = [("now", START + 1000, START)]
    ingest("store:x", queue, overlap=60)
    store.traces.append(("late", START + 900, START))
    assert ingest("store:x", queue, overlap=60).new == 0
    assert ingest("store:x", queue, since=START + 900).new == 1


def test_a_pass_that_breaks_off_leaves_the_cursor(queue: SampleQueue) -> None:
    store.traces = [(f"t{n}", START + n, START) for n in range(10)]
    store.broken_after = 4
    with pytest.raises(ConnectionError):
        ingest("store:x", queue)
    assert Cursors(queue.path).completed("store:x") is None
    store.broken_after = None
    assert queue.flush(20)
    again = ingest("store:x", queue)
    assert (again.new, again.known, again.completed) == (6, 4, START + 9)


def test_what_the_queue_has_no_room_for_is_read_again(tmp_path: Path) -> None:
    store.traces = [(f"t{n}", START + n, START) for n in range(10)]
    small = SampleQueue(tmp_path / "queue", max_pending=4)
    report = ingest("store:x", small)
    small.close(10)
    assert (report.new, report.refused, report.completed) == (4, 6, None)
    with_room = SampleQueue(tmp_path / "queue")
    report = ingest("store:x", with_room)
    with_room.close(10)
    assert (report.new, report.known, report.completed) == (6, 4, START + 9)


@pytest.mark.parametrize("options", [{"limit": 3}, {"until": START + 3}])
def test_a_part_moves_no_cursor(queue: SampleQueue, options: dict[str, Any]) -> None:
    """What was left out must not be passed over by the next pass."""
    store.traces = [("t", START, START)]
    assert ingest("store:x", queue, **options).completed is None
    assert ingest("store:x", queue).completed == START


def test_a_clock_that_runs_ahead_does_not_hide_what_follows(queue: SampleQueue) -> None:
    store.traces = [("future", 9_999_999_999.0, START)]
    completed = ingest("store:x", queue).completed
    assert completed is not None
    assert completed < 9_999_999_999.0 - OVERLAP


def test_each_source_and_project_has_a_cursor(queue: SampleQueue) -> None:
    store.traces = [("t", START, START)]
    ingest("store:x", queue, project="a")
    ingest("store:x", queue, project="b")
    ingest("store:y", queue)
    assert [asked["since"] for asked in store.asked] == [None, None, None]
    ingest("store:x", queue, project="b")
    assert store.asked[-1]["since"] == START - OVERLAP


def test_addresses_are_not_written_down(queue: SampleQueue) -> None:
    store.traces = [("t", START, START)]
    ingest("store:https://user:sk-secret@host", queue)
    assert b"sk-secret" not in (queue.path / FILE_NAME).read_bytes()


def test_metadata_is_added_and_keys_stay(queue: SampleQueue) -> None:
    store.traces = [("t", START, START)]
    ingest("store:x", queue, metadata={"environment": "prod"})
    sink = MemorySink()
    Worker(queue, [Probe()], ScriptedJudge(), sinks=[sink]).run(until_empty=True)
    (scored,) = sink.written
    assert scored.sample.key() == "t"
    assert (scored.sample.metadata["environment"], scored.sample.metadata["tags"]) == ("prod", ["t"])


def test_samples_of_ones_own_and_rows_that_cannot_be_read(queue: SampleQueue) -> None:
    bad = [RowError(number=n, id=None, message=f"line {n}") for n in range(30)]
    report = ingest([Sample(id="a", question="q", answer="a"), *bad], queue, name="mine")
    assert (report.read, report.new, report.unreadable, report.completed) == (1, 1, 30, None)
    assert report.errors == tuple(f"line {n}" for n in range(20))
    assert report.text() == "1 sample: 1 new; 30 unreadable"


def test_sampling_leaves_out_the_same_ones_each_time(tmp_path: Path) -> None:
    store.traces = [(f"t{n}", START + n, START) for n in range(200)]
    queue = SampleQueue(tmp_path / "queue", sampling=0.3)
    first, second = ingest("store:x", queue), ingest("store:x", queue)
    queue.close(10)
    assert first.new + first.left_out == 200
    assert 30 < first.new < 90  # 60 expected; the hash is the same on every machine
    assert (second.new, second.known, second.left_out) == (0, first.new, first.left_out)


def test_wrong_arguments(queue: SampleQueue) -> None:
    with pytest.raises(InputError, match="overlap: expected 0 or more seconds"):
        ingest("store:x", queue, overlap=-1)
    with pytest.raises(InputError, match="since: expected a time"):
        ingest("store:x", queue, since="yesterday")
    (queue.path / FILE_NAME).write_bytes(b"this is no database, but long enough to be looked at as if it were one")
    with pytest.raises(StoreError, match="the cursors in"):
        ingest("store:x", queue)


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_reads_once_and_says_what_it_did(tmp_path: Path) -> None:
    store.traces = [("t", START, START)]
    arguments = ["data", "import", "store:x", str(tmp_path / "queue"), "--metadata", "environment=prod", "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "read": 1, "new": 1, "known": 0, "left_out": 0, "refused": 0, "unreadable": 0, "errors": [], "completed": START,
    }  # fmt: skip
    again = CliRunner().invoke(app, ["data", "import", "store:x", str(tmp_path / "queue")])
    assert again.stdout == "1 sample: 0 new, 1 known already; completed until 2026-09-21T14:13:20+00:00\n"


def test_the_command_goes_on_over_passes_that_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three passes: one with a trace, one in which the store is away, one with a trace more; then Ctrl-C."""
    store.traces = [("t0", START, START)]
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt
        store.broken_after = 0 if len(pauses) == 1 else None
        store.traces.append((f"t{len(pauses)}", START + len(pauses), START))

    monkeypatch.setattr(command.time, "sleep", pause)
    done = CliRunner().invoke(app, ["data", "import", "store:x", str(tmp_path / "queue"), "--every", "2m"])
    assert done.stdout.splitlines() == [
        "1 sample: 1 new; completed until 2026-09-21T14:13:20+00:00",
        "3 samples: 2 new, 1 known already; completed until 2026-09-21T14:13:22+00:00",
    ]
    assert "ConnectionError while reading store: the store went away" in done.stderr
    assert all(0 < seconds <= 120 for seconds in pauses)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing:x"], "no source 'nothing'"),
        (["store:x", "--every", "soon"], "--every: expected a time such as 90s"),
        (["store:x", "--overlap", "-1"], "--overlap: expected a time"),
        (["store:x", "--metadata", "prod"], "--metadata: expected KEY=VALUE"),
    ],
)
def test_wrong_usage_is_told(tmp_path: Path, arguments: list[str], message: str) -> None:
    source, *options = arguments
    done = CliRunner().invoke(app, ["data", "import", source, str(tmp_path / "queue"), *options])
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)

"""However a process ends, what it submitted is kept or counted: by a queue, and by a live scorer."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.live import SampleQueue, exit_hooks
from assay.live.process_end import ProcessEnd
from assay.records import Sample
from tests.live.process_ends import UNWARNED

ROOT = Path(__file__).parents[2]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

FORKED = (
    "return", "sys.exit", "exception", "threads", "grandchild", "plain grandchild", "pool", "executor",
    "fork and sys.exit",
)  # fmt: skip
FRESH = ("spawn", "spawn executor", "forkserver")


@pytest.fixture(scope="module")
def run_ways(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, dict[str, Any]]]:
    """What became of the samples of all children, by the way in which these ended. Each program runs once."""

    @functools.cache
    def run(kind: str, state: str, ways: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        folder = tmp_path_factory.mktemp("ends")
        command = [sys.executable, "-m", "tests.live.process_ends", kind, state, str(folder), *ways]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""  # no word of samples that were lost
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return {line["way"]: line for line in lines}

    return run


@pytest.mark.short_cases(2)
@forks
@pytest.mark.parametrize("state", ["cold", "warm"])
@pytest.mark.parametrize("kind", ["queue", "live"])
@pytest.mark.parametrize("way", FORKED)
def test_a_forked_child_keeps_what_it_submitted(run_ways: Callable[..., Any], kind: str, state: str, way: str) -> None:
    """Two children submit 20 samples each (pools: 40 tasks of one sample) and end at once."""
    assert run_ways(kind, state, FORKED)[way] == {"way": way, "submitted": 40, "kept": 40, "ids": 40}


@forks
@pytest.mark.long
@pytest.mark.parametrize("kind", ["queue", "live"])
@pytest.mark.parametrize("way", FRESH)
def test_a_child_that_opens_its_own_intake_keeps_what_it_submitted(
    run_ways: Callable[..., Any], kind: str, way: str
) -> None:
    assert run_ways(kind, "cold", FRESH)[way] == {"way": way, "submitted": 40, "kept": 40, "ids": 40}


@forks
@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "state"), [("fork", "cold"), ("fork", "warm"), ("spawn", "cold"), ("forkserver", "cold")]
)
def test_a_child_that_ends_without_a_warning_loses_the_last_100_ms_at_most(
    method: str, state: str, tmp_path: Path
) -> None:
    """A queue has all that was submitted before. A busy machine may keep its thread waiting: this has three tries."""
    ways = [f"{method} {way}" for way in UNWARNED]
    for attempt in range(3):
        command = [sys.executable, "-m", "tests.live.process_ends", "queue", state, str(tmp_path / str(attempt))]
        done = subprocess.run([*command, *ways], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
        kept = {line["way"]: line["kept"] for line in map(json.loads, done.stdout.splitlines())}
        if kept == dict.fromkeys(ways, 40):
            return
    pytest.fail(f"of 40 samples of each kind: {kept}")


FIRST_WRITE = """
import sys
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer, SampleQueue
from assay.records import Context, Sample
from assay.sinks import JsonlSink

kind, folder = sys.argv[1:]
judge = ScriptedJudge(support=lambda claim, passage: "supported", name="scripted")
sinks = [JsonlSink(folder + "/s.jsonl")]
intake = SampleQueue(folder) if kind == "queue" else LiveScorer("faithfulness", judge, sinks=sinks)
before = set(sys.modules)
intake.submit(Sample(question="Why?", answer="Cats purr.", contexts=(Context(text="Cats purr."),)))
assert intake.flush(20)
print(sorted(set(sys.modules) - before), "multiprocessing" in sys.modules)
"""


@pytest.mark.parametrize("kind", ["queue", "live"])
def test_the_first_sample_imports_nothing_and_multiprocessing_is_not_loaded(kind: str, tmp_path: Path) -> None:
    """A forked child that ends soon would lose all that it submitted while it imports pydantic."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_WRITE, kind, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "[] False\n", done.stderr


ORDER = """
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.records import Context, Sample
from assay._util.threads import at_the_end

at_the_end(lambda: 1 / 0)
at_the_end(lambda: print("judge ends", flush=True))
judge = ScriptedJudge(support=lambda claim, passage: "supported", name="scripted")
scorer = LiveScorer("faithfulness", judge, on_score=lambda scored: print("scored", flush=True))
scorer.submit(Sample(question="Why?", answer="Cats purr.", contexts=(Context(text="Cats purr."),)))
"""


@pytest.mark.long
def test_queued_samples_are_scored_before_the_judge_is_stopped() -> None:
    """The embedded judge refuses to read once it is stopped, and the last samples would be failed (bug).

    A function that fails at the end stops no other.
    """
    done = subprocess.run([sys.executable, "-c", ORDER], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["scored", "judge ends"], done.stderr
    assert "a function for the end of the process failed" in done.stderr


FIRST_AT_EXIT = """
import atexit, sys
from assay.live import SampleQueue
from assay.records import Sample

queue = SampleQueue(sys.argv[1])
atexit.register(lambda: [queue.submit(Sample(id=str(n), question="Why?", answer="Cats purr.")) for n in range(3)])
"""


def test_samples_submitted_by_an_exit_function_are_written_also_without_a_thread(tmp_path: Path) -> None:
    """From Python 3.12 on a process starts no thread at its end, so the queue writes on the thread that ends it."""
    subprocess.run([sys.executable, "-c", FIRST_AT_EXIT, str(tmp_path)], timeout=60, check=True)
    report = SampleQueue(tmp_path).report()
    assert (report.submitted, report.appended) == (3, 3)


def slow_sample(number: int, ready: threading.Event) -> Callable[[], Sample]:
    """A submission that makes its sample only when `ready` is set."""

    def make() -> Sample:
        ready.wait(20)
        return Sample(id=str(number), question="Why?", answer="Cats purr.")

    return make


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleQueue:
    """The only intake that the end of the process knows."""
    queue = SampleQueue(tmp_path)
    monkeypatch.setattr(exit_hooks, "_ALIVE", weakref.WeakSet([queue]))
    monkeypatch.setattr(exit_hooks, "EXIT_GRACE", 0.0)
    return queue


def test_the_end_of_the_process_gives_a_file_more_time_than_a_judge(
    queue: SampleQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of a judge is over (0 s here) when the samples become ready."""
    ready, flush = threading.Event(), queue.flush_unless_failing

    def flush_when_ready(timeout: float) -> None:
        ready.set()
        flush(timeout)

    monkeypatch.setattr(queue, "flush_unless_failing", flush_when_ready)
    for number in range(3):
        queue.submit(slow_sample(number, ready))
    exit_hooks._close_all()
    assert queue.health().pending == 0
    assert (queue.report().submitted, queue.report().appended, queue.report().unwritten) == (3, 3, 0)


def test_the_end_of_the_process_does_not_wait_for_a_file_that_cannot_be_written(
    queue: SampleQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def append(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(queue._file, "append", append)
    monkeypatch.setattr(exit_hooks, "FILE_GRACE", 3600.0)  # the test would not end
    queue.submit(Sample(question="Why?", answer="Cats purr."))
    exit_hooks._close_all()
    assert (queue.health().pending, dict(queue.health().errors)) == (1, {"OSError": 1})


def test_samples_that_could_not_be_written_in_time_are_counted_in_the_report(tmp_path: Path) -> None:
    """submitted = appended + unwritten: 4 = 1 + 3."""
    ready = threading.Event()
    queue = SampleQueue(tmp_path)
    queue.submit(Sample(id="in time", question="Why?", answer="Cats purr."))
    assert queue.flush(20)
    for number in range(3):
        queue.submit(slow_sample(number, ready))
    assert queue.close(timeout=0).pending == 3
    report = SampleQueue(tmp_path).report()
    assert (report.submitted, report.appended, report.unwritten) == (4, 1, 3)
    ready.set()


class Signal:
    """What Celery's children send at their end."""

    def __init__(self) -> None:
        self.receivers: dict[str, Callable[..., None]] = {}

    def connect(self, receiver: Callable[..., None], *, weak: bool, dispatch_uid: str) -> None:
        assert not weak
        self.receivers[dispatch_uid] = receiver


def test_celery_runs_the_work_once_by_its_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its children end by `os._exit` after `worker_process_shutdown`, without finalizers and exit functions."""
    signal, runs = Signal(), []
    module: Any = types.ModuleType("celery.signals")
    module.worker_process_shutdown = signal
    monkeypatch.setitem(sys.modules, "celery.signals", module)
    end = ProcessEnd(lambda: runs.append(os.getpid()))
    end.register()
    end.register()
    (receiver,) = signal.receivers.values()
    receiver(sender="worker", pid=os.getpid(), exitcode=0, signal=signal)
    end.run()  # and the exit functions, where they run as well
    assert runs == [os.getpid()]


class Server:
    """As uvicorn's: it has the signals while it runs, and raises them again after its shutdown."""

    def __init__(self, ends: list[str]) -> None:
        self.ends = ends
        self._captured_signals: list[int] = []

    def handle_exit(self, number: int, frame: object) -> None:
        self._captured_signals.append(number)

    async def shutdown(self, sockets: object = None) -> None:
        self.ends.append("lifespan")

    def run(self, *signals: int) -> None:
        before = signal.signal(signal.SIGTERM, self.handle_exit)
        try:
            for number in signals:
                signal.raise_signal(number)
            asyncio.run(self.shutdown(sockets=[]))
        finally:
            signal.signal(signal.SIGTERM, before)


@pytest.fixture
def uvicorn(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = types.ModuleType("uvicorn.server")
    module.Server = Server
    monkeypatch.setitem(sys.modules, "uvicorn.server", module)


Handler = Callable[[int, Any], object]


def start_server(end: ProcessEnd, ends: list[str], follow: Callable[[ProcessEnd], None]) -> Server:
    """A server that runs, and has the application in it."""
    server = Server(ends)
    before = signal.signal(signal.SIGTERM, server.handle_exit)
    try:
        follow(end)
        follow(end)
    finally:
        signal.signal(signal.SIGTERM, before)
    return server


@pytest.mark.usefixtures("uvicorn")
@pytest.mark.parametrize("follow", [ProcessEnd.register, ProcessEnd.follow_server], ids=["made in it", "made before"])
def test_a_server_of_uvicorn_that_a_signal_ends_runs_the_work_after_its_lifespan(
    follow: Callable[[ProcessEnd], None],
) -> None:
    """SIGTERM is raised again after that, and ends the process without exit functions."""
    ends: list[str] = []
    end = ProcessEnd(lambda: ends.append("work"))
    start_server(end, ends, follow).run(signal.SIGTERM)
    assert ends == ["lifespan", "work"]
    end.run()  # and where the process goes on to its exit functions, as with SIGINT
    assert ends == ["lifespan", "work"]


def closed_over(before: Handler) -> Handler:
    def handle(number: int, frame: object) -> None:
        before(number, frame)

    return handle


def wrapped_twice(before: Handler) -> Handler:
    return functools.wraps(before)(closed_over(closed_over(before)))


def in_a_partial(before: Handler) -> Handler:
    return functools.partial(lambda before, number, frame: before(number, frame), before)


class App:
    """An application that keeps the handler of its server."""

    def __init__(self, before: Handler) -> None:
        self.before = before

    def handle(self, number: int, frame: object) -> None:
        self.before(number, frame)

    __call__ = handle


class Proxy:
    """As Flask's `request` outside of a request: whatever is asked of it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("there is no request")

    def __call__(self) -> None:
        """Proxies can be called."""


def in_a_global(before: Handler) -> Handler:
    space: dict[str, Any] = {"before": before, "request": Proxy()}
    exec("def handle(number, frame):\n    request()\n    before(number, frame)", space)
    return space["handle"]  # type: ignore[no-any-return]


@pytest.mark.usefixtures("uvicorn")
@pytest.mark.parametrize(
    "put_over",
    [closed_over, wrapped_twice, in_a_partial, lambda before: App(before).handle, App, in_a_global],
    ids=["closure", "two closures", "partial", "method", "object", "global"],
)
def test_a_server_is_found_behind_the_application_s_own_handler(put_over: Callable[[Handler], Handler]) -> None:
    ends: list[str] = []
    end, server = ProcessEnd(lambda: ends.append("work")), Server(ends)
    before = signal.signal(signal.SIGTERM, put_over(server.handle_exit))
    try:
        end.register()
    finally:
        signal.signal(signal.SIGTERM, before)
    server.run(signal.SIGTERM)
    assert ends == ["lifespan", "work"]


@pytest.mark.usefixtures("uvicorn")
def test_a_handler_that_calls_itself_or_much_else_is_given_up() -> None:
    def handle(number: int, frame: object) -> None:
        handle(number, frame)

    handle.others = [handle] * 1000  # type: ignore[attr-defined]
    before = signal.signal(signal.SIGTERM, handle)
    try:
        ProcessEnd(lambda: None).register()
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("uvicorn")
def test_a_server_that_no_signal_ends_leaves_the_work_to_the_end_of_the_process() -> None:
    ends: list[str] = []
    end = ProcessEnd(lambda: ends.append("work"))
    start_server(end, ends, ProcessEnd.register).run()
    assert ends == ["lifespan"]


@pytest.mark.usefixtures("uvicorn")
def test_the_work_runs_also_where_the_shutdown_of_the_server_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def shutdown(self: Server, sockets: object = None) -> None:
        raise RuntimeError("the application's own")

    monkeypatch.setattr(Server, "shutdown", shutdown)
    ends: list[str] = []
    server = start_server(ProcessEnd(lambda: ends.append("work")), ends, ProcessEnd.register)
    with pytest.raises(RuntimeError, match="the application's own"):
        server.run(signal.SIGTERM)
    assert ends == ["work"]


LIBRARY_LOADED_BY_ANOTHER_THREAD = """
import sys, types
sys.modules["multiprocessing.util"] = types.ModuleType("multiprocessing.util")  # its code has not run yet
from assay.live.process_end import ProcessEnd
ProcessEnd(lambda: print("end")).register()
"""


def test_a_library_that_is_being_imported_does_no_harm() -> None:
    program = textwrap.dedent(LIBRARY_LOADED_BY_ANOTHER_THREAD)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_no_work_is_registered_twice_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new intake registers again: multiprocessing holds one finalizer all the same."""
    from multiprocessing import process, util

    monkeypatch.setattr(process, "parent_process", lambda: process.current_process())
    finalizers: dict[Any, Any] = vars(util)["_finalizer_registry"]
    before = len(finalizers)
    end = ProcessEnd(lambda: None)
    for _ in range(3):
        end.register()
    assert len(finalizers) == before + 1
    assert end._finalizer is not None
    end._finalizer[1].cancel()

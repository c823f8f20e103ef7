"""A soak of live scoring: requests into a queue, two workers, alerts, and each part killed in turn.

    python -m tests.benchmarks.soak_live [--minutes 30] [--rate 100] [--every 7] [--folder FOLDER]

An application submits `rate` requests a second and logs each one before. Workers score two lexical metrics,
faithfulness by a scripted judge, and context utilization of one in 50 by the embedded judge. Every `every` seconds one
of these happens, in turn: `kill -9` of the application, of a worker, of the other; the alert receiver goes away for
2 s; the disk is full for 2 s (a small tmpfs that is shrunk to what it holds, or a limit on the size of files where none
may be mounted).

At the end each request must be a row of the live run exactly once, or counted with a cause, or have been submitted
within 100 ms before a kill of the application; each alert must be in the store once, and its messages have arrived.
Prints what it found, and exits with 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, TypeAlias

from assay import Context, Sample
from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue, Worker
from assay.live.alerts.rules import AlertRule, AlertTarget
from assay.live.alerts.watcher import AlertWatcher
from assay.live.sampling import Sampling
from assay.metrics.base import Metric
from assay.metrics.names import resolve_metrics
from assay.records import Score
from assay.sinks.store import StoreSink
from assay.store.alerts import AlertStore, StoredAlert
from assay.store.integrity import check_store
from assay.store.live_counts import read_counts
from assay.store.store import Store
from tests._support.servers.alert_receiver import AlertReceiver

HERE = Path(__file__).parents[2]
RUN = "live/soak"
RATE_KEPT = 0.95  # of sampling: the rest is counted
WINDOW = 0.1  # seconds before a kill of the application in which requests may be lost
PHASE = 30.0  # seconds of good answers, then of bad ones: what opens and closes alerts
AWAY = 2.0  # seconds of the receiver, and of a full disk
ONE_IN = 50  # requests whose utilization the embedded judge finds
LEXICAL = "ragas:exact_match,ragas:string_presence"
GOOD, BAD = "Cats purr when they are calm.", "Nothing is known of that."
MEGABYTES = 2000  # of the small disk
#: Within, the disk of these processes is full.
FullDisk: TypeAlias = Callable[[Sequence[int]], contextlib.AbstractContextManager[None]]
#: A worker that starts while the disk is full ends with an error: the disk comes when those killed are up again.
EVENTS = ("application", "worker 1", "worker 2", "receiver", "disk")


@dataclass(frozen=True)
class EmbeddedUtilization(Metric):
    """Context utilization of one request in ONE_IN, by the embedded judge."""

    name: ClassVar[str] = "embedded_utilization"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()
    judges: ClassVar[list[Judge]] = []

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if int(sample.id or 0) % ONE_IN:
            return self.skip(Cause.MISSING_INPUT, "not one of those that the embedded judge scores")
        if not self.judges:
            from assay.judges.resolve import resolve_judge

            self.judges.append(resolve_judge("embedded"))
        (metric,) = resolve_metrics("context_utilization")
        found = await metric.score(sample, self.judges[0])
        if found.value is None:
            return self.skip(found.error.cause if found.error else Cause.BUG, found.why_unmeasured or "")
        return self.make_score(found.value)


# ---- the processes


def request(number: int, at: float) -> Sample:
    """The request of a number; good or bad by the time."""
    answer = GOOD if int(at / PHASE) % 2 == 0 else BAD
    passages = tuple(Context(text=f"{GOOD} Passage {n} of request {number} says so. " * 8) for n in range(3))
    return Sample(id=str(number), question="When do cats purr?", contexts=passages, answer=answer, reference=GOOD)


def application(queue: str, log: str, first: str, rate: str) -> None:
    """Submit requests from a number on, each with its time in the log before, until SIGTERM."""
    target = SampleQueue(queue, sampling=RATE_KEPT, application="soak", max_queue=500)
    stopped = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    written = os.open(log, os.O_WRONLY)  # a pipe: it takes what is written also where the disk is full
    begun = time.monotonic()
    for number in itertools.count():
        time.sleep(max(0.0, begun + number / float(rate) - time.monotonic()))
        if stopped:
            break
        now = time.time()
        os.write(written, f"{int(first) + number} {now}\n".encode())
        target.submit(request(int(first) + number, now))
    target.close(60)


def worker(queue: str, store: str, url: str, embedded: str, until_empty: str = "") -> None:
    """Score into the live run, and check the alert rule."""
    rule = AlertRule(name="low", run=RUN, metric="ragas:exact_match", kind="below", limit=0.5, window=10.0,
                     to=(AlertTarget.of(f"webhook:{url}"),))  # fmt: skip
    metrics = [*resolve_metrics(f"{LEXICAL},faithfulness"), *([EmbeddedUtilization()] if int(embedded) else [])]
    judge = ScriptedJudge(support=lambda claim, passage: "supported" if claim in passage else "not_mentioned")
    watcher = AlertWatcher(store, [rule], interval=1.0, timeout=2.0, backoff=0.2)
    Worker(
        queue, metrics, judge, sinks={"store:soak": StoreSink(store, "soak")}, lease=5.0, max_attempts=1000,
        max_tries=1000, backoff=0.2, alerts=watcher,
    ).run(bool(until_empty))  # fmt: skip


# ---- the kills


@dataclass
class Soak:
    """Starts the parts, kills them, and keeps the list of what was done."""

    folder: Path
    rate: float
    embedded: bool = True
    events: Sequence[str] = EVENTS
    kills: list[float] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    backlog: int = 0
    window: float = WINDOW
    parts: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    logs: list[Path] = field(default_factory=list)
    copies: list[threading.Thread] = field(default_factory=list)
    mount: bool = True

    def __post_init__(self) -> None:
        self.queue, self.store = self.folder / "disk" / "queue", self.folder / "disk" / "store"
        (self.folder / "disk").mkdir(parents=True)
        self.receiver = AlertReceiver()
        self.messages = self.receiver.messages

    def start(self, part: str, *arguments: object) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.soak_live", part.split()[0], *map(str, arguments)]
        running = subprocess.Popen(command, cwd=HERE, stderr=subprocess.PIPE, start_new_session=True)
        self.parts[part] = running
        assert running.stderr is not None
        copy = threading.Thread(target=copy_pipe, args=(running.stderr, self.folder / "stderr"), daemon=True)
        copy.start()
        self.copies.append(copy)

    def start_application(self) -> None:
        log = self.folder / f"log{len(self.logs)}"
        pipe = log.with_suffix(".pipe")
        os.mkfifo(pipe)
        self.copies.append(threading.Thread(target=copy_log, args=(pipe, log), daemon=True))
        self.copies[-1].start()
        self.logs.append(log)
        self.start("application", self.queue, pipe, len(self.logs) * 1_000_000, self.rate)

    def start_worker(self, part: str, until_empty: str = "") -> None:
        self.start(part, self.queue, self.store, self.receiver.url, int(self.embedded), *filter(None, [until_empty]))

    def run(self, seconds: float, every: float) -> None:
        """Run all parts for so long, with an event every so often, and then until all is scored."""
        with small_disk(self.folder / "disk", self.mount) as full:
            try:
                self._run(seconds, every, full)
            finally:
                for part in self.parts.values():
                    part.kill()
                    part.wait()
                self.receiver.stop()
            self.problems, self.figures = self.check()

    def _run(self, seconds: float, every: float, full: FullDisk) -> None:
        for part in ("worker 1", "worker 2"):
            self.start_worker(part)
        self.start_application()
        wait_for(self.logs[0].exists)
        until = time.monotonic() + seconds
        for event in itertools.cycle(self.events):
            if time.monotonic() + every > until:
                break
            time.sleep(every)
            self.happen(event, full)
        time.sleep(max(0.0, until - time.monotonic()))
        wait_for(self.logs[-1].exists)  # the last one that was started handles signals by now
        for part in ("application", "worker 1", "worker 2"):
            self.parts[part].send_signal(signal.SIGTERM)
            ended = self.parts[part].wait(120)
            assert ended == 0 or (part != "application" and ended == -signal.SIGTERM), f"{part} ended with {ended}"
        self.backlog = SampleQueue(self.queue).report().pending
        self.start_worker("worker 3", "until_empty")
        assert self.parts["worker 3"].wait(600) == 0

    def happen(self, event: str, full: FullDisk) -> None:
        """Do one of EVENTS."""
        self.done[event] += 1
        if event == "receiver":
            port = self.receiver.port
            self.receiver.stop()
            time.sleep(AWAY)
            self.receiver = AlertReceiver(port=port)
            self.receiver.messages = self.messages
        elif event == "disk":
            with full([part.pid for part in self.parts.values()]):
                time.sleep(AWAY)
        else:
            self.parts[event].kill()
            if event == "application":
                self.kills.append(time.time())
            assert self.parts[event].wait(30) == -signal.SIGKILL, f"{event} had ended by itself"
            self.start_application() if event == "application" else self.start_worker(event)

    # ---- what must hold

    def check(self) -> tuple[list[str], dict[str, Any]]:
        """What is wrong, in sentences; and the figures."""
        for copy in self.copies:
            copy.join(10)
        submitted = {number: float(at) for log in self.logs for number, at in read_log(log)}
        with Store(self.store) as store:
            rows = Counter(str(name) for (name,) in store.query("SELECT id FROM rows WHERE run = ?", RUN))
            counted = read_counts(store, RUN)
            damaged = check_store(store).damaged
            alerts = AlertStore(store).alerts()
            undelivered = AlertStore(store).deliveries()
            no_value = store.query("SELECT COUNT(*) FROM scores JOIN names ON names.number = metric "
                                   "WHERE value IS NULL AND text <> 'embedded_utilization'")[0][0]  # fmt: skip
        report = SampleQueue(self.queue).report()
        problems = requests_problems(submitted, rows, counted, self.kills, self.window)
        problems += alert_problems(alerts, Counter(message.key for message in self.messages))
        problems += [f"{len(undelivered)} messages of alerts were not delivered"] * bool(undelivered)
        problems += ["the store is damaged"] * damaged
        problems += [f"{no_value} scores have no value"] * bool(no_value)
        left = report.waiting + report.in_work + report.undelivered + report.parked
        problems += [f"{left} samples are left in the queue"] * bool(left)
        times = sorted(submitted.values())
        figures: dict[str, Any] = {
            "requests": len(submitted), "rows": rows.total(), "counted": counted,
            "kills of the application": len(self.kills), "lost": len(submitted) - rows.total() - sum(counted.values()),
            "longest time from a lost request to a kill, ms": round(1e3 * self._longest_loss(submitted, rows), 1),
            "events": dict(self.done), "rate": round(len(times) / max(1.0, times[-1] - times[0]), 1),
            "waiting at the end": self.backlog, "alerts": len(alerts), "messages": len(self.messages),
        }  # fmt: skip
        return problems, figures

    def _longest_loss(self, submitted: dict[str, float], rows: Counter[str]) -> float:
        """Seconds from a request without a row or a place in the sample to the next kill; of all the longest."""
        sampling = Sampling(RATE_KEPT)
        lost = [at for name, at in submitted.items() if name not in rows and sampling.decide(Sample(id=name)).taken]
        return max((min((kill - at for kill in self.kills if kill >= at), default=0.0) for at in lost), default=0.0)


def copy_log(pipe: Path, log: Path) -> None:
    """Copy what an application writes until it ends."""
    copy_pipe(pipe.open("rb", buffering=0), log)


def copy_pipe(pipe: IO[bytes], log: Path) -> None:
    """Append what comes out of a pipe to a file: with a limit on its files a process could not write there itself."""
    with pipe, log.open("ab", buffering=0) as target:
        while some := pipe.readline():
            target.write(some)


def read_log(path: Path) -> Iterator[tuple[str, str]]:
    """Numbers and times of a log, whose last line may be torn."""
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            number, at = line.split()
            yield number, at


def requests_problems(
    submitted: dict[str, float],
    rows: Counter[str],
    counted: dict[str, int],
    kills: Sequence[float],
    window: float = WINDOW,
) -> list[str]:
    """What is wrong with the rows and the counts of a live run.

    Args:
        submitted: Request -> when it was submitted.
        rows: Id -> number of rows.
        counted: Cause -> requests that have no row.
        kills: Times of kills of the application.
        window: Seconds before a kill in which requests may be lost.
    """
    problems = [f"request {name} is {times} rows" for name, times in rows.items() if times > 1]
    problems += [f"row {name} is no request" for name in rows.keys() - submitted.keys()]
    sampling = Sampling(RATE_KEPT)
    left_out = {name for name in submitted if not sampling.decide(Sample(id=name)).taken}
    in_window = {name for name, at in submitted.items() if any(0.0 <= kill - at <= window for kill in kills)}
    missing = submitted.keys() - rows.keys() - left_out
    problems += [f"request {name} was to be left out, and is a row" for name in rows.keys() & left_out]
    others = sum(counted.values()) - counted.get("sampled_out", 0)
    for what, names, number in (("left out by sampling", left_out, counted.get("sampled_out", 0)),
                                ("missing", missing, others)):  # fmt: skip
        least, most = len(names - in_window), len(names)
        if not least <= number <= most:
            problems.append(f"{most} requests are {what}, {least} of them not before a kill; {number} are counted")
    return problems


def alert_problems(alerts: Sequence[StoredAlert], received: Counter[str]) -> list[str]:
    """What is wrong with the alerts: two open at once, or a message that did not come.

    Args:
        alerts: The alerts of the store.
        received: Idempotency key of a message -> how often it came.
    """
    found = sorted(alerts, key=lambda one: one.opened or 0.0)
    problems = [
        f"alert {after.id} opened before {before.id} closed"
        for before, after in itertools.pairwise(found)
        if before.closed is None or (after.opened or 0.0) < before.closed
    ]
    wanted = {f"{one.id}:opened" for one in found} | {f"{one.id}:closed" for one in found if one.closed is not None}
    problems += [f"message {key} did not come" for key in wanted - received.keys()]
    problems += [f"message {key} is of no alert in the store" for key in received.keys() - wanted]
    return problems


@contextlib.contextmanager
def small_disk(folder: Path, mount: bool = True) -> Iterator[FullDisk]:
    """Within, a folder may be made full: a tmpfs, or where none may be mounted a limit on the size of files."""
    options = ["-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)]
    mounted = mount and subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    try:
        yield (lambda pids: filled(folder)) if mounted else limited
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Within, the disk of a folder has no byte left."""
    while not _resized(folder, (disk := os.statvfs(folder)).f_blocks * 4096 - disk.f_bfree * 4096):
        continue  # it has grown meanwhile
    try:
        yield
    finally:
        assert _resized(folder, MEGABYTES * 2**20)


def _resized(folder: Path, size: int) -> bool:
    command = ["mount", "-o", f"remount,size={size}", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def limited(pids: Sequence[int]) -> Iterator[None]:
    """Within, these processes can make no file larger."""
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        for pid in pids:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def wait_for(condition: Callable[[], bool], timeout: float = 60.0) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--rate", type=float, default=100.0)
    options.add_argument("--every", type=float, default=7.0)
    options.add_argument("--folder", type=Path)
    chosen = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        soak = Soak((chosen.folder or Path(name)) / "soak", chosen.rate)
        soak.run(chosen.minutes * 60, chosen.every)
        errors = Counter(line[:120] for line in (soak.folder / "stderr").read_text().splitlines() if line.strip())
    for what, value in soak.figures.items():
        print(f"{what}: {value}")
    for line, times in errors.most_common(15):
        print(f"  log, {times} times: {line}")
    for problem in soak.problems[:50]:
        print(f"WRONG: {problem}")
    print("all requests and alerts add up" if not soak.problems else f"{len(soak.problems)} problems")
    return bool(soak.problems)


if __name__ == "__main__":
    if sys.argv[1:2] in (["application"], ["worker"]):
        (application if sys.argv[1] == "application" else worker)(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))

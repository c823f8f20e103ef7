"""A fork at any moment leaves a working child: while models load, while they read, while something is imported."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
import time
from functools import cached_property
from pathlib import Path

import pytest

from assay._util.forks import FORK_LOCK, ForkLock, own_lock
from assay._util.threads import BackgroundWorker
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.records import type_adapter
from assay.sinks import JsonlSink
from assay.text.cache import BoundedCache

ROOT = Path(__file__).parents[2]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

#: What needs no care: it lives for one call, or in processes of assay's own that never fork.
HARMLESS = {
    "src/assay/evaluation/targets/functions.py": "of one call, whose caller waits for it",
    "src/assay/testing/captures.py": "a check that a test calls",
    "src/assay/live/mailbox.py": "its owner makes another mailbox",
    "src/assay/live/queue/leases.py": "of a worker process",
    "src/assay/live/queue/outbox.py": "of a worker process",
    "src/assay/live/queue/worker.py": "of a worker process",
    "src/assay/evaluation/sharded/workers.py": "of a worker process, which it ends with its driver",
    "src/assay/_util/sync.py": "of one call, whose caller waits for it",
    "src/assay/sinks/writing.py": "of one evaluation, whose loop does not survive a fork either",
    "src/assay/_util/forks.py": "the module that makes them anew",
    "src/assay/live/handlers/exchanges.py": "of one exchange, which a child does not take over; its wait has a limit",
    "src/assay/live/handlers/base.py": "a thread for one call, whose caller waits for it",
    "src/assay/judges/llm/framework.py": "a thread for one call; it holds nothing",
    "src/assay/sinks/http_post.py": "of one request, whose caller waits for it; its time has an end",
    "src/assay/cli/watch.py": "of a process of assay's own that never forks",
    "src/assay/live/alerts/watcher.py": "of a worker process or of `assay live watch`",
    "src/assay/live/alerts/delivery.py": "the same",
    "src/assay/live/alerts/prometheus.py": "the same",
    "integrations/embedded/src/assay_embedded/graphs.py": "threads for one reading, which a fork waits for",
}
MAKERS = {"Lock", "RLock", "Condition", "Event", "Semaphore", "ThreadPoolExecutor", "Thread", "Queue", "SimpleQueue"}
CARE = ("register_at_fork", "renewed(", "own_lock(", "_set_up")


def test_every_lock_and_pool_is_made_anew_in_a_child() -> None:
    """Whoever makes a lock, a pool or a thread says in the same module what a fork does to it."""
    careless = []
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("integrations/*/src/**/*.py")]:
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        made = {
            ast.unparse(node.func)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2] in MAKERS
            and not ast.unparse(node.func).startswith(("asyncio.", "Event"))  # some records are called Event
        }
        if made and name not in HARMLESS and not any(word in text for word in CARE):
            careless.append((name, sorted(made)))
    assert careless == []


PROGRAM = """
import faulthandler, os, sys, time
from assay.live import LiveScorer
from assay.records import Context, Sample

def sample(number):
    passages = (Context(text="Cats purr when they are calm."),)
    answer = f"Cats purr when they are calm. {number}"
    return Sample(question="Why do cats purr?", contexts=passages, answer=answer)

scorer = LiveScorer()
for number in range(8):
    scorer.submit(sample(number))
left = []
for delay in map(float, sys.argv[1:]):
    time.sleep(delay)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(60, exit=True)
        scorer.submit(sample(99))
        done = scorer.flush(50)
        health = scorer.health()
        print(done, health.submitted, health.scored, dict(health.errors), flush=True)
        os._exit(0)
    left.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in left]
print("parent", codes, scorer.flush(100), scorer.health().scored, flush=True)
"""


@forks
@pytest.mark.long
def test_forks_while_the_embedded_judge_loads_and_reads() -> None:
    """The first forks fall into imports and loading, the last ones into reading. Two metrics on each sample."""
    delays = ["0.05", "0.3", "0.5", "0.7", "1", "1"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *delays], capture_output=True, text=True, timeout=280, check=False
    )
    lines = sorted(done.stdout.splitlines())
    assert lines == [*["True 1 2 {}"] * len(delays), "parent [0, 0, 0, 0, 0, 0] True 16"], done.stderr
    assert "Task was destroyed" not in done.stderr


def in_a_child(works: object) -> bool:
    """Whether a function gives a true value in a forked child, within a few seconds."""
    assert callable(works)
    child = os.fork()
    if child == 0:
        threading.Thread(target=lambda: (time.sleep(5), os._exit(2)), daemon=True).start()
        os._exit(0 if works() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_lock_that_another_thread_holds_is_free_in_the_child(tmp_path: Path) -> None:
    cache: BoundedCache[str, int] = BoundedCache(1000, lambda key, value: 1)
    sink = JsonlSink(tmp_path / "scores.jsonl")
    threads = BackgroundWorker(1, "assay-test")
    with cache._lock, sink._lock, threads._guard:
        assert in_a_child(lambda: cache.get("key", lambda: 1) == 1)
        assert in_a_child(lambda: sink._lock.acquire(timeout=1))
        assert in_a_child(lambda: threads.submit(lambda: 7).result(3) == 7)


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_native_code_and_the_child_may_enter() -> None:
    inside, leave = threading.Event(), threading.Event()

    def native() -> None:
        with FORK_LOCK.entered():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=native)
    thread.start()
    assert inside.wait(5)
    threading.Timer(0.3, leave.set).start()
    begun = time.monotonic()
    assert in_a_child(lambda: FORK_LOCK.empty(0) and FORK_LOCK.entered().__enter__() is None)
    assert time.monotonic() - begun >= 0.25
    thread.join()
    with FORK_LOCK.entered():
        pass


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_what_a_thread_of_ours_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "assay_slow_module.py").write_text("import time\nstarted = True\ntime.sleep(0.5)\ndone = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=lambda: __import__("assay_slow_module"), name="assay-test", daemon=True)
    thread.start()
    while "assay_slow_module" not in sys.modules:
        time.sleep(0.001)
    assert in_a_child(lambda: __import__("assay_slow_module").done)
    thread.join()
    del sys.modules["assay_slow_module"]


class Asked:
    """What it asks is made once; until Python 3.12 all its objects share one lock for that."""

    def __init__(self, seconds: float, begun: threading.Event) -> None:
        self.seconds, self.begun = seconds, begun

    @cached_property
    def text(self) -> str:
        self.begun.set()
        time.sleep(self.seconds)
        return "asked"


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_while_a_thread_of_ours_makes_what_is_made_once() -> None:
    begun = threading.Event()
    thread = threading.Thread(target=lambda: Asked(0.5, begun).text, name="assay-test", daemon=True)
    thread.start()
    assert begun.wait(5)
    assert in_a_child(lambda: Asked(0.0, threading.Event()).text == "asked")
    thread.join()


class SlowToRead:
    """A type for which pydantic takes a while to make what reads it."""

    begun, done = threading.Event(), False

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> object:
        cls.begun.set()
        time.sleep(0.5)
        cls.done = True
        return {"type": "any"}


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_while_pydantic_makes_what_reads_a_judgement() -> None:
    """It holds locks then that nobody would let go of in the child, whose first judgement would wait for ever."""
    thread = threading.Thread(target=lambda: type_adapter(SlowToRead))
    thread.start()
    assert SlowToRead.begun.wait(5)
    assert in_a_child(lambda: SlowToRead.done)
    thread.join()


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_while_the_finder_of_languages_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    from py3langid.langid import LanguageIdentifier

    from assay.text import languages

    begun, done = threading.Event(), threading.Event()

    def slowly(path: object) -> str:
        begun.set()
        time.sleep(0.5)
        done.set()
        return "loaded"

    monkeypatch.setattr(LanguageIdentifier, "from_model_file", slowly)
    thread = threading.Thread(target=languages._identifier.__wrapped__)
    thread.start()
    assert begun.wait(5)
    assert in_a_child(done.is_set)
    thread.join()


def test_a_gate_may_be_entered_again_and_by_many() -> None:
    gate, both = ForkLock(), threading.Barrier(2)

    def twice() -> None:
        with gate.entered(), gate.entered():
            both.wait(5)

    threads = [threading.Thread(target=twice) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gate.empty(0)


def test_own_locks_are_forgotten_with_their_owner() -> None:
    from assay._util.forks import _LOCKS

    class Owner:
        def __init__(self) -> None:
            self._lock = own_lock(self)

    before = len(_LOCKS)
    owner = Owner()
    assert len(_LOCKS) == before + 1
    del owner
    assert len(_LOCKS) == before


PICKLED = """
import pickle, sys
scorer, _ = pickle.loads(sys.stdin.buffer.read())
again = [scorer.submit(None) for _ in range(3)]
print(scorer, again, scorer.flush(0), scorer.close().submitted)
"""


def test_a_pickled_scorer_is_itself_here_and_says_what_it_is_elsewhere() -> None:
    import pickle

    scorer = LiveScorer("faithfulness", ScriptedJudge())
    content = pickle.dumps([scorer, scorer])
    assert pickle.loads(content) == [scorer, scorer]
    done = subprocess.run(
        [sys.executable, "-c", PICKLED],
        input=content,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert (
        done.stdout.decode().strip() == "DisabledIntake('LiveScorer of another process') [False, False, False] True 0"
    )
    assert done.stderr.decode().count("was pickled into this process") == 1
    assert "Make one in each process" in done.stderr.decode()

"""Real servers that run the application of `tests.live.served`: started, sent requests and tasks, and ended."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests._support.servers import app_servers
from tests._support.servers.stores import free_ports
from tests.live.process_ends import Place

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds that a step may take on a busy machine
REQUESTS = 100
LOAD = 0.6  # seconds of requests before a server is killed


def _gunicorn(worker: str, application: str, *options: str) -> list[str]:
    # a uvicorn worker does not end by SIGINT, and is killed after the grace
    shared = ["--bind", "127.0.0.1:{port}", "--workers", "2", "--graceful-timeout", "3", "--log-level", "warning"]
    return [
        "-m",
        "gunicorn",
        *shared,
        "--worker-class",
        worker,
        *options,
        "{options}",
        f"tests.live.served:{application}",
    ]


def _uvicorn(*options: str, application: str = "asgi") -> list[str]:
    shared = ["--port", "{port}", "--log-level", "warning"]
    return ["-m", "uvicorn", *shared, *options, "{options}", f"tests.live.served:{application}"]


#: The command of each, after Python; `{options}` are those of one run.
COMMANDS: Mapping[str, list[str]] = {
    "gunicorn sync": _gunicorn("sync", "wsgi"),
    "gunicorn sync --preload": _gunicorn("sync", "wsgi", "--preload"),
    "gunicorn gthread": _gunicorn("gthread", "wsgi", "--threads", "4"),
    "gunicorn gthread --preload": _gunicorn("gthread", "wsgi", "--threads", "4", "--preload"),
    "gunicorn uvicorn worker": _gunicorn("uvicorn_worker.UvicornWorker", "asgi"),
    "gunicorn uvicorn worker --preload": _gunicorn("uvicorn_worker.UvicornWorker", "asgi", "--preload"),
    "uvicorn": _uvicorn(),
    "uvicorn closed in lifespan": _uvicorn(application="closing"),
    "uvicorn.run": ["-m", "tests.live.served", "serve", "{port}"],
    "uvicorn --reload": _uvicorn("--reload", "--reload-dir", "{folder}/watched"),
    "uvicorn --workers": _uvicorn("--workers", "2"),
    "celery prefork": ["-m", "celery", "-A", "tests.live.served:tasks", "worker", "--concurrency", "2", "{options}"],
}

#: The option by which a process ends after so many requests.
LIMITS: Mapping[str, str] = {
    "gunicorn": "--max-requests=20",
    "uvicorn": "--limit-max-requests=20",
    "celery": "--max-tasks-per-child=20",
}


@dataclass(frozen=True)
class Server:
    """A running server, in a process group of its own, and what its application accepted and kept."""

    name: str
    kind: str
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    def get(self, path: str = "/") -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def try_get(self, path: str = "/") -> bytes | None:
        """None where no process takes the request, as while one ends."""
        try:
            return self.get(path)
        except (OSError, http.client.HTTPException):
            return None

    def send(self, path: str, count: int) -> None:
        """Requests, one after the other, until so many are answered or the server ends; for Celery tasks."""
        if self.name.startswith("celery"):
            _python(self.kind, self.folder, "-m", "tests.live.served", path, str(count)).wait(PATIENCE)
            return
        answered = 0
        until = time.monotonic() + PATIENCE
        while answered < count and self.process.poll() is None:
            answered += self.try_get(path) is not None
            assert time.monotonic() < until

    def accepted(self) -> dict[str, float]:
        """The samples that the application submitted, and when on the machine's steady clock."""
        file = self.folder / "accepted.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        return {id: float(when) for when, id in (line.split(" ", 1) for line in lines)}

    def lost(self) -> dict[str, float]:
        """Those of them that are not kept."""
        kept = set(Place(self.kind, self.folder).ids())
        return {id: when for id, when in self.accepted().items() if id not in kept}

    def workers(self) -> set[int]:
        """The processes that submitted and still run."""
        return {pid for pid in {int(id.split()[0]) for id in self.accepted()} if _runs(pid)}

    def signal(self, number: int, *, group: bool = False) -> None:
        """Send it to the server, or to all its processes, as a terminal does."""
        (os.killpg if group else os.kill)(self.process.pid, number)

    def wait(self) -> None:
        self.process.wait(PATIENCE)


def wait_until(reached: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _python(kind: str, folder: Path, *command: str) -> subprocess.Popen[bytes]:
    """A process of the servers' environment, in a group of its own."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "ASSAY_"))}
    settings |= {"ASSAY_TEST_KIND": kind, "ASSAY_TEST_FOLDER": str(folder)}
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [str(app_servers.python()), *command],
            cwd=ROOT,
            env=settings,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


@contextlib.contextmanager
def serving(name: str, kind: str, folder: Path, *options: str) -> Iterator[Server]:
    """The server, once it answers; what is left of its processes is killed at the end."""
    (folder / "watched").mkdir(parents=True)
    (folder / "watched" / "module.py").touch()
    (port,) = free_ports(1)
    words: list[str] = []
    for word in COMMANDS[name]:
        words += options if word == "{options}" else [word.format(port=port, folder=folder)]
    process = _python(kind, folder, *words)
    server = Server(name, kind, folder, port, process)
    try:
        if not name.startswith("celery"):  # which takes tasks when it is ready for them
            wait_until(lambda: server.process.poll() is not None or server.try_get("/pid"))
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.signal(signal.SIGKILL, group=True)
        process.wait(PATIENCE)


# -- ways to end ----------------------------------------------------------------------------------------------------


def end_by_signal(number: int, server: Server, *, group: bool = False) -> None:
    server.send("/", REQUESTS)
    wait_until(lambda: len(server.accepted()) == REQUESTS)
    server.signal(number, group=group)
    server.wait()


def end_by_limit(server: Server) -> None:
    """A worker process ends after 20 requests, and another takes its place; uvicorn alone ends."""
    server.send("/", REQUESTS)
    alone = server.name.startswith("uvicorn") and "--workers" not in server.name
    wait_until(lambda: len(server.accepted()) >= (19 if alone else REQUESTS))
    if not alone:
        server.signal(signal.SIGTERM)
    server.wait()


def restart(server: Server) -> None:
    """The worker processes end, by the server's own hand, and others take their place."""
    server.send("/", REQUESTS)
    before = server.workers()
    assert before
    if "--reload" in server.name:
        (server.folder / "watched" / "module.py").write_text("changed = True\n")
    else:
        server.signal(signal.SIGHUP)
    wait_until(lambda: not before & server.workers())


WARNED: Mapping[str, Callable[[Server], None]] = {
    "SIGTERM": partial(end_by_signal, signal.SIGTERM),
    "SIGINT": partial(end_by_signal, signal.SIGINT),
    "Ctrl-C": partial(end_by_signal, signal.SIGINT, group=True),
    "limit": end_by_limit,
    "restart": restart,
}


def options_of(server: str, way: str) -> list[str]:
    """The options of the server that a way to end needs."""
    return [LIMITS[server.split()[0]]] if way == "limit" else []


def kill(server: Server) -> float:
    """SIGKILL of all processes under load. When, on the machine's steady clock."""
    _load(server)
    when = time.monotonic()
    server.signal(signal.SIGKILL, group=True)
    server.wait()
    return when


def exit_at_once(server: Server) -> float:
    """`os._exit` in the application, under load; the same."""
    _load(server)
    before = time.monotonic()
    server.send("/exit", 1) if server.name.startswith("celery") else server.try_get("/exit")
    return before


def _load(server: Server) -> None:
    if server.name.startswith("celery"):
        server.send("/", REQUESTS)
        wait_until(lambda: len(server.accepted()) >= REQUESTS // 2)
        return
    until = time.monotonic() + LOAD
    while time.monotonic() < until:
        server.get()


UNWARNED: Mapping[str, Callable[[Server], float]] = {"SIGKILL": kill, "os._exit": exit_at_once}

"""Real trace stores for tests: a Phoenix and an MLflow server, each in an environment of its own, on loopback.

    base_url = phoenix()      http://127.0.0.1:PORT, the same server for the whole test session

The environments are made once, with uv or else with venv and pip, under the user's cache directory. A server starts
when it is first asked for and ends with the test session. It is held by a pipe, so that it ends as well when the
session is killed. Where it cannot be had the tests fail and say why.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

READY = 240.0  # seconds that a server may take to start on a busy machine
INSTALL = 900.0  # seconds that an environment may take

#: Started in place of the server, whose process group it leads; ends the group when the pipe to it closes.
_KEEPER = """
import os, signal, subprocess, sys, threading
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # now: a program inherits what is ignored
closing = threading.Event()
def watch():
    server.wait()
    closing.is_set() or os.killpg(0, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
sys.stdin.buffer.read()
closing.set()
os.killpg(0, signal.SIGTERM)
try:
    server.wait(5)
finally:
    os.killpg(0, signal.SIGKILL)
"""


class StoreUnavailable(Exception):
    """A store's environment could not be made, or its server did not start. The message holds what was printed."""


@dataclass(frozen=True, eq=False)
class Store:
    """How one store is installed and started. `{port}`, `{extra_port}` and `{folder}` are filled in."""

    requirement: str
    command: Sequence[str]
    health: str
    settings: Mapping[str, str] = field(default_factory=dict)


PHOENIX = Store(
    requirement="arize-phoenix>=20,<21",
    command=("phoenix", "serve"),
    health="/healthz",
    settings={
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": "{port}",
        "PHOENIX_GRPC_PORT": "{extra_port}",
        "PHOENIX_WORKING_DIR": "{folder}",
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",  # it has a shell
    },
)

MLFLOW = Store(
    requirement="mlflow>=3.17,<3.18",
    command=(
        "mlflow", "server", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1",
        "--backend-store-uri", "sqlite:///{folder}/mlflow.db", "--artifacts-destination", "{folder}/artifacts",
    ),
    health="/health",
    settings={"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
)  # fmt: skip


def phoenix() -> str:
    """The base URL of the test session's Phoenix server."""
    return _running(PHOENIX)


def mlflow() -> str:
    """The tracking URI of the test session's MLflow server."""
    return _running(MLFLOW)


def packages(requirement: str) -> Path:
    """The folder of packages of the environment that has `requirement`."""
    (found,) = (environment(requirement).parent / "lib").glob("python*/site-packages")
    return found


@functools.cache
def _running(store: Store) -> str:
    exit_stack = contextlib.ExitStack()
    atexit.register(exit_stack.close)
    try:
        return exit_stack.enter_context(serving(store))
    except BaseException:
        exit_stack.close()
        raise


@contextlib.contextmanager
def serving(store: Store) -> Iterator[str]:
    """A server with an empty database, up to the end of the block."""
    programs = environment(store.requirement)
    with tempfile.TemporaryDirectory(prefix="assay-store-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        port, extra_port = free_ports(2)
        fill = functools.partial(str.format, port=port, extra_port=extra_port, folder=folder)
        program, *arguments = store.command
        command = [str(programs / program), *(fill(argument) for argument in arguments)]
        settings = {key: fill(value) for key, value in store.settings.items()}
        log = folder / "log.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", _KEEPER, *command],
                cwd=folder,
                env=_environment_variables(settings, folder),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            base_url = f"http://127.0.0.1:{port}"
            _wait_until_healthy(base_url + store.health, process, log, store)
            yield base_url
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


def environment(requirement: str) -> Path:
    """The folder of programs of a virtual environment that has `requirement`; made when it is first asked for."""
    key = hashlib.sha256(f"{requirement}\n{sys.version}".encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay-test-stores"
    cache.mkdir(parents=True, exist_ok=True)
    home = cache / key
    with _locked(cache / f"{key}.lock"):
        if not (home / "ready").exists():
            shutil.rmtree(home, ignore_errors=True)
            _install(requirement, home)
            (home / "ready").write_text(requirement)
    return home / "bin"


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listened on just now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _install(requirement: str, home: Path) -> None:
    uv = shutil.which("uv")
    with_uv = [uv] if uv else [sys.executable, "-m", "uv"] if importlib.util.find_spec("uv") else None
    if with_uv:
        make = [*with_uv, "venv", "--quiet", "--python", sys.executable, str(home)]
        install = [*with_uv, "pip", "install", "--quiet", "--python", str(home / "bin" / "python"), requirement]
    else:
        make = [sys.executable, "-m", "venv", str(home)]
        install = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", requirement]
    for command in (make, install):
        try:
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL)
        except subprocess.TimeoutExpired as error:
            raise StoreUnavailable(f"{requirement}: {command[0]} was not done after {INSTALL:.0f} s") from error
        if result.returncode:
            raise StoreUnavailable(f"{requirement} could not be installed:\n{(result.stdout + result.stderr)[-3000:]}")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl  # POSIX only

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _environment_variables(settings: Mapping[str, str], home: Path) -> dict[str, str]:
    foreign = ("PHOENIX_", "MLFLOW_", "OTEL_", "PYTHON", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return {**kept, "HOME": str(home), **settings}


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path, store: Store) -> None:
    deadline = time.monotonic() + READY
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise StoreUnavailable(f"{store.requirement}: the server ended:\n{log.read_text(errors='replace')[-3000:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as response:
            if response.status == 200:
                return
        time.sleep(0.2)
    raise StoreUnavailable(
        f"{store.requirement}: no answer after {READY:.0f} s:\n{log.read_text(errors='replace')[-3000:]}"
    )

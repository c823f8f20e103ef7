"""A real PostgreSQL server for tests, on loopback: started, stopped and started again.

The programs are those of this machine, or those of the package pgserver in an environment of its own. PostgreSQL does
not run as root: it runs as another user then.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests._support.servers import stores

PACKAGE = "pgserver>=0.1.4,<0.2"
PASSWORD = "s3cret/of us"
READY = 60.0
_USERS = ("postgres", "nobody")


def make_ready() -> None:
    """Raises where no server can be had."""
    programs()


@functools.cache
def programs() -> Path:
    """The folder with `initdb` and `postgres`."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    return stores.packages(PACKAGE) / "pgserver" / "pginstall" / "bin"


def _user() -> str | None:
    """Who the server runs as; None: whoever we are."""
    if os.geteuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    return next(name for name in _USERS if name in known)


@dataclass
class Server:
    """One server with the user `team`, whose password is `PASSWORD`, and the database `team`."""

    folder: Path
    port: int = field(default_factory=lambda: stores.free_ports(1)[0])
    _process: subprocess.Popen[bytes] | None = None

    def url(self, schema: str = "assay") -> str:
        """What opens a store there."""
        return f"postgresql://team:s3cret%2Fof%20us@127.0.0.1:{self.port}/team?schema={schema}"

    def run(self, sql: str) -> list[Any]:
        """The rows that a statement gives."""
        with contextlib.closing(self.connect_to("team")) as db:
            cursor = db.cursor()
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []

    def make(self) -> None:
        """A new cluster."""
        (self.folder / "password").write_text(PASSWORD)
        (self.folder / "password").chmod(0o644)
        data = str(self.folder / "data")
        self._done("initdb", "-D", data, "-U", "team", "--auth=scram-sha-256", "--no-sync", "-E", "UTF8", "--locale=C",
                   f"--pwfile={self.folder / 'password'}")  # fmt: skip

    def start(self) -> None:
        """Raises RuntimeError with what it said where it does not start."""
        options = (
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            f"unix_socket_directories={self.folder}",
            "-c",
            "fsync=off",
        )
        command = [str(programs() / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port), *options]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, user=_user(), start_new_session=True)
        end = time.monotonic() + READY
        while True:
            with contextlib.suppress(Exception):
                self.connect_to("postgres").close()
                return
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def connect_to(self, database: str) -> Any:
        """A connection of the tests' own, each statement by itself."""
        import pg8000.dbapi

        db = pg8000.dbapi.connect("team", "127.0.0.1", database, self.port, PASSWORD)
        db.autocommit = True
        return db

    def stop(self, how: int = signal.SIGINT) -> None:
        """SIGINT: fast, connections are cut. SIGQUIT: as a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(READY)
            self._process = None

    def _done(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(programs() / program), *arguments], user=_user(), capture_output=True, text=True, cwd=self.folder
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr[-2000:]}")


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A running server, and its files gone at the end."""
    with tempfile.TemporaryDirectory(prefix="assay-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        user = _user()
        if user is not None:
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        folder.chmod(0o755)
        made = Server(folder)
        made.make()
        made.start()
        try:
            with contextlib.closing(made.connect_to("postgres")) as db:
                db.cursor().execute("CREATE DATABASE team")
            yield made
        finally:
            made.stop(signal.SIGQUIT)

"""What is known of batches, on disk: each request, the batch it went into, its reply. It survives `kill -9`.

A batch goes through these states, each written before what it stands for is done:

    intended   which requests it holds, and its tag; nothing has left
    uploaded   its file is at the provider (`file`)
    creating   the call that makes the batch leaves now: after a crash nobody knows whether it arrived
    running    the provider has it (`id`)
    collected  every reply is here; what had none may be asked again
    dropped    the provider refused it, or it is given up; its requests are free again
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay._util.byte_limits import MIB
from assay._util.compression import pack, to_json, unpack
from assay._util.sqlite import Database, as_store_error
from assay.records import Usage

FILE_NAME = "batches.db"
SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE requests (
    key BLOB PRIMARY KEY, batch INTEGER, tries INTEGER NOT NULL DEFAULT 0, size INTEGER, body BLOB, reply BLOB,
    run TEXT, prompt INTEGER, completion INTEGER, cached INTEGER, at REAL
) WITHOUT ROWID;;
CREATE INDEX requests_by_batch ON requests (batch);;
CREATE INDEX requests_by_run ON requests (run);;
CREATE TABLE batches (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL UNIQUE, target TEXT NOT NULL, path TEXT NOT NULL,
    state TEXT NOT NULL, run TEXT, requests INTEGER NOT NULL, at REAL NOT NULL, file TEXT, id TEXT, said TEXT
);;
CREATE TABLE jobs (run TEXT PRIMARY KEY, folder TEXT NOT NULL, arguments TEXT NOT NULL) WITHOUT ROWID
"""

State = Literal["intended", "uploaded", "creating", "running", "collected", "dropped"]
#: Seconds that replies are kept which nobody has used.
KEPT = 30 * 86_400.0

OPEN: tuple[State, ...] = ("intended", "uploaded", "creating", "running")


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch. `at`: seconds since 1970 when it came into its state; `said`: what the provider last said of it."""

    number: int
    tag: str
    target: str
    path: str
    state: State
    run: str | None
    requests: int
    at: float
    file: str | None = None
    id: str | None = None
    said: str | None = None


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A command that detached: what it was called with, and in which folder."""

    run: str
    folder: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CollectedReplies:
    """One reply of a batch: `reply` is kept as it is, and `usage` counted; no reply: it may be asked again.

    `size`: bytes of its line.
    """

    key: bytes
    reply: Mapping[str, Any] | None
    usage: Usage | None = None
    size: int = 0


_COLUMNS = "number, tag, target, path, state, run, requests, at, file, id, said"


class BatchState:
    """The file `batches.db` of a folder. Methods raise StoreError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._file = Database(self.path, SCHEMA, "requests", version=SCHEMA_VERSION, timeout=30)
        self._file.create("batches ")

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with as_store_error(f"{str(self.path)!r} cannot be written"), self._file.write() as db:
            yield db

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with as_store_error(f"{str(self.path)!r} cannot be read"):
            return self._file.rows(sql, *values)

    # ---- requests

    def lookup(self, key: bytes, run: str | None = None) -> tuple[bool, Mapping[str, Any] | None]:
        """Whether a request is in a batch under way, or answered; and its reply. From now on it is `run`'s."""
        found = self._rows("SELECT batch, reply, run FROM requests WHERE key = ?", key)
        if not found:
            return False, None
        batch, reply, of_run = found[0]
        if run is not None and run != of_run:
            with self._writing() as db:
                db.execute("UPDATE requests SET run = ? WHERE key = ?", (run, key))
        return batch is not None or reply is not None, None if reply is None else _loaded(reply)

    def ask(self, requests: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep the bodies of requests, by key. They are in no batch yet."""
        with self._writing() as db:
            sql = "INSERT INTO requests (key, size, body) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING"
            db.executemany(sql, [(key, len(body), pack(body)) for key, body in requests])

    def bodies(self, batch: Batch) -> Iterator[tuple[bytes, bytes]]:
        """The requests of a batch, with their bodies, in the order of their keys."""
        last = b""
        sql = "SELECT key, body FROM requests WHERE batch = ? AND key > ? ORDER BY key LIMIT 500"
        while page := self._rows(sql, batch.number, last):
            yield from ((key, unpack(body)) for key, body in page)
            last = page[-1][0]

    def keys(self, batch: Batch) -> set[bytes]:
        """The requests of a batch that have no reply yet."""
        return {key for (key,) in self._rows("SELECT key FROM requests WHERE batch = ?", batch.number)}

    def usage_of(self, run: str) -> Usage:
        """What the replies that a run used have cost; None where one of them does not say."""
        sql = (
            "SELECT COUNT(*), SUM(prompt), COUNT(prompt), SUM(completion), COUNT(completion), SUM(cached), "
            "COUNT(cached) FROM requests WHERE run = ? AND reply IS NOT NULL"
        )
        count, *pairs = self._rows(sql, run)[0]
        sums = [(total or 0) if known == count else None for total, known in zip(pairs[::2], pairs[1::2], strict=True)]
        return Usage(calls=count, prompt_tokens=sums[0], completion_tokens=sums[1], cached_tokens=sums[2])

    def forget(self, run: str) -> None:
        """The run is over: its judgements are in the store, and what failed is to be asked again by the next one.

        What other runs have left goes after 30 days.
        """
        with self._writing() as db:
            db.execute("DELETE FROM requests WHERE run = ? AND reply IS NOT NULL", (run,))
            db.execute("DELETE FROM requests WHERE batch IS NULL AND (reply IS NULL OR at < ?)", (time.time() - KEPT,))

    # ---- batches

    def intend(self, target: str, path: str, keys: Sequence[bytes], run: str | None) -> Batch:
        """Put requests into a new batch, which is written down before anything of it leaves."""
        with self._writing() as db:
            sql = "INSERT INTO batches (tag, target, path, state, run, requests, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
            values = (secrets.token_hex(6), target, path, "intended", run, len(keys), time.time())
            number = int(db.execute(sql, values).lastrowid or 0)
            db.executemany("UPDATE requests SET batch = ?, run = ? WHERE key = ?", [(number, run, key) for key in keys])
        return self.batch(number)

    def batch(self, number: int) -> Batch:
        """The batch of this number."""
        return Batch(*self._rows(f"SELECT {_COLUMNS} FROM batches WHERE number = ?", number)[0])

    def batches(self, target: str | None = None, states: Sequence[State] = OPEN) -> list[Batch]:
        """The batches in these states, the oldest first."""
        marks = ", ".join("?" * len(states))
        sql = f"SELECT {_COLUMNS} FROM batches WHERE state IN ({marks}) ORDER BY number"
        found = [Batch(*row) for row in self._rows(sql, *states)]
        return [batch for batch in found if target in (None, batch.target)]

    def of_run(self, run: str) -> int:
        """How many batches a run made."""
        return int(self._rows("SELECT COUNT(*) FROM batches WHERE run = ? AND id IS NOT NULL", run)[0][0])

    def ids(self) -> set[str]:
        """What the provider calls the batches that are known."""
        return {name for (name,) in self._rows("SELECT id FROM batches WHERE id IS NOT NULL")}

    def move(self, batch: Batch, state: State, *, file: str | None = None, id: str | None = None) -> Batch:
        """Bring a batch into another state."""
        with self._writing() as db:
            sql = (
                "UPDATE batches SET state = ?, at = ?, file = COALESCE(?, file), id = COALESCE(?, id) WHERE number = ?"
            )
            db.execute(sql, (state, time.time(), file, id, batch.number))
        return self.batch(batch.number)

    def say(self, batch: Batch, said: str) -> None:
        """Note what the provider says of a batch."""
        with self._writing() as db:
            db.execute("UPDATE batches SET said = ? WHERE number = ?", (said[:500], batch.number))

    def drop(self, batch: Batch, said: str) -> list[tuple[bytes, int]]:
        """Give a batch up: its requests, with their sizes, are free again."""
        with self._writing() as db:
            free: list[tuple[bytes, int]]
            free = db.execute("SELECT key, size FROM requests WHERE batch = ?", (batch.number,)).fetchall()
            db.execute("UPDATE requests SET batch = NULL WHERE batch = ?", (batch.number,))
            sql = "UPDATE batches SET state = 'dropped', at = ?, said = ? WHERE number = ?"
            db.execute(sql, (time.time(), said[:500], batch.number))
        return free

    def collect(
        self, batch: Batch, replies: Iterable[CollectedReplies], said: str, most_tries: int
    ) -> list[tuple[bytes, int]]:
        """Keep all replies of a batch, some at a time. The keys to be asked again, with sizes.

        What has no reply after `most_tries` batches gets a failure in its place.
        """
        for part in _parts(replies):
            with self._writing() as db:
                _keep(db, batch, part)
        now = time.time()
        with self._writing() as db:
            db.execute("UPDATE requests SET tries = tries + 1 WHERE batch = ?", (batch.number,))
            sql = "SELECT key, size, tries FROM requests WHERE batch = ?"
            again = db.execute(sql, (batch.number,)).fetchall()
            lost = pack(to_json(_lost(most_tries, said)).encode())
            sql = (
                "UPDATE requests SET reply = ?, body = NULL, batch = NULL, prompt = 0, completion = 0, cached = 0, "
                "at = ? WHERE key = ?"
            )
            db.executemany(sql, [(lost, now, key) for key, _, tries in again if tries >= most_tries])
            db.execute("UPDATE requests SET batch = NULL WHERE batch = ?", (batch.number,))
            sql = "UPDATE batches SET state = 'collected', at = ?, said = ? WHERE number = ?"
            db.execute(sql, (time.time(), said[:500], batch.number))
        return [(key, size) for key, size, tries in again if tries < most_tries]

    # ---- jobs

    def put_job(self, job: BatchJob) -> None:
        """Keep what a command was called with, so that it can go on."""
        with self._writing() as db:
            sql = "INSERT OR REPLACE INTO jobs (run, folder, arguments) VALUES (?, ?, ?)"
            db.execute(sql, (job.run, job.folder, json.dumps(job.arguments)))

    def jobs(self) -> list[BatchJob]:
        """The commands that detached and have not ended."""
        found = self._rows("SELECT run, folder, arguments FROM jobs ORDER BY run")
        return [BatchJob(run, folder, tuple(json.loads(arguments))) for run, folder, arguments in found]

    def end_job(self, run: str) -> None:
        """It has ended."""
        with self._writing() as db:
            db.execute("DELETE FROM jobs WHERE run = ?", (run,))


def _parts(replies: Iterable[CollectedReplies]) -> Iterator[list[CollectedReplies]]:
    """Replies in parts that fit into memory: a file of results may have gigabytes."""
    part: list[CollectedReplies] = []
    size = 0
    for one in replies:
        part.append(one)
        size += one.size
        if len(part) >= 500 or size >= 4 * MIB:
            yield part
            part, size = [], 0
    if part:
        yield part


def _keep(db: sqlite3.Connection, batch: Batch, replies: Iterable[CollectedReplies]) -> None:
    for one in replies:
        if one.reply is not None:
            usage = one.usage or Usage()
            sql = (
                "UPDATE requests SET reply = ?, body = NULL, batch = NULL, prompt = ?, completion = ?, "
                "cached = ?, at = ? WHERE key = ? AND batch = ?"
            )
            counts = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
            packed = pack(to_json(one.reply).encode())
            db.execute(sql, (packed, *counts, time.time(), one.key, batch.number))


def _lost(tries: int, said: str) -> dict[str, Any]:
    """The reply in place of one that never came."""
    message = f"no usable result in {tries} batches; the provider last said: {said}"
    return {"failure": {"cause": "connection", "message": message}}


def _loaded(reply: bytes) -> Mapping[str, Any]:
    found = json.loads(unpack(reply))
    assert isinstance(found, dict)
    return found

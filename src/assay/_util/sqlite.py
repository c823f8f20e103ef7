"""One SQLite file: opened when it is first used, one transaction at a time, let go of before a fork.

SQLite keeps its locks in the memory of the process, so a connection that is open at a fork breaks both sides. It is
closed before a fork, and each side opens its own when it needs one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from assay._util.file_stamps import FileStamp, Identity, stamp_new_file
from assay._util.permissions import private_folder, private_opener
from assay.errors import StoreError

log = logging.getLogger("assay.store")

T = TypeVar("T")

FORK_PATIENCE = 2.0  # seconds that a fork waits for the transaction under way
NOTICE = 2.0  # seconds after which it is logged that a file is locked

#: What SQLite's errors mean to whoever reads them, by primary error code.
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the file is read-only",
    sqlite3.SQLITE_BUSY: "it is locked by another process",
    sqlite3.SQLITE_LOCKED: "it is locked by another process",
    sqlite3.SQLITE_CORRUPT: "the file is damaged",
    sqlite3.SQLITE_NOTADB: "the file is damaged, or is something else",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_IOERR: "the disk fails",
}


def reason_of(error: BaseException) -> str:
    """What failed, in words, with the error's own."""
    code = getattr(error, "sqlite_errorcode", None)
    reason = _REASONS.get(code & 0xFF) if isinstance(code, int) else None
    return f"{reason} ({error})" if reason else str(error)


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says, or the error was raised because it said, that the file is damaged: no later try will do."""
    damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return code & 0xFF in damaged
    return isinstance(error, StoreError) and error.__cause__ is not None and is_damage(error.__cause__)


@contextmanager
def as_store_error(what: str) -> Iterator[None]:
    """Within, errors of SQLite and of the file system are StoreErrors; `what` begins their message."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{what}: {reason_of(error)}") from error
    except UnicodeDecodeError as error:  # of the names and texts in it
        raise StoreError(f"{what}: the file is damaged ({error.reason})") from error


class FileReplaced(sqlite3.OperationalError):
    """The file was deleted or replaced while it was open: what was written since would be in no file."""


def _user_version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


class Database:
    """A SQLite file in WAL mode. What a transaction wrote survives `kill -9`; a power cut may lose the last ones.

    Files are made for their owner alone (0600), and so are folders by `create` (0700). Safe for threads. Methods raise
    sqlite3.Error; `create` raises StoreError.

    Args:
        schema: Statements that make the tables, separated by `;;`, for a file without the table `marker`.
        version: Of the schema; a file with a higher one was written by a newer assay. None: these tables are guests in
            a file whose version is that of others.
        timeout: Seconds that a transaction waits for those of other processes.
        migrate: Brings a file of an earlier version, which it is given, to this one; within a transaction.
        version_of: Reads the version, where it does not stand in SQLite's own field.
        page_size: Bytes of a page of a new file. Rows of half a page or more waste what is left of it.
    """

    #: Whether to read from the new file at once where the one that was open is deleted or replaced.
    _goes_on = False

    def __init__(
        self,
        path: Path,
        schema: str,
        marker: str,
        *,
        version: int | None = 1,
        timeout: float = 5.0,
        migrate: Callable[[sqlite3.Connection, int], None] | None = None,
        version_of: Callable[[sqlite3.Connection], int] = _user_version,
        page_size: int = 4096,
    ) -> None:
        self.path = path
        self._schema = schema
        self._marker = marker
        self._version = version
        self._timeout = timeout
        self._patience = min(timeout, NOTICE)  # of one attempt
        self._migrate = migrate
        self._version_of = version_of
        self._page_size = page_size
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._identity: Identity | None = None  # of the file that is open
        self._stamp = FileStamp(None)
        self._broken = False
        _ALL.add(self)

    def create(self, name: str = "") -> None:
        """Make the file and its tables where they are missing, and check its version. `name` is for the error."""
        try:
            with as_store_error(f"{name}{str(self.path)!r} cannot be opened"):
                private_folder(self.path.parent)
                with self._lock:
                    self._open()
        finally:
            self.close()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that writes: committed at the end, undone when anything raises."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A transaction that only reads, so that all its queries see one moment."""
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        _let_fork()
        with self._lock:
            writes = begin != "BEGIN"
            db = self._open(writes=writes)
            try:
                self._when_unlocked(lambda: db.execute(begin))
                yield db
                db.execute("COMMIT")
                if writes:
                    self._check_in_place()
            except BaseException as error:
                self._undo(db, error)
                raise

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        _let_fork()
        with self._lock:
            return self._open().execute(sql, values).fetchall()

    def close(self) -> None:
        """Let go of the file. The next use opens it again."""
        with self._lock:
            self._close()

    def _open(self, *, writes: bool = False) -> sqlite3.Connection:
        """The connection. Where the file is another one by now, who writes is told of it, and the next opens that one.

        Until then the open one can be read, unless this is to go on in another: what it holds is nowhere else.
        """
        if self._broken:
            raise sqlite3.OperationalError("this process was forked in the middle of a transaction; open the file anew")
        if writes or self._goes_on:
            try:
                self._check_in_place()
            except FileReplaced:
                self._put_aside()
                self._close()
                if writes:
                    raise
        if self._db is None:
            self._db = self._when_unlocked(self._connected)
            self._identity = _identity(self.path)
            self._stamp = FileStamp(self._identity)
        return self._db

    def _check_in_place(self) -> None:
        """Raise FileReplaced where the path names another file than the open one, or none."""
        if self._db is None or (_identity(self.path) == self._identity and self._stamp.is_in_place()):
            return
        lost = "what it held"
        with contextlib.suppress(sqlite3.Error):
            lost = self._lost_with(self._db)
        log.warning("assay: %s was deleted or replaced while in use, and with it %s", self.path, lost)
        raise FileReplaced("the file was deleted or replaced while in use")

    def _put_aside(self) -> None:
        """Rename a file that was emptied or written over in place: SQLite would write into it when it is closed."""
        with contextlib.suppress(OSError):
            found = os.stat(self.path)
            if (found.st_dev, found.st_ino) != self._identity:
                return
            kind = "overwritten" if found.st_size else "emptied"
            for end in ("-wal", "-shm", ""):
                with contextlib.suppress(FileNotFoundError):
                    os.replace(f"{self.path}{end}", f"{self.path}.{kind}{end}")

    def _lost_with(self, db: sqlite3.Connection) -> str:
        """What is lost with a file that was deleted or replaced while in use, in words."""
        return "what it held"

    def _when_unlocked(self, action: Callable[[], T]) -> T:
        """What the action returns; while another process has the file locked it is tried again, which is logged."""
        began, told = time.monotonic(), False
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - began
                if "locked" not in str(error) or waited >= self._timeout:
                    raise
            if waited >= NOTICE / 2 and not told:  # SQLite does not wait in every case
                told = True
                log.warning(
                    "assay: %s is locked by another process; waiting for up to %.0f s", self.path, self._timeout
                )
            time.sleep(random.uniform(0.005, 0.05))

    def _connected(self) -> sqlite3.Connection:
        if self.path.exists() and not _is_writable(self.path):
            return self._connected_to_read()
        private_folder(self.path.parent)  # it may have been deleted with the file
        _create_privately(self.path)
        db = sqlite3.connect(self.path, timeout=self._patience, check_same_thread=False, isolation_level=None)
        try:
            if os.path.getsize(self.path) == 0:
                db.execute(f"PRAGMA page_size = {self._page_size}")
                stamp_new_file(db)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            if not self._is_ready(db):
                db.execute("BEGIN IMMEDIATE")
                if not self._is_ready(db):  # another process may have been quicker
                    self._bring_up(db)
                db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
        return db

    def _connected_to_read(self) -> sqlite3.Connection:
        """A connection to a file that we may not write, as on read-only media: every write fails.

        Where SQLite cannot make its files beside it, it reads the file as one that nobody writes. What stands beside it
        (-wal) it cannot read then, and tables of an earlier version cannot be brought to this one: a copy is read.
        """
        address = f"{self.path.resolve().as_uri()}?mode=ro"
        for one in (address,) if _has_wal(self.path) else (address, f"{address}&immutable=1"):
            db = sqlite3.connect(one, uri=True, timeout=self._patience, check_same_thread=False, isolation_level=None)
            with contextlib.suppress(sqlite3.OperationalError):
                if self._is_ready(db):
                    return db
            db.close()
        return self._connected_to_copy()

    def _connected_to_copy(self) -> sqlite3.Connection:
        with tempfile.TemporaryDirectory(prefix="assay-", ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / self.path.name
            for ending in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(f"{self.path}{ending}", f"{copy}{ending}")
            db = sqlite3.connect(copy, check_same_thread=False, isolation_level=None)
            try:
                db.execute("BEGIN IMMEDIATE")
                if not self._is_ready(db):
                    self._bring_up(db)
                db.execute("COMMIT")
                db.execute("PRAGMA query_only = ON")
            except BaseException:
                db.close()
                raise
        return db  # its files have no names any more, and go with it

    def _is_ready(self, db: sqlite3.Connection) -> bool:
        version = self._version_of(db)
        if self._version is not None and version > self._version:
            raise StoreError(f"{str(self.path)!r} was written by a newer assay (schema {version}); upgrade assay")
        sql = "SELECT 1 FROM sqlite_master WHERE name = ?"
        made = db.execute(sql, (self._marker,)).fetchone() is not None
        return made and (self._version in (None, version) or self._migrate is None)

    def _bring_up(self, db: sqlite3.Connection) -> None:
        """Make the tables, or bring those of an earlier version to this one."""
        sql = "SELECT 1 FROM sqlite_master WHERE name = ?"
        if self._migrate is not None and db.execute(sql, (self._marker,)).fetchone():
            self._migrate(db, self._version_of(db))
        else:
            for statement in self._schema.split(";;"):
                db.execute(statement)
        if self._version is not None:
            db.execute(f"PRAGMA user_version = {self._version}")

    def _undo(self, db: sqlite3.Connection, error: BaseException) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            self._close()
            return
        if isinstance(error, FileReplaced):
            self._put_aside()
        if isinstance(error, sqlite3.Error) and "locked" not in str(error):
            self._close()  # whatever is wrong with the file, a fresh look at it can only help

    def _close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def __del__(self) -> None:
        """A file that nobody has any more may be collected by any thread at any time, also while another one forks."""
        if getattr(self, "_db", None) is not None:
            with _CLOSING:
                self._close()

    # -- forks

    def _before_fork(self) -> None:
        if self._lock.acquire(timeout=FORK_PATIENCE):
            self._close()
        else:
            _BUSY.add(self)

    def _after_in_parent(self) -> None:
        if self in _BUSY:
            _BUSY.discard(self)
        else:
            self._lock.release()

    def _after_in_child(self) -> None:
        self._broken = self in _BUSY
        self._lock = threading.Lock()
        if self._broken:
            _LEFT.append(self._db)  # never touched again, and so neither closed
            self._db = None


_CREATING = threading.Lock()
_CLOSING = threading.RLock()  # taken again where the collector finds one file while another is closed


def _create_privately(path: Path) -> None:
    """Make the file for its owner alone; SQLite gives the files beside it the same permissions.

    To close a file lets go of all locks that this process has on it, so nobody may have it open: whoever connects comes
    through here before, and finds it made.
    """
    with _CREATING:
        try:
            os.close(private_opener(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells the file at this path from others; None where there is none, or one that was emptied in place.

    A file that SQLite has opened is never empty. To read its beginning as well would let go of the locks on it.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size else None


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _has_wal(path: Path) -> bool:
    try:
        return os.path.getsize(f"{path}-wal") > 0
    except OSError:
        return False


def has_table(path: Path, name: str) -> bool:
    """Whether a database has a table. False for one that cannot be read. Nothing is written, nor migrated."""
    with (
        contextlib.suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db,
    ):
        return (
            db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone() is not None
        )
    return False


@contextmanager
def scratch(path: Path) -> Iterator[sqlite3.Connection]:
    """A file for what does not fit into memory, of one user and for a moment: it survives nothing, and is fast."""
    _create_privately(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for setting in ("journal_mode = off", "synchronous = off", "temp_store = file", "cache_size = -8000"):
            db.execute(f"PRAGMA {setting}")
        yield db


_ALL: weakref.WeakSet[Database] = weakref.WeakSet()
_BUSY: weakref.WeakSet[Database] = weakref.WeakSet()
_FORKING: list[Database] = []
_LEFT: list[sqlite3.Connection | None] = []


def _let_fork() -> None:
    """A fork waits for the locks: a thread with one transaction after the other would take them again and again."""
    if _FORKING:
        time.sleep(0.002)


def _before() -> None:
    _FORKING.extend(_ALL)
    for database in _FORKING:
        database._before_fork()
    # after theirs, in the order of whoever opens a file: else each waits for the other
    _CREATING.acquire()
    _CLOSING.acquire()  # SQLite has mutexes of its own, which would stay locked in the child for ever


def _in_parent() -> None:
    for database in _FORKING:
        database._after_in_parent()
    _FORKING.clear()
    _CLOSING.release()
    _CREATING.release()


def _in_child() -> None:
    for database in _FORKING:
        database._after_in_child()
    _FORKING.clear()
    _BUSY.clear()
    _CLOSING.release()
    _CREATING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)

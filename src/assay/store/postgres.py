"""The tables of a store in a PostgreSQL database, over pg8000 (BSD): one connection, opened when it is first used.

A transaction whose connection breaks, or that the server gives up for another one's sake, is done again for a while:
all that a store writes may be written twice. The connection belongs to one process; a forked child opens its own, and
leaves the parent's alone.
"""

from __future__ import annotations

import getpass
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from assay._util.forks import keep, renewed
from assay._util.install_hints import install_extra
from assay.errors import AssayError, InputError, MissingExtra, StoreError
from assay.records import migration
from assay.store.schema import DIGESTS, SCHEMA_VERSION, SCORES_DIGEST
from assay.store.tables import FOLDER, Statements

if TYPE_CHECKING:
    from pg8000.dbapi import Connection, Cursor

T = TypeVar("T")

PATIENCE = 30.0  # seconds for which what broke is tried again, and
FIRST_PATIENCE = 5.0  # when it is opened for the first time
SILENCE = 60.0  # seconds after which a server that says nothing counts as gone
PORT = 5432

#: What passes by itself, by SQLSTATE: the server stops or starts, has too many connections, gave this transaction up.
_PASSING = frozenset({"57P01", "57P02", "57P03", "53300", "40001", "40P01", "08000", "08003", "08006"})
_MODES = ("prefer", "disable", "require", "verify-full")
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

#: By hash: the keys of other indexes have 2,704 bytes at most, and an id may be any text.
ROWS_BY_ID = "CREATE INDEX rows_by_id ON rows USING hash (id)"

_COLUMN_TABLES = """
CREATE TABLE names (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key BYTEA NOT NULL UNIQUE, text TEXT NOT NULL
);;
CREATE TABLE scores (
    run BIGINT NOT NULL, metric BIGINT NOT NULL, row BIGINT NOT NULL, value DOUBLE PRECISION, cause BIGINT,
    message BIGINT, PRIMARY KEY (run, metric, row)
);;
CREATE INDEX scores_by_value ON scores (run, metric, value);;
CREATE INDEX scores_without_value ON scores (run, cause, row) WHERE cause IS NOT NULL;;
CREATE TABLE metric_ranges (
    run BIGINT NOT NULL, metric BIGINT NOT NULL, low DOUBLE PRECISION, high DOUBLE PRECISION, direction TEXT NOT NULL,
    PRIMARY KEY (run, metric)
);;
CREATE TABLE row_facts (
    run BIGINT NOT NULL, row BIGINT NOT NULL, id TEXT, at DOUBLE PRECISION NOT NULL, key BYTEA NOT NULL,
    weight DOUBLE PRECISION NOT NULL, facts TEXT, quoted BIGINT NOT NULL, unlocated BIGINT NOT NULL,
    slices TEXT NOT NULL, PRIMARY KEY (run, row)
);;
CREATE INDEX row_facts_by_time ON row_facts (run, at);;
CREATE TABLE column_blocks (
    run BIGINT NOT NULL, name TEXT NOT NULL, part BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (run, name, part)
);;
CREATE TABLE IF NOT EXISTS live_counts (
    run TEXT NOT NULL, hour BIGINT NOT NULL, cause TEXT NOT NULL, source TEXT NOT NULL, samples BIGINT NOT NULL,
    PRIMARY KEY (run, hour, cause, source)
)
"""

SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);;
INSERT INTO meta VALUES ('version', '{SCHEMA_VERSION}');;
CREATE TABLE sources (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, prompt TEXT NOT NULL, judge TEXT NOT NULL,
    UNIQUE (prompt, judge)
);;
CREATE TABLE judgements (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key BYTEA NOT NULL UNIQUE, source BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL, judgement BYTEA NOT NULL
);;
CREATE INDEX judgements_by_source ON judgements (source);;
CREATE INDEX judgements_by_time ON judgements (at);;
CREATE TABLE runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE, started DOUBLE PRECISION NOT NULL,
    info TEXT NOT NULL, saved BIGINT, pruned BIGINT NOT NULL DEFAULT 0, digest BIGINT, info_digest BIGINT,
    scores_digest BIGINT
);;
CREATE TABLE run_judgements (run BIGINT NOT NULL, judgement BIGINT NOT NULL, PRIMARY KEY (run, judgement));;
CREATE INDEX run_judgements_by_judgement ON run_judgements (judgement);;
CREATE TABLE rows (
    place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run TEXT NOT NULL, number BIGINT NOT NULL, id TEXT,
    body BYTEA NOT NULL, at DOUBLE PRECISION
);;
CREATE UNIQUE INDEX rows_by_number ON rows (run, number);;
{ROWS_BY_ID};;
{_COLUMN_TABLES}"""

#: How a store of an earlier version becomes one of the next: statements, by the version that they start from.
MIGRATIONS: Mapping[int, str] = {
    3: "ALTER TABLE runs ADD COLUMN saved BIGINT",
    4: ";;".join((*migration.STORE_4_TO_5, *migration.POSTGRES_4_TO_5, "DROP INDEX IF EXISTS rows_by_id", ROWS_BY_ID)),
    5: ";;".join(DIGESTS),
    6: ";;".join((SCORES_DIGEST, _COLUMN_TABLES)),
}


class PostgresTables:
    """See `assay.store.tables.Tables`. Raises InputError for a URL that cannot be one, MissingExtra without pg8000.

    Args:
        url: postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=assay&sslmode=prefer. What is left out is as for other
            clients: the user of this machine, localhost, 5432, a database of the user's name; the password may stand in
            PGPASSWORD. `host` among the options is a folder with a socket. `sslmode`: prefer, disable, require (which
            trusts any certificate) or verify-full.
    """

    def __init__(self, url: str) -> None:
        self._where = _ParsedUrl.of(url)
        self._set_up()
        renewed(self)

    def _set_up(self) -> None:
        """Begin afresh, at first and in a forked child, which must neither use nor end the parent's connection."""
        if getattr(self, "_connection", None) is not None:
            keep(self._connection)
        self._lock = threading.RLock()
        self._connection: Connection | None = None

    @property
    def name(self) -> str:
        return self._where.name

    @property
    def folder(self) -> Path:
        return Path(FOLDER)

    def create(self) -> None:
        with self.saying("opened"):
            self._patiently(lambda db: None, FIRST_PATIENCE)

    def transact(self, work: Callable[[Statements], T]) -> T:
        def whole(db: Connection) -> T:
            statements = _Cursor(db.cursor())
            statements.execute("BEGIN")
            try:
                done = work(statements)
                statements.execute("COMMIT")
            except BaseException:
                with suppress(Exception):
                    statements.execute("ROLLBACK")
                raise
            return done

        return self._patiently(whole, PATIENCE)

    def alone(self, db: Statements, name: str) -> None:
        db.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"{self._where.schema} {name}",))

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        def read(db: Connection) -> list[tuple[Any, ...]]:
            cursor = db.cursor()
            _Cursor(cursor).execute(sql, values)
            return [tuple(row) for row in cursor.fetchall()]

        return self._patiently(read, PATIENCE)

    def size(self) -> int:
        sizes = (self.rows(f"SELECT COALESCE(SUM(LENGTH({column})), 0) FROM {table}")
                 for table, column in (("judgements", "judgement"), ("rows", "body")))  # fmt: skip
        return sum(int(size) for ((size,),) in sizes)

    def settle(self) -> None:
        """A server has one place for all."""

    def shrink(self) -> None:
        """Rows to come take the room that deleted ones had; the server's autovacuum sees to that."""

    def integrity_errors(self) -> list[str]:
        """None: a server checks its pages when it reads them."""
        return []

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    @contextmanager
    def saying(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not _is_ours(error):
                raise
            raise StoreError(f"store {self.name!r} cannot be {what}: {_reason(error)}") from error

    def _patiently(self, work: Callable[[Connection], T], patience: float) -> T:
        until, pause = time.monotonic() + patience, 0.05
        while True:
            try:
                with self._lock:
                    return self._tried(work)
            except Exception as error:
                if not _passes(error) or time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(1.0, 2.0 * pause)

    def _tried(self, work: Callable[[Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._opened()
        try:
            return work(self._connection)
        except BaseException as error:
            if not (_is_ours(error) and _code(error) not in (None, "57P01", "57P02")):
                self.close()  # it broke, or was left in the middle of something
            raise

    def _opened(self) -> Connection:
        db = self._where.connect()
        try:
            db.autocommit = True
            with suppress(Exception):  # a server that does not know it
                db.cursor().execute("SET client_min_messages TO warning")
            db.cursor().execute(f'SET search_path TO "{self._where.schema}"')
            if self._version(db) != SCHEMA_VERSION:
                self._bring_up(db)
        except BaseException:
            with suppress(Exception):
                db.close()
            raise
        return db

    def _version(self, db: Connection) -> int:
        """0 where there is none. Raises StoreError for a newer one."""
        statements = _Cursor(db.cursor())
        # read from the catalogue itself: what a name means is remembered, also that it meant nothing a moment ago
        there = "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        there += "WHERE n.nspname = ? AND c.relname = 'meta'"
        if statements.execute(there, (self._where.schema,)).fetchone() is None:
            return 0
        found = statements.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        version = int(found[0]) if found else 0
        if version > SCHEMA_VERSION:
            raise StoreError(f"{self.name!r} was written by a newer assay (schema {version}); upgrade assay")
        return version

    def _bring_up(self, db: Connection) -> None:
        """Make the tables, or bring those of an earlier version to this one, whole; one process at a time."""
        statements = _Cursor(db.cursor())
        statements.execute("BEGIN")
        try:
            self.alone(statements, "schema")
            if not self._version(db):
                statements.execute(f'CREATE SCHEMA IF NOT EXISTS "{self._where.schema}"')
                _run(statements, SCHEMA)
            while (version := self._version(db)) < SCHEMA_VERSION:
                _run(statements, MIGRATIONS[version])
                statements.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(version + 1),))
            statements.execute("COMMIT")
        except BaseException:
            with suppress(Exception):
                statements.execute("ROLLBACK")
            raise


class _ParsedUrl:
    """A URL, read."""

    def __init__(self, options: dict[str, Any], mode: str, schema: str) -> None:
        self._options, self._mode, self.schema = options, mode, schema
        place = options.get("unix_sock") or f"{options['host']}:{options['port']}"
        self.name = f"postgresql://{options['user']}@{place}/{options['database']}"
        if schema != "assay":
            self.name += f"?schema={schema}"

    @classmethod
    def of(cls, url: str) -> _ParsedUrl:
        try:
            parts = urlsplit(url)
            port = parts.port or PORT
        except ValueError as error:
            raise InputError(f"store: no URL of a PostgreSQL database: {error}") from None
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        if strange := given.keys() - {"schema", "sslmode", "host"}:
            raise InputError(
                f"store: {', '.join(sorted(strange))}: the options of a database are schema, sslmode, host"
            )
        mode, schema = given.get("sslmode", "prefer"), given.get("schema", "assay")
        if mode not in _MODES:
            raise InputError(f"store: sslmode: expected {', '.join(_MODES)}, got {mode!r}")
        if not _SCHEMA_NAME.fullmatch(schema):
            raise InputError(f"store: schema: expected lower case letters, digits and underscores, got {schema!r}")
        user = unquote(parts.username or "") or os.environ.get("PGUSER") or getpass.getuser()
        options: dict[str, Any] = {
            "user": user, "password": unquote(parts.password or "") or os.environ.get("PGPASSWORD"),
            "database": unquote(parts.path.lstrip("/")) or user,
        }  # fmt: skip
        if "host" in given:
            options["unix_sock"] = f"{given['host']}/.s.PGSQL.{port}"
        else:
            options |= {"host": parts.hostname or "localhost", "port": port}
        return cls(options, mode, schema)

    def connect(self) -> Connection:
        if "unix_sock" in self._options or self._mode == "disable":
            return self._connect(None)
        try:
            return self._connect(_tls(self._mode))
        except Exception as error:
            if self._mode != "prefer" or "refuses SSL" not in str(error):
                raise
        return self._connect(None)

    def _connect(self, tls: ssl.SSLContext | None) -> Connection:
        try:
            import pg8000.dbapi
        except ImportError:
            raise MissingExtra(f"a store in PostgreSQL needs pg8000: {install_extra('postgresql')}") from None
        return pg8000.dbapi.connect(**self._options, ssl_context=tls, timeout=SILENCE, application_name="assay")


class _Cursor:
    """A cursor that takes the store's statements and texts."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        self._cursor.execute(_in_format(sql), tuple(map(_storable, values)))
        return self._cursor

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> Any:
        self._cursor.executemany(_in_format(sql), [tuple(map(_storable, one)) for one in values])
        return self._cursor


@lru_cache(maxsize=256)
def _in_format(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


def _storable(value: Any) -> Any:
    """A text that PostgreSQL can hold: no zero characters, no lone surrogates."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _run(statements: Statements, script: str) -> None:
    for statement in script.split(";;"):
        statements.execute(statement)


def _tls(mode: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if mode != "verify-full":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _is_ours(error: BaseException) -> bool:
    """Whether it is an error of the driver, or of the network."""
    if isinstance(error, OSError):
        return True
    if isinstance(error, AssayError):
        return False
    from pg8000.dbapi import Error

    return isinstance(error, Error)


def _code(error: BaseException) -> str | None:
    """The server's SQLSTATE; None where the server said nothing."""
    said = error.args[0] if error.args else None
    return str(said.get("C")) if isinstance(said, dict) else None


def _passes(error: BaseException) -> bool:
    if not _is_ours(error):
        return False
    code = _code(error)
    return code in _PASSING if code is not None else not isinstance(error, ssl.SSLError)


def _reason(error: BaseException) -> str:
    said = error.args[0] if error.args else None
    return str(said.get("M")) if isinstance(said, dict) else str(error) or type(error).__name__

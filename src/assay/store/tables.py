"""Where the tables of a store are: in a SQLite file, or in a PostgreSQL database that machines and people share.

The statements are the same for both; what differs is behind `Tables`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from assay._util.normalise import well_formed
from assay.errors import InputError

T = TypeVar("T")

FILE_NAME = "assay.db"
FOLDER = ".assay"

#: Characters of a run's name: keys of PostgreSQL's indexes have 2,704 bytes at most.
LONGEST_RUN_NAME = 500

#: As in a URL, and as a `pathlib.Path` writes one.
_DATABASE = re.compile(r"postgres(?:ql)?:/+")


class StatementResult(Protocol):
    """What a statement found or changed."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...


class Statements(Protocol):
    """A transaction that is open. Values stand for `?`."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> StatementResult: ...

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> StatementResult: ...


class Tables(Protocol):
    """The tables of one store. Safe for threads and forks; what goes wrong are errors that `saying` knows."""

    @property
    def name(self) -> str:
        """What messages call it: no secret is in it."""

    @property
    def folder(self) -> Path:
        """Where what belongs to its runs, and is no table, lies on this machine."""

    def create(self) -> None:
        """Make the tables where they are missing, and bring those of an earlier version to this one."""

    def transact(self, work: Callable[[Statements], T]) -> T:
        """Do this in one transaction, whole or not at all. It may be done again where nobody knows how it ended."""

    def alone(self, db: Statements, name: str) -> None:
        """Within a transaction: no other one is where it says the same, until this one ends."""

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""

    def size(self) -> int:
        """Bytes that judgements and rows take, without room that is free for further ones.

        Of a file with all that is in it, of a database without its indices.
        """

    def settle(self) -> None:
        """Move what was written into the main file, where there are several, as far as nobody else is in the way."""

    def shrink(self) -> None:
        """Give back what deleted rows took, where that is ours to do."""

    def integrity_errors(self) -> list[str]:
        """What the database itself finds damaged, where it looks for that; at most twenty."""

    def close(self) -> None:
        """Let go. The next use opens it again."""

    def saying(self, what: str) -> AbstractContextManager[None]:
        """Within, errors are StoreErrors: "store NAME cannot be WHAT: ..."."""


def is_database(address: str | Path) -> bool:
    """Whether this names a database, and no folder or file."""
    return _DATABASE.match(str(address)) is not None


def url_of(address: str | Path) -> str:
    """The URL of a database, also where a path was made of it."""
    return _DATABASE.sub("postgresql://", str(address), count=1)


def file_of(path: Path) -> Path:
    """The file of a store that is named by its folder, or by a file that ends in `.db`."""
    return path if path.suffix == ".db" else path / FILE_NAME


def folder_of(address: str | Path) -> Path:
    """Where what belongs to the runs of a store, and is no table, lies on this machine."""
    return Path(FOLDER) if is_database(address) else file_of(Path(address)).parent


def store_may_exist(address: str | Path) -> bool:
    """Check whether a store may exist at an address, without opening it.

    Args:
        address: Folder of a store, its file that ends in `.db`, or URL of a database.

    Returns:
        True where the file exists, and for every database.
    """
    return is_database(address) or file_of(Path(address)).exists()


def check_run_name(name: str) -> str:
    """Check the name of a new run.

    Args:
        name: The name. Halves of surrogate pairs in it are replaced: no file holds them.

    Returns:
        The name, as it is kept.

    Raises:
        InputError: It is blank, "last", which means the latest run, or longer than LONGEST_RUN_NAME.
    """
    if not name.strip() or name == "last":
        raise InputError(f"run: {name!r} cannot be a name; 'last' means the latest run")
    if len(name) > LONGEST_RUN_NAME:
        raise InputError(f"run: expected a name of at most {LONGEST_RUN_NAME} characters, got one of {len(name):,}")
    return well_formed(name)


MOST_VALUES = 900  # of one statement; SQLite takes 32,766, other builds of it 999


def insert_rows(db: Statements, into: str, rows: Sequence[Sequence[Any]], tail: str = "") -> None:
    """Insert rows, many with one statement: a database that is far away takes a round trip for each.

    Args:
        db: The transaction.
        into: Table and columns: "names (key, text)".
        rows: Values of each row.
        tail: What follows the values: "ON CONFLICT DO NOTHING".
    """
    if not rows:
        return
    width = len(rows[0])
    one, most = f"({', '.join('?' * width)})", max(1, MOST_VALUES // width)
    for start in range(0, len(rows), most):
        some = rows[start : start + most]
        sql = f"INSERT INTO {into} VALUES {', '.join([one] * len(some))} {tail}"
        db.execute(sql, [value for row in some for value in row])


def read_all(db: Statements, sql: str, values: Sequence[Any]) -> list[Any]:
    """All rows of a query within a transaction."""
    found, cursor = [], db.execute(sql, values)
    while (row := cursor.fetchone()) is not None:
        found.append(row)
    return found

"""Configurations that the user trusts: by path and content, in the user's own configuration folder.

A file that has changed, or lies elsewhere, is not the one that was trusted. Nothing is recorded in the project.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay._util.output_files import write_json
from assay._util.permissions import private_folder
from assay.errors import InputError

NAME = "trusted.json"


@dataclass(frozen=True, slots=True)
class TrustedFile:
    """A configuration that the user trusts.

    Attributes:
        path: Its path, after links.
        sha256: Hash of its content, see `Section.digest`.
        at: When it was trusted, as ISO 8601.
    """

    path: str
    sha256: str
    at: str


def record_file() -> Path:
    """Return the file that records trusted configurations."""
    from platformdirs import user_config_path

    return user_config_path("assay", appauthor=False) / NAME


def trusted_files() -> tuple[TrustedFile, ...]:
    """Read the record.

    Returns:
        The trusted configurations, in the order of their paths. None are trusted by a record that cannot be read.
    """
    try:
        found = json.loads(record_file().read_text(encoding="utf-8"))
        return tuple(TrustedFile(str(one["path"]), str(one["sha256"]), str(one["at"])) for one in found["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()


def is_trusted(file: Path, digest: str) -> bool:
    """Check whether the user trusts a configuration as it is.

    Args:
        file: The file.
        digest: The hash of what was read from it.

    Returns:
        Whether the record has the file with this content.
    """
    path = os.path.realpath(file)
    return any((one.path, one.sha256) == (path, digest) for one in trusted_files())


def trust(file: Path, digest: str) -> Path:
    """Record a configuration as trusted.

    Args:
        file: The file.
        digest: The hash of its content.

    Returns:
        The file that records it.

    Raises:
        InputError: The record cannot be written.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    own = TrustedFile(os.path.realpath(file), digest, now)
    return _write([one for one in trusted_files() if one.path != own.path] + [own])


def forget(file: Path) -> bool:
    """Remove a configuration from the record.

    Args:
        file: The file. It need not exist any more.

    Returns:
        Whether it was there.

    Raises:
        InputError: The record cannot be written.
    """
    path, known = os.path.realpath(file), trusted_files()
    left = [one for one in known if one.path != path]
    if len(left) == len(known):
        return False
    _write(left)
    return True


def _write(files: Sequence[TrustedFile]) -> Path:
    record = record_file()
    try:
        private_folder(record.parent)
        write_json(record, {"files": [asdict(one) for one in sorted(files, key=lambda one: one.path)]})
    except OSError as error:
        raise InputError(f"{str(record)!r} cannot be written: {error.strerror or error}") from None
    return record

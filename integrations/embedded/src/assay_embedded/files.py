"""The shipped files: read, checked against the manifest, unpacked where they are needed."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from assay.extension import own_lock
from assay_embedded.errors import FileCorrupt

FILES = Path(__file__).parent / "files"


class OpenFile:
    """A file that stays on disk and open. It takes no memory before it is read, and may be deleted meanwhile.

    It is not mapped: where a mapped file is made shorter in place, whoever reads it is killed by SIGBUS.
    """

    def __init__(self, directory: Path, name: str, sha256: str) -> None:
        self.name = name
        self.sha256 = sha256
        self._lock = own_lock(self)
        self._descriptor = _open(directory, name)
        weakref.finalize(self, os.close, self._descriptor).atexit = False
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            _check(name, hashlib.file_digest(file, "sha256").hexdigest(), sha256)
        self.size = os.fstat(self._descriptor).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """So many bytes from there. Raises FileCorrupt where the file was changed meanwhile, and has them no more."""
        try:
            found = self._read_at(offset, size)
        except OSError as error:
            raise _unreadable(self.name, error) from None
        if len(found) < size:
            raise FileCorrupt(self.name, "it was made shorter after it was checked")
        return found

    def _read_at(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, offset)
        with self._lock:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return os.read(self._descriptor, size)


class PackedFile(OpenFile):
    """A packed file."""

    def unpacked(self) -> bytes:
        """The content. What is checked is what is used: raises FileCorrupt where the file was changed meanwhile."""
        packed = self.read_at(0, self.size)
        _check(self.name, hashlib.sha256(packed).hexdigest(), self.sha256)
        return gzip.decompress(packed)


T = TypeVar("T")


class Listed(dict[str, T]):
    """Files by their names. Raises FileCorrupt for one that the manifest does not list."""

    def __missing__(self, name: str) -> T:
        raise FileCorrupt("manifest.json", f"it does not list {name}")


@dataclass(frozen=True, slots=True)
class Content:
    """What ships: the manifest, small files whole, packed ones by their names without `.gz`, tables (`.q4`) on disk."""

    manifest: bytes
    whole: Mapping[str, bytes]
    packed: Mapping[str, PackedFile]
    tables: Mapping[str, OpenFile]


def verified(directory: Path) -> Content:
    """Every file that the manifest names, checked. Raises FileCorrupt."""
    manifest = read(directory, "manifest.json")
    whole: Listed[bytes] = Listed()
    packed: Listed[PackedFile] = Listed()
    tables: Listed[OpenFile] = Listed()
    for name, sha256 in _hashes(manifest).items():
        if name.endswith(".gz"):
            packed[name.removesuffix(".gz")] = PackedFile(directory, name, sha256)
        elif name.endswith(".q4"):
            tables[name] = OpenFile(directory, name, sha256)
        else:
            whole[name] = read(directory, name)
            _check(name, hashlib.sha256(whole[name]).hexdigest(), sha256)
    return Content(manifest, whole, packed, tables)


def _hashes(manifest: bytes) -> dict[str, str]:
    """The SHA-256 of each file, by its name."""
    try:
        listed = {name: expected["sha256"] for name, expected in json.loads(manifest)["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileCorrupt("manifest.json", "it is not a manifest") from None
    return listed


def _check(name: str, found: str, sha256: str) -> None:
    if found != sha256:
        raise FileCorrupt(name, "its SHA-256 is not the one in the manifest")


def _open(directory: Path, name: str) -> int:
    """A descriptor of the file. Raises FileCorrupt where it cannot be read; others than files may never answer."""
    try:
        descriptor = os.open(directory / name, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _unreadable(name, error) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileCorrupt(name, "it cannot be read (it is not a file)")
    return descriptor


def read(directory: Path, name: str) -> bytes:
    """The content of a file. Raises FileCorrupt where it cannot be read."""
    with os.fdopen(_open(directory, name), "rb") as file:
        try:
            return file.read()
        except OSError as error:
            raise _unreadable(name, error) from None


def _unreadable(name: str, error: OSError | ValueError) -> FileCorrupt:
    return FileCorrupt(name, f"it cannot be read ({getattr(error, 'strerror', None) or error})")


def fingerprint(manifest: bytes, distribution: str = "assay-embedded") -> str:
    """A hash over the manifest and the version of the distribution that ships it."""
    return hashlib.sha256(version(distribution).encode() + b"\n" + manifest).hexdigest()

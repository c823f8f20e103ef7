"""The shipped files: read, checked against the manifest, unpacked where they are needed."""

from __future__ import annotations

import gzip
import hashlib
import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assay_embedded.errors import FileCorrupt

FILES = Path(__file__).parent / "files"


class MappedFile:
    """A file as it lies on disk. It takes no memory before it is read, and may be deleted meanwhile."""

    def __init__(self, directory: Path, name: str, sha256: str) -> None:
        self.name = name
        self.sha256 = sha256
        try:
            with (directory / name).open("rb") as file:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from None
        _check(name, self.data, sha256)
        if hasattr(self.data, "madvise"):
            self.data.madvise(mmap.MADV_DONTNEED)


class PackedFile(MappedFile):
    """A packed file."""

    def unpacked(self) -> bytes:
        """The content. What is checked is what is used: raises FileCorrupt where the file was changed meanwhile."""
        packed = self.data[:]
        _check(self.name, packed, self.sha256)
        return gzip.decompress(packed)


@dataclass(frozen=True, slots=True)
class Content:
    """What ships: the manifest, small files whole, packed ones by their names without `.gz`, tables (`.q4`) mapped."""

    manifest: bytes
    whole: Mapping[str, bytes]
    packed: Mapping[str, PackedFile]
    mapped: Mapping[str, MappedFile]


def verified(directory: Path) -> Content:
    """Every file that the manifest names, checked. Raises FileCorrupt."""
    manifest = read(directory, "manifest.json")
    try:
        listed: dict[str, dict[str, Any]] = json.loads(manifest)["files"]
    except (ValueError, KeyError, TypeError):
        raise FileCorrupt("manifest.json", "it is not a manifest") from None
    whole: dict[str, bytes] = {}
    packed: dict[str, PackedFile] = {}
    mapped: dict[str, MappedFile] = {}
    for name, expected in listed.items():
        if name.endswith(".gz"):
            packed[name.removesuffix(".gz")] = PackedFile(directory, name, expected["sha256"])
        elif name.endswith(".q4"):
            mapped[name] = MappedFile(directory, name, expected["sha256"])
        else:
            whole[name] = read(directory, name)
            _check(name, whole[name], expected["sha256"])
    return Content(manifest, whole, packed, mapped)


def _check(name: str, data: bytes | mmap.mmap, sha256: str) -> None:
    if hashlib.sha256(data).hexdigest() != sha256:
        raise FileCorrupt(name, "its SHA-256 is not the one in the manifest")


def read(directory: Path, name: str) -> bytes:
    """The content of a file. Raises FileCorrupt where it cannot be read."""
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: OSError | ValueError) -> FileCorrupt:
    return FileCorrupt(name, f"it cannot be read ({getattr(error, 'strerror', None) or error})")


def fingerprint(manifest: bytes, distribution: str = "assay-embedded") -> str:
    """A hash over the manifest and the version of the distribution that ships it."""
    return hashlib.sha256(version(distribution).encode() + b"\n" + manifest).hexdigest()

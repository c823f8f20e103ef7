"""The shipped files: read, checked against the manifest, unpacked."""

from __future__ import annotations

import gzip
import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assay_embedded.errors import FileCorrupt

FILES = Path(__file__).parent / "files"


def verified(directory: Path) -> dict[str, bytes]:
    """The bytes of every file the manifest names, and of the manifest; what is checked is what is used.

    Files that are packed come unpacked, without the `.gz` of their names. Raises FileCorrupt.
    """
    content = {"manifest.json": _read(directory, "manifest.json")}
    try:
        listed: dict[str, dict[str, Any]] = json.loads(content["manifest.json"])["files"]
    except (ValueError, KeyError, TypeError):
        raise FileCorrupt("manifest.json", "it is not a manifest") from None
    for name, expected in listed.items():
        data = _read(directory, name)
        if hashlib.sha256(data).hexdigest() != expected["sha256"]:
            raise FileCorrupt(name, "its SHA-256 is not the one in the manifest")
        content[name.removesuffix(".gz")] = gzip.decompress(data) if name.endswith(".gz") else data
    return content


def _read(directory: Path, name: str) -> bytes:
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise FileCorrupt(name, f"it cannot be read ({error.strerror})") from None


def fingerprint(manifest: bytes) -> str:
    """A hash over the manifest and the version of this package."""
    return hashlib.sha256(version("assay-embedded").encode() + b"\n" + manifest).hexdigest()

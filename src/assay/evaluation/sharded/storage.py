"""Where the files of a job lie: in a folder of a disk, or under an address of an object store.

Each file appears whole: by a rename on a disk, by one put of the finished object elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from glob import has_magic
from pathlib import Path
from typing import Any, Protocol

from assay._util.install_hints import install_package
from assay._util.output_files import output_file
from assay._util.permissions import private_folder
from assay.errors import InputError, MissingExtra, StoreError

#: What fsspec needs for the stores that are met most often.
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}


class Place(Protocol):
    """Files by their names, as `done/KEY.json`. Every method raises StoreError."""

    def begin(self, folders: Iterable[str]) -> None:
        """Make ready for files in these folders, and clear away what killed processes left."""

    def read(self, name: str) -> bytes | None:
        """What a file holds; None where there is none."""

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Put a file in its place, whatever is there."""

    def create(self, name: str, lines: Iterable[str]) -> bool:
        """Put a file in its place unless one is there: then False. On a disk the last one wins, as its driver alone
        writes there."""


class Disk:
    """A folder, which all processes of a job see. Files are on the disk before they have their names."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, folders: Iterable[str]) -> None:
        """See `Place.begin`."""
        for name in folders:
            private_folder(self._path / name)
        for left in self._path.glob("*/*.part"):
            left.unlink(missing_ok=True)

    def read(self, name: str) -> bytes | None:
        """See `Place.read`."""
        path = self._path / name
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{str(path)!r} cannot be read: {error}") from None

    def write(self, name: str, lines: Iterable[str]) -> None:
        """See `Place.write`."""
        path = self._path / name
        try:
            with output_file(path) as file:
                file.writelines(lines)
        except OSError as error:
            raise StoreError(f"{str(path)!r} cannot be written: {error}") from error

    def create(self, name: str, lines: Iterable[str]) -> bool:
        """See `Place.create`."""
        self.write(name, lines)
        return True


class Objects:
    """Objects under an address that fsspec knows: `s3://BUCKET/PREFIX` (package s3fs), or that of another store.

    Keys, endpoint and region are those of the environment, as the store's own tools read them. `create` is a
    conditional put, so that of two workers that finish the same shard one is told that it came second.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._files, self._path = _opened(url)

    def begin(self, folders: Iterable[str]) -> None:
        """See `Place.begin`. There is nothing to make."""

    def read(self, name: str) -> bytes | None:
        """See `Place.read`."""
        try:
            found: bytes = self._files.cat_file(f"{self._path}/{name}")
        except FileNotFoundError:
            return None
        except Exception as error:  # every store has errors of its own
            raise StoreError(f"'{self._url}/{name}' cannot be read: {_words(error)}") from None
        return found

    def write(self, name: str, lines: Iterable[str]) -> None:
        """See `Place.write`."""
        self._put(name, lines, "overwrite")

    def create(self, name: str, lines: Iterable[str]) -> bool:
        """See `Place.create`."""
        try:
            self._put(name, lines, "create")
        except FileExistsError:
            return False
        return True

    def _put(self, name: str, lines: Iterable[str], mode: str) -> None:
        try:
            self._files.pipe_file(f"{self._path}/{name}", "".join(lines).encode(), mode=mode)
        except FileExistsError:
            raise
        except Exception as error:
            raise StoreError(f"'{self._url}/{name}' cannot be written: {_words(error)}") from error


def _opened(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs

        files, path = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
    except ImportError as error:
        package = PACKAGES.get(url.partition(":")[0], "fsspec")
        raise MissingExtra(f"{url!r} needs a package ({error}): {install_package(package)}") from None
    except Exception as error:  # an address that nothing serves
        raise StoreError(f"{url!r} cannot be opened: {_words(error)}") from None
    return files, str(path).rstrip("/")


def expand_pattern(url: str) -> list[str]:
    """Expand a pattern of addresses in an object store.

    Args:
        url: An address, `s3://BUCKET/PREFIX/*.jsonl`, with or without a pattern.

    Returns:
        The matching addresses, sorted. Only `url` itself where it has no pattern, whether or not the object exists.

    Raises:
        InputError: No object matches the pattern.
        MissingExtra: The package for this kind of address is not installed.
        StoreError: The store cannot be opened, or its objects cannot be listed.
    """
    if not has_magic(url):
        return [url]
    files, path = _opened(url)
    try:
        found = sorted(files.glob(path))
    except Exception as error:
        raise StoreError(f"{url!r} cannot be listed: {_words(error)}") from None
    if not found:
        raise InputError(f"no file fits the pattern {url!r}")
    return [str(files.unstrip_protocol(name)) for name in found]


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def is_address(path: object) -> bool:
    """Check whether a path is an address in an object store.

    Args:
        path: Any value.

    Returns:
        True for a text that contains "://". False for anything else, also for a `pathlib.Path`.
    """
    return isinstance(path, str) and "://" in path


def place_of(path: str | Path) -> Place:
    """The place that is meant. Raises MissingExtra and StoreError for an address that cannot be opened."""
    return Objects(str(path).rstrip("/")) if is_address(path) else Disk(Path(path))

"""The findings of a spool's workers: kept on disk, so that what a crash interrupts is not asked, and paid, twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from assay.store.store import Finding, Store


class KeptFindings(Store):
    """The store in a spool's folder. Where it cannot be read or written, findings are asked for again.

    `failed` is told of each such error.
    """

    def __init__(self, folder: Path, failed: Callable[[BaseException, str], None]) -> None:
        super().__init__(folder)
        self._failed = failed

    def get_finding(self, key: str) -> bytes | None:
        """See `Store.get_finding`."""
        try:
            return super().get_finding(key)
        except Exception as error:
            self._failed(error, "findings")
            return None

    def put_findings(self, findings: Iterable[Finding], run: str | None = None) -> None:
        """See `Store.put_findings`."""
        try:
            super().put_findings(findings, run)
        except Exception as error:
            self._failed(error, "findings")

    def forget_findings(self, before: float) -> None:
        """Delete findings that were made before that time."""
        try:
            self.forget(before=before)
        except Exception as error:
            self._failed(error, "findings")
